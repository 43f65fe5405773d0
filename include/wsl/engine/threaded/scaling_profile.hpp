// SPDX-License-Identifier: MIT
// How long would a run take on N threads? One thread runs the same partitions in the same supersteps, because
// both are fixed by the layout, so a profile takes the time of each partition in each superstep and follows
// the schedule of the engine with them: thread k of N runs a contiguous share of the partitions, and all
// threads meet at a barrier. Jobs that PEs offload are a part of their partition's time in the superstep that
// completes them, as on threads. Only sums are kept.
//   scaling_profile times{{4, 16, 64}};
//   fabric f{plan, threaded{.observer = &times}};
//   f.launch();
//   std::puts(to_text(times.predictions()).c_str());  // of prediction.hpp
// docs/scaling.md explains the model and its limits.
#pragma once
#include <initializer_list>
#include <span>

#include "../../core/fault.hpp"
#include "barrier_cost.hpp"
#include "run_observer.hpp"
#include "superstep.hpp"

namespace wsl {

/// The predicted time on a number of threads. The last five times, all in seconds, sum to the first.
struct scaling_prediction {
  int threads = 0;
  f64 seconds = 0;
  f64 speedup = 0;    ///< the time of one thread, with the same partitions, divided by this one
  f64 work = 0;       ///< an even share of the work of all partitions
  f64 imbalance = 0;  ///< what the slowest thread of each superstep does beyond that
  f64 barriers = 0;   ///< to meet after each superstep, and before and after each run
  f64 waking = 0;     ///< threads that slept while they waited begin later
  f64 serial = 0;     ///< what the host does between two runs
  f64 supersteps = 0;

  /// The prediction for one of n equal steps.
  friend scaling_prediction operator/(scaling_prediction p, f64 n) {
    for (f64* part : {&p.seconds, &p.work, &p.imbalance, &p.barriers, &p.waking, &p.serial, &p.supersteps})
      *part /= n;
    return p;
  }
};

namespace engines {

/// The schedule of one number of threads, superstep by superstep. Times are in nanoseconds.
class predicted_schedule {
 public:
  predicted_schedule() = default;
  explicit predicted_schedule(int threads) : threads_(threads) {}

  /// Before a run of that many partitions the other threads wait while the first one runs the host.
  void begin_run(std::size_t partitions, f64 serial, const barrier_cost& cost) {
    const auto used = support::min(static_cast<std::size_t>(threads_), partitions);
    if (behind_.size() != used) behind_ = support::flat_vector<f64>(used);
    behind_[0] += serial;
    meet(cost);
  }
  /// `before[b]` is the time of all partitions before b, and `work` that of those that have work: a single
  /// thread does not look at the others.
  void superstep(std::span<const f64> before, f64 work, const barrier_cost& cost) {
    const int used = static_cast<int>(behind_.size());
    if (used == 1) longest_ += work, behind_[0] += work;
    if (used == 1) return meet(cost);
    f64 longest = 0;
    for (int k = 0; k < used; ++k) {
      const f64 time = before[first_partition_of(k + 1, used, before.size() - 1)] -
                       before[first_partition_of(k, used, before.size() - 1)];
      longest = support::max(longest, time);
      behind_[static_cast<std::size_t>(k)] += time;
    }
    longest_ += longest;
    meet(cost);
  }
  void end_run(const barrier_cost& cost) { meet(cost); }

  /// With `work` in all partitions, and `serial` on the host.
  scaling_prediction prediction(f64 work, f64 serial, u64 supersteps) const {
    constexpr f64 second = 1e9;
    const f64 even = work / threads_;
    return {.threads = threads_,
            .seconds = elapsed_ / second,
            .speedup = elapsed_ > 0 ? (work + serial) / elapsed_ : 0,
            .work = even / second,
            .imbalance = support::max(0., longest_ - even) / second,
            .barriers = barriers_ / second,
            .waking = support::max(0., elapsed_ - serial - longest_ - barriers_) / second,
            .serial = serial / second,
            .supersteps = static_cast<f64>(supersteps)};
  }
  void restart() { *this = predicted_schedule(threads_); }

 private:
  /// Each thread arrives as long after the barrier before as `behind_` says, and leaves at once, or later if
  /// it sleeps; the last one wakes those that do.
  void meet(const barrier_cost& cost) {
    f64 last = 0;
    for (const f64 arrival : behind_) last = support::max(last, arrival);
    elapsed_ += last;
    if (behind_.size() > 1) barriers_ += cost.of(static_cast<int>(behind_.size()));
    if (behind_.size() > 1) elapsed_ += cost.of(static_cast<int>(behind_.size()));
    f64 waking = 0;
    f64* waker = behind_.data();
    for (f64& arrival : behind_) {
      if (arrival >= last) waker = &arrival;
      const bool sleeps = last - arrival > cost.spin;
      arrival = sleeps ? cost.wake + waking : 0;
      waking += sleeps ? cost.wake_each : 0;
    }
    *waker = waking;
  }

  int threads_ = 1;
  support::flat_vector<f64> behind_;  ///< how long after the last barrier each thread arrives at the next
  f64 elapsed_ = 0, longest_ = 0, barriers_ = 0;
};

}  // namespace engines

/// The measurements of one fabric, or of several whose runs follow each other, all on one thread.
class scaling_profile final : public run_observer {
 public:
  /// Returns the time in nanoseconds; it is asked once for each partition that has work in a superstep.
  using clock = u64 (*)();

