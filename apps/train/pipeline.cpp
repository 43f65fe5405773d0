// SPDX-License-Identifier: MIT
#include "machine_of.hpp"

namespace train_app {

std::unique_ptr<machine> pipeline(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                  const wsl::ml::pipeline_settings& how) {
  return std::make_unique<machine_of<wsl::ml::pipelined_trainer>>(std::move(n), rule, how);
}

wsl::layout pipeline_plan(int strips, int replicas) {
  return wsl::ml::pipelined_trainer::plan(strips, replicas);
}

}  // namespace train_app
