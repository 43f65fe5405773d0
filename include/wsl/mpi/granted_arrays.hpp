// SPDX-License-Identifier: MIT
// The arrays that ranks of one computer grant each other in a superstep, on their way through rings: each
// rank writes one, which all others read.
#pragma once
#include <span>
#include <vector>

#include "piece_ring.hpp"
#include "world.hpp"

namespace wsl::mpi::detail {

class granted_arrays {
 public:
  explicit granted_arrays(const ranks& who)
      : who_(who), outgoing_(ring_of(who.rank())), readers_(static_cast<std::size_t>(who.size())) {}

  /// Whether this rank's ring can be read by another.
  bool reaches(int rank) const { return ring_of(rank) && ring_of(who_.rank()); }

  /// Begins a superstep. Those of the one before have moved.
  void begin() { outgoing_.begin(), readers_.assign(readers_.size(), false); }
  /// Grants words to another rank; they must stay as they are until they have moved. Returns the number of
  /// their first piece.
  u32 add(int to, std::span<const u32> words) {
    readers_[static_cast<std::size_t>(to)] = true;
    return outgoing_.add(words);
  }
  /// Another rank has granted words to a cursor of this one.
  void expect(int from, u32 first_piece, u32 cursor, u32 words) {
    incoming_.expect(*ring_of(from), *who_.memory()->bell(from), first_piece, cursor, words);
  }
  /// Whether all that this rank has granted is in its ring, and all that it expects has been taken.
  bool have_moved() const { return outgoing_.all_written() && incoming_.all_taken(); }
  /// Writes what the ring of this rank has room for. Returns whether it had any.
  bool write() {
    if (outgoing_.all_written() || outgoing_.write() == 0) return false;
    for (std::size_t rank = 0; rank < readers_.size(); ++rank)
      if (readers_[rank]) who_.memory()->bell(static_cast<int>(rank))->ring();
    return true;
  }
  /// Calls take(cursor, words) with the pieces that have come; returns whether any has.
  template <class Take>
  bool take(Take take) {
    return incoming_.take(take) > 0;
  }

 private:
  piece_ring* ring_of(int rank) const { return who_.memory() ? who_.memory()->ring(rank) : nullptr; }

  ranks who_;
  outgoing_arrays outgoing_;
  incoming_arrays incoming_;
  std::vector<bool> readers_;  ///< of what this rank grants in this superstep, by rank
};

}  // namespace wsl::mpi::detail
