// SPDX-License-Identifier: MIT
// One model learns on one wafer and on clusters of two and four. The memory sends every weight once, whatever
// the number of wafers: the fabric fans it out. Gradients are added up in trees on the way back.
#include <wsl/ml.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

int main() {
  constexpr int sequences = 8, length = 16;
  std::vector<i32> ids, next;
  for (int i = 0; i < sequences * length; ++i)
    ids.push_back(i * i % 29), next.push_back((i + 1) * (i + 1) % 29);
  const ml::batch lesson{.ids = ids, .targets = next, .sequences = sequences, .length = length};
  const ml::decoder model{.vocabulary = 29, .positions = length, .layers = 2, .heads = 2, .width = 32};

  std::vector<f64> alone;
  for (int num_csx : {1, 2, 4}) {
    ml::trainer t(model.build(), ml::optimizer::adamw(), {.workers = 2, .num_csx = num_csx});
    f64 off = 0;
    for (std::size_t step = 0; step < 20; ++step) {
      const f64 loss = t.step(lesson, 1e-2);
      if (num_csx == 1) alone.push_back(loss);
      off = std::fmax(off, std::fabs(loss / alone[step] - 1));
    }
    const ml::step_report& r = t.report();
    std::printf(
        "%d %s: weights out %llu bytes, gradients in %llu, words on the fabric %llu; %s\n", num_csx,
        num_csx == 1 ? "wafer " : "wafers", static_cast<unsigned long long>(r.sent_forward + r.sent_backward),
        static_cast<unsigned long long>(r.returned), static_cast<unsigned long long>(r.counters.wavelets),
        off < 1e-4 ? "the same losses" : "other losses");
  }
}
