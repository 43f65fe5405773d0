// SPDX-License-Identifier: MIT
// Random flows of words through a grid of actors (engine_actor.hpp): a source, a tree of free routers of one
// color, receivers. A source starts by itself or because of words of earlier flows, so nothing waits in a
// circle.
#pragma once
#include <algorithm>
#include <map>
#include <random>

#include "engine_actor.hpp"

namespace law {

using namespace wsl::engines;

struct stream_flow {
  int color;
  coord at;
  port side;
  int words;  // of inbound streams
};

class random_flows {
 public:
  random_flows(unsigned seed, bool races) : races_(races), random_(seed * 2 + races) {
    shape();
    for (int n = 1 + below(chance(20) ? 40 : 4 + w_ * h_ / 2); n > 0; --n) add_flow();
  }

  int rounds() const { return rounds_; }
  int pes() const { return w_ * h_ * tiles_x_ * tiles_y_; }
  /// The grid repeats the same tile.
  const script& script_at(coord c) const { return scripts_[place({c.x % w_, c.y % h_})]; }
  const std::vector<stream_flow>& inbound() const { return in_; }
  const std::vector<stream_flow>& outbound() const { return out_; }

 protected:
  // ---- choices ----------------------------------------------------------------------------------

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  coord any_pe() { return {below(w_), below(h_)}; }
  std::size_t place(coord c) const { return static_cast<std::size_t>(c.y * w_ + c.x); }
  bool inside(coord c) const { return c.x >= 0 && c.y >= 0 && c.x < w_ && c.y < h_; }

  void shape() {
    const int most = chance(60) ? 4 : 10;
    w_ = 1 + below(most), h_ = 1 + below(most);
    if (chance(2)) w_ = h_ = 10, tiles_x_ = 4, tiles_y_ = 3;
    else if (chance(10)) tiles_x_ = 1 + below(3), tiles_y_ = 1 + below(3);
    machine_ = chance(50) ? wse2 : wse3;
    vary_times();
    rounds_ = chance(20) ? 2 : 1;
    size_ = below(10);
    steering_ = chance(25);
    // a control wavelet names the color with which it was sent
    swaps_ = machine_.swaps_colors && !steering_ && (w_ + 2 * h_) % 5 < 3;
    for (bool& h : heard_) h = chance(55);
    cells_.assign(static_cast<std::size_t>(colors), std::vector<cell>(static_cast<std::size_t>(w_ * h_)));
    scripts_.resize(static_cast<std::size_t>(w_ * h_));
    inlets_.resize(scripts_.size());
    pending_.resize(scripts_.size());
    for (script& s : scripts_) s.races = races_;
  }

  // Other constants than the machine's, which only the timed engine sees.
  void vary_times() {
    const u32 x = static_cast<u32>(w_ * 31 + h_) * 2654435761u >> 8;
    if (x % 3 == 0) return;
    machine_.task_start = 1 + static_cast<int>(x % 7), machine_.operation_setup = static_cast<int>(x / 7 % 5);
    machine_.ramp_latency = 1 + static_cast<int>(x / 35 % 4),
    machine_.call = 1 + static_cast<int>(x / 140 % 3);
    machine_.fabric_width = 1 + static_cast<int>(x / 420 % 3),
    machine_.router_depth = 2 + static_cast<int>(x / 1260 % 2);
  }

  int some_words() {
    if (size_ == 0 && chance(60)) return 600 + below(chance(20) ? 6000 : 2000);
    if (size_ < 3 && chance(50)) return 1 + below(400);
    return 1 + below(chance(20) ? 200 : 24);
  }

  // ---- flows ------------------------------------------------------------------------------------

  /// A router, and the color that words have there.
  struct spot {
    coord at;
    int color;
  };
  struct cell {
    ports from, to, swaps;
    bool used() const { return !from.empty(); }
  };
  /// Words of a color that reach a PE.
  struct cursor {
    int words = 0, taken = 0;
    bool steered = false, forwarded = false;
    std::vector<int> jobs;  // that read it; none if an ear does
  };
  struct flow {
    int color;
    int from;         // the place of its source, -1 for a stream
    int by_job = -1;  // or a task
    std::vector<spot> receivers;
  };

