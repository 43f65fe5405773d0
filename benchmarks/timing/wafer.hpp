// SPDX-License-Identifier: MIT
// What a whole wafer takes in the timed engine: the time and the memory of a step of wave25, with a column of
// cells on each PE. The same step on 256 x 256 PEs, before it, tells how fast the computer is.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

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

/// A wave in which all cells differ from their neighbours, and one step of it by the formula of the scheme.
struct test_wave {
  wave25::cells size;
  f64 courant;  ///< (c dt / h)^2

  f32 now(int x, int y, int z) const { return f32((7 * x + 13 * y + 29 * z) % 101 - 50) / 50; }
  static f32 before(int x, int y, int z) { return f32((5 * x + 3 * y + 11 * z) % 97 - 48) / 48; }
  f64 after(int x, int y, int z) const {
    f64 laplacian = 0;
    for (int r = -wave25::reach; r <= wave25::reach; ++r) {
      const f64 w = wave25::weights[std::abs(r)];
      for (const wave25::cells& c : {wave25::cells{x + r, y, z}, {x, y + r, z}, {x, y, z + r}})
        laplacian += size.has(c) ? w * f64{now(c.x, c.y, c.z)} : 0;
    }
    return 2 * f64{now(x, y, z)} - f64{before(x, y, z)} + courant * laplacian;
  }
};

/// Prints the time of a step and returns it, in s. Ends the program if a cell has another value than the
/// formula's.
template <int nz, class Program>
f64 print_step(const char* exchange, int wide, int high, int threads, bool parts) {
  const wave25::problem p{.size = {wide, high, nz}};
  const f64 begin = seconds_now(), before = memory_of_process("VmRSS");
  wave25::wafer_simulation<nz, Program> s{p, wse2, timed{.threads = threads}};
  const f64 built = seconds_now(), pes = f64{1} * wide * high;
  const f64 courant = p.time_step() * p.velocity[0] / p.spacing;
  const test_wave wave{p.size, courant * courant};
  const auto tile_at = [&](int x, int y) -> auto& {
    return s.wafer().template program_at<Program>({x, y}).here;
  };
  for (int y = 0; y < high; ++y)
    for (int x = 0; x < wide; ++x)
      for (int z = 0; z < nz; ++z)
        tile_at(x, y).now(x, y)[z] = wave.now(x, y, z),
                             tile_at(x, y).before(x, y)[z] = test_wave::before(x, y, z);
  const auto& engine = static_cast<const engines::timed_engine&>(s.wafer().engine_in_use());
  const f64 start = seconds_now();
  const u64 cycles = s.run(1);
  const f64 took = seconds_now() - start, visits = static_cast<f64>(engine.visits());
  std::printf(
      "%-7s %3d x %3d PEs, %3d cells a PE, %d threads: built in %5.1f s, a step of %llu cycles in %6.2f s, "
      "%.2f million visits/s\n",
      exchange, wide, high, nz, threads, built - begin, static_cast<unsigned long long>(cycles), took,
      visits / took / 1e6);
  for (int y = 0; y < high; y += y < 8 || y >= high - 9 ? 1 : 17)
    for (int x = 0; x < wide; x += x < 8 || x >= wide - 9 ? 1 : 19)
      for (int z = 0; z < nz; ++z)
        if (std::abs(f64{tile_at(x, y).now(x, y)[z]} - wave.after(x, y, z)) > 2e-5) {
          std::fprintf(stderr, "cell (%d, %d, %d) is %g, not %g\n", x, y, z, f64{tile_at(x, y).now(x, y)[z]},
                       wave.after(x, y, z));
          std::exit(1);
        }
  if (!parts) return took;
  std::printf("%9zu bytes a PE: its program\n", sizeof(Program));
  for (const engines::memory_use& part : engine.memory())
    if (part.bytes) std::printf("%9.0f bytes a PE: %s\n", static_cast<f64>(part.bytes) / pes, part.what);
  const f64 peak = memory_of_process("VmHWM");
  std::printf("%9.0f bytes a PE: the most that the process has had; %.2f GB\n", (peak - before) / pes,
              peak / 1e9);
  return took;
}

template <int nz, class Program>
void print_wafer(const char* exchange, int threads) {
  print_step<nz, Program>(exchange, 256, 256, 1, false);
  if (threads > 1) print_step<nz, Program>(exchange, 256, 256, threads, false);
  print_step<nz, Program>(exchange, wse2.width, wse2.height, threads, true);
}

template <int nz>
void print_wafer(const std::string& exchange, int threads) {
  using line = wave25::one_line<nz, false>;
  if (exchange == "turns") print_wafer<nz, wave25::rotating_wave_pe<nz, line>>("turns", threads);
  else print_wafer<nz, wave25::wave_pe<line>>("relays", threads);
}

/// `timing wafer [cells] [exchange] [threads]`; returns false for anything else.
inline bool print_wafer(int argc, char** argv) {
  const std::string cells = argc > 2 ? argv[2] : "8", exchange = argc > 3 ? argv[3] : "relays";
  const int threads = argc > 4 ? std::atoi(argv[4]) : 2;
  if (argc > 5 || threads < 1 || (exchange != "relays" && exchange != "turns")) return false;
  if (cells == "8") return print_wafer<8>(exchange, threads), true;
  if (cells == "32") return print_wafer<32>(exchange, threads), true;
  if (cells == "100") return print_wafer<100>(exchange, threads), true;
  return false;
}

}  // namespace timing_table
