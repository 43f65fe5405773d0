// SPDX-License-Identifier: MIT
// scripts/bench kernels: medians of five turns a contestant, each the second of two runs, and one line that
// says how wsl compares with its peers.
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
// The parts in the order of the last line.
const char* const order[] = {"wave", "mc", "wafer-mc", "tlr", "bicgstab", "fft", "gemm"};

std::map<std::string, std::function<part()>>& entered() {
  static std::map<std::string, std::function<part()>> parts;
  return parts;
}

/// Prints the part's rows; returns what the last line says of it: "wave 2.10 x loop".
std::string measure(const std::string& name, const part& p) {
  std::vector<std::vector<double>> rates(p.contestants.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < rates.size(); ++i) {
      // threads of who ran before, OpenMP's among them, may spin for a while
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      // and its own may sleep, with nothing in their caches
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
  char text[200];
  std::snprintf(text, sizeof text, "%s %.2f x %s", name.c_str(), medians[0] / medians.at(1),
                p.contestants[1].name.c_str());
  return text;
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
  for (const std::string& name : wanted)
    if (!bench::entered().contains(name)) throw std::invalid_argument("there is no part " + name);
  std::string line;
  for (const std::string name : bench::order) {
    const auto found = bench::entered().find(name);
    if (found == bench::entered().end() ||
        (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()))
      continue;
    line += (line.empty() ? "kernels: " : ", ") + bench::measure(name, found->second());
  }
  std::printf("%s\n", line.c_str());
} catch (const std::exception& e) {
  std::fprintf(stderr, "kernels: %s\n", e.what());
  return 1;
}
