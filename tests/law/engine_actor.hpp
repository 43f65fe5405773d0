// SPDX-License-Identifier: MIT
// A PE program that interprets a small script in its memory, so that random programs need no new C++ types.
// Its results do not depend on the order in which wavelets of different colors arrive: each color has a state
// of its own and is sent by one part of the program only. A script that asks for races adds a state that
// every part changes.
#pragma once
#include <bit>
#include <new>
#include <span>
#include <vector>

#include <wsl/fabric/fabric.hpp>
#include <wsl/layout/injection.hpp>
#include <wsl/layout/swaps.hpp>
#include <wsl/program/counted.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/ops.hpp>

namespace law {

using namespace wsl;
using namespace wsl::detail;
using namespace wsl::engines;

inline constexpr int colors = 8, max_jobs = 6, max_fifos = 2;  // a job with a FIFO takes two microthreads

/// Colors 0 to 5 carry u32, 6 two halves, 7 a half word.
enum class payload_class { word, pair, half };
constexpr payload_class class_of(int color) {
  return color < 6 ? payload_class::word : color == 6 ? payload_class::pair : payload_class::half;
}
using pair_of_halves = halves<u16>;
template <int k>
using payload_of = std::conditional_t<(k < 6), u32, std::conditional_t<k == 6, pair_of_halves, u16>>;
template <int k>
inline constexpr color<payload_of<k>> color_v{k};

/// The events that start a job: the launch, the end of another job, the last word of an ear, or the join of
/// two jobs.
inline constexpr int at_launch = 0, after_job = 1, after_ear = after_job + max_jobs,
                     after_join = after_ear + colors;

struct view {
  int offset = 0, stride = 1;
  bool reversed = false;
};

/// A series of sends, or an operation with fabric operands, and how it begins and ends.
struct job {
  enum kind : u8 {
    say,  // one send after the other
    copy_out,
    map_out,
    fill_out,  // memory or a scalar to fabric
    copy_in,
    add_in,
    mac_in,
    map_in,  // fabric to memory
    sum_in,
    fold_in,
    last_in,  // fabric to a scalar
    relay,
    relay_map,  // fabric to fabric
    add_both,
    sub_both,
    fold_both,
    relay_both,  // two colors to memory, a scalar, fabric
    // fabric, or memory, through a FIFO to fabric; fabric through one to memory
    relay_fifo,
    fill_fifo,
    drain_fifo,
  };
  kind what = say;
  int after = at_launch;
  int in[2] = {-1, -1}, out = -1;
  int n = 0;
  view where = {};
  u32 factor = 1, plus = 0;
  int control_every = 0;  // say: a control wavelet after so many words
  bool waits = false;     // the launch waits for it
  int joins = 0;          // its end activates (1) or unblocks (2) the join
  int opens = -1;         // its end unblocks the ear of this color
  int queue = -1;         // its FIFO
};

/// The words that an ear sends for every word that it hears, or for every n-th.
struct forward {
  int out = -1, every = 1, copies = 1, control_every = 0;
  u32 factor = 1, plus = 0;
};

/// A data task of one color.
struct ear {
  int expected = 0;
  forward on[2];
  int pause_every = 0;  // blocks itself after so many words, and a local task lets it go on
  bool held = false;    // closed until a job opens it
};

struct script {
  std::vector<job> jobs;
  ear ears[colors];
  int words = 0;  // of memory
  bool races = false;
};

constexpr u32 mixed(u32 state, u32 x) { return (state ^ x) * 0x9e3779b1u + (state >> 15); }

struct actor {
  const script* what = nullptr;
  std::vector<u32> words;
  fifo<u32, 5> queues[max_fifos];
  u32 heard[colors] = {}, hash[colors] = {}, steered[colors] = {}, total[max_jobs] = {}, ends[max_jobs] = {};
  u32 race = 0, joins = 0;
  u32 scratch[64] = {1, 2, 3, 4, 5, 6, 7, 8};
  u32 thought = 0;  // computed beside the tasks when the first job has ended
  u32 times = 0;    // a hash of the clock: no part of the digest, because engines differ in it
  u32 events = 0;   // the events that have happened and started nothing yet; bit 0: the launch still runs

