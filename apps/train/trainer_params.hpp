// SPDX-License-Identifier: MIT
// The params of a trainer apart from its program: its fields, and what can be said of their values without
// the data. wsl-zoo knows those of all trainers, by which it checks any params file.
#pragma once
#include <memory>

#include "params.hpp"
#include "yaml_text.hpp"

namespace train_app {

class trainer_params {
 public:
  trainer_params() = default;
  // Fields hold references into it.
  trainer_params(const trainer_params&) = delete;
  trainer_params& operator=(const trainer_params&) = delete;
  virtual ~trainer_params() = default;

  fields f;

  /// Adds what is wrong with values that have been read, as far as neither data nor a built model decide it.
  virtual void check(mistakes& found) = 0;
  /// What says after how many steps training ends: those of max_steps, num_steps and num_epochs that are given.
  std::vector<std::string> limits() {
    std::vector<std::string> given{"max_steps", "num_steps", "num_epochs"};
    std::erase_if(
        given, [&](const std::string& name) { return f.named("runconfig." + name).front()->given.empty(); });
    return given;
  }

 protected:
  /// The checks that all trainers have.
  void check_common(mistakes& found, common_params& p) const {
    found.of([&] { f.check(); });
    found.of([&] { require_rate(f); });
    // As on a computer that is large enough.
    found.of([&] { complete(p, 1, 1e18); });
    // The command line names the checkpoint.
    if (p.run.load_checkpoint_states == "model" && p.run.checkpoint_path.empty()) p.run.checkpoint_path = "-";
    found.of([&] { train_app::check(p); });
  }
};

}  // namespace train_app
