// SPDX-License-Identifier: MIT
// Single wavelets: rows of relays. A data task runs for every wavelet on every PE; the table counts these
// runs.
#include "relay.hpp"

#include "measure.hpp"

namespace {
using namespace wsl;

class rows_of_relays {
 public:
  rows_of_relays(int width, int height, int waves, int threads)
      : width_(width),
        height_(height),
        waves_(waves),
        fabric_{bench::relay_rows(width, height), bench::on(threads)} {}

  u64 run() {
    const outcome done = fabric_.launch<&bench::even_relay::start>(column(0), waves_);
    const u64 firings = static_cast<u64>(width_ - 1) * static_cast<u64>(height_) * static_cast<u64>(waves_);
    bench::require(done.delivered == firings, "the relays lost wavelets");
    ++runs_;
    return firings;
  }

  // PE x gets the number x in every wave.
  void check() {
    for (int y = 0; y < height_; ++y)
      for (int x = 1; x < width_; ++x) {
        const f32 sum =
            x % 2 ? fabric_.read(x, y, &bench::odd_relay::sum) : fabric_.read(x, y, &bench::even_relay::sum);
        bench::require(sum == static_cast<f32>(x) * static_cast<f32>(waves_ * runs_),
                       "a relay has a wrong sum");
      }
  }

 private:
  int width_, height_, waves_, runs_ = 0;
  fabric fabric_;
};

using enum bench::unit;
const bool added[] = {
    bench::add<rows_of_relays>("relay 32x32", "wsl", mega_per_second, 5, 32, 32, 50'000, 1),
    bench::add<rows_of_relays>("relay chain of 16", "wsl", mega_per_second, 5, 16, 1, 150'000, 1),
    bench::add<rows_of_relays>("relay 32x32, 2 threads", "wsl", mega_per_second, 5, 32, 32, 50'000, 2),
    bench::add<rows_of_relays>("relay 32x32, 2 threads", "1 thread", mega_per_second, 5, 32, 32, 50'000, 1),
    bench::add<rows_of_relays>("relay 32x32, 2 threads", "1 thread, free", mega_per_second, 5, 32, 32, 50'000,
                               bench::free_of_supersteps),
};

}  // namespace
