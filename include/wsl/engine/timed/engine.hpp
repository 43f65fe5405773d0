// SPDX-License-Identifier: MIT
// The timed engine itself: a discrete-event simulation in which a PE, an arbiter of a router or a host stream
// is visited only when something can happen there, and a word crosses a straight run of routers in one step,
// so idle parts cost nothing. Where much happens, several threads simulate parts of the grid (windows.hpp).
// docs/timing.md states the counting rules, and docs/engines/timed.md draws the path of a word through the
// engine.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "../../support/whole_file.hpp"
#include "../diagnose/deadlock.hpp"
#include "../diagnose/trace_json.hpp"
#include "../engine.hpp"
#include "memory.hpp"
#include "simulation.hpp"
#include "snapshot.hpp"
#include "waits.hpp"

namespace wsl {
namespace engines {

class timed_engine final : public engine, trace_recorder::listener {
 public:
  /// `trace` is the file for a trace of its runs, empty for none: trace_recorder.hpp says which kind of file.
  /// The other parameters are those of `timed`.
  timed_engine(const layout& plan, int threads, std::string trace, int span, u64 visits_a_cycle,
               const host_link& link = {})
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this),
        cut_(trace.empty() ? grid_cut::of(engine::plan(), span) : grid_cut{}),
        recorder_(std::move(trace), engine::plan()),
        state_(engine::plan(), cut_, ramp_queues(tiles_, target()), threads_for(threads)),
        windows_(*this, threads_for(threads)),
        workers_(new_workers(threads_for(threads))),
        commands_(link, target().clock_hz) {
    tiles_.set_windows(windows_.of(0), nullptr);
    if (recorder_.records()) begin_trace();
    for (u32 i = 0; i < tiles_.size(); ++i) {
      const pe_state& s = state_of(tiles_[i]);
      state_.processors[i].router = state_.routers.channels.router_at({s.x, s.y});
    }
    simulation_ = new timed_simulation(state_, workers_, visits_a_cycle);
    first().pes.open();
  }

  ~timed_engine() override {
    if (recorder_.records()) write_trace();
    delete simulation_;
    for (timed_worker* w : workers_) delete w;
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    const u32 i = wsl::engines::state_of(on).index;
    state_.processors[i].calls.push(what);
    first().events.note(i, now());
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = source_at(color, c);
    for (u32 w : words) state_.unsent[k].push(w);
    u64 place = 0, all_of_stream = 0;
    for (u32 i = 0; i < sources().size(); ++i)
      if (sources()[i].color == color) place += i < k, ++all_of_stream;
    commands_.write(state_.arrivals[k], now(), color, place, all_of_stream, words.size());
    first().events.note(state_.routers.first_source_actor() + k, now());
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    support::flat_queue<u32>& from = state_.routers.exit_of(c, color).words;
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop()) words[n++] = from.front();
    return n;
  }

  u64 unread_words() const override {
    u64 n = 0;
    for (const mesh_topology::exit& e : state_.routers.exits) n += e.words.size();
    return n;
  }

  outcome run() override {
    const u64 begin = now();
    for (timed_worker* w : workers_) w->begin_run(begin);
    recorder_.records() ? run_traced_tasks(begin) : run_tasks();
    for (timed_worker* w : workers_) w->pes.end_rest();
    outcome total;
    u64 end = begin;
    for (timed_worker* w : workers_) {
      end = std::max(end, w->end());
      total = total +
              outcome{0, w->pes.tasks(), w->pes.wavelets(), w->routers.done.hops, w->routers.done.delivered};
    }
    total.cycles = end - begin;
    for (timed_worker* w : workers_) w->pes.end_run(end), w->events.set_now(end);
    if (const waits open = pending(); !open.empty()) {
      const deadlock found(plan(), open, unread_words());
      if (recorder_.records()) record_ending(found.what(), open);
      throw found;
    }
    if (recorder_.records()) recorder_.end_run(end);
    return total;
  }

