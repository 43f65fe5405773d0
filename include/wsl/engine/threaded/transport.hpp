// SPDX-License-Identifier: MIT
// The transport moves words from channels to cursors, with buffers that are lent to channels, credit-based
// flow control (room is counted by the words that the readers have read), and messages between partitions. A
// partition writes only into the buffers of its own channels and changes only its own cursors; everything
// that another partition must know travels as a message. So nothing here takes a lock.
// docs/engines/threaded.md follows one word.
#pragma once
#include <cstring>
#include <span>

#include "topology.hpp"

namespace wsl::engines {

class transport {
 public:
  transport(const layout& plan, resolved_routes& routes, tiles& pes, depth how_deep, const partitioning& by)
      : net(plan, routes, pes, how_deep, by), partitions_(net.partitions) {
    for (partition& b : partitions_)
      for (auto& m : b.mailboxes)
        m = support::flat_vector<support::flat_vector<partition_message>>(net.partitions);
    support::flat_vector<int> sizes(net.partitions);
    for (u32 i = 0; i < pes.size(); ++i) ++sizes[net.visits[i].partition];
    for (u32 k = 0; k < net.partitions; ++k)
      partitions_[k].buffers.most_kept = support::min(sizes[k] / 32, 8);
  }

  topology net;

  support::flat_vector<partition>& partitions() { return partitions_; }
  partition& home(u32 who) { return partitions_[net.visits[who].partition]; }
  partition& home(const pe_state& s) { return partitions_[net.visits[s.index].partition]; }
  /// The processor of a PE, with its pending calls and operations in flight; null if it never had any.
  processor* processor_of(const pe_state& s) {
    const visited& v = net.visits[s.index];
    return v.extras_index ? partitions_[v.partition].processors[v.extras_index - 1] : nullptr;
  }

  std::span<const u32> readers_of(const channel& c) const { return net.readers_of(c); }

  /// The only cursor of a channel; null if there are several.
  cursor* only_reader(const channel& c) {
    const std::span<const u32> all = readers_of(c);
    return all.size() == 1 ? &net.cursors[all[0]] : nullptr;
  }

  void wake(partition& b, u32 who, bool has_much = true) {
    visited& m = net.visits[who];
    if (m.queued) return;
    if (!m.touched) b.touched.push_back(who);
    m.queued = m.touched = 1;
    b.work.push(who, has_much);
  }

  /// Removes all for whom `waiting(who)` is false from the list of those that a run has touched; returns
  /// whether any are left.
  template <class Waits>
  bool any_left(partition& b, Waits waiting) {
    std::size_t kept = 0;
    for (u32 who : b.touched) {
      if (waiting(who)) b.touched[kept++] = who;
      else net.visits[who].touched = 0;
    }
    b.touched.shrink(kept);
    return kept > 0;
  }

  // ---- writing ----------------------------------------------------------------------------------

  /// Makes room for one run of a task, which sends up to `most` words; false if earlier words must be read
  /// first.
  bool prepare(partition& b, channel& c, int most) {
    if (c.operated) return true;
    const size_class size = most > sends_of_a_data_task ? large : small;
    if (!c.words) {
      lend(b, c, size);
      c.lenient = false;
      c.open(support::min(static_cast<int>(task_depth_of(c)), words_of(size) - most));
      return true;
    }
    const u32 unread = unread_of(c);
    if (c.is_closed()) c.lenient = true;  // an operation of the last run has written
    if (unread == 0) c.lenient = false;
    const u32 allowed = c.lenient ? depth_of(c) : task_depth_of(c);
    if (unread > allowed) {
      wait_for_readers(c);
      return false;
    }
    if (c.capacity() - c.next() < most || !c.in_buffer()) move(b, c, size, unread);
    // A data task that sends too much must cross the limit, also behind an operation.
    const int further = static_cast<int>(
        size == small ? support::min(allowed - unread, u32{sends_of_a_data_task}) : allowed - unread);
    c.open(support::min(c.next() + further, c.capacity() - most));
    return true;
  }

  /// The number of words, at most `wanted`, that an operation may write at `next` now.
  u32 room(partition& b, channel& c, u32 wanted) {
    const u32 unread = c.words ? unread_of(c) : 0, allowed = depth_of(c);
    if (unread >= allowed) {
      wait_for_readers(c);
      return 0;
    }
    const size_class size = wanted > task_depth ? large : small;
    if (!c.words) lend(b, c, size);
    else if (c.in_buffer() ? left_in(c) == 0 : left_in(c) < wanted)
      move(b, c, c.in_buffer() ? large : size, unread);
    const u32 n = support::min(wanted, support::min(allowed - unread, left_in(c)));
    return fresh_of(c) + n > half && allowed == topology::deep && leaves_partition(c)
               ? support::min(n, left_in_superstep(b, c))
               : n;
  }

