// SPDX-License-Identifier: MIT
// wsl-tlr: compresses dense matrices into tiles of low rank, or takes tiles from files, multiplies them with
// vectors on a row of PEs, and compares with the dense products. It prints a rate only if the difference is
// within its bound.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <wsl/kernel/tlr/compress.hpp>
#include <wsl/support/progress.hpp>

#include "../files.hpp"
#include "../memory.hpp"
#include "../npy.hpp"
#include "../ranks.hpp"
#include "../run.hpp"
#include "options.hpp"

namespace tlr_app {
namespace {

using namespace wsl;
using complex = std::complex<f32>;

template <class... X>
void print(const char* name, fmt::format_string<X...> text, X&&... x) {
  fmt::print("{:14} {}\n", name, fmt::format(text, std::forward<X>(x)...));
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
void check_memory(const shape& size, std::size_t bytes) {
  const double needed = double(size.rows) * size.columns * double(bytes), there = app::memory_there();
  if (needed < 0.8 * there) return;
  throw std::invalid_argument(fmt::format("the dense matrix takes {:.3g} GB; this computer has {:.3g} GB",
                                          needed / 1e9, there / 1e9));
}

/// The dense product in f64.
template <class T>
std::vector<tlr::wide<T>> dense_product(tlr::operation which, const dense_matrix<T>& a, const T* x) {
  const bool across = tlr::transposes(which), conjugated = tlr::conjugates(which);
  std::vector<tlr::wide<T>> y(std::size_t(across ? a.columns : a.rows));
  for (std::size_t i = 0, k = 0; i < std::size_t(a.rows); ++i)
    for (std::size_t j = 0; j < std::size_t(a.columns); ++j, ++k)
      y[across ? j : i] += tlr::conjugate_if(conjugated, a.numbers[k]) * tlr::wide<T>(x[across ? i : j]);
  return y;
}

/// Numbers between -1 and 1.
template <class T>
std::vector<T> some_vector(int length) {
  std::vector<T> x(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(float(i * 7919 % 1000) / 500 - 1);
  return x;
}

/// Finds a vector from its product.
template <class T>
void solve(const options& o, int rows, int columns, tlr::multiplier<T>& product) {
  const std::vector<T> x = some_vector<T>(columns);
  std::vector<T> b(static_cast<std::size_t>(rows));
  product(b, x);
  const auto begin = std::chrono::steady_clock::now();
  const auto found = tlr::least_squares<T>(product, columns, b, o.solving);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const char* const ends[] = {"A x = b", "no x comes closer", "not converged"};
  const double size = norm(b);
  print("least squares", "{} steps, {:.3g} s: |A x - b| is {:.3g} of |b|; {}", found.steps, took,
        size > 0 ? found.residual / size : 0, ends[static_cast<int>(found.ending)]);
}

template <class T>
std::vector<T> from_kernel(const options& o) {
  if constexpr (std::is_same_v<T, complex>) return wave(o.size);
  else return o.kernel == "inverse" ? inverse(o.size) : exponential(o.size);
}

/// The things that all matrices of a run have in common: their vectors, and the sums of their figures.
template <class T>
struct batch {
  app::number_array<T> x, y;  // y without numbers until the shape of the first matrix is known
  double seconds = 0, bytes = 0;
};

/// The dense matrix of this number, if there is one.
template <class T>
std::optional<dense_matrix<T>> dense_of(const options& o, std::size_t number) {
  if (!o.matrices.empty()) {
    dense_matrix<T> a = read_matrix<T>(o.matrices[number], o.dataset);
    print("matrix", "{} x {}, {}", a.rows, a.columns, o.matrices[number]);
    return a;
  }
  if (!o.compresses()) return {};
  check_memory(o.size, sizeof(T));
  print("matrix", "{} x {}, {}, length {:g}, squares {:g} apart", o.size.rows, o.size.columns, o.kernel,
        o.size.length, o.size.apart);
  return dense_matrix<T>{o.size.rows, o.size.columns, from_kernel<T>(o)};
}

/// The tiles of this number, compressed or from files.
template <class T>
tlr::low_rank<T> tiles_of(const options& o, std::size_t number, const dense_matrix<T>* dense) {
  const auto ranks = [](const tlr::low_rank<T>& a) {
    return double(a.ranks()) / (double(a.tile_rows()) * a.tile_columns());
  };
  if (o.compresses()) {
    tlr::low_rank<T> a(dense->rows, dense->columns, o.tile);
    const int tiles = a.tile_rows() * a.tile_columns();
    const double took = seconds([&] {
      support::progress p("tiles", static_cast<u64>(tiles));
      a = tlr::compress<T>(
          matrix<const T>(dense->numbers.data(), dense->rows, dense->columns), o.tile, o.tolerance,
          [&] { p.tick(); }, o.how.threads);
    });
    print("compressed", "{} tiles of {}, ranks {:.3g} on average, {:.3g} s", tiles, o.tile, ranks(a), took);
    return a;
  }
  tlr::low_rank<T> a = read_bases<T>(o.bases[number], o.given);
  print("bases", "{} x {}, {} tiles of {}, ranks {:.3g} on average, {}", a.rows(), a.columns(),
        i64{a.tile_rows()} * a.tile_columns(), a.side(), ranks(a), o.bases[number]);
  if (dense) {
    if (dense->rows != a.rows() || dense->columns != a.columns())
      throw std::invalid_argument(fmt::format("{} is a matrix of {} x {}, and the tiles of {} are of {} x {}",
                                              o.matrices[number], dense->rows, dense->columns,
                                              o.bases[number], a.rows(), a.columns()));
    measure_error(a, dense->numbers);
  }
  return a;
}

/// The place of the tiles of this number.
std::string out_of(const options& o, std::size_t number) {
  if (o.count() == 1) return o.out;
  return (std::filesystem::path(o.out) / fmt::format("{:04}", number)).string();
}
/// Makes the folder for the tiles of several matrices. Throws std::invalid_argument if it has more than those
/// that this run will write, for they would be taken for its own.
void make_out(const options& o) {
  if (o.out.empty() || o.count() == 1) return;
  app::make_folder(o.out);
  std::set<std::string> ours;
  for (std::size_t number = 0; number < o.count(); ++number) ours.insert(out_of(o, number));
  for (const auto& entry : std::filesystem::directory_iterator(o.out))
    if (!ours.contains(entry.path().string()))
      throw std::invalid_argument(fmt::format(
          "--out {} has {}, which is none of the {} folders of this run: give a new or an empty folder",
          o.out, entry.path().filename().string(), o.count()));
}

/// The vector of a matrix, and room for its product; the first matrix decides their lengths.
template <class T>
std::pair<const T*, T*> vectors_of(const options& o, std::size_t number, const tlr::low_rank<T>& a,
                                   batch<T>& all) {
  const bool across = tlr::transposes(o.which);
  const int in = across ? a.rows() : a.columns(), out = across ? a.columns() : a.rows();
  if (number == 0) {
    if (o.x.empty()) all.x = {{std::size_t(in)}, some_vector<T>(in)};
    else all.x = read_vectors<T>(o.x, o.dataset, i64(o.count()), in);
    all.y.shape = {std::size_t(out)};
    if (o.count() > 1 || all.x.shape.size() == 2) all.y.shape.insert(all.y.shape.begin(), o.count());
    all.y.numbers.resize(o.count() * std::size_t(out));
  }
  if (all.x.shape.back() != std::size_t(in) || all.y.shape.back() != std::size_t(out))
    throw std::invalid_argument(
        fmt::format("{} is of {} x {}, other than the first one: the matrices of a run have one shape",
                    (o.compresses() ? o.matrices : o.bases)[number], a.rows(), a.columns()));
  return {all.x.numbers.data() + (all.x.shape.size() == 2 ? number * std::size_t(in) : 0),
          all.y.numbers.data() + number * std::size_t(out)};
}

/// Compresses, or reads, and multiplies with the matrix of this number. Returns whether the product is right.
template <class T>
bool go(const options& o, std::size_t number, batch<T>& all) {
  std::optional<dense_matrix<T>> dense = dense_of<T>(o, number);
  const tlr::low_rank<T> a = tiles_of<T>(o, number, dense ? &*dense : nullptr);
  print("kept", "{:.3g} % of {} numbers", 100 * double(a.numbers()) / double(a.dense_numbers()),
        a.dense_numbers());
  if (!o.out.empty()) {
    const std::string out = out_of(o, number);
    if (app::is_root()) write_bases(out, a);
    print("written", "{}", out);
  }

  tlr::multiplier<T> product(a, o.how, app::engine{});
  const auto [from, to] = vectors_of(o, number, a, all);
  const std::span<const T> x(from, all.x.shape.back());
  const std::span<T> y(to, all.y.shape.back());
  kernel::require_same(app::engine{}, "vector, --product, --times or --solve", [&] {
    support::fingerprint f;
    f.add(o.which), f.add(o.times), f.add(o.solves), f.add(x.data(), x.size_bytes());
    return f.value();
  });
  product(y, x, o.which);

  std::vector<tlr::wide<T>> difference =
      dense ? dense_product(o.which, *dense, from) : tlr::serial(a, o.which, x);
  dense.reset();
  // A product that is all zeros is compared as it is.
  const double size = norm(difference), unit = size > 0 ? size : 1;
  for (std::size_t i = 0; i < y.size(); ++i) difference[i] -= tlr::wide<T>(y[i]);
  const double found = norm(difference) / unit, bound = (a.error * norm(x) + 1e-5 * norm(y)) / unit;
  const bool right = found <= bound;
  print("difference", "{:.3g} of the {}; {} its bound, {:.3g}", found,
        o.compresses() || !o.matrices.empty() ? "dense product" : "product of the tiles in f64",
        right ? "within" : "BEYOND", bound);
  if (!right) return false;
  const double each = seconds([&] {
                        for (int i = 0; i < o.times; ++i) product(y, x, o.which);
                      }) /
                      o.times,
               bytes = double(a.numbers()) * sizeof(T);
  print("product", "{:.4g} us on {} PEs, {}", each * 1e6, product.pes(),
        o.how.how == tlr::schedule::stacked ? "stacked" : "with an exchange");
  print("rate", "{:.4g} GB/s of bases", bytes / each / 1e9);
  all.seconds += each, all.bytes += bytes;
  if (o.solves) solve(o, a.rows(), a.columns(), product);
  return true;
}

template <class T>
int go(const options& o) {
  make_out(o);
  app::largest(0);  // no process writes into the folder before all have looked at it
  batch<T> all;
  for (std::size_t number = 0; number < o.count(); ++number)
    if (!go(o, number, all)) return 1;
  if (o.count() > 1)
    print("all", "{} products, {:.4g} us, {:.4g} GB/s of bases", o.count(), all.seconds * 1e6,
          all.bytes / all.seconds / 1e9);
  if (!o.y.empty()) {
    if (app::is_root()) app::write_file(o.y, app::npy_bytes<T>(all.y.shape, all.y.numbers));
    print("written", "{}", o.y);
  }
  return 0;
}

/// Whether a matrix, a tile or a vector of the run is complex; then all are taken as such. All files are
/// looked at, so that one that is missing, or a matrix of another shape, is named before any work.
bool is_complex(const options& o) {
  bool any = o.matrices.empty() && o.compresses() && o.kernel == "wave";
  std::vector<std::size_t> first;
  for (const std::string& file : o.matrices) {
    const app::array_about a = about_array(file, o.dataset);
    any |= a.kind == app::number_kind::complex;
    if (first.empty()) first = a.shape;
    if (a.shape != first)
      throw std::invalid_argument(
          fmt::format("{} is ({}), and {} is ({}): the matrices of a run have one shape", file,
                      fmt::join(a.shape, ", "), o.matrices[0], fmt::join(first, ", ")));
  }
  for (const std::string& name : o.bases) any |= is_complex_bases(name);
  if (!o.x.empty()) any |= about_array(o.x, o.dataset).kind == app::number_kind::complex;
  return any;
}

int run(int argc, char** argv) {
  options o;
  int status = 0;
  if (!parse(o, argc, argv, status)) return status;
  if (!is_complex(o)) return go<f32>(o);
  if (o.matrices.empty() && o.compresses() && o.kernel != "wave")
    throw std::invalid_argument("--x: " + o.x + " is complex, and the kernel " + o.kernel + " is real");
  return go<complex>(o);
}

}  // namespace
}  // namespace tlr_app

int main(int argc, char** argv) {
  app::join_ranks(), app::let_one_print();
  return app::run("wsl-tlr", [&] { return tlr_app::run(argc, argv); });
}
