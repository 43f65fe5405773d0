// SPDX-License-Identifier: MIT
// The reference engine itself: one thread simulates cycle after cycle and moves every wavelet hop by hop
// through bounded queues of the machine's depths. It is slow and simple, and the oracle of every other
// engine.
//
// In a cycle a PE puts at most one wavelet that its tasks sent into an output queue, moves one element of one
// of its operations in turn, and runs at most one task, the next by run_next_task. docs/engines/reference.md
// draws it.
#pragma once
#include <bit>
#include <map>

#include "../diagnose/deadlock.hpp"
#include "../diagnose/run_limit.hpp"
#include "../engine.hpp"
#include "../journal.hpp"
#include "../pe_waits.hpp"
#include "../tiles.hpp"
#include "routers.hpp"

namespace wsl {
namespace engines {

class reference_engine final : public engine {
 public:
  explicit reference_engine(const layout& plan)
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this),
        processors_(tiles_.size()),
        windows_(*this, 1),
        journal_(*this, windows_, 0),
        routers_(engine::plan(), [this](coord c) { return image_at(c); }) {
    tiles_.set_windows(windows_.of(0), nullptr);
    for (const stream_record& s : engine::plan().streams())
      for (int i = 0; i < s.where.count(); ++i) open(s, s.where.nth(i));
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      state(i).defers = true;
      if (state(i).active) wake(i);
    }
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    const std::size_t i = state_of(on).index;
    processors_[i].calls.push(what);
    wake(i);
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    for (u32 w : words) sources_.at(key(color, c)).words.push({w, static_cast<u8>(color), false});
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    support::flat_queue<u32>& from = sinks_.at(key(color, c));
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop()) words[n++] = from.front();
    return n;
  }

  u64 unread_words() const override {
    u64 n = 0;
    for (const auto& [where, words] : sinks_) n += words.size();
    return n;
  }

  outcome run() override {
    total_ = {};
    run_steps();
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open, unread_words());
    return total_;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    journal_.send_control(from, color, type, bits);
  }
  u64 now(const pe_state&) const override { return cycle_; }

  void observe(step_observer* by) override {
    must_not_be_observed(by, observer_);
    observer_ = by;
  }
  void stood_still(f64 seconds) override { limit_.leave_out(seconds); }
  const char* name() const override { return "reference"; }
  waits what_waits() override { return pending(); }
  [[gnu::cold]] void look_at(coord c, place_visitor& to) override {
    if (pe* p = find(c)) show(processors_[state_of(*p).index], state_of(*p), to);
    using in = queue_place;
    for (const routers::virtual_channel& l : routers_.virtual_channels_of(routers_.router_at(c))) {
      for (port p : every_port) show(to, p == ramp ? in::output : in::link, l, l.in[index_of(p)], p);
      show(to, in::input, l, l.out[0], ramp);
      if (const router_switch* s = routers_.switch_of(l))
        to.router_switch(l.color, s->closed(), s->position());
    }
  }
  void reopen(pe_state& on, int color, int phase) override {
    const coord at{on.x, on.y};
    const routers::virtual_channel* l = routers_.virtual_channel_of(at, color);
    rule::reopen(on, color, phase, l ? routers_.switch_of(*l) : nullptr, plan());
    routers_.wake(routers_.router_at(at));
  }
  bool start(pe_state& on, transfer& t) override {
    processor& p = processors_[on.index];
    journal_.start(on, t, p);
    p.microthreads.extend() = t;
    wake(on.index);
    return false;
  }

 private:
  void run_steps() {
    const journal_turn turn(journal_);
    limit_.begin(tiles_.size());
    census_ = nullptr;
    noted_ = observer_ != nullptr;
    try {
      observer_ ? run_steps<true>() : run_steps<false>();
    } catch (const run_limit::passed& what) {
      throw limit_.explained(what, [this](u32 i) { return state(i); });
    }
  }

  template <bool observed>
  void run_steps() {
    while (step<observed>()) {
      if (++total_.cycles % 64 == 0 && limit_.is_set()) [[unlikely]] {
        census_ = limit_.look(census_);
        noted_ = observed || census_;
      }
      if constexpr (observed) observer_->cycle_ended(cycle_);
    }
  }

  struct source {
    u32 queue;
    support::flat_queue<wavelet> words;
  };

  pe_state& state(std::size_t i) { return state_of(tiles_[i]); }
  static u64 key(int color, coord c) {
    return static_cast<u64>(color) << 32 | static_cast<u64>(c.y) << 16 | static_cast<u64>(c.x);
  }

  /// The program of the PE at c; null where none is placed.
  const program_image* image_at(coord c) {
    pe* p = find(c);
    return p ? state_of(*p).image : nullptr;
  }

  void open(const stream_record& s, coord c) {
    if (s.inbound)
      sources_[key(s.color, c)] = {routers_.virtual_channel_of(c, s.color)->in[index_of(s.side)], {}};
    else sinks_[key(s.color, c)];
  }

  void wake(std::size_t i) {
    if (std::exchange(processors_[i].awake, true)) return;
    awake_.push_back(static_cast<u32>(i));
  }
  void wake_at(u32 router) {
    if (pe* p = find(routers_.coord_of(router))) wake(state_of(*p).index);
  }

  u32 output_queue(const pe_state& s, int color) {
    const routers::virtual_channel* l = routers_.virtual_channel_of({s.x, s.y}, color);
    return l ? l->in[0] : routers::none;
  }
  u32 input_queue(const pe_state& s, int color) {
    const routers::virtual_channel* l = routers_.virtual_channel_of({s.x, s.y}, color);
    return l ? l->out[0] : routers::none;
  }
  bool readable(u32 queue) const { return queue != routers::none && routers_[queue].size > 0; }

  // Inlined, as the parts below: a second, observed loop must not cost the first one calls.
  template <bool observed>
  [[gnu::always_inline]] bool step() {
    const bool fed = feed_streams();
    if (!fed && routers_.idle() && awake_.empty()) return false;
    total_.hops += routers_.step(
        cycle_++,
        [this](u32 router, const wavelet& w, u8 color) {
          ++total_.delivered;
          if constexpr (observed)
            observer_->arrived(routers_.coord_of(router), {w.bits, color, w.control}, cycle_);
          wake_at(router);
        },
        [this](u32 router) { wake_at(router); },
        [this](u32 router, port, wavelet w) {
          ++total_.delivered;
          sinks_.at(key(w.color, routers_.coord_of(router))).push(w.bits);
        },
        [this](u32 router, int color) {
          pe* p = find(routers_.coord_of(router));
          if (p && state_of(*p).image->torn_down[color])
            processors_[state_of(*p).index].torn_down |= color_bit(color);
          wake_at(router);
        });
    now_.swap(awake_);
    awake_.clear();
    for (u32 i : now_) processors_[i].awake = false;
    for (u32 i : now_)
      if (advance(i)) wake(i);
    return true;
  }

  bool feed_streams() {
    bool fed = false;
    for (auto& [where, s] : sources_) {
      if (s.words.empty() || !routers_[s.queue].room()) continue;
      routers_.push(s.queue, s.words.front());
      s.words.pop();
      ++total_.wavelets;
      fed = true;
    }
    return fed;
  }

  /// One cycle of a PE; says whether anything happened.
  [[gnu::always_inline]] bool advance(u32 i) {
    processor& p = processors_[i];
    pe_state& s = state(i);
    bool acted = drain(p, s);
    acted |= move_one_element(p, s);
    if (!p.suspended() && p.outbox.empty()) acted |= run_next_task(s, task_choice{*this, p, s});
    return acted;
  }

  bool drain(processor& p, pe_state& s) {
    if (p.outbox.empty()) return false;
    const u32 q = output_queue(s, p.outbox.front().color);
    if (!routers_[q].room() || sharer_occupies(s, p.outbox.front().color)) return false;
    routers_.push(q, p.outbox.front());
    p.outbox.pop();
    ++total_.wavelets;
    return true;
  }

  // Whether words of another color lie in the output queue that a color shares with it.
  bool sharer_occupies(const pe_state& s, int color) {
    for (u64 left = s.image->sharing_queue_with(color); left; left &= left - 1)
      if (readable(output_queue(s, std::countr_zero(left)))) return true;
    return false;
  }

  // An operation takes data only: a control wavelet waits for its task, and the operation waits behind it.
  bool starved(pe_state& s, int color) {
    const u32 q = input_queue(s, color);
    return !readable(q) || routers_.front(q).control;
  }

  bool can_move(const processor& p, pe_state& s, const transfer& t) {
    for (int color : t.input)
      if (color >= 0) {
        if (starved(s, color)) return false;
      }
    if (t.uses_fifo() && t.allowed() == 0) return false;
    if (t.output >= 0 && sharer_occupies(s, t.output)) return false;
    return t.output < 0 || (routers_[output_queue(s, t.output)].room() && !p.holds_back(t.output));
  }

  [[gnu::always_inline]] bool move_one_element(processor& p, pe_state& s) {
    for (std::size_t k = 0; k < p.microthreads.size(); ++k) {
      const std::size_t turn = (k + p.turn) % p.microthreads.size();
      transfer& t = p.microthreads[turn];
      if (!t.complete() && !can_move(p, s, t)) continue;
      if (!t.complete()) move(s, t);
      p.turn = static_cast<u32>(turn + 1);
      if (t.complete()) finish(p, s, turn);
      return true;
    }
    return false;
  }

  void move(pe_state& s, transfer& t) {
    u32 in[2] = {}, out = 0;
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) {
        const u32 q = input_queue(s, t.input[k]);
        in[k] = routers_.front(q).bits;
        routers_.pop(q);
      }
    const u32* inputs[2] = {&in[0], &in[1]};
    t.move_elements(inputs, &out, 1);
    if (t.each_time >= 0) s.active |= local_bit(t.each_time);
    if (t.output < 0) return;
    routers_.push(output_queue(s, t.output), {out, static_cast<u8>(t.output), false});
    ++total_.wavelets;
  }

  void finish(processor& p, pe_state& s, std::size_t which) {
    const transfer t = p.microthreads[which];
    p.microthreads.erase(which);
    s.complete(t);
    if (t.resumes) run_on(p, s, p.task->name, sends_of_a_task, [&] { resume(t.resumes); });
  }

  /// Answers the questions of run_next_task about one PE.
  struct task_choice {
    reference_engine& engine;
    processor& p;
    pe_state& s;

    bool called() const { return !p.calls.empty(); }
    bool run_call() {
      const host_call c = p.calls.front();
      p.calls.pop();
      return engine.run_task(s, *c.entry, c.arguments);
    }
    bool run_torn_down() {
      if (!p.torn_down) return false;
      const binding& task = *s.image->torn_down[std::countr_zero(p.torn_down)];
      p.torn_down &= p.torn_down - 1;
      return engine.run_task(s, task, nullptr);
    }
    u32 ready_locals() const { return s.active & ~s.blocked; }
    bool run_local(u32 ready) {
      const int id = std::countr_zero(ready);
      const u32 own_bit = local_bit(id);
      s.active &= ~own_bit;
      return engine.run_task(s, *s.image->local[id], &own_bit);
    }
    bool run_arrived(u64 colors) { return engine.run_arrived(s, colors); }
    static bool arrived_first() { return false; }
  };

  // Virtual channels are stored in the order of the layout's paths; the lowest of these colors goes first.
  bool run_arrived(pe_state& s, u64 colors) {
    const routers::virtual_channel* first = nullptr;
    for (const routers::virtual_channel& l : routers_.virtual_channels_of(routers_.router_at({s.x, s.y})))
      if ((colors & color_bit(l.color)) && (!first || l.color < first->color) && readable(l.out[0]) &&
          task_for(s, first_of(l)))
        first = &l;
    if (!first) return false;
    const wavelet w = first_of(*first);
    routers_.pop(first->out[0]);
    return run_task(s, *task_for(s, w), &w.bits);
  }
  /// The wavelet at the head of a color's input queue.
  wavelet first_of(const routers::virtual_channel& l) const {
    const wavelet& w = routers_.front(l.out[0]);
    return {w.bits, l.color, w.control};
  }

  bool run_task(pe_state& s, const binding& b, const void* input) {
    ++total_.tasks;
    if (noted_) [[unlikely]]
      note(s, b, input);
    s.interrupted = false;
    processor& p = processors_[s.index];
    p.task = &b;
    run_on(p, s, b.name, rule::sends_of(b), [&] { b.run(s.memory(), tiles_[s.index], input, 1); });
    return true;
  }
  [[gnu::cold, gnu::noinline]] void note(const pe_state& s, const binding& b, const void* input) {
    if (census_) census_->note(s.index, b.name, 1);
    if (observer_) observer_->before_task(s, b, input, cycle_);
  }
  template <class F>
  void run_on(processor& p, pe_state& s, const char* name, int most, F f) {
    journal_.run(s, name, most, p, f);
    journal_.take(s, [&](const wavelet& w) { p.outbox.push(w); });
  }

  static void show(const processor& p, pe_state& s, place_visitor& to) {
    to.pe(s, p.suspended() ? p.task->name : "");
    for (const host_call& c : p.calls) to.call(c.entry->name);
    for (const transfer& t : p.microthreads) to.operation(t);
    for (const wavelet& w : p.outbox) to.unsent(w);
  }
  void show(place_visitor& to, queue_place where, const routers::virtual_channel& l, u32 queue, port side) {
    if (!readable(queue)) return;
    to.queue(where, l.color, side);
    routers_.each_word(queue, [&](const wavelet& w) { to.word(w.bits, w.control); });
  }

  waits pending() {
    waits open;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      operation_waits(open, processors_[i], state(i), [&](int color) { return starved(state(i), color); });
      held_tasks(open, state(i));
    }
    for (u32 r = 0; r < static_cast<u32>(grid().count()); ++r)
      for (const routers::virtual_channel& l : routers_.virtual_channels_of(r)) router_waits(open, r, l);
    for (auto& [where, s] : sources_)
      if (!s.words.empty())
        open.push_back({wait::reason::stream,
                        {static_cast<int>(where & 0xffff), static_cast<int>(where >> 16 & 0xffff)},
                        s.words.front().color,
                        "",
                        "",
                        s.words.size()});
    for (std::size_t i = 0; i < tiles_.size() && !open.empty(); ++i) lost_activations(open, state(i));
    return open;
  }

  void router_waits(waits& open, u32 r, const routers::virtual_channel& l) {
    const coord at = routers_.coord_of(r);
    u64 held = 0, shut_out = 0;
    for (port p : every_port)
      if (const u32 q = l.in[index_of(p)]; q != routers::none)
        (routers_.takes(l, p) ? held : shut_out) += routers_[q].size;
    if (shut_out) {
      const router_switch& s = *routers_.switch_of(l);
      open.push_back({wait::reason::router_switch, at, l.color, "", s.side(), shut_out, s.position()});
    }
    if (held) open.push_back({wait::reason::router, at, l.color, "", "", held});
    pe* p = readable(l.out[0]) ? find(at) : nullptr;
    if (!p) return;
    const wavelet first = first_of(l);
    if (first.control || !processors_[state_of(*p).index].reads(l.color))
      unread_waits(open, state_of(*p), first, routers_[l.out[0]].size);
  }

  resolved_routes routes_;
  tiles tiles_;
  std::vector<processor> processors_;
  journal_windows windows_;
  send_journal journal_;
  routers routers_;
  std::map<u64, source> sources_;
  std::map<u64, support::flat_queue<u32>> sinks_;
  std::vector<u32> awake_, now_;
  u64 cycle_ = 0;
  outcome total_;
  run_limit limit_;
  task_census* census_ = nullptr;  // the counts of the tasks that run, near the limit of a run, or null
  step_observer* observer_ = nullptr;
  bool noted_ = false;  // whether either of these wants to know of a task
};

}  // namespace engines
}  // namespace wsl
