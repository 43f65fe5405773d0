// SPDX-License-Identifier: MIT
// The cycles of the library's own kernels within the limits of a machine, beside published measurements of
// other programs for the same task; so there is no bound. Grids are patches of a wafer. Where the whole is a
// sum of equal steps, it is extrapolated from two patches, and a third one says how well.
//   sgemm on 750 x 750 PEs of a CS-2, 349.0 TFLOP/s for 33,000^2: Miyajima et al., IA^3 2024
//   MeshGEMM of halves, whose sums are halves: github MeshInfra/WaferLLM, as in mesh_gemm.hpp
//   TLR-MVM on 48 CS-2, 35,784,000 PEs, 92.58 PB/s: Ltaief et al., SC 2023
//   BiCGStab in f16 with sums in f32, 1536 cells a PE of a CS-1, 28.1 us an iteration: arXiv 2010.03660
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include <wsl/engine/timed.hpp>
#include <wsl/kernel/fft.hpp>
#include <wsl/kernel/gemm/wafer.hpp>
#include <wsl/kernel/gemv/wafer.hpp>
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/tlr/wafer.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

namespace timing_table {

using namespace wsl;

/// A row: the cycles of a kernel, and the multiply-adds of a PE, of which it can start one on f32 in a cycle;
/// without any the row is that of an exchange only.
struct kernel_row {
  const char* what;
  const machine& target;
  f64 cycles, products;
  int bytes;
  std::string published;
};
inline void print_row(const kernel_row& r) {
  const auto text = [](const char* format, f64 x) {
    char to[32];
    std::snprintf(to, sizeof to, format, x);
    return std::string(to);
  };
  std::printf("%-42s %-5s %11.0f %11s %6s %6d  %s\n", r.what, r.target.name, r.cycles,
              text("%.5g us", 1e6 * r.cycles / r.target.clock_hz).c_str(),
              r.products > 0 ? text("%.1f %%", 100 * r.products / r.cycles).c_str() : "-", r.bytes,
              r.products > 0 ? r.published.c_str() : "exchange only");
}

// ---- dense products -------------------------------------------------------------------------------

/// The cycles of a product of full tiles of n x n on a square of PEs.
template <class T, int n, gemm_method method>
f64 gemm_cycles(const machine& m, int side) {
  const int whole = side * n;
  const std::size_t count = static_cast<std::size_t>(whole) * static_cast<std::size_t>(whole);
  const std::vector<T> a(count, T(0.5f)), b(count, T(0.25f));
  std::vector<f32> c(count);
  wafer_gemm<T, {n, n, n}, method> product(side, m, timed{});
  const u64 cycles = product(matrix<f32>(c.data(), whole, whole), matrix<const T>(a.data(), whole, whole),
                             matrix<const T>(b.data(), whole, whole))
                         .cycles;
  for (f32 x : c) must_be(x, 0.125f * static_cast<f32>(whole), "a product");
  return static_cast<f64>(cycles);
}

/// The product on P x P PEs, P steps, from squares of 6 and of 10; the error is that for a square of 16.
template <class T, int n, gemm_method method>
kernel_row gemm_row(const char* what, const machine& m, int P, const std::string& published, f64& error) {
  const f64 few = gemm_cycles<T, n, method>(m, 6), more = gemm_cycles<T, n, method>(m, 10),
            step = (more - few) / 4;
  const f64 test = gemm_cycles<T, n, method>(m, 16);
  error = std::max(error, std::abs(more + 6 * step - test) / test);
  return {what,
          m,
          more + (P - 10) * step,
          static_cast<f64>(P) * n * n * n,
          wafer_gemm<T, {n, n, n}, method>::bytes,
          published};
}

template <int n>
kernel_row gemv_row(const char* what, const machine& m) {
  constexpr int side = 16, whole = side * n;
  const std::vector<f32> a(static_cast<std::size_t>(whole) * whole, 0.5f), x(std::size_t{whole}, 0.25f);
  std::vector<f32> y(std::size_t{whole});
  wafer_gemv<f32, {n, n}> product(matrix<const f32>(a.data(), whole, whole), side, side, m, timed{});
  const u64 cycles = product(y, x).cycles;
  for (f32 found : y) must_be(found, 0.125f * whole, "a matrix-vector product");
  return {what, m, static_cast<f64>(cycles), static_cast<f64>(n) * n, wafer_gemv<f32, {n, n}>::bytes, ""};
}

// ---- low-rank tiles -------------------------------------------------------------------------------

inline constexpr tlr::wafer_room seismic_room{.side = 70, .bases = 32, .tiles = 4};

/// Every PE is full: the rank of each of its four tiles is 8. Nothing travels, so a patch is as quick as 48
/// wafers.
inline f64 tlr_cycles(const machine& m, int wide, int high) {
  using number = std::complex<f32>;
  constexpr int rank = seismic_room.bases / seismic_room.tiles;
  tlr::low_rank<number> a(high * seismic_room.tiles * seismic_room.side, wide * seismic_room.side,
                          seismic_room.side);
  const std::vector<number> ones(std::size_t{rank * seismic_room.side}, {1, 0});
  for (int i = 0; i < a.tile_rows(); ++i)
    for (int j = 0; j < a.tile_columns(); ++j) a.set(i, j, {rank, ones, ones});
  tlr::wafer_multiplier<number, seismic_room> product(a, wide, high, m, timed{});
  const std::vector<number> x(static_cast<std::size_t>(a.columns()), {1, 0});
  std::vector<number> y(static_cast<std::size_t>(a.rows()));
  const u64 cycles = product(y, x).cycles;
  for (const number& found : y)
    must_be(found.real(), static_cast<f32>(rank * a.columns()), "a product of low-rank tiles");
  return static_cast<f64>(cycles);
}
inline kernel_row tlr_row(const char* what, const machine& m, f64& error) {
  const f64 cycles = tlr_cycles(m, 4, 4), wider = tlr_cycles(m, 12, 12);
  error = std::max(error, std::abs(wider - cycles) / cycles);
  // Four real products of V and of U, each of which reads every number once.
  const f64 products = 4. * 2 * seismic_room.side * seismic_room.bases;
  char text[32] = "";
  if (m == wse2)
    std::snprintf(text, sizeof text, "92.58 PB/s; %.4g here",
                  4 * products / cycles * m.clock_hz * 35'784'000 / 1e15);
  return {what, m, cycles, products, tlr::wafer_multiplier<std::complex<f32>, seismic_room>::bytes, text};
}

// ---- a column of cells on each PE ------------------------------------------------------------------

inline constexpr int cells_a_pe = 100, edge_of_plate = 12;

/// A diffusion with zero outside: symmetric, and the same in all directions.
inline solver::stencil diffusion(const solver::cells& size) {
  solver::stencil a{.size = size};
  for (const solver::side_of_stencil& s : solver::stencil_sides)
    (a.*s.weights).assign(size.count(), s.weights == &solver::stencil::centre ? 6.5f : -1.f);
  return a;
}

/// An iteration of a solver; `operations` counts additions and multiplications for a cell.
template <class Method>
kernel_row solver_row(const char* what, int operations, const std::string& published) {
  const solver::cells size{edge_of_plate, edge_of_plate, cells_a_pe};
  solver::solver_on<Method, solver::one_line<cells_a_pe>> s{diffusion(size), size.x, size.y, wse2, timed{}};
  std::vector<f32> b(size.count());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<f32>(i % 7) - 3;
  s.load(b, {.tolerance = 0});
  s.iterate(2);
  const u64 begun = s.cycles();
  s.iterate(4);
  return {what,
          wse2,
          static_cast<f64>(s.cycles() - begun) / 4,
          operations / 2. * cells_a_pe,
          program_v<solver::solver_pe<Method, solver::one_line<cells_a_pe>>>.bytes,
          published};
}
/// The cycles of the exchange only: the PE program computes in C++ and charges nothing for it.
template <class Program>
kernel_row wave_row(const char* what) {
  constexpr int steps = 4;
  wave25::problem p{.size = {edge_of_plate, edge_of_plate, cells_a_pe}};
  p.sources.push_back({.at = {5, 5, 50}});
  wave25::wafer_simulation<cells_a_pe, Program> s{p, wse2, timed{}};
  s.run(1);
  return {what, wse2, static_cast<f64>(s.run(steps)) / steps, 0, program_v<Program>.bytes, ""};
}
inline kernel_row fft_row(const char* what) {
  constexpr int n = 16;
  fft::wafer_transform<n> t(wse2, timed{});
  std::vector<fft::number> x(n * n * n, {1, 0});
  const u64 cycles = t.forward(x, x).cycles;
  return {what, wse2, static_cast<f64>(cycles), 0, program_v<fft::pencil<fft::one_line(n)>>.bytes, ""};
}

inline void print_kernels() {
  f64 error_of_steps = 0, error_of_patch = 0;
  std::printf("\n%-42s %-5s %11s %11s %6s %6s  %s\n", "the library's kernels", "", "cycles", "time", "peak",
              "bytes", "published");
  for (const machine* m : {&wse2, &wse3}) {
    const std::string sgemm = m == &wse2 ? "205940 us, 36.5 %" : "";
    print_row(gemm_row<f32, 44, gemm_method::cannon>("Cannon, f32, 750 x 750 PEs, tiles of 44", *m, 750,
                                                     sgemm, error_of_steps));
    print_row(gemm_row<f32, 44, gemm_method::summa>("SUMMA, f32, 750 x 750 PEs, tiles of 44", *m, 750, sgemm,
                                                    error_of_steps));
  }
  print_row(gemm_row<f16, 12, gemm_method::cannon>("Cannon, f16, 360 x 360 PEs, tiles of 12", wse3, 360,
                                                   "465.31 us, sums in f16", error_of_steps));
  print_row(gemm_row<f16, 8, gemm_method::cannon>("Cannon, f16, 540 x 540 PEs, tiles of 8", wse3, 540,
                                                  "361.6 us, sums in f16", error_of_steps));
  for (const machine* m : {&wse2, &wse3})
    print_row(gemv_row<104>("gemv, f32, 16 x 16 PEs, tiles of 104", *m));
  for (const machine* m : {&wse2, &wse3})
    print_row(tlr_row("low-rank tiles of 70, complex, 32 bases", *m, error_of_patch));
  print_row(solver_row<solver::bicgstab_method>("BiCGStab, an iteration, 100 cells a PE", 44,
                                                "1550 cycles, in f16"));
  print_row(solver_row<solver::conjugate_gradient_method<solver::preconditioner::none>>(
      "conjugate gradients, the same", 22, ""));
  print_row(wave_row<wave25::rotating_wave_pe<cells_a_pe>>("wave25, a step, 100 cells, senders in turn"));
  print_row(wave_row<wave25::wave_pe<wave25::one_line<cells_a_pe>>>("wave25, a step, 100 cells, relays"));
  print_row(fft_row("fft, 16^3 complex numbers, 16 x 16 PEs"));
  std::printf(
      "extrapolated products differ from larger squares by %.2f %% at most, low-rank tiles by %.2f %%\n",
      100 * error_of_steps, 100 * error_of_patch);
}

}  // namespace timing_table
