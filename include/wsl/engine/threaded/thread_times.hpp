// SPDX-License-Identifier: MIT
// Where the threads of an engine spend the time of some runs. At any time a thread does one of three things:
// it runs a task or a job whose program has said what it does; it moves words and looks for tasks, for the
// PEs of a partition; or it waits, for the other threads at a barrier or for the host between runs. A program
// names subjects (the layers of a model, for instance) and kinds of work, and the time of each thread is
// divided among their pairs without a gap.
//   thread_times times;
//   fabric f{plan, threaded{.observer = &times}};
//   times.restart(layers, kinds);
//   f.run();       // with tasks that say: const thread_times::span working(layer, kind);
//   times.stop();
//   times.share(layer, kind);
// It can keep each stretch of time as well, for a timeline (`keep_events`). fabric/busy_map.hpp draws the
// share of each PE, train/streaming/step_report.hpp makes the table of a training step of it.
#pragma once
#include <utility>

#include "../../support/flat_vector.hpp"
#include "barrier_cost.hpp"
#include "run_observer.hpp"

namespace wsl {

class thread_times final : public run_observer {
  struct thread;

 public:
  /// The kinds that the engine itself knows. Those of the program follow.
  static constexpr int moving = 0, waiting = 1, first_of_program = 2;

  /// Measures from here on. There are as many subjects and kinds, and one more subject, the host: before the
  /// first run, between runs and after the last one all threads wait for it.
  void restart(int subjects, int kinds) {
    subjects_ = subjects, kinds_ = kinds;
    measures_ = true;
    const moment here = both_clocks();
    began_ = ended_ = here.ticks, began_at_ = ended_at_ = here.nanoseconds;
    for (thread& t : threads_) begin(t);
  }
  void stop() {
    const moment here = both_clocks();
    ended_ = here.ticks, ended_at_ = here.nanoseconds;
    for (thread& t : threads_) t.change_to(cell(host(), waiting), ended_);
    measures_ = false;
  }

  /// The measured time in seconds, by the system's clock: what the shares are shares of.
  f64 seconds() const { return 1e-9 * static_cast<f64>(ended_at_ - began_at_); }

  /// From the next `restart` on each stretch of time of a thread is kept, up to so many; 0: none.
  void keep_events(std::size_t most) { most_events_ = most; }
  /// Calls f(thread, subject, kind, begin, end) for the stretches that were kept, thread by thread. Begin and
  /// end are parts of the measured time, from 0 to 1.
  template <class F>
  void each_event(F f) const {
    const f64 time = static_cast<f64>(ended_ - began_);
    const auto part = [&](u64 at) { return static_cast<f64>(at > began_ ? at - began_ : 0) / time; };
    for (std::size_t number = 0; number < threads_.size(); ++number)
      for (const event& e : threads_[number].events)
        f(static_cast<int>(number), e.cell / kinds_, e.cell % kinds_, part(e.begin), part(e.end));
  }
  /// The stretches that were not kept, because there were too many.
  u64 lost_events() const {
    u64 sum = 0;
    for (const thread& t : threads_) sum += t.lost;
    return sum;
  }

  /// The subject of the time in which threads wait for the host.
  int host() const { return subjects_; }
  /// The share of a subject and a kind in the time of all threads; 0 if there has been no run. The shares of
  /// all sum to 1.
  f64 share(int subject, int kind) const {
    u64 sum = 0;
    for (const thread& t : threads_) sum += t.spent[static_cast<std::size_t>(cell(subject, kind))];
    const f64 time = static_cast<f64>(ended_ - began_) * static_cast<f64>(threads_.size());
    return time > 0 ? static_cast<f64>(sum) / time : 0;
  }

  /// Whether a measured run has begun since the first `restart`.
  bool has_run() const { return !threads_.empty(); }
  /// The part of the measured time in which threads worked for a partition or moved its words; 0 if there has
  /// been no run.
  f64 share_of_partition(std::size_t b) const {
    u64 sum = 0;
    for (const thread& t : threads_) sum += b < t.busy.size() ? t.busy[b] : 0;
    return ended_ > began_ ? static_cast<f64>(sum) / static_cast<f64>(ended_ - began_) : 0;
  }

  // Programs call these. They do nothing on a thread that is not measured.

  /// From here on the engine moves words for this subject when it runs the partition of the calling PE; its
  /// thread waits for this subject, unless it has worked on one since the last barrier.
  static void now_at(int subject, int kind = moving) {
    if (!mine_) return;
    const int to = mine_->of->cell(subject, kind);
    mine_->partitions[mine_->partition] = to;
    mine_->waits_for = subject;
    mine_->change_to(to);
  }
  /// The time of its life is work of this kind for this subject.
  class span {
   public:
    span(int subject, int kind) : thread_(mine_) {
      if (!thread_) return;
      before_ = thread_->cell;
      thread_->worked_for = subject;
      thread_->change_to(thread_->of->cell(subject, kind));
    }
    span(const span&) = delete;
    span& operator=(const span&) = delete;
    ~span() {
      if (thread_) thread_->change_to(before_);
    }

