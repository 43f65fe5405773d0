// SPDX-License-Identifier: MIT
// The messages between ranks in a superstep: one message on the channel to each neighbour, and tree
// broadcasts, which their readers forward among themselves. All calls are nonblocking, so messages are on
// their way while partitions run. Between ranks of one computer the first bytes of a message, as a rule all
// of them, go through shared memory.
#pragma once
#include <mpi.h>

#include <bit>
#include <optional>
#include <vector>

#include "../engine/threaded/superstep.hpp"
#include "heartbeat.hpp"
#include "message.hpp"
#include "message_slot.hpp"
#include "shared_memory.hpp"

namespace wsl::mpi::detail {

/// The number of bytes that MPI sends with its eager protocol: 64 KiB for Open MPI over TCP, with its own
/// header. A message whose receive has been posted is taken at once over any network. The handshake of the
/// rendezvous protocol takes longer than the messages themselves, so longer messages go in pieces.
inline constexpr std::size_t at_once = 60'000;

/// Sends or receives in flight.
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
  /// Whether all are complete.
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

/// The header of a rank's message to another in a superstep.
struct opening {
  u64 size = 0, tree_broadcast = 0;  ///< bytes of the message, and of the sender's tree_broadcast
  engines::termination_vote says = engines::termination_vote::nothing;
  bool settled = true;  ///< otherwise the vote follows
  bool rests = false;   ///< nothing to do in the next superstep but what others send; goes with the vote
  /// the ranks that take part in this superstep, and those that the sender has words for, as masks
  u32 active = 0, addressed = 0;
};

/// The messages to and from a neighbour. The vote on what follows the superstep may come behind them.
class peer_channel {
 public:
  int rank;
  message out;
  opening heard;  ///< the header of the received message

  peer_channel(int with, MPI_Comm group) : rank(with), group_(group) {}

  /// Lets messages go through slots of shared memory: two of this rank and two of the neighbour's, whose bell
  /// is rung.
  void use(message_slot* mine[2], message_slot* theirs[2], doorbell& bell) {
    for (int k : {0, 1}) mine_[k] = mine[k], theirs_[k] = theirs[k];
    bell_ = &bell;
  }
  /// Begins the receive of a superstep, before anything is sent.
  void expect(u64 superstep) {
    superstep_ = superstep;
    latest_ = 1 - latest_;
    in().reset(front());
    if (bell_) missing_ = piece::first;
    else receive(piece::first, in().bytes());
  }
  /// The message received in this superstep. It stays in place until the end of the next one.
  message& in() { return in_[latest_]; }
  /// Empties `out`, except for room for the header that `send` writes.
  void begin() {
    out.reset();
    out.put(opening{});
  }
  /// Sends `out` behind a header, whose size is set here. Whether the neighbour takes part in the superstep,
  /// and so waits for this message: if not, it is only called if there is something in it.
  void send(opening header, bool is_awaited) {
    std::span<const std::byte> bytes = out.bytes();
    header.size = bytes.size();
    std::memcpy(out.bytes().data(), &header, sizeof header);
    if (bell_) {
      const auto first = bytes.first(support::min(bytes.size(), front()));
      mine_[superstep_ & 1]->write(superstep_, first);
      if (is_awaited) ring();
      else if (has_words()) call();
      bytes = bytes.subspan(first.size());
    }
    sends_.send(bytes, rank, tag, group_);
  }
  /// Whether `out` has more than its header.
  bool has_words() const { return out.size() > sizeof(opening); }
  void settle(engines::termination_vote says, bool rests) {
    if (bell_) {
      mine_[superstep_ & 1]->vote(superstep_, says, rests);
      ring();
      return;
    }
    last_ = says;
    sends_.send(std::as_bytes(std::span(&last_, 1)), rank, tag, group_);
  }
  bool has_slots() const { return bell_ != nullptr; }
  void ring() { bell_->ring(); }
  /// Ends the neighbour's rest in this superstep, whose message it then finds.
  void call() {
    mine_[superstep_ & 1]->call(superstep_);
    ring();
  }
  /// Tells the neighbour that this rank rests, and has read what it wrote up to this superstep.
  void rest() { mine_[0]->rest(superstep_); }
  bool rests_since(u64 superstep) const { return theirs_[0]->rested() >= superstep; }
  /// The latest superstep in which the neighbour has called this rank, and the ranks that take part in it.
  u64 called() const { return support::max(theirs_[0]->called(), theirs_[1]->called()); }
  u32 active_in(u64 superstep) const {
    opening header;
    std::memcpy(&header, theirs_[superstep & 1]->bytes(), sizeof header);
    return header.active;
  }
  /// Makes progress with the receive. Returns whether all has arrived.
  bool arrived() {
    if (missing_ == piece::first && first_has_come()) {
      heard = in().take<opening>();
      in().resize(heard.size);
      if (heard.size > front()) receive(piece::rest, in().bytes().subspan(front()));
      else receive_last();
    }
    if (missing_ == piece::rest && comes_.done()) receive_last();
    if (missing_ == piece::last && last_has_come()) missing_ = piece::none;
    return missing_ == piece::none;
  }
  /// Whether its header had arrived at the last call of arrived().
  bool opened() const { return missing_ != piece::first; }
  /// Whether the ring of this rank's bell tells of the next piece, so that nobody need look for it.
  bool will_ring() const { return bell_ && missing_ != piece::rest; }
  /// Whether `out` has left and may change.
  bool left() { return sends_.done(); }

