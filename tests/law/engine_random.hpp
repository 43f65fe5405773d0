// SPDX-License-Identifier: MIT
// Random programs that end: random flows (engine_flows.hpp), and the tasks and operations that take their
// words. It is known which programs queues that are too short can still stop: see `mode`.
#pragma once
#include <deque>

#include "engine_flows.hpp"

namespace law {

using namespace wsl::detail;

/// The promise that a random program ends.
enum class mode {
  /// ends whatever the depth of the queues is: no part of it waits for words while others wait for it to take
  /// theirs
  robust,
  light,  ///< ends where 256 words fit between a sender and a receiver
  heavy,  ///< may be stopped by queues
};

class random_program : public random_flows {
 public:
  random_program(unsigned seed, bool races) : random_flows(seed, races) {
    for (int i = 0; i < w_ * h_; ++i) take_the_rest(i);
    if (chance(30)) let_launches_wait();
    classify();
    build();
  }

  const layout& plan() const { return plan_; }
  mode promise() const { return promise_; }

 private:
  // ---- the receivers of words -------------------------------------------------------------------

  void take_the_rest(int i) {
    const coord at{i % w_, i / w_};
    for (auto& [k, in] : inlets_[place(at)]) {
      if (heard_[k]) listen(at, k, in);
      else read_rest(at, k, in);
    }
  }

  void listen(coord at, int k, const cursor& in) {
    ear& e = script_of(at).ears[k];
    e.expected = in.words;
    if (chance(10)) e.pause_every = 1 + below(in.words);
    std::vector<job>& jobs = script_of(at).jobs;
    if (jobs.empty() || in.forwarded || !chance(15)) return;
    job& opener = jobs[static_cast<std::size_t>(below(static_cast<int>(jobs.size())))];
    if (opener.what == job::say || opener.after != at_launch || opener.in[0] >= 0 || opener.opens >= 0)
      return;
    opener.opens = k;
    e.held = true;
  }

  void read_rest(coord at, int k, cursor& in) {
    if (in.taken == in.words) return;
    const int other = chance(50) && class_of(k) == payload_class::word ? partner(k, at) : -1;
    if (other >= 0) return void(take(at, reader_of_two(at, k, other, in.words)));
    const bool split = in.words > 1 && chance(20) && room_for_job(at);
    const int first = split ? 1 + below(in.words - 1) : in.words;
    const int id = take(at, reader(at, k, first));
    if (!split) return join_up(at, id);
    job rest = reader(at, k, in.words - first);
    rest.after = after_job + id;
    take(at, rest);
  }

  job reader(coord at, int k, int n) {
    job j{.in = {k, -1}, .n = n, .factor = static_cast<u32>(random_()), .plus = static_cast<u32>(random_())};
    constexpr job::kind kinds[] = {job::copy_in, job::add_in, job::mac_in, job::map_in,
                                   job::fold_in, job::sum_in, job::last_in};
    j.what = class_of(k) == payload_class::word ? kinds[below(7)] : chance(50) ? job::copy_in : job::fold_in;
    if (j.what != job::fold_in && j.what != job::sum_in && j.what != job::last_in)
      j.where = own_memory(at, n);
    if (j.what == job::mac_in && chance(40)) give_fifo(at, j, job::drain_fifo);
    return j;
  }
  job reader_of_two(coord at, int k, int other, int n) {
    constexpr job::kind kinds[] = {job::add_both, job::sub_both, job::fold_both};
    job j{.what = kinds[below(3)], .in = {k, other}, .n = n, .plus = static_cast<u32>(random_())};
    if (j.what != job::fold_both) j.where = own_memory(at, n);
    return j;
  }

