// SPDX-License-Identifier: MIT
// How words get from channels to inlets: buffers that are lent and returned, room by credits, and news between bands. A band
// touches only its own channels' buffers for writing and its own inlets; what another band must know travels as news. So
// nothing here locks.
#pragma once
#include <cstring>
#include <span>

#include "topology.hpp"

namespace wsl::engines {

class traffic {
 public:
  traffic(const layout& plan, deliveries& routes, tiles& pes, depth how_deep, u32 pes_per_band)
      : net(plan, routes, pes, how_deep, pes_per_band), bands_(net.bands) {
    for (band& b : bands_)
      for (auto& m : b.mail) m = flat_vector<flat_vector<news>>(net.bands);
  }

  wiring net;

  flat_vector<band>& bands() { return bands_; }
  band& home(u32 who) { return bands_[net.member(who).band]; }
  band& home(const pe_state& s) { return bands_[s.in.band]; }
  /// What a PE has besides its channels: calls and operations in flight; null if it never had any.
  processor* processor_of(const pe_state& s) { return s.more ? home(s).processors[s.more - 1] : nullptr; }

  std::span<const u32> readers_of(const channel& c) const {
    if (!c.listed) return {&c.first_reader, 1};
    return {net.lists.data() + c.first_reader + 2, net.lists[c.first_reader]};
  }

  /// Null if there are several.
  inlet* only_reader(const channel& c) {
    const std::span<const u32> all = readers_of(c);
    return all.size() == 1 ? &net.inlets[all[0]] : nullptr;
  }

  void wake(band& b, u32 who) {
    membership& m = net.member(who);
    if (m.queued) return;
    if (!m.touched) b.touched.push_back(who);
    m.queued = m.touched = 1;
    b.work.push(who);
  }

  /// Drops from the list of whom a run has touched all for whom `waits(who)` is false; says whether any are left.
  template <class Waits>
  bool any_left(band& b, Waits waits) {
    std::size_t kept = 0;
    for (u32 who : b.touched) {
      if (waits(who)) b.touched[kept++] = who;
      else net.member(who).touched = 0;
    }
    b.touched.shrink(kept);
    return kept > 0;
  }

  // ---- writing ---------------------------------------------------------------------------------------------------------------

  /// Makes room for one run of a task that sends up to `most` words; false if what was sent before must be read first.
  bool prepare(band& b, channel& c, int most) {
    if (c.operated) return true;
    const u32 unread = unread_of(c), deep = depth_of(c);
    if (unread == 0) c.lenient = false;
    const u32 allowed = c.lenient ? deep : least(deep, task_depth);
    if (unread > allowed) {
      c.writer_waits = true;
      return false;
    }
    const bool large = most > sends_of_a_data_task;
    if (!c.words) lend(b, c, large);
    if (c.size() - c.next() < most) move(b, c, large, unread);
    c.open(least(c.next() + static_cast<int>(allowed - unread), c.size() - most));
    return true;
  }

  /// How many of `wanted` words an operation may write at `next` now.
  u32 room(band& b, channel& c, u32 wanted) {
    const u32 unread = unread_of(c), allowed = depth_of(c);
    if (unread >= allowed) {
      c.writer_waits = true;
      return 0;
    }
    if (!c.words) lend(b, c, c.large || wanted > task_depth);
    if (c.next() == c.size()) move(b, c, true, unread);
    const u32 n = least(wanted, least(allowed - unread, static_cast<u32>(c.size() - c.next())));
    return fresh_of(c) + n > half && allowed == wiring::deep && leaves_band(c) ? least(n, left_in_epoch(b, c)) : n;
  }

  /// At the end of an epoch: who has more to write goes on in the next.
  void end(band& b) {
    for (u32 who : b.later) wake(b, who);
    b.later.clear();
  }

  /// Words that a task sent beyond what fits; a PE that wants to run another task waits for them sooner.
  u32 held_back(const channel& c) const {
    const u32 unread = unread_of(c), fit = c.writer_waits ? least(depth_of(c), task_depth) : depth_of(c);
    return c.operated || unread <= fit ? 0 : unread - fit;
  }

  void put_control(band& b, channel& c, u32 word) {
    for (u32 r : readers_of(c)) {
      const inlet& in = net.inlets[r];
      if (in.remote) post(b, net.seams[in.from].readers_band, {news::what::mark, r, c.tail()});
      else mark(b, r, c.tail());
    }
    *c.room() = word;
    c.move_to(c.next() + 1);
  }

