// SPDX-License-Identifier: MIT
// Many runs of `wsl-zoo fit` that differ in a few fields: each has its params in a file, its run in a
// folder, and its output in a log. They run here one after the other, or as a job array of Slurm. Whatever
// stops them, the same command goes on: runs that have ended are not repeated, and the one that was
// interrupted goes on from its checkpoint.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"

namespace zoo_app {

using wsl::f64;

/// A run: its name, which is that of its files, and its params.
struct trial {
  std::string name, params;
  wsl::i64 steps = 0;
};

/// The numbers of a list, in ascending order. Throws std::invalid_argument unless they are different numbers
/// above 0 (`whole`: whole ones of at least 0).
std::vector<f64> numbers_of(const train_app::word_list& list, const std::string& option, bool whole);

/// The runs of a folder.
class trials {
 public:
  static constexpr f64 diverged = std::numeric_limits<f64>::infinity();

  /// Runs that differ from `params` in a few fields. Throws std::invalid_argument if the folder was begun
  /// with other params.
  trials(std::string folder, std::string params, std::vector<trial> all);

  const std::vector<trial>& all() const { return all_; }
  /// Does with the runs what `how` says: local, slurm or table. Returns whether all of them have ended.
  /// Throws std::runtime_error if one ends otherwise than by its last step or by a loss that is not finite.
  bool run(const std::string& how, const std::string& command);
  /// The loss of the held-out data after the last step; `diverged` if a loss was not finite; none if the run
  /// has not ended.
  std::optional<f64> loss(std::size_t k) const;
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void run_here(std::size_t k) const;
  void write_job_array(const std::string& command) const;

  std::string folder_, params_;
  std::vector<trial> all_;
};

/// Throws std::invalid_argument for settings of a run that a grid of runs does not have, such as a model of
/// --hf.
void require_grid_of_runs(train_app::fields& f, const options& o, const std::string& mode);
/// Throws std::invalid_argument for settings of muP that are those of one width, where several are trained.
void require_any_width(const options& o, const std::string& mode);
/// The largest learning rate of the steps of a run.
f64 peak_rate(const train_app::optimizer_params& p, wsl::i64 steps);
/// Multiplies all learning rates of a schedule by a factor.
void scale_rates(train_app::rate_parts& all, f64 by);
/// Stretches the schedule of a run of some steps to another number of them. Throws std::invalid_argument for
/// a part that is not stretched.
void stretch(train_app::rate_parts& all, wsl::i64 steps, wsl::i64 to);

/// The same model at another width: heads keep their features, and the feed-forward part its ratio to the
/// width. Throws std::invalid_argument if they cannot.
gpt_app::model_params at_width(const gpt_app::model_params& m, int width);
/// The same with muP: that of the model, or with the model itself at this width as the base.
gpt_app::model_params with_mup_from(const gpt_app::model_params& m, int base_width);
/// The same without the factors that follow from widths.
gpt_app::model_params without_mup(const gpt_app::model_params& m);

}  // namespace zoo_app
