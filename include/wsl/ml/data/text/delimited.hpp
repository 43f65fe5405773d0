// SPDX-License-Identifier: MIT
// Tables as text: comma-separated values as in RFC 4180, where a field in quotes may have commas, quotes and
// ends of lines, and tab-separated values, where nothing is quoted (as GLUE's files). The first row names the
// columns. The file stays on the disk: what is held in memory is the place of each row, eight bytes.
//   const delimited_file train("train.tsv", tsv_form);
//   const std::string first = train.at(0, train.column("sentence"));
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../utf8.hpp"

namespace wsl::ml {

struct delimited_form {
  char delimiter = ',';
  bool quotes = true;  ///< a quote at the beginning of a field encloses it; false: it is a character
};
inline constexpr delimited_form csv_form{}, tsv_form{'\t', false};

namespace detail {

/// Throws file_error, with the line and the byte, where the text of a file is not UTF-8.
inline void check_utf8(std::string_view text, const std::string& name) {
  i64 line = 1;
  for (std::size_t at = 0, begin = 0; at < text.size();) {
    if (text[at] == '\n') ++line, begin = at + 1;
    const std::size_t bytes = static_cast<u8>(text[at]) < 0x80 ? 1 : first_code_point(text.substr(at)).bytes;
    if (!bytes)
      throw file_error(
          fmt::format("wsl: {}, line {}, byte {}: this is not UTF-8: convert the file, for instance with "
                      "iconv -t UTF-8",
                      name, line, at - begin + 1));
    at += bytes;
  }
}
/// A file as text that stays on the disk, without the mark of UTF-8 that some programs write first.
struct mapped_text {
  mapped<char> bytes;
  std::string_view text;

  explicit mapped_text(const std::string& name) {
    input_file in(name);
    bytes = in.map<char>(in.size(), "the text");
    text = std::string_view(bytes.numbers.data(), bytes.numbers.size());
    check_utf8(text, name);
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  }
  /// The line that a place is on; lines count from 1.
  i64 line_of(std::size_t at) const {
    return 1 + std::count(
                   text.begin(),
                   text.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at), std::ssize(text)),
                   '\n');
  }
};

/// A comma between all of them, each in quotes.
inline std::string quoted_list(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& x : names) all += (all.empty() ? "'" : ", '") + x + "'";
  return all;
}

}  // namespace detail

class delimited_file {
 public:
  /// Opens a file and looks at all of its rows. Throws file_error, with the line and the remedy, for a file
  /// without columns, quotes that are not balanced, a row with more or fewer fields than columns, and text
  /// that is not UTF-8.
  delimited_file(std::string name, delimited_form how) : name_(std::move(name)), how_(how), in_(name_) {
    std::size_t at = 0;
    while (at < in_.text.size() && is_line_end(at)) skip_line_end(at);
    if (at == in_.text.size())
      throw file_error(fmt::format("wsl: {}: the file has no row: the first row names the columns", name_));
    header_ = at;
    read_row(at, [&](std::string field) { columns_.push_back(std::move(field)); });
    for (auto x = columns_.begin(); x != columns_.end(); ++x)
      if (std::find(columns_.begin(), x, *x) != x)
        throw file_error(fmt::format("wsl: {}, line {}: two columns are called '{}': rename one", name_,
                                     in_.line_of(header_), *x));
    while (at < in_.text.size()) {
      if (is_line_end(at)) {
        skip_line_end(at);
        continue;
      }
      rows_.push_back(at);
      std::size_t fields = 0;
      const std::size_t begin = at;
      read_row(at, [&](const std::string&) { ++fields; });
      if (fields != columns_.size())
        throw file_error(
            fmt::format("wsl: {}, line {}: the row has {} fields, but there are {} columns ({}): {}", name_,
                        in_.line_of(begin), fields, columns_.size(), detail::quoted_list(columns_),
                        how_.quotes ? "put fields with commas in quotes" : "leave no tab inside a field"));
    }
  }

