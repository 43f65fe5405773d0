// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <cmath>

namespace mnist_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

class params final : public trainer_params {
 public:
  params() { declare(f, o_); }

  void check(mistakes& found) override {
    check_common(found, o_.common);
    found.of([&] { o_.model.sizes(); });
    found.of([&] { require_files(o_, true, true); });
  }

 private:
  options o_;
};

void declare_model(fields& f, model_params& m) {
  f.section("model");
  f.add("name", m.name, "of the model").one_of({"fc_mnist"});
  f.add("hidden_sizes", m.hidden_sizes, "features of the hidden layers").at_least(1).at_most(1 << 20);
  f.add("depth", m.depth, "how many hidden layers, if all are alike").at_least(1).at_most(1000);
  f.add("hidden_size", m.hidden_size, "features of each of those").at_least(1).at_most(1 << 20);
  f.add("activation_fn", m.activation, "after each hidden layer").one_of({"relu", "gelu", "silu"});
  f.add("use_bias", m.use_bias, "of the layers");
  f.add("uniform_biases", m.uniform_biases,
        "biases start anywhere between -1 and 1 / sqrt(inputs), as those of nn.Linear; false: at 0 (of this "
        "program)");
  // fc_mnist/pytorch/model.py leaves them to nn.Linear.
  f.in_the_zoo([](fields& all) { set_default_of_zoo(all, "model.uniform_biases", "true"); });
  f.add("dropout", m.dropout, "must be 0").at_least(0).at_most(0);
  f.no_effect("true or false", {"to_float16"}, "model.mixed_precision says it");
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.honours("disable_softmax", {"false"});
}

void declare_made(fields& f, made_images& x) {
  f.add("data_processor", x.data_processor,
        "SyntheticDataProcessor takes random numbers for images; of other names the files say what they are");
  declare_synthetic(f, x.random);
  f.add("drawn_digits", x.digits, "how many to draw, if there is no data_dir")
      .at_least(1)
      .at_most(10'000'000);
}

}  // namespace

ml::network model_params::network() const {
  ml::network n;
  int x = n.input("input", 784), number = 0;
  const auto linear = [&](i64 outputs) {
    const auto start = ml::initial::uniform(1 / std::sqrt(static_cast<wsl::f32>(n.width(x))));
    x = n.linear("linear " + std::to_string(number), x, static_cast<int>(outputs), use_bias, start,
                 uniform_biases ? start : ml::initial::constant(0));
  };
  for (const i64 outputs : sizes()) {
    linear(outputs);
    const std::string as = activation + " " + std::to_string(number++);
    if (activation == "relu") x = n.activation<ml::relu>(as, x);
    else if (activation == "gelu") x = n.activation<ml::gelu>(as, x);
    else x = n.activation<ml::silu>(as, x);
  }
  linear(10);
  n.cross_entropy("loss", x);
  return n;
}

void declare(fields& f, options& o) {
  common_params& p = o.common;
  f.section("train_input");
  declare_input(f, p.train_input, true), declare_made(f, o.made);
  f.honours("split", {"train"});
  f.section("eval_input");
  declare_input(f, p.eval_input, false), declare_made(f, o.made_for_eval);
  f.honours("split", {"val", "test"});
  declare_model(f, o.model), declare_precision(f, p.precision);
  declare_optimizer(f, p.optimizer), declare_sparsity(f, p.sparsity);
  declare_run(f, p.run, p.reports), declare_checkpoint_options(f, p);
}

void require_files(const options& o, bool trains, bool evaluates) {
  const bool has_train = !o.common.train_input.data_dir.empty(),
             has_eval = !o.common.eval_input.data_dir.empty();
  const auto refuse = [](const std::string& lacks, const std::string& has) {
    throw std::invalid_argument(
        lacks + ".data_dir is missing: " + has +
        ".data_dir names images, and these would be digits that this program draws: name a "
        "folder of MNIST's files, or leave out both");
  };
  if (trains && !has_train && has_eval) refuse("train_input", "eval_input");
  if (evaluates && has_train && !has_eval) refuse("eval_input", "train_input");
}

std::unique_ptr<trainer_params> new_params() { return std::make_unique<params>(); }

}  // namespace mnist_app