 private:
  static constexpr int tag = 1;
  enum class piece { first, rest, last, none };

  /// The number of bytes of the first piece, at most.
  std::size_t front() const { return bell_ ? message_slot::room : at_once; }
  bool first_has_come() {
    if (!bell_) return comes_.done();
    const message_slot& from = *theirs_[superstep_ & 1];
    if (!from.has(superstep_)) return false;
    opening header;
    std::memcpy(&header, from.bytes(), sizeof header);
    in().reset(support::min<std::size_t>(header.size, front()));
    std::memcpy(in().bytes().data(), from.bytes(), in().size());
    return true;
  }
  bool last_has_come() {
    if (!bell_) return comes_.done();
    const auto vote = theirs_[superstep_ & 1]->vote_of(superstep_);
    if (vote) heard.says = vote->says, heard.rests = vote->rests;
    return vote.has_value();
  }
  void receive(piece which, std::span<std::byte> bytes) {
    missing_ = which;
    comes_.receive(bytes, rank, tag, group_);
  }
  void receive_last() {
    missing_ = heard.settled ? piece::none : piece::last;
    if (missing_ == piece::last && !bell_)
      receive(piece::last, std::as_writable_bytes(std::span(&heard.says, 1)));
  }

  MPI_Comm group_;
  message_slot *mine_[2] = {}, *theirs_[2] = {};
  doorbell* bell_ = nullptr;  ///< the neighbour's; null: messages go by MPI
  message in_[2];
  int latest_ = 0;
  u64 superstep_ = 0;
  engines::termination_vote last_ = engines::termination_vote::nothing;
  requests sends_, comes_;
  piece missing_ = piece::none;
};

/// Words that one rank writes and several read. They go along a binomial tree of ranks, so the writer sends
/// them log2 n times, not n - 1 times.
class tree_broadcast {
 public:
  message words;

  /// The ranks are the writer and its readers, in this order; `me` is one of them.
  tree_broadcast(std::vector<int> writer_and_readers, int me, MPI_Comm group)
      : ranks_(std::move(writer_and_readers)), group_(group) {
    while (ranks_[place_] != me) ++place_;
    const std::size_t end = place_ ? place_ & (~place_ + 1) : std::bit_ceil(ranks_.size());
    for (std::size_t step = end / 2; step > 0; step /= 2)
      if (place_ + step < ranks_.size()) below_.push_back(ranks_[place_ + step]);
  }

  int writer() const { return ranks_[0]; }
  /// The ranks that receive it from this one, ordered by the size of their subtrees, the largest first.
  const std::vector<int>& below() const { return below_; }

  /// Posts the receive of `size` bytes, if any; called as soon as the size is known.
  void expect(std::size_t size) {
    if (size == 0) return;
    words.reset(size);
    comes_.receive(words.bytes(), ranks_[place_ & (place_ - 1)], tag + writer(), group_);
    missing_ = true;
  }
  void send() {
    for (int to : below_) sends_.send(words.bytes(), to, tag + writer(), group_);
  }
  /// Whether something of it has not arrived.
  bool is_missing() const { return missing_; }
  /// Whether all of it has arrived; it has then also been forwarded.
  bool arrived() {
    if (!missing_ || !comes_.done()) return !missing_;
    missing_ = false;
    send();
    return true;
  }
  /// Whether `words` has left and may change.
  bool left() { return sends_.done(); }

 private:
  static constexpr int tag = 2;  // the first of the tags, one for each writer

  std::vector<int> ranks_, below_;
  std::size_t place_ = 0;  ///< the index of this rank in `ranks_`
  MPI_Comm group_;
  requests sends_, comes_;
  bool missing_ = false;
};

}  // namespace wsl::mpi::detail
