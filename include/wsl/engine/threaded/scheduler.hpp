// SPDX-License-Identifier: MIT
// A thread's visit to a PE: it advances operations and runs tasks in batches, until nothing is ready or room
// is missing. Operations in flight go first, then the next task by the common rule (run_next_task), where a
// data task runs on a batch of words at a time; of several senders of a merged color, the one with the lowest
// index on the grid goes first. Long-running tasks have supersteps of their own. A shuffled schedule draws
// another legal order.
#pragma once
#include <bit>
#include <utility>

#include "../diagnose/run_log.hpp"
#include "forwarding.hpp"
#include "rendezvous.hpp"
#include "streams.hpp"
#include "task_run.hpp"

namespace wsl::engines {

class pe_scheduler {
 public:
  pe_scheduler(tiles& pes, transport& words, const machine& target, schedule order, u32 rendezvous_from,
               run_log* log)
      : tiles_(pes),
        transport_(words),
        machine_(target),
        order_(order),
        rendezvous_(pes, words, rendezvous_from),
        log_(log) {
    if (log_) log_->open(pes.size());
    for (u32 i = 0; i < this->pes(); ++i) state(i).defers = defers(state(i));
  }

  /// Runs a partition until nothing is left to do with the words that it has, or until it has done so much
  /// that others may have messages for it: a PE that stays busy until a word comes must get that word.
  void run(partition& b) {
    if (b.computes) let_compute(b);
    rendezvous_.accept(b);
    b.read_in_pairs = 0;  // left by a task that has thrown
    for (u32 n = 0; n < most_visits && !b.work.empty(); ++n) {
      if (limit.is_set()) [[unlikely]]
        b.census = limit.look(b.census);
      visit(b, order_.shuffle ? b.work.pop(b.draw(b.work.size())) : b.work.pop());
    }
  }

  run_limit limit;  ///< of the run

  rendezvous_transfers& rendezvous() { return rendezvous_; }

  processor& processor_for(pe_state& s) {
    if (processor* p = transport_.processor_of(s)) return *p;
    partition& b = transport_.home(s);
    visited& v = transport_.net.visits[s.index];
    processor& p = *b.processors.push_back(new processor);
    v.extras_index = static_cast<u32>(b.processors.size());
    if (v.call) p.calls.push(b.calls.take(v.call));
    v.call = 0;
    return p;
  }
  /// Queues a host call. The first one needs no processor.
  void call(pe_state& s, host_call what) {
    partition& b = transport_.home(s);
    visited& v = transport_.net.visits[s.index];
    if (v.extras_index || v.call || b.calls.full()) processor_for(s).calls.push(what);
    else v.call = b.calls.put(what) & 0xffffff;
    transport_.wake(b, s.index, false);
  }
  /// The call of a PE without a processor that has not begun; null if there is none.
  const host_call* waiting_call(const partition& b, const pe_state& s) const {
    const u32 number = first_call(s);
    return number ? &b.calls[number] : nullptr;
  }
  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) {
    transport_.put_control(transport_.home(from),
                           static_cast<channel&>(rule::may_send_control(from, color, type)), bits);
    from.interrupted = true;
  }

  bool start(pe_state& on, transfer& t) {
    partition& b = transport_.home(on);
    rule::may_begin(on, t, machine_, operations_of{task_run{b, on}, transport_.processor_of(on)});
    // An operation that occupies an end of a FIFO or a chosen microthread keeps it until the task that
    // started it ends, as on every engine.
    if ((t.resumes || !rule::may_clash(t)) && (!order_.shuffle || b.draw(2))) advance(b, on, t);
    // A task that waited for its own sends continues when there is room for more.
    if (t.complete() && (!t.resumes || (t.output < 0 && begin_run(b, on)))) {
      if (!t.resumes) remember(b, on, t);
      on.complete(t);
      return true;
    }
    if (t.output >= 0) hold(b, on, t.output, true);
    processor_for(on).microthreads.extend() = t;
    task_run{b, on}.is_last();
    on.defers = true;
    return false;
  }

  const u32* take(pe_state& on, int color, const payload_type* type, u32 n) {
    partition& b = transport_.home(on);
    if (on.image->read_type[color] != type || task_run{b, on}.reads(color)) return nullptr;
    cursor* in = source(b, on, color);
    if (!in || transport_.readable(b, *in) < n) return nullptr;
    const u32* words = transport_.words_at(*in);
    if (on.taken == taken_color::none) on.taken = taken(color);
    else task_run{b, on}.note_read(color);
    transport_.consume(b, *in, n);
    return words;
  }

