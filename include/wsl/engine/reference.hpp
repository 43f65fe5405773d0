// SPDX-License-Identifier: MIT
// The reference engine: one thread, one cycle after the other, every wavelet hop by hop through bounded
// queues of the machine's depths. It is slow and simple, and the oracle of every other engine. `fabric
// f{plan, reference{}}`.
//
// What runs first on a PE is defined: host calls in their order, then tasks of colors that were torn down,
// then the activated local task with the lowest number, then the control or data task of the lowest color
// whose wavelet is at the head of its queue; what is urgent goes before what is not. In a cycle a PE puts at
// most one wavelet that its tasks sent into an output queue, moves one element of one of its operations in
// turn, and runs at most one task.
#pragma once
#include <bit>
#include <map>

#include "diagnose/deadlock.hpp"
#include "engine.hpp"
#include "processor.hpp"
#include "reference/routers.hpp"
#include "tiles.hpp"

namespace wsl {
namespace engines {

class reference_engine final : public engine {
 public:
  explicit reference_engine(const layout& plan)
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this),
        processors_(tiles_.size()),
        routers_(engine::plan(), [this](coord c, int color) { return input_depth(c, color); }),
        words_(max_colors * large_buffer),
        journal_(max_colors * large_buffer) {
    for (int k = 0; k < max_colors; ++k)
      channels_[k].large = true, channels_[k].words = words_.data() + k * large_buffer;
    tiles_.set_ends(channels_, nullptr);
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
    rejected = {};  // by a task that then threw something else, perhaps in another fabric
    while (step()) ++total_.cycles;
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open);
    return total_;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    if (from.image->sent_type[color] != type) refuse(from, color, type);
    channel& out = from.channel_of(color);
    if (out.next() == out.size() || out.is_closed()) refuse(from, color, type);
    *out.room() = bits;
    out.move_to(out.next() + 1);
    *journal++ = static_cast<u32>(color) | control_flag;
  }
  u64 now(const pe_state&) const override { return cycle_; }
  void reopen(pe_state& on, int color, int phase) override {
    const coord at{on.x, on.y};
    const routers::virtual_channel* l = routers_.virtual_channel_of(at, color);
    rule::reopen(on, color, phase, l ? routers_.switch_of(*l) : nullptr, plan());
    routers_.wake(routers_.router_at(at));
  }
  bool start(pe_state& on, transfer& t) override {
    processor& p = processors_[on.index];
    rule::may_start(on, t, target());
    rule::apart(on, t, p.microthreads);
    rule::has_queue_alone(on, t, [&](int color) { return p.writes(color); });
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0)
        rule::one_reader(on, t.input[k], p.reads(t.input[k]) || (k == 1 && t.input[0] == t.input[1]));
    if (t.output >= 0) {
      rule::declares_send(on, t.output, t.output_type);
      rule::has_path(on, t.output, (on.image->present & color_bit(t.output)) != 0);
      rule::one_writer(on, t.output, p.writes(t.output));
      on.channel_of(t.output).close();
    }
    p.microthreads.push_back(t);
    wake(on.index);
    return false;
  }

 private:
  struct source {
    u32 queue;
    support::flat_queue<wavelet> words;
  };

  pe_state& state(std::size_t i) { return state_of(tiles_[i]); }
  static u64 key(int color, coord c) {
    return static_cast<u64>(color) << 32 | static_cast<u64>(c.y) << 16 | static_cast<u64>(c.x);
  }

  // A PE's input queues are its program's consumed colors, in order.
  int input_depth(coord c, int color) {
    const pe* p = find(c);
    if (!p) return 1;
    const program_image& image = *state_of(const_cast<pe&>(*p)).image;
    const u64 before = (image.takes | image.reads) & (color_bit(color) - 1);
    return target().input_depth[std::popcount(before) % std::min(target().input_queues, 8)];
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

  bool step() {
    const bool fed = feed_streams();
    if (!fed && routers_.idle() && awake_.empty()) return false;
    total_.hops += routers_.step(
        cycle_++,
        [this](u32 router) {
          ++total_.delivered;
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
  bool advance(u32 i) {
    processor& p = processors_[i];
    pe_state& s = state(i);
    bool acted = drain(p, s);
    acted |= move_one_element(p, s);
    if (!p.suspended() && p.outbox.empty()) acted |= run_one_task(p, s);
    return acted;
  }

  bool drain(processor& p, pe_state& s) {
    if (p.outbox.empty()) return false;
    const u32 q = output_queue(s, p.outbox.front().color);
    if (!routers_[q].room() || mates_occupy(s, p.outbox.front().color)) return false;
    routers_.push(q, p.outbox.front());
    p.outbox.pop();
    ++total_.wavelets;
    return true;
  }

  // Words of another color lie in the output queue that a color shares with it.
  bool mates_occupy(const pe_state& s, int color) {
    for (u64 left = s.image->sharing_queue_with(color); left; left &= left - 1)
      if (readable(output_queue(s, std::countr_zero(left)))) return true;
    return false;
  }

  // An operation takes data only: a control wavelet waits for its task, and the operation behind it.
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
    if (t.output >= 0 && mates_occupy(s, t.output)) return false;
    return t.output < 0 || (routers_[output_queue(s, t.output)].room() && !p.holds_back(t.output));
  }

  bool move_one_element(processor& p, pe_state& s) {
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
    t.move(t, inputs, &out, 1);
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

  bool run_one_task(processor& p, pe_state& s) {
    if (!p.calls.empty()) {
      const host_call c = p.calls.front();
      p.calls.pop();
      return run_task(s, *c.entry, c.arguments);
    }
    if (p.torn_down) {
      const binding& task = *s.image->torn_down[std::countr_zero(p.torn_down)];
      p.torn_down &= p.torn_down - 1;
      return run_task(s, task, nullptr);
    }
    const u32 ready = s.active & ~s.blocked;
    if (s.hurries(ready) && take_first(s, s.image->urgent_colors)) return true;
    if (ready) {
      const int id = std::countr_zero(ready);
      s.active &= ~local_bit(id);
      const u32 own_bit = local_bit(id);
      return run_task(s, *s.image->local[id], &own_bit);
    }
    return take_first(s, ~u64{0});
  }

  // Lanes stand in the order of the layout's paths; of the colors that are asked for the lowest goes first.
  bool take_first(pe_state& s, u64 colors) {
    const routers::virtual_channel* first = nullptr;
    for (const routers::virtual_channel& l : routers_.virtual_channels_of(routers_.router_at({s.x, s.y})))
      if ((colors & color_bit(l.color)) && (!first || l.color < first->color) && readable(l.out[0]) &&
          task_for(s, l))
        first = &l;
    if (!first) return false;
    const binding& b = *task_for(s, *first);
    const u32 word = routers_.front(first->out[0]).bits;
    routers_.pop(first->out[0]);
    return run_task(s, b, &word);
  }

  const binding* task_for(pe_state& s, const routers::virtual_channel& l) {
    const wavelet w = routers_.front(l.out[0]);
    if (!w.control) return s.blocked_colors & color_bit(l.color) ? nullptr : s.image->data[l.color];
    const binding* b = s.image->control_with(control_word{w.bits}.id());
    if (!b) rule::no_control_task(s, l.color, control_word{w.bits}.id());
    return b;
  }

  bool run_task(pe_state& s, const binding& b, const void* input) {
    ++total_.tasks;
    s.interrupted = false;
    const int most = b.what == role::data ? sends_of_a_data_task : sends_of_a_task;
    processors_[s.index].task = &b;
    run_on(processors_[s.index], s, b.name, most, [&] { b.run(s.memory(), tiles_[s.index], input, 1); });
    return true;
  }

  // Tasks send into channels that all PEs share; the journal says in which order the words go to the output
  // queues.
  template <class F>
  void run_on(processor& p, pe_state& s, const char* name, int most, F f) {
    journal = journal_.data();
    for (u64 left = s.image->present; left; left &= left - 1) {
      channel& c = channels_[s.image->slot[std::countr_zero(left)]];
      c.move_to(0);
      c.open(0);  // every send is written down in the journal
      if (p.writes(std::countr_zero(left))) c.close();
    }
    guarded(s, name, [&] {
      f();
      if (rejected.color >= 0) refuse(s, rejected.color, rejected.type);
      for (u64 left = s.image->present; left; left &= left - 1)
        if (const int color = std::countr_zero(left); s.channel_of(color).next() > most)
          refuse(s, color, s.image->sent_type[color]);
      rule::in_flight all;
      for (const transfer& t : p.microthreads) all.count(t);
      rule::fits(s, all, target());
    });
    u32 read[max_colors] = {};
    for (const u32* sent = journal_.data(); sent != journal; ++sent) {
      const u8 color = static_cast<u8>(*sent & ~control_flag);
      const u16 slot = s.image->slot[color];
      p.outbox.push({channels_[slot].words[read[slot]++], color, (*sent & control_flag) != 0});
    }
  }
  [[noreturn]] void refuse(pe_state& s, int color, const payload_type* type) {
    rejected = {};
    rule::refuse_send(s, color, type, processors_[s.index].writes(color));
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
    if (shut_out)
      open.push_back(
          {wait::reason::router_switch, at, l.color, "", "", shut_out, routers_.switch_of(l)->position()});
    if (held) open.push_back({wait::reason::router, at, l.color, "", "", held});
    pe* p = readable(l.out[0]) ? find(at) : nullptr;
    if (!p) return;
    const wavelet first = routers_.front(l.out[0]);
    if (!first.control && processors_[state_of(*p).index].reads(l.color)) return;
    const program_image& image = *state_of(*p).image;
    const binding* task =
        first.control ? image.control_with(control_word{first.bits}.id()) : image.data[l.color];
    open.push_back({wait::reason::unread, at, l.color, image.source->name, task ? task->name : "",
                    routers_[l.out[0]].size});
  }

  static constexpr u32 control_flag = 0x100;

  resolved_routes routes_;
  tiles tiles_;
  std::vector<processor> processors_;
  routers routers_;
  std::map<u64, source> sources_;
  std::map<u64, support::flat_queue<u32>> sinks_;
  channel channels_[max_colors];
  std::vector<u32> words_;
  std::vector<u32> journal_;
  std::vector<u32> awake_, now_;
  u64 cycle_ = 0;
  outcome total_;
};

}  // namespace engines

/// The choice of the reference engine: `fabric f{plan, reference{}}`.
struct reference {
  /// The caller owns the engine.
  engine* make(const layout& plan) const { return new engines::reference_engine(plan); }
};

}  // namespace wsl