  /// The receivers learn what a visit has written.
  void announce(band& b, u32 who) {
    for (channel& c : net.channels_of(who)) {
      if (c.next() == c.announced) continue;
      const u64 n = static_cast<u64>(c.next() - c.announced);
      c.announced = static_cast<i16>(c.next());
      count(b, c, n);
      for (u32 r : readers_of(c)) {
        const inlet& in = net.inlets[r];
        if (in.remote) tell(b, c, r);
        else wake(b, in.reader);
      }
    }
  }

  void count(band& b, const channel& c, u64 words) const {
    b.done.wavelets += words;
    b.done.hops += words * (c.listed ? net.lists[c.first_reader + 1] : c.links);
    b.done.delivered += words * readers_of(c).size();
  }

  // ---- reading ---------------------------------------------------------------------------------------------------------------

  u32 available(const inlet& in) const { return (in.remote ? net.seams[in.from].visible : net.channels[in.from].tail()) - in.head; }
  bool control_first(band& b, const inlet& in) { return in.marked && b.marks.front(number_of(in)) == in.head; }

  /// Data words that may be read at words_at(in): none if a control wavelet comes first.
  u32 readable(band& b, const inlet& in) {
    const u32 n = available(in);
    return n && in.marked ? least(n, b.marks.front(number_of(in)) - in.head) : n;
  }
  const u32* words_at(const inlet& in) const {
    if (in.remote) return net.seams[in.from].words + (in.head - net.seams[in.from].origin);
    const channel& c = net.channels[in.from];
    return c.words + (in.head - c.origin);
  }
  u32 writer_of(const inlet& in) const { return in.remote ? net.seams[in.from].writer : net.channels[in.from].writer; }

  void consume(band& b, inlet& in, u32 n) {
    in.head += n;
    if (in.remote) return post(b, net.seams[in.from].writers_band, {news::what::credit, number_of(in), in.head});
    channel& c = net.channels[in.from];
    wake_writer(b, c);
    if (in.head == c.tail()) reclaim(b, c);
  }
  void consume_control(band& b, inlet& in) {
    b.marks.pop(number_of(in));
    in.marked = b.marks.has(number_of(in));
    consume(b, in, 1);
  }

  // ---- from memory to memory, between bands -----------------------------------------------------------------------------------

  /// Lets the writer of a color know that an operation in another band waits for n words of it.
  void wish(band& b, std::span<inlet> inlets, int color, u32 n) {
    inlet* in = nullptr;
    for (inlet& i : inlets)
      if (i.color == color && std::exchange(in, &i)) return;  // of several writers nobody knows how much will be his
    if (!in || !in->remote) return;
    seam& s = net.seams[in->from];
    if (!s.direct || s.asked == in->head + n) return;
    s.asked = in->head + n;
    post(b, s.writers_band, {news::what::wish, number_of(*in), s.asked});
  }
  /// How many of `wanted` words an operation in another band waits for, as far as the writer knows.
  u32 wished(const channel& c, u64 wanted) const {
    if (c.listed || !net.inlets[c.first_reader].remote) return 0;
    const seam& s = net.seams[net.inlets[c.first_reader].from];
    const i32 open = static_cast<i32>(s.wished - c.tail());
    return s.wishes && open > 0 ? static_cast<u32>(least(wanted, u64{least(most_offered, static_cast<u32>(open))})) : 0;
  }
  /// Offers them, if all words before them have been read; otherwise the writer is woken when they have.
  bool offer(band& b, channel& c, const u32* words, u32 n) {
    const u32 reader = c.first_reader, place = c.tail();
    seam& s = net.seams[net.inlets[reader].from];
    if (s.credited != place) {
      c.writer_waits = true;
      return false;
    }
    reclaim(b, c);
    c.origin += n;
    credit(s, place + n);
    count(b, c, n);
    post(b, s.readers_band, {news::what::offer, reader, place, words, n});
    return true;
  }

  // ---- news ------------------------------------------------------------------------------------------------------------------

  /// Takes in the news that was posted in the epoch before this one.
  void begin(band& b, u64 epoch) {
    b.epoch = epoch;
    b.addressed = 0;
    b.buffers.release(epoch);
    const std::size_t before = (epoch + 1) & 1, me = static_cast<std::size_t>(&b - bands_.data());
    for (u64 from = b.senders[before].take(); from; from &= from - 1) {
      auto& mail = bands_[static_cast<std::size_t>(std::countr_zero(from))].mail[before][me];
      for (const news& n : mail) take_in(b, n);
      mail.clear();
    }
  }

 private:
  static constexpr u32 task_depth = 256;         ///< unread words beyond which a PE starts no other task
  static constexpr u32 most_offered = 1u << 18;  ///< in one go, so that ranks need not hold more