  void add_flow() {
    const int kind = below(100);
    const coord at = any_pe();
    const int c = below(colors);
    if (cells_[static_cast<std::size_t>(c)][place(at)].used()) return;
    if (kind < 45) begin_at_launch(c, at);
    else if (kind < 70) pass_on(c, at);
    else if (kind < 88) follow_up(c, at);
    else if (tiles_x_ * tiles_y_ == 1) from_host(c, at);
  }

  script& script_of(coord c) { return scripts_[place(c)]; }
  /// One place is kept for the job of the flow that is being made.
  bool room_for_job(coord c) {
    return script_of(c).jobs.size() + pending_[place(c)] + 1 < static_cast<std::size_t>(max_jobs);
  }
  int add_job(coord c, const job& j) {
    script_of(c).jobs.push_back(j);
    return static_cast<int>(script_of(c).jobs.size()) - 1;
  }

  /// Memory of its own for a job.
  view own_memory(coord c, int n) {
    script& s = script_of(c);
    view v{s.words, 1 + (chance(30) ? below(3) : 0), chance(25)};
    s.words += n * v.stride;
    return v;
  }

  void begin_at_launch(int c, coord at) {
    if (!room_for_job(at)) return;
    flow f{c, static_cast<int>(place(at)), -1, {}};
    job j = sender(c, at, some_words());
    if (j.what != job::say) f.by_job = next_job(at);
    if (!lead(f, at, ramp, j.n, j.control_every > 0)) return;
    add_job(at, j);
    if (races_ && !swaps_ && chance(40)) merge_into(f, j.n);
    flows_.push_back(f);
  }
  int next_job(coord at) { return static_cast<int>(script_of(at).jobs.size()); }

  job sender(int c, coord at, int n) {
    job j{.out = c, .n = n, .factor = static_cast<u32>(random_()), .plus = static_cast<u32>(random_())};
    const bool word = class_of(c) == payload_class::word;
    j.what = chance(50)            ? job::say
             : !word || chance(50) ? job::copy_out
             : chance(50)          ? job::map_out
                                   : job::fill_out;
    if (j.what == job::say) {
      j.n = std::min(n, sends_of_a_task - 100);
      if (steering_ && chance(40)) j.control_every = 1 + below(j.n + 1);
      if (j.control_every && j.n / j.control_every + j.n > sends_of_a_task) j.control_every = 100;
    } else if (j.what != job::fill_out) {
      j.where = own_memory(at, n);
      if (word && chance(20)) give_fifo(at, j, job::fill_fifo);
    }
    return j;
  }
  /// If the PE has one left.
  void give_fifo(coord at, job& j, job::kind through) {
    int used = 0;
    for (const job& other : script_of(at).jobs) used += other.queue >= 0;
    if (used < max_fifos) j.queue = used, j.what = through;
  }

  // Words that arrived go on, through a task or through an operation.
  void pass_on(int c, coord at) {
    std::vector<int> here = inlets_at(at);
    if (here.empty()) return;
    const int k = here[static_cast<std::size_t>(below(static_cast<int>(here.size())))];
    if (heard_[k]) forward_heard(c, k, at);
    else if (inlets_[place(at)][k].taken == 0) relay(c, k, at);
  }
  std::vector<int> inlets_at(coord at) {
    std::vector<int> here;
    for (const auto& [k, in] : inlets_[place(at)]) here.push_back(k);
    return here;
  }

  void forward_heard(int c, int k, coord at) {
    cursor& in = inlets_[place(at)][k];
    forward* free_one = nullptr;
    for (forward& f : script_of(at).ears[k].on)
      if (f.out < 0) free_one = &f;
    if (!free_one) return;
    forward f{.out = c,
              .every = 1 + (chance(30) ? below(5) : 0),
              .copies = 1 + (chance(25) ? below(3) : 0),
              .factor = static_cast<u32>(random_()),
              .plus = static_cast<u32>(random_())};
    if (in.words < 20 && chance(5)) f.copies = 100 + below(400);
    if (steering_ && chance(30)) f.control_every = 1 + below(in.words);
    const int n = in.words / f.every * f.copies;
    flow made{c, static_cast<int>(place(at)), -1, {}};
    if (n == 0 || n > 7000 || !lead(made, at, ramp, n, f.control_every > 0)) return;
    *free_one = f;
    in.forwarded = true;
    flows_.push_back(made);
  }

