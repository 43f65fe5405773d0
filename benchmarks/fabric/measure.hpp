// SPDX-License-Identifier: MIT
// The measurement of a case for the table. A case is a struct: its constructor builds the object of the
// measurement, run() runs it once and returns the number of things that it moved, and check(), after the last
// run, compares the results with the expected ones. A case that measures another quantity, bytes for
// instance, returns it from run() and uses the unit `plain`.
#pragma once
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <wsl/wsl.hpp>

namespace bench {

/// The quantity that the table prints for a number of things and their time: things a second, the time for
/// one, or the number itself.
enum class unit { mega_per_second, giga_per_second, nanoseconds, microseconds, milliseconds, seconds, plain };

/// The unit of a row; `table` learns it here.
void set_unit(const std::string& row, unit u);

/// One measured run. A function of its own, so that a tool can count the instructions in it.
double measured(const std::function<double()>& run);

/// A benchmark with a wrong result has no number.
inline void require(bool right, const std::string& otherwise) {
  if (right) return;
  std::fprintf(stderr, "wavelets: %s\n", otherwise.c_str());
  std::abort();
}

/// Adds the case to a row of the table, in the column of `who`; each repetition makes it anew and runs it
/// `runs` times.
template <class Case, class... Arguments>
bool add(const std::string& row, const std::string& who, unit u, int runs, Arguments... arguments) {
  set_unit(row, u);
  benchmark::RegisterBenchmark((row + "|" + who).c_str(),
                               [=](benchmark::State& state) {
                                 Case measurable{arguments...};
                                 measurable.run();  // the first run finds nothing in caches
                                 double things = 0;
                                 for (auto _ : state)
                                   things += measured([&] { return static_cast<double>(measurable.run()); });
                                 measurable.check();
                                 state.counters["things"] = things;
                               })
      ->Iterations(runs)
      ->UseRealTime();
  return true;
}

/// The engine of most rows, with one thread.
inline wsl::threaded on_threads(int n) { return wsl::threaded{.threads = n}; }
/// One thread and one partition: words are visible to readers at once, and no thread waits for a superstep to
/// end. Two threads without supersteps would be at best twice as fast, so the difference from that is an
/// upper bound of the cost of determinism.
inline constexpr int free_of_supersteps = 0;
inline wsl::threaded on(int threads) {
  return threads == free_of_supersteps ? wsl::threaded{.threads = 1, .pes_per_partition = 1u << 30}
                                       : on_threads(threads);
}

}  // namespace bench
