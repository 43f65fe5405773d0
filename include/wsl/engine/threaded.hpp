// SPDX-License-Identifier: MIT
// The engine that users run: every wavelet goes straight from its sender's channel to its receivers, tasks run in batches,
// operations move whole spans, and only PEs with work are visited. Bands of the grid run on threads, with the same results for
// any number of them, and the same as the reference engine's for every program that does not depend on the order in which
// independent wavelets arrive.
#pragma once
#include "diagnose/deadlock.hpp"
#include "threaded/superstep.hpp"
#include "threaded/scheduler.hpp"

namespace wsl {
namespace engines {

class threaded_engine : public engine {
 public:
  threaded_engine(const layout& plan, int threads, depth queues, schedule order, u32 pes_per_band, u32 offered_from, run_log* log)
      : engine(plan), routes_(engine::plan()), tiles_(engine::plan(), routes_, *this, log != nullptr),
        traffic_(engine::plan(), routes_, tiles_, queues, pes_per_band), visits_(tiles_, traffic_, target(), order, most(1u, offered_from), log),
        crew_(least(threads, static_cast<int>(traffic_.net.bands))) {
    for (band& b : bands()) b.random = (order.seed + 1) * 0x9e3779b97f4a7c15u + static_cast<u64>(&b - bands().data());
    for (u32 i = 0; i < pes(); ++i)
      if (state(i).active) traffic_.wake(traffic_.home(i), i);
  }

  pe* find(coord c) override { return tiles_.find(c); }

  void call(pe& on, host_call what) override {
    pe_state& s = state_of(on);
    visits_.extras(s).calls.push(what);
    traffic_.wake(traffic_.home(s), s.index);
  }

  void stream_write(int color, coord c, std::span<const u32> words) override {
    const u32 k = stream(color, c, true);
    for (u32 w : words) traffic_.net.streams[k].words.push(w);
    traffic_.wake(traffic_.home(pes() + k), pes() + k);
  }
  std::size_t stream_read(int color, coord c, std::span<u32> words) override {
    std::size_t n = 0;
    for (u32 k = stream(color, c, false); k < traffic_.net.streams.size(); ++k) {  // at a corner words may leave through two sides
      stream_end& s = traffic_.net.streams[k];
      if (s.color != color || s.at != c || s.inbound) continue;
      for (; n < words.size() && !s.words.empty(); s.words.pop()) words[n++] = s.words.front();
    }
    return n;
  }

  outcome run() override {
    forget_run();
    epoch_ = run_epochs(crew_, bands(), epoch_, [this](band& b, u64 epoch) { run_band(b, epoch); });
    const outcome total = done();
    for (const band& b : bands())
      if (b.failure) std::rethrow_exception(b.failure);
    if (const waits open = pending(); !open.empty()) throw deadlock(plan(), open);
    return total;
  }

  void send_control(pe_state& from, int color, const payload_type* type, u32 bits) override {
    visits_.send_control(from, color, type, bits);
  }
  void reopen(pe_state& on, int color, int phase) override {
    const wiring& net = traffic_.net;
    if (!net.gates) rule::not_closed(on, color);
    net.gates->reopen(on, color, phase);
    traffic_.wake(traffic_.home(on), net.first_crossing() + net.gates->find({on.x, on.y}, color));
  }
  void beside(pe_state& on, const errand& what) override { traffic_.home(on).errands.push_back(new open_errand(what, on.index)); }
  bool start(pe_state& on, transfer& t) override { return visits_.start(on, t); }
  const u32* take(pe_state& on, int color, const payload_type* type, u32 n) override { return visits_.take(on, color, type, n); }

 protected:
  flat_vector<band>& bands() { return traffic_.bands(); }
  u32 pes() const { return static_cast<u32>(tiles_.size()); }
  pe_state& state(u32 i) { return state_of(tiles_[i]); }
  u32 stream(int color, coord c, bool inbound) const {
    const auto& streams = traffic_.net.streams;
    for (u32 k = 0; k < streams.size(); ++k)
      if (streams[k].color == color && streams[k].at == c && streams[k].inbound == inbound) return k;
    throw fault_error("wsl: no host stream of color " + std::to_string(color) + " is bound to PE(" + std::to_string(c.x) + ", " +
                      std::to_string(c.y) + ")");
  }

