// SPDX-License-Identifier: MIT
// The cycles of the library's own kernels within the limits of a machine, beside published measurements of
// other programs for the same task; so there is no bound. Grids are patches of a wafer. Where the whole is a
// sum of equal steps, it is extrapolated from two patches, and a third one says how well.
//   sgemm on 750 x 750 PEs of a CS-2, 349.0 TFLOP/s for 33,000^2: Miyajima et al., IA^3 2024
//   MeshGEMM of halves, whose sums are halves: github MeshInfra/WaferLLM, as in mesh_gemm.hpp
//   TLR-MVM on 48 CS-2, 35,784,000 PEs, 92.58 PB/s: Ltaief et al., SC 2023
//   BiCGStab in f16 with sums in f32, 1536 cells a PE of a CS-1, 28.1 us an iteration: arXiv 2010.03660
//   25-point stencil, columns of 100 to 1000 cells on 755 x 994 PEs of a CS-2: arXiv 2204.03775
//   wsFFT, 512^3 complex numbers on 512 x 512 PEs of a CS-2: arXiv 2209.15040
//   1.2 Tb/s between a CS-2, or a CS-3, and MemoryX: the vendor's glossary, "SwarmX", and data sheets
//   Monte Carlo lookups, 250 nuclides in 10,000 intervals, tiles of 125 x 90 PEs of a CS-2: arXiv 2311.01739
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include <wsl/collective/all_to_all.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/kernel/fft.hpp>
#include <wsl/kernel/gemm/wafer.hpp>
#include <wsl/kernel/gemv/wafer.hpp>
#include <wsl/kernel/histogram.hpp>
#include <wsl/kernel/monte_carlo/wafer.hpp>
#include <wsl/kernel/solver.hpp>
#include <wsl/kernel/sparse_product.hpp>
#include <wsl/kernel/tlr/wafer.hpp>
#include <wsl/kernel/transformer.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

