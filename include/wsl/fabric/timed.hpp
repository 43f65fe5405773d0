// SPDX-License-Identifier: MIT
// The timed engine runs the same programs as the others and counts the cycles that the layout's machine would take:
// `fabric f{plan, timed{}}`, with <wsl/fabric/timed.hpp>. The rules it counts by are in docs/timing.md. It looks at a PE or a router
// only when something can happen there, and a word crosses a run of routers in one step, so that idle parts cost nothing.
#pragma once
#include "deadlock.hpp"
#include "engine.hpp"
#include "mesh.hpp"
#include "tiles.hpp"
#include "timed_processor.hpp"
#include "timing.hpp"

namespace wsl {
namespace engines {

class timed_engine final : public engine, private cycle_counter {
 public:
  explicit timed_engine(const layout& plan)
      : engine(plan), routes_(engine::plan()), tiles_(engine::plan(), routes_, *this), processors_(tiles_.size()),
        mesh_(engine::plan(), agenda_, static_cast<u32>(tiles_.size()), [this](coord c) { return number_of(c); },
              [this](coord c, int color) { return input_depth(c, color); }, [this](coord c, int color) { return output_depth(c, color); }),
        words_(max_colors * sends_of_a_task), journal_(max_colors * sends_of_a_task) {
    tiles_.set_channels(channels_);
    agenda_.open(mesh_.actors());
    for (int k = 0; k < max_colors; ++k) channels_[k].words = words_.data() + k * sends_of_a_task;
    for (u32 i = 0; i < tiles_.size(); ++i) {
      processors_[i].router = mesh_.router_at({state(i).x, state(i).y});
      state(i).defers = true;
      if (state(i).active) agenda_.note(i, 0);
    }
    supplies_ = flat_vector<backlog<u32>>(mesh_.sources().size());
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    const u32 i = state_of(on).index;
    processors_[i].calls.push(what);
    agenda_.note(i, agenda_.now());
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = source_at(color, c);
    for (u32 w : words) supplies_[k].push(w);
    agenda_.note(mesh_.first_source_actor() + k, agenda_.now());
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    backlog<u32>& from = mesh_.exit_of(c, color).words;
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop()) words[n++] = from.front();
    return n;
  }

  outcome run() override {
    const listening ears(*this);
    ++run_;
    begin_ = end_ = agenda_.now();
    total_ = {};
    mesh_.done = {};
    touched_.clear();
    while (agenda_.advance()) agenda_.take([this](u32 who) { visit(who); });
    agenda_.set_now(end_);
    for (u32 i : touched_) rest(processors_[i]);
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open);
    total_.cycles = end_ - begin_;
    total_.hops = mesh_.done.hops;
    total_.delivered = mesh_.done.delivered;
    return total_;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    refused_type = type;
    if (from.image->sent_type[color] != type) refuse(from, color);
    channel& out = from.channel_of(color);
    if (out.next() == out.hard) refuse(from, color);
    *out.room() = bits;
    out.move_to(out.next() + 1);
    *journal++ = static_cast<u32>(color) | control_flag;
  }

