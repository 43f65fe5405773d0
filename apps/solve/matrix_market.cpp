// SPDX-License-Identifier: MIT
#include "matrix_market.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <wsl/support/file_error.hpp>

namespace solve_app {
namespace {

using wsl::solver::sparse_matrix;

/// The lines of a file, and the words of the present one.
class reader {
 public:
  reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  /// Goes to the next line that is neither empty nor a comment. False at the end of the file.
  bool next() {
    while (next_line()) {
      skip_spaces();
      if (!words_.empty() && words_.front() != '%') return true;
    }
    return false;
  }
  /// Of a file, before its first line. Some editors put the mark of UTF-8 there.
  void begin() {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    if (rest_.empty()) throw wsl::support::file_error(fmt::format("wsl: {} is empty", name_));
  }
  /// The first line, which is a comment in the eyes of `next`.
  std::string_view first_line() {
    next_line();
    return words_;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    skip_spaces();
    const std::size_t end = std::min(words_.find_first_of(" \t"), words_.size());
    const std::string_view w = words_.substr(0, end);
    words_.remove_prefix(end);
    return w;
  }
  template <class Number>
  Number number(const char* what) {
    const std::string_view given = word();
    if (given.empty()) fail(fmt::format("{} is missing", what));
    std::string_view w = given;
    if (w.front() == '+') w.remove_prefix(1);
    Number x{};
    const auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), x);
    const bool is_number = error == std::errc{} && end == w.data() + w.size();
    if constexpr (std::is_floating_point_v<Number>) {
      if (!is_number || !std::isfinite(x))
        fail(fmt::format("{} is no finite number: '{}'", what, shown(given)));
    } else if (!is_number) {
      fail(fmt::format("{} is no whole number that fits: '{}'", what, shown(given)));
    }
    return x;
  }
  void end_of_line() {
    if (const std::string_view w = word(); !w.empty())
      fail(fmt::format("'{}' is one word too many", shown(w)));
  }
  /// The bytes behind the present line.
  std::size_t left() const { return rest_.size(); }
  [[noreturn]] void fail(const std::string& why) const {
    throw wsl::support::file_error(fmt::format("wsl: {}, line {}: {}", name_, line_, why));
  }
  /// Words of an untrusted file as they are printed.
  static std::string shown(std::string_view w) {
    std::string s(w.substr(0, 40));
    for (char& c : s)
      if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
    return w.size() > 40 ? s + "..." : s;
  }

 private:
  bool next_line() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    words_ = rest_.substr(0, end);
    if (words_.ends_with('\r')) words_.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return true;
  }
  void skip_spaces() {
    while (!words_.empty() && (words_.front() == ' ' || words_.front() == '\t')) words_.remove_prefix(1);
  }

  std::string_view rest_, words_;
  const std::string& name_;
  std::size_t line_ = 0;
};

struct header {
  bool is_array = false, is_pattern = false;
  enum { general, symmetric, skew } symmetry = general;
};

header header_of(reader& in) {
  in.begin();
  std::string line(in.first_line());
  for (char& c : line) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string name;
  reader words(line, name);
  words.first_line();
  if (words.word() != "%%matrixmarket")
    in.fail("a Matrix Market file begins with %%MatrixMarket matrix coordinate real general, or the like");
  if (const std::string_view w = words.word(); w != "matrix")
    in.fail(fmt::format("it holds a {}, not a matrix", w.empty() ? "nothing" : reader::shown(w)));
  header h;
  if (const std::string_view w = words.word(); w == "array") h.is_array = true;
  else if (w != "coordinate")
    in.fail(fmt::format("a matrix is given as coordinate or array, not as '{}'", reader::shown(w)));
  if (const std::string_view w = words.word(); w == "pattern") h.is_pattern = true;
  else if (w == "complex") in.fail("its numbers are complex: write the real system of twice the size");
  else if (w != "real" && w != "integer" && w != "double")
    in.fail(fmt::format("numbers are real, integer or pattern, not '{}'", reader::shown(w)));
  if (const std::string_view w = words.word(); w == "symmetric") h.symmetry = header::symmetric;
  else if (w == "skew-symmetric") h.symmetry = header::skew;
  else if (w != "general")
    in.fail(fmt::format("a matrix is general, symmetric or skew-symmetric, not '{}'", reader::shown(w)));
  if (const std::string_view w = words.word(); !w.empty())
    in.fail(fmt::format("'{}' is one word too many", reader::shown(w)));
  if (h.is_pattern && (h.is_array || h.symmetry == header::skew))
    in.fail("a pattern has neither an array nor two signs: it is coordinate, and general or symmetric");
  return h;
}

/// A size of 1 to the largest that is numbered with 32 bits.
int size_from(reader& in, const char* what) {
  const long long n = in.number<long long>(what);
  if (n < 1 || n >= std::numeric_limits<int>::max())
    in.fail(fmt::format("{} is {}; it is from 1 to 2147483646", what, n));
  return static_cast<int>(n);
}

struct coordinates {
  int rows = 0, columns = 0;
  std::vector<sparse_matrix::entry> entries;
};

