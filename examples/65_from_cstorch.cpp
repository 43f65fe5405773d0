// SPDX-License-Identifier: MIT
// A training program as one writes it with cerebras.pytorch: a traced step, closures, and a data executor.
#include <wsl/ml/cstorch.hpp>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/run/sample.hpp>

#include <cstdio>
#include <filesystem>
using namespace wsl;
namespace cstorch = ml::cstorch;

constexpr ml::sequence net{ml::linear<784, 48>{}, ml::elementwise<ml::relu>{}, ml::linear<48, 10>{}};

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "wsl_from_cstorch";
  std::filesystem::remove_all(folder);
  const ml::checkpoints saved(folder);
  ml::batches loader(ml::examples_of(ml::draw_digits(3000, 1)), {.size = 64});
  // From here on, the lines of docs/guide/from_cstorch.md.
  const cstorch::backend backend("CSX");
  const auto model = cstorch::compile(net.build(), backend);
  const cstorch::optim::optimizer optimizer(model, ml::optimizer::sgd({.momentum = 0.9f}), 0.1);
  const cstorch::optim::lr_scheduler lr_scheduler(optimizer, ml::rate::cosine(0.1, 0, 120));

  auto training_step = cstorch::trace([&](const ml::batch& b) {
    const auto loss = model(b);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    lr_scheduler.step();
    return loss;
  });
  auto post_step = cstorch::step_closure([](i64 step, const cstorch::tensor& loss) {
    std::printf("step %3d: the loss is %s\n", static_cast<int>(step + 1),
                loss.item() < 0.6 ? "small" : "large");
  });
  auto save_checkpoint = cstorch::checkpoint_closure([&] { cstorch::save(saved, model, loader); });

  cstorch::data_executor executor(
      loader, {.num_steps = 120, .checkpoint_steps = 60, .log_steps = 40, .config = {.num_csx = 2}});
  for (const auto& [step, batch] : executor) {
    const auto loss = training_step(batch);
    post_step(step, loss);
    save_checkpoint();
  }
  // To here.

  ml::batches unseen(ml::examples_of(ml::draw_digits(500, 2)), {.size = 50, .shuffle = false});
  model.eval();
  auto eval_step = cstorch::trace([&](const ml::batch& b) {
    model(b);
    return model.logits();
  });
  int right = 0;
  auto count = cstorch::step_closure([&](const cstorch::tensor& logits, const ml::batch& b) {
    for (std::size_t i = 0; i < b.targets.size(); ++i)
      right += ml::argmax(logits.values().subspan(10 * i, 10)) == b.targets[i];
  });
  cstorch::data_executor held_out(unseen, {.num_steps = 10, .config = {.num_csx = 2}});
  for (const auto& [step, batch] : held_out) count(eval_step(batch), batch);
  std::printf("it reads %s of the digits that it has not seen\n",
              right > 400 ? "more than four in five" : "too few");
  std::printf("%d checkpoints\n", static_cast<int>(saved.steps().size()));
  std::filesystem::remove_all(folder);
  return right > 400 ? 0 : 1;
}
