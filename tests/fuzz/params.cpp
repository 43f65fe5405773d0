// SPDX-License-Identifier: MIT
// Params files of the trainers, in the V1 and in the V2 form.
#include <params.hpp>
#include <stdexcept>
#include <trainer_form.hpp>

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
    declare_run(f, common.run, common.reports);
  }
};

/// A file that is accepted says the same in the other form.
void other_form(const std::string& text, const std::string& fields) {
  const YAML::Node root = parsed(text, "a.yaml");
  mistakes found;
  std::vector<std::string> ignored;
  everything x;
  try {
    const YAML::Node made = is_trainer_form(root) ? sections_of_trainer(root, "a.yaml", found, ignored)
                                                  : trainer_of_sections(root, "a.yaml", found);
    found.report();
    x.f.read(written_out(made, "a.yaml"), "b.yaml");
  } catch (const std::invalid_argument&) {
    return;  // the text is longer than a file may be, or only a V1 file can say this
  }
  fuzz::holds(x.f.text() == fields);
}

void params(std::string_view bytes) {
  everything x;
  try {
    x.f.read(std::string(bytes), "a.yaml");
  } catch (const std::invalid_argument& e) {
    for (const std::string& sentence : sentences_of(e)) fuzz::holds(sentence.starts_with("a.yaml"));
    return;
  }
  other_form(std::string(bytes), x.f.text());
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