  /// A cursor of this color with data to read; for merged senders the first sender's.
  cursor* source(partition& b, const pe_state& s, int color) {
    for (cursor& in : topology::cursors_of(s))
      if (in.color == color && transport_.readable(b, in)) return &in;
    return nullptr;
  }

 private:
  /// the limit of batches and tasks in one visit, so that a PE that feeds itself lets others run
  static constexpr u32 visit_budget = 256;
  static constexpr u32 most_visits = 8192;  ///< the limit of one superstep

  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  pe_state& state(u32 i) { return state_of(tiles_[i]); }
  // A log records only microthreads, and another order may make an operation wait.
  bool always_defers() const { return order_.shuffle || log_; }
  // If operations may share an output queue, or be more than the queues, the engine must see each of them.
  bool defers(const pe_state& s) const {
    return always_defers() || s.image->sends_many || (s.image->sharing_queue && machine_.color_owns_queue);
  }

  // ---- the way of a word: the visit of a PE that sends, then the visit of one that receives ------------

  void visit(partition& b, u32 who) {
    visited& v = transport_.net.visits[who];
    v.queued = 0;
    u32 budget = visit_budget;
    b.prepared = 0;
    if (who < pes()) [[likely]] {
      pe_state& s = state(who);
      if (v.extras_index && transport_.processor_of(s)->back_in > b.superstep) [[unlikely]]
        return b.later.push_back(who), void();
      b.visit.begin(topology::channels_of(s));
      while (budget && b.rendezvous_receivers.empty() && act(b, s, budget)) --budget;
    } else {
      b.visit.begin(transport_.net.channels_of(who));
      if (who < transport_.net.first_switched_router()) visit_stream(transport_, b, who);
      else visit_switched_router(b, who);
    }
    transport_.announce(b);
    if (!budget || !b.rendezvous_receivers.empty()) transport_.wake(b, who);
    // the receiver that is woken last goes first, and waits for more when this PE sends again
    for (u32 reader : b.rendezvous_receivers) transport_.wake(b, reader);
    b.rendezvous_receivers.clear();
  }

  // A visit runs few tasks, often one, so what is called here in vain for each of them would cost as much as
  // the task: it is inlined, and asks first whether there is anything to do.
  [[gnu::always_inline]] bool act(partition& b, pe_state& s, u32& budget) {
    processor* p = transport_.processor_of(s);
    if (order_.shuffle) [[unlikely]]
      return act_in_any_order(b, s, p);
    if (may_run_locals(s) && run_locals(b, s, p, budget)) return !is_at_rest(s, transport_.processor_of(s));
    const bool moved = p && !p->microthreads.empty() && move_operations(b, s, *p);
    if (!b.rendezvous_receivers.empty()) return true;
    // The operation has got its words, so the task that it activates may run again and again.
    if (moved && p->microthreads.empty() && may_run_locals(s) && run_locals(b, s, p, budget))
      return !is_at_rest(s, transport_.processor_of(s));
    return (!(p && p->suspended()) && run_next(b, s, p)) || moved;
  }
  static bool may_run_locals(const pe_state& s) {
    return (s.active & ~s.blocked) != 0 && !s.image->urgent_colors;
  }

  [[gnu::noinline]] bool act_in_any_order(partition& b, pe_state& s, processor* p) {
    if (b.draw(2) && !(p && p->suspended()) && run_next(b, s, p)) return true;
    const bool moved = p && !p->microthreads.empty() && move_operations(b, s, *p);
    if (!b.rendezvous_receivers.empty()) return true;
    return (!(p && p->suspended()) && run_next(b, s, p)) || moved;
  }

  [[gnu::always_inline]] bool run_next(partition& b, pe_state& s, processor* p) {
    return run_next_task(s, task_choice{*this, b, s, p});
  }

  /// Answers the questions of run_next_task about one PE.
  struct task_choice {
    pe_scheduler& engine;
    partition& b;
    pe_state& s;
    processor* p;

