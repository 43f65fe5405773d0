// SPDX-License-Identifier: MIT
// The processors of the timed engine, simulated cycle by cycle while they have work: the choice of the next
// task, the use of the datapath, the moves of words. A processor is visited when a word that it can take has
// arrived, when a place that it can fill is free, or at a time that it has noted itself.
#pragma once
#include "../diagnose/run_limit.hpp"
#include "../pe_core.hpp"
#include "../tiles.hpp"
#include "pace.hpp"
#include "rest.hpp"
#include "script_recorder.hpp"
#include "trace_recorder.hpp"

namespace wsl::engines {

/// One thread's view of the processors: any of them may be visited by any thread, but not at the same time.
class timed_pes {
 public:
  /// The thread with this number sends into the windows with that number.
  timed_pes(const layout& plan, tiles& t, support::flat_vector<timed_processor>& all, mesh& m,
            event_queue& when, engine_port& engine, journal_windows& windows, flight_store& flights,
            u32 number)
      : tiles_(&t),
        mesh_(m),
        events_(when),
        target_(&engine.target()),
        plan_(plan),
        recorder_(engine, windows, number),
        moves_(m, engine.target()),
        rest_(m, moves_, engine.target()),
        pace_(m, moves_, engine.target()),
        flights_(flights),
        processors_(all) {}

  /// Prepares the processors for the first run.
  void open() {
    for (u32 i = 0; i < tiles_->size(); ++i) {
      state(i).defers = true;
      processors_[i].of_tasks = target_->tasks;
      processors_[i].router = mesh_.router_at({state(i).x, state(i).y});
      processors_[i].hears_one = colors_heard(i) == 1 && state(i).image->tears == 0;
      processors_[i].hears = hears_commands(i) ? u8{0} : static_cast<u8>(colors_heard(i));
      if (state(i).active) events_.note(i, 0);
    }
  }

  script_recorder& writer() { return recorder_; }
  const script_recorder& writer() const { return recorder_; }
  std::size_t size() const { return processors_.size(); }
  timed_processor& operator[](std::size_t i) { return processors_[i]; }
  const timed_processor& operator[](std::size_t i) const { return processors_[i]; }
  pe_state& state(std::size_t i) { return state_of((*tiles_)[i]); }

  /// The counts of a run; end() is the end of the last cycle in which anything moved.
  u64 tasks() const { return tasks_; }
  u64 wavelets() const { return moves_.wavelets; }
  u64 end() const { return moves_.end; }
  void entered() { ++moves_.wavelets; }
  trace_recorder* traced = nullptr;  ///< the record of a traced run, or null
  /// The counts of the tasks that run, near the limit of a run, or null.
  task_census* census() const { return census_; }
  void count_in(task_census* census) { census_ = census, noted_ = census_ || observer_; }
  void tell(step_observer* observer) { observer_ = observer, noted_ = census_ || observer_; }

  void begin_run(u64 now) {
    ++run_;
    tasks_ = moves_.wavelets = 0;
    moves_.end = now;
    touched_.clear();
  }
  /// Ends the rest of all PEs that this thread has touched first, when nothing is left to happen.
  void end_rest() {
    for (u32 i : touched_) rest_.wake_up(processors_[i], never);
  }
  /// Ends a run, at this time: the time that a processor has waited until then is counted.
  void end_run(u64 at) {
    for (u32 i : touched_) {
      timed_processor& p = processors_[i];
      pace_.set(p, false);
      settle(p, std::max(p.since, at));
    }
  }
  /// Whether a PE that this thread has touched first may still wait for something.
  bool may_wait() {
    for (u32 i : touched_)
      if (const timed_processor& p = processors_[i]; !p.outbox.empty() || p.in_flight || p.own ||
                                                     (state(i).active & state(i).blocked) ||
                                                     state(i).image->joined_locals)
        return true;
    return false;
  }
  void happened_until(u64 at) { moves_.end = std::max(moves_.end, at); }

  /// The task that runs starts an operation.
  void start(pe_state& on, const transfer& t) {
    recorder_.may_start(on, t);
    recorder_.start(moves_.flight_of(processors_[on.index], on, t, flights_), t);
  }

  /// The running task opens a color at its router again.
  void reopen(pe_state& on, int color, int phase) {
    timed_switch* g = mesh_.switch_of(processors_[on.index].router, color);
    if (g && g->reopening) rule::not_closed(on, color);
    rule::reopened_path(on, color, phase, g ? &g->way : nullptr, plan_);
    g->reopening = true;
    recorder_.reopen(color, phase);
  }

