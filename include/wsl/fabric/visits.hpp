// SPDX-License-Identifier: MIT
// What a thread does on a PE that it visits: moves operations on, and runs tasks in batches, until nothing is ready or room is
// missing. What runs first is defined: operations in flight, then host calls in their order, the activated local task with the
// lowest number, and the data or control tasks of the lowest color, a batch at a time; of several senders of a merged color the one
// with the lowest place on the grid goes first. A shuffled schedule draws another legal order.
#pragma once
#include <bit>

#include "run_log.hpp"
#include "traffic.hpp"

namespace wsl::engines {

class visits {
 public:
  visits(tiles& pes, traffic& words, const machine& target, schedule order, run_log* log)
      : tiles_(pes), traffic_(words), machine_(target), more_(pes.size()), order_(order), log_(log) {
    if (log_) log_->open(pes.size());
  }
  visits(const visits&) = delete;
  visits& operator=(const visits&) = delete;
  ~visits() {
    for (processor* p : more_) delete p;
  }

  /// Runs a band until nothing is left to do with what it has.
  void run(band& b) {
    while (!b.work.empty()) visit(b, order_.shuffle ? b.work.pop(draw(b, b.work.size())) : b.work.pop());
  }

  /// What a PE has besides its channels: calls and operations in flight; null if it never had any.
  const processor* more(const pe_state& s) const { return more_[s.index]; }
  processor& extras(u32 i) {
    if (!more_[i]) more_[i] = new processor;
    return *more_[i];
  }
  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) {
    const program_image& image = *from.image;
    if (image.sent_type[color] != type) refuse(from, color, type);
    channel& out = from.channels[image.slot[color]];
    if (out.next == out.hard) refuse(from, color, type);
    traffic_.put_control(traffic_.home(from.index), out, bits);
    from.interrupted = true;
  }

  bool start(pe_state& on, transfer& t) {
    band& b = traffic_.home(on.index);
    check(b, on, t);
    if (!order_.shuffle || draw(b, 2)) advance(b, on, t);
    // A task that waited for its own sends goes on when there is room for more.
    if (t.complete() && (!t.resumes || (t.output < 0 && begin_run(b, on)))) {
      if (!t.resumes) remember(b, on, t);
      return complete(on, t);
    }
    if (t.output >= 0) hold(on, t.output, true);
    extras(on.index).microthreads.push_back(t);
    return false;
  }

  whole_move_place begin_whole_move(pe_state& on, const whole_move& m) {
    if (log_ || order_.shuffle) return {};  // a log knows microthreads only, and another order may let the operation wait
    band& b = traffic_.home(on.index);
    const processor* p = more_[on.index];
    if (p && !p->microthreads.empty()) return {};
    whole_move_place at;
    if (m.input >= 0) {
      const bool ours = on.image->read_type[m.input] == m.input_type && !(b.read_now & color_bit(m.input));
      const inlet* in = ours ? source(b, on, m.input) : nullptr;
      if (!in || traffic_.readable(b, *in) < m.length) return {};
      at.input = traffic_.words_at(*in);
    }
    if (m.output >= 0) {
      if (on.image->sent_type[m.output] != m.output_type || (b.written_now & color_bit(m.output))) return {};
      channel& out = channel_of(on, m.output);
      if (traffic_.room(b, out, m.length) < m.length) return {};
      at.output = out.words + out.next;
    }
    at.ready = true;
    return at;
  }

  void end_whole_move(pe_state& on, const whole_move& m) {
    band& b = traffic_.home(on.index);
    if (m.input >= 0) {  // before the output, which may be the same color
      b.read_now |= color_bit(m.input);
      traffic_.consume(b, *source(b, on, m.input), m.length);
    }
    if (m.output < 0) return;
    b.written_now |= color_bit(m.output);
    channel_of(on, m.output).next += m.length;
    hold(on, m.output, false);
  }

  /// An inlet of this color with data to read; of a merge the first sender's.
  inlet* source(band& b, const pe_state& s, int color) {
    for (inlet& in : traffic_.inlets_of(s.index))
      if (in.color == color && traffic_.readable(b, in)) return &in;
    return nullptr;
  }

 private:
  static constexpr u32 visit_budget = 256;  ///< batches and tasks of one visit, so that a PE that feeds itself lets others run

  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  pe_state& state(u32 i) { return state_of(tiles_[i]); }
  channel& channel_of(const pe_state& s, int color) { return s.channels[s.image->slot[color]]; }

