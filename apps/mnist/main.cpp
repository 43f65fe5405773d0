// SPDX-License-Identifier: MIT
// wsl-mnist: trains perceptrons that recognise digits. `wsl-mnist train_and_eval` needs no data and no file:
// it draws its own digits.
#include <cmath>
#include <cstdio>
#include <wsl/ml/data/digits.hpp>

#include "../run.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/session.hpp"
#include "../train/synthetic.hpp"
#include "configurations.hpp"

namespace {

namespace ml = wsl::ml;
using namespace train_app;

struct model_params {
  std::string name = "fc_mnist", activation = "relu";
  std::vector<i64> hidden_sizes;
  i64 depth = 0, hidden_size = 0;
  bool use_bias = true;
  f64 dropout = 0;

  std::vector<i64> sizes() const {
    for (const auto& [field, size] : {std::pair("depth", depth), {"hidden_size", hidden_size}})
      if (!hidden_sizes.empty() && size)
        throw std::invalid_argument("model has hidden_sizes and " + std::string(field) +
                                    ": give hidden_sizes, or --hidden_sizes null with depth and hidden_size");
    if (!hidden_sizes.empty()) return hidden_sizes;
    if (!depth || !hidden_size)
      throw std::invalid_argument("model needs hidden_sizes, or depth and hidden_size");
    return std::vector<i64>(static_cast<std::size_t>(depth), hidden_size);
  }
  named_words architecture() const {
    std::string all;
    for (const i64 n : sizes()) all += (all.empty() ? "" : ", ") + std::to_string(n);
    return {{"hidden_sizes", "[" + all + "]"},
            {"activation_fn", activation},
            {"use_bias", use_bias ? "true" : "false"}};
  }
  std::string words() const {
    std::string all = "784-";
    for (const i64 n : sizes()) all += std::to_string(n) + "-";
    return all + "10, " + activation;
  }
  ml::network network() const {
    ml::network n;
    int x = n.input("input", 784), number = 0;
    const auto linear = [&](i64 outputs) {
      const auto start = ml::initial::uniform(1 / std::sqrt(static_cast<wsl::f32>(n.width(x))));
      x = n.linear("linear " + std::to_string(number), x, static_cast<int>(outputs), use_bias, start);
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
};

void declare_model(fields& f, model_params& m) {
  f.section("model");
  f.add("name", m.name, "of the model").one_of({"fc_mnist"});
  f.add("hidden_sizes", m.hidden_sizes, "features of the hidden layers").at_least(1).at_most(1 << 20);
  f.add("depth", m.depth, "how many hidden layers, if all are alike").at_least(1).at_most(1000);
  f.add("hidden_size", m.hidden_size, "features of each of those").at_least(1).at_most(1 << 20);
  f.add("activation_fn", m.activation, "after each hidden layer").one_of({"relu", "gelu", "silu"});
  f.add("use_bias", m.use_bias, "of the layers");
  f.add("dropout", m.dropout, "must be 0").at_least(0).at_most(0);
  f.no_effect("true or false", {"to_float16"}, "model.mixed_precision says it");
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.honours("disable_softmax", {"false"});
}

/// The images of a part of the data, if they are not those of files.
struct made_images {
  i64 digits;  ///< to draw
  std::string data_processor = {};
  synthetic_params random = {};
};

ml::dataset images_of(const input_params& in, ml::mnist_part part, i64 to_draw) {
  const wsl::u64 seed = part == ml::mnist_part::train ? 1 : 2;
  return ml::examples_of(in.data_dir.empty() ? ml::draw_digits(to_draw, seed)
                                             : ml::read_mnist(in.data_dir, part));
}
ml::dataset random_images(const input_params& in, const made_images& how, bool trains) {
  return ml::synthetic_features(synthetic_settings_of(in, how.random.num_examples, trains), 1, 784, 10);
}

void declare_made(fields& f, made_images& x) {
  f.add("data_processor", x.data_processor,
        "SyntheticDataProcessor takes random numbers for images; of other names the files say what they are");
  declare_synthetic(f, x.random);
  f.add("drawn_digits", x.digits, "how many to draw, if there is no data_dir")
      .at_least(1)
      .at_most(10'000'000);
}

int run(int argc, char** argv) {
  common_params p;
  model_params m;
  made_images made{.digits = 60000}, made_for_eval{.digits = 10000};  // as many as MNIST has
  fields f;
  f.section("train_input");
  declare_input(f, p.train_input, true), declare_made(f, made);
  f.honours("split", {"train"});
  f.section("eval_input");
  declare_input(f, p.eval_input, false), declare_made(f, made_for_eval);
  f.honours("split", {"val", "test"});
  declare_model(f, m), declare_precision(f, p.precision);
  declare_optimizer(f, p.optimizer), declare_sparsity(f, p.sparsity);
  declare_run(f, p.run), declare_checkpoint_options(f, p);
  int status = 0;
  const program_words words{.name = "wsl-mnist",
                            .about =
                                "Trains perceptrons that recognise digits, by weight streaming on a "
                                "simulated wafer.\nwsl-mnist train_and_eval --data_dir mnist --model_dir run",
                            .modes = common_modes(),
                            .configurations = configurations(),
                            .options = common_readers()};
  const auto mode = parse(argc, argv, words, f, status);
  if (!mode) return status;
  p.run.checkpoint_asked = f.is_asked("checkpoint_path");
  complete(p, ranks::cores(), ranks::memory()), check(p);
  const bool is_random =
      is_synthetic(made.data_processor, made_for_eval.data_processor, p, made.random, made_for_eval.random);
  if (is_random)
    for (const field* x : f.named("drawn_digits"))
      if (x->given.starts_with("--"))
        throw std::invalid_argument(x->given +
                                    " is of digits that are drawn, and data_processor takes random "
                                    "numbers: leave it out");
  task t{.program = "wsl-mnist",
         .model = [m] { return m.network(); },
         .model_words = m.words(),
         .data_words = is_random                        ? "random numbers in place of images"
                       : p.train_input.data_dir.empty() ? "digits that this program draws"
                                                        : "images of " + p.train_input.data_dir,
         .architecture = m.architecture()};
  t.train = is_random ? random_images(p.train_input, made, true)
                      : images_of(p.train_input, ml::mnist_part::train, made.digits),
  t.held_out = is_random ? random_images(p.eval_input, made_for_eval, false)
                         : images_of(p.eval_input, ml::mnist_part::test, made_for_eval.digits);
  session s(p, f.kept_text(), std::move(t));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-mnist", [&] { return run(argc, argv); });
}
