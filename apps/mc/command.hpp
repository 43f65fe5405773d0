// SPDX-License-Identifier: MIT
// What the commands of wsl-mc share: each declares its options, and runs when the user has named it. A run
// prints lines of a name and what it is; it returns the program's exit status, and prints a rate only of what
// it has verified.
#pragma once
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <wsl/kernel/monte_carlo/measures.hpp>

namespace CLI {
class App;
}

namespace mc_app {

/// Declares a command; the function runs it.
std::function<int()> declare_lookups(CLI::App& app);
std::function<int()> declare_particles(CLI::App& app);

[[noreturn]] inline void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

inline void print(const char* name, const std::string& what) {
  std::printf("%-14s %s\n", name, what.c_str());
  std::fflush(stdout);
}

/// printf into a string.
template <class... X>
std::string text(const char* format, X... x) {
  char line[256];
  std::snprintf(line, sizeof line, format, x...);
  return line;
}

inline std::string text(const wsl::monte_carlo::load& l) {
  return text("%llu to %llu, the largest %.3f times the mean", static_cast<unsigned long long>(l.least),
              static_cast<unsigned long long>(l.most), l.imbalance());
}

/// A number that should be another one, and who says so.
struct verdict {
  wsl::u64 found, expected;
  std::string by;

  bool right() const { return found == expected; }
  /// Prints itself, and what was measured only if it is right; returns the exit status.
  int report(wsl::u64 lookups, wsl::f64 seconds) const {
    const auto number = [](wsl::u64 n) { return std::to_string(n); };
    print("verification",
          number(found) + (right() ? ", valid: as " + by : ", INVALID: " + by + " is " + number(expected)));
    if (!right()) return 1;
    print("time", text("%.4g s", seconds));
    print("rate", text("%.4g million lookups/s", static_cast<wsl::f64>(lookups) / seconds / 1e6));
    return 0;
  }
};

}  // namespace mc_app