  /// Ends a superstep: writers that have more words for another partition continue in the next.
  void end(partition& b) {
    for (u32 who : b.later) wake(b, who);
    b.later.clear();
  }

  /// The number of words that a task has sent beyond the room. Less room is granted while the PE waits to run
  /// another task.
  u32 held_back(const channel& c) const {
    if (!c.words) return held_back_elsewhere(c);
    const u32 unread = unread_of(c), fit = c.writer_waits ? task_depth_of(c) : depth_of(c);
    return c.operated || unread <= fit ? 0 : unread - fit;
  }

  /// What another process's task holds back, for the report of a deadlock: only that process knows it.
  struct held_words {
    u32 channel, words;
  };
  support::flat_vector<held_words> held_elsewhere;

  void put_control(partition& b, channel& c, u32 word) {
    for (u32 r : readers_of(c)) {
      const cursor& in = net.cursors[r];
      if (in.is_remote())
        post(b, net.cut_edges[in.from].readers_partition, {partition_message::what::mark, r, c.tail()});
      else mark(b, r, c.tail());
    }
    *c.room() = word;
    c.move_to(c.next() + 1);
  }

  /// Ends a visit: the receivers are told of the words that it has written, and buffers that hold few words
  /// go back to the pool.
  void announce(partition& b) {
    for (channel& c : b.visit.all) {
      const u32 fresh = fresh_of(c);
      const bool has_moved = c.in_buffer() && settle(b, c);
      if (fresh == 0 && !has_moved) continue;
      c.announced = static_cast<i16>(c.next());
      if (fresh) count(b, c, fresh);
      if (fresh && c.listed) net.lists[c.first_reader + topology::behind] = net.lists[c.first_reader];
      for (u32 r : readers_of(c)) {
        const cursor& in = net.cursors[r];
        if (in.is_remote()) tell(b, c, r);
        else if (fresh) wake(b, in.reader, is_much(fresh));
      }
    }
  }

  /// Positions of a channel are about to advance past words that no buffer holds, because its readers have
  /// read all before them: there is nothing to put back into a block.
  void leave_block(partition& b, const channel& c) {
    const u64 bit = b.visit.bit(c);
    if (!(b.visit.from_block & bit)) return;
    give_up(b, b.visit.block_of(c), true);
    b.visit.from_block &= ~bit;
  }

  void count(partition& b, const channel& c, u64 words) const {
    b.done.wavelets += words;
    b.done.hops += words * (c.listed ? net.lists[c.first_reader + topology::links] : c.links);
    b.done.delivered += words * readers_of(c).size();
  }

  // ---- reading ----------------------------------------------------------------------------------

  [[gnu::always_inline]] u32 available(const cursor& in) const {
    return (in.is_remote() ? net.cut_edges[in.from].visible : net.channels[in.from].tail()) - in.head;
  }
  /// The available words that their sender does not hold back; for the report of a deadlock.
  u32 arrived(const cursor& in) const {
    const u32 n = available(in);
    if (n == 0) return 0;  // at the end of a run most readers have nothing left, and a sender may have many
    return n - support::min(
                   n, held_back(net.channels[in.is_remote() ? net.cut_edges[in.from].channel : in.from]));
  }
  bool control_first(partition& b, const cursor& in) {
    return in.is_marked() && b.marks.front(number_of(in)) == in.head;
  }

  /// The number of data words that may be read at words_at(in): 0 if a control wavelet comes first.
  [[gnu::always_inline]] u32 readable(partition& b, const cursor& in) {
    const u32 n = available(in);
    return n && in.is_marked() ? support::min(n, b.marks.front(number_of(in)) - in.head) : n;
  }
  [[gnu::always_inline]] const u32* words_at(const cursor& in) const {
    if (in.is_remote()) return net.cut_edges[in.from].words + (in.head - net.cut_edges[in.from].origin);
    const channel& c = net.channels[in.from];
    return c.words + (in.head - c.origin);
  }
  /// Shows the first n words that a reader of this partition may read; there are so many, and at least one.
  void each_word(const partition& b, const cursor& in, u32 n, place_visitor& to) const {
    const u32* const words = words_at(in);
    for (u32 i = 0; i < n; ++i) to.word(words[i], in.is_marked() && b.marks.has(number_of(in), in.head + i));
  }
  u32 writer_of(const cursor& in) const {
    return in.is_remote() ? net.cut_edges[in.from].writer : net.channels[in.from].writer;
  }