namespace timing_table {

using namespace wsl;

/// A row: the cycles of a kernel, and the multiply-adds of a PE, of which it can start one on f32 in a cycle;
/// 0 where they say little of the kernel.
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
  std::printf("%-43s %-5s %11.0f %11s %6s %6d  %s\n", r.what, r.target.name, r.cycles,
              text("%.5g us", 1e6 * r.cycles / r.target.clock_hz).c_str(),
              r.products > 0 ? text("%.1f %%", 100 * r.products / r.cycles).c_str() : "-", r.bytes,
              r.published.c_str());
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

/// The cycles of an iteration of a solver on a square of PEs, of so many iterations.
template <class Method, int nz = cells_a_pe, solver::precision numbers = solver::precision::single>
f64 solver_cycles(const machine& m, int side, int iterations = 4) {
  const solver::cells size{side, side, nz};
  solver::solver_on<Method, solver::one_line<nz, numbers>> s{diffusion(size), size.x, size.y, m, timed{}};
  std::vector<f32> b(size.count());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<f32>(i % 7) - 3;
  s.load(b, {.tolerance = 0});
  s.iterate(2);
  const u64 begun = s.cycles();
  s.iterate(iterations);
  return static_cast<f64>(s.cycles() - begun) / iterations;
}
/// Multiply-adds of f16 that a PE starts in a cycle at its peak, or of f32.
inline int products_a_cycle(const machine& m, solver::precision numbers) {
  return numbers == solver::precision::mixed ? m.simd.multiply16 : m.simd.multiply32;
}
/// `operations` counts additions and multiplications for a cell.
template <class Method, int nz = cells_a_pe, solver::precision numbers = solver::precision::single>
kernel_row solver_row(const char* what, const machine& m, f64 cycles, int operations,
                      const std::string& published) {
  return {what,
          m,
          cycles,
          operations / 2. * nz / products_a_cycle(m, numbers),
          solver::solver_on<Method, solver::one_line<nz, numbers>>::bytes,
          published};
}
/// The cycles that a plate of columns x rows takes beyond a square of 24 PEs, with 100 cells a PE or any
/// other number: all its totals cross both sides of the plate, so a patch grows as the sum of its sides. The
/// error is that for 48 x 48 PEs from 12 and 24.
template <class Method, solver::precision numbers = solver::precision::single>
f64 growth_to_plate(const machine& m, int columns, int rows, f64 of_24, f64& error) {
  const f64 few = solver_cycles<Method, cells_a_pe, numbers>(m, 12),
            test = solver_cycles<Method, cells_a_pe, numbers>(m, 48), growth = (of_24 - few) / 24;
  error = std::max(error, std::abs(of_24 + growth * 48 - test) / test);
  return growth * (columns + rows - 48);
}
/// The rows of a solver: a patch, and a plate of 600 x 595 PEs.
template <class Method, solver::precision numbers = solver::precision::single>
f64 print_solver(const std::string& name, const machine& m, int operations, const std::string& published,
                 f64& error) {
  const auto row = [&](const std::string& what, f64 cycles, const std::string& beside) {
    print_row(solver_row<Method, cells_a_pe, numbers>(what.c_str(), m, cycles, operations, beside));
  };
  const f64 of_24 = solver_cycles<Method, cells_a_pe, numbers>(m, 24),
            growth = growth_to_plate<Method, numbers>(m, 600, 595, of_24, error);
  row(name + ", 100 cells a PE", solver_cycles<Method, cells_a_pe, numbers>(m, edge_of_plate), published);
  row("the same, 600 x 595 PEs", of_24 + growth, "");
  return growth;
}
/// Of the publication's size: 1536 cells a PE, in mixed precision.
template <class Method>
void print_long_lines(const char* what, const machine& m, f64 growth, int operations, bool published) {
  constexpr int nz = 1536;
  constexpr auto mixed = solver::precision::mixed;
  // `growth` counts from the sides of 24.
  const f64 cycles = solver_cycles<Method, nz, mixed>(m, 6, 1) + growth * (600 + 595 - 12) / (600 + 595 - 48);
  char text[64];
  std::snprintf(text, sizeof text, published ? "0.86 PFLOP/s; %.2f here" : "%.2f PFLOP/s here",
                static_cast<f64>(operations) * nz * 600 * 595 / cycles * m.clock_hz / 1e15);
  print_row(solver_row<Method, nz, mixed>(what, m, cycles, operations, text));
}

/// A time step; the stencil has 51 operations a cell, by the publication's count.
template <int nz, class Program>
kernel_row wave_row(const char* what, const machine& m, const std::string& published) {
  constexpr int steps = 4;
  wave25::problem p{.size = {edge_of_plate, edge_of_plate, nz}};
  p.sources.push_back({.at = {5, 5, nz / 2}});
  wave25::wafer_simulation<nz, Program> s{p, m, timed{}};
  s.run(1);
  const f64 cycles = static_cast<f64>(s.run(steps)) / steps;
  char text[64];
  std::snprintf(text, sizeof text, published.empty() ? "%s%.0f TFLOP/s here" : "%s; %.0f here",
                published.c_str(), 51 * nz * f64{755 * 994} / cycles * m.clock_hz / 1e12);
  return {what, m, cycles, 51 / 2. * nz, program_v<Program>.bytes, m == wse2 ? text : ""};
}

// ---- Fourier transforms ----------------------------------------------------------------------------

template <int n>
f64 fft_cycles(const machine& m) {
  fft::wafer_transform<n> t(m, timed{});
  std::vector<fft::number> x(std::size_t{n} * n * n, {1, 0});
  const u64 cycles = t.forward(x, x).cycles;
  must_be(x[0].real(), static_cast<f32>(n) * n * n, "a Fourier transform");
  return static_cast<f64>(cycles);
}

/// A line of PEs whose parts of a pencil change places.
template <int n>
struct transposing {
  static constexpr all_to_all<f32> turn{.first = 0, .among = each_row};
  f32 give[std::size_t{2 * n}]{}, take[std::size_t{2 * n}]{};
  endpoint<turn> turning;
  void start(pe& me) { turning.start(me, mem(give), mem(take)); }
  using tasks = task_list<launch<&transposing::start>, use<&transposing::turning>>;
};
/// A transform as the sum of its parts: three phases on a PE, and an exchange on a line of PEs after each of
/// the first two.
template <int n>
f64 fft_cycles_of_parts(const machine& m) {
  layout l{m, n, 1};
  l.place<transposing<n>>(all);
  transposing<n>::turn.wire(l);
  const u64 exchange = fabric{l, timed{}}.launch().cycles;
  return 3 * static_cast<f64>(fft::pencil<fft::one_line(n)>::phase_cycles(m, n)) +
         2 * static_cast<f64>(exchange);
}
template <int n>
kernel_row fft_row(const char* what, const machine& m, const std::string& published, f64& error) {
  f64 cycles = 0;
  if constexpr (n > 32) cycles = fft_cycles_of_parts<n>(m);
  else {
    cycles = fft_cycles<n>(m);
    error = std::max(error, std::abs(fft_cycles_of_parts<n>(m) - cycles) / cycles);
  }
  // 5 n log2 n operations for each of three lines
  return {what, m, cycles, 7.5 * n * std::log2(n), program_v<fft::pencil<fft::one_line(n)>>.bytes, published};
}

// ---- Monte Carlo lookups ----------------------------------------------------------------------------

inline constexpr monte_carlo::wafer_capacity fuel_room{.nuclides = 2, .points = 2 * 160, .particles = 90};
inline constexpr int fuel_particles = 30, fuel_points = 111, diffusion_rounds = 100;

/// The cycles of the three phases on a tile of PEs, each of which has two nuclides, about 111 points of each,
/// and at the beginning 30 particles.
struct fuel_cycles {
  f64 sort, diffuse, circulate;
};
inline fuel_cycles count_lookups(const machine& m, int wide, int high) {
  const auto p =
      monte_carlo::make_fuel_problem(std::size_t{fuel_particles} * static_cast<std::size_t>(wide * high),
                                     fuel_room.nuclides * wide, fuel_points * high);
  monte_carlo::wafer_fabric<fuel_room> w{
      p.material, {.columns = wide, .rows = high, .diffusion_rounds = diffusion_rounds}, m, timed{}};
  const monte_carlo::wafer_result r = w.look_up(p.energies);
  const auto right = monte_carlo::look_up<f64>(p.material, p.energies[0]);
  if (std::abs(r.found[0][0] - right[0]) > 1e-4 * right[0])
    must_be(r.found[0][0], static_cast<f32>(right[0]), "a lookup");
  return {static_cast<f64>(r.sort.cycles), static_cast<f64>(r.diffuse.cycles),
          static_cast<f64>(r.circulate.cycles)};
}
/// The published tile of 125 x 90 PEs, 66 of which fill a wafer. A particle is sorted in as many steps as
/// there are rows, and visits every column. The error is that for 24 x 24 PEs from 8 x 8 and 16 x 16.
inline kernel_row lookups_row(const char* what, const machine& m, f64& error) {
  const fuel_cycles few = count_lookups(m, 8, 8), more = count_lookups(m, 16, 16),
                    test = count_lookups(m, 24, 24);
  const auto of_tile = [&](int wide, int high) {
    return more.sort + (high - 16) * (more.sort - few.sort) / 8 + more.diffuse + more.circulate +
           (wide - 16) * (more.circulate - few.circulate) / 8;
  };
  const f64 all = test.sort + test.diffuse + test.circulate, cycles = of_tile(125, 90);
  error = std::max(error, std::abs(of_tile(24, 24) - all) / all);
  char text[64];
  std::snprintf(text, sizeof text, "130 x an A100; %.3g G/s here",
                66. * 125 * 90 * fuel_particles / cycles * m.clock_hz / 1e9);
  return {what, m, cycles, 0, monte_carlo::wafer_fabric<fuel_room>::bytes, text};
}

// ---- a histogram and a sparse product ------------------------------------------------------------------

inline constexpr histogram_shape pixels{.values = 100, .buckets = 64, .passing = 300};
inline f64 count_histogram(const machine& m, int wide, int high) {
  wafer_histogram<pixels> h(wide, high, m, timed{});
  std::vector<u32> values(h.most_values()), counts(h.buckets()), right(h.buckets());
  u32 random = 1;
  for (u32& v : values) {
    random = random * 1664525 + 1013904223;
    v = static_cast<u32>(u64{random} * h.buckets() >> 32), ++right[v];
  }
  const u64 cycles = h(values, counts).cycles;
  if (counts != right) must_be(0, 1, "a histogram");
  return static_cast<f64>(cycles);
}
/// A square of PEs as the sum of its parts: a column, in which values are sorted and travel, and a row, in
/// which they only travel. The error is that for 48 x 48 PEs.
inline kernel_row histogram_row(const char* what, const machine& m, int side, f64& error) {
  const f64 alone = count_histogram(m, 1, 1), test = count_histogram(m, 48, 48);
  const auto of_parts = [&](int n) { return count_histogram(m, 1, n) + count_histogram(m, n, 1) - alone; };
  const f64 cycles = of_parts(side);
  error = std::max(error, std::abs(of_parts(48) - test) / test);
  char text[64];
  std::snprintf(text, sizeof text, "%.3g G values/s here",
                f64{pixels.values} * side * side / cycles * m.clock_hz / 1e9);
  return {what, m, cycles, 0, wafer_histogram<pixels>::bytes, text};
}

/// The cycles of a product whose blocks of 128 x 128 have 4 nonzeros in a row.
template <int vectors>
f64 count_sparse(const machine& m, int wide, int high) {
  constexpr int n = 128, in_row = 4;
  using product = wafer_sparse_product<{.rows = n, .columns = n, .nonzeros = n * in_row, .vectors = vectors}>;
  std::vector<i64> first{0};
  std::vector<i32> column;
  for (int r = 0; r < high * n; ++r) {
    for (int block = 0; block < wide; ++block)
      for (int k = 0; k < in_row; ++k)
        column.push_back(block * n + k * (n / in_row) + (r * 7 + block) % (n / in_row));
    first.push_back(static_cast<i64>(column.size()));
  }
  const sparse_pattern a(high * n, wide * n, std::move(first), std::move(column));
  const std::vector<f32> values(static_cast<std::size_t>(a.count()), 0.5f),
      b(static_cast<std::size_t>(wide * n * vectors), 0.25f);
  std::vector<f32> c(static_cast<std::size_t>(high * n * vectors));
  product p(a, values, wide, high, m, timed{});
  const u64 cycles =
      p(matrix<f32>(c.data(), high * n, vectors), matrix<const f32>(b.data(), wide * n, vectors)).cycles;
  for (f32 x : c) must_be(x, 0.125f * in_row * static_cast<f32>(wide), "a sparse product");
  return static_cast<f64>(cycles);
}
/// A square of PEs: its first two rows, and a cycle for each link further down a column. The error is that
/// for 48 x 48 PEs.
template <int vectors>
kernel_row sparse_row(const char* what, const machine& m, int side, f64& error) {
  const auto of_square = [&](int n) { return count_sparse<vectors>(m, n, 2) + n - 2; };
  const f64 test = count_sparse<vectors>(m, 48, 48);
  error = std::max(error, std::abs(of_square(48) - test) / test);
  return {what,
          m,
          of_square(side),
          512. * vectors,
          wafer_sparse_product<{.rows = 128, .columns = 128, .nonzeros = 512, .vectors = vectors}>::bytes,
          ""};
}

// ---- a layer of GPT-2 by weight streaming -------------------------------------------------------------

inline constexpr transformer::layer_shape gpt2_shape{.features = 64, .tokens = 8};
inline constexpr int gpt2_columns = 12;  // 768 features, 12 heads

/// The link from MemoryX to a CS-2, or a CS-3.
inline constexpr host_link memory_x{.channels = 12, .bits_a_second = 100e9};

struct layer_cycles {
  f64 forward, backward;
};
template <transformer::layer_shape shape = gpt2_shape>
layer_cycles count_layer(const machine& m, int rows, int sequences, int columns = gpt2_columns) {
  using namespace transformer;
  wafer_layer<shape> layer(columns, rows, sequences, m, timed{.host = memory_x});
  layer_weights w = layer_weights::zeros(layer.features()), gradient;
  u32 random = 1;
  const auto fill = [&](std::vector<f32>& to, f32 around, f32 width) {
    for (f32& x : to) {
      random = random * 1664525 + 1013904223;
      x = around + width * (static_cast<f32>(random >> 8) / 8388608.f - 1);
    }
  };
  for (std::size_t n = 0; n < 2; ++n) fill(w.gain[n], 1, 0.1f), fill(w.offset[n], 0, 0.1f);
  for (std::size_t k = 0; k < 4; ++k) fill(w.matrix[k], 0, 0.05f), fill(w.bias[k], 0, 0.1f);
  std::vector<f32> x(static_cast<std::size_t>(layer.tokens() * layer.features())), y(x.size());
  fill(x, 0, 1);
  const u64 forward = layer.forward(w, x, y).cycles;
  const std::size_t of_a_sequence = x.size() / static_cast<std::size_t>(sequences);
  const std::vector<f64> right =
      serial::layer(w, {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(of_a_sequence)},
                    static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < right.size(); ++i)
    if (std::abs(f64{y[i]} - right[i]) > 1e-4) must_be(y[i], static_cast<f32>(right[i]), "a layer");
  return {static_cast<f64>(forward), static_cast<f64>(layer.backward(w, x, y, gradient).cycles)};
}
/// The multiply-adds of a PE in a forward pass: those of the weights, and those of the pairs of tokens of a
/// sequence on so many rows, half of which attention leaves out. A backward pass has twice and 2.5 times as
/// many.
struct layer_products {
  f64 weights, pairs;
};
inline layer_products products_of_layer_on(int rows) {
  constexpr f64 features = gpt2_shape.features, tokens = gpt2_shape.tokens;
  return {12 * features * features * gpt2_columns * tokens, 2 * features * tokens * (rows * tokens + 1) / 2};
}
/// The cycles on other numbers of rows of PEs than those that were counted. Every row of a sequence meets all
/// others, and every row of the wafer passes on the weights and adds to the gradients. How much another row
/// of the wafer takes does not depend on the features, but can only be told from many: a few cycles are not
/// much beside the differences between PEs.
struct layer_growth {
  layer_cycles few, more;    // a sequence of three rows, and one of six
  layer_cycles many, twice;  // 16 sequences of three rows, and 32, of a thin layer
  f64 of(f64 layer_cycles::* pass, int rows, int all_rows) const {
    return few.*pass + (rows - 3) * (more.*pass - few.*pass) / 3 +
           (all_rows - rows) * (twice.*pass - many.*pass) / 48;
  }
  f64 error(const layer_cycles& counted, int rows, int all_rows) const {
    const auto off = [&](f64 layer_cycles::* pass) {
      return std::abs(of(pass, rows, all_rows) - counted.*pass) / (counted.*pass);
    };
    return std::max(off(&layer_cycles::forward), off(&layer_cycles::backward));
  }
};
/// A patch, and a wafer, whose columns of PEs are one long line that winds through it, twelve abreast: 62
/// times down or up its rows. At the turns, which take twelve rows, are no sequences. The error is that of a
/// thin layer of 32 features, for a sequence of 1024 tokens and for 128 short ones.
inline void print_layer(const machine& m, f64& error) {
  constexpr transformer::layer_shape thin{.features = 16, .tokens = 8};
  const auto count_thin = [&](int rows, int sequences) { return count_layer<thin>(m, rows, sequences, 2); };
  const layer_growth of_thin{count_thin(3, 1), count_thin(6, 1), count_thin(3, 16), count_thin(3, 32)};
  error = std::max(
      {error, of_thin.error(count_thin(128, 1), 128, 128), of_thin.error(count_thin(3, 128), 3, 384)});
  const layer_cycles of_patch = count_layer(m, 6, 1);
  const layer_growth growth{count_layer(m, 3, 1), of_patch, of_thin.many, of_thin.twice};
  constexpr int rows = 1024 / gpt2_shape.tokens;
  const int strips = m.width / gpt2_columns, sequences = strips * ((m.height - 2 * gpt2_columns) / rows);
  const auto row = [&](const char* what, f64 cycles, f64 products, const std::string& rate) {
    print_row({what, m, cycles, products, transformer::wafer_layer<gpt2_shape>::bytes, rate});
  };
  const auto tokens = [&](f64 cycles) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g M tokens/s here", sequences * 1024 / cycles * m.clock_hz / 1e6);
    return std::string(text);
  };
  const layer_products products_of_patch = products_of_layer_on(6), of_sequence = products_of_layer_on(rows);
  row("GPT-2 layer forth, 12 x 6 PEs, 48 tokens", of_patch.forward,
      products_of_patch.weights + products_of_patch.pairs, "");
  row("and back", of_patch.backward, 2 * products_of_patch.weights + 2.5 * products_of_patch.pairs, "");
  const f64 forth = growth.of(&layer_cycles::forward, rows, strips * m.height),
            back = growth.of(&layer_cycles::backward, rows, strips * m.height);
  char text[64];
  std::snprintf(text, sizeof text, "GPT-2 layer forth, wafer, %d x 1024 tokens", sequences);
  row(text, forth, of_sequence.weights + of_sequence.pairs, tokens(forth));
  row("and back", back, 2 * of_sequence.weights + 2.5 * of_sequence.pairs, tokens(back));
  // In the backward pass as many gradients leave as weights come.
  const f64 link = memory_x.channels * memory_x.bits_a_second / 32 / m.clock_hz,
            words = 12 * std::pow(gpt2_columns * gpt2_shape.features, 2);
  std::printf("  of the %.1f words that MemoryX can send in a cycle, a wafer takes %.2f and %.2f\n", link,
              words / forth, words / back);
}