   private:
    thread* thread_;
    int before_ = 0;
  };

  void begin_run(int threads, std::size_t partitions) override {
    if (!measures_) return;
    const auto count = static_cast<std::size_t>(threads);
    if (threads_.size() == count && partitions_ == partitions) return;
    threads_ = support::flat_vector<thread>(count), partitions_ = partitions;
    for (thread& t : threads_) begin(t);
  }
  void begin_thread(int number) override {
    if (!measures_) return;
    thread& t = threads_[static_cast<std::size_t>(number)];
    t.outer = mine_, mine_ = &t;
  }
  void end_thread(int) override {
    if (!measures_) return;
    mine_->change_to(cell(host(), waiting));
    mine_ = mine_->outer;
  }
  void begin_partition(int, std::size_t b) override {
    if (!measures_) return;
    mine_->leave_partition(now());
    mine_->partition = b;
    mine_->change_to(mine_->partitions[b]);
  }
  void end_superstep(int, std::size_t) override {
    if (!measures_ || threads_.size() == 1) return;  // a single thread waits for no other
    const int subject = mine_->worked_for >= 0 ? mine_->worked_for : mine_->waits_for;
    mine_->worked_for = -1;
    mine_->change_to(cell(subject, waiting));
  }

 private:
  struct event {
    u64 begin = 0, end = 0;
    int cell = 0;
  };
  struct alignas(128) thread {
    const thread_times* of = nullptr;
    thread* outer = nullptr;  // the one that the same computer's thread was before
    u64 since = 0, counted = 0;
    int cell = 0, waits_for = 0, worked_for = -1;
    std::size_t partition = 0;
    support::flat_vector<int> partitions;  // the cell of each while the engine moves words for it
    support::flat_vector<u64> spent;       // by cell
    support::flat_vector<u64> busy;        // by partition
    support::flat_vector<event> events;    // as many as there is room for
    std::size_t most_events = 0;
    u64 lost = 0;

    /// Adds the time since it was last called to the partition, if the thread has not waited.
    void leave_partition(u64 at) {
      if (cell % of->kinds_ != waiting && partition < busy.size())
        busy[partition] += at > counted ? at - counted : 0;
      counted = at;
    }
    void change_to(int to) {
      if (to != cell) change_to(to, now());
    }
    void change_to(int to, u64 at) {
      // the clocks of two cores may differ a little
      spent[static_cast<std::size_t>(cell)] += at > since ? at - since : 0;
      leave_partition(at);
      if (most_events && at > since) {
        if (events.size() < most_events) events.push_back({since, at, cell});
        else ++lost;
      }
      cell = to, since = at;
    }
  };

  /// The processor's cycle counter, because it is asked several times in each superstep.
  static u64 now() {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return engines::monotonic_time();
#endif
  }
  struct moment {
    u64 ticks = 0, nanoseconds = 0;
  };
  /// What both clocks say at one moment: of some readings the one in which least time passed between them,
  /// because a thread may be preempted there.
  static moment both_clocks() {
    moment best;
    for (u64 shortest = ~u64{0}, k = 0; k < 4; ++k) {
      const u64 before = now(), nanoseconds = engines::monotonic_time(), passed = now() - before;
      if (passed < shortest) shortest = passed, best = {before, nanoseconds};
    }
    return best;
  }
  int cell(int subject, int kind) const { return subject * kinds_ + kind; }
  void begin(thread& t) const {
    t.of = this, t.since = t.counted = began_, t.cell = cell(host(), waiting);
    t.waits_for = host(), t.worked_for = -1;
    t.partitions = support::flat_vector<int>(partitions_);
    for (int& c : t.partitions) c = cell(host(), moving);
    t.spent = support::flat_vector<u64>(static_cast<std::size_t>((subjects_ + 1) * kinds_));
    t.busy = support::flat_vector<u64>(partitions_);
    t.events.clear(), t.most_events = most_events_, t.lost = 0;
  }

  static inline thread_local thread* mine_ = nullptr;

  int subjects_ = 0, kinds_ = first_of_program;
  bool measures_ = false;
  std::size_t most_events_ = 0;
  u64 began_ = 0, ended_ = 0;        // by `now`
  u64 began_at_ = 0, ended_at_ = 0;  // in nanoseconds
  std::size_t partitions_ = 0;
  support::flat_vector<thread> threads_;
};

}  // namespace wsl
