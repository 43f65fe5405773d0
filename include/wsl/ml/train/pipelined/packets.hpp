// SPDX-License-Identifier: MIT
// The colors and routes of a pipeline, which is one row of PEs that pass packets to their neighbours, and
// the buffers in which a PE keeps a packet that comes or goes.
#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "../../../collective/lane.hpp"
#include "../../../linalg/matrix.hpp"
#include "../../op/rows.hpp"

namespace wsl::ml {

/// Packets of values go east, those of gradients west.
inline constexpr lane<f32> eastward{0, east}, westward{2, west};

/// Puts matrices into a packet, one after the other.
class packer {
 public:
  explicit packer(f32* to) : to_(to) {}
  void put(const matrix<f32>& x) {
    copy(matrix<f32>(to_, x.rows(), x.columns()), x);
    to_ += i64{x.rows()} * x.columns();
  }

 private:
  f32* to_;
};
/// Takes them out again in the same order.
class unpacker {
 public:
  explicit unpacker(f32* from) : from_(from) {}
  void get(const matrix<f32>& x) { copy(x, next(x)); }
  void add(const matrix<f32>& x) { ml::add(x, next(x)); }

 private:
  matrix<f32> next(const matrix<f32>& x) {
    return {std::exchange(from_, from_ + i64{x.rows()} * x.columns()), x.rows(), x.columns()};
  }
  f32* from_;
};

/// A packet that comes: it is received into a room of the right size, and stays until it is unpacked.
class incoming_packet {
 public:
  void reset() { now_ = state::empty; }
  bool empty() const { return now_ == state::empty; }
  wsl::memory<f32> room(std::size_t words) {
    now_ = state::receiving;
    numbers_.resize(words);
    return mem(std::span(numbers_));
  }
  void arrived() { now_ = state::full; }
  bool full() const { return now_ == state::full; }
  /// Whether its first number says that the numbers of this step are lost.
  bool is_lost() const { return full() && !numbers_.empty() && !std::isfinite(numbers_[0]); }
  unpacker unpack() {
    now_ = state::empty;
    return unpacker(numbers_.data());
  }

 private:
  enum class state : u8 { empty, receiving, full };
  std::vector<f32> numbers_;
  state now_ = state::empty;
};

/// A packet that goes: it keeps its room until it has gone.
class outgoing_packet {
 public:
  bool empty() const { return !full_; }
  packer pack(std::size_t words) {
    full_ = true;
    numbers_.resize(words);
    return packer(numbers_.data());
  }
  wsl::memory<f32> words() { return mem(std::span(numbers_)); }
  /// Says in its first number that the numbers of this step are lost.
  void lose() {
    if (!numbers_.empty()) numbers_[0] = std::numeric_limits<f32>::quiet_NaN();
  }
  void gone() { full_ = false; }

 private:
  std::vector<f32> numbers_;
  bool full_ = false;
};

}  // namespace wsl::ml
