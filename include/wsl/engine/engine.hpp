// SPDX-License-Identifier: MIT
// The interface of an engine to the fabric's front end and to the host. Engines differ in how they order and
// time independent events. The results of a program that does not depend on that order are the same on all of
// them.
#pragma once
#include <atomic>
#include <cstring>
#include <span>
#include <string>

#include "../core/fault.hpp"
#include "../layout/layout.hpp"
#include "../program/pe.hpp"
#include "diagnose/place_visitor.hpp"
#include "diagnose/step_observer.hpp"
#include "diagnose/wait.hpp"
#include "outcome.hpp"

namespace wsl::engines {

/// A host call that waits on a PE until the fabric runs.
struct host_call {
  const binding* entry = nullptr;
  /// shared by all PEs of the launch; the host keeps them until the run has ended
  const void* arguments = nullptr;
};

/// Bytes that the host wants to have of a PE. `from` is in the PE's memory, or owned by that, and only the
/// process that runs the PE looks there; `to` may be the same.
struct memory_part {
  const pe* of = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t size = 0;
};

/// What the host does with a PE.
using pe_visitor = void (*)(void* what, pe& p);

class engine : public engine_port {
 public:
  virtual ~engine() = default;

  /// The PE at c, null where no program is placed.
  virtual pe* find(coord c) = 0;
  virtual void call(pe& on, host_call what) = 0;

  /// Sends words, in order, into the grid at PE c. The stream must exist.
  virtual void stream_write(int color, coord c, std::span<const u32> words) = 0;
  /// Takes up to words.size() words that left the grid at PE c; returns how many there were.
  virtual std::size_t stream_read(int color, coord c, std::span<u32> words) = 0;

  /// Words that have left the grid and that stream_read has not taken yet.
  virtual u64 unread_words() const = 0;

  /// Runs until nothing can happen any more. Throws `deadlock` if something still waits then.
  virtual outcome run() = 0;

  /// Whether the cycles of all runs so far are communication only, because no task has charged arithmetic: a
  /// task's own C++ costs nothing without me.spend. False on an engine that counts no machine's cycles.
  virtual bool exchange_only() const { return false; }

  /// Whether other processes run a part of the PEs. A process has the memory of those that it runs itself,
  /// and of others only what its host has asked for, with what it has written there; the host's copies and
  /// reads bring the rest.
  virtual bool spread() const { return false; }
  /// The number of this process among them, and its name in messages; empty for a process alone.
  virtual int process() const { return 0; }
  virtual std::string process_name() const { return {}; }
  /// Whether this process runs the PE.
  virtual bool here(const pe&) const { return true; }
  /// The memory of a PE for the host. That of a PE of another process is made when it is asked for first.
  virtual void* host_memory(pe& p) { return state_of(p).memory(); }
  /// Calls f(what, PE) for the PEs that this process runs, each on the thread that runs it, so that memory
  /// which is first touched then lies near that thread. Requires that no task runs. Throws what f has thrown;
  /// then some PEs may not have been visited.
  virtual void visit_pes(pe_visitor f, void* what) {
    for (const placement& p : plan().placements())
      for (int i = 0; i < p.where.count(); ++i)
        if (pe& one = *find(p.where.nth(i)); here(one)) f(what, one);
  }
  /// Copies n parts to the host, on every process. Collective: all ask for parts of the same PEs and sizes.
  virtual void fetch(const memory_part* first, std::size_t n) {
    for (; n > 0; --n, ++first)
      if (first->to != first->from) std::memcpy(first->to, first->from, first->size);
  }

  /// Computes at once. An engine overrides this if it can overlap the computation with other work.
  void async_compute(pe_state& on, const offloaded_job& what) override {
    what.compute(what.part);
    on.complete(what.then);
  }

  /// The name of the engine, for dumps and messages.
  virtual const char* name() const { return "other"; }
  /// Shows what there is at a place of the grid, for a dump. Requires that no task runs.
  virtual void look_at(coord, place_visitor&) {}
  /// What waits now: if the engine rests, what keeps it from going on, and otherwise also what is on its way.
  virtual waits what_waits() { return {}; }

  /// From the next run on tells a debugger of each step; null for none. Throws fault if it cannot.
  virtual void observe(step_observer* by) {
    if (by)
      throw fault("wsl: the " + std::string(name()) +
                  " engine cannot be stepped: a debugger needs fabric f{plan, reference{}} or fabric f{plan, "
                  "timed{}}");
  }

  /// The run has stood still for so many seconds, in which its observer has kept it: they do not count for
  /// its limit.
  virtual void stood_still(f64) {}

  /// Throws fault if there is a second observer.
  static void must_not_be_observed(const step_observer* by, const step_observer* now) {
    if (by && now && by != now)
      throw fault("wsl: this fabric has a debugger already, and one steps it at a time");
  }

  const layout& plan() const { return plan_; }

  /// Whether a run is in progress; asked by the thread that runs it, or by one of its tasks.
  bool is_running() const { return running_.load(std::memory_order_relaxed); }
  /// Allows one run at a time. Throws fault if one is in progress, perhaps the one whose task asks for
  /// another.
  class single_run {
   public:
    explicit single_run(engine& of) : of_(of) {
      if (of_.running_.exchange(true, std::memory_order_relaxed)) the_fabric_is_running();
    }
    single_run(const single_run&) = delete;
    single_run& operator=(const single_run&) = delete;
    ~single_run() { of_.running_.store(false, std::memory_order_relaxed); }

   private:
    engine& of_;
  };
  [[noreturn]] static void the_fabric_is_running() {
    throw fault(
        "wsl: the fabric is running: the host launches, runs and streams between runs; a task starts another "
        "with me.activate or a wavelet");
  }

 protected:
  explicit engine(const layout& plan) : engine_port(plan.machine(), plan.grid()), plan_(plan) {}

 private:
  std::atomic<bool> running_ = false;
  layout plan_;
};

}  // namespace wsl::engines