  // Two jobs of the launch meet in a task that one activates and the other unblocks.
  void join_up(coord at, int id) {
    std::vector<job>& jobs = script_of(at).jobs;
    if (joined_.count(place(at)) || !chance(30)) return;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const bool free = jobs[i].what != job::say && jobs[i].after == at_launch &&
                        !starts_something(at, static_cast<int>(i));
      if (static_cast<int>(i) == id || !free || starts_something(at, id)) continue;
      jobs[i].joins = 1, jobs[static_cast<std::size_t>(id)].joins = 2;
      joined_.insert({place(at), true});
      return;
    }
  }
  bool starts_something(coord at, int id) {
    for (const job& j : script_of(at).jobs)
      if (j.after == after_job + id) return true;
    return false;
  }

  // Where the launch starts everything and tasks pass nothing on, the launch may wait for its operations in
  // their order.
  void let_launches_wait() {
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      bool may = chance(50);
      for (const job& j : scripts_[i].jobs) may = may && j.after == at_launch && j.joins == 0 && j.opens < 0;
      for (const auto& [k, in] : inlets_[i]) may = may && !in.forwarded && !in.steered;
      for (job& j : scripts_[i].jobs) {
        const int c = j.in[0] >= 0 ? j.in[0] : j.out;
        const bool awaitable = j.what == job::copy_in || j.what == job::sum_in || j.what == job::relay ||
                               j.what == job::add_both || j.what == job::copy_out;
        if (!may || !awaitable || class_of(c) != payload_class::word || !chance(70)) continue;
        j.waits = waits_ = true;
      }
    }
  }

  // ---- the promise ------------------------------------------------------------------------------

  // A sender that waits for room waits for the processor, or the operation, that takes its words. If the
  // graph of these waits has no cycle, no program can stop in one.
  std::size_t processor(int at) const { return static_cast<std::size_t>(at) * (max_jobs + 1); }
  std::size_t node(int at, int by_job) const { return processor(at) + static_cast<std::size_t>(by_job + 1); }

  void classify() {
    bool robust = !waits_ && !races_, light = true;
    std::vector<std::vector<std::size_t>> waits_for(processor(w_ * h_));
    for (const flow& f : flows_)
      for (const auto& [c, color] : f.receivers) {
        const cursor& in = inlets_[place(c)][color];
        light = light && in.words * (in.steered ? 2 : 1) <= 250;
        const int at = static_cast<int>(place(c));
        if (f.from >= 0 && in.jobs.empty()) waits_for[node(f.from, f.by_job)].push_back(processor(at));
        for (int j : in.jobs) {
          if (f.from >= 0) waits_for[node(f.from, f.by_job)].push_back(node(at, j));
          if (in.steered || in.jobs.size() > 1) waits_for[node(at, j)].push_back(processor(at));
        }
      }
    for (const script& s : scripts_) {
      for (const ear& e : s.ears) robust = robust && !e.held;
      for (const job& j : s.jobs)
        robust = robust && j.in[1] < 0 && (j.in[0] < 0 || j.after == at_launch || split(s, j));
    }
    robust = robust && !circular(waits_for);
    promise_ = robust ? mode::robust : light ? mode::light : mode::heavy;
  }
  static bool split(const script& s, const job& j) {
    return j.after >= after_job && j.after < after_ear &&
           s.jobs[static_cast<std::size_t>(j.after - after_job)].in[0] == j.in[0];
  }
  static bool circular(const std::vector<std::vector<std::size_t>>& next) {
    std::vector<int> degree(next.size());
    for (const auto& to : next)
      for (std::size_t t : to) ++degree[t];
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < next.size(); ++i)
      if (degree[i] == 0) free.push_back(i);
    for (std::size_t k = 0; k < free.size(); ++k)
      for (std::size_t t : next[free[k]])
        if (--degree[t] == 0) free.push_back(t);
    return free.size() < next.size();
  }

  // ---- the layout -------------------------------------------------------------------------------

  void build() {
    plan_ = layout{machine_, w_ * tiles_x_, h_ * tiles_y_};
    for (int i = 0; i < w_ * h_; ++i) place_program({i % w_, i / w_});
    for (int c = 0; c < colors; ++c)
      for (int i = 0; i < w_ * h_; ++i)
        if (const cell& k = cells_[static_cast<std::size_t>(c)][static_cast<std::size_t>(i)]; k.used())
          add_path(c, {i % w_, i / w_}, k);
    for (const stream_flow& s : in_) add_stream(s, true);
    for (const stream_flow& s : out_) add_stream(s, false);
  }
  region everywhere(coord c) const { return {c.x, w_ * tiles_x_, c.y, h_ * tiles_y_, w_, h_}; }

  void place_program(coord at) {
    u64 hears = 0, reads_them = 0, sends_them = 0;
    for (int c = 0; c < colors; ++c) {
      const cell& k = cells_[static_cast<std::size_t>(c)][place(at)];
      if (k.to.has(ramp)) (heard_[c] ? hears : reads_them) |= color_bit(c);
      if (k.from.has(ramp)) sends_them |= color_bit(c);
    }
    const auto key = std::make_tuple(hears, reads_them, sends_them);
    if (!programs_.count(key)) {
      tables_.push_back(
          table_for(hears, reads_them, sends_them, chance(20) ? random_() : 0, chance(20) ? random_() : 0));
      programs_.emplace(key, program_for(tables_.back()));
    }
    plan_.place(everywhere(at), programs_.at(key));
  }
  void add_path(int c, coord at, const cell& k) {
    with_color(c, [&](auto it) {
      const route how{k.from, k.to};
      const injection rank{static_cast<i8>(
          machine_.prefers_injected && k.from.has(ramp) ? (at.x + 3 * at.y + c) % 6 % 3 - 1 : 0)};
      if (!k.swaps.empty()) plan_.path(it, everywhere(at), how, color_swap{k.swaps});
      else if (rank.priority)
        k.from.single() ? plan_.path(it, everywhere(at), how, rank)
                        : plan_.path(it, everywhere(at), how, merges, rank);
      else
        k.from.single() ? plan_.path(it, everywhere(at), how) : plan_.path(it, everywhere(at), how, merges);
    });
  }
  void add_stream(const stream_flow& s, bool inbound) {
    const area where = wsl::at(s.at.x, s.at.y);
    with_color(s.color, [&](auto it) {
      inbound ? plan_.stream_in(it, where, s.side) : plan_.stream_out(it, where, s.side);
    });
  }
  template <class Use>
  static void with_color(int c, Use use) {
    switch (class_of(c)) {
      case payload_class::word: return use(color<u32>{c});
      case payload_class::pair: return use(color<pair_of_halves>{c});
      case payload_class::half: return use(color<u16>{c});
    }
  }

  bool waits_ = false;
  std::deque<std::vector<binding>> tables_;
  std::map<std::tuple<u64, u64, u64>, program> programs_;
  mode promise_ = mode::heavy;
  layout plan_{wse2, 1, 1};
};

/// Gives every PE its script and its words.
inline void give_scripts(fabric& f, const random_program& p) {
  f.ignore_memory_limit();  // the arrays of a program are as long as chance makes them
  u32 x = 1;
  for (int i = 0; i < p.plan().grid().count(); ++i) {
    const coord at = p.plan().grid().nth(i);
    actor& a = actor_at(f, at);
    a.what = &p.script_at(at);
    a.words.resize(static_cast<std::size_t>(a.what->words));
    for (u32& w : a.words) w = x = mixed(x, static_cast<u32>(i));
  }
}

/// Writes the words that enter the grid in a round.
inline void write_streams(fabric& f, const random_program& p, int round) {
  for (const stream_flow& s : p.inbound()) {
    std::vector<u32> words(static_cast<std::size_t>(s.words));
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = mixed(static_cast<u32>(round), static_cast<u32>(i)) & 0xffff;
    f.engine_in_use().stream_write(s.color, s.at, words);
  }
}

}  // namespace law
