// SPDX-License-Identifier: MIT
// The documents of a corpus, in the order of its files: objects in JSON, one a line (.jsonl), or texts
// (.txt), of which each is a document or has several with empty lines between them. Files are read from their
// beginning to their end and stay on the disk.
//   const corpus in({"part0.jsonl", "part1.jsonl"});
//   in.each([&](const document& d) { count += in.text_of(d).size(); });
#pragma once
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "../text/records.hpp"

namespace wsl::ml {

struct corpus_form {
  std::string text_key = "text";  ///< the field of an object that has the text
  bool sections = false;          ///< empty lines divide a .txt into documents
};

/// A place in a file, and the bytes there: the line of an object, without its end, or a text.
struct document {
  std::size_t file = 0;  ///< its number among the files of the corpus
  i64 line = 1;          ///< on which it begins, from 1 on
  std::string_view bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes readable
};

namespace detail {

/// Where a text stops being UTF-8; its size if it does not.
inline std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    u64 eight = 0;
    while (text.size() - at >= 8 &&
           (std::memcpy(&eight, text.data() + at, 8), (eight & 0x8080808080808080u) == 0))
      at += 8;
    if (at == text.size()) break;
    const std::size_t bytes = first_code_point(text.substr(at)).bytes;
    if (!bytes) return at;
    at += bytes;
  }
  return at;
}

/// Finds a field of an object while it is parsed, without keeping the rest.
struct field_finder : nlohmann::json_sax<nlohmann::json> {
  explicit field_finder(std::string_view wanted) : key_(wanted) {}

  std::optional<std::string> found;
  bool is_object = false, is_other = false;  // the whole; the field, which is no text
  std::size_t wrong_at = 0;                  // the byte where it is no JSON, from 1 on

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& x) override {
    if (std::exchange(is_next_, false)) found = std::move(x), is_other = false;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object = true;
    return other(), ++depth_, true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return other(), ++depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& x) override { return is_next_ = depth_ == 1 && x == key_, true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    wrong_at = at;
    return false;
  }

 private:
  bool other() {
    if (std::exchange(is_next_, false)) is_other = true, found.reset();
    return true;
  }

  std::string_view key_;
  int depth_ = 0;
  bool is_next_ = false;
};

}  // namespace detail

class corpus {
 public:
  /// The files that the paths mean, as files_of takes them. Throws file_error for a file that is not there,
  /// is named twice, or ends with neither .jsonl nor .txt, and std::invalid_argument if some end with .jsonl
  /// and some with .txt, or if objects are to be divided by empty lines.
  explicit corpus(const std::vector<std::string>& paths, corpus_form how = {})
      : files_(files_of(paths, {".jsonl", ".txt"})), how_(std::move(how)) {
    namespace fs = std::filesystem;
    is_json_ = detail::all_end_with(".jsonl", files_);
    std::set<fs::path> seen;
    for (const std::string& name : files_) {
      const fs::path whole = fs::weakly_canonical(name);
      if (!is_json_ && !name.ends_with(".txt"))
        throw file_error(fmt::format(
            "wsl: {}: documents are read from files that end with .jsonl or .txt: unpack or rename it",
            name));
      if (!seen.insert(whole).second)
        throw file_error(fmt::format("wsl: {} is named twice: leave out one of both", name));
      bytes_ += input_file(name).size();
      above_ = above_.empty() ? whole.parent_path() : common(above_, whole.parent_path());
    }
    if (is_json_ && how_.sections)
      throw std::invalid_argument(
          "wsl: empty lines divide texts, not objects in JSON: leave out the option, or give files that end "
          "with .txt");
  }

  const std::vector<std::string>& files() const { return files_; }
  const corpus_form& form() const { return how_; }
  bool is_json() const { return is_json_; }
  /// Whether each file is one document.
  bool is_whole() const { return !is_json_ && !how_.sections; }
  /// The bytes of all files.
  u64 bytes() const { return bytes_; }
  /// The name of a file below the folder that all of them are in.
  std::string name_below(std::size_t file) const {
    return std::filesystem::weakly_canonical(files_[file]).lexically_relative(above_).string();
  }

  /// Calls f with each document, in order. Empty lines are none, and neither is an empty file.
  template <class F>
  void each(F f) const {
    for (std::size_t k = 0; k < files_.size(); ++k) {
      input_file in(files_[k]);
      const mapped<char> bytes = in.map<char>(in.size(), "the text");
      std::string_view text(bytes.numbers.data(), bytes.numbers.size());
      if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
      if (is_whole()) {
        if (!text.empty()) f(document{k, 1, text, bytes.owner});
        continue;
      }
      i64 line = 1;
      std::size_t begin = 0, end = 0;  // of the section that lines are added to
      i64 first = 1;
      for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t stop = std::min(text.find('\n', at), text.size());
        std::string_view here = text.substr(at, stop - at);
        here = here.substr(0, here.find_last_not_of(" \t\r") + 1);
        if (is_json_) {
          if (!here.empty()) f(document{k, line, here, bytes.owner});
        } else if (!here.empty()) {
          if (begin == end) begin = at, first = line;
          end = at + here.size();
        } else if (begin != end) {
          f(document{k, first, text.substr(begin, end - begin), bytes.owner});
          begin = end = 0;
        }
        at = stop + 1;
      }
      if (begin != end) f(document{k, first, text.substr(begin, end - begin), bytes.owner});
    }
  }

  /// The text of a document. Throws file_error, with the line and the byte, if it is not UTF-8, no object, or
  /// one without the text. May be called by several threads at a time.
  std::string text_of(const document& d) const {
    if (const std::size_t at = detail::first_invalid(d.bytes); at < d.bytes.size())
      throw error(d, at, "this is not UTF-8: convert the file, for instance with iconv -t UTF-8");
    if (!is_json_) return std::string(d.bytes);
    detail::field_finder finder(how_.text_key);
    const bool parsed = nlohmann::json::sax_parse(d.bytes, &finder);
    if (!parsed || !finder.is_object)
      throw error(d, finder.wrong_at ? finder.wrong_at - 1 : 0,
                  "it is no object in JSON: write one object a line, without ends of lines inside");
    if (finder.is_other)
      throw error(d, 0,
                  fmt::format("'{}' is no text: put it in quotes, or name another field", how_.text_key));
    if (!finder.found)
      throw error(d, 0, fmt::format("the object lacks '{}': add it, or name another field", how_.text_key));
    return std::move(*finder.found);
  }
  /// A mistake in a document, to be thrown; its bytes count from 0, those of a line in the message from 1.
  file_error error(const document& d, std::size_t byte, std::string_view why) const {
    const std::string_view before = d.bytes.substr(0, byte);
    const i64 lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t end = before.rfind('\n');
    return file_error(fmt::format("wsl: {}, line {}, byte {}: {}", files_[d.file], d.line + lines,
                                  byte - (end == before.npos ? 0 : end + 1) + 1, why));
  }

 private:
  static std::filesystem::path common(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::filesystem::path all;
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end() && *x == *y; ++x, ++y) all /= *x;
    return all;
  }

  std::vector<std::string> files_;
  corpus_form how_;
  bool is_json_ = false;
  u64 bytes_ = 0;
  std::filesystem::path above_;
};

}  // namespace wsl::ml
