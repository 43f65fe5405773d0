// SPDX-License-Identifier: MIT
// The loop around a trainer: it takes batches, steps, and calls who wants to know or to save. Training that
// goes on from a checkpoint begins with the step that the trainer stands at, so the loop is the same for a
// fresh run.
//   ml::executor run{t, {.steps = 1000, .log_steps = 50, .checkpoint_steps = 200}};
//   run.on_log([](const ml::executor::look& x) { std::printf("step %lld: %.4f\n", x.step, x.loss); });
//   run.on_checkpoint([&](i64 step) { ... });
//   run.train([&] { return data.next(); }, rate);
#pragma once
#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "../model/batch.hpp"
#include "../optim/schedule.hpp"
#include "pace.hpp"

namespace wsl::ml {

class executor {
 public:
  struct plan {
    i64 steps = 0;             ///< in all, with those that the trainer has done before
    i64 log_steps = 50;        ///< between two looks; the last step is always one
    i64 checkpoint_steps = 0;  ///< between two checkpoints; 0: only on the last step
    i64 eval_steps = 0;        ///< between two evaluations; 0: none
  };
  /// What a look at training sees.
  struct look {
    i64 step = 0;       ///< steps done
    f64 loss = 0;       ///< of the last step
    f64 mean_loss = 0;  ///< of all steps since the last look
    f64 rate = 0;       ///< of learning, in the last step
    const pace& speed;  ///< in sequences, or rows
    f64 time_left = 0;  ///< s
  };

  /// The trainer has `step(batch, rate)` and `steps()`, and lives longer than this.
  template <class Trainer>
  executor(Trainer& t, const plan& p)
      : one_step_([&t](const batch& b, f64 rate) { return t.step(b, rate); }),
        steps_([&t] { return t.steps(); }),
        plan_(p) {}

  /// After every step: the number of steps done.
  void on_step(std::function<void(i64)> f) { step_ = std::move(f); }
  void on_log(std::function<void(const look&)> f) { log_ = std::move(f); }
  void on_checkpoint(std::function<void(i64)> f) { checkpoint_ = std::move(f); }
  void on_evaluation(std::function<void(i64)> f) { evaluation_ = std::move(f); }
  /// Whether to stop, for several processes that must agree: gets whether this one was asked to, and is
  /// called by all of them equally often.
  void on_stop(std::function<bool(bool)> f) { agree_ = std::move(f); }

  /// Trains with one batch after the other: `next()` gives a batch, or what has a `view()` of one. Throws
  /// std::runtime_error when the loss is not finite any more, before anything of that is saved.
  template <class Next>
  void train(Next&& next, const rate::schedule& rate) {
    speed_ = pace();
    i64 samples = 0, steps = 0;  // since the last look
    f64 losses = 0;
    while (steps_() < plan_.steps && !stops()) {
      const i64 step = steps_();
      const auto numbers = next();
      const batch b = view_of(numbers);
      const f64 loss = one_step_(b, rate(step));
      if (!std::isfinite(loss))
        throw std::runtime_error("wsl: in step " + std::to_string(step + 1) + " the loss is " +
                                 (std::isnan(loss) ? "NaN" : "infinite") +
                                 ": try a smaller learning rate, or clip the gradients' norm");
      samples += b.sequences, losses += loss, ++steps;
      if (step_) step_(step + 1);
      stops();
      if (due(step + 1, plan_.log_steps) || is_last(step + 1)) {
        speed_.add(std::exchange(samples, 0));
        const f64 mean = std::exchange(losses, 0) / static_cast<f64>(std::exchange(steps, 0));
        if (log_)
          log_({step + 1, loss, mean, rate(step), speed_,
                speed_.time_for((plan_.steps - step - 1) * b.sequences)});
        stops();
      }
      if (evaluation_ && plan_.eval_steps && (due(step + 1, plan_.eval_steps) || is_last(step + 1)))
        uncounted(evaluation_, step + 1);
      if (checkpoint_ && (due(step + 1, plan_.checkpoint_steps) || is_last(step + 1)))
        uncounted(checkpoint_, step + 1);
    }
  }
  /// Lets the step that runs be the last one. May be called from a signal handler or another thread.
  void stop() { asked_ = true; }
  bool stopped() const { return stopped_; }
  const pace& speed() const { return speed_; }

 private:
  // Only where all processes of a run come along: a signal reaches them at different times.
  bool stops() { return stopped_ = stopped_ || (agree_ ? agree_(asked_) : asked_.load()); }
  static const batch& view_of(const batch& b) { return b; }
  template <class Numbers>
  static batch view_of(const Numbers& b) {
    return b.view();
  }
  bool is_last(i64 step) const { return step == plan_.steps || stopped_; }
  static bool due(i64 step, i64 every) { return every > 0 && step % every == 0; }
  void uncounted(const std::function<void(i64)>& f, i64 step) {
    const auto start = pace::clock::now();
    f(step);
    speed_.skip(pace::clock::now() - start);
  }

  std::function<f64(const batch&, f64)> one_step_;
  std::function<i64()> steps_;
  plan plan_;
  pace speed_;
  std::atomic<bool> asked_ = false;
  bool stopped_ = false;
  std::function<bool(bool)> agree_;
  std::function<void(i64)> step_, checkpoint_, evaluation_;
  std::function<void(const look&)> log_;
};

}  // namespace wsl::ml