  void visit(u32 i, u64 now) {
    timed_processor& p = processors_[i];
    pe_state& s = state(i);
    if (p.run != run_) p.run = run_, p.since = now, touched_.push_back(i);
    bool rested = p.rests;
    const u64 rests_until = rest_.wake_up(p, now);
    if (p.rests) return rests_until == never ? void() : events_.note(i, rests_until);
    const u64 latency = pace_.latency(), known = now + latency;
    u64 next = std::max({p.kept_until, p.since, p.paced ? now - std::min(now, latency) : now});
    while (next <= now || (next < known && may_go_ahead(p, s))) {
      u64 after;
      const bool has_tasks = !keeps_moving(p, s);
      // one that has rested goes on to rest mostly, which is found out when it has advanced
      if (!has_tasks && !std::exchange(rested, false) && !rest_.may_rest(p, s))
        after = move_words(p, s, next, now, known);
      else pace_.set(p, false), after = advance(p, s, next, has_tasks, next > now);
      if (after == next) break;
      next = after;
    }
    pace_.set(p, keeps_moving(p, s) && pace_.may_be_late(p));
    if (next != never) events_.note(i, p.paced ? next + latency : next);
  }

 private:
  static constexpr u64 never = event_queue::never;

  bool keeps_moving(const timed_processor& p, const pe_state& s) const {
    return !traced && timed_pace::only_moves(p, s) && timed_pace::is_plain(p) && !hears_command(s);
  }
  // A command that no task takes is a fault.
  bool hears_command(const pe_state& s) const { return mesh_.through.has_commands(s.index); }
  u64 move_words(timed_processor& p, pe_state& s, u64 at, u64 now, u64 end) {
    settle(p, at);
    return pace_.move(p, at, now, end, [&](u32 k) {
      if (p.flights[k]->op.each_time >= 0) s.active |= local_bit(p.flights[k]->op.each_time);
      if (p.flights[k]->op.complete()) land(p, s, k);
    });
  }

  int colors_heard(u32 i) {
    int heard = 0;
    for (const channel_node& n : mesh_.nodes_of(processors_[i].router)) heard += n.down != mesh::none;
    return heard;
  }

  bool hears_commands(u32 i) {
    for (const binding& b : *state(i).image->source)
      if (b.what == role::control || b.what == role::torn_down) return true;
    return false;
  }

  // Simulates a cycle of a PE; `has_tasks` says whether a task runs or may begin. Returns the time of the
  // next cycle in which something can happen; the same time if, ahead of all others, it is not known yet what
  // happens in this one.
  u64 advance(timed_processor& p, pe_state& s, u64 now, bool has_tasks, bool ahead) {
    if (p.now == timed_processor::state::computing) happened_until(now);
    settle(p, now);
    wake_ = never, unknown_ = false;
    if (has_tasks) get_on(p, s, now);
    const u64 for_tasks = wake_, in_flight = p.in_flight;
    const int who = next_thread(p, now);
    if (ahead && unknown_) return p.become(timed_processor::state::idle, now), now;
    const u64 until = who < 0 ? never : beat(p, s, who, now);
    if (who < 0) p.since = now;
    if (p.in_flight == in_flight && !traced && rest_.may_rest(p, s))
      return std::min(for_tasks, rest_.rest(p));
    drain(p, s, now);
    return std::min(until, wake_);
  }
  // Whether what a PE does next depends on nothing that another actor does in this cycle or later, but for
  // the room behind its operations. Words that leave the router from this cycle on take a ramp's latency to
  // the PE. So the visit goes on for as many cycles, while no task can begin and nothing is sent by tasks.
  bool may_go_ahead(const timed_processor& p, const pe_state& s) const {
    if (traced || p.rests || p.resumes || !p.outbox.empty() || s.image->reacts || s.image->tears ||
        hears_command(s))
      return false;
    if (p.line < p.script.size()) return p.script[p.line].what() == act::kind::busy;
    return p.own || ((s.active & ~s.blocked) == 0 && p.calls.empty());
  }

  // Advances the main thread until it needs the datapath, or until it has nothing to run.
  void get_on(timed_processor& p, pe_state& s, u64 now) {
    for (;;) {
      while (p.line < p.script.size() && p.script[p.line].what() == act::kind::start)
        begin_operation(p, s, now);
      if (p.in_task()) return;
      end_task(p, now);
      if (void* waiting = std::exchange(p.resumes, nullptr))
        recorder_.run(p, s, p.task, sends_of_a_task, now, [=] { resume(waiting); });
      else if (!p.outbox.empty() || !run_next_task(s, task_choice{*this, p, s, now})) return;
    }
  }

