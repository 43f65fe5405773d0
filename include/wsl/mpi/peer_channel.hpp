// SPDX-License-Identifier: MIT
// What ranks send each other in a superstep: one message on the channel to each neighbour, and tree
// broadcasts, which their readers pass on among themselves. Nothing here waits, except for what has been sent
// to have left: all of it is on its way while partitions run.
#pragma once
#include <mpi.h>

#include <bit>
#include <optional>
#include <vector>

#include "../engine/threaded/superstep.hpp"
#include "heartbeat.hpp"
#include "message.hpp"

namespace wsl::mpi::detail {

/// Bytes that MPI sends without asking first whether they are expected: Open MPI over TCP 64 KiB with its own
/// header, and what is expected it takes at once over any network. Asking takes longer than the messages
/// themselves, so all that is longer goes in pieces.
inline constexpr std::size_t at_once = 60'000;

/// Messages that are on their way.
class requests {
 public:
  void send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm group) {
    each_piece(bytes, [&](auto piece, int size) {
      MPI_Isend(piece.data(), size, MPI_BYTE, to, tag, group, &open_.emplace_back());
    });
  }
  void receive(std::span<std::byte> bytes, int from, int tag, MPI_Comm group) {
    each_piece(bytes, [&](auto piece, int size) {
      MPI_Irecv(piece.data(), size, MPI_BYTE, from, tag, group, &open_.emplace_back());
    });
  }
  /// Whether all have arrived, or left.
  bool done() {
    int yes = 0;
    MPI_Testall(static_cast<int>(open_.size()), open_.data(), &yes, MPI_STATUSES_IGNORE);
    if (yes) open_.clear();
    return yes;
  }

 private:
  template <class Byte, class F>
  static void each_piece(std::span<Byte> bytes, F f) {
    for (; !bytes.empty(); bytes = bytes.subspan(support::min(bytes.size(), at_once)))
      f(bytes, static_cast<int>(support::min(bytes.size(), at_once)));
  }
  std::vector<MPI_Request> open_;
};

/// The messages to and from a neighbour. What is to follow the superstep may come behind them.
class peer_channel {
 public:
  /// How a message begins.
  struct opening {
    u64 size = 0, tree_broadcast = 0;  ///< bytes of the message, and of the sender's tree_broadcast
    engines::termination_vote says = engines::termination_vote::nothing;
    bool settled = true;  ///< otherwise it says so later
  };

  int rank;
  message out;
  opening heard;  ///< of what has come

  peer_channel(int with, MPI_Comm group) : rank(with), group_(group) {}

  /// Before anything of this superstep is sent.
  void expect() {
    latest_ = 1 - latest_;
    in().reset(at_once);
    receive(piece::first, in().bytes());
  }
  /// What comes in this superstep. It stays where it is until the end of the next one.
  message& in() { return in_[latest_]; }
  /// Empties `out`, but for room for what `send` puts before it.
  void begin() {
    out.reset();
    out.put(opening{});
  }
  /// What is to follow the superstep, if this rank knows already.
  void send(u64 bytes_of_broadcast, std::optional<engines::termination_vote> says) {
    const std::span<std::byte> bytes = out.bytes();
    const opening front{bytes.size(), bytes_of_broadcast, says.value_or(engines::termination_vote::nothing),
                        says.has_value()};
    std::memcpy(bytes.data(), &front, sizeof front);
    sends_.send(bytes, rank, tag, group_);
  }
  void settle(engines::termination_vote says) {
    last_ = says;
    sends_.send(std::as_bytes(std::span(&last_, 1)), rank, tag, group_);
  }
  /// Looks for more of it. Says whether all has come.
  bool arrived() {
    if (missing_ == piece::first && comes_.done()) {
      heard = in().take<opening>();
      in().resize(heard.size);
      if (heard.size > at_once) receive(piece::rest, in().bytes().subspan(at_once));
      else receive_last();
    }
    if (missing_ == piece::rest && comes_.done()) receive_last();
    if (missing_ == piece::last && comes_.done()) missing_ = piece::none;
    return missing_ == piece::none;
  }
  /// Whether its opening had come by the last look.
  bool opened() const { return missing_ != piece::first; }
  /// Whether `out` may change.
  bool left() { return sends_.done(); }

 private:
  static constexpr int tag = 1;
  enum class piece { first, rest, last, none };

  void receive(piece which, std::span<std::byte> bytes) {
    missing_ = which;
    comes_.receive(bytes, rank, tag, group_);
  }
  void receive_last() {
    missing_ = piece::none;
    if (!heard.settled) receive(piece::last, std::as_writable_bytes(std::span(&heard.says, 1)));
  }

  MPI_Comm group_;
  message in_[2];
  int latest_ = 0;
  engines::termination_vote last_ = engines::termination_vote::nothing;
  requests sends_, comes_;
  piece missing_ = piece::none;
};

/// Words that one rank writes and several read. They go along a binomial tree of ranks, so they leave the
/// first one log2 n times, not n - 1 times.
class tree_broadcast {
 public:
  message words;

  /// Of its writer and its readers, in this order; this rank is one of them.
  tree_broadcast(std::vector<int> writer_and_readers, int me, MPI_Comm group)
      : ranks_(std::move(writer_and_readers)), group_(group) {
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
    comes_.receive(words.bytes(), ranks_[place_ & (place_ - 1)], tag + writer(), group_);
    missing_ = true;
  }
  void send() {
    for (int to : below_) sends_.send(words.bytes(), to, tag + writer(), group_);
  }
  /// Whether all of it is here. Then it has also been sent on.
  bool arrived() {
    if (!missing_ || !comes_.done()) return !missing_;
    missing_ = false;
    send();
    return true;
  }
  /// Whether `words` may change.
  bool left() { return sends_.done(); }

 private:
  static constexpr int tag = 2;  // and more, one a writer

  std::vector<int> ranks_, below_;
  std::size_t place_ = 0;  ///< of this rank among them
  MPI_Comm group_;
  requests sends_, comes_;
  bool missing_ = false;
};

}  // namespace wsl::mpi::detail
