// SPDX-License-Identifier: MIT
// The constants of the machines that nobody has published, fitted to the cases that are marked for it: the
// whole numbers with the smallest sum of squared relative errors, found by changing one or two of them at a
// time. All but the ramp's latency of wse3 are the same for both machines.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "vendor.hpp"

namespace timing_table {

struct program_case {
  const char* name;
  const machine* target;
  f64 published;
  std::function<f64(const machine&)> run;
  bool fitted;
  f64 bound = 10;
};

/// The constants that are fitted.
struct constants {
  int task_start, operation_setup, operation_least, descriptor_load, multiply32, clock_reading, ramp_latency3;
  static constexpr int count = 7;

  int& operator[](int i) { return *members()[static_cast<std::size_t>(i)]; }
  static const char* name(int i) {
    static const char* names[]{"task_start",          "operation_setup",         "operation_least",
                               "descriptor_load",     "instructions.multiply32", "clock_reading",
                               "ramp_latency of wse3"};
    return names[i];
  }
  // A descriptor has four words of 16 bits, so it takes four cycles at least to load it.
  static int least(int i) { return i == 1 || i == 5 ? 0 : i == 3 ? 4 : 1; }
  static int most(int i) { return i == 4 ? 20 : 14; }

  machine on(machine m) const {
    m.task_start = task_start, m.operation_setup = operation_setup, m.operation_least = operation_least;
    m.descriptor_load = descriptor_load, m.instructions.multiply32 = multiply32;
    if (m.color_owns_queue) m.ramp_latency = ramp_latency3;
    return m;
  }
  static constants present() {
    return {wse2.task_start,      wse2.operation_setup,         wse2.operation_least,
            wse2.descriptor_load, wse2.instructions.multiply32, timing_table::clock_reading,
            wse3.ramp_latency};
  }

 private:
  std::array<int*, count> members() {
    return {&task_start, &operation_setup, &operation_least, &descriptor_load,
            &multiply32, &clock_reading,   &ramp_latency3};
  }
};

/// The sum of the squared relative errors of the fitted cases.
inline f64 misfit(const std::vector<program_case>& cases, const constants& c) {
  const int before = std::exchange(clock_reading, c.clock_reading);
  f64 sum = 0;
  for (const program_case& p : cases)
    if (p.fitted) sum += std::pow((p.run(c.on(*p.target)) - p.published) / p.published, 2);
  clock_reading = before;
  return sum;
}

/// Changes one constant, or two of them against each other, as long as that helps.
inline constants fitted(const std::vector<program_case>& cases, constants best) {
  f64 least = misfit(cases, best);
  const auto try_it = [&](const constants& c) {
    const f64 e = misfit(cases, c);
    if (e >= least - 1e-12) return false;
    return least = e, best = c, true;
  };
  const auto moved = [](constants& c, int i, int by) {
    c[i] += by;
    return c[i] >= constants::least(i) && c[i] <= constants::most(i);
  };
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < constants::count; ++i)
      for (int by : {-3, -2, -1, 1, 2, 3})
        if (constants c = best; moved(c, i, by)) better |= try_it(c);
    for (int i = 0; i < constants::count; ++i)
      for (int j = 0; j < constants::count; ++j)
        for (int by : {-1, 1})
          for (int against : {-2, -1, 1, 2})
            if (constants c = best; i != j && moved(c, i, by) && moved(c, j, against)) better |= try_it(c);
  }
  return best;
}

inline void print_fit(const std::vector<program_case>& cases) {
  constants now = constants::present();
  constants best{6, 6, 1, 6, 6, 2, 2};
  for (const constants& start : {best, constants{2, 1, 4, 1, 4, 6, 6}, constants{4, 3, 2, 10, 15, 3, 3}})
    if (const constants c = fitted(cases, start); misfit(cases, c) < misfit(cases, best)) best = c;
  std::printf("%-26s %8s %8s\n", "constant", "fitted", "in use");
  for (int i = 0; i < constants::count; ++i)
    std::printf("%-26s %8d %8d\n", constants::name(i), best[i], now[i]);
  const auto n = static_cast<f64>(
      std::count_if(cases.begin(), cases.end(), [](const program_case& c) { return c.fitted; }));
  std::printf("%-26s %8.2f %8.2f\n\n", "root of mean square, %", 100 * std::sqrt(misfit(cases, best) / n),
              100 * std::sqrt(misfit(cases, now) / n));
  for (const bool of_fit : {true, false}) {
    std::printf("%-36s %-5s %10s %10s %10s\n", of_fit ? "cases of the fit" : "cases apart", "", "published",
                "fitted", "in use");
    for (const program_case& p : cases)
      if (p.fitted == of_fit) {
        clock_reading = best.clock_reading;
        const f64 by_fit = p.run(best.on(*p.target));
        clock_reading = now.clock_reading;
        std::printf("%-36s %-5s %10.6g %+9.1f%% %+9.1f%%\n", p.name, p.target->name, p.published,
                    100 * (by_fit / p.published - 1), 100 * (p.run(*p.target) / p.published - 1));
      }
  }
}

}  // namespace timing_table
