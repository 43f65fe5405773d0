// SPDX-License-Identifier: MIT
// The engine that users run: every wavelet goes straight from its sender's channel to its receivers, tasks run in batches,
// operations move whole spans, and only PEs with work are visited. Bands of the grid run on threads, with the same results for
// any number of them, and the same as the reference engine's for every program that does not depend on the order in which
// independent wavelets arrive.
//
// What runs first on a visited PE is defined: what its tasks sent before, its operations in flight, then host calls in their
// order, the activated local task with the lowest number, and the data or control tasks of the lowest color, a batch at a time; of
// several senders of a merged color the one with the lowest place on the grid goes first.
#pragma once
#include <bit>

#include "crew.hpp"
#include "deadlock.hpp"
#include "wiring.hpp"

namespace wsl {

/// In which order a PE and a band take what is ready. Any order that `shuffled` draws is legal: a program whose result it changes
/// has a race.
struct schedule {
  struct shuffled {
    u64 seed;
  };
  constexpr schedule() = default;
  constexpr schedule(shuffled s) : shuffle(true), seed(s.seed) {}
  bool shuffle = false;
  u64 seed = 0;
};

class threaded_engine final : public engine {
 public:
  threaded_engine(const layout& plan, int threads, depth queues, schedule order)
      : engine(plan), tiles_(engine::plan(), *this), net_(engine::plan(), tiles_, queues), more_(tiles_.size()),
        queued_(net_.writers()), bands_(net_.bands), crew_(std::min(threads, static_cast<int>(net_.bands))), order_(order) {
    for (u32 b = 0; b < net_.bands; ++b) {
      for (auto& m : bands_[b].mail) m.resize(net_.bands);
      bands_[b].random = order.seed * 0x9e3779b97f4a7c15u + b + 1;
    }
    for (u32 i = 0; i < tiles_.size(); ++i)
      if (state(i).active) wake(home(i), i);
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    const u32 i = state_of(on).index;
    extras(i).calls.push(std::move(what));
    wake(home(i), i);
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = stream(color, c, true);
    for (u32 w : words) net_.streams[k].words.push(w);
    wake(home(pes() + k), pes() + k);
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    backlog<u32>& from = net_.streams[stream(color, c, false)].words;
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop()) words[n++] = from.front();
    return n;
  }