  static u64 draw(band& b, u64 below) {
    b.random ^= b.random << 13, b.random ^= b.random >> 7, b.random ^= b.random << 17;
    return b.random % below;
  }

  void visit(band& b, u32 who) {
    traffic_.visited(who);
    u32 budget = visit_budget;
    if (who < pes()) {
      pe_state& s = state(who);
      while (budget && act(b, s)) --budget;
    } else {
      visit_stream(b, who);
    }
    traffic_.announce(b, who);
    if (!budget) traffic_.wake(b, who);
  }

  void visit_stream(band& b, u32 who) {
    stream_end& s = traffic_.net.streams[who - pes()];
    for (inlet& in : traffic_.inlets_of(who))
      while (traffic_.available(in)) {
        const bool control = traffic_.control_first(b, in);  // to the host a word like any other
        const u64 n = control ? 1 : traffic_.readable(b, in);
        for (u64 i = 0; i < n; ++i) s.words.push(traffic_.words_at(in)[i]);
        control ? traffic_.consume_control(b, in) : traffic_.consume(b, in, n);
      }
    for (channel& c : traffic_.channels_of(who))
      while (const u64 n = s.words.empty() ? 0 : traffic_.room(b, c, s.words.size()))
        for (u64 i = 0; i < n; ++i, s.words.pop()) c.words[c.next++] = s.words.front();
  }

  bool act(band& b, pe_state& s) {
    processor* p = more_[s.index];
    if (order_.shuffle && draw(b, 2) && !s.suspended && run_next(b, s, p)) return true;
    const bool moved = p && !p->microthreads.empty() && move_operations(b, s, *p);
    return (!s.suspended && run_next(b, s, p)) || moved;
  }

  /// Room for one run of a task on every channel of its PE.
  bool prepare(band& b, const pe_state& s, int most) {
    bool ready = true;
    for (channel& c : traffic_.channels_of(s.index)) ready &= traffic_.prepare(b, c, most);
    return ready;
  }

  bool run_next(band& b, pe_state& s, processor* p) {
    const u64 ready = s.active & ~s.blocked;
    const bool called = p && !p->calls.empty();
    if (!called && (!ready || (order_.shuffle && draw(b, 2)))) {
      if (run_data(b, s)) return true;
      if (!ready) return false;
    }
    if (!prepare(b, s, sends_of_a_task)) return false;
    if (called) {
      const host_call c = p->calls.front();
      p->calls.pop();
      if (log_) log_->note(s.index, {c.entry->name, -1, {}, 1});
      return run_task(b, s, *c.entry, c.arguments);
    }
    const int id = order_.shuffle ? any_of(b, ready) : std::countr_zero(ready);
    s.active &= ~color_bit(id);
    if (log_) log_->note(s.index, {s.image->local[id]->name, -1, {}, 1});
    return run_task(b, s, *s.image->local[id], nullptr);
  }
  static int any_of(band& b, u64 set) {
    for (u64 skip = draw(b, static_cast<u64>(std::popcount(set))); skip; --skip) set &= set - 1;
    return std::countr_zero(set);
  }

  bool run_data(band& b, pe_state& s) {
    const auto inlets = traffic_.inlets_of(s.index);
    const std::size_t from = order_.shuffle && !inlets.empty() ? draw(b, inlets.size()) : 0;
    for (std::size_t k = 0; k < inlets.size(); ++k)
      if (run_batch(b, s, inlets[from + k < inlets.size() ? from + k : from + k - inlets.size()])) return true;
    return false;
  }

  bool run_batch(band& b, pe_state& s, inlet& in) {
    if (traffic_.available(in) == 0) return false;
    if (traffic_.control_first(b, in)) return run_control(b, s, in);
    const binding* task = s.image->data[in.color];
    if (!task || (s.blocked_colors & color_bit(in.color)) || !prepare(b, s, sends_of_a_data_task)) return false;
    u64 n = least<u64>(traffic_.readable(b, in), 1u << 30);
    if (order_.shuffle) n = 1 + draw(b, n);
    const u32 taken = run_task(b, s, *task, traffic_.words_at(in), static_cast<u32>(n));
    if (log_) note(s, task->name, in, taken);
    traffic_.consume(b, in, taken);
    return true;
  }

  bool run_control(band& b, pe_state& s, inlet& in) {
    const u32 word = *traffic_.words_at(in);
    const binding* task = s.image->control_with(word >> 16);
    if (!task) rule::no_control_task(s, in.color, word >> 16);
    if (!prepare(b, s, sends_of_a_task)) return false;
    if (log_) note(s, task->name, in, 1);
    traffic_.consume_control(b, in);
    return run_task(b, s, *task, &word);
  }