  void consume(partition& b, cursor& in, u32 n) {
    in.head += n;
    if (in.is_remote())
      return post(b, net.cut_edges[in.from].writers_partition,
                  {partition_message::what::credit, number_of(in), in.head});
    channel& c = net.channels[in.from];
    wake_writer(b, c);
    if (in.head == c.tail()) reclaim(b, c);
  }
  void consume_control(partition& b, cursor& in) {
    b.marks.pop(number_of(in));
    in.set(cursor::marked, b.marks.has(number_of(in)));
    consume(b, in, 1);
  }

  // ---- from memory to memory, between partitions ------------------------------------------------

  /// Tells the writer of a color that an operation in another partition waits for n words of it.
  void request(partition& b, std::span<cursor> cursors, int color, u32 n) {
    cursor* in = nullptr;
    for (cursor& i : cursors)
      // with several writers the number of words that each will send is not known
      if (i.color == color && std::exchange(in, &i)) return;
    if (!in || !in->is_remote()) return;
    cut_edge& s = net.cut_edges[in->from];
    if (!s.direct || s.asked == in->head + n) return;
    s.asked = in->head + n;
    post(b, s.writers_partition, {partition_message::what::request, number_of(*in), s.asked});
  }
  /// The number of words, at most `wanted`, that operations in other partitions wait for, as far as the
  /// writer knows: one on each reader of the channel.
  u32 requested(const channel& c, u64 wanted) const {
    u32 n = static_cast<u32>(support::min(wanted, u64{max_granted}));
    for (const u32 r : readers_of(c)) {
      const cursor& in = net.cursors[r];
      if (!in.is_remote()) return 0;
      const cut_edge& s = net.cut_edges[in.from];
      const i32 open = static_cast<i32>(s.requested - c.tail());
      if (!s.has_request || open <= 0) return 0;
      n = support::min(n, static_cast<u32>(open));
    }
    return readers_of(c).empty() ? 0 : n;
  }
  /// Grants n words to all readers if they have read all words before them; otherwise the writer is woken
  /// when they have.
  bool grant(partition& b, channel& c, const u32* words, u32 n) {
    const u32 place = c.tail();
    for (const u32 r : readers_of(c))
      if (edge_of(r).credited != place) {
        wait_for_readers(c);
        return false;
      }
    leave_block(b, c);
    if (c.words) take_back(b, c);
    c.origin += n;
    count(b, c, n);
    for (const u32 r : readers_of(c)) {
      cut_edge& s = edge_of(r);
      credit(s, place + n);
      post(b, s.readers_partition, {partition_message::what::grant, r, place, words, n});
    }
    return true;
  }

  // ---- messages ---------------------------------------------------------------------------------

  /// Processes the messages that were posted in the superstep before this one.
  void begin(partition& b, u64 superstep) {
    b.superstep = superstep;
    b.addressed = 0;
    b.buffers.release(superstep);
    const std::size_t before = (superstep + 1) & 1, me = static_cast<std::size_t>(&b - partitions_.data());
    for (u64 from = b.senders[before].exchange(0); from; from &= from - 1) {
      auto& mailboxes = partitions_[static_cast<std::size_t>(std::countr_zero(from))].mailboxes[before][me];
      for (const partition_message& n : mailboxes) take_in(b, n);
      mailboxes.clear();
    }
  }

 private:
  static constexpr u32 task_depth = 256;  ///< unread words beyond which a PE starts no other task
  /// the limit of one grant, which bounds the memory that ranks need for it
  static constexpr u32 max_granted = 1u << 18;

  u32 held_back_elsewhere(const channel& c) const {
    for (const held_words& h : held_elsewhere)
      if (&net.channels[h.channel] == &c) return h.words;
    return 0;
  }
  cut_edge& edge_of(u32 cursor) { return net.cut_edges[net.cursors[cursor].from]; }
  u32 number_of(const cursor& in) const { return static_cast<u32>(&in - net.cursors.data()); }
  u32 task_depth_of(const channel& c) const { return support::min(depth_of(c), task_depth); }
  u32 depth_of(const channel& c) const {
    return net.depths.empty() ? topology::deep
                              : net.depths[static_cast<std::size_t>(&c - net.channels.data())];
  }

  /// The words that a receiver has read, as far as the writer knows.
  u32 read_by(const cursor& in) const { return in.is_remote() ? net.cut_edges[in.from].credited : in.head; }
  /// Words that the slowest receiver has not read, as far as the writer knows.
  u32 unread_of(const channel& c) const {
    const u32 tail = c.tail();
    if (!c.listed) [[likely]]
      return tail - read_by(net.cursors[c.first_reader]);
    u32 n = 0;
    for (u32 r : readers_of(c)) n = support::max(n, tail - read_by(net.cursors[r]));
    return n;
  }

