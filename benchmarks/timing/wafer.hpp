// SPDX-License-Identifier: MIT
// What a whole wafer takes in the timed engine: time and memory of a step of wave25, one column of cells a
// PE.
#pragma once
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/kernel/wave25/rotating.hpp>
#include <wsl/kernel/wave25/serial.hpp>

namespace timing_table {

using namespace wsl;

inline f64 seconds_now() {
  return std::chrono::duration<f64>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A line of /proc/self/status, in bytes; 0 where there is none.
inline f64 memory_of_process(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return 1024 * std::stod(line.substr(field.size() + 1));
  return 0;
}

template <int nz, class Program>
void print_wafer(const char* exchange, int wide, int high, int threads, int steps) {
  wave25::problem p{.size = {wide, high, nz}};
  p.sources.push_back({.at = {wide / 2, high / 2, nz / 2}});
  const f64 begin = seconds_now(), before = memory_of_process("VmRSS");
  wave25::wafer_simulation<nz, Program> s{p, wse2, timed{.threads = threads}};
  const f64 built = seconds_now(), pes = f64{1} * wide * high;
  std::printf("wave25 by %s, %d x %d PEs, %d cells a PE, %d threads\n", exchange, wide, high, nz, threads);
  std::printf("  built in %.1f s, %.0f bytes a PE (%zu of them the program)\n", built - begin,
              (memory_of_process("VmRSS") - before) / pes, sizeof(Program));
  const auto& engine = static_cast<const engines::timed_engine&>(s.wafer().engine_in_use());
  for (int k = 0; k < steps; ++k) {
    const f64 start = seconds_now();
    const u64 visits = engine.visits(), cycles = s.run(1);
    const f64 took = seconds_now() - start, visited = static_cast<f64>(engine.visits() - visits);
    std::printf("  step %d: %.2f s for %llu cycles, %.0f visits a PE, %.3f us of a thread a visit\n", k, took,
                static_cast<unsigned long long>(cycles), visited / pes, 1e6 * took * threads / visited);
    std::fflush(stdout);
  }
  for (const engines::memory_use& part : engine.memory())
    if (part.bytes) std::printf("  %8.0f bytes a PE: %s\n", static_cast<f64>(part.bytes) / pes, part.what);
  std::printf("  peak of the process %.2f GB, %.0f bytes a PE\n", memory_of_process("VmHWM") / 1e9,
              (memory_of_process("VmHWM") - before) / pes);
}

template <int nz>
void print_wafer(const std::string& exchange, int wide, int high, int threads, int steps) {
  if (exchange == "turns")
    print_wafer<nz, wave25::rotating_wave_pe<nz, wave25::one_line<nz, false>>>("turns", wide, high, threads, steps);
  else
    print_wafer<nz, wave25::wave_pe<wave25::one_line<nz, false>>>("relays", wide, high, threads, steps);
}

}  // namespace timing_table