    bool called() const { return engine.first_call(s) || (p && !p->calls.empty()); }
    bool run_call() {
      if (!engine.prepare(b, s, sends_of_a_task)) return false;
      const host_call c = engine.take_call(b, s, p);
      return engine.run_logged(b, s, *c.entry, c.arguments);
    }
    bool run_torn_down() {
      if (!p || !p->torn_down || !engine.prepare(b, s, sends_of_a_task)) return false;
      const binding& task = *s.image->torn_down[std::countr_zero(p->torn_down)];
      p->torn_down &= p->torn_down - 1;
      return engine.run_logged(b, s, task, nullptr);
    }
    u32 ready_locals() { return engine.ready_locals(b, s); }
    bool run_local(u32 ready) {
      if (!engine.prepare(b, s, sends_of_a_task)) return false;
      return engine.run_local(b, s, engine.order_.shuffle ? any_of(b, ready) : std::countr_zero(ready));
    }
    bool run_arrived(u64 colors) { return engine.run_arrived(b, s, colors); }
    bool arrived_first() { return engine.order_.shuffle && b.draw(2); }
  };

  /// Runs the tasks of what has arrived, color after color, until one of them does something after which the
  /// engine must choose anew: nothing else arrives during a visit.
  bool run_arrived(partition& b, pe_state& s, u64 colors) {
    const auto cursors = topology::cursors_of(s);
    if (order_.shuffle) return run_any_data(b, s, colors, cursors);
    bool ran = false;
    for (cursor& in : cursors) {
      if (transport_.available(in) == 0 || !(colors & color_bit(in.color)) || !run_batch(b, s, in)) continue;
      if (s.interrupted) return true;
      ran = true;
    }
    return ran;
  }

  /// Words are available.
  bool run_batch(partition& b, pe_state& s, cursor& in) {
    if (transport_.control_first(b, in)) return run_control(b, s, in);
    const binding* task = s.image->data[in.color];
    if (!task || (s.blocked_colors & color_bit(in.color)) || !prepare(b, s, sends_of_a_data_task))
      return false;
    u32 n = transport_.readable(b, in);
    if (order_.shuffle) n = 1 + static_cast<u32>(b.draw(n));
    const u32 taken = run_task(b, s, *task, transport_.words_at(in), n);
    if (log_) note(s, task->name, in, taken);
    transport_.consume(b, in, taken);
    return true;
  }

  u32 run_task(partition& b, pe_state& s, const binding& task, const void* input, u32 count = 1) {
    task_run{b, s}.begin(task);
    u32 taken = 0;
    with_place_in_faults(s, task.name, [&] {
      taken = task.run(s.memory(), tiles_[s.index], input, count);
      if (taken == 1 && task_run{b, s}.may_have_sent_many()) task_run{b, s}.must_have_sent_few();
      end_run(b, s, task);
    });
    b.done.tasks += taken;
    if (b.census) [[unlikely]]
      b.census->note(s.index, task.name, taken);
    return taken;
  }

  void end_run(partition& b, pe_state& s, const binding& task) {
    rule::sent_nothing_refused(s);
    if (!task_run{b, s}.may_not_fit()) [[likely]]
      return;
    processor* p = transport_.processor_of(s);
    task_run{b, s}.must_fit(p, machine_);
    if (p) p->task = &task;  // which may wait
  }

  // ---- what else a visit does -----------------------------------------------------------------------

  void visit_switched_router(partition& b, u32 who) {
    switched_router& at = transport_.net.switched_router_of(who);
    const bool closes =
        forwarding(transport_, b, at).run(transport_.net.cursors_of(who), order_.shuffle ? b.draw(64) : 0);
    pe* below = closes ? tiles_.find(at.at) : nullptr;
    if (!below || !state_of(*below).image->torn_down[at.color]) return;
    processor_for(state_of(*below)).torn_down |= color_bit(at.color);
    transport_.wake(b, state_of(*below).index);
  }

  /// Wakes the PEs whose long-running tasks have waited for this superstep, and completes offloaded jobs.
  void let_compute(partition& b) {
    b.computes = false;
    for (u32 who : b.postponed) {
      processor& p = *transport_.processor_of(state(who));
      p.postponed = false, p.may_compute = true;
      transport_.wake(b, who);
    }
    b.postponed.clear();
    while (!b.offloaded_jobs.empty())
      transport_.wake(b, complete_first_job(b.offloaded_jobs, state(b.offloaded_jobs[0]->who)));
  }

