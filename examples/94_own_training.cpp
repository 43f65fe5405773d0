// SPDX-License-Identifier: MIT
// A model and a run of one's own: model, optimizer, data, the training loop, and its callbacks for logging
// and saving. The run stops half way, and a second one, which knows nothing but the folder, goes on to the
// same weights.
#include <wsl/ml.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/run/training_loop.hpp>

#include <cstdio>
#include <filesystem>
using namespace wsl;

constexpr ml::sequence model{ml::linear<784, 48>{}, ml::elementwise<ml::relu>{}, ml::linear<48, 10>{}};

std::vector<f32> train(const std::string& folder, i64 steps) {
  ml::trainer t(model.build(), ml::optimizer::adam(), {.workers = 2});
  ml::batches digits(ml::examples_of(ml::draw_digits(3000, 1)), {.size = 64});
  const ml::checkpoints saved(folder);
  if (const auto last = saved.newest()) digits.resume(ml::load_checkpoint(*last, t));

  ml::training_loop loop(t, {.steps = steps, .log_steps = 40, .checkpoint_steps = 50});
  loop.on_log([](const ml::training_loop::progress& x) {
    std::printf("step %3d: the loss is %s\n", static_cast<int>(x.step), x.loss < 0.5 ? "small" : "large");
  });
  loop.on_checkpoint([&](i64 step) {
    std::printf("step %3d: saved\n", static_cast<int>(step)),
        ml::save_checkpoint(saved, t, digits.position());
  });
  loop.train([&] { return digits.next(); }, ml::rate::cosine(5e-3, 0, 120));
  const auto weights = t.parameter_named("linear 0.weight");
  return {weights.begin(), weights.end()};
}

int main() {
  const auto here = std::filesystem::temp_directory_path() / "wsl_own_training";
  std::filesystem::remove_all(here);
  const std::vector<f32> whole = train(here / "whole", 120);
  train(here / "parts", 70);
  const bool same = train(here / "parts", 120) == whole;
  std::filesystem::remove_all(here);
  std::puts(same ? "both runs have the same weights" : "the runs differ");
  return same ? 0 : 1;
}
