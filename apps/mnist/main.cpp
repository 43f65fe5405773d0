// SPDX-License-Identifier: MIT
// wsl-mnist: trains perceptrons that recognise digits. `wsl-mnist train_and_eval` needs no data and no file:
// it draws its own digits.
#include <cstdio>
#include <wsl/ml/data/digits.hpp>

#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/session.hpp"
#include "../train/synthetic.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "options.hpp"

namespace mnist_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;

ml::dataset images_of(const input_params& in, ml::mnist_part part, i64 to_draw) {
  const wsl::u64 seed = part == ml::mnist_part::train ? 1 : 2;
  return ml::examples_of(in.data_dir.empty() ? ml::draw_digits(to_draw, seed)
                                             : ml::read_mnist(in.data_dir, part));
}
ml::dataset random_images(const input_params& in, const made_images& how, bool trains) {
  return ml::synthetic_features(synthetic_settings_of(in, how.random.num_examples, trains), 1, 784, 10);
}

int run(int argc, char** argv) {
  options o;
  common_params& p = o.common;
  const model_params& m = o.model;
  const made_images &made = o.made, &made_for_eval = o.made_for_eval;
  fields f;
  declare(f, o);
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
  const bool only_evaluates = *mode == "eval" || *mode == "eval_all";
  require_files(o, !only_evaluates, *mode != "train");
  task t{.program = "wsl-mnist",
         .model = [m] { return m.network(); },
         .model_words = m.words(),
         .data_words = is_random                        ? "random numbers in place of images"
                       : p.train_input.data_dir.empty() ? "digits that this program draws"
                                                        : "images of " + p.train_input.data_dir,
         .architecture = m.architecture()};
  t.train = ranks::read_data([&] {
    return is_random ? random_images(p.train_input, made, true)
                     : images_of(p.train_input, ml::mnist_part::train, made.digits);
  });
  t.held_out = ranks::read_data([&] {
    return is_random ? random_images(p.eval_input, made_for_eval, false)
                     : images_of(p.eval_input, ml::mnist_part::test, made_for_eval.digits);
  });
  session s(p, f.kept_text(), std::move(t));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace
}  // namespace mnist_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-mnist", argc, argv, mnist_app::run); }