coordinates read_coordinates(reader& in, const header& h) {
  if (!in.next()) in.fail("the line with the numbers of rows, columns and entries is missing");
  coordinates c;
  c.rows = size_from(in, "the number of rows"), c.columns = size_from(in, "the number of columns");
  const long long count = in.number<long long>("the number of entries");
  in.end_of_line();
  // An entry takes at least four bytes, as 1 1, or six with a number; the last one has perhaps no end of
  // line.
  const std::size_t least = h.is_pattern ? 4 : 6;
  if (count < 0) in.fail(fmt::format("the number of entries is {}; it is at least 0", count));
  if (static_cast<unsigned long long>(count) > (in.left() + 1) / least)
    in.fail(fmt::format("it says that there are {} entries, and {} bytes follow, too few for them", count,
                        in.left()));
  if (h.symmetry != header::general && c.rows != c.columns)
    in.fail(fmt::format("a symmetric matrix is square, not ({}, {})", c.rows, c.columns));
  c.entries.reserve(static_cast<std::size_t>(count) * (h.symmetry == header::general ? 1 : 2));
  for (long long k = 0; k < count; ++k) {
    if (!in.next()) in.fail(fmt::format("the file ends after {} of {} entries", k, count));
    const long long row = in.number<long long>("the row"), column = in.number<long long>("the column");
    if (row < 1 || row > c.rows || column < 1 || column > c.columns)
      in.fail(fmt::format("there is no place ({}, {}) in a matrix ({}, {}); the first is (1, 1)", row, column,
                          c.rows, c.columns));
    const double value = h.is_pattern ? 1 : in.number<double>("the number");
    in.end_of_line();
    const int r = static_cast<int>(row) - 1, s = static_cast<int>(column) - 1;
    if (h.symmetry != header::general && s > r)
      in.fail(
          fmt::format("the place ({}, {}) is above the diagonal: a symmetric matrix is given by its lower "
                      "triangle",
                      row, column));
    if (h.symmetry == header::skew && r == s)
      in.fail(fmt::format("the place ({}, {}) is on the diagonal, which is zero in a skew-symmetric matrix",
                          row, column));
    c.entries.push_back({r, s, value});
    if (h.symmetry != header::general && r != s)
      c.entries.push_back({s, r, h.symmetry == header::skew ? -value : value});
  }
  if (in.next()) in.fail(fmt::format("there is more than the {} entries that it says", count));
  return c;
}

}  // namespace

sparse_matrix matrix_from_text(std::string_view text, const std::string& name) {
  reader in(text, name);
  const header h = header_of(in);
  if (h.is_array)
    in.fail("the matrix of a system is given as coordinate; an array is dense, for right sides");
  coordinates c = read_coordinates(in, h);
  // Offsets take memory for each row, whatever the file has.
  if (static_cast<std::size_t>(c.rows) > c.entries.size())
    in.fail(fmt::format("a matrix of {} rows with {} entries has rows of zeros, and is singular", c.rows,
                        c.entries.size()));
  try {
    return sparse_matrix::from_entries(c.rows, c.columns, std::move(c.entries));
  } catch (const std::invalid_argument& e) { in.fail(std::string(e.what()).substr(5)); }  // sums beyond f64
}

columns columns_from_text(std::string_view text, const std::string& name, int unknowns) {
  reader in(text, name);
  const auto require_rows = [&](int rows) {
    if (rows != unknowns)
      in.fail(fmt::format("a right side has {} numbers, and the system {} unknowns", rows, unknowns));
  };
  const header h = header_of(in);
  columns c;
  if (h.symmetry != header::general) in.fail("a right side is general");
  if (!h.is_array) {
    const coordinates sparse = read_coordinates(in, h);
    require_rows(sparse.rows);
    if (sparse.columns != 1)
      in.fail(
          fmt::format("it has {} columns of coordinates: several right sides are an array", sparse.columns));
    c.rows = sparse.rows;
    c.all.assign(1, std::vector<double>(static_cast<std::size_t>(c.rows)));
    for (const sparse_matrix::entry& e : sparse.entries) c.all[0][static_cast<std::size_t>(e.row)] += e.value;
    return c;
  }
  if (!in.next()) in.fail("the line with the numbers of rows and columns is missing");
  c.rows = size_from(in, "the number of rows");
  require_rows(c.rows);
  const int count = size_from(in, "the number of columns");
  in.end_of_line();
  const unsigned long long numbers =
      static_cast<unsigned long long>(c.rows) * static_cast<unsigned long long>(count);
  if (numbers > (in.left() + 1) / 2)
    in.fail(fmt::format("it says that there are {} numbers, and {} bytes follow, too few for them", numbers,
                        in.left()));
  for (int k = 0; k < count; ++k) {
    std::vector<double>& column = c.all.emplace_back();
    column.reserve(static_cast<std::size_t>(c.rows));
    for (int r = 0; r < c.rows; ++r) {
      if (!in.next())
        in.fail(fmt::format("the file ends after {} of {} numbers",
                            static_cast<unsigned long long>(k) * static_cast<unsigned long long>(c.rows) +
                                static_cast<unsigned long long>(r),
                            numbers));
      column.push_back(in.number<double>("the number"));
      in.end_of_line();
    }
  }
  if (in.next()) in.fail(fmt::format("there is more than the {} numbers that it says", numbers));
  return c;
}

std::string text_of(const columns& c) {
  std::string text = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", c.rows, c.all.size());
  for (const std::vector<double>& column : c.all)
    for (double v : column) fmt::format_to(std::back_inserter(text), "{}\n", v);
  return text;
}

}  // namespace solve_app
