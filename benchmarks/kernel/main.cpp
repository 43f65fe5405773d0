// SPDX-License-Identifier: MIT
// scripts/bench kernels: medians of five turns a contestant, each the second of two runs, one line that says
// how wsl compares with its peers, one that predicts it for 16 threads, and one that names the parts whose peers
// are not installed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <thread>

#include "part.hpp"

namespace bench {
namespace {

constexpr int turns = 5;

/// A part, and the library that its peers need, if any.
struct entry {
  const char* name;
  const char* needs = nullptr;
};
/// In the order of the summary.
constexpr entry order[] = {{"wave"},
                           {"stencil-wave"},
                           {"stencil-heat"},
                           {"mc"},
                           {"wafer-mc"},
                           {"tlr", "OpenBLAS"},
                           {"bicgstab"},
                           {"spmv", "Eigen"},
                           {"spmv-3d", "Eigen"},
                           {"spmv-random", "Eigen"},
                           {"krylov", "Eigen"},
                           {"krylov-bicgstab", "Eigen"},
                           {"fft", "FFTW"},
                           {"gemm", "OpenBLAS or oneDNN"},
                           {"dgemm", "OpenBLAS"}};

std::map<std::string, std::function<part()>>& entered() {
  static std::map<std::string, std::function<part()>> parts;
  return parts;
}

/// Prints the part's rows; returns its entry in the summary: "wave 2.10 x loop".
std::string measure(const std::string& name, const part& p) {
  std::vector<std::vector<double>> rates(p.contestants.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < rates.size(); ++i) {
      // threads of the contestant before, OpenMP's among them, may spin for a while
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      // and this one's own may sleep, with cold caches, so its first run is not counted
      p.contestants[i].run();
      rates[i].push_back(p.contestants[i].run());
    }
  if (p.check) p.check();
  std::printf("%s: %s, %s\n", name.c_str(), p.work.c_str(), p.unit.c_str());
  std::vector<double> medians;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    std::sort(rates[i].begin(), rates[i].end());
    medians.push_back(rates[i][turns / 2]);
    std::printf("  %-44s %10.4g   %.4g to %.4g\n", p.contestants[i].name.c_str(), medians[i],
                rates[i].front(), rates[i].back());
  }
  std::fflush(stdout);
  return fmt::format("{} {:.2f} x {}", name, medians[0] / medians.at(1), p.contestants[1].name);
}

}  // namespace

bool enter(const std::string& name, std::function<part()> make) {
  return entered().emplace(name, std::move(make)).second;
}

double seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace bench

int main(int argc, char** argv) try {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  for (const std::string& name : wanted)
    if (std::none_of(std::begin(bench::order), std::end(bench::order),
                     [&](const auto& e) { return name == e.name; }))
      throw std::invalid_argument("there is no part " + name);
  std::string summary, predicted, left_out;
  for (const auto& [name, needs] : bench::order) {
    if (!is_wanted(name)) continue;
    const auto found = bench::entered().find(name);
    if (found != bench::entered().end()) {
      const bench::part p = found->second();
      summary += (summary.empty() ? "kernels: " : ", ") + bench::measure(name, p);
      if (p.predicted)
        predicted +=
            (predicted.empty() ? "predicted 16: " : ", ") + fmt::format("{} {:.2f}", name, p.predicted());
    } else left_out += (left_out.empty() ? "" : ", ") + fmt::format("{} (needs {})", name, needs);
  }
  if (!summary.empty()) fmt::print("{}\n", summary);
  if (!predicted.empty()) fmt::print("{}\n", predicted);
  if (!left_out.empty())
    fmt::print("left out: {}; scripts/setup.sh benchmarks installs the peers\n", left_out);
} catch (const std::exception& e) {
  std::fprintf(stderr, "kernels: %s\n", e.what());
  return 1;
}
