// SPDX-License-Identifier: MIT
// Sparse weights beside dense ones: bench_sparse products <rounds> prints the times of the three products of
// the layers of GPT-2 124M, and bench_sparse step <model> <rounds> those of a training step, with the bytes
// that travel. The models are `bytes`, the layers of GPT-2 124M with a vocabulary of 256, and `gpt2` itself;
// their linear layers are sparse, the table of tokens is not.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <wsl/ml.hpp>

#include "products.hpp"

namespace {
using namespace wsl;
using namespace sparse_bench;

/// The seconds that this thread has computed: products run on one thread, and other programs do not count.
f64 computed() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<f64>(t.tv_sec) + 1e-9 * static_cast<f64>(t.tv_nsec);
}

/// The seconds of the quickest of some calls.
template <class F>
f64 quickest(int rounds, F f) {
  f64 least = 1e9;
  for (int k = 0; k < rounds; ++k) {
    const f64 began = computed();
    f();
    least = std::min(least, computed() - began);
  }
  return least;
}

void products(int rounds) {
  for (const int tokens : {256, 1024})
    for (const f64 zeros : {0.75, 0.9, 0.95}) {
      f64 of_dense = 0, of_sparse = 0;
      for (const auto& [outputs, inputs] : {std::pair{2304, 768}, {768, 768}, {3072, 768}, {768, 3072}}) {
        layer l({outputs, inputs, tokens}, zeros);
        const f64 dense[] = {quickest(rounds, [&] { l.forward(); }),
                             quickest(rounds, [&] { l.back_to_inputs(); }),
                             quickest(rounds, [&] { l.back_to_weights(); })},
                  sparse[] = {quickest(rounds, [&] { l.sparse_forward(); }),
                              quickest(rounds, [&] { l.sparse_back_to_inputs(); }),
                              quickest(rounds, [&] { l.sparse_back_to_weights(); })};
        l.check();
        const f64 all_dense = dense[0] + dense[1] + dense[2], all_sparse = sparse[0] + sparse[1] + sparse[2];
        of_dense += all_dense, of_sparse += all_sparse;
        std::printf(
            "%5d %5d x %4d  %2.0f %%  dense %7.2f %7.2f %7.2f ms  sparse %7.2f %7.2f %7.2f ms  %5.2f x\n",
            tokens, outputs, inputs, 100 * zeros, 1e3 * dense[0], 1e3 * dense[1], 1e3 * dense[2],
            1e3 * sparse[0], 1e3 * sparse[1], 1e3 * sparse[2], all_dense / all_sparse);
      }
      std::printf("%5d all layers    %2.0f %%  %.2f x\n", tokens, 100 * zeros, of_dense / of_sparse);
    }
}

/// A trainer and the times of its steps.
class run {
 public:
  run(const ml::decoder& model, const ml::sparsity_settings& sparse)
      : trainer_(model.build(), ml::optimizer::adamw(), {.cores = 2, .threads = 2, .sparsity = sparse}) {}
  void step(const ml::batch& b) {
    const auto began = std::chrono::steady_clock::now();
    losses_.push_back(trainer_.step(b, 3e-4));
    times_.push_back(std::chrono::duration<f64>(std::chrono::steady_clock::now() - began).count());
  }
  /// Those of the shortest, for other programs only lengthen a step; the first takes memory into use.
  f64 milliseconds() const { return 1e3 * *std::min_element(times_.begin() + 1, times_.end()); }
  void require_learning(const char* what) const {
    if (losses_.back() < losses_.front()) return;
    std::fprintf(stderr, "%s: the loss went from %g to %g\n", what, losses_.front(), losses_.back());
    std::exit(1);
  }
  const ml::step_report& report() const { return trainer_.report(); }
  f64 megabytes_out() const { return static_cast<f64>(report().sent_forward + report().sent_backward) / 1e6; }
  f64 megabytes_in() const { return static_cast<f64>(report().returned) / 1e6; }

 private:
  ml::trainer trainer_;
  std::vector<f64> losses_, times_;
};

std::vector<i32> some_numbers(int n, int below) {
  std::mt19937 random(1);
  std::vector<i32> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<i32>(random() % static_cast<unsigned>(below)));
  return x;
}

void steps(std::string_view name, int rounds) {
  const int vocabulary = name == "gpt2" ? 50257 : 256, sequences = 4, length = 64;
  const ml::decoder model{.vocabulary = vocabulary,
                          .positions = 1024,
                          .layers = 12,
                          .heads = 12,
                          .width = 768,
                          .between = ml::nonlinearity::gelu_tanh};
  const std::vector<i32> ids = some_numbers(sequences * length, vocabulary), targets = ids;
  const ml::batch data{.ids = ids, .targets = targets, .sequences = sequences, .length = length};
  run dense(model, {}), sparse(model, ml::sparsity::fixed({.sparsity = 0.9}));
  // In turns, so that what else the computer does slows both down.
  for (int k = 0; k <= rounds; ++k) dense.step(data), sparse.step(data);
  dense.require_learning("dense"), sparse.require_learning("sparse");
  for (const auto& [what, r] : {std::pair{"dense ", &dense}, {"sparse", &sparse}})
    std::printf("%-6.*s %s %8.1f ms a step, %8.2f MB of weights out, %8.2f MB of gradients in\n",
                static_cast<int>(name.size()), name.data(), what, r->milliseconds(), r->megabytes_out(),
                r->megabytes_in());
  std::printf(
      "%-6.*s ratio: step %.2f x, bytes %.3f\n", static_cast<int>(name.size()), name.data(),
      dense.milliseconds() / sparse.milliseconds(),
      (sparse.megabytes_out() + sparse.megabytes_in()) / (dense.megabytes_out() + dense.megabytes_in()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "", model = argc > 2 ? argv[2] : "";
  if (what == "products") products(argc > 2 ? std::max(1, std::atoi(argv[2])) : 7);
  else if (what == "step" && (model == "bytes" || model == "gpt2"))
    steps(model, argc > 3 ? std::max(1, std::atoi(argv[3])) : 5);
  else {
    std::fprintf(stderr, "usage: bench_sparse products [<rounds>] | step bytes|gpt2 [<rounds>]\n");
    return 1;
  }
}
