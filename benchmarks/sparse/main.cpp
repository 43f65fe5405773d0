// SPDX-License-Identifier: MIT
#include "products.hpp"

namespace {
using namespace sparse_bench;

/// The seconds of the quickest of some calls.
template <class F>
f64 seconds_of(F f) {
  f64 least = 1e9;
  for (int k = 0; k < 7; ++k) {
    const auto began = std::chrono::steady_clock::now();
    f();
    least = std::min(least, std::chrono::duration<f64>(std::chrono::steady_clock::now() - began).count());
  }
  return least;
}

}  // namespace

int main() {
  const layer_shape shapes[] = {{2304, 768, 256}, {768, 768, 256}, {3072, 768, 256}, {768, 3072, 256}};
  for (f64 zeros : {0.5, 0.75, 0.9, 0.95}) {
    f64 dense_sum = 0, sparse_sum = 0;
    for (const layer_shape& s : shapes) {
      layer l(s, zeros);
      f64 d[3], t[3];
      for (int r = 0; r < 2; ++r) {
        d[0] = seconds_of([&] { l.forward(); }), t[0] = seconds_of([&] { l.sparse_forward(); });
        d[1] = seconds_of([&] { l.back_to_inputs(); }), t[1] = seconds_of([&] { l.sparse_back_to_inputs(); });
        d[2] = seconds_of([&] { l.back_to_weights(); }),
        t[2] = seconds_of([&] { l.sparse_back_to_weights(); });
      }
      l.check();
      const f64 dense = d[0] + d[1] + d[2], sparse = t[0] + t[1] + t[2];
      dense_sum += dense, sparse_sum += sparse;
      std::printf(
          "%4d x %4d, %4d tokens, %2.0f %% zeros: dense %6.2f %6.2f %6.2f ms  sparse %6.2f %6.2f %6.2f ms  "
          "%.2f %.2f %.2f  all %.2f x\n",
          s.outputs, s.inputs, s.tokens, 100 * zeros, 1e3 * d[0], 1e3 * d[1], 1e3 * d[2], 1e3 * t[0],
          1e3 * t[1], 1e3 * t[2], d[0] / t[0], d[1] / t[1], d[2] / t[2], dense / sparse);
    }
    std::printf("%2.0f %%: %.2f x\n", 100 * zeros, dense_sum / sparse_sum);
  }
}
