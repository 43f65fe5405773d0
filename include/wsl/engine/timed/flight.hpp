// SPDX-License-Identifier: MIT
// Operations in flight on a PE of the timed engine. A wafer has millions of them, so each takes as many bytes
// as its operands need. The bytes stay with the PE for its next operations.
#pragma once
#include <cstring>
#include <new>

#include "../../program/descriptor/transfer.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

/// An operation in flight, with the parts of its transfer that every move needs. Its operands follow it.
struct flight {
  operation_in_flight op;
  u32 in[2] = {}, out = 0;  ///< its pipes, if the operation has such operands
  u32 hold = 1;             ///< cycles for which a move occupies the datapath
  u8 width = 1;             ///< elements it moves at most in a cycle
  priority level = priority::low;
  u8 room = 0;            ///< bytes for operands, divided by 16
  u64 sharing_queue = 0;  ///< the colors that share the output's queue
  u64 since = 0;
  flight* next = nullptr;  ///< in a list of the PE

  const void* operands() const { return this + 1; }
  void move(const u32* const* input, u32* output, u32 n) { op.move(op, operands(), input, output, n); }
};

/// A list of flights, first in, first out.
class flight_list {
 public:
  bool empty() const { return !first_; }
  const flight* begin() const { return first_; }
  void push(flight& f) {
    f.next = nullptr;
    (first_ ? last_->next : first_) = &f;
    last_ = &f;
  }
  flight& pop() {
    flight& f = *first_;
    first_ = f.next;
    return f;
  }

 private:
  flight *first_ = nullptr, *last_ = nullptr;
};

/// Flights that are over, whose memory is for the next ones.
class spare_flights {
 public:
  void push(flight& f) { f.next = first_, first_ = &f; }
  /// Takes out one with room for this many bytes of operands; null if there is none.
  flight* take(u32 bytes) {
    for (flight** link = &first_; *link; link = &(*link)->next)
      if (flight* const f = *link; 16u * f->room >= bytes) return *link = f->next, f;
    return nullptr;
  }

 private:
  flight* first_ = nullptr;
};

/// The memory of the flights that one thread has begun; it is given back all at once.
class flight_store {
 public:
  flight_store() = default;
  flight_store(const flight_store&) = delete;
  flight_store& operator=(const flight_store&) = delete;
  ~flight_store() {
    for (unsigned char* b : blocks_) ::operator delete(b);
  }

  /// A flight with room for this many bytes of operands.
  flight& make(u32 bytes) {
    const u32 room = (bytes + 15) / 16;
    const std::size_t size = sizeof(flight) + 16 * room;
    if (left_ < size) add_block();
    left_ -= size;
    flight& f = *::new (static_cast<void*>(next_)) flight{};
    f.room = static_cast<u8>(room);
    next_ += size;
    return f;
  }
  u64 bytes() const { return bytes_; }

 private:
  static constexpr std::size_t smallest = std::size_t{1} << 14, largest = std::size_t{1} << 20;

  void add_block() {
    left_ = blocks_.empty() ? smallest : largest;
    next_ = blocks_.push_back(static_cast<unsigned char*>(::operator new(left_)));
    bytes_ += left_;
  }

  support::flat_vector<unsigned char*> blocks_;
  unsigned char* next_ = nullptr;
  std::size_t left_ = 0;
  u64 bytes_ = 0;
};
static_assert(sizeof(flight) == 128 && alignof(flight) <= 16);

}  // namespace wsl::engines