  /// Half of the words that may lie between two partitions are written in one superstep: while one half is
  /// read, the other is written.
  static constexpr u32 half = topology::deep / 2;
  static bool is_much(u32 words) { return words > 16; }
  static u32 fresh_of(const channel& c) { return static_cast<u32>(c.next() - c.announced); }
  bool leaves_partition(const channel& c) {
    const cursor* in = only_reader(c);
    return in && in->is_remote();
  }
  static u32 left_in_superstep(partition& b, const channel& c) {
    const u32 fresh = fresh_of(c);
    if (fresh < half) return half - fresh;
    b.later.push_back(c.writer);
    return 0;
  }

  static u32 left_in(const channel& c) { return static_cast<u32>(c.capacity() - c.next()); }
  static void place_in(channel& c, u32* words, size_class size) {
    c.words = words;
    c.class_of_size = static_cast<u32>(size) & 7;
  }

  /// Gives a buffer to a channel that has none, and is closed.
  static void lend(partition& b, channel& c, size_class size) {
    place_in(c, b.buffers.take(size), size);
    b.visit.lent |= b.visit.bit(c);
  }
  /// Takes the memory of a channel in which all words have been read.
  static void take_back(partition& b, channel& c) {
    c.origin = c.tail();
    c.move_to(0);
    c.announced = 0;
    take_unused(b, c);
  }
  static void take_unused(partition& b, channel& c) {
    b.buffers.give(c.words, c.size());
    place_in(c, nullptr, {});
    c.close();
  }
  /// Returns memory that a channel has left: at once, or, if readers in other partitions know it, when they
  /// have had a message.
  void give_up(partition& b, const channel& left, bool is_known) {
    if (is_known && is_read_elsewhere(left)) b.buffers.retire(left.words, left.size(), b.superstep);
    else b.buffers.give(left.words, left.size());
  }
  bool is_read_elsewhere(const channel& c) const {
    for (u32 r : readers_of(c))
      if (net.cursors[r].is_remote()) return true;
    return false;
  }

  /// Copies the unread words to the start of other memory.
  static void place_unread_in(channel& c, u32* words, size_class size, u32 unread) {
    const u32* const from = c.room() - unread;
    // four words, whatever stands behind them, are one instruction
    if (unread <= 4 && left_in(c) >= 4) std::memcpy(words, from, 4 * sizeof(u32));
    else std::memcpy(words, from, unread * sizeof(u32));
    const int was_fresh = c.next() - c.announced;
    c.origin = c.tail() - unread;
    place_in(c, words, size);
    c.move_to(static_cast<int>(unread));
    c.announced = static_cast<i16>(c.next() - was_fresh);
  }
  /// Moves the unread words to another buffer. A block that they leave is kept until the visit ends, because
  /// readers in other partitions go on with it.
  void move(partition& b, channel& c, size_class size, u32 unread) {
    const channel old = c;
    const u64 bit = b.visit.bit(c);
    const bool was_known = !(b.visit.lent & bit);
    size = support::max(size, unread > small_buffer / 4 ? large : small);
    place_unread_in(c, b.buffers.take(size), size, unread);
    c.close();
    b.visit.lent |= bit;
    if (!old.in_buffer()) {
      b.visit.block_of(c) = old;
      b.visit.from_block |= bit;
      return;
    }
    give_up(b, old, was_known);
    if (!was_known) return;
    b.visit.lent &= ~bit;
    for (u32 r : readers_of(c))
      if (net.cursors[r].is_remote()) tell(b, c, r);
  }