  void reopen(pe_state& on, int color, int phase) override { of(on).pes.reopen(on, color, phase); }
  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    of(from).pes.writer().send_control(from, color, type, bits);
  }
  bool start(pe_state& on, transfer& t) override {
    of(on).pes.start(on, t);
    return false;
  }
  u64 now(const pe_state& s) const override { return of(s).pes.writer().now(s, of(s).events.now()); }

  // A run that is traced visits each PE in each of its cycles, and all of its words come by the recorder.
  void observe(step_observer* by) override {
    must_not_be_observed(by, observer_);
    observer_ = simulation_->observer = by;
    first().pes.tell(by);
    recorder_.told = by ? this : nullptr;
    first().pes.traced = first().routers.traced = by || recorder_.records() ? &recorder_ : nullptr;
  }
  void stood_still(f64 seconds) override { limit_.leave_out(seconds); }
  const char* name() const override { return "timed"; }
  waits what_waits() override { return pending(); }
  void look_at(coord c, place_visitor& to) override {
    if (pe* p = find(c)) {
      pe_state& s = wsl::engines::state_of(*p);
      show(state_.processors[s.index], s, to);
    }
    show(first().routers, c, to);
  }

  bool exchange_only() const override {
    for (const timed_worker* w : workers_)
      if (w->pes.writer().charges_arithmetic()) return false;
    return true;
  }

  // For reports and tests:
  u64 now() const { return first().events.now(); }
  timed_pes& processors() { return first().pes; }
  const timed_pes& processors() const { return first().pes; }
  const mesh& routers() const { return first().routers; }
  /// Cycles in which a word that could move found its port taken by another color.
  u64 link_stalls() const {
    u64 n = 0;
    for (const timed_worker* w : workers_) n += w->routers.link_stalls;
    return n;
  }
  /// The sum over all words of the cycles for which they could be taken and were not.
  u64 queued() const {
    u64 n = 0;
    for (const timed_worker* w : workers_) n += w->routers.through.waited();
    return n;
  }
  /// The memory that it takes, by part; the programs of the PEs come on top.
  support::flat_vector<memory_use> memory() const {
    u64 calendars = 0;
    for (const timed_worker* w : workers_) calendars += w->events.bytes();
    support::flat_vector<memory_use> parts = memory_of(state_);
    parts.push_back({"calendars", calendars});
    parts.push_back({"states of PEs", tiles_.size() * sizeof(pe_state)});
    return parts;
  }
  int threads() const { return static_cast<int>(workers_.size()); }
  /// The number of visits to PEs, arbiters and host streams so far.
  u64 visits() const {
    u64 n = 0;
    for (const timed_worker* w : workers_) n += w->events.visits;
    return n;
  }
  /// Whether some cycles were simulated in windows, on all threads.
  bool had_windows() const { return simulation_->had_windows(); }

 private:
  void crossed(u32 number, const wavelet& w, u64 now) override {
    const mesh_topology::origin& from = state_.routers.origins[number];
    if (from.what == mesh_topology::origin::kind::to_pe)
      observer_->arrived(state_.routers.channels.coord_of(from.router), {w.bits, from.color, w.control},
                         now + state_.all_pipes[number].latency);
  }

  u32 threads_for(int asked) const { return static_cast<u32>(std::min(asked, cut_.bands())); }
  support::flat_vector<timed_worker*> new_workers(u32 n) {
    support::flat_vector<timed_worker*> all;
    for (u32 k = 0; k < n; ++k)
      all.push_back(new timed_worker(state_, engine::plan(), tiles_, *this, windows_, k));
    return all;
  }
  timed_worker& first() { return *workers_[0]; }
  const timed_worker& first() const { return *workers_[0]; }
  /// The thread whose task runs on this PE, or has run there last.
  timed_worker& of(const pe_state& s) const { return *workers_[s.sender()]; }

  void run_tasks() {
    const script_recorder::listening ears(first().pes.writer());
    const journal_turn turn(first().pes.writer().journal());
    limit_.begin(tiles_.size());
    for (timed_worker* w : workers_) w->pes.count_in(nullptr);
    try {
      simulation_->run(limit_);
    } catch (const run_limit::passed& what) {
      throw limit_.explained(what, [this](u32 i) { return wsl::engines::state_of(tiles_[i]); });
    }
  }

  // ---- traces

  void begin_trace() {
    const auto links_of = [](const void* of, u32 pipe) {
      return static_cast<int>(static_cast<const mesh*>(of)->through[pipe].links);
    };
    recorder_.attach(state_.routers, links_of, &first().routers);
    first().pes.traced = first().routers.traced = &recorder_;
  }
  void run_traced_tasks(u64 begin) {
    recorder_.begin_run(begin);
    try {
      run_tasks();
    } catch (const support::file_error&) { throw; } catch (const std::exception& e) {
      record_ending(e.what(), {});
      throw;
    }
  }
  // The program may end without destroying the fabric, so the trace is written at once.
  void record_ending(const std::string& sentence, const waits& open) {
    recorder_.ends(sentence, now());
    recorder_.still_waits(open);
    write_trace();
  }
  // A file for wsl-view has an end; one for Perfetto is written anew if the fabric runs again. One that
  // cannot be written is only reported: neither may a destructor throw, nor may it hide the reason of an
  // ending.
  void write_trace() {
    try {
      recorder_.finish();
      if (!recorder_.for_viewer())
        support::write_whole_file(recorder_.name(),
                                  trace_json(recorder_.for_perfetto(), first().pes, first().routers).text());
    } catch (const std::exception& e) { std::fprintf(stderr, "%s\n", e.what()); }
  }

  const support::flat_vector<mesh_topology::source>& sources() const { return state_.routers.sources; }
  u32 source_at(int color, coord c) {
    // if a color has several streams into one PE, the last is written to, as on all engines
    auto k = static_cast<u32>(sources().size()) - 1;
    while (sources()[k].color != color || sources()[k].at != c) --k;
    return k;
  }

  // Only PEs and routers that the run has touched can wait, so the whole grid is searched only if one of them
  // does.
  waits pending() {
    waits open;
    u64 inside = 0;
    bool nothing = true;
    for (timed_worker* w : workers_) inside += w->routers.through.inside(), nothing &= !w->pes.may_wait();
    for (const unsent_words& s : state_.unsent) nothing = nothing && s.empty();
    if (nothing && inside == 0) return open;
    timed_pes& pes = first().pes;
    for (u32 i = 0; i < pes.size(); ++i) waits_of(open, pes[i], pes.state(i), first().routers);
    waits_of(open, first().routers);
    for (u32 k = 0; k < state_.unsent.size(); ++k)
      if (const mesh_topology::source& s = sources()[k]; !state_.unsent[k].empty())
        open.push_back({wait::reason::stream, s.at, s.color, "", "", state_.unsent[k].size()});
    for (u32 i = 0; i < pes.size() && !open.empty(); ++i) lost_activations(open, pes.state(i));
    return open;
  }

  resolved_routes routes_;
  tiles tiles_;
  grid_cut cut_;
  trace_recorder recorder_;
  timed_state state_;
  journal_windows windows_;
  support::flat_vector<timed_worker*> workers_;
  host_commands commands_;
  timed_simulation* simulation_ = nullptr;
  step_observer* observer_ = nullptr;
  run_limit limit_;
};

/// The file that the environment variable WSL_TRACE names for the next fabric of this process; empty if it is
/// not set.
inline std::string trace_of_environment() {
  static std::atomic<int> fabrics = 0;
  const char* named = std::getenv("WSL_TRACE");
  if (!named || !*named) return "";
  const int n = ++fabrics;
  return n == 1 ? named : named + std::string(".") + std::to_string(n);
}

}  // namespace engines
}  // namespace wsl