  void end_task(timed_processor& p, u64 now) {
    if (traced && !p.script.empty()) note(p, timeline::event::kind::task, 0, p.task, p.task_since, now);
    p.task_since = now;
    p.script.clear();
    p.line = 0;
  }
  void settle(timed_processor& p, u64 now) {
    if (traced) [[unlikely]]
      return settle_and_note(p, now);
    p.settle(now);
  }
  [[gnu::cold, gnu::noinline]] void settle_and_note(timed_processor& p, u64 now) {
    using state = timed_processor::state;
    if (p.now == state::starved) note(p, timeline::event::kind::starved, 0, "", p.since, now);
    if (p.now == state::held_up) note(p, timeline::event::kind::held_up, 0, "", p.since, now);
    p.settle(now);
    traced->spent(number_of(p), mesh_.coord_of(p.router), p.spent.busy(), now);
  }
  [[gnu::cold, gnu::noinline]] void note(const timed_processor& p, timeline::event::kind what, u8 thread,
                                         const char* name, u64 from, u64 to) {
    traced->note({what, thread, number_of(p), name, from, to}, mesh_.coord_of(p.router));
  }
  u32 number_of(const timed_processor& p) const { return static_cast<u32>(&p - processors_.data()); }

  void begin_operation(timed_processor& p, pe_state& s, u64 now) {
    ++p.line;
    flight& f = p.asked.pop();
    f.since = now;
    if (f.op.complete()) return p.spare.push(f), finish(p, s, f.op);
    if (f.op.resumes) return void(p.own = &f);
    p.fly(f);
  }

  /// Answers the questions of run_next_task about one PE.
  struct task_choice {
    timed_pes& engine;
    timed_processor& p;
    pe_state& s;
    u64 now;

    bool called() const { return !p.calls.empty(); }
    bool run_call() {
      const host_call c = p.calls.front();
      p.calls.pop();
      return engine.run_task(p, s, *c.entry, c.arguments, now), true;
    }
    bool run_torn_down() {
      for (u64 left = s.image->tears; left; left &= left - 1)
        if (engine.run_torn_down(p, s, std::countr_zero(left), now)) return true;
      return false;
    }
    u32 ready_locals() const { return s.active & ~s.blocked; }
    bool run_local(u32 ready) {
      const int id = std::countr_zero(ready);
      const u32 own_bit = local_bit(id);
      s.active &= ~own_bit;
      return engine.run_task(p, s, *s.image->local[id], &own_bit, now), true;
    }
    // Words of other colors than those of data tasks start a task only if they are commands.
    bool run_arrived(u64 colors) {
      if (!engine.mesh_.through.has_commands(s.index)) colors &= s.image->takes;
      if (!colors) return false;
      for (const channel_node& n : engine.mesh_.nodes_of(p.router))
        if ((colors & color_bit(n.color)) && n.down != mesh::none && engine.take(p, s, n, now)) return true;
      return false;
    }
    static bool arrived_first() { return false; }
  };

  // Runs the task of a color that was torn down.
  bool run_torn_down(timed_processor& p, pe_state& s, int color, u64 now) {
    timed_switch* g = mesh_.switch_of(p.router, color);
    if (!g) return false;
    if (g->heard_from > now) {
      wake_ = std::min(wake_, g->heard_from);
      return false;
    }
    g->heard_from = never;
    run_task(p, s, *s.image->torn_down[color], nullptr, now);
    return true;
  }

  bool take(timed_processor& p, pe_state& s, const channel_node& n, u64 now) {
    pipe& in = mesh_.through[n.down];
    if (!s.image->data[n.color] && !(in.commands && mesh_.through.first_is_control(in))) return false;
    if (in.ready > now) {
      wake_ = std::min(wake_, in.ready);
      return false;
    }
    const wavelet w{mesh_.through.first_bits(in), n.color, mesh_.through.first_is_control(in)};
    const binding* b = task_for(s, w);
    if (!b) return false;
    mesh_.through.take(in, now);
    run_task(p, s, *b, &w.bits, now);
    return true;
  }