  u32 number_of(const inlet& in) const { return static_cast<u32>(&in - net.inlets.data()); }
  u32 depth_of(const channel& c) const {
    return net.depths.empty() ? wiring::deep : net.depths[static_cast<std::size_t>(&c - net.channels.data())];
  }

  /// Words that the slowest receiver has not read, as far as the writer knows.
  u32 unread_of(const channel& c) const {
    const u32 tail = c.tail();
    u32 n = 0;
    for (u32 r : readers_of(c)) {
      const inlet& in = net.inlets[r];
      n = most(n, tail - (in.remote ? net.seams[in.from].credited : in.head));
    }
    return n;
  }

  /// Half of the words that may lie between two bands are written in one epoch: while one half is read, the other is written.
  static constexpr u32 half = wiring::deep / 2;
  static u32 fresh_of(const channel& c) { return static_cast<u32>(c.next() - c.announced); }
  bool leaves_band(const channel& c) {
    const inlet* in = only_reader(c);
    return in && in->remote;
  }
  static u32 left_in_epoch(band& b, const channel& c) {
    const u32 fresh = fresh_of(c);
    if (fresh < half) return half - fresh;
    b.later.push_back(c.writer);
    return 0;
  }

  void lend(band& b, channel& c, bool large) {
    c.large = large;
    c.words = b.buffers.take(c.size());
    c.move_to(0);
    c.announced = 0;
    c.close();
  }

  /// What is unread moves to the start of another buffer.
  void move(band& b, channel& c, bool large, u32 unread) {
    const channel old = c;
    lend(b, c, large || unread > small_buffer / 4);
    c.origin = old.tail() - unread;
    std::memcpy(c.words, old.words + (static_cast<u32>(old.next()) - unread), unread * sizeof(u32));
    c.move_to(static_cast<int>(unread));
    c.announced = static_cast<i16>(c.next() - (old.next() - old.announced));
    bool seen_elsewhere = false;
    for (u32 r : readers_of(c))
      if (net.inlets[r].remote) seen_elsewhere = true, tell(b, c, r);
    if (seen_elsewhere) b.buffers.retire(old.words, old.size(), b.epoch);
    else b.buffers.give(old.words, old.size());
  }

  /// An empty buffer goes back to the pool; of a multicast, whose receivers read at their own pace, it is moved when it is full.
  void reclaim(band& b, channel& c) {
    if (c.listed || !c.words) return;
    const inlet& in = net.inlets[c.first_reader];
    if (in.reader == c.writer) return;  // the task that runs may be about to send
    if ((in.remote ? net.seams[in.from].credited : in.head) != c.tail()) return;
    b.buffers.give(c.words, c.size());
    c.origin = c.tail();
    c.words = nullptr;
    c.move_to(0);
    c.announced = 0;
    c.close();
  }

  void wake_writer(band& b, channel& c) {
    if (!c.writer_waits) return;
    c.writer_waits = false;
    wake(b, c.writer);
  }

  void mark(band& b, u32 which, u32 position) {
    net.inlets[which].marked = true;
    b.marks.push(which, position);
  }

  void tell(band& b, const channel& c, u32 r) {
    post(b, net.seams[net.inlets[r].from].readers_band, {news::what::words, r, c.origin + static_cast<u32>(c.announced), c.words, c.origin});
  }

  void post(band& from, u32 to, const news& n) {
    const std::size_t parity = from.epoch & 1;
    const u64 bit = u64{1} << to;
    if (!(from.addressed & bit)) {
      from.addressed |= bit;
      bands_[to].senders[parity].set_bits(u64{1} << static_cast<u64>(&from - bands_.data()));
    }
    from.mail[parity][to].push_back(n);
  }

  static void credit(seam& s, u32 position) {
    s.credited = position;
    if (static_cast<i32>(position - s.wished) >= 0) s.wishes = false;
  }

  void take_in(band& b, const news& n) {
    inlet& in = net.inlets[n.inlet];
    seam& s = net.seams[in.from];
    channel& c = net.channels[s.channel];
    switch (n.kind) {
      case news::what::words:
        s.visible = n.position, s.words = n.words, s.origin = n.origin;
        wake(b, in.reader);
        break;
      case news::what::mark: mark(b, n.inlet, n.position); break;
      case news::what::credit:
        credit(s, n.position);
        wake_writer(b, c);
        reclaim(b, c);
        break;
      case news::what::wish: s.wished = n.position, s.wishes = true; break;
      case news::what::offer:
        s.visible = n.position + n.offered();
        b.offers.push_back(n);
        break;
    }
  }

  flat_vector<band> bands_;
};

}  // namespace wsl::engines