  /// The local tasks that may run now, as a mask; long-running ones only when no other is ready, and only in
  /// a superstep of their own.
  u32 ready_locals(partition& b, pe_state& s) {
    const u32 ready = s.active & ~s.blocked, others = ready & ~s.image->long_running_locals;
    if (others || !ready) return others;
    if (order_.shuffle) return ready;
    processor& p = processor_for(s);
    if (p.may_compute) return ready;
    if (!std::exchange(p.postponed, true)) b.postponed.push_back(s.index);
    return 0;
  }

  /// Runs local tasks as long as nothing else may come before them: the fast path of a program that sends or
  /// receives one array after another.
  bool run_locals(partition& b, pe_state& s, const processor* p, u32& budget) {
    u32 ran = 0;
    for (u32 ready; (ready = ready_locals(b, s)) && ran < budget && b.rendezvous_receivers.empty();) {
      if (first_call(s)) break;
      if (p && !(p->microthreads.empty() && p->calls.empty() && p->torn_down == 0)) break;
      if (!prepare(b, s, sends_of_a_task)) break;
      ran += run_local(b, s, std::countr_zero(ready), log_ ? 1 : budget - ran);
      p = transport_.processor_of(s);
    }
    budget -= ran ? ran - 1 : 0;
    return ran > 0;
  }

  static bool reopen(channel& c) {
    if (c.is_closed()) c.lenient = true;
    return c.reopen();
  }
  /// Makes room for one run of a task on every channel of its PE.
  bool prepare(partition& b, const pe_state& s, int most) {
    return s.image->slots == 0 || prepare_channels(b, s, most);
  }
  bool prepare_channels(partition& b, const pe_state& s, int most) {
    const std::span<channel> channels = topology::channels_of(s);
    bool ready = b.prepared >= most;
    if (ready && s.interrupted)
      for (channel& c : channels) ready &= c.operated || reopen(c);
    if (ready) return true;
    ready = true;
    for (channel& c : channels) ready &= transport_.prepare(b, c, most);
    b.prepared = ready ? most : 0;
    return ready;
  }

  /// The number of the call of a PE without a processor; 0 if none waits.
  u32 first_call(const pe_state& s) const { return transport_.net.visits[s.index].call; }
  host_call take_call(partition& b, const pe_state& s, processor* p) {
    if (const u32 first = first_call(s)) {
      transport_.net.visits[s.index].call = 0;
      return b.calls.take(first);
    }
    const host_call c = p->calls.front();
    p->calls.pop();
    return c;
  }

  u32 run_logged(partition& b, pe_state& s, const binding& task, const void* input, u32 most = 1) {
    if (log_) log_->note(s.index, {task.name, -1, {}, 1});
    return run_task(b, s, task, input, most);
  }
  u32 run_local(partition& b, pe_state& s, int id, u32 most = 1) {
    const u32 own_bit = local_bit(id);
    s.active &= ~own_bit;
    if (own_bit & s.image->long_running_locals) processor_for(s).may_compute = false, most = 1;
    return run_logged(b, s, *s.image->local[id], &own_bit, most);
  }

  static int any_of(partition& b, u64 set) {
    for (u64 skip = b.draw(static_cast<u64>(std::popcount(set))); skip; --skip) set &= set - 1;
    return std::countr_zero(set);
  }

  bool run_any_data(partition& b, pe_state& s, u64 colors, std::span<cursor> cursors) {
    const std::size_t from = cursors.empty() ? 0 : b.draw(cursors.size());
    for (std::size_t k = 0; k < cursors.size(); ++k) {
      cursor& in = cursors[from + k < cursors.size() ? from + k : from + k - cursors.size()];
      if (transport_.available(in) > 0 && (colors & color_bit(in.color)) && run_batch(b, s, in)) return true;
    }
    return false;
  }

  bool run_control(partition& b, pe_state& s, cursor& in) {
    const u32 word = *transport_.words_at(in);
    const binding* task = task_for(s, {word, in.color, true});
    if (!prepare(b, s, sends_of_a_task)) return false;
    if (log_) note(s, task->name, in, 1);
    transport_.consume_control(b, in);
    return run_task(b, s, *task, &word);
  }

  void note(const pe_state& s, const char* what, const cursor& in, u64 times) {
    log_->note(s.index, {what, in.color, transport_.net.place_of(transport_.writer_of(in)), times});
  }

