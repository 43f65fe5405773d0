// SPDX-License-Identifier: MIT
// Low-rank adapters beside the training of all weights: bench_lora <model> <rounds>, the models being gpt2
// (124 M, with adapters for all of c_attn) and llama (of about its size, for q_proj and v_proj), in batches
// of 4 x 64 tokens, with adapters of rank 8, on 2 threads. Prints the milliseconds of a step and the bytes of
// gradients of both: all weights first. The batch is made up; a run whose loss does not fall is an error.
// With a third argument, `layers`, it prints where the last step of both goes instead.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <wsl/ml.hpp>
#include <wsl/ml/io/hugging_face/peft.hpp>
#include <wsl/ml/train/report_text.hpp>

namespace {
using namespace wsl;

constexpr int sequences = 4, length = 64;

struct subject {
  const char* family;
  ml::decoder model;
  std::vector<std::string> targets;
};
subject called(std::string_view name) {
  if (name == "gpt2")
    return {"gpt2",
            {.vocabulary = 50257,
             .positions = 1024,
             .layers = 12,
             .heads = 12,
             .width = 768,
             .between = ml::nonlinearity::gelu_tanh},
            {"c_attn"}};
  if (name == "llama")
    return {"llama",
            {.vocabulary = 32000,
             .positions = 1024,
             .layers = 12,
             .heads = 12,
             .width = 768,
             .filter = 2048,
             .bias = false,
             .between = ml::nonlinearity::swiglu,
             .norm = ml::normalization::rmsnorm,
             .position = ml::positioning::rotary,
             .tied = false},
            {"q_proj", "v_proj"}};
  std::fprintf(stderr, "the models are gpt2 and llama\n");
  std::exit(1);
}

/// A trainer and the times of its steps.
class run {
 public:
  run(ml::network n, f64 rate)
      : trainer_(std::move(n), ml::optimizer::adamw(), {.cores = 2, .threads = 2}), rate_(rate) {}
  void step(const ml::batch& b) {
    const auto began = std::chrono::steady_clock::now();
    losses_.push_back(trainer_.step(b, rate_));
    times_.push_back(
        std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - began).count());
  }
  /// Those of the shortest, for other programs only lengthen a step; the first takes memory into use.
  f64 milliseconds() const { return *std::min_element(times_.begin() + 1, times_.end()); }
  void require_learning(const char* what) const {
    if (losses_.back() < losses_.front()) return;
    std::fprintf(stderr, "%s: the loss went from %g to %g\n", what, losses_.front(), losses_.back());
    std::exit(1);
  }
  const ml::step_report& report() const { return trainer_.report(); }

 private:
  ml::trainer trainer_;
  f64 rate_;
  std::vector<f64> losses_, times_;
};

std::vector<i32> some_numbers(int below) {
  std::mt19937 random(1);
  std::vector<i32> x;
  for (int i = 0; i < sequences * length; ++i)
    x.push_back(static_cast<i32>(random() % static_cast<unsigned>(below)));
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  const subject s = called(argc > 1 ? argv[1] : "");
  const int rounds = argc > 2 ? std::max(2, std::atoi(argv[2])) : 10;
  const ml::lora_settings lora{.rank = 8, .alpha = 16, .targets = s.targets};
  const std::vector<i32> ids = some_numbers(s.model.vocabulary), targets = some_numbers(s.model.vocabulary);
  const ml::batch data{.ids = ids, .targets = targets, .sequences = sequences, .length = length};
  run all(s.model.build(), 3e-4), adapters(s.model.build(ml::adapters_of(lora, s.family, s.model)), 1e-2);
  // In turns, so that what else the computer does slows both down.
  for (int k = 0; k <= rounds; ++k) all.step(data), adapters.step(data);
  all.require_learning("all weights"), adapters.require_learning("adapters");
  if (argc > 3 && std::string_view(argv[3]) == "layers")
    std::printf("%s\n%s\n", ml::to_text(all.report(), true).c_str(),
                ml::to_text(adapters.report(), true).c_str());
  else
    std::printf("%.1f %.1f %llu %llu\n", all.milliseconds(), adapters.milliseconds(),
                static_cast<unsigned long long>(all.report().returned),
                static_cast<unsigned long long>(adapters.report().returned));
}