  task launched(pe& me) {
    begin_round(me);
    events = 1;
    for (int i = 0; i < jobs(); ++i) {
      const job& j = what->jobs[static_cast<std::size_t>(i)];
      if (j.after != at_launch) continue;
      if (!j.waits) start(me, j, i);
      else if (j.what == job::copy_in) co_await mov(part(j), fabin(word(j.in[0])));
      else if (j.what == job::sum_in) co_await add(&total[i], j.plus, fabin(word(j.in[0]), j.n));
      else if (j.what == job::relay)
        co_await mul(fabout(word(j.out), j.n), fabin(word(j.in[0]), j.n), j.factor);
      else if (j.what == job::add_both) co_await add(part(j), fabin(word(j.in[0])), fabin(word(j.in[1])));
      else co_await mov(fabout(word(j.out)), part(j));
      if (j.waits) ++ends[i];
    }
    events &= ~u32{1};
    if (events) me.activate<&actor::pump>();
  }

  /// Starts the jobs that events have made ready.
  void pump(pe& me) {
    while (events) {
      const int event = std::countr_zero(events);
      events &= events - 1;
      for (int i = 0; i < jobs(); ++i)
        if (const job& j = what->jobs[static_cast<std::size_t>(i)]; j.after == event) start(me, j, i);
    }
  }
  void joined(pe& me) {
    ++joins;
    me.block<&actor::joined>();
    happened(me, after_join);
  }
  template <int i>
  void finished(pe& me) {
    if (i == 0 && what->jobs[0].factor % 2)
      return me.async_compute<&actor::ponder>(*this, then<&actor::pondered>());
    ++ends[i];
    happened(me, after_job + i);
  }
  void ponder() {
    for (int k = 0; k < 100; ++k) thought = mixed(thought, what->jobs[0].factor);
  }
  void pondered(pe& me) {
    ++ends[0];
    happened(me, after_job);
  }

  template <int k>
  void hear(pe& me, payload_of<k> x) {
    listen<k>(me, to_bits(x));
  }
  void hear_halves(pe& me, u16 data, u16 index) { listen<6>(me, to_bits(pair_of_halves{data, index})); }
  template <int k>
  void reopen(pe& me) {
    me.unblock<color_v<k>>();
  }
  template <int k>
  void steer(pe&, u16 data) {
    stir(data);
    steered[k] = mixed(steered[k], data + (heard[k] << 16));
  }

  /// A hash of everything that a run can have changed.
  u32 digest() const {
    u32 d = what->races ? race : 0;
    for (u32 w : words) d = mixed(d, w);
    for (int k = 0; k < colors; ++k) d = mixed(mixed(mixed(d, heard[k]), hash[k]), steered[k]);
    for (int i = 0; i < max_jobs; ++i) d = mixed(mixed(d, total[i]), ends[i]);
    for (u32 w : scratch) d = mixed(d, w);
    return mixed(mixed(d, joins), thought);
  }

  template <int k>
  using reopening = local<&actor::reopen<k>>;
  template <int k>
  using steering = control<k, &actor::steer<k>>;
  template <int k>
  using reading = reads<color_v<k>>;
  template <int k>
  using sending = sends<color_v<k>>;
  template <int k>
  using ending = local<&actor::finished<k>>;
  template <int k>
  using hearing = on<color_v<k>, &actor::hear<k>>;
  using tasks =
      task_list<launch<&actor::launched>, numbered<6, ending>, local<&actor::pump>,
                local<&actor::joined, blocked>, local<&actor::pondered>, numbered<colors, reopening>,
                numbered<colors, steering>, numbered<6, hearing>, on<color_v<6>, &actor::hear_halves>,
                on<color_v<7>, &actor::hear<7>>, numbered<colors, reading>, numbered<colors, sending>>;

 private:
  int jobs() const { return static_cast<int>(what->jobs.size()); }
  static color<u32> word(int c) { return {c}; }
  static color<u16> half(int c) { return {c}; }
  static color<pair_of_halves> pair(int c) { return {c}; }

  void stir(u32 x) {
    if (what->races) race = mixed(race, x);
  }
  void happened(pe& me, int event) {
    stir(static_cast<u32>(event));
    times = mixed(times, static_cast<u32>(me.now()));
    events |= 1u << event;
    if (!(events & 1)) me.activate<&actor::pump>();
  }

