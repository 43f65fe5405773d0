// SPDX-License-Identifier: MIT
// wsl-tlr: compresses a dense matrix into tiles of low rank, multiplies it with a vector on a row of PEs, and
// compares with the dense product. It prints a rate only if the difference is within its bound.
#include <chrono>
#include <cstdio>
#include <wsl/kernel/tlr.hpp>
#include <wsl/kernel/tlr/compress.hpp>
#include <wsl/support/progress.hpp>

#include "../command_line.hpp"
#include "../memory.hpp"
#include "kernels.hpp"

namespace tlr_app {
namespace {

using namespace wsl;

struct options {
  shape size;
  std::string kernel = "exponential";
  int tile = 128, times = 100;
  double tolerance = 1e-4;
  tlr::operation which = tlr::operation::forward;
  tlr::options how;
  bool solves = false;
  tlr::least_squares_options solving;
};

template <class... X>
void print(const char* name, const char* format, X... x) {
  std::printf("%-14s ", name);
  std::printf(format, x...);
  std::printf("\n");
  std::fflush(stdout);
}

double seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class V>
double norm(const V& x) {
  double sum = 0;
  for (const auto& v : x) sum += std::norm(v);
  return std::sqrt(sum);
}

/// Throws std::invalid_argument if the dense matrix does not fit into this computer's memory.
void check_memory(const options& o, std::size_t bytes) {
  const double needed = double(o.size.rows) * o.size.columns * double(bytes), there = app::memory_there();
  if (needed < 0.8 * there) return;
  char text[200];
  std::snprintf(text, sizeof text, "the dense matrix takes %.3g GB; this computer has %.3g GB", needed / 1e9,
                there / 1e9);
  throw std::invalid_argument(text);
}

/// The dense product in f64.
template <class T>
std::vector<tlr::wide<T>> dense_product(const options& o, const std::vector<T>& a, const std::vector<T>& x) {
  const bool across = tlr::transposes(o.which), conjugated = tlr::conjugates(o.which);
  std::vector<tlr::wide<T>> y(std::size_t(across ? o.size.columns : o.size.rows));
  for (std::size_t i = 0, k = 0; i < std::size_t(o.size.rows); ++i)
    for (std::size_t j = 0; j < std::size_t(o.size.columns); ++j, ++k)
      y[across ? j : i] += tlr::conjugate_if(conjugated, a[k]) * tlr::wide<T>(x[across ? i : j]);
  return y;
}

/// Finds a vector from its product.
template <class T>
void solve(const options& o, tlr::multiplier<T>& product) {
  std::vector<T> x(std::size_t(o.size.columns)), b(std::size_t(o.size.rows));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(float(i * 7919 % 1000) / 500 - 1);
  product(b, x);
  const auto begin = std::chrono::steady_clock::now();
  const auto found = tlr::least_squares<T>(product, o.size.columns, b, o.solving);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const char* const ends[] = {"A x = b", "no x comes closer", "not converged"};
  print("least squares", "%d steps, %.3g s: |A x - b| is %.3g of |b|; %s", found.steps, took,
        found.residual / norm(b), ends[static_cast<int>(found.ending)]);
}

template <class T>
int go(const options& o, std::vector<T> (*make)(const shape&)) {
  check_memory(o, sizeof(T));
  const std::vector<T> a = make(o.size);
  tlr::low_rank<T> compressed(o.size.rows, o.size.columns, o.tile);
  const int tiles = compressed.tile_rows() * compressed.tile_columns();
  print("matrix", "%d x %d, %s, length %g, squares %g apart", o.size.rows, o.size.columns, o.kernel.c_str(),
        o.size.length, o.size.apart);
  const double took = seconds([&] {
    support::progress p("tiles", static_cast<u64>(tiles));
    compressed = tlr::compress<T>(
        matrix<const T>(a.data(), o.size.rows, o.size.columns), o.tile, o.tolerance, [&] { p.tick(); },
        o.how.threads);
  });
  print("compressed", "%d tiles of %d, ranks %.3g on average, %.3g s", tiles, o.tile,
        double(compressed.ranks()) / tiles, took);
  print("kept", "%.3g %% of %lld numbers",
        100 * double(compressed.numbers()) / double(compressed.dense_numbers()),
        static_cast<long long>(compressed.dense_numbers()));

  tlr::multiplier<T> product(compressed, o.how);
  const bool across = tlr::transposes(o.which);
  std::vector<T> x(std::size_t(across ? o.size.rows : o.size.columns)),
      y(std::size_t(across ? o.size.columns : o.size.rows));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(float(i * 7919 % 1000) / 500 - 1);
  product(y, x, o.which);

  std::vector<tlr::wide<T>> difference = dense_product(o, a, x);
  const double size = norm(difference);
  for (std::size_t i = 0; i < y.size(); ++i) difference[i] -= tlr::wide<T>(y[i]);
  const double found = norm(difference) / size, bound = (compressed.error * norm(x) + 1e-5 * norm(y)) / size;
  const bool right = found <= bound;
  print("difference", "%.3g of the dense product; %s its bound, %.3g", found, right ? "within" : "BEYOND",
        bound);
  if (!right) return 1;
  const double each = seconds([&] {
                        for (int i = 0; i < o.times; ++i) product(y, x, o.which);
                      }) /
                      o.times;
  print("product", "%.4g us on %d PEs, %s", each * 1e6, product.pes(),
        o.how.how == tlr::schedule::stacked ? "stacked" : "with an exchange");
  print("rate", "%.4g GB/s of bases", double(compressed.numbers()) * sizeof(T) / each / 1e9);
  if (o.solves) solve(o, product);
  return 0;
}

int run(const options& o) {
  if (o.kernel == "wave") return go<std::complex<float>>(o, wave);
  return go<float>(o, o.kernel == "inverse" ? inverse : exponential);
}

int run(int argc, char** argv) {
  using tlr::operation;
  options o;
  CLI::App app("Products with matrices of low-rank tiles on a row of processing elements", "wsl-tlr");
  app.add_option("--rows", o.size.rows, "rows of the matrix")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--columns", o.size.columns, "columns of the matrix")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--kernel", o.kernel, "what the matrix is")
      ->check(CLI::IsMember({"exponential", "inverse", "wave"}))
      ->capture_default_str();
  app.add_option("--length", o.size.length, "over which the exponential falls, or the wavelength")
      ->check(app::at_least(0, true))
      ->capture_default_str();
  app.add_option("--apart", o.size.apart, "how far the two squares of points are apart")
      ->check(app::at_least(0, true))
      ->capture_default_str();
  app.add_option("--tile", o.tile, "side of a tile")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--tolerance", o.tolerance, "what may be left out, of the matrix's Frobenius norm")
      ->check(CLI::Range(0., 1.))
      ->capture_default_str();
  const std::map<std::string, operation> sides{{"forward", operation::forward},
                                               {"transposed", operation::transposed},
                                               {"conjugated", operation::conjugated},
                                               {"adjoint", operation::adjoint}};
  std::string product = "forward", schedule = "exchange";
  app.add_option("--product", product,
                 "forward: A x; transposed: A^T x; conjugated: conj(A) x; adjoint: A^H x, of the conjugated "
                 "transpose (the same as transposed if A is real)")
      ->check(CLI::IsMember(sides))
      ->capture_default_str();
  app.add_option("--schedule", schedule, "exchange coefficients, or stack both bases on one PE")
      ->check(CLI::IsMember({"exchange", "stacked"}))
      ->capture_default_str();
  app.add_option("--pes", o.how.pes, "PEs; 0 for one a thread")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--threads", o.how.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--times", o.times, "products to measure")
      ->check(app::at_least(0, true))
      ->capture_default_str();
  CLI::Option* const solves =
      app.add_flag("--solve", o.solves, "also find a vector from its product, by least squares (LSQR)");
  app.add_option("--max-steps", o.solving.max_steps, "of --solve")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(solves)
      ->capture_default_str();
  app.add_option("--residual", o.solving.tolerance, "at which --solve ends, of the right side's norm")
      ->check(CLI::Range(0., 1.))
      ->needs(solves)
      ->capture_default_str();
  app.allow_extras();
  int status = 0;
  if (!app::parse(app, argc, argv, "option", status)) return status;
  if (o.how.threads == 0) default_threads();  // throws if WSL_THREADS is no number, before any work
  o.which = sides.at(product);
  o.how.how = schedule == "stacked" ? tlr::schedule::stacked : tlr::schedule::exchange;
  return run(o);
}

}  // namespace
}  // namespace tlr_app

int main(int argc, char** argv) {
  return app::run("wsl-tlr", [&] { return tlr_app::run(argc, argv); });
}
