// SPDX-License-Identifier: MIT
// The lowest held-out loss of a run, by which its best checkpoint is kept and a run that no longer improves
// ends early. A checkpoint has it among its facts, so that a run that resumes goes on with it.
//   if (best.add(step, held_out_loss)) save_checkpoint(best_folder, t);
//   if (best.evaluations_since() == 5) loop.stop();
#pragma once
#include <fmt/format.h>

#include <limits>

#include "../io/checkpoint.hpp"

namespace wsl::ml {

class best_loss {
 public:
  best_loss() = default;
  /// That of the run of a checkpoint; none if the checkpoint does not say it. Throws file_error if it is
  /// damaged.
  explicit best_loss(const checkpoint& from) {
    if (!from.facts().contains("best.loss")) return;
    loss_ = from.number<f64>("best.loss");
    step_ = from.whole_number<i64>("best.step"), since_ = from.whole_number<i64>("best.evaluations_since");
    if (step_ < 0 || since_ < 0)
      throw file_error(
          fmt::format("wsl: {}: 'best.step' and 'best.evaluations_since' should be 0 or more, "
                      "not {} and {}",
                      from.name(), step_, since_));
  }

  /// Takes the loss of an evaluation; true if it is below all before it. A NaN never is.
  bool add(i64 step, f64 loss) {
    if (!(loss < loss_)) return ++since_, false;
    loss_ = loss, step_ = step, since_ = 0;
    return true;
  }
  f64 loss() const { return loss_; }  ///< infinite before the first evaluation
  i64 step() const { return step_; }  ///< at which it was found
  /// The evaluations after it.
  i64 evaluations_since() const { return since_; }

  /// Writes it among the facts of a checkpoint, if there has been an evaluation.
  void add_facts(text_by_name& to) const {
    if (step_ < 0) return;
    to["best.loss"] = fmt::format("{}", loss_), to["best.step"] = fmt::format("{}", step_);
    to["best.evaluations_since"] = fmt::format("{}", since_);
  }

 private:
  f64 loss_ = std::numeric_limits<f64>::infinity();
  i64 step_ = -1, since_ = 0;
};

}  // namespace wsl::ml
