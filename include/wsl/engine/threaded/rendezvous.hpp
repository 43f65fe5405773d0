// SPDX-License-Identifier: MIT
// Rendezvous transfers: a long array goes from the sender's memory straight into the receiver's memory, or
// into the receiver's sum, if its only receiver waits for it with an operation and no earlier words are
// unread. No buffer is touched. Within a partition this happens at once. Between partitions it takes three
// supersteps: in the first the receiver requests the words that it lacks, in the second the sender grants its
// memory, in the third the receiver's partition copies. From its grant until that superstep has ended nothing
// runs on the sender, so its memory does not change, whatever the program does. An array for several
// receivers goes the same way if all of them are in other partitions: it is granted when each has requested
// it.
#pragma once
#include "../../support/min_max.hpp"
#include "transport.hpp"

namespace wsl::engines {

class rendezvous_transfers {
 public:
  const u32 rendezvous_from;  ///< the smallest number of words of a rendezvous between partitions

  rendezvous_transfers(tiles& pes, transport& words, u32 from)
      : rendezvous_from(from), tiles_(pes), transport_(words) {}

  /// Moves all words that the operation has left to send. The receiver's PE is visited next.
  bool within_partition(partition& b, pe_state& s, transfer& t) {
    channel& c = topology::channel_of(s, t.output);
    cursor* in = transport_.only_reader(c);
    processor* p = in && !in->is_remote() && in->head == c.tail() && in->reader < tiles_.size()
                       ? transport_.processor_of(reader_of(*in))
                       : nullptr;
    transfer* r = p && p->back_in <= b.superstep ? p->reader_of(in->color) : nullptr;
    if (!r || !fit_together(t, *r)) return false;
    const u32 n = move_together(t, *r);
    transport_.leave_block(b, c);
    c.origin += n;
    in->head += n;
    transport_.count(b, c, n);
    b.rendezvous_receivers.push_back(in->reader);
    return true;
  }

  /// Requests the words that the operation lacks from the sender in another partition.
  void request(partition& b, const pe_state& s, const transfer& t) {
    const u64 n = t.length - t.done;
    if (n < rendezvous_from || t.endless() || !t.written || t.input[1] >= 0 || t.output >= 0 || !is_plain(t))
      return;
    transport_.request(b, topology::cursors_of(s), t.input[0],
                       static_cast<u32>(support::min(n, u64{1} << 30)));
  }
  /// Grants the words that another partition's operation waits for. Returns whether the words may now go no
  /// other way.
  bool grant(partition& b, const pe_state& s, transfer& t, processor& p) {
    if (t.length - t.done < rendezvous_from || !t.source || !is_plain(t)) return false;
    channel& c = topology::channel_of(s, t.output);
    const u32 n = transport_.requested(c, t.length - t.done);
    if (n == 0 || n < rendezvous_from) return false;
    for (const transfer& r : p.microthreads)
      if (!apart(t, n, r)) return false;
    if (!transport_.grant(b, c, t.source + t.done, n)) return true;
    t.granted = n;
    p.back_in = b.superstep + 2;
    b.later.push_back(s.index);
    return true;
  }
  /// Takes the words that have been granted to PEs of a partition, unless that has been done since the grant
  /// came: then the grant has none, and what an operation has thrown is thrown now.
  void accept(partition& b) {
    if (b.failure) std::rethrow_exception(b.failure);
    for (const partition_message& n : b.grants) {
      if (n.words) take(n.cursor, {n.words, n.granted()});
      cursor& in = transport_.net.cursors[n.cursor];
      in.head += n.granted();
      transport_.wake(b, in.reader);
    }
    b.grants.clear();
  }
  /// Moves the next words of a grant into the operation that waits for them. The partition must not run.
  void take(u32 cursor, std::span<const u32> words) {
    const engines::cursor& in = transport_.net.cursors[cursor];
    const u32* from = words.data();
    transport_.processor_of(reader_of(in))
        ->reader_of(in.color)
        ->move_elements(&from, nullptr, static_cast<u32>(words.size()));
  }

 private:
  const pe_state& reader_of(const cursor& in) const { return state_of(tiles_[in.reader]); }
  static bool is_plain(const transfer& t) { return !t.uses_fifo() && t.each_time < 0; }

  /// Whether `reads` can take all words that `writes` has left, in one piece.
  static bool fit_together(const transfer& writes, const transfer& reads) {
    if (reads.input[1] >= 0 || reads.output >= 0 || !(writes.source || reads.target()) ||
        writes.uses_fifo() || !is_plain(reads))
      return false;
    return !writes.endless() && reads.length - reads.done >= writes.length - writes.done;
  }
  static u32 move_together(transfer& writes, transfer& reads) {
    const u32 n = static_cast<u32>(writes.length - writes.done);
    const u32* source = writes.source + writes.done;
    if (writes.source) reads.move_elements(&source, nullptr, n), writes.done += n;
    else writes.move_elements(nullptr, reads.target() + reads.done, n), reads.done += n;
    return n;
  }
  /// Whether the memory that `reads` writes to certainly does not overlap the next n words that `writes`
  /// sends.
  static bool apart(const transfer& writes, u32 n, const transfer& reads) {
    if (reads.input[0] < 0 || reads.output >= 0) return true;
    const u32* const first = writes.source + writes.done;
    return reads.written && (reads.written + reads.length <= first || first + n <= reads.written);
  }

  tiles& tiles_;
  transport& transport_;
};

}  // namespace wsl::engines
