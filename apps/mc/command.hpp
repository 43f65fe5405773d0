// SPDX-License-Identifier: MIT
// The common part of the commands of wsl-mc: each declares its options, and runs when the user has named it.
// A run prints lines of a name and a value, returns the program's exit status, and prints a rate only for
// verified results.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <wsl/kernel/monte_carlo/run_statistics.hpp>

namespace CLI {
class App;
}

namespace mc_app {

/// Declares a command; the function runs it.
std::function<int()> declare_lookups(CLI::App& app);
std::function<int()> declare_particles(CLI::App& app);
std::function<int()> declare_transport(CLI::App& app);

inline void print(const char* name, const std::string& what) {
  std::printf("%-14s %s\n", name, what.c_str());
  std::fflush(stdout);
}

inline std::string text(const wsl::monte_carlo::load& l) {
  return fmt::format("{} to {}, the largest {:.3f} times the mean", l.min, l.max, l.imbalance());
}

/// The comparison of a run's result with the expected number, and the source of that number. `valid` allows
/// for more than equality where rounding may decide.
struct verdict {
  wsl::u64 found, expected;
  std::string by;
  bool valid = found == expected;

  /// Prints the verdict, and the time and the rate only if it is valid; returns the exit status.
  int report(wsl::u64 lookups, wsl::f64 seconds) const {
    const std::string difference =
        found == expected ? by : fmt::format("{}, {}, but for near-ties", by, expected);
    print("verification", valid ? fmt::format("{}, valid: as {}", found, difference)
                                : fmt::format("{}, INVALID: {} is {}", found, by, expected));
    if (!valid) return 1;
    print("time", fmt::format("{:.4g} s", seconds));
    print("rate", fmt::format("{:.4g} million lookups/s", static_cast<wsl::f64>(lookups) / seconds / 1e6));
    return 0;
  }
};

}  // namespace mc_app