  void forget_run() {
    for (band& b : bands()) b.done = {}, b.failure = nullptr;
  }
  outcome done() {
    outcome total;
    for (const band& b : bands()) total = total + b.done;
    return total;
  }
  void run_band(band& b, u64 epoch) {
    refused = {};  // by a task that then threw something else, perhaps in another fabric
    try {
      traffic_.begin(b, epoch);
      visits_.run(b);
      traffic_.end(b);
    } catch (...) {
      b.failure = std::current_exception();
    }
  }

  // Looks only at whom the run has touched: a wafer with one moving wavelet is not searched for it.
  bool any_waits(band& b) {
    waits open;
    return traffic_.any_left(b, [&](u32 who) {
      open.clear();
      waits_at(open, who);
      return !open.empty();
    });
  }
  void waits_at(waits& open, u32 who) {
    if (who < pes()) pe_waits(open, traffic_.home(who), state(who));
    else if (who < traffic_.net.first_crossing()) stream_waits(open, traffic_.net.streams[who - pes()]);
    else traffic_.net.gates->waits_at(open, traffic_, who);
  }

  traffic& words() { return traffic_; }
  crew& threads() { return crew_; }

 private:
  waits pending() {
    bool any = false;
    for (band& b : bands()) any |= any_waits(b);
    waits open;
    for (u32 who = 0; any && who < traffic_.net.writers(); ++who) waits_at(open, who);
    return open;
  }
  static void stream_waits(waits& open, const stream_end& s) {
    if (s.inbound && !s.words.empty()) open.push_back({wait::reason::stream, s.at, s.color, "", "", s.words.size()});
  }

  void pe_waits(waits& open, band& b, pe_state& s) {
    const processor* p = visits_.more(s);
    if (p) operation_waits(open, *p, s, [&](int color) { return visits_.source(b, s, color) == nullptr; });
    held_tasks(open, s);
    for (u64 left = s.image->present; left; left &= left - 1)
      if (const u32 n = traffic_.held_back(s.channel_of(std::countr_zero(left))))
        open.push_back({wait::reason::output, {s.x, s.y}, std::countr_zero(left), s.image->source->name, "send", n});
    for (const inlet& in : wiring::inlets_of(s)) {
      const u32 n = traffic_.available(in);
      if (n == 0) continue;
      const bool control = traffic_.control_first(b, in);
      if (!control && p && p->reads(in.color)) continue;
      const binding* task = control ? s.image->control_with(control_word{*traffic_.words_at(in)}.id()) : s.image->data[in.color];
      open.push_back({wait::reason::unread, {s.x, s.y}, in.color, s.image->source->name, task ? task->name : "", n});
    }
  }

  deliveries routes_;
  tiles tiles_;
  traffic traffic_;
  visits visits_;
  crew crew_;

 protected:
  u64 epoch_ = 0;  ///< the last that has run
};

}  // namespace engines

using engines::default_threads;

/// The choice of the threaded engine: `fabric f{plan, threaded{.threads = 4}}`.
struct threaded {
  int threads = 0;           ///< 0: default_threads(), which is WSL_THREADS, or one a core
  depth queues = depth::deep;
  schedule order = {};
  u32 pes_per_band = 256;    ///< how finely the grid is cut; fewer let a test have several bands on a small grid
  u32 offered_from = 8192;   ///< words that an operation sends to another band from memory to memory, if the receiver's waits for so many; fewer go through buffers
  run_log* log = nullptr;    ///< where to write down what each PE does, for one engine at a time; see race.hpp

  /// The caller owns the engine.
  engine* make(const layout& plan) const;
};

namespace engines {
/// Throws fault_error if no engine with these settings can run the layout.
inline void require_possible(const threaded& how, const layout& plan) {
  if (how.threads < 0 || how.threads > 1024)
    throw fault_error("wsl: an engine runs on 1 to 1024 threads, not on " + std::to_string(how.threads));
  if (plan.changes() && !find_crossings)
    throw fault_error("wsl: the layout has routes that change; a program that uses them says #include <wsl/fabric/switches.hpp>");
}
}  // namespace engines

inline engine* threaded::make(const layout& plan) const {
  engines::require_possible(*this, plan);
  return new engines::threaded_engine(plan, threads ? threads : default_threads(), queues, order, most(1u, pes_per_band), offered_from, log);
}

}  // namespace wsl
