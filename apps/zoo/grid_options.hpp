// SPDX-License-Identifier: MIT
// The options of the modes of wsl-zoo that train several models: coord_check, sweep and scaling.
#pragma once
#include <fields.hpp>

namespace zoo_app {

struct grid_options {
  train_app::word_list learning_rates = {}, seeds = {}, widths = {}, sizes = {};
  std::string how = "local";
  wsl::f64 tokens_per_parameter = 20;
  wsl::i64 check_steps = 10;
};

void declare_grid(train_app::fields& f, grid_options& g);

}  // namespace zoo_app
