// SPDX-License-Identifier: MIT
#include "performance.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <wsl/engine/threaded.hpp>
#include <wsl/linalg/dense.hpp>
#include <wsl/ml/train/report_text.hpp>
#include <wsl/support/file_error.hpp>

namespace train_app {
namespace {

using wsl::f32;
using wsl::f64;
using clock = std::chrono::steady_clock;

constexpr int side = 128, rounds = 5;
constexpr auto of_round = std::chrono::milliseconds(4);

/// The operations a second of one thread in the rounds that all begin together.
void multiply(std::barrier<>& all, f64* speeds) {
  std::vector<f32> numbers(3 * side * side, 0.5f);
  const wsl::matrix<f32> a(numbers.data(), side, side), b(a.first() + side * side, side, side),
      c(b.first() + side * side, side, side);
  for (int r = 0; r < rounds; ++r) {
    all.arrive_and_wait();
    int products = 0;
    const clock::time_point began = clock::now();
    clock::time_point now = began;
    for (; now < began + of_round; ++products, now = clock::now()) wsl::multiply(c, a, b);
    speeds[r] = products * 2. * side * side * side / std::chrono::duration<f64>(now - began).count();
  }
}

}  // namespace

f64 measured_peak(int threads) {
  const int count = threads ? threads : wsl::default_threads();
  std::barrier all(count);
  std::vector<f64> speeds(static_cast<std::size_t>(count) * rounds);
  std::vector<std::jthread> others;
  for (int t = 1; t < count; ++t) others.emplace_back(multiply, std::ref(all), speeds.data() + t * rounds);
  multiply(all, speeds.data());
  others.clear();
  f64 best = 0;
  for (int r = 0; r < rounds; ++r) {
    f64 together = 0;
    for (int t = 0; t < count; ++t) together += speeds[static_cast<std::size_t>(t * rounds + r)];
    best = std::max(best, together);
  }
  return best;
}

disk_speed measured_disk(const std::string& folder) {
  constexpr std::size_t bytes = std::size_t{1} << 20, blocks = 64;
  const auto failed = [&](const char* what) {
    return wsl::support::file_error(fmt::format("a file {} in {}: {}", what, folder, std::strerror(errno)));
  };
  std::string name = folder + "/wsl-memory-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) throw failed("cannot be made");
  unlink(name.c_str());
  std::vector<char> block(bytes);
  for (std::size_t i = 0; i < bytes; ++i) block[i] = static_cast<char>(i * i >> 7);
  const clock::time_point began = clock::now();
  bool whole = true;
  for (std::size_t k = 0; k < blocks; ++k)
    whole = whole && write(file, block.data(), bytes) == static_cast<ssize_t>(bytes);
  whole = whole && fdatasync(file) == 0;
  const clock::time_point written = clock::now();
  // so that the disk is read, and not memory
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  for (std::size_t k = 0; k < blocks; ++k)
    whole = whole &&
            pread(file, block.data(), bytes, static_cast<off_t>(k * bytes)) == static_cast<ssize_t>(bytes);
  const clock::time_point end = clock::now();
  close(file);
  if (!whole) throw failed("cannot be written and read");
  const auto rate = [](clock::duration time) {
    return static_cast<f64>(bytes * blocks) / std::chrono::duration<f64>(time).count();
  };
  return {.read = rate(end - written), .write = rate(written - began)};
}

std::string performance::json() const {
  const f64 rate = speed.global_rate();
  return fmt::format(R"({{
  "total_samples": {},
  "total_time": {:.6f},
  "rate": {:.6f},
  "global_rate": {:.6f},
  "samples_per_sec": {:.6f},
  "tokens_per_sec": {:.6f},
  "flops_utilization": {:.6f},
  "flops_per_sample": {:.0f},
  "peak_flops": {:.0f},
  "weights": "{}"
}}
)",
                     speed.samples(), speed.elapsed(), speed.rate(), rate, rate,
                     rate * static_cast<f64>(tokens), utilization(), flops, peak, weights);
}

std::string table_of(const wsl::ml::step_report& r, bool each_layer) {
  return wsl::ml::to_text(r, each_layer);
}
std::string table_of(const wsl::ml::pipeline_report& r, bool) { return wsl::ml::to_text(r); }

}  // namespace train_app