  u32 run_task(band& b, pe_state& s, const binding& task, const void* input, u32 count = 1) {
    s.interrupted = false;
    b.read_now = b.written_now = 0;
    u32 taken = 0;
    guarded(s, task.name, [&] {
      taken = task.run(s.memory, tiles_[s.index], input, count);
      if (s.refused >= 0) refuse(s, s.refused, s.refused_type);
    });
    b.done.tasks += taken;
    return taken;
  }

  void note(const pe_state& s, const char* what, const inlet& in, u64 times) {
    log_->note(s.index, {what, in.color, traffic_.net.place_of(traffic_.net.channels[in.from].writer), times});
  }

  /// A run of a task ends at each wait, also where it need not wait: what it may send counts anew.
  bool begin_run(band& b, const pe_state& s) {
    b.read_now = b.written_now = 0;
    return prepare(b, s, sends_of_a_task);
  }

  [[noreturn]] void refuse(pe_state& s, int color, const payload_type* type) {
    s.refused = -1;
    const bool now = (traffic_.home(s.index).written_now & color_bit(color)) != 0;
    rule::refuse_send(s, color, type, now || (more_[s.index] && more_[s.index]->writes(color)));
  }

  // ---- operations ------------------------------------------------------------------------------------------------------------

  void check(band& b, const pe_state& s, const transfer& t) {
    const processor* p = more_[s.index];
    rule::may_start(s, t, p ? p->microthreads.size() : 0, machine_);
    const auto reads = [&](int color) { return (b.read_now & color_bit(color)) || (p && p->reads(color)); };
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) rule::one_reader(s, t.input[k], reads(t.input[k]) || (k == 1 && t.input[0] == t.input[1]));
    if (t.output < 0) return;
    rule::declares_send(s, t.output, t.output_type);
    rule::has_path(s, t.output, (s.image->present & color_bit(t.output)) != 0);
    rule::one_writer(s, t.output, (b.written_now & color_bit(t.output)) || (p && p->writes(t.output)));
  }

  // An operation that completed at once still counts as in flight until the task that started it ends, as on every engine.
  void remember(band& b, pe_state& s, const transfer& t) {
    for (int color : t.input)
      if (color >= 0) b.read_now |= color_bit(color);
    if (t.output < 0) return;
    b.written_now |= color_bit(t.output);
    hold(s, t.output, false);
  }

  void hold(const pe_state& s, int color, bool held) {
    channel& c = channel_of(s, color);
    c.operated = held;
    c.lenient = true;
    c.close();
  }

  bool move_operations(band& b, pe_state& s, processor& p) {
    bool moved = false;
    for (std::size_t k = 0; k < p.microthreads.size();) {
      moved |= advance(b, s, p.microthreads[k]);
      const transfer t = p.microthreads[k];
      if (t.complete() && t.output >= 0) hold(s, t.output, false);
      if (!t.complete() || (t.resumes && !prepare(b, s, sends_of_a_task))) {
        ++k;
        continue;
      }
      p.microthreads.erase(k);
      complete(s, t);
      moved = true;
      if (!t.resumes) continue;
      b.read_now = b.written_now = 0;
      guarded(s, t.name, [&] {
        resume(s);
        if (s.refused >= 0) refuse(s, s.refused, s.refused_type);
      });
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
    channel* out = t.output >= 0 ? &channel_of(s, t.output) : nullptr;
    bool moved = false;
    while (!t.complete()) {
      u64 n = least(t.length - t.done, u64{1} << 30);
      inlet* in[2] = {};
      const u32* input[2] = {};
      for (int k = 0; k < 2; ++k) {
        if (t.input[k] < 0) continue;
        in[k] = source(b, s, t.input[k]);
        if (!in[k]) return moved;
        n = least(n, traffic_.readable(b, *in[k]));
        input[k] = traffic_.words_at(*in[k]);
      }
      if (out && (n = traffic_.room(b, *out, n)) == 0) return moved;
      t.move(t, input, out ? out->words + out->next : nullptr, static_cast<u32>(n));
      if (out) out->next += n;
      if (out && out->operated) out->close();
      for (inlet* i : in)
        if (i) {
          if (log_) note(s, t.name, *i, n);
          traffic_.consume(b, *i, n);
        }
      moved = true;
    }
    return moved;
  }

  tiles& tiles_;
  traffic& traffic_;
  const machine& machine_;
  flat_vector<processor*> more_;
  schedule order_;
  run_log* log_;
};

}  // namespace wsl::engines
