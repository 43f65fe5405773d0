// SPDX-License-Identifier: MIT
// The timed engine itself: a discrete-event simulation in which a PE, an arbiter of a router or a host stream
// is visited only when something can happen there, and a word crosses a straight run of routers in one step,
// so idle parts cost nothing. docs/timing.md states the counting rules, and docs/engines/timed.md draws the
// path of a word through the engine.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "../../support/whole_file.hpp"
#include "../diagnose/deadlock.hpp"
#include "../diagnose/run_limit.hpp"
#include "../diagnose/trace_json.hpp"
#include "../engine.hpp"
#include "pes.hpp"
#include "waits.hpp"

namespace wsl {
namespace engines {

class timed_engine final : public engine {
 public:
  /// `trace` is the file into which the engine writes a trace of its runs when it is destroyed; empty for
  /// none.
  explicit timed_engine(const layout& plan, std::string trace = "")
      : engine(plan),
        routes_(engine::plan()),
        tiles_(engine::plan(), routes_, *this),
        mesh_(engine::plan(), events_, ramp_queues(tiles_, target())),
        pes_(engine::plan(), tiles_, mesh_, events_, *this),
        unsent_(sources().size()),
        trace_(std::move(trace)) {
    if (!trace_.empty()) pes_.traced = mesh_.traced = &timeline_;
  }

  // A destructor cannot throw, so a trace that cannot be written is only reported.
  ~timed_engine() override {
    if (trace_.empty()) return;
    try {
      support::write_whole_file(trace_, trace_json(timeline_, pes_, mesh_).text());
    } catch (const std::exception& e) { std::fprintf(stderr, "%s\n", e.what()); }
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    const u32 i = state_of(on).index;
    pes_[i].calls.push(what);
    events_.note(i, events_.now());
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = source_at(color, c);
    for (u32 w : words) unsent_[k].push(w);
    events_.note(mesh_.topology().first_source_actor() + k, events_.now());
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    support::flat_queue<u32>& from = mesh_.exit_of(c, color).words;
    std::size_t n = 0;
    for (; n < words.size() && !from.empty(); from.pop()) words[n++] = from.front();
    return n;
  }

  u64 unread_words() const override {
    u64 n = 0;
    for (const mesh_topology::exit& e : mesh_.topology().exits) n += e.words.size();
    return n;
  }

  outcome run() override {
    const script_recorder::listening ears(pes_.writer());
    const u64 begin = events_.now();
    pes_.begin_run(begin);
    mesh_.done = {.end = begin};
    run_tasks();
    pes_.happened_until(mesh_.done.end);
    pes_.end_run();
    events_.set_now(pes_.end());
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open, unread_words());
    return {.cycles = pes_.end() - begin,
            .tasks = pes_.tasks(),
            .wavelets = pes_.wavelets(),
            .hops = mesh_.done.hops,
            .delivered = mesh_.done.delivered};
  }

  void reopen(pe_state& on, int color, int phase) override { pes_.reopen(on, color, phase); }
  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    pes_.writer().send_control(from, color, type, bits);
  }
  bool start(pe_state& on, transfer& t) override {
    pes_.start(on, t);
    return false;
  }
  u64 now(const pe_state& s) const override { return pes_.writer().now(s, events_.now()); }

  bool exchange_only() const override { return !pes_.writer().charges_arithmetic(); }

  // For reports and tests:
  u64 now() const { return events_.now(); }
  timed_pes& processors() { return pes_; }
  const timed_pes& processors() const { return pes_; }
  const mesh& routers() const { return mesh_; }

 private:
  void run_tasks() {
    const journal_turn turn(pes_.writer().journal());
    limit_.begin(tiles_.size());
    pes_.census = nullptr;
    u64 times = 0;
    try {
      while (events_.advance()) {
        events_.take([this](u32 who) { visit(who); });
        if (limit_.is_set() && ++times % 64 == 0) [[unlikely]]
          pes_.census = limit_.look(pes_.census);
      }
    } catch (const run_limit::passed& what) {
      throw limit_.explained(what, [this](u32 i) { return pes_.state(i); });
    }
  }
  const support::flat_vector<mesh_topology::source>& sources() const { return mesh_.topology().sources; }
  u32 source_at(int color, coord c) {
    // if a color has several streams into one PE, the last is written to, as on all engines
    auto k = static_cast<u32>(sources().size()) - 1;
    while (sources()[k].color != color || sources()[k].at != c) --k;
    return k;
  }

  void visit(u32 who) {
    const u64 now = events_.now();
    if (mesh_.topology().is_arbiter(who)) [[likely]]
      return mesh_.step(who, now);
    if (who < mesh_.topology().first_arbiter_actor) return pes_.visit(who, now);
    visit_source(who - mesh_.topology().first_source_actor(), now);
  }

  // A host stream gives one word a cycle to the router at the edge.
  void visit_source(u32 k, u64 now) {
    const u32 actor = mesh_.topology().first_source_actor() + k;
    const mesh_topology::source& source = sources()[k];
    pipe& into = mesh_.through[source.pipe];
    if (unsent_[k].empty()) return;
    if (const u64 room = mesh_.through.room_at(into); room > now) {
      if (room != event_queue::never) events_.note(actor, room);
      return;
    }
    mesh_.send(source.pipe, {unsent_[k].front(), source.color, false}, now + into.latency);
    unsent_[k].pop();
    pes_.entered();
    pes_.happened_until(now + 1);
    events_.note(actor, now + 1);
  }

  // Only PEs and routers that the run has touched can wait, so the whole grid is searched only if one of them
  // does.
  waits pending() {
    waits open;
    bool nothing = mesh_.through.inside() == 0 && !pes_.may_wait();
    for (const support::flat_queue<u32>& s : unsent_) nothing = nothing && s.empty();
    if (nothing) return open;
    for (u32 i = 0; i < pes_.size(); ++i) waits_of(open, pes_[i], pes_.state(i), mesh_);
    waits_of(open, mesh_);
    for (u32 k = 0; k < unsent_.size(); ++k)
      if (const mesh_topology::source& s = sources()[k]; !unsent_[k].empty())
        open.push_back({wait::reason::stream, s.at, s.color, "", "", unsent_[k].size()});
    for (u32 i = 0; i < pes_.size() && !open.empty(); ++i) lost_activations(open, pes_.state(i));
    return open;
  }

  event_queue events_;
  resolved_routes routes_;
  tiles tiles_;
  mesh mesh_;
  timed_pes pes_;
  // words of each host stream that are not on the grid yet
  support::flat_vector<support::flat_queue<u32>> unsent_;
  std::string trace_;
  timeline timeline_;
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
