// SPDX-License-Identifier: MIT
// What ranks send each other in an epoch: one message from each to each neighbour, and packets, which those that read them pass on among
// themselves. Nothing here waits, but for what has been sent to have left: all of it is on its way while bands run.
#pragma once
#include <mpi.h>

#include <bit>
#include <optional>
#include <vector>

#include "../fabric/epochs.hpp"
#include "heartbeat.hpp"
#include "message.hpp"

namespace wsl::mpi::detail {

inline int count_of(std::span<const std::byte> bytes) {
  if (bytes.size() > 0x7fffffff) throw fault_error("wsl: an epoch sends more than 2 GB to one rank; use more and smaller bands");
  return static_cast<int>(bytes.size());
}

/// The messages to and from a neighbour. They arrive in one piece if they are short, and what is to follow the epoch may come behind them.
class correspondence {
 public:
  /// How a message begins.
  struct opening {
    u64 size = 0, packet = 0;  ///< bytes of the message, and of the sender's packet
    engines::sequel says = engines::sequel::nothing;
    bool settled = true;       ///< otherwise it says so later
  };

  int rank;
  message out;
  opening heard;  ///< of what has come

  correspondence(int with, MPI_Comm group) : rank(with), group_(group) {}

  /// Before anything of this epoch is sent.
  void expect() {
    latest_ = 1 - latest_;
    in().reset(at_once);
    receive(piece::first, in().bytes());
  }
  /// What comes in this epoch. It stays where it is until the end of the next one.
  message& in() { return in_[latest_]; }
  /// Empties `out`, but for room for what `send` puts before it.
  void begin() {
    out.reset();
    out.put(opening{});
  }
  /// What is to follow the epoch, if this rank knows already.
  void send(u64 bytes_of_packet, std::optional<engines::sequel> says) {
    const std::span<std::byte> bytes = out.bytes();
    const opening front{bytes.size(), bytes_of_packet, says.value_or(engines::sequel::nothing), says.has_value()};
    std::memcpy(bytes.data(), &front, sizeof front);
    const std::size_t first = least(bytes.size(), at_once);
    isend(bytes.first(first), 0);
    if (bytes.size() > first) isend(bytes.subspan(first), 1);
  }
  void settle(engines::sequel says) {
    last_ = says;
    isend(std::as_writable_bytes(std::span(&last_, 1)), 2);
  }
  /// Looks for more of it. Says whether all has come.
  bool arrived() {
    if (missing_ == piece::first && done(comes_)) {
      heard = in().take<opening>();
      in().resize(heard.size);
      if (heard.size > at_once) receive(piece::rest, in().bytes().subspan(at_once));
      else receive_last();
    }
    if (missing_ == piece::rest && done(comes_)) receive_last();
    if (missing_ == piece::last && done(comes_)) missing_ = piece::none;
    return missing_ == piece::none;
  }
  /// Whether its opening had come by the last look.
  bool opened() const { return missing_ != piece::first; }
  /// Waits until `out` may change.
  void finish() { MPI_Waitall(3, sends_, MPI_STATUSES_IGNORE); }

 private:
  static constexpr int tag = 1;
  static constexpr std::size_t at_once = 4000;  ///< bytes; the receiver knows no size yet, and MPI sends so many without asking whether they are expected
  enum class piece { first, rest, last, none };

  void isend(std::span<std::byte> bytes, int nth) { MPI_Isend(bytes.data(), count_of(bytes), MPI_BYTE, rank, tag, group_, &sends_[nth]); }
  void receive(piece which, std::span<std::byte> bytes) {
    missing_ = which;
    MPI_Irecv(bytes.data(), count_of(bytes), MPI_BYTE, rank, tag, group_, &comes_);
  }
  void receive_last() {
    missing_ = piece::none;
    if (!heard.settled) receive(piece::last, std::as_writable_bytes(std::span(&heard.says, 1)));
  }

  MPI_Comm group_;
  message in_[2];
  int latest_ = 0;
  engines::sequel last_ = engines::sequel::nothing;
  MPI_Request sends_[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, comes_ = MPI_REQUEST_NULL;
  piece missing_ = piece::none;
};

/// Words that one rank writes and several read. They go along a binomial tree of ranks, so they leave the first one log2 n times, not n - 1 times.
class packet {
 public:
  message words;

  /// Of its writer and its readers, in this order; this rank is one of them.
  packet(std::vector<int> writer_and_readers, int me, MPI_Comm group) : ranks_(std::move(writer_and_readers)), group_(group) {
    while (ranks_[place_] != me) ++place_;
    const std::size_t end = place_ ? place_ & (~place_ + 1) : std::bit_ceil(ranks_.size());
    for (std::size_t step = end / 2; step > 0; step /= 2)
      if (place_ + step < ranks_.size()) below_.push_back(ranks_[place_ + step]);
  }

  int writer() const { return ranks_[0]; }
  /// The ranks that get it from this one, those first that have most below themselves.
  const std::vector<int>& below() const { return below_; }

  /// As soon as it is known that there are so many bytes, if any.
  void expect(std::size_t size) {
    if (size == 0) return;
    words.reset(size);
    MPI_Irecv(words.bytes().data(), count_of(words.bytes()), MPI_BYTE, ranks_[place_ & (place_ - 1)], tag + writer(), group_, &comes_);
    missing_ = true;
  }
  void send() {
    for (int to : below_) MPI_Isend(words.bytes().data(), count_of(words.bytes()), MPI_BYTE, to, tag + writer(), group_, &sends_.emplace_back());
  }
  /// Whether all of it is here. Then it has also been sent on.
  bool arrived() {
    if (!missing_ || !done(comes_)) return !missing_;
    missing_ = false;
    send();
    return true;
  }
  /// Waits until `words` may change.
  void finish() {
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    sends_.clear();
  }

 private:
  static constexpr int tag = 2;  // and more, one a writer

  std::vector<int> ranks_, below_;
  std::size_t place_ = 0;  ///< of this rank among them
  MPI_Comm group_;
  std::vector<MPI_Request> sends_;
  MPI_Request comes_ = MPI_REQUEST_NULL;
  bool missing_ = false;
};

}  // namespace wsl::mpi::detail
