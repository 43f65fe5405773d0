// SPDX-License-Identifier: MIT
// How words get from channels to inlets: buffers that are lent and returned, room by credits, and news between bands. A band
// touches only its own channels' buffers for writing and its own inlets; what another band must know travels as news. So
// nothing here locks.
#pragma once
#include <cstring>
#include <span>

#include "wiring.hpp"

namespace wsl::engines {

class traffic {
 public:
  traffic(const layout& plan, deliveries& routes, tiles& pes, depth how_deep, u32 pes_per_band)
      : net(plan, routes, pes, how_deep, pes_per_band), state_(net.writers()), bands_(net.bands) {
    for (band& b : bands_)
      for (auto& m : b.mail) m = flat_vector<flat_vector<news>>(net.bands);
  }

  wiring net;

  flat_vector<band>& bands() { return bands_; }
  band& home(u32 who) { return bands_[net.band_of[who]]; }

  std::span<channel> channels_of(u32 who) {
    return {net.channels.data() + net.first_channel[who], net.channels.data() + net.first_channel[who + 1]};
  }
  std::span<inlet> inlets_of(u32 who) {
    return {net.inlets.data() + net.first_inlet[who], net.inlets.data() + net.first_inlet[who + 1]};
  }
  std::span<const u32> readers_of(const channel& c) const {
    return {c.readers == 1 ? &c.first_reader : net.reader_lists.data() + c.first_reader, c.readers};
  }

  void wake(band& b, u32 who) {
    if (state_[who] & queued) return;
    if (!(state_[who] & touched)) b.touched.push_back(who);
    state_[who] = queued | touched;
    b.work.push(who);
  }
  void visited(u32 who) { state_[who] = touched; }

  /// Drops from the list of whom a run has touched all for whom `waits(who)` is false; says whether any are left.
  template <class Waits>
  bool any_left(band& b, Waits waits) {
    std::size_t kept = 0;
    for (u32 who : b.touched) {
      if (waits(who)) b.touched[kept++] = who;
      else state_[who] = 0;
    }
    b.touched.shrink(kept);
    return kept > 0;
  }

  // ---- writing ---------------------------------------------------------------------------------------------------------------

  /// Makes room for one run of a task that sends up to `most` words; false if what was sent before must be read first.
  bool prepare(band& b, channel& c, int most) {
    if (c.operated) return true;
    const u64 head = least_head(c), unread = c.tail() - head;
    if (unread <= task_depth) c.lenient = false;
    const u64 allowed = c.lenient ? depth_of(c) : least(depth_of(c), task_depth);
    if (unread > allowed) {
      c.writer_waits = true;
      return false;
    }
    if (!c.words) lend(b, c, most > sends_of_a_data_task);
    if (size_of(c) - c.next < static_cast<u64>(most)) move(b, c, most > sends_of_a_data_task, head);
    c.hard = most > sends_of_a_data_task ? c.next + static_cast<u64>(most) : size_of(c);
    c.soft = least(c.next + (allowed - unread), c.hard - static_cast<u64>(most));
    return true;
  }

  /// How many of `wanted` words an operation may write at `next` now.
  u64 room(band& b, channel& c, u64 wanted) {
    const u64 head = least_head(c), unread = c.tail() - head;
    const u64 allowed = depth_of(c);
    if (unread >= allowed) {
      c.writer_waits = true;
      return 0;
    }
    if (!c.words) lend(b, c, wanted > task_depth);
    if (c.next == size_of(c)) move(b, c, true, head);
    return least(wanted, least(allowed - unread, size_of(c) - c.next));
  }

  /// Words that a task sent beyond what fits; a PE that wants to run another task waits for them sooner.
  u64 held_back(const channel& c) const {
    const u64 unread = c.tail() - least_head(c), fit = c.writer_waits ? least(depth_of(c), task_depth) : depth_of(c);
    return c.operated || unread <= fit ? 0 : unread - fit;
  }

  void put_control(band& b, channel& c, u32 word) {
    for (u32 r : readers_of(c)) {
      if (net.inlets[r].remote) post(b, net.inlets[r].reader, {news::what::mark, r, c.tail()});
      else mark(b, r, c.tail());
    }
    c.words[c.next++] = word;
  }

  /// The receivers learn what a visit has written.
  void announce(band& b, u32 who) {
    for (channel& c : channels_of(who)) {
      const u64 n = c.tail() - c.announced;
      if (n == 0) continue;
      c.announced = c.tail();
      b.done.wavelets += n;
      b.done.hops += n * net.links[static_cast<std::size_t>(&c - net.channels.data())];
      b.done.delivered += n * c.readers;
      for (u32 r : readers_of(c)) {
        if (net.inlets[r].remote) tell(b, c, r);
        else wake(b, net.inlets[r].reader);
      }
    }
  }

  // ---- reading ---------------------------------------------------------------------------------------------------------------

