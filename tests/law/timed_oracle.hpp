// SPDX-License-Identifier: MIT
// The oracle of the timed engine: the rules of docs/timing.md, carried out cycle by cycle and hop by hop for
// every router, queue and PE of the grid, however idle. It shares no code with the engine but the costs
// of an operation (engine/timed/costs.hpp), the PEs' memories and the faults of programs.
#pragma once
#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include <wsl/engine/diagnose/deadlock.hpp>
#include <wsl/engine/engine.hpp>
#include <wsl/engine/host_link.hpp>
#include <wsl/engine/processor.hpp>
#include <wsl/engine/tiles.hpp>
#include <wsl/engine/timed/costs.hpp>

#include "timed_oracle_switch.hpp"

namespace law {

using namespace wsl;
using namespace wsl::detail;
using namespace wsl::engines;
using engines::send_window, engines::resolved_routes, engines::tiles;

/// The cycles of a PE by their use, as the oracle counts them.
struct oracle_cycles {
  u64 tasks = 0, operations = 0, starved = 0, held_up = 0;
};

class timed_oracle final : public engine, private cycle_counter {
 public:
  explicit timed_oracle(const layout& plan, const wsl::host_link& link = {})
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this),
        routers_(static_cast<std::size_t>(grid().count())),
        processors_(tiles_.size()),
        link_(link),
        words_(max_colors * sends_of_a_task),
        journal_(max_colors * sends_of_a_task) {
    orders = &order_;
    for (processor& p : processors_) p.of_tasks = 1 + static_cast<int>(target().tasks);
    tiles_.set_windows(windows_, nullptr);
    for (std::size_t i = 0; i < tiles_.size(); ++i) state_of(tiles_[i]).defers = true;
    for (int k = 0; k < max_colors; ++k) windows_[k].words = words_.data() + k * sends_of_a_task;
    for (int r = 0; r < grid().count(); ++r) build(static_cast<std::size_t>(r));
    for (std::size_t r = 0; r < routers_.size(); ++r) group(routers_[r]);
    for (const stream_record& s : engine::plan().streams())
      for (int i = 0; s.inbound && i < s.where.count(); ++i)
        supplies_[{s.color, s.where.nth(i).x, s.where.nth(i).y}].side = s.side,
                                              entries_[s.color].push_back(s.where.nth(i));
  }

  ~timed_oracle() {
    for (const processor& p : processors_) {
      destroy(p.resumes);
      for (const auto& [k, t] : p.threads) destroy(t.resumes);
      for (const step& x : p.script) destroy(x.op.resumes);
    }
  }

