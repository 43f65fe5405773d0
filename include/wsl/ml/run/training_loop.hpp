// SPDX-License-Identifier: MIT
// A run is the loop around a trainer: it takes batches, steps, and calls functions that log, evaluate and
// save. It begins with the step at which the trainer stands, so it is the same for a fresh run and for one
// that resumes from a checkpoint.
//   ml::training_loop loop{t, {.steps = 1000, .log_steps = 50, .checkpoint_steps = 200}};
//   loop.on_log([](const auto& x) { fmt::print("step {}: {:.4f}\n", x.step, x.loss); });
//   loop.on_checkpoint([&](i64 step) { ... });
//   loop.train([&] { return data.next(); }, rate);
// See examples/94_own_training.cpp.
#pragma once
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "../../core/fault.hpp"
#include "../model/batch.hpp"
#include "../optim/schedule.hpp"
#include "throughput.hpp"

namespace wsl::ml {

class training_loop {
 public:
  struct settings {
    i64 steps = 0;             ///< in all, including those that the trainer has already done
    i64 log_steps = 50;        ///< between two log entries; the last step always has one
    i64 checkpoint_steps = 0;  ///< between two checkpoints; 0: only after the last step
    i64 eval_steps = 0;        ///< between two evaluations; 0: none
  };
  /// The state of the run that is logged.
  struct progress {
    i64 step = 0;             ///< steps done
    f64 loss = 0;             ///< the loss of the last step
    f64 mean_loss = 0;        ///< the mean loss of all steps since the last log entry
    f64 rate = 0;             ///< the learning rate of the last step
    const throughput& speed;  ///< the speed in sequences
    f64 time_left = 0;        ///< s
  };

  /// A loop around a trainer, which has `step(batch, rate)` and `steps()` and outlives the loop.
  template <class Trainer>
  training_loop(Trainer& t, const settings& how)
      : one_step_([&t](const batch& b, f64 rate) { return t.step(b, rate); }),
        steps_([&t] { return t.steps(); }),
        how_(how) {}

  /// The steps since the last log entry and the sum of their losses: a run that resumes between two entries
  /// takes them over, so that its next mean is that of all steps since the last entry.
  struct unlogged {
    i64 steps = 0;
    f64 losses = 0;
  };
  unlogged since_log() const { return since_log_; }
  void resume(const unlogged& u) { since_log_ = u; }

  /// Called after every step with the number of steps done.
  void on_step(std::function<void(i64)> f) { step_ = std::move(f); }
  void on_log(std::function<void(const progress&)> f) { log_ = std::move(f); }
  void on_checkpoint(std::function<void(i64)> f) { checkpoint_ = std::move(f); }
  void on_evaluation(std::function<void(i64)> f) { evaluation_ = std::move(f); }
  /// Lets several processes agree on when to stop: f gets whether this process was asked to stop, and returns
  /// whether all of them do. It is called equally often on all processes.
  void on_stop(std::function<bool(bool)> f) { agree_ = std::move(f); }

  /// Trains with one batch after the other until the last step. `next()` returns a batch, or something that
  /// has a `view()` of one. Throws a fault if the loss is not finite, before it is saved.
  template <class Next>
  void train(Next&& next, const rate::schedule& rate) {
    speed_ = throughput();
    i64 samples = 0;  // since the last log entry
    // After a step it is asked only where the last of them would still be saved.
    stops();
    while (steps_() < how_.steps && !stopped_) {
      const i64 step = steps_();
      const auto numbers = next();
      const batch b = view_of(numbers);
      const f64 loss = one_step_(b, rate(step));
      if (!std::isfinite(loss))
        throw fault(fmt::format(
            "wsl: in step {} the loss is {}: try a smaller learning rate, or clip the gradients' norm",
            step + 1, std::isnan(loss) ? "NaN" : "infinite"));
      samples += b.sequences, since_log_.losses += loss, ++since_log_.steps;
      if (step_) step_(step + 1);
      stops();
      if (due(step + 1, how_.log_steps) || is_last(step + 1)) {
        speed_.add(std::exchange(samples, 0));
        const f64 mean = since_log_.losses / static_cast<f64>(since_log_.steps);
        since_log_ = {};
        if (log_)
          log_({step + 1, loss, mean, rate(step), speed_,
                speed_.time_for((how_.steps - step - 1) * b.sequences)});
        stops();
      }
      if (evaluation_ && how_.eval_steps && (due(step + 1, how_.eval_steps) || is_last(step + 1)))
        uncounted(evaluation_, step + 1), stops();
      if (checkpoint_ && (due(step + 1, how_.checkpoint_steps) || is_last(step + 1)))
        uncounted(checkpoint_, step + 1), stops();
    }
  }
  /// Makes the step at hand the last one. May be called by the functions above, and from a signal handler or
  /// another thread.
  void stop() { asked_ = true; }
  bool stopped() const { return stopped_; }
  const throughput& speed() const { return speed_; }

 private:
  // To be called where all processes of a run come by, because a signal reaches them at different times.
  bool stops() { return stopped_ = stopped_ || (agree_ ? agree_(asked_) : asked_.load()); }
  static const batch& view_of(const batch& b) { return b; }
  template <class Numbers>
  static batch view_of(const Numbers& b) {
    return b.view();
  }
  bool is_last(i64 step) const { return step == how_.steps || stopped_; }
  static bool due(i64 step, i64 every) { return every > 0 && step % every == 0; }
  void uncounted(const std::function<void(i64)>& f, i64 step) {
    const auto start = throughput::clock::now();
    f(step);
    speed_.skip(throughput::clock::now() - start);
  }

  std::function<f64(const batch&, f64)> one_step_;
  std::function<i64()> steps_;
  settings how_;
  throughput speed_;
  unlogged since_log_;
  std::atomic<bool> asked_ = false;
  bool stopped_ = false;
  std::function<bool(bool)> agree_;
  std::function<void(i64)> step_, checkpoint_, evaluation_;
  std::function<void(const progress&)> log_;
};

}  // namespace wsl::ml
