// SPDX-License-Identifier: MIT
// Params files of the trainers.
#include <params.hpp>
#include <stdexcept>

#include "fuzz.hpp"

namespace {
using namespace train_app;

struct everything {
  fields f;
  common_params common;
  std::vector<i64> sizes;

  everything() {
    f.section("train_input"), declare_input(f, common.train_input, true);
    f.section("eval_input"), declare_input(f, common.eval_input, false);
    f.section("model"), f.add("hidden_sizes", sizes, "").at_least(1).at_most(1 << 20),
        declare_precision(f, common.precision);
    declare_optimizer(f, common.optimizer), declare_sparsity(f, common.sparsity);
    declare_run(f, common.run);
  }
};

void params(std::string_view bytes) {
  everything x;
  try {
    x.f.read(std::string(bytes), "a.yaml");
  } catch (const std::invalid_argument& e) {
    return fuzz::holds(std::string_view(e.what()).starts_with("a.yaml"));
  }
  try {
    check(x.common);
    x.common.optimizer.rate()(1000);
    for (const auto& g : x.common.sparsity.settings().groups) g.sparsity.at(1000, g.update.before(1000));
  } catch (const std::invalid_argument&) {}
  everything y;
  y.f.read(x.f.text(), "a.yaml");
  fuzz::holds(x.f.text() == y.f.text());
}

const fuzz::enter table{{"params", params}};
}  // namespace