  /// Begins another run of a task. A run ends at each co_await, even if the task need not wait there; the
  /// limit of its sends then counts anew.
  bool begin_run(partition& b, pe_state& s) {
    if (task_run{b, s}.may_not_fit()) task_run{b, s}.must_fit(transport_.processor_of(s), machine_);
    const bool ready = prepare(b, s, sends_of_a_task);
    task_run{b, s}.go_on();
    return ready;
  }

  // ---- operations -------------------------------------------------------------------------------

  /// The operations in flight on a PE, for its rules: those that moved at once count until the run ends.
  struct operations_of {
    task_run run;
    const processor* p;

    bool reads(int color) const { return run.reads(color) || (p && p->reads(color)); }
    template <class Use>
    void each_operation(Use use) const {
      if (p) p->each_operation(use);
    }
  };

  // An operation that completed at once still counts as in flight until the task that started it ends, as on
  // every engine.
  void remember(partition& b, pe_state& s, const transfer& t) {
    if (t.output >= 0) hold(b, s, t.output, false);
    task_run{b, s}.note(t);
  }

  static void hold(partition& b, const pe_state& s, int color, bool held) {
    channel& c = topology::channel_of(s, color);
    c.operated = held;
    c.lenient = true;
    c.close();
    b.prepared = 0;
  }

  bool move_operations(partition& b, pe_state& s, processor& p) {
    bool moved = false;
    for (std::size_t k = 0; k < p.microthreads.size();) {
      transfer& t = p.microthreads[k];
      moved |= advance(b, s, t);
      if (t.complete() && t.output >= 0) hold(b, s, t.output, false);
      if (!t.complete() || (t.resumes && !prepare(b, s, sends_of_a_task))) {
        ++k;
        continue;
      }
      void* const waiting = t.resumes;
      s.complete(t);
      p.microthreads.erase(k);
      s.defers = defers(s) || !p.microthreads.empty();
      moved = true;
      if (!waiting) continue;
      task_run{b, s}.go_on();
      with_place_in_faults(s, p.task->name, [&] {
        resume(waiting);
        task_run{b, s}.must_have_sent_few();
        end_run(b, s, *p.task);
      });
    }
    return moved;
  }

  /// Advances an operation as far as its inputs and its output allow, span by span.
  bool advance(partition& b, pe_state& s, transfer& t) {
    channel* out = t.output >= 0 ? &topology::channel_of(s, t.output) : nullptr;
    if (t.granted && transport_.processor_of(s)->back_in > b.superstep) return false;
    bool moved = t.granted != 0;
    t.done += std::exchange(t.granted, 0);
    if (t.output >= 0 && t.input[0] < 0 && !always_defers()) {
      const u64 left = t.length - t.done;
      if (left >= rendezvous_words && rendezvous_.within_partition(b, s, t))
        task_run{b, s}.is_last(), moved = true;
      else if (left >= rendezvous_.rendezvous_from && rendezvous_.grant(b, s, t, processor_for(s)))
        return moved;
    }
    while (!t.complete()) {
      u32 n = static_cast<u32>(support::min(t.length - t.done, u64{1} << 30));
      if (t.uses_fifo() && (n = support::min(n, t.allowed())) == 0) return moved;
      cursor* in[2] = {};
      const u32* input[2] = {};
      for (int k = 0; k < 2; ++k) {
        if (t.input[k] < 0) continue;
        in[k] = source(b, s, t.input[k]);
        if (!in[k]) {
          if (!always_defers()) rendezvous_.request(b, s, t);
          return moved;
        }
        n = support::min(n, transport_.readable(b, *in[k]));
        input[k] = transport_.words_at(*in[k]);
      }
      if (out && (n = transport_.room(b, *out, n)) == 0) return moved;
      t.move_elements(input, out ? out->room() : nullptr, n);
      if (t.each_time >= 0) s.active |= local_bit(t.each_time);
      if (out) out->move_to(out->next() + static_cast<int>(n));
      if (out && out->operated) out->close();
      for (cursor* i : in)
        if (i) {
          if (log_) note(s, t.name, *i, n);
          transport_.consume(b, *i, n);
        }
      moved = true;
    }
    return moved;
  }

  tiles& tiles_;
  transport& transport_;
  const machine& machine_;
  schedule order_;
  rendezvous_transfers rendezvous_;
  run_log* log_;
};

}  // namespace wsl::engines