  void begin_round(pe& me) {
    for (u32& h : heard) h = 0;
    for_colors([&]<int k>() {
      if (what->ears[k].held) me.block<color_v<k>>();
    });
  }
  template <class Use>
  static void for_colors(Use use) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (use.template operator()<k>(), ...);
    }(std::make_integer_sequence<int, colors>{});
  }

  template <int k>
  void listen(pe& me, u32 x) {
    const ear& e = what->ears[k];
    stir(x + k);
    me.spend(x % 4);
    times = mixed(times, static_cast<u32>(me.now()));
    hash[k] = mixed(hash[k], x);
    const int n = static_cast<int>(++heard[k]);
    for (const forward& f : e.on)
      if (f.out >= 0 && n % f.every == 0) pass_on(me, f, x, n / f.every);
    if (e.pause_every && n % e.pause_every == 0) me.block<color_v<k>>(), me.activate<&actor::reopen<k>>();
    if (n == e.expected) happened(me, after_ear + k);
  }

  void pass_on(pe& me, const forward& f, u32 x, int nth) {
    for (int i = 0; i < f.copies; ++i) send(me, f.out, x * f.factor + f.plus + static_cast<u32>(i) + race);
    if (f.control_every && nth % f.control_every == 0) steer_others(me, f.out, nth);
  }
  void send(pe& me, int c, u32 x) {
    switch (class_of(c)) {
      case payload_class::word: return me.send(word(c), x);
      case payload_class::pair: return me.send(pair(c), from_bits<pair_of_halves>(x));
      case payload_class::half: return me.send(half(c), static_cast<u16>(x));
    }
  }
  void steer_others(pe& me, int c, int nth) {
    const auto data = static_cast<u16>(nth);
    switch (class_of(c)) {
      case payload_class::word: return me.send_control(word(c), c, data);
      case payload_class::pair: return me.send_control(pair(c), c, data);
      case payload_class::half: return me.send_control(half(c), c, data);
    }
  }

  memory<u32> part(const job& j) {
    const memory<u32> all_of_it =
        mem(std::span<u32>(words)).part(j.where.offset, j.n * j.where.stride).every(j.where.stride);
    return j.where.reversed ? all_of_it.reversed() : all_of_it;
  }

  // Sweeps, repeats and jumps over an array, with more descriptors than a machine has registers for; a part
  // of the sums goes by an array of the task.
  void compute_in_memory(const job& j) {
    u32 own[8];
    for (u32 k = 0; k < j.factor % 50; ++k) {
      const u32 places[] = {k * 8 % 24, k / 3 % 24, k * k % 24};
      const int at = static_cast<int>(places[j.plus % 3]);
      add(mem(scratch).part(at, 8), mem(scratch).part(at, 8), mem(scratch).part(static_cast<int>(k % 24), 8));
      if (k % 7 == j.plus % 7)
        mov(mem(own), mem(scratch).part(at, 8)), mov(mem(scratch).part(at, 8), mem(own));
      if (k % 5 == 0) scratch[k] = (wsl::counted<u32>(scratch[k]) * j.factor + j.plus).value();
    }
  }

  void start(pe& me, const job& j, int i) {
    stir(static_cast<u32>(i));
    if (j.what == job::say) return say(me, j, i);
    const payload_class c = class_of(j.in[0] >= 0 ? j.in[0] : j.out);
    if (c == payload_class::pair) return start_on_pairs(me, j, i);
    if (c == payload_class::half) return start_on_halves(me, j, i);
    start_on_words(me, j, i);
  }

  void say(pe& me, const job& j, int i) {
    me.set_main_priority(static_cast<main_priority>(j.plus % 4));
    compute_in_memory(j);
    for (int n = 1; n <= j.n; ++n) {
      send(me, j.out, static_cast<u32>(n) * j.factor + j.plus + race);
      if (j.control_every && n % j.control_every == 0) steer_others(me, j.out, n);
    }
    ++ends[i];
    happened(me, after_job + i);
  }

  static completion finish(int i) {
    switch (i) {
      case 0: return then<&actor::finished<0>>();
      case 1: return then<&actor::finished<1>>();
      case 2: return then<&actor::finished<2>>();
      case 3: return then<&actor::finished<3>>();
      case 4: return then<&actor::finished<4>>();
      default: return then<&actor::finished<5>>();
    }
  }
  template <class Operation>
  void begin(pe& me, const Operation& op, const job& j, int i) {
    const completion done = j.joins == 1   ? then<&actor::joined>()
                            : j.joins == 2 ? unblocks<&actor::joined>()
                                           : finish(i);
    const completion opens =
        j.opens >= 0 ? completion{completion::effect::unblock_color, j.opens} : then_nothing;
    if (j.factor % 4 == 3) me.async(op, done, opens);  // with the machine's priority
    else me.async(op, done, opens, static_cast<priority>(j.factor % 4));
  }

  void start_on_words(pe& me, const job& j, int i) {
    const auto in = fabin(word(j.in[0]), j.n), other = fabin(word(j.in[1]), j.n);
    const auto out = fabout(word(j.out), j.n);
    const u32 f = j.factor, p = j.plus;
    const auto linear = [f, p](u32 x) { return x * f + p; };
    const auto fold = [](u32 a, u32 x) { return mixed(a, x); };
    switch (j.what) {
      case job::say: return;
      case job::copy_out: return begin(me, mov(out, part(j)), j, i);
      case job::map_out: return begin(me, map_each(linear, out, part(j)), j, i);
      case job::fill_out: return begin(me, mov(out, p), j, i);
      case job::copy_in: return begin(me, mov(part(j), in), j, i);
      case job::add_in: return begin(me, add(part(j), part(j), in), j, i);
      case job::mac_in: return begin(me, fmac(part(j), part(j), in, f), j, i);
      case job::map_in: return begin(me, map_each(linear, part(j), in), j, i);
      case job::sum_in: return begin(me, add(&total[i], p, in), j, i);
      case job::fold_in: return begin(me, map_each(fold, &total[i], p, in), j, i);
      case job::last_in: return begin(me, mov(&total[i], in), j, i);
      case job::relay: return begin(me, mul(out, in, f), j, i);
      case job::relay_map: return begin(me, map_each(linear, out, in), j, i);
      case job::add_both: return begin(me, add(part(j), in, other), j, i);
      case job::sub_both: return begin(me, sub(part(j), in, other), j, i);
      case job::fold_both:
        return begin(
            me, map_each([](u32 a, u32 x, u32 y) { return mixed(a, x - 3 * y); }, &total[i], p, in, other), j,
            i);
      case job::relay_both: return begin(me, sub(out, in, other), j, i);
      case job::relay_fifo:
      case job::fill_fifo:
      case job::drain_fifo: return start_on_fifo(me, j, i);
    }
  }
  void start_on_fifo(pe& me, const job& j, int i) {
    fifo<u32, 5>& q = queues[j.queue];
    if (j.what == job::fill_fifo) me.async(mul(into(q), part(j), j.plus));
    else me.async(mul(into(q, j.n), fabin(word(j.in[0]), j.n), j.plus), microthread{i});
    if (j.what == job::drain_fifo) begin(me, fmac(part(j), part(j), out_of(q), j.factor), j, i);
    else begin(me, mul(fabout(word(j.out), j.n), out_of(q), j.factor), j, i);
  }
  void start_on_pairs(pe& me, const job& j, int i) {
    const auto in = fabin(pair(j.in[0]), j.n);
    const auto out = fabout(pair(j.out), j.n);
    const u32 f = j.factor;
    const auto bits = [f](pair_of_halves x) { return to_bits(x) * f; };
    const auto halves_of = [f](u32 x) { return from_bits<pair_of_halves>(x * f); };
    const auto fold = [](u32 a, pair_of_halves x) { return mixed(a, to_bits(x)); };
    if (j.in[0] < 0) begin(me, map_each(halves_of, out, part(j)), j, i);
    else if (j.what == job::fold_in) begin(me, map_each(fold, &total[i], j.plus, in), j, i);
    else begin(me, map_each(bits, part(j), in), j, i);
  }
  void start_on_halves(pe& me, const job& j, int i) {
    const auto in = fabin(half(j.in[0]), j.n);
    const auto out = fabout(half(j.out), j.n);
    if (j.in[0] < 0) begin(me, mov(out, part(j)), j, i);
    else if (j.what == job::fold_in) begin(me, add(&total[i], j.plus, in), j, i);
    else begin(me, mov(part(j), in), j, i);
  }
};

