// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "../export_folder.hpp"
#include "../memory.hpp"
#include "../npy.hpp"
#include "hdf5_arrays.hpp"

namespace tlr_app {
namespace {

namespace fs = std::filesystem;
using complex = std::complex<f32>;

template <class... X>
[[noreturn]] void refuse(fmt::format_string<X...> sentence, X&&... x) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<X>(x)...));
}

/// The first bytes of a file.
std::string beginning(const std::string& file, std::size_t most) {
  std::error_code none;
  if (fs::exists(file, none) && !fs::is_regular_file(file, none))
    refuse("{} is no regular file: an array is a file of NumPy or HDF5", file);
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse("cannot read {}: {}", file, std::strerror(errno));
  std::string bytes(most, '\0');
  in.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}
bool is_hdf5(const std::string& file) { return beginning(file, 8) == "\x89HDF\r\n\x1a\n"; }

/// All bytes of a file, if there is memory for them and for the numbers in them.
std::string whole(const std::string& file) {
  const double bytes = static_cast<double>(fs::file_size(file)), there = app::memory_there();
  if (2 * bytes > there)
    refuse("{} has {}; this computer has {} of memory", file, app::size_text(bytes), app::size_text(there));
  return app::read_file(file);
}

constexpr const char* dataset_remedy = "name one with --dataset";

template <class T>
app::number_array<T> read_array(const std::string& file, const std::string& dataset,
                                const std::string& remedy = dataset_remedy) {
  if (is_hdf5(file)) return hdf5_array<T>(file, dataset, remedy);
  return app::npy_from_bytes<T>(whole(file), file);
}
app::array_about about(const std::string& file, const std::string& dataset, const std::string& remedy) {
  constexpr std::size_t most_of_header = 1 << 20;
  return is_hdf5(file) ? hdf5_about(file, dataset, remedy)
                       : app::npy_about(beginning(file, most_of_header), file);
}

template <class T>
void require_finite(const app::number_array<T>& a, const std::string& file) {
  const std::size_t across = a.shape.back();
  for (std::size_t k = 0; k < a.numbers.size(); ++k)
    if (!std::isfinite(std::norm(std::complex<f64>(a.numbers[k])))) {
      if (a.shape.size() == 1) refuse("{}: its number {} is not finite as f32", file, k);
      refuse("{}: its number ({}, {}) is not finite as f32", file, k / across, k % across);
    }
}

/// The arrays of tiles, in a folder or in a file of HDF5.
class arrays_of_tiles {
 public:
  explicit arrays_of_tiles(const std::string& name) : name_(name), folder_(fs::is_directory(name)) {
    if (!folder_ && !is_hdf5(name))
      refuse(
          "{} is neither a folder nor a file of HDF5: low-rank tiles are arrays ranks, U and V in one of "
          "these",
          name);
  }
  bool has(const char* array) const { return folder_ ? fs::exists(file_of(array)) : hdf5_has(name_, array); }
  bool is_complex(const char* array) const {
    return about(file_of(array), array, remedy).kind == app::number_kind::complex;
  }
  template <class T>
  app::number_array<T> read(const char* array) const {
    if (folder_ && !has(array)) refuse("{} has no {}.npy: {}", name_, array, remedy);
    return read_array<T>(file_of(array), array, remedy);
  }

 private:
  static constexpr const char* remedy = "low-rank tiles are the arrays ranks, U and V";

  std::string file_of(const char* array) const {
    return folder_ ? (fs::path(name_) / (std::string(array) + ".npy")).string() : name_;
  }

  std::string name_;
  bool folder_;
};

bases_shape shape_of(const arrays_of_tiles& arrays, const std::string& name, const bases_shape& given) {
  if (!arrays.has(shape_name)) return given;
  const app::number_array<i64> s = arrays.read<i64>(shape_name);
  if (s.numbers.size() != 3)
    refuse("{}: shape has {} numbers, not three: rows, columns and the side of a tile", name,
           s.numbers.size());
  const auto both = [&](i64 in_file, i64 option, i64 most, const char* what) {
    if (in_file < 1 || in_file > most) refuse("{}: shape has {} {}, not 1 to {}", name, in_file, what, most);
    if (option && option != in_file)
      refuse("{}: shape has {} {}, and the command line {}: leave the option out", name, in_file, what,
             option);
    return in_file;
  };
  return {both(s.numbers[0], given.rows, most_rows, "rows"),
          both(s.numbers[1], given.columns, most_rows, "columns"),
          both(s.numbers[2], given.tile, most_tile, "as the side of a tile")};
}

}  // namespace