  /// Predicts for these numbers of threads. Time is the processor time of the calling thread unless another
  /// clock is given; work that waits, for a file for instance, then counts as nothing. The first profile of a
  /// process measures what a barrier costs. Throws fault for a number of threads that is not from 1 to 1024.
  explicit scaling_profile(std::initializer_list<int> threads)
      : scaling_profile(std::span<const int>(threads.begin(), threads.size())) {}
  explicit scaling_profile(std::span<const int> threads, clock now = engines::thread_time,
                           const barrier_cost& cost = barrier_cost::measured())
      : cost_(cost), now_(now) {
    for (const int n : threads) {
      if (n < 1 || n > 1024)
        throw fault("wsl: a run is predicted for 1 to 1024 threads, not for " + std::to_string(n));
      schedules_.push_back(engines::predicted_schedule(n));
    }
    overhead_ = shortest_interval();
  }

  /// Forgets what was measured. From here on the time between runs counts as the host's, also that before the
  /// first run.
  void restart() { forget(), keeps_ = false, kept_.clear(), next_ = 0; }
  /// The same, and what follows is done several times, with `repeat` before each further time.
  void restart_to_repeat() { restart(), keeps_ = true; }
  /// What was done since `restart_to_repeat` is done again. Of each partition in each superstep the shortest
  /// time counts, so that other programs on the computer disturb a prediction little: a superstep takes as
  /// long as its slowest thread, and one of many partitions is always disturbed. Throws fault if the last
  /// time had not as many supersteps and partitions with work as the first.
  void repeat() {
    check_repetition();
    forget(), next_ = 0, is_first_ = false;
  }

  /// One for each number of threads: the time from `restart`, or from the first run, to the end of the last
  /// run.
  support::flat_vector<scaling_prediction> predictions() const {
    check_repetition();
    support::flat_vector<scaling_prediction> of_each;
    for (const engines::predicted_schedule& s : schedules_)
      of_each.push_back(s.prediction(work_, serial_, supersteps_));
    return of_each;
  }

  bool needs_one_thread() const override { return true; }
  void begin_run(int, std::size_t partitions) override {
    const f64 serial = rests_ ? interval() : 0;
    serial_ += serial;
    if (times_.size() != partitions) {
      times_ = support::flat_vector<f64>(partitions);
      before_ = support::flat_vector<f64>(partitions + 1);
    }
    for (engines::predicted_schedule& s : schedules_) s.begin_run(partitions, serial, cost_);
  }
  void end_run() override {
    for (engines::predicted_schedule& s : schedules_) s.end_run(cost_);
    rests_ = true, last_ = now_();
  }
  void begin_superstep(int) override {
    for (f64& time : times_) time = has_not_run;
    last_ = now_();
  }
  void end_partition(int, std::size_t b) override { times_[b] = interval(); }
  void end_superstep(int, std::size_t idle) override {
    const f64 of_idle = idle > 0 ? interval() / static_cast<f64>(idle) : 0;
    f64 work = 0;
    for (std::size_t b = 0; b < times_.size(); ++b) {
      const bool has_run = times_[b] != has_not_run;
      work += has_run ? times_[b] : 0;
      before_[b + 1] = before_[b] + (has_run ? times_[b] : of_idle);
    }
    for (engines::predicted_schedule& s : schedules_)
      s.superstep({before_.data(), before_.size()}, work, cost_);
    work_ += work, ++supersteps_;
  }

 private:
  static constexpr f64 has_not_run = -1;

  void forget() {
    for (engines::predicted_schedule& s : schedules_) s.restart();
    work_ = serial_ = 0, supersteps_ = 0, is_first_ = true;
    rests_ = true, last_ = now_();
  }
  void check_repetition() const {
    if (keeps_ && next_ != kept_.size())
      throw fault("wsl: a profile compares repetitions of the same work, but one has " +
                  std::to_string(next_) + " partitions with work in its supersteps, and the first has " +
                  std::to_string(kept_.size()));
  }

  /// The time since the last call, without that of reading the clock.
  f64 interval() {
    const u64 now = now_(), passed = now - last_;
    last_ = now;
    return shortest(passed > overhead_ ? static_cast<f64>(passed - overhead_) : 0);
  }
  /// Of this time and those at the same place of earlier repetitions.
  f64 shortest(f64 time) {
    if (!keeps_) return time;
    const std::size_t place = next_++;
    if (is_first_) return kept_.push_back(time);
    if (place < kept_.size()) time = kept_[place] = support::min(kept_[place], time);
    return time;
  }
  u64 shortest_interval() const {
    u64 shortest = ~u64{0};
    for (int k = 0; k < 100; ++k) {
      const u64 from = now_();
      shortest = support::min(shortest, now_() - from);
    }
    return shortest;
  }

  barrier_cost cost_;
  clock now_;
  u64 overhead_ = 0;    ///< of the clock
  u64 last_ = 0;        ///< the time at which it was last asked
  bool rests_ = false;  ///< between two runs, or since `restart`
  f64 work_ = 0, serial_ = 0;
  u64 supersteps_ = 0;
  support::flat_vector<f64> times_, before_;
  bool keeps_ = false, is_first_ = true;
  support::flat_vector<f64> kept_;  ///< the shortest times, in their order
  std::size_t next_ = 0;
  support::flat_vector<engines::predicted_schedule> schedules_;
};

}  // namespace wsl