  u64 available(const inlet& in) const { return (in.remote ? in.visible : net.channels[in.from].tail()) - in.head; }
  bool control_first(band& b, const inlet& in) { return in.marked && b.marks.front(number_of(in)) == in.head; }

  /// Data words that may be read at words_at(in): none if a control wavelet comes first.
  u64 readable(band& b, const inlet& in) {
    const u64 n = available(in);
    return n && in.marked ? least(n, b.marks.front(number_of(in)) - in.head) : n;
  }
  const u32* words_at(const inlet& in) const {
    if (in.remote) return in.words + (in.head - in.origin);
    const channel& c = net.channels[in.from];
    return c.words + (in.head - c.origin);
  }

  void consume(band& b, inlet& in, u64 n) {
    in.head += n;
    channel& c = net.channels[in.from];
    if (in.remote) return post(b, c.writer, {news::what::credit, number_of(in), in.head});
    if (std::exchange(c.writer_waits, false)) wake(b, c.writer);
    if (in.head == c.tail()) reclaim(b, c);
  }
  void consume_control(band& b, inlet& in) {
    b.marks.pop(number_of(in));
    in.marked = b.marks.has(number_of(in));
    consume(b, in, 1);
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
  static constexpr u64 task_depth = 256;  ///< unread words beyond which a PE starts no other task

  static u32 size_of(const channel& c) { return c.large ? buffer_pool::large : buffer_pool::small; }
  u32 number_of(const inlet& in) const { return static_cast<u32>(&in - net.inlets.data()); }

  u64 least_head(const channel& c) const {
    u64 all = ~u64{0};
    for (u32 r : readers_of(c)) all = least(all, net.inlets[r].remote ? net.inlets[r].credited : net.inlets[r].head);
    return all;
  }
  u64 depth_of(const channel& c) const {
    u64 all = ~u64{0};
    for (u32 r : readers_of(c)) all = least<u64>(all, net.inlets[r].depth);
    return all;
  }

  void lend(band& b, channel& c, bool large) {
    c.large = large;
    c.words = b.buffers.take(size_of(c));
    c.next = 0;
    c.close();
  }

  /// What is unread moves to the start of another buffer.
  void move(band& b, channel& c, bool large, u64 head) {
    const channel old = c;
    const u64 tail = c.tail();
    lend(b, c, large || tail - head > buffer_pool::small / 4);
    c.origin = head;
    std::memcpy(c.words, old.words + (head - old.origin), (tail - head) * sizeof(u32));
    c.next = tail - head;
    c.close();
    bool seen_elsewhere = false;
    for (u32 r : readers_of(c))
      if (net.inlets[r].remote) seen_elsewhere = true, tell(b, c, r);
    if (seen_elsewhere) b.buffers.retire(old.words, size_of(old), b.epoch);
    else b.buffers.give(old.words, size_of(old));
  }

  /// An empty buffer goes back to the pool; of a multicast, whose receivers read at their own pace, it is moved when it is full.
  void reclaim(band& b, channel& c) {
    if (c.readers != 1 || !c.words) return;
    const inlet& in = net.inlets[c.first_reader];
    if (in.reader == c.writer) return;  // the task that runs may be about to send
    if ((in.remote ? in.credited : in.head) != c.tail()) return;
    c.origin = c.tail();
    b.buffers.give(c.words, size_of(c));
    c.words = nullptr;
    c.next = 0;
    c.close();
  }

  void mark(band& b, u32 which, u64 position) {
    net.inlets[which].marked = true;
    b.marks.push(which, position);
  }

  void tell(band& b, const channel& c, u32 r) {
    post(b, net.inlets[r].reader, {news::what::words, r, c.announced, c.words, c.origin});
  }

  void post(band& from, u32 who, const news& n) {
    const u32 to = net.band_of[who];
    const std::size_t parity = from.epoch & 1;
    const u64 bit = u64{1} << to;
    if (!(from.addressed & bit)) {
      from.addressed |= bit;
      bands_[to].senders[parity].set_bits(u64{1} << static_cast<u64>(&from - bands_.data()));
    }
    from.mail[parity][to].push_back(n);
  }

  void take_in(band& b, const news& n) {
    inlet& in = net.inlets[n.inlet];
    channel& c = net.channels[in.from];
    switch (n.kind) {
      case news::what::words:
        in.visible = n.position, in.words = n.words, in.origin = n.origin;
        wake(b, in.reader);
        break;
      case news::what::mark: mark(b, n.inlet, n.position); break;
      case news::what::credit:
        in.credited = n.position;
        if (std::exchange(c.writer_waits, false)) wake(b, c.writer);
        reclaim(b, c);
        break;
    }
  }

  enum : u8 { queued = 1, touched = 2 };
  flat_vector<u8> state_;  // of PEs and streams
  flat_vector<band> bands_;
};

}  // namespace wsl::engines