  bool start(pe_state& on, transfer& t) override {
    timed_processor& p = processors_[on.index];
    rule::may_start(on, t, p.operations(), target());
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) rule::one_reader(on, t.input[k], p.reads(t.input[k]) || (k == 1 && t.input[0] == t.input[1]));
    if (t.output >= 0) {
      rule::declares_send(on, t.output, t.output_type);
      rule::has_path(on, t.output, (on.image->present & color_bit(t.output)) != 0);
      rule::one_writer(on, t.output, p.writes(t.output));
      on.channel_of(t.output).close();
    }
    spend(static_cast<u64>(target().operation_setup));
    p.asked.push(flight_of(p, t));
    p.script.push_back({act::kind::start});
    return false;
  }

  u64 now(const pe_state& s) const override {
    return running_ == &s ? task_begin_ + spent_ + static_cast<u64>(journal - written_) : agenda_.now();
  }

  // What a report reads.
  std::size_t pes() const { return tiles_.size(); }
  coord coord_of(std::size_t i) { return {state(i).x, state(i).y}; }
  const char* program_of(std::size_t i) { return state(i).image->source->name; }
  const pe_cycles& cycles_of(std::size_t i) const { return processors_[i].spent; }
  const mesh& routers() const { return mesh_; }

 private:
  /// The operations that tasks run on this thread are counted here.
  struct listening {
    explicit listening(cycle_counter& c) : before(std::exchange(listening_counter, &c)) {}
    ~listening() { listening_counter = before; }
    cycle_counter* before;
  };

  static constexpr u32 control_flag = 0x100;
  static constexpr u64 never = agenda::never;

  pe_state& state(std::size_t i) { return state_of(tiles_[i]); }

  // ---- building --------------------------------------------------------------------------------------------------------------

  int number_of(coord c) {
    const pe* p = find(c);
    return p ? static_cast<int>(state_of(const_cast<pe&>(*p)).index) : -1;
  }
  // A PE's input queues are its program's consumed colors, in order; its output queues those that it sends.
  int input_depth(coord c, int color) {
    const program_image& image = *state_of(*find(c)).image;
    const u64 before = (image.takes | image.reads) & (color_bit(color) - 1);
    return target().input_depth[std::popcount(before) % std::min(target().input_queues, 8)];
  }
  int output_depth(coord c, int color) {
    const u64 before = state_of(*find(c)).image->present & (color_bit(color) - 1);
    return target().output_depth[std::popcount(before) % std::min(target().output_queues, 8)];
  }
  u32 source_at(int color, coord c) {
    u32 k = 0;
    while (mesh_.sources()[k].color != color || mesh_.sources()[k].at != c) ++k;
    return k;
  }

  // ---- time ------------------------------------------------------------------------------------------------------------------

  void visit(u32 who) {
    const u64 now = agenda_.now();
    if (who < mesh_.first_board_actor()) return visit_pe(who, now);
    if (who >= mesh_.first_source_actor()) return visit_source(who - mesh_.first_source_actor(), now);
    if (mesh_.step(who, now)) happened_until(now + 1);
  }
  void happened_until(u64 at) { end_ = std::max(end_, at); }

  // A stream gives one word a cycle.
  void visit_source(u32 k, u64 now) {
    const u32 actor = mesh_.first_source_actor() + k;
    const mesh::source& s = mesh_.sources()[k];
    pipe& into = mesh_.through[s.pipe];
    if (supplies_[k].empty()) return;
    if (const u64 room = mesh_.through.room_at(into); room > now) {
      if (room != never) agenda_.note(actor, room);
      return;
    }
    mesh_.through.put(into, supplies_[k].front(), false, now + into.latency);
    supplies_[k].pop();
    ++total_.wavelets;
    mesh_.done.hops += into.links;
    happened_until(now + 1);
    agenda_.note(actor, now + 1);
  }

  // ---- a PE ------------------------------------------------------------------------------------------------------------------

  void visit_pe(u32 i, u64 now) {
    timed_processor& p = processors_[i];
    pe_state& s = state(i);
    if (p.run != run_) p.run = run_, p.since = now, touched_.push_back(i);
    if (p.kept_until > now) return agenda_.note(i, p.kept_until);
    if (p.now == timed_processor::state::computing) happened_until(now);
    p.settle(now);
    wake_ = never;
    get_on(p, s, now);
    const int who = next_thread(p, now);
    const u64 until = who < 0 ? never : beat(p, s, who, now);
    if (who < 0) p.since = now;
    drain(p, now);
    if (const u64 next = std::min(until, wake_); next != never) agenda_.note(i, next);
  }

  // Brings the main thread to where it needs the datapath, or to where nothing is left to run.
  void get_on(timed_processor& p, pe_state& s, u64 now) {
    for (;;) {
      while (p.line < p.script.size() && p.script[p.line].what == act::kind::start) begin_operation(p, s, now);
      if (p.in_task()) return;
      end_task(p, s, now);
      if (void* waiting = std::exchange(p.resumes, nullptr)) run_on(p, s, p.task, sends_of_a_task, now, [=] { resume(waiting); });
      else if (!p.outbox.empty() || !pick(p, s, now)) return;
    }
  }

  void begin_operation(timed_processor& p, pe_state& s, u64 now) {
    ++p.line;
    flight f = p.asked.front();
    p.asked.pop();
    f.since = now;
    if (f.op.complete()) return finish(p, s, f, now);
    if (f.op.resumes) return void(p.own.push_back(f));
    const u32 k = p.free_microthread();
    p.flights[k] = f;
    p.in_flight |= u64{1} << k;
  }

  bool pick(timed_processor& p, pe_state& s, u64 now) {
    if (!p.calls.empty()) {
      const host_call c = p.calls.front();
      p.calls.pop();
      run_task(p, s, *c.entry, c.arguments, now);
      return true;
    }
    if (const u32 ready = s.active & ~s.blocked) {
      const int id = std::countr_zero(ready);
      s.active &= ~local_bit(id);
      run_task(p, s, *s.image->local[id], nullptr, now);
      return true;
    }
    for (const mesh::node& n : mesh_.nodes_of(p.router))
      if (n.down != mesh::none && take(p, s, n, now)) return true;
    return false;
  }

  bool take(timed_processor& p, pe_state& s, const mesh::node& n, u64 now) {
    pipe& in = mesh_.through[n.down];
    if (const u64 ready = mesh_.through.ready_at(in); ready > now) {
      wake_ = std::min(wake_, ready);
      return false;
    }
    const u32 bits = mesh_.through.first_bits(in);
    const bool control = mesh_.through.first_is_control(in);
    const binding* b = control ? s.image->control_with(bits >> 16) : s.image->data[n.color];
    if (control && !b) rule::no_control_task(s, n.color, bits >> 16);
    if (!b || (!control && (s.blocked_colors & color_bit(n.color)))) return false;
    mesh_.through.take(in, now);
    run_task(p, s, *b, &bits, now);
    return true;
  }

  // Who moves in this cycle: the first that can, from the thread whose turn it is on. -1: nobody.
  int next_thread(timed_processor& p, u64 now) {
    p.now = p.outbox.empty() ? timed_processor::state::idle : timed_processor::state::held_up;
    const bool main = p.in_task() && main_can_move(p, now);
    const int from = p.turn;
    if (main && from == 0) return 0;
    const u64 later = from ? ~u64{0} << (from - 1) : ~u64{0};
    if (const int k = first_that_moves(p, p.in_flight & later, now); k >= 0) return k + 1;
    if (main) return 0;
    const int k = first_that_moves(p, p.in_flight & ~later, now);
    return k >= 0 ? k + 1 : -1;
  }
  int first_that_moves(timed_processor& p, u64 among, u64 now) {
    for (; among; among &= among - 1) {
      const int k = std::countr_zero(among);
      if (can_move(p, p.flights[static_cast<std::size_t>(k)], now)) return k;
    }
    return -1;
  }
  bool main_can_move(timed_processor& p, u64 now) { return p.line < p.script.size() || can_move(p, p.own[0], now); }
  u32 up_pipe(const timed_processor& p, int color) { return mesh_.node_of(p.router, color)->up; }
  bool has_room(timed_processor& p, u32 pipe, u64 now) {
    const u64 room = mesh_.through.room_at(mesh_.through[pipe]);
    if (room <= now) return true;
    if (p.now == timed_processor::state::idle) p.now = timed_processor::state::held_up;
    wake_ = std::min(wake_, room);
    return false;
  }
  // An operation takes data only: a control wavelet waits for its task, and the operation behind it.
  bool has_word(timed_processor& p, u32 from, u64 now) {
    const pipe& in = mesh_.through[from];
    const u64 ready = mesh_.through.ready_at(in);
    if (ready <= now && !mesh_.through.first_is_control(in)) return true;
    p.now = timed_processor::state::starved;
    if (ready > now) wake_ = std::min(wake_, ready);
    return false;
  }
  bool can_move(timed_processor& p, const flight& f, u64 now) {
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0 && !has_word(p, f.in[k], now)) return false;
    if (f.op.output < 0) return true;
    return !p.holds_back(f.op.output) && has_room(p, f.out, now);
  }

  // Says when the PE can do the next thing.
  u64 beat(timed_processor& p, pe_state& s, int who, u64 now) {
    p.turn = static_cast<u8>(who + 1);
    p.become(timed_processor::state::idle, now);
    if (who == 0 && p.line < p.script.size()) {
      act& a = p.script[p.line];
      if (a.what == act::kind::busy) return compute(p, a, now);
      send(p, a);
      happened_until(now + 1);
      return now + 1;
    }
    const u64 held = who > 0 ? move_microthread(p, s, static_cast<u32>(who - 1), now) : move_own(p, s, now);
    happened_until(now + held);
    return now + held;
  }

  // The main thread goes on by itself until a microthread can move; who makes that possible notes this PE.
  u64 compute(timed_processor& p, const act& a, u64 now) {
    const bool contended = first_that_moves(p, p.in_flight, now) >= 0;
    p.become(timed_processor::state::computing, now);
    return contended ? now + 1 : std::min(now + a.value, wake_);
  }

  void send(timed_processor& p, const act& a) {
    p.outbox.push({static_cast<u32>(a.value), a.color, a.control});
    ++p.line;
    ++p.spent.tasks;
  }
  // One word a cycle that tasks have sent goes into its output queue, if that has room.
  void drain(timed_processor& p, u64 now) {
    if (p.outbox.empty()) return;
    if (const u32 up = up_pipe(p, p.outbox.front().color); mesh_.through.room_at(mesh_.through[up]) <= now) {
      put(p, up, p.outbox.front().bits, p.outbox.front().control, now);
      p.outbox.pop();
      happened_until(now + 1);
      wake_ = std::min(wake_, now + 1);
    } else if (const u64 room = mesh_.through.room_at(mesh_.through[up]); room != never) {
      wake_ = std::min(wake_, room);
    }
  }
  // A ramp takes one word a cycle.
  void put(timed_processor& p, u32 pipe, u32 bits, bool control, u64 now) {
    class pipe& up = mesh_.through[pipe];
    const u64 ready = std::max(now + up.latency, p.ramp_free);
    p.ramp_free = ready + 1;
    mesh_.through.put(up, bits, control, ready);
    ++total_.wavelets;
  }

  u64 move_microthread(timed_processor& p, pe_state& s, u32 k, u64 now) {
    flight& f = p.flights[k];
    move(p, f, now);
    p.spent.operations += f.hold;
    if (f.op.complete()) {
      p.in_flight &= ~(u64{1} << k);
      finish(p, s, f, now);
    }
    return keep(p, f, now);
  }
  u64 move_own(timed_processor& p, pe_state& s, u64 now) {
    flight& f = p.own[0];
    move(p, f, now);
    p.spent.operations += f.hold;
    const u64 held = keep(p, f, now);
    if (f.op.complete()) {
      const flight done = f;
      p.own.clear();
      finish(p, s, done, now);
    }
    return held;
  }
  static u64 keep(timed_processor& p, const flight& f, u64 now) {
    p.kept_until = now + f.hold;
    return f.hold;
  }

  void move(timed_processor& p, flight& f, u64 now) {
    u32 in[2][most_width], out[most_width];
    const u64 left = f.op.length - f.op.done;
    u32 n = left < f.width ? static_cast<u32>(left) : f.width;
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0) n = mesh_.through.peek(mesh_.through[f.in[k]], now, n, in[k]);
    if (f.op.output >= 0) n = mesh_.through.room(mesh_.through[f.out], now, n);
    const u32* inputs[2] = {in[0], in[1]};
    f.op.move(f.op, inputs, out, n);
    for (int k = 0; k < 2; ++k)
      for (u32 j = 0; f.op.input[k] >= 0 && j < n; ++j) mesh_.through.take(mesh_.through[f.in[k]], now);
    for (u32 j = 0; f.op.output >= 0 && j < n; ++j) put(p, f.out, out[j], false, now);
  }

  flight flight_of(const timed_processor& p, const transfer& t) {
    flight f{.op = t};
    f.width = static_cast<u32>(std::min(timing::fabric_width(target(), t.cost), most_width));
    f.hold = static_cast<u32>(timing::fabric_cycles(target(), t.cost));
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) f.in[k] = mesh_.node_of(p.router, t.input[k])->down;
    if (t.output >= 0) f.out = up_pipe(p, t.output);
    return f;
  }

  void finish(timed_processor& p, pe_state& s, const flight& f, u64) {
    const transfer& t = f.op;
    if (t.activates >= 0) s.active |= local_bit(t.activates);
    if (t.unblocks >= 0) s.blocked &= ~local_bit(t.unblocks);
    if (t.unblocks_color >= 0) s.blocked_colors &= ~color_bit(t.unblocks_color);
    p.resumes = t.resumes ? t.resumes : p.resumes;
  }

  // ---- tasks -----------------------------------------------------------------------------------------------------------------

  void run_task(timed_processor& p, pe_state& s, const binding& b, const void* input, u64 now) {
    ++total_.tasks;
    s.interrupted = false;
    p.task = b.name;
    p.task_since = now;
    const int most = b.what == role::data ? sends_of_a_data_task : sends_of_a_task;
    p.script.push_back({act::kind::busy, 0, false, static_cast<u64>(target().task_start)});
    run_on(p, s, b.name, most, now, [&] { b.run(s.memory(), tiles_[s.index], input, 1); });
  }
  void end_task(timed_processor& p, pe_state&, u64) {
    p.script.clear();
    p.line = 0;
  }

  // Tasks send into channels that all PEs share; the journal says in which order the words go to the output queues.
  template <class F>
  void run_on(timed_processor& p, pe_state& s, const char* name, int most, u64 now, F f) {
    journal = journal_.data();
    written_ = journal;
    for (u64 left = s.image->present; left; left &= left - 1) {
      const u16 slot = s.image->slot[std::countr_zero(left)];
      channel& c = channels_[slot];
      c.move_to(c.soft = 0);  // every send is written down in the journal
      c.hard = static_cast<i16>(p.writes(std::countr_zero(left)) ? 0 : most);
      read_[slot] = 0;
    }
    running_ = &s;
    task_begin_ = now;
    spent_ = p.script.empty() ? 0 : p.script[0].value;
    guarded(s, name, [&] {
      f();
      if (s.refused != refusal::none) refuse(s, static_cast<int>(s.refused) - 1);
    });
    note_sends();
    running_ = nullptr;
  }
  [[noreturn]] void refuse(pe_state& s, int color) {
    s.refused = refusal::none;
    rule::refuse_send(s, color, refused_type, processors_[s.index].writes(color));
  }

  // What the running task has sent since it was last asked goes into its script.
  void note_sends() {
    timed_processor& p = processors_[running_->index];
    for (; written_ != journal; ++written_, ++spent_) {
      const auto color = static_cast<u8>(*written_ & ~control_flag);
      const u16 slot = running_->image->slot[color];
      p.script.push_back({act::kind::send, color, (*written_ & control_flag) != 0, channels_[slot].words[read_[slot]++]});
    }
  }
  void spend(u64 cycles) override {
    if (!running_ || cycles == 0) return;
    note_sends();
    timed_processor& p = processors_[running_->index];
    spent_ += cycles;
    if (!p.script.empty() && p.script.back().what == act::kind::busy) p.script.back().value += cycles;
    else p.script.push_back({act::kind::busy, 0, false, cycles});
  }
  void operate(const effort& what, u64 elements) override {
    spend(static_cast<u64>(target().operation_setup) + timing::cycles(target(), what, elements));
  }

  // ---- the end of a run ------------------------------------------------------------------------------------------------------

  void rest(timed_processor& p) { p.settle(end_); }

  waits pending() {
    waits open;
    for (u32 i = 0; i < tiles_.size(); ++i) pe_waits(open, processors_[i], state(i));
    mesh_.each_lane([&](coord at, int color, const pipe& in) {
      if (in.size) open.push_back({wait::reason::router, at, color, "", "", in.size});
    });
    for (u32 k = 0; k < supplies_.size(); ++k)
      if (!supplies_[k].empty()) {
        const mesh::source& s = mesh_.sources()[k];
        open.push_back({wait::reason::stream, s.at, s.color, "", "", supplies_[k].size()});
      }
    return open;
  }

  void pe_waits(waits& open, timed_processor& p, pe_state& s) {
    const coord at{s.x, s.y};
    const char* program = s.image->source->name;
    if (!p.outbox.empty()) open.push_back({wait::reason::output, at, p.outbox.front().color, program, "send", p.outbox.size()});
    for (u64 left = p.in_flight; left; left &= left - 1)
      operation_waits_of(open, p, s, p.flights[static_cast<std::size_t>(std::countr_zero(left))]);
    for (const flight& f : p.own) operation_waits_of(open, p, s, f);
    held_tasks(open, s);
    for (const mesh::node& n : mesh_.nodes_of(p.router))
      if (n.down != mesh::none && mesh_.through[n.down].size) unread(open, p, s, n);
  }
  void operation_waits_of(waits& open, timed_processor& p, pe_state& s, const flight& f) {
    const coord at{s.x, s.y};
    const bool main_thread_wanted = !p.calls.empty() || (s.active & ~s.blocked);
    const u64 left = f.op.endless() ? 1 : f.op.length - f.op.done;
    bool fed = true;
    for (int k = 0; k < 2; ++k) {
      if (f.op.input[k] < 0 || has_word(p, f.in[k], end_)) continue;
      fed = false;
      if (!f.op.endless() || (f.op.resumes && main_thread_wanted))
        open.push_back({wait::reason::input, at, f.op.input[k], s.image->source->name, f.op.name, left});
    }
    p.now = timed_processor::state::idle;
    if (fed) open.push_back({wait::reason::output, at, f.op.output, s.image->source->name, f.op.name, left});
  }
  void unread(waits& open, timed_processor& p, pe_state& s, const mesh::node& n) {
    const pipe& in = mesh_.through[n.down];
    const bool control = mesh_.through.first_is_control(in);
    if (!control && p.reads(n.color)) return;
    const binding* task = control ? s.image->control_with(mesh_.through.first_bits(in) >> 16) : s.image->data[n.color];
    open.push_back({wait::reason::unread, {s.x, s.y}, n.color, s.image->source->name, task ? task->name : "", in.size});
  }

  static constexpr int most_width = 8;

  agenda agenda_;
  deliveries routes_;
  tiles tiles_;
  flat_vector<timed_processor> processors_;
  mesh mesh_;
  flat_vector<backlog<u32>> supplies_;
  channel channels_[max_colors];
  flat_vector<u32> words_;
  flat_vector<u32> journal_;
  flat_vector<u32> touched_;

  const pe_state* running_ = nullptr;  // whose task runs, and what its script has so far
  const u32* written_ = nullptr;
  u32 read_[max_colors] = {};
  u64 task_begin_ = 0, spent_ = 0;

  u64 wake_ = 0;  // when what the visited PE waits for is there, as far as is known
  u64 begin_ = 0, end_ = 0, run_ = 0;
  outcome total_;
};

}  // namespace engines

/// The choice of the timed engine: `fabric f{plan, timed{}}`.
struct timed {
  /// The caller owns the engine.
  engine* make(const layout& plan) const { return new engines::timed_engine(plan); }
};

}  // namespace wsl