/// The task list of an actor that takes and sends these colors, each taken by a task or by descriptors; some
/// of the tasks are urgent, some of the local ones long-running.
inline std::vector<binding> table_for(u64 hears, u64 reads_them, u64 sends_them, u64 urgent_ones,
                                      u64 lengthy_ones) {
  std::vector<binding> t;
  for (const binding& b : table_of<actor>.entries) {
    const u64 wanted = b.what == role::data   ? hears
                       : b.what == role::read ? reads_them
                       : b.what == role::send ? sends_them
                                              : ~u64{0};
    if (!(wanted & color_bit(b.id))) continue;
    t.push_back(b);
    t.back().urgent = b.what == role::data && (urgent_ones & color_bit(b.id));
    if (b.runs()) t.back().cycles = static_cast<u32>((hears + static_cast<u64>(b.id)) % 4);
    t.back().long_running = b.what == role::local && (lengthy_ones & local_bit(b.id));
  }
  return t;
}

inline program program_for(const std::vector<binding>& t) {
  program p = program_v<actor>;
  p.table = t.data();
  p.entries = static_cast<int>(t.size());
  return p;
}

inline actor& actor_at(fabric& f, coord c) {
  engines::engine& e = f.engine_in_use();
  return *static_cast<actor*>(e.host_memory(*e.find(c)));
}

}  // namespace law