  void relay(int c, int k, coord at) {
    cursor& in = inlets_[place(at)][k];
    if (class_of(c) != payload_class::word || class_of(k) != payload_class::word) return;
    job j{.what = chance(50) ? job::relay : job::relay_map,
          .in = {k, -1},
          .out = c,
          .n = in.words,
          .factor = static_cast<u32>(random_()),
          .plus = 7};
    const int other = chance(60) ? partner(k, at) : -1;
    if (other >= 0) j.what = job::relay_both, j.in[1] = other;
    else if (chance(35)) give_fifo(at, j, job::relay_fifo);
    flow f{c, static_cast<int>(place(at)), next_job(at), {}};
    if (!lead(f, at, ramp, j.n, false)) return;
    take(at, j);
    flows_.push_back(f);
  }

  /// Another untouched color with as many words, for an operation that reads two.
  int partner(int k, coord at) {
    if (machine_.fabric_inputs < 2) return -1;
    for (const auto& [other, in] : inlets_[place(at)])
      if (other != k && !heard_[other] && in.jobs.empty() && in.taken == 0 &&
          class_of(other) == payload_class::word && in.words == inlets_[place(at)][k].words)
        return other;
    return -1;
  }

  int take(coord at, job j) {
    const int id = add_job(at, j);
    for (int k : j.in)
      if (k >= 0) {
        cursor& in = inlets_[place(at)][k];
        if (in.taken == 0) --pending_[place(at)];
        in.jobs.push_back(id), in.taken += j.n;
      }
    return id;
  }

  // A job that something earlier on its PE starts.
  void follow_up(int c, coord at) {
    std::vector<int> events;
    for (int i = 0; i < next_job(at); ++i)
      if (script_of(at).jobs[static_cast<std::size_t>(i)].joins == 0) events.push_back(after_job + i);
    for (int k : inlets_at(at))
      if (heard_[k]) events.push_back(after_ear + k);
    if (joined_.count(place(at))) events.push_back(after_join);
    if (events.empty() || !room_for_job(at)) return;
    const int event = events[static_cast<std::size_t>(below(static_cast<int>(events.size())))];
    job j = sender(c, at, some_words());
    reuse_memory(at, event, j);
    j.after = event;
    flow f{c, static_cast<int>(place(at)), j.what == job::say ? -1 : next_job(at), {}};
    if (!lead(f, at, ramp, j.n, j.control_every > 0)) return;
    add_job(at, j);
    flows_.push_back(f);
  }

  // Where a job has ended, the memory that it wrote is sent on.
  void reuse_memory(coord at, int event, job& j) {
    if (event < after_job || event >= after_ear || j.what == job::say || j.what == job::fill_out ||
        chance(40))
      return;
    const job& before = script_of(at).jobs[static_cast<std::size_t>(event - after_job)];
    if (before.what == job::copy_in || before.what == job::add_in || before.what == job::map_in)
      j.where = before.where, j.n = before.n, j.where.reversed = chance(50);
  }

  void from_host(int c, coord at) {
    const port side = every_side[below(4)];
    if (inside(at + step(side)) || in_.size() + out_.size() > 20) return;
    flow f{c, -1, -1, {}};
    const int n = some_words();
    if (!lead(f, at, side, n, false)) return;
    in_.push_back({c, at, side, n});
    flows_.push_back(f);
  }

  // ---- routes -----------------------------------------------------------------------------------

  /// Grows a tree of free routers from one; false, with nothing changed, if it would be too long a way for so
  /// many words.
  bool lead(flow& f, coord at, port entry, int n, bool steers) {
    const int most = std::max(1, std::min(1 + below(chance(30) ? 40 : 8), 30000 / n));
    std::vector<spot> tree;
    plant(tree, {at, f.color}, entry);
    for (int tries = 3 * most; tries > 0 && static_cast<int>(tree.size()) < most; --tries) grow(tree);
    const std::size_t streams_before = out_.size();
    bool ends = true;
    for (const spot& c : tree) ends &= finish(f, c);
    if (!ends) {
      for (const spot& c : tree) cell_of(c) = {};
      out_.resize(streams_before);
      return false;
    }
    for (const spot& c : f.receivers) {
      inlets_[place(c.at)][c.color] = {n, 0, steers, false, {}};
      if (!heard_[c.color]) ++pending_[place(c.at)];
    }
    return true;
  }
  cell& cell_of(const spot& s) { return cells_[static_cast<std::size_t>(s.color)][place(s.at)]; }
  /// Some routers give words of u32 on with the other color of the pair.
  void plant(std::vector<spot>& tree, const spot& s, ports from) {
    cell& k = cell_of(s);
    k = {from, {}, {}};
    if (swaps_ && s.color < 6 && chance(30))
      k.swaps = chance(30) ? east | west | north | south : chance(50) ? east | west : north | south;
    tree.push_back(s);
  }