inline void print_kernels() {
  f64 error_of_steps = 0, error_of_patch = 0, error_of_plate = 0, error_of_fft = 0, error_of_tile = 0,
      error_of_layer = 0, error_of_histogram = 0, error_of_sparse = 0;
  std::printf("\n%-43s %-5s %11s %11s %6s %6s  %s\n", "the library's kernels", "", "cycles", "time", "peak",
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
  using bicgstab = solver::bicgstab_method;
  using gradients = solver::conjugate_gradient_method<solver::preconditioner::none>;
  for (const machine* m : {&wse2, &wse3}) {
    using enum solver::precision;
    const bool known = m == &wse2;
    print_solver<bicgstab>("BiCGStab, an iteration", *m, 44, known ? "1550 cycles, in f16" : "",
                           error_of_plate);
    print_solver<gradients>("conjugate gradients", *m, 22, "", error_of_plate);
    const f64 more =
        print_solver<bicgstab, mixed>("BiCGStab in f16", *m, 44, known ? "1550 cycles" : "", error_of_plate);
    print_long_lines<bicgstab>("BiCGStab in f16, 600 x 595 PEs, 1536 cells", *m, more, 44, known);
    const f64 rest = print_solver<gradients, mixed>("conjugate gradients in f16", *m, 22, "", error_of_plate);
    print_long_lines<gradients>("CG in f16, 600 x 595 PEs, 1536 cells", *m, rest, 22, false);
  }
  for (const machine* m : {&wse2, &wse3}) {
    print_row(wave_row<100, wave25::rotating_wave_pe<100>>("wave25, a step, 100 cells, senders in turn", *m,
                                                           "443 TFLOP/s"));
    print_row(wave_row<400, wave25::rotating_wave_pe<400>>("wave25, a step, 400 cells, senders in turn", *m,
                                                           "490 TFLOP/s"));
    print_row(
        wave_row<400, wave25::wave_pe<wave25::one_line<400>>>("wave25, a step, 400 cells, relays", *m, ""));
  }
  for (const machine* m : {&wse2, &wse3}) {
    print_row(fft_row<16>("fft, 16^3 complex numbers, 16 x 16 PEs", *m, "", error_of_fft));
    print_row(fft_row<32>("fft, 32^3 complex numbers, 32 x 32 PEs", *m, "", error_of_fft));
    print_row(fft_row<512>("fft, 512^3 complex numbers, 512 x 512 PEs", *m, m == &wse2 ? "959 us" : "",
                           error_of_fft));
  }
  for (const machine* m : {&wse2, &wse3})
    print_row(lookups_row("Monte Carlo, 125 x 90 PEs, 30 particles", *m, error_of_tile));
  for (const machine* m : {&wse2, &wse3}) {
    print_row(sparse_row<1>("sparse product, 750 x 750 PEs, 512 nonzeros", *m, 750, error_of_sparse));
    print_row(sparse_row<16>("the same, with 16 vectors", *m, 750, error_of_sparse));
    print_row(histogram_row("histogram, 750 x 750 PEs, 100 values", *m, 750, error_of_histogram));
  }
  for (const machine* m : {&wse2, &wse3}) print_layer(*m, error_of_layer);
  std::printf(
      "extrapolations differ from what is counted: products by %.2f %% at most, low-rank tiles by %.2f %%, "
      "solvers by %.2f %%, Fourier transforms by %.2f %%, lookups by %.2f %%, sparse products by %.2f %%, "
      "histograms by %.2f %%, layers by %.2f %%\n",
      100 * error_of_steps, 100 * error_of_patch, 100 * error_of_plate, 100 * error_of_fft,
      100 * error_of_tile, 100 * error_of_sparse, 100 * error_of_histogram, 100 * error_of_layer);
}

}  // namespace timing_table