  // The thread that moves in this cycle, -1 if none can: of those with the highest priority among them that
  // can, the first, beginning with the thread whose turn it is.
  int next_thread(timed_processor& p, u64 now) {
    p.now = p.outbox.empty() ? timed_processor::state::idle : timed_processor::state::held_up;
    const bool main = p.in_task() && main_can_move(p, now);
    for (const priority level : {priority::high, priority::medium, priority::low}) {
      const int before_main = compared_with_main(p, level);
      if (main && before_main < 0) return 0;
      const bool main_too = main && before_main == 0;
      if (const int k = next_of(p, p.at_level[static_cast<int>(level)], main_too, now); k >= 0) return k;
    }
    return -1;
  }
  // Above 0 if microthreads of this priority go before the main thread, 0 if they take turns with it.
  static int compared_with_main(const timed_processor& p, priority level) {
    return 2 * static_cast<int>(level) - (static_cast<int>(p.of_tasks) + 1);
  }
  int next_of(timed_processor& p, u64 among, bool main, u64 now) {
    const int from = p.turn;
    if (main && from == 0) return 0;
    const u64 later = from ? ~u64{0} << (from - 1) : ~u64{0};
    if (const int k = first_that_moves(p, among & later, now); k >= 0) return k + 1;
    if (main) return 0;
    const int k = first_that_moves(p, among & ~later, now);
    return k >= 0 ? k + 1 : -1;
  }
  int first_that_moves(timed_processor& p, u64 among, u64 now) {
    for (; among; among &= among - 1) {
      const int k = std::countr_zero(among);
      if (can_move(p, p.gates[static_cast<std::size_t>(k)], p.flights[static_cast<std::size_t>(k)], now))
        return k;
    }
    return -1;
  }
  bool main_can_move(timed_processor& p, u64 now) {
    return p.line < p.script.size() || can_move(p, flight_gate(*p.own), p.own, now);
  }
  u32 up_pipe(const timed_processor& p, int color) { return mesh_.node_of(p.router, color)->up; }
  u64 room_for(timed_processor& p, u32 into, u64 sharing_queue) {
    const u64 room = mesh_.through.room_at(mesh_.through[into]);
    return sharing_queue ? std::max(room, moves_.queue_free_of(p, sharing_queue)) : room;
  }
  bool has_room(timed_processor& p, u32 into, u64 sharing_queue, u64 now) {
    const u64 room = room_for(p, into, sharing_queue);
    if (room <= now) return true;
    unknown_ |= room == never;
    if (p.now == timed_processor::state::idle) p.now = timed_processor::state::held_up;
    wake_ = std::min(wake_, room);
    return false;
  }
  // An operation takes data only: a control wavelet waits for its task, and the operation waits behind it.
  bool has_word(timed_processor& p, u32 from, u64 now) {
    const pipe& in = mesh_.through[from];
    if (in.ready <= now && !(in.commands && mesh_.through.first_is_control(in))) return true;
    p.now = timed_processor::state::starved;
    if (in.ready > now) wake_ = std::min(wake_, in.ready);
    return false;
  }
  // A FIFO is filled and emptied by this PE only, which is visited again in any case.
  static bool fifos_allow(timed_processor& p, const operation_in_flight& t) {
    if (t.pops && t.pops->size == 0) p.now = timed_processor::state::starved;
    else if (t.pushes && t.pushes->room() == 0 && p.now == timed_processor::state::idle)
      p.now = timed_processor::state::held_up;
    return t.allowed() > 0;
  }
  bool can_move(timed_processor& p, const flight_gate& g, const flight* f, u64 now) {
    for (u32 in : g.in)
      if (in != flight_gate::none && !has_word(p, in, now)) return false;
    if (g.has_more) unknown_ = true;
    if (g.has_more && f->op.uses_fifo() && !fifos_allow(p, f->op)) return false;
    if (g.output < 0) return true;
    return !p.holds_back(g.output) && has_room(p, g.out, g.has_more ? f->sharing_queue : 0, now);
  }

  // Returns the time at which the PE can do the next step.
  u64 beat(timed_processor& p, pe_state& s, int who, u64 now) {
    p.turn = static_cast<u8>(who + 1);
    p.become(timed_processor::state::idle, now);
    if (who == 0 && p.line < p.script.size()) {
      act& a = p.script[p.line];
      if (a.what() == act::kind::busy) return compute(p, a, now);
      do_at_once(p, s, a, now);
      happened_until(now + 1);
      return now + 1;
    }
    const u64 held = who > 0 ? move_microthread(p, s, static_cast<u32>(who - 1), now) : move_own(p, s, now);
    happened_until(now + held);
    return now + held;
  }