  void grow(std::vector<spot>& tree) {
    const spot from =
        chance(75) ? tree.back() : tree[static_cast<std::size_t>(below(static_cast<int>(tree.size())))];
    const port side = every_side[below(4)];
    const spot to{from.at + step(side), cell_of(from).swaps.has(side) ? from.color ^ 1 : from.color};
    if (!inside(to.at) || cell_of(to).used()) return;
    cell_of(from).to = cell_of(from).to | side;
    plant(tree, to, opposite(side));
  }

  /// Says whether the words that come here get somewhere.
  bool finish(flow& f, const spot& c) {
    cell& k = cell_of(c);
    if (k.to.empty() && chance(20)) leave(k, c);
    if (!k.to.empty() && chance(75)) return true;
    if (!heard_[c.color] && !room_for_job(c.at)) return !k.to.empty();
    k.to = k.to | ramp;
    f.receivers.push_back(c);
    return true;
  }
  void leave(cell& k, const spot& c) {
    if (tiles_x_ * tiles_y_ > 1 || in_.size() + out_.size() > 20) return;
    for (port side : every_side)
      if (!inside(c.at + step(side)) && !k.from.has(side)) {
        k.to = side;
        out_.push_back({c.color, c.at, side, 0});
        return;
      }
  }

  // More senders of a color that is not forwarded yet: their words meet on the way.
  void merge_into(const flow& f, int n) {
    std::vector<cell>& cells = cells_[static_cast<std::size_t>(f.color)];
    for (int tries = 0; tries < 10; ++tries) {
      const coord at = any_pe();
      const port side = every_side[below(4)];
      const coord to = at + step(side);
      if (cells[place(at)].used() || !inside(to) || !room_for_job(at) || !belongs(f, to)) continue;
      job j = sender(f.color, at, n);
      j.control_every = 0;
      cells[place(at)] = {ramp, side, {}};
      cells[place(to)].from = cells[place(to)].from | opposite(side);
      for (coord c : reached_from(cells, to)) inlets_[place(c)][f.color].words += j.n;
      add_job(at, j);
    }
  }
  bool belongs(const flow& f, coord to) {
    const auto reached = reached_from(cells_[static_cast<std::size_t>(f.color)], {f.from % w_, f.from / w_});
    return std::find(reached.begin(), reached.end(), to) != reached.end();
  }
  /// Receivers.
  std::vector<coord> reached_from(const std::vector<cell>& cells, coord from) {
    std::vector<coord> found, todo{from};
    while (!todo.empty()) {
      const coord c = todo.back();
      todo.pop_back();
      if (cells[place(c)].to.has(ramp)) found.push_back(c);
      for (port side : every_side)
        if (cells[place(c)].to.has(side) && inside(c + step(side))) todo.push_back(c + step(side));
    }
    return found;
  }

  bool races_;
  std::mt19937 random_;
  int w_ = 1, h_ = 1, tiles_x_ = 1, tiles_y_ = 1, rounds_ = 1, size_ = 0;
  bool steering_ = false, swaps_ = false;
  bool heard_[colors] = {};  // by a task; otherwise descriptors read the color
  machine machine_ = wse2;
  std::vector<std::vector<cell>> cells_;
  std::vector<script> scripts_;
  std::vector<std::map<int, cursor>> inlets_;
  std::vector<std::size_t> pending_;  // colors of a PE that no job reads yet
  std::vector<flow> flows_;
  std::vector<stream_flow> in_, out_;
  std::map<std::size_t, bool> joined_;
};

}  // namespace law