  outcome run() override {
    for (band& b : bands_) b.done = {}, b.failure = nullptr;
    if (crew_.size() == 1) run_alone();
    else run_together();
    outcome total;
    for (const band& b : bands_) total = total + b.done;
    for (const band& b : bands_)
      if (b.failure) std::rethrow_exception(b.failure);
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open);
    return total;
  }

  void send(pe_state& from, wavelet w, const payload_type* type) override {
    rule::declares_send(from, w.color, type);
    const u8 slot = from.image->slot[w.color];
    rule::has_path(from, w.color, slot != program_image::no_slot);
    rule::one_writer(from, w.color, more_[from.index] ? more_[from.index]->writer(w.color) : nullptr);
    channel& c = from.channels[slot];
    band& b = home(from.index);
    if (!(more_[from.index] && !more_[from.index]->outbox.empty()) && room(b, c, 1)) return put(b, c, w);
    extras(from.index).outbox.push(w);
    close_all(from);  // what the task sends next leaves after this
    c.writer_waits = true;
    from.interrupted = true;
  }

  bool start(pe_state& on, const transfer& t) override {
    const processor* p = more_[on.index].get();
    rule::may_start(on, t, p ? p->microthreads.size() : 0, target());
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) rule::one_reader(on, t.input[k], (p && p->reads(t.input[k])) || (k == 1 && t.input[0] == t.input[1]));
    if (t.output >= 0) {
      rule::declares_send(on, t.output, t.output_type);
      rule::has_path(on, t.output, on.image->slot[t.output] != program_image::no_slot);
      rule::one_writer(on, t.output, p ? p->writer(t.output) : nullptr);
    }
    transfer trial = t;
    advance(home(on.index), on, trial);
    if (trial.complete()) return complete(on, trial);
    if (trial.output >= 0) close(on, on.channels[on.image->slot[trial.output]], true);
    extras(on.index).microthreads.push_back(trial);
    return false;
  }

 private:
  static constexpr u32 visit_budget = 256;  ///< batches and tasks of one visit, so that a PE that feeds itself lets others run

  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  pe_state& state(u32 i) { return state_of(tiles_[i]); }
  band& home(u32 who) { return bands_[net_.band_of[who]]; }
  processor& extras(u32 i) {
    if (!more_[i]) more_[i] = std::make_unique<processor>();
    return *more_[i];
  }
  u32 stream(int color, coord c, bool inbound) const {
    for (u32 k = 0; k < net_.streams.size(); ++k)
      if (const stream_end& s = net_.streams[k]; s.color == color && s.at == c && s.inbound == inbound) return k;
    throw fault_error("wsl: no host stream of color " + std::to_string(color) + " is bound to PE(" + std::to_string(c.x) + ", " +
                      std::to_string(c.y) + ")");
  }

  // ---- epochs ----------------------------------------------------------------------------------------------------------------

  static constexpr u64 band_bit(u32 b) { return u64{1} << b; }

  void run_alone() {
    for (u64 now = net_.bands == most_bands ? ~u64{0} : band_bit(net_.bands) - 1; now;) {
      epoch_ ^= 1;
      u64 next = 0;
      bool failed = false;
      for (; now; now &= now - 1) {
        const u32 b = static_cast<u32>(std::countr_zero(now));
        run_band(b, epoch_);
        next |= bands_[b].addressed;
        failed |= bands_[b].failure != nullptr;
      }
      now = failed ? 0 : next;
    }
  }

  void run_together() {
    struct alignas(128) flag {
      bool set[2];
    };
    std::vector<flag> goes_on(static_cast<std::size_t>(crew_.size()));
    const auto share = [&](int k) { return static_cast<u32>(static_cast<std::size_t>(k) * net_.bands / goes_on.size()); };
    const u32 first = epoch_;
    auto job = [&](int thread) {
      for (u32 epoch = first;;) {
        epoch ^= 1;
        bool mail = false, failed = false;
        for (u32 b = share(thread); b < share(thread + 1); ++b) {
          run_band(b, epoch);
          mail |= bands_[b].addressed != 0;
          failed |= bands_[b].failure != nullptr;
        }
        goes_on[static_cast<std::size_t>(thread)].set[epoch] = mail;
        if (failed) stop_.store(true, std::memory_order_relaxed);
        crew_.barrier.wait();
        bool any = false;
        for (const flag& f : goes_on) any |= f.set[epoch];
        if (any && !stop_.load(std::memory_order_relaxed)) continue;
        if (thread == 0) epoch_ = epoch;
        return;
      }
    };
    crew_.run(job);
    stop_ = false;
  }

  void run_band(u32 number, u32 epoch) {
    band& b = bands_[number];
    b.parity = epoch;
    b.addressed = 0;
    try {
      for (u64 from = b.senders[epoch ^ 1].exchange(0, std::memory_order_relaxed); from; from &= from - 1)
        deliver(b, bands_[static_cast<std::size_t>(std::countr_zero(from))].mail[epoch ^ 1][number]);
      while (!b.work.empty()) {
        if (order_.shuffle) b.work.bring_forward(draw(b, b.work.size()));
        visit(b, b.work.pop());
      }
    } catch (...) {
      b.failure = std::current_exception();
    }
  }

  // Rings are written by their writer's band only; what the other side knows of them travels as news.
  void deliver(band& b, std::vector<news>& mail) {
    for (const news& n : mail) {
      inlet& in = net_.inlets[n.inlet];
      channel& c = net_.channels[in.from];
      switch (n.kind) {
        case news::what::words: in.visible = n.position, wake(b, in.reader); break;
        case news::what::mark: mark(b, n.inlet, n.position); break;
        case news::what::credit:
          in.credited = n.position;
          if (std::exchange(c.writer_waits, false)) wake(b, c.writer);
          reclaim(b, c);
          break;
      }
    }
    mail.clear();
  }

  void post(band& from, u32 who, news n) {
    const u32 to = net_.band_of[who];
    if (!(from.addressed & band_bit(to))) {
      from.addressed |= band_bit(to);
      bands_[to].senders[from.parity].fetch_or(band_bit(static_cast<u32>(&from - bands_.data())), std::memory_order_relaxed);
    }
    from.mail[from.parity][to].push_back(n);
  }

  void wake(band& b, u32 who) {
    if (std::exchange(queued_[who], u8{1})) return;
    b.work.push(who);
  }

  u64 draw(band& b, u64 below) {
    b.random ^= b.random << 13, b.random ^= b.random >> 7, b.random ^= b.random << 17;
    return b.random % below;
  }

  // ---- channels --------------------------------------------------------------------------------------------------------------

  std::span<const u32> readers_of(const channel& c) const {
    return {c.readers == 1 ? &c.first_reader : net_.reader_lists.data() + c.first_reader, c.readers};
  }
  std::span<channel> channels_of(u32 who) {
    return {net_.channels.data() + net_.first_channel[who], net_.channels.data() + net_.first_channel[who + 1]};
  }
  std::span<inlet> inlets_of(u32 who) {
    return {net_.inlets.data() + net_.first_inlet[who], net_.inlets.data() + net_.first_inlet[who + 1]};
  }
  u32 number_of(const inlet& in) const { return static_cast<u32>(&in - net_.inlets.data()); }

  /// How many words the channel takes now. Lends it a ring that holds `wanted` words, if it has none and there is one so large.
  u64 room(band& b, channel& c, u64 wanted) {
    if (!c.words) {
      const u32 size = wanted > ring_pool::small ? ring_pool::large : ring_pool::small;
      c.words = b.rings.take(size);
      c.mask = size - 1;
    }
    u64 limit = ~u64{0};
    for (u32 r : readers_of(c)) {
      const inlet& in = net_.inlets[r];
      limit = std::min(limit, (in.remote ? in.credited : in.head) + std::min(in.depth, c.mask + 1));
    }
    c.limit = c.operated ? c.tail : limit;
    return limit - c.tail;
  }

  void put(band& b, channel& c, wavelet w) {
    if (w.control)
      for (u32 r : readers_of(c)) {
        if (net_.inlets[r].remote) post(b, net_.inlets[r].reader, {news::what::mark, r, c.tail});
        else mark(b, r, c.tail);
      }
    c.words[c.tail++ & c.mask] = w.bits;
  }
  void mark(band& b, u32 which, u64 position) {
    net_.inlets[which].marked = true;
    b.marks[which].push(position);
  }

  /// An empty ring goes back to the pool; of a multicast, whose receivers read at their own pace, it stays.
  void reclaim(band& b, channel& c) {
    if (c.readers != 1 || !c.words) return;
    const inlet& in = net_.inlets[c.first_reader];
    if ((in.remote ? in.credited : in.head) != c.tail) return;
    b.rings.give(std::exchange(c.words, nullptr), c.mask + 1);
    c.limit = c.tail;
  }

  void close(pe_state& s, channel& c, bool operated) {
    c.operated = operated;
    c.limit = c.tail;
    s.interrupted = true;
  }
  void close_all(const pe_state& s) {
    for (channel& c : channels_of(s.index)) c.limit = c.tail;
  }

  /// The receivers learn what a visit has written.
  void announce(band& b, u32 who) {
    for (channel& c : channels_of(who)) {
      const u64 n = c.tail - c.announced;
      if (n == 0) continue;
      c.announced = c.tail;
      b.done.wavelets += n;
      b.done.hops += n * c.links;
      b.done.delivered += n * c.readers;
      for (u32 r : readers_of(c)) {
        const inlet& in = net_.inlets[r];
        if (in.remote) post(b, in.reader, {news::what::words, r, c.tail});
        else wake(b, in.reader);
      }
    }
  }

  // ---- inlets ----------------------------------------------------------------------------------------------------------------

  u64 available(const inlet& in) const { return (in.remote ? in.visible : net_.channels[in.from].tail) - in.head; }
  bool control_first(band& b, const inlet& in) { return in.marked && b.marks[number_of(in)].front() == in.head; }

  /// Data words that lie in one piece; none before a control wavelet.
  u64 readable(band& b, const inlet& in) {
    u64 n = available(in);
    if (n == 0) return 0;
    const u64 size = u64{net_.channels[in.from].mask} + 1;
    n = std::min(n, size - (in.head & (size - 1)));
    return in.marked ? std::min(n, b.marks[number_of(in)].front() - in.head) : n;
  }
  const u32* words_at(const inlet& in) const {
    const channel& c = net_.channels[in.from];
    return c.words + (in.head & c.mask);
  }

  void consume(band& b, inlet& in, u64 n) {
    in.head += n;
    channel& c = net_.channels[in.from];
    if (in.remote) return post(b, c.writer, {news::what::credit, number_of(in), in.head});
    if (std::exchange(c.writer_waits, false)) wake(b, c.writer);
    if (in.head == c.tail) reclaim(b, c);
  }

  // ---- visits ----------------------------------------------------------------------------------------------------------------

  void visit(band& b, u32 who) {
    queued_[who] = 0;
    u32 budget = visit_budget;
    if (who < pes()) {
      pe_state& s = state(who);
      while (budget && act(b, s)) --budget;
    } else {
      visit_stream(b, who);
    }
    announce(b, who);
    if (!budget) wake(b, who);
  }

  void visit_stream(band& b, u32 who) {
    stream_end& s = net_.streams[who - pes()];
    for (inlet& in : inlets_of(who))
      while (const u64 n = readable(b, in)) {
        for (u64 i = 0; i < n; ++i) s.words.push(words_at(in)[i]);
        consume(b, in, n);
      }
    for (channel& c : channels_of(who))
      for (; !s.words.empty(); s.words.pop()) {
        if (room(b, c, s.words.size()) == 0) {
          c.writer_waits = true;
          break;
        }
        put(b, c, {s.words.front(), 0, false});
      }
  }

  bool act(band& b, pe_state& s) {
    bool acted = false;
    if (processor* p = more_[s.index].get()) {
      acted = drain(b, s, *p);
      acted |= move_operations(b, s, *p);
      if (s.suspended || !p->outbox.empty()) return acted;
    }
    return run_next(b, s) || acted;
  }

  bool drain(band& b, pe_state& s, processor& p) {
    bool drained = false;
    for (; !p.outbox.empty(); p.outbox.pop(), drained = true) {
      channel& c = s.channels[s.image->slot[p.outbox.front().color]];
      if (room(b, c, p.outbox.size()) == 0) {
        c.writer_waits = true;
        close_all(s);
        break;
      }
      put(b, c, p.outbox.front());
      c.limit = c.tail;
    }
    return drained;
  }

  bool move_operations(band& b, pe_state& s, processor& p) {
    bool moved = false;
    for (std::size_t k = 0; k < p.microthreads.size();) {
      moved |= advance(b, s, p.microthreads[k]);
      if (!p.microthreads[k].complete()) {
        ++k;
        continue;
      }
      const transfer t = p.microthreads[k];
      p.microthreads.erase(p.microthreads.begin() + static_cast<std::ptrdiff_t>(k));
      if (t.output >= 0) close(s, s.channels[s.image->slot[t.output]], false);
      complete(s, t);
      if (t.resumes) guarded(s, t.name, [&] { resume(s); });
    }
    return moved;
  }

  static bool complete(pe_state& s, const transfer& t) {
    if (t.activates >= 0) s.active |= color_bit(t.activates);
    if (t.unblocks >= 0) s.blocked &= ~color_bit(t.unblocks);
    if (t.unblocks_color >= 0) s.blocked_colors &= ~color_bit(t.unblocks_color);
    return true;
  }

  /// Moves an operation on as far as its inputs and its output allow, span by span.
  bool advance(band& b, pe_state& s, transfer& t) {
    channel* out = t.output >= 0 ? &s.channels[s.image->slot[t.output]] : nullptr;
    if (out && more_[s.index] && more_[s.index]->holds_back(t.output)) return false;
    bool moved = false;
    while (!t.complete()) {
      u64 n = std::min(t.length - t.done, u64{1} << 30);
      inlet* in[2] = {};
      const u32* input[2] = {};
      for (int k = 0; k < 2; ++k) {
        if (t.input[k] < 0) continue;
        in[k] = source(b, s, t.input[k]);
        if (!in[k]) return moved;
        n = std::min(n, readable(b, *in[k]));
        input[k] = words_at(*in[k]);
      }
      u32* output = nullptr;
      if (out) {
        const u64 free = room(b, *out, n);
        if (free == 0) {
          out->writer_waits = true;
          return moved;
        }
        n = std::min({n, free, out->mask + 1 - (out->tail & out->mask)});
        output = out->words + (out->tail & out->mask);
      }
      t.move(t, input, output, static_cast<u32>(n));
      if (out) {
        out->tail += n;
        if (out->operated) out->limit = out->tail;
      }
      for (inlet* i : in)
        if (i) consume(b, *i, n);
      moved = true;
    }
    return moved;
  }

  /// An inlet of this color with data to read; of a merge the first sender's.
  inlet* source(band& b, pe_state& s, int color) {
    for (inlet& in : inlets_of(s.index))
      if (in.color == color && readable(b, in)) return &in;
    return nullptr;
  }

  bool run_next(band& b, pe_state& s) {
    if (processor* p = more_[s.index].get(); p && !p->calls.empty()) {
      const host_call c = p->calls.front();
      p->calls.pop();
      return run_task(b, s, *c.entry, c.arguments.get(), 1);
    }
    const u64 ready = s.active & ~s.blocked;
    if (order_.shuffle && ready && draw(b, 2) && run_data(b, s)) return true;
    if (ready) {
      const int id = order_.shuffle ? any_of(b, ready) : std::countr_zero(ready);
      s.active &= ~color_bit(id);
      return run_task(b, s, *s.image->local[id], nullptr, 1);
    }
    return run_data(b, s);
  }
  int any_of(band& b, u64 set) {
    for (u64 skip = draw(b, static_cast<u64>(std::popcount(set))); skip; --skip) set &= set - 1;
    return std::countr_zero(set);
  }

  bool run_data(band& b, pe_state& s) {
    const auto all_inlets = inlets_of(s.index);
    const std::size_t from = order_.shuffle && !all_inlets.empty() ? draw(b, all_inlets.size()) : 0;
    for (std::size_t k = 0; k < all_inlets.size(); ++k)
      if (run_batch(b, s, all_inlets[from + k < all_inlets.size() ? from + k : from + k - all_inlets.size()])) return true;
    return false;
  }

  bool run_batch(band& b, pe_state& s, inlet& in) {
    if (available(in) == 0) return false;
    if (in.marked && control_first(b, in)) return run_control(b, s, in);
    const binding* task = s.image->data[in.color];
    if (!task || (s.blocked_colors & color_bit(in.color))) return false;
    u64 n = readable(b, in);
    for (channel& c : channels_of(s.index)) {
      u64 free = c.words ? c.limit - c.tail : ring_pool::small;
      if (free < n && !c.operated) free = room(b, c, 1);
      if (free < n) n = std::max<u64>(free, 1);
    }
    if (order_.shuffle) n = 1 + draw(b, n);
    return run_task(b, s, *task, words_at(in), static_cast<u32>(n), &in);
  }

  bool run_control(band& b, pe_state& s, inlet& in) {
    const u32 word = *words_at(in);
    const binding* task = s.image->control_with(word >> 16);
    if (!task) rule::no_control_task(s, in.color, word >> 16);
    auto& marks = b.marks[number_of(in)];
    marks.pop();
    in.marked = !marks.empty();
    consume(b, in, 1);
    return run_task(b, s, *task, &word, 1);
  }

  bool run_task(band& b, pe_state& s, const binding& task, const void* input, u32 count, inlet* in = nullptr) {
    s.interrupted = false;
    u32 taken = 0;
    guarded(s, task.name, [&] { taken = task.run(s.memory, tiles_[s.index], input, count); });
    b.done.tasks += taken;
    if (in) consume(b, *in, taken);
    return true;
  }

  // ---- what still waits ------------------------------------------------------------------------------------------------------

  waits pending() {
    waits open;
    for (u32 i = 0; i < pes(); ++i) {
      pe_state& s = state(i);
      band& b = home(i);
      if (more_[i]) operation_waits(open, *more_[i], s, [&](int color) { return source(b, s, color) == nullptr; });
      held_tasks(open, s);
      for (const inlet& in : inlets_of(i)) {
        const u64 n = available(in);
        if (n == 0) continue;
        const bool control = control_first(b, in);
        if (!control && more_[i] && more_[i]->reads(in.color)) continue;
        const binding* task = control ? s.image->control_with(*words_at(in) >> 16) : s.image->data[in.color];
        open.push_back({wait::reason::unread, {s.x, s.y}, in.color, s.image->source->name, task ? task->name : "", n});
      }
    }
    for (const stream_end& s : net_.streams)
      if (s.inbound && !s.words.empty()) open.push_back({wait::reason::stream, s.at, s.color, "", "", s.words.size()});
    return open;
  }

  tiles tiles_;
  wiring net_;
  std::vector<std::unique_ptr<processor>> more_;
  std::vector<u8> queued_;
  std::vector<band> bands_;
  crew crew_;
  schedule order_;
  u32 epoch_ = 0;
  std::atomic<bool> stop_{false};
};

/// The choice of the threaded engine: `fabric f{plan, threaded{.threads = 4}}`.
struct threaded {
  int threads = 0;           ///< 0: WSL_THREADS, or one a core
  depth queues = depth::deep;
  schedule order = {};

  std::unique_ptr<engine> make(const layout& plan) const {
    if (threads < 0 || threads > 1024)
      throw fault_error("wsl: an engine runs on 1 to 1024 threads, not on " + std::to_string(threads));
    return std::make_unique<threaded_engine>(plan, threads ? threads : default_threads(), queues, order);
  }
};

}  // namespace wsl