  // The main thread runs alone until a microthread that does not stand below it can move; the actor that
  // makes this possible notes the PE.
  u64 compute(timed_processor& p, const act& a, u64 now) {
    u64 rivals = 0;
    for (const priority level : {priority::low, priority::medium, priority::high})
      if (compared_with_main(p, level) >= 0) rivals |= p.at_level[static_cast<int>(level)];
    const bool contended = first_that_moves(p, rivals, now) >= 0;
    p.become(timed_processor::state::computing, now);
    return contended ? now + 1 : std::min(now + a.value, wake_);
  }

  // Does what takes one turn of the main thread.
  void do_at_once(timed_processor& p, const pe_state& s, const act& a, u64 now) {
    if (a.what() == act::kind::send)
      p.outbox.push({static_cast<u32>(a.value), static_cast<u8>(a.color), a.control != 0});
    else if (a.what() == act::kind::prioritize) p.of_tasks = static_cast<main_priority>(a.value);
    else mesh_.reopen(p.router, a.color, *plan_.path_at({s.x, s.y}, a.color, static_cast<int>(a.value)), now);
    ++p.line;
    ++p.spent.tasks;
  }
  // Moves one word a cycle of those that tasks have sent into its output queue, if that has room.
  void drain(timed_processor& p, const pe_state& s, u64 now) {
    if (p.outbox.empty()) return;
    const int color = p.outbox.front().color;
    const u32 up = up_pipe(p, color);
    if (const u64 room = room_for(p, up, s.image->sharing_queue_with(color)); room <= now) {
      moves_.put(p, up, p.outbox.front().bits, p.outbox.front().control, now);
      p.outbox.pop();
      happened_until(now + 1);
      wake_ = std::min(wake_, now + 1);
    } else if (room != never) {
      wake_ = std::min(wake_, room);
    }
  }
  void move(timed_processor& p, pe_state& s, flight& f, u64 now) {
    moves_.move(p, f, now);
    if (f.op.each_time >= 0) s.active |= local_bit(f.op.each_time);
  }
  u64 move_microthread(timed_processor& p, pe_state& s, u32 k, u64 now) {
    flight& f = *p.flights[k];
    move(p, s, f, now);
    if (f.op.complete()) {
      if (traced)
        note(p, timeline::event::kind::operation, static_cast<u8>(k + 1), f.op.name, f.since, now + f.hold);
      land(p, s, k);
    }
    return p.kept_until - now;
  }
  void land(timed_processor& p, pe_state& s, u32 k) {
    pace_.land(p, k);
    p.land(k);
    finish(p, s, p.flights[k]->op);
  }
  u64 move_own(timed_processor& p, pe_state& s, u64 now) {
    flight& f = *p.own;
    move(p, s, f, now);
    if (f.op.complete()) {
      p.own = nullptr;
      p.spare.push(f);
      finish(p, s, f.op);
    }
    return p.kept_until - now;
  }

  static void finish(timed_processor& p, pe_state& s, const operation_in_flight& t) {
    s.complete(t);
    p.resumes = t.resumes ? t.resumes : p.resumes;
  }

  [[gnu::cold, gnu::noinline]] void note(const pe_state& s, const binding& b, const void* input, u64 now) {
    if (census_) census_->note(s.index, b.name, 1);
    if (observer_) observer_->before_task(s, b, input, now);
  }
  void run_task(timed_processor& p, pe_state& s, const binding& b, const void* input, u64 now) {
    ++tasks_;
    if (noted_) [[unlikely]]
      note(s, b, input, now);
    s.interrupted = false;
    p.task = b.name;
    p.task_since = now;
    p.script.push_back({act::kind::busy, static_cast<u32>(target_->task_start)});
    recorder_.run(p, s, b.name, rule::sends_of(b), now, [&] {
      recorder_.declared(b.cycles);
      b.run(s.memory(), (*tiles_)[s.index], input, 1);
    });
  }

  tiles* tiles_;
  mesh& mesh_;
  event_queue& events_;
  const machine* target_;
  const layout& plan_;
  script_recorder recorder_;
  timed_moves moves_;
  timed_rest rest_;
  timed_pace pace_;
  flight_store& flights_;
  support::flat_vector<timed_processor>& processors_;
  support::flat_vector<u32> touched_;
  u64 run_ = 0, tasks_ = 0;
  u64 wake_ = 0;  // the time at which the visited PE need no longer wait, as far as is known
  task_census* census_ = nullptr;
  step_observer* observer_ = nullptr;
  bool noted_ = false;    // whether either of these wants to know of a task
  bool unknown_ = false;  // whether a thread of it waits for room that may come at any time
};

}  // namespace wsl::engines