  /// At the end of a visit a buffer without words goes back to the pool, and so does one with few, if many
  /// are lent. Returns whether words have moved that readers know.
  bool settle(partition& b, channel& c) {
    const u64 bit = b.visit.bit(c);
    if (b.visit.from_block & bit) [[unlikely]]
      return settle_from_block(b, c);
    if (c.next() == 0) return take_unused(b, c), false;
    if (b.buffers.lends_few()) return false;
    // of a buffer that is new nothing has been read
    return b.visit.lent & bit ? compact(b, c, static_cast<u32>(c.next()), false)
                              : compact(b, c, unread_of(c), true);
  }
  /// The words that the visit has written go into the block in which it found others, if they fit.
  bool settle_from_block(partition& b, channel& c) {
    const channel block = b.visit.block_of(c);
    const u32 written = c.tail() - block.tail();
    if (written > left_in(block)) {
      give_up(b, block, true);
      if (!b.buffers.lends_few()) compact(b, c, unread_of(c), false);
      return true;
    }
    // what the PE itself has read of them may have been left behind in an earlier buffer
    const u32 held = support::min(written, static_cast<u32>(c.next()));
    if (held) std::memcpy(block.room() + (written - held), c.room() - held, held * sizeof(u32));
    b.buffers.give(c.words, c.size());
    place_in(c, block.words, block.size());
    c.origin = block.origin;
    c.move_to(block.next() + static_cast<int>(written));
    c.announced = block.announced;
    shut(c);
    return false;
  }
  /// Moves few unread words from a buffer into a block. Returns whether readers know of those words.
  bool compact(partition& b, channel& c, u32 unread, bool is_known) {
    if (unread == 0) return take_back(b, c), false;
    if (unread > most_in_block) return false;
    const channel old = c;
    place_unread_in(c, b.buffers.take(block_for(unread)), block_for(unread), unread);
    shut(c);
    give_up(b, old, is_known);
    return is_known;
  }
  /// Lets no task write before its engine has made room. Unlike `close` it does not say that an operation has
  /// written.
  static void shut(channel& c) {
    if (!c.is_closed()) c.open(0);
  }

  /// Returns memory in which all words have been read to the pool.
  void reclaim(partition& b, channel& c) {
    if (!c.words) return;
    if (c.listed) return reclaim_listed(b, c);
    const cursor& in = net.cursors[c.first_reader];
    if (in.reader == c.writer) return;  // the task that runs may be about to send
    if ((in.is_remote() ? net.cut_edges[in.from].credited : in.head) != c.tail()) return;
    take_back(b, c);
  }
  /// Called for each reader that has read all: the last of them finds nothing unread.
  void reclaim_listed(partition& b, channel& c) {
    u32& behind = net.lists[c.first_reader + topology::behind];
    if (behind == 0 || --behind > 0 || unread_of(c) > 0) return;
    for (u32 r : readers_of(c))
      if (net.cursors[r].reader == c.writer) return;
    take_back(b, c);
  }

  /// Makes all readers, also those in this partition, ask the engine for words, which wakes the writer.
  void wait_for_readers(channel& c) {
    c.writer_waits = true;
    watch(c, true);
  }
  void wake_writer(partition& b, channel& c) {
    if (!c.writer_waits) return;
    c.writer_waits = false;
    watch(c, false);
    wake(b, c.writer);
  }
  void watch(const channel& c, bool on) {
    for (u32 r : readers_of(c))
      if (cursor& in = net.cursors[r]; !in.is_remote()) in.set(cursor::watched, on);
  }

  void mark(partition& b, u32 which, u32 position) {
    net.cursors[which].set(cursor::marked, true);
    b.marks.push(which, position);
  }

  void tell(partition& b, const channel& c, u32 r) {
    post(b, net.cut_edges[net.cursors[r].from].readers_partition,
         {partition_message::what::words, r, c.origin + static_cast<u32>(c.announced), c.words, c.origin});
  }

  void post(partition& from, u32 to, const partition_message& n) {
    const std::size_t parity = from.superstep & 1;
    const u64 bit = u64{1} << to;
    if (!(from.addressed & bit)) {
      from.addressed |= bit;
      partitions_[to].senders[parity].fetch_or(u64{1} << static_cast<u64>(&from - partitions_.data()),
                                               std::memory_order_relaxed);
    }
    from.mailboxes[parity][to].push_back(n);
  }

  static void credit(cut_edge& s, u32 position) {
    s.credited = position;
    if (static_cast<i32>(position - s.requested) >= 0) s.has_request = false;
  }

  void take_in(partition& b, const partition_message& n) {
    cursor& in = net.cursors[n.cursor];
    cut_edge& s = net.cut_edges[in.from];
    channel& c = net.channels[s.channel];
    switch (n.kind) {
      case partition_message::what::words:
        wake(b, in.reader, is_much(n.position - s.visible));
        s.visible = n.position, s.words = n.words, s.origin = n.origin;
        break;
      case partition_message::what::mark: mark(b, n.cursor, n.position); break;
      case partition_message::what::credit:
        credit(s, n.position);
        wake_writer(b, c);
        if (n.position == c.tail()) reclaim(b, c);
        break;
      case partition_message::what::request: s.requested = n.position, s.has_request = true; break;
      case partition_message::what::grant:
        s.visible = n.position + n.granted();
        b.grants.push_back(n);
        break;
    }
  }

  support::flat_vector<partition> partitions_;
};

}  // namespace wsl::engines