  const std::string& name() const { return name_; }
  /// The rows below the names of the columns; empty lines do not count.
  i64 count() const { return static_cast<i64>(rows_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<int> find(std::string_view column) const {
    const auto at = std::find(columns_.begin(), columns_.end(), column);
    if (at == columns_.end()) return {};
    return static_cast<int>(at - columns_.begin());
  }
  /// The number of a column. Throws file_error if there is none of that name.
  int column(std::string_view column) const {
    if (const auto at = find(column)) return *at;
    throw file_error(
        fmt::format("wsl: {}, line {}: there is no column '{}' among {}: rename a column, or "
                    "name another",
                    name_, in_.line_of(header_), column, detail::quoted_list(columns_)));
  }
  /// A field. May be called by several threads at a time.
  std::string at(i64 row, int column) const {
    std::string found;
    int now = 0;
    std::size_t place = rows_[static_cast<std::size_t>(row)];
    read_row(place, [&](std::string field) {
      if (now++ == column) found = std::move(field);
    });
    return found;
  }
  /// A mistake in a field, to be thrown.
  file_error error(i64 row, std::string_view column, std::string_view why) const {
    return file_error(fmt::format("wsl: {}, line {}, column '{}': {}", name_,
                                  in_.line_of(rows_[static_cast<std::size_t>(row)]), column, why));
  }

 private:
  bool is_line_end(std::size_t at) const {
    const std::string_view rest = in_.text.substr(at, 2);
    return rest.starts_with('\n') || rest == "\r\n" || rest == "\r";
  }
  void skip_line_end(std::size_t& at) const { at += in_.text.substr(at).starts_with("\r\n") ? 2u : 1u; }

  // Calls f with each field of the row at a place, which moves to the next row.
  template <class F>
  void read_row(std::size_t& at, F f) const {
    for (;;) {
      f(how_.quotes && at < in_.text.size() && in_.text[at] == '"' ? quoted(at) : plain(at));
      if (at == in_.text.size()) return;
      if (in_.text[at] != how_.delimiter) return skip_line_end(at);
      ++at;
    }
  }
  std::string plain(std::size_t& at) const {
    const std::size_t begin = at;
    while (at < in_.text.size() && in_.text[at] != how_.delimiter && !is_line_end(at)) {
      if (how_.quotes && in_.text[at] == '"')
        throw file_error(fmt::format(
            "wsl: {}, line {}, byte {}: a quote stands inside a field that does not begin with one: put the "
            "field in quotes and write this one twice",
            name_, in_.line_of(at), at - begin_of_line(at) + 1));
      ++at;
    }
    return std::string(in_.text.substr(begin, at - begin));
  }
  std::string quoted(std::size_t& at) const {
    const std::size_t begin = at++;
    std::string field;
    for (;;) {
      const std::size_t quote = in_.text.find('"', at);
      if (quote == std::string_view::npos)
        throw file_error(
            fmt::format("wsl: {}, line {}, byte {}: a quote is opened here and never closed: "
                        "close it, or write a quote that is meant twice",
                        name_, in_.line_of(begin), begin - begin_of_line(begin) + 1));
      field += in_.text.substr(at, quote - at);
      at = quote + 1;
      if (!in_.text.substr(at).starts_with('"')) break;
      field += '"', ++at;
    }
    if (at < in_.text.size() && in_.text[at] != how_.delimiter && !is_line_end(at))
      throw file_error(
          fmt::format("wsl: {}, line {}, byte {}: a quote closes the field, but more of it "
                      "follows: write a quote inside a field twice",
                      name_, in_.line_of(at), at - begin_of_line(at) + 1));
    return field;
  }
  std::size_t begin_of_line(std::size_t at) const {
    const std::size_t end = at ? in_.text.rfind('\n', at - 1) : std::string_view::npos;
    return end == std::string_view::npos ? 0 : end + 1;
  }

  std::string name_;
  delimited_form how_;
  detail::mapped_text in_;
  std::size_t header_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::size_t> rows_;
};

}  // namespace wsl::ml