std::vector<std::string> names_of(const std::vector<std::string>& given, const std::string& option) {
  std::vector<std::string> all;
  for (const std::string& name : given) {
    if (!name.starts_with("@")) {
      all.push_back(name);
      continue;
    }
    const std::string list = name.substr(1);
    if (list.empty()) refuse("{}: behind @ stands the name of a list of files", option);
    std::istringstream lines(app::read_file(list));
    const std::size_t before = all.size();
    for (std::string line; std::getline(lines, line);) {
      line.resize(std::min(line.size(), line.find('#')));
      const std::size_t from = line.find_first_not_of(" \t\r"), to = line.find_last_not_of(" \t\r");
      if (from == line.npos) continue;
      all.push_back((fs::path(list).parent_path() / line.substr(from, to - from + 1)).string());
    }
    if (all.size() == before) refuse("{}: the list {} names no file", option, list);
  }
  return all;
}

app::array_about about_array(const std::string& file, const std::string& dataset) {
  return about(file, dataset, dataset_remedy);
}
bool is_complex_bases(const std::string& name) {
  const arrays_of_tiles arrays(name);
  for (const char* array : {ranks_name, u_name, v_name})
    if (!arrays.has(array)) arrays.read<i64>(array);  // which says what is missing
  return arrays.is_complex(u_name) || arrays.is_complex(v_name);
}

template <class T>
dense_matrix<T> read_matrix(const std::string& file, const std::string& dataset) {
  app::number_array<T> a = read_array<T>(file, dataset);
  if (a.shape.size() != 2)
    refuse("{}: its array is ({}); a matrix has rows and columns", file, fmt::join(a.shape, ", "));
  for (const std::size_t n : a.shape)
    if (n < 1 || n > static_cast<std::size_t>(most_rows))
      refuse("{}: a matrix of ({}) has not 1 to {} rows and columns", file, fmt::join(a.shape, ", "),
             most_rows);
  require_finite(a, file);
  return {static_cast<int>(a.shape[0]), static_cast<int>(a.shape[1]), std::move(a.numbers)};
}

template <class T>
app::number_array<T> read_vectors(const std::string& file, const std::string& dataset, i64 count,
                                  i64 length) {
  app::number_array<T> a = read_array<T>(file, dataset);
  const std::vector<std::size_t> one{static_cast<std::size_t>(length)},
      each{static_cast<std::size_t>(count), static_cast<std::size_t>(length)};
  if (a.shape != one && a.shape != each)
    refuse("{}: its array is ({}); the product takes ({}), or ({}) with a vector for each matrix", file,
           fmt::join(a.shape, ", "), length, fmt::join(each, ", "));
  require_finite(a, file);
  return a;
}

template <class T>
wsl::tlr::low_rank<T> read_bases(const std::string& name, const bases_shape& given) {
  const arrays_of_tiles arrays(name);
  const bases_shape shape = shape_of(arrays, name, given);
  const stored_bases<T> stored{arrays.read<i64>(ranks_name), arrays.read<T>(u_name), arrays.read<T>(v_name)};
  return bases_from(stored, shape, name);
}

bool names_hdf5(const std::string& name) {
  const std::string ending = fs::path(name).extension().string();
  return ending == ".h5" || ending == ".hdf5";
}

template <class T>
void write_bases(const std::string& name, const wsl::tlr::low_rank<T>& a) {
  const stored_bases<T> stored = bases_of(a);
  const app::number_array<i64> shape{{3}, {a.rows(), a.columns(), a.side()}};
  if (names_hdf5(name)) return app::write_file(name, hdf5_bytes(stored, shape));
  app::export_folder out(name, "wsl-tlr");
  const auto write = [&]<class Number>(const char* array, const app::number_array<Number>& x) {
    app::write_file(fs::path(out.unfinished()) / (std::string(array) + ".npy"),
                    app::npy_bytes<Number>(x.shape, x.numbers));
  };
  write(ranks_name, stored.ranks), write(u_name, stored.u), write(v_name, stored.v), write(shape_name, shape);
  out.finish();
}

template dense_matrix<f32> read_matrix(const std::string&, const std::string&);
template dense_matrix<complex> read_matrix(const std::string&, const std::string&);
template app::number_array<f32> read_vectors(const std::string&, const std::string&, i64, i64);
template app::number_array<complex> read_vectors(const std::string&, const std::string&, i64, i64);
template wsl::tlr::low_rank<f32> read_bases(const std::string&, const bases_shape&);
template wsl::tlr::low_rank<complex> read_bases(const std::string&, const bases_shape&);
template void write_bases(const std::string&, const wsl::tlr::low_rank<f32>&);
template void write_bases(const std::string&, const wsl::tlr::low_rank<complex>&);

}  // namespace tlr_app