  pe* find(coord c) override { return tiles_.find(c); }
  void call(pe& on, host_call what) override { processors_[state_of(on).index].calls.push_back(what); }
  void stream_write(int color, coord c, std::span<const u32> words) override {
    auto& s = supplies_.at({color, c.x, c.y});
    s.words.insert(s.words.end(), words.begin(), words.end());
    if (link_.channels > 0) schedule(s, color, c, words.size());
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    std::deque<u32>& from = sinks_[{color, c.x, c.y}];
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop_front()) words[n++] = from.front();
    return n;
  }

  u64 unread_words() const override {
    u64 n = 0;
    for (const auto& [where, words] : sinks_) n += words.size();
    return n;
  }

  outcome run() override {
    cycle_counter* before = std::exchange(listening_counter, static_cast<cycle_counter*>(this));
    total_ = {};
    const u64 begin = cycle_;
    end_ = cycle_;
    try {
      while (one_cycle()) ++cycle_;
    } catch (...) {
      listening_counter = before;
      throw;
    }
    listening_counter = before;
    cycle_ = end_;
    total_.cycles = end_ - begin;
    if (stuck()) {
      waits open;
      open.push_back({wait::reason::held, {0, 0}, -1, "", "something", 1});
      throw deadlock(plan(), open);
    }
    return total_;
  }

  void reopen(pe_state& on, int color, int phase) override {
    note_sends();
    processors_[on.index].script.push_back({step::reopens, static_cast<u64>(phase), color, false});
  }
  void send_control(pe_state& from, int color, const payload_type*, u32 bits) override {
    send_window& out = from.window_of(color);
    *out.room() = bits;
    out.move_to(out.next() + 1);
    *journal++ = static_cast<u32>(color) | 0x100;
  }
  bool start(pe_state& on, transfer& t) override {
    processor& p = processors_[on.index];
    if (t.output >= 0) on.window_of(t.output).close();
    spend(static_cast<u64>(target().operation_setup));
    p.script.push_back({step::starts, 0, 0, false, t});
    return false;
  }
  u64 now(const pe_state& s) const override {
    if (running_ != &s) return cycle_;
    u64 sum = cycle_;
    for (const step& x : processors_[s.index].script)
      sum += x.what == step::computes ? x.value : x.what != step::starts;
    return sum + static_cast<u64>(journal - noted_);
  }

  const oracle_cycles& cycles_of(std::size_t i) const { return processors_[i].spent; }
  u64 link_stalls = 0;

 private:
  // ---- the parts --------------------------------------------------------------------------------

  struct word {
    u32 bits;
    bool control;
    u64 ready;  // the first cycle in which it can be taken
  };
  struct queue {
    std::size_t capacity = 0;
    std::size_t taken_now = 0;  // in this cycle: those places are free in the next
    std::deque<word> words;

    bool has(u64 cycle) const { return !words.empty() && words.front().ready <= cycle; }
    std::size_t room() const { return capacity - words.size() - taken_now; }
  };
  struct virtual_channel {
    int color;
    port from;
    ports to;      // at some time
    int rank = 0;  // the higher go first
    // virtual channels that share an output port, directly or through others, share an arbiter
    std::size_t arbiter = 0;
  };
  struct router {
    coord at;
    std::vector<virtual_channel> virtual_channels;  // by color, then port
    std::vector<std::size_t> turn;
    std::map<int, oracle_switch> router_switches;  // by color
    // by color and port: what came over a link, or from the processor
    std::map<std::pair<int, int>, queue> in;
    std::map<int, queue> down;  // by color: to the processor
  };
  struct step {
    enum { computes, sends, starts, reopens, prioritizes } what;
    u64 value;
    int color;
    bool control;
    transfer op = {};
  };
  struct held {
    memory_operand what;
    bool stays;  // it has been used twice in this place
  };
  struct processor {
    std::deque<host_call> calls;
    std::deque<step> script;
    std::deque<std::pair<int, word>> outbox;  // with their colors
    std::map<int, transfer> threads;          // 0: the main thread's own
    int turn = 0;
    std::list<held> registers[3];  // the descriptors of each role, the newest first
    int of_tasks = 1;              // the main thread's priority; those of microthreads are 0, 2 and 4
    std::map<int, u64> torn_down;  // colors, and from when on their tasks may run
    void* resumes = nullptr;
    const char* task = "";
    u64 ramp_free = 0, kept_until = 0;
    oracle_cycles spent;
    u64 oracle_cycles::* stalled = nullptr;  // in this cycle
  };
  struct supply {
    port side = west;
    std::deque<u32> words;
    std::deque<f64> times;  // when they come, if there is a link

    bool comes(u64 cycle) const { return times.empty() || times.front() <= static_cast<f64>(cycle); }
  };

  // A command of the host writes to PEs of a stream, in their order. Commands come one after the other, and
  // the words of one go to all PEs of the stream in turn.
  void schedule(supply& s, int color, coord c, std::size_t words) {
    const std::vector<coord>& all = entries_.at(color);
    const auto place = std::find(all.rbegin(), all.rend(), c).base() - all.begin() - 1;
    if (color != last_color_ || cycle_ != last_cycle_ || place <= last_place_)
      command_begins_ = std::max(static_cast<f64>(cycle_), link_ends_);
    last_color_ = color, last_cycle_ = cycle_, last_place_ = place;
    const f64 period = 32 / (link_.channels * link_.bits_a_second) * target().clock_hz,
              first =
                  command_begins_ + static_cast<f64>(place + 1) * period + link_.latency * target().clock_hz;
    for (std::size_t i = 0; i < words; ++i)
      s.times.push_back(first + static_cast<f64>(i) * (static_cast<f64>(all.size()) * period));
    if (words > 0)
      link_ends_ = std::max(
          link_ends_,
          command_begins_ +
              static_cast<f64>((words - 1) * all.size() + static_cast<std::size_t>(place) + 1) * period);
  }

  static void destroy(void* waiting) {
    if (waiting) std::coroutine_handle<>::from_address(waiting).destroy();
  }

  void build(std::size_t r) {
    router& here = routers_[r];
    here.at = grid().nth(static_cast<int>(r));
    int sent = 0;
    for (int c = 0; c < max_colors; ++c) {
      const route how = plan().route_at(here.at, c);
      if (!how.from.empty()) here.router_switches.emplace(c, oracle_switch(plan(), here.at, c));
      for (port from : every_port) {
        if (!how.from.has(from)) continue;
        here.virtual_channels.push_back(
            {c, from, how.to,
             from == ramp && plan().path_at(here.at, c) ? plan().path_at(here.at, c)->injects : 0});
        queue& q = here.in[{c, index_of(from)}];
        q.capacity = static_cast<std::size_t>(target().router_depth);
        if (from == ramp)
          q.capacity += static_cast<std::size_t>(output_depth(sent++) + target().ramp_latency);
      }
      if (how.to.has(ramp))
        here.down[c].capacity = static_cast<std::size_t>(input_depth(here.at, c) + target().ramp_latency);
    }
  }
  int output_depth(int nth) const { return target().output_depth[nth % std::min(target().output_queues, 8)]; }
  int input_depth(coord at, int color) {
    const program_image& image = *state_of(*find(at)).image;
    int before = 0;
    for (int c = 0; c < color; ++c) before += ((image.takes | image.reads) & color_bit(c)) != 0;
    return target().input_depth[before % std::min(target().input_queues, 8)];
  }
  static void group(router& r) {
    for (std::size_t i = 0; i < r.virtual_channels.size(); ++i) r.virtual_channels[i].arbiter = i;
    for (bool changed = true; changed;) {
      changed = false;
      for (virtual_channel& a : r.virtual_channels)
        for (virtual_channel& b : r.virtual_channels)
          if ((a.to.bits & b.to.bits) && a.arbiter != b.arbiter)
            a.arbiter = b.arbiter = std::min(a.arbiter, b.arbiter), changed = true;
    }
    r.turn.assign(r.virtual_channels.size(), 0);
  }
  router& router_at(coord c) { return routers_[static_cast<std::size_t>(grid().rank(c))]; }

  // ---- one cycle --------------------------------------------------------------------------------

  bool one_cycle() {
    acted_ = false;
    for (router& r : routers_) {
      for (auto& [k, q] : r.in) q.taken_now = 0;
      for (auto& [k, q] : r.down) q.taken_now = 0;
    }
    for (auto& [where, s] : supplies_) supply_one(where, s);
    for (router& r : routers_) let_through(r);
    for (std::size_t i = 0; i < processors_.size(); ++i) advance(i);
    if (!acted_ && !on_the_way()) return false;
    for (processor& p : processors_)
      if (p.stalled) ++(p.spent.*p.stalled);
    return true;
  }
  void acted(u64 until) { acted_ = true, end_ = std::max(end_, until); }
  bool on_the_way() {
    for (const processor& p : processors_) {
      if (p.kept_until > cycle_) return true;
      for (const auto& [color, from] : p.torn_down)
        if (from > cycle_) return true;
    }
    for (const auto& [where, s] : supplies_)
      if (!s.comes(cycle_)) return true;
    for (router& r : routers_) {
      for (auto& [k, q] : r.in)
        if (!q.words.empty() && q.words.back().ready > cycle_) return true;
      for (auto& [k, q] : r.down)
        if (!q.words.empty() && q.words.back().ready > cycle_) return true;
    }
    return false;
  }

  static void put(queue& q, word w) { q.words.push_back(w); }
  static word take(queue& q) {
    const word w = q.words.front();
    q.words.pop_front();
    ++q.taken_now;
    return w;
  }

  void supply_one(const std::tuple<int, int, int>& where, supply& s) {
    const auto& [color, x, y] = where;
    queue& q = router_at({x, y}).in.at({color, index_of(s.side)});
    if (s.words.empty() || q.room() == 0 || !s.comes(cycle_)) return;
    put(q, {s.words.front(), false, cycle_ + 1});
    s.words.pop_front();
    if (!s.times.empty()) s.times.pop_front();
    ++total_.wavelets;
    acted(cycle_ + 1);
  }

  void let_through(router& r) {
    for (std::size_t b = 0; b < r.virtual_channels.size(); ++b) {
      std::vector<std::size_t> mine;
      for (std::size_t i = 0; i < r.virtual_channels.size(); ++i)
        if (r.virtual_channels[i].arbiter == b) mine.push_back(i);
      if (!mine.empty()) arbitrate(r, mine, r.turn[b]);
    }
  }
  void arbitrate(router& r, const std::vector<std::size_t>& virtual_channels, std::size_t& turn) {
    u8 used = 0;
    std::size_t first = virtual_channels.size();
    for (std::size_t k = 0; k < 3 * virtual_channels.size(); ++k) {
      const std::size_t nth = (turn + k) % virtual_channels.size();
      const virtual_channel& l = r.virtual_channels[virtual_channels[nth]];
      if (l.rank != 1 - static_cast<int>(k / virtual_channels.size())) continue;
      queue& from = r.in.at({l.color, index_of(l.from)});
      oracle_switch& way = r.router_switches.at(l.color);
      if (!from.has(cycle_) || !way.takes(l.from)) continue;
      const ports to = way.outputs(from.words.front().bits, from.words.front().control);
      if ((used & to.bits) || way.passed == cycle_) {
        ++link_stalls;
        continue;
      }
      if (!room_in_all(r, l.color, to)) continue;
      used = static_cast<u8>(used | to.bits);
      if (first == virtual_channels.size()) first = nth;
      cross(r, l.color, way, to, take(from));
    }
    if (first != virtual_channels.size()) turn = (first + 1) % virtual_channels.size();
  }
  queue* behind(router& r, int color, port p) {
    if (p == ramp) return &r.down.at(color);
    const coord next = r.at + wsl::step(p);
    return plan().has(next) ? &router_at(next).in.at(
                                  {plan().path_at(r.at, color)->color_through(p), index_of(opposite(p))})
                            : nullptr;
  }
  bool room_in_all(router& r, int color, ports to) {
    for (port p : every_port) {
      queue* q = to.has(p) ? behind(r, color, p) : nullptr;
      if (q && q->room() == 0) return false;
    }
    return true;
  }
  void cross(router& r, int color, oracle_switch& way, ports to, const word& w) {
    way.passed = cycle_;
    const u32 on = way.pass(w.bits, w.control);
    for (port p : every_port) {
      if (!to.has(p)) continue;
      total_.hops += p != ramp;
      queue* q = behind(r, color, p);
      if (q)
        put(*q, {p == ramp ? w.bits : on, w.control,
                 cycle_ + static_cast<u64>(p == ramp ? target().ramp_latency : 1)});
      else sinks_[{color, r.at.x, r.at.y}].push_back(on);
      total_.delivered += p == ramp || !q;
    }
    if (way.closed()) tell(r.at, color);
    acted(cycle_ + 1);
  }
  void tell(coord at, int color) {
    pe* p = find(at);
    if (p && state_of(*p).image->torn_down[color])
      processors_[state_of(*p).index].torn_down[color] = cycle_ + static_cast<u64>(target().ramp_latency);
  }

  // ---- a PE -------------------------------------------------------------------------------------

  void advance(std::size_t i) {
    processor& p = processors_[i];
    pe_state& s = state_of(tiles_[i]);
    p.stalled = nullptr;
    if (p.kept_until > cycle_) return;
    get_on(p, s);
    take_turns(p, s);
    drain(p, s);
  }
  void take_turns(processor& p, pe_state& s) {
    const int threads = 1 + (p.threads.empty() ? 0 : p.threads.rbegin()->first);
    const int all_threads = std::max(threads, p.turn + 1);
    bool starved = false, held_up = !p.outbox.empty();
    for (int rank = 4; rank >= 0; --rank)
      for (int k = 0; k < all_threads; ++k) {
        const int thread = (p.turn + k) % all_threads;
        if (rank_of(p, thread) != rank || !can_act(p, s, thread, starved, held_up)) continue;
        act(p, s, thread);
        p.turn = thread + 1;
        return;
      }
    p.stalled = starved ? &oracle_cycles::starved : held_up ? &oracle_cycles::held_up : nullptr;
  }

  int rank_of(const processor& p, int thread) const {
    const auto found = p.threads.find(thread);
    if (thread == 0 || found == p.threads.end()) return p.of_tasks;
    const transfer& t = found->second;
    const auto of_machine = t.input[0] >= 0 || t.input[1] >= 0 ? target().reading : target().other;
    return 2 * (t.priority >= 0 ? t.priority : static_cast<int>(of_machine));
  }

  void get_on(processor& p, pe_state& s) {
    for (;;) {
      while (!p.script.empty() && p.script.front().what == step::starts) begin(p, s);
      if (!p.script.empty() || p.threads.count(0)) return;
      if (void* waiting = std::exchange(p.resumes, nullptr)) run_on(s, [=] { resume(waiting); });
      else if (!p.outbox.empty() || !run_next(p, s)) return;
    }
  }
  void begin(processor& p, pe_state& s) {
    const transfer t = p.script.front().op;
    p.script.pop_front();
    if (t.complete()) return finish(p, s, t);
    int k = t.resumes ? 0 : 1;
    while (k > 0 && p.threads.count(k)) ++k;
    p.threads[k] = t;
  }

  bool run_next(processor& p, pe_state& s) {
    if (!p.calls.empty()) {
      const host_call c = p.calls.front();
      p.calls.pop_front();
      return run_task(p, s, *c.entry, c.arguments);
    }
    for (auto torn_down = p.torn_down.begin(); torn_down != p.torn_down.end(); ++torn_down) {
      if (torn_down->second > cycle_) continue;
      const binding& task = *s.image->torn_down[torn_down->first];
      p.torn_down.erase(torn_down);
      return run_task(p, s, task, nullptr);
    }
    bool hurry = s.image->urgent_colors != 0;
    for (int id = 0; id < s.image->locals; ++id)
      if (s.image->local[id]->urgent && (s.active & local_bit(id)) && !(s.blocked & local_bit(id)))
        hurry = false;
    if (hurry && take_first(p, s, true)) return true;
    for (int id = 0; id < s.image->locals; ++id)
      if ((s.active & local_bit(id)) && !(s.blocked & local_bit(id))) {
        const u32 own_bit = local_bit(id);
        s.active &= ~own_bit;
        return run_task(p, s, *s.image->local[id], &own_bit);
      }
    return take_first(p, s, false);
  }
  bool take_first(processor& p, pe_state& s, bool only_urgent) {
    for (auto& [color, q] : router_at({s.x, s.y}).down) {
      if (!q.has(cycle_) || (only_urgent && !(s.image->urgent_colors & color_bit(color)))) continue;
      const binding* b = q.words.front().control
                             ? s.image->control_with(control_word{q.words.front().bits}.id())
                             : s.image->data[color];
      if (!b || (!q.words.front().control && (s.blocked_colors & color_bit(color)))) continue;
      const u32 bits = take(q).bits;
      return run_task(p, s, *b, &bits);
    }
    return false;
  }

  queue& input(pe_state& s, int color) { return router_at({s.x, s.y}).down.at(color); }
  queue& output(pe_state& s, int color) { return router_at({s.x, s.y}).in.at({color, index_of(ramp)}); }

  bool can_act(processor& p, pe_state& s, int thread, bool& starved, bool& held_up) {
    if (thread == 0 && !p.script.empty()) return true;
    const auto found = p.threads.find(thread);
    if (found == p.threads.end()) return false;
    for (int color : found->second.input)
      if (color >= 0 && !(input(s, color).has(cycle_) && !input(s, color).words.front().control)) {
        starved = true;
        return false;
      }
    if (const transfer& t = found->second; t.allowed() == 0) {
      (t.pops && t.pops->size == 0 ? starved : held_up) = true;
      return false;
    }
    bool behind_sends = false;
    for (const auto& [color, w] : p.outbox) behind_sends = behind_sends || color == found->second.output;
    const int out = found->second.output;
    if (out < 0 || (!behind_sends && output(s, out).room() > 0 && !mates_occupy(s, out))) return true;
    held_up = true;
    return false;
  }

  void act(processor& p, pe_state& s, int thread) {
    p.kept_until = cycle_ + 1;
    if (thread == 0 && !p.script.empty()) {
      step& x = p.script.front();
      if (x.what == step::sends) p.outbox.push_back({x.color, {static_cast<u32>(x.value), x.control, 0}});
      if (x.what == step::prioritizes) p.of_tasks = 1 + static_cast<int>(x.value);
      if (x.what == step::reopens)
        router_at({s.x, s.y}).router_switches.at(x.color).open(static_cast<int>(x.value));
      if (x.what != step::computes || --x.value == 0) p.script.pop_front();
      ++p.spent.tasks;
    } else {
      move(p, s, thread);
    }
    acted(p.kept_until);
  }
  // Words of another color are in the output queue that a color shares with it, or have left it only now.
  bool mates_occupy(pe_state& s, int color) {
    for (int mate = 0; mate < max_colors; ++mate)
      if (s.image->sharing_queue_with(color) & s.image->present & color_bit(mate))
        if (const queue& q = output(s, mate); !q.words.empty() || q.taken_now > 0) return true;
    return false;
  }
  void drain(processor& p, pe_state& s) {
    if (p.outbox.empty() || output(s, p.outbox.front().first).room() == 0 ||
        mates_occupy(s, p.outbox.front().first))
      return;
    const auto [color, w] = p.outbox.front();
    p.outbox.pop_front();
    put_out(p, s, color, w.bits, w.control);
    acted(cycle_ + 1);
  }
  void put_out(processor& p, pe_state& s, int color, u32 bits, bool control) {
    const u64 ready = std::max(cycle_ + 1 + static_cast<u64>(target().ramp_latency), p.ramp_free);
    p.ramp_free = ready + 1;
    put(output(s, color), {bits, control, ready});
    ++total_.wavelets;
  }

  void move(processor& p, pe_state& s, int thread) {
    transfer& t = p.threads.at(thread);
    std::size_t n = static_cast<std::size_t>(timing::fabric_width(target(), t.cost));
    n = static_cast<std::size_t>(std::min<u64>(n, t.length - t.done));
    for (int color : t.input) {
      if (color < 0) continue;
      std::size_t there = 0;
      for (const word& w : input(s, color).words) {
        if (w.ready > cycle_ || w.control) break;
        ++there;
      }
      n = std::min(n, there);
    }
    if (t.output >= 0) n = std::min(n, output(s, t.output).room());
    n = std::min<std::size_t>(n, t.allowed());
    for (std::size_t k = 0; k < n; ++k) {
      u32 in[2] = {}, out = 0;
      for (int j = 0; j < 2; ++j)
        if (t.input[j] >= 0) in[j] = take(input(s, t.input[j])).bits;
      const u32* inputs[2] = {&in[0], &in[1]};
      t.move_elements(inputs, &out, 1);
      if (t.output >= 0) put_out(p, s, t.output, out, false);
    }
    const u64 hold = timing::fabric_cycles(target(), t.cost);
    p.kept_until = cycle_ + hold;
    p.spent.operations += hold;
    if (!t.complete()) return;
    const transfer complete = t;
    p.threads.erase(thread);
    finish(p, s, complete);
  }
  void finish(processor& p, pe_state& s, const transfer& t) {
    if (t.activates >= 0) s.active |= local_bit(t.activates);
    if (t.unblocks >= 0) s.blocked &= ~local_bit(t.unblocks);
    if (t.unblocks_color >= 0) s.blocked_colors &= ~color_bit(t.unblocks_color);
    if (t.signals) ++t.signals->size;
    if (t.resumes) p.resumes = t.resumes;
  }

  // ---- tasks ------------------------------------------------------------------------------------

  bool run_task(processor& p, pe_state& s, const binding& b, const void* input) {
    ++total_.tasks;
    acted_ = true;
    p.script.push_back({step::computes, static_cast<u64>(target().task_start), 0, false});
    run_on(s, [&] {
      spend(b.cycles);
      b.run(s.memory(), tiles_[s.index], input, 1);
    });
    return true;
  }
  template <class F>
  void run_on(pe_state& s, F f) {
    journal = journal_.data();
    noted_ = journal;
    s.sends_at_most = sends_of_a_task;
    for (int color = 0; color < max_colors; ++color) {
      if (!(s.image->present & color_bit(color))) continue;
      send_window& c = windows_[s.image->slot[color]];
      c.move_to(0);
      c.open(0);
      sent_[s.image->slot[color]] = 0;
    }
    running_ = &s;
    f();
    note_sends();
    forget_local_arrays();
    running_ = nullptr;
  }
  /// A descriptor of what is no member of the program is of no use to the next task: it is replaced first.
  void forget_local_arrays() {
    const auto begin = reinterpret_cast<std::uintptr_t>(running_->memory());
    for (std::list<held>& file : processors_[running_->index].registers) {
      const auto is_member = [&](const held& h) {
        return h.what.length < 0 || (h.what.first >= begin && h.what.first < begin + running_->image->stride);
      };
      std::list<held> forgotten;
      for (auto it = file.begin(); it != file.end();) {
        const auto next = std::next(it);
        if (!is_member(*it)) it->what.length = -1, forgotten.splice(forgotten.begin(), file, it);
        it = next;
      }
      file.splice(file.end(), forgotten);
    }
  }
  void note_sends() {
    for (; noted_ != journal; ++noted_) {
      const auto color = static_cast<int>(*noted_ & 0xff);
      const u16 slot = running_->image->slot[color];
      processors_[running_->index].script.push_back(
          {step::sends, windows_[slot].words[sent_[slot]++], color, (*noted_ & 0x100) != 0});
    }
  }
  void spend(u64 cycles) override {
    if (!running_ || cycles == 0) return;
    note_sends();
    processors_[running_->index].script.push_back({step::computes, cycles, 0, false});
  }
  void execute(instruction what) override { spend(timing::cycles(target(), what)); }
  void describe(const memory_operand& d) override {
    if (!running_) return;
    std::list<held>& file = processors_[running_->index].registers[static_cast<int>(d.as)];
    const auto first_that = [&](auto is) { return std::find_if(file.begin(), file.end(), is); };
    const auto alike = [&](const held& h) { return h.what.length == d.length && h.what.step == d.step; };
    auto it = first_that([&](const held& h) { return alike(h) && h.what.first == d.first; });
    const bool again = it != file.end();
    if (!again)
      it = first_that([&](const held& h) {
        return alike(h) && !h.stays &&
               h.what.first + static_cast<std::uintptr_t>(d.step * d.length) == d.first;
      });
    if (it == file.end()) {
      const auto begin = reinterpret_cast<std::uintptr_t>(running_->memory());
      const bool is_member = d.first >= begin && d.first < begin + running_->image->stride,
                 replaces = file.size() == static_cast<std::size_t>(target().descriptor_registers) ||
                            (!file.empty() && file.back().what.length < 0);
      if (replaces) file.pop_back();
      if (replaces || !is_member) spend(static_cast<u64>(target().descriptor_load));
    }
    if (it != file.end()) file.erase(it);
    file.push_front({d, again});
  }
  void prioritize(main_priority of_tasks) override {
    note_sends();
    processors_[running_->index].script.push_back({step::prioritizes, static_cast<u64>(of_tasks), 0, false});
  }
  void operate(const operation_cost& what, u64 elements) override {
    spend(static_cast<u64>(target().operation_setup) + timing::cycles(target(), what, elements));
  }

  // ---- the end ----------------------------------------------------------------------------------

  bool stuck() {
    for (router& r : routers_) {
      for (auto& [k, q] : r.in)
        if (!q.words.empty()) return true;
      for (auto& [k, q] : r.down)
        if (!q.words.empty()) return true;
    }
    for (auto& [where, s] : supplies_)
      if (!s.words.empty()) return true;
    for (std::size_t i = 0; i < processors_.size(); ++i) {
      const pe_state& s = state_of(tiles_[i]);
      if (s.active & s.blocked) return true;
      if (!processors_[i].outbox.empty()) return true;
      for (const auto& [k, t] : processors_[i].threads)
        if (!t.may_idle()) return true;
    }
    return false;
  }

  resolved_routes routes_;
  tiles tiles_;
  std::vector<router> routers_;
  std::vector<processor> processors_;
  std::map<std::tuple<int, int, int>, supply> supplies_;
  std::map<std::tuple<int, int, int>, std::deque<u32>> sinks_;
  wsl::host_link link_;
  std::map<int, std::vector<coord>> entries_;  // of inbound streams, by color
  f64 command_begins_ = 0, link_ends_ = 0;
  int last_color_ = -1;
  u64 last_cycle_ = 0;
  std::ptrdiff_t last_place_ = 0;
  send_window windows_[max_colors];
  std::vector<u32> words_;
  std::vector<u32> journal_;
  send_order order_;
  u32*& journal = order_.next;
  pe_state* running_ = nullptr;
  const u32* noted_ = nullptr;
  u32 sent_[max_colors] = {};
  u64 cycle_ = 0, end_ = 0;
  bool acted_ = false;
  outcome total_;
};

}  // namespace law
