// SPDX-License-Identifier: MIT
#include "raw_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace wave_app {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t from = line.find_first_not_of(" \t\r");
    if (from == line.npos) return words;
    line.remove_prefix(from);
    const std::size_t to = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, to));
    line.remove_prefix(to);
  }
}

class lines_of {
 public:
  lines_of(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  raw_header header() {
    raw_header h;
    bool has_size = false, has_spacing = false;
    next();
    while (next()) {
      const auto words = words_of(line_);
      if (words.empty()) continue;
      const std::string_view key = words[0];
      const std::size_t expected = key == "size" || key == "spacing" ? 4 : key == "end" ? 1 : 2;
      if (words.size() != expected)
        bad(fmt::format("'{}' is followed by {} words, not by {}", key.substr(0, 40), words.size() - 1,
                        expected - 1));
      if (key == "size") has_size = true, h.size = {size(words[1]), size(words[2]), size(words[3])};
      else if (key == "spacing")
        has_spacing = true, h.spacing = {length(words[1]), length(words[2]), length(words[3])};
      else if (key == "order") h.order = order(words[1]);
      else if (key == "bytes") h.big_endian = is_big(words[1]);
      else if (key == "data") h.data = file(words[1]);
      else if (key == "end") {
        if (!has_size || !has_spacing) bad("the header ends without `size` and `spacing`");
        h.length = at_;
        return h;
      } else bad(fmt::format("'{}' is none of size, spacing, order, bytes, data and end", key.substr(0, 40)));
    }
    bad("the header has no line `end`");
  }

 private:
  bool next() {
    if (at_ >= std::min(bytes_.size(), raw_header_length)) return false;
    const std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
    line_ = bytes_.substr(at_, end - at_);
    at_ = std::min(end + 1, bytes_.size()), ++number_;
    return true;
  }
  [[noreturn]] void bad(const std::string& what) const { refuse("{}, line {}: {}", name_, number_, what); }

  int size(std::string_view word) const {
    int n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < 1)
      bad(fmt::format("'{}' is no number of cells: it is a whole number of at least 1", word.substr(0, 40)));
    return n;
  }
  f64 length(std::string_view word) const {
    f64 x = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(x) || !(x > 0))
      bad(fmt::format("'{}' is no spacing: it is a positive number of metres", word.substr(0, 40)));
    return x;
  }
  std::string order(std::string_view word) const {
    std::string sorted(word);
    std::sort(sorted.begin(), sorted.end());
    if (sorted != "xyz")
      bad(fmt::format("'{}' is no order of axes: it is the letters x, y and z, the fastest axis first",
                      word.substr(0, 40)));
    return std::string(word);
  }
  bool is_big(std::string_view word) const {
    if (word != "big" && word != "little")
      bad(fmt::format("'{}' is no byte order: it is little or big", word.substr(0, 40)));
    return word == "big";
  }
  std::string file(std::string_view word) const {
    if (word.find('/') != word.npos || word == "..")
      bad(fmt::format("'{}' is no name of a file beside the header: give it without a folder",
                      word.substr(0, 40)));
    return std::string(word);
  }

  std::string_view bytes_, line_;
  const std::string& name_;
  std::size_t at_ = 0;
  int number_ = 0;
};

}  // namespace

raw_header raw_header_of(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(raw_header_begins))
    refuse("{}, line 1: the header of a model begins with the line `wsl-wave model`", name);
  return lines_of(bytes, name).header();
}

}  // namespace wave_app
