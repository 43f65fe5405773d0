// SPDX-License-Identifier: MIT
// A run that is interrupted and resumed: drawn digits, batches in a random order, and a checkpoint from which
// the run goes on as if nothing had happened, bit for bit.
#include <wsl/ml.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/run/checkpointing.hpp>

#include <cstdio>
#include <filesystem>
using namespace wsl;

constexpr ml::sequence net{ml::linear<784, 48>{}, ml::elementwise<ml::relu>{}, ml::linear<48, 10>{}};

struct run {
  ml::trainer model{net.build(), ml::optimizer::adam()};
  ml::batches data{ml::examples_of(ml::draw_digits(2000, 1)), {.size = 50, .seed = 3}};

  f64 train(i64 until) {
    f64 loss = 0;
    while (model.steps() < until) loss = model.step(data.next().view(), 1e-3);
    return loss;
  }
  void save(const ml::checkpoints& to) {
    save_checkpoint(to, model, data.position(), {{"about", "drawn digits"}});
  }
  void load(const std::string& file) { data.resume(ml::load_checkpoint(file, model)); }
};

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "wsl_resume").string();
  const ml::checkpoints saved(folder, 2);

  run whole;
  const f64 expected = whole.train(90);

  {
    run first;
    for (i64 step : {20, 40, 60}) first.train(step), first.save(saved);
  }  // and it is gone
  run second;
  second.load(saved.newest().value());
  std::printf("going on after %lld steps, in epoch %lld of the data\n",
              static_cast<long long>(second.model.steps()),
              static_cast<long long>(second.data.position().epoch));
  const bool same = second.train(90) == expected;
  std::printf("the run that was interrupted ends %s\n",
              same ? "bit for bit as the one that was not" : "elsewhere");

  const ml::images test = ml::draw_digits(500, 2);
  ml::batches unseen(ml::examples_of(test), {.size = 500, .shuffle = false});
  const std::vector<f32> logits = second.model.predict(unseen.next().view());
  int right = 0;
  for (std::size_t i = 0; i < 500; ++i)
    right += ml::argmax(std::span(logits).subspan(10 * i, 10)) == test.labels[i];
  std::printf("it reads %s of the digits that it has not seen\n",
              right > 400 ? "more than four in five" : "too few");
  std::filesystem::remove_all(folder);
  return same ? 0 : 1;
}
