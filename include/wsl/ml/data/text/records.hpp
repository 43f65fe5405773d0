// SPDX-License-Identifier: MIT
// Examples with named texts, from any number of files in a row: tables (.csv, .tsv) whose first row names the
// columns, and objects in JSON, one a line (.jsonl). Files stay on the disk.
//   const records train(files_of({"mnli/train.tsv"}));
//   const std::string premise = train.text(7, "sentence1");
#pragma once
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "line_file.hpp"
#include "text_list.hpp"

namespace wsl::ml {

namespace detail {

/// Objects in JSON, one a line.
class json_lines {
 public:
  explicit json_lines(std::string name) : in_(std::move(name)) {
    for (i64 i = 0; i < in_.count(); ++i)
      if (!in_.line(i).empty()) lines_.push_back(i);
  }
  i64 count() const { return static_cast<i64>(lines_.size()); }
  bool has(std::string_view) const { return true; }  // each line may have others
  std::string text(i64 which, std::string_view key) const {
    const nlohmann::json found = value(which, key);
    return found.is_string() ? found.get<std::string>() : found.dump();
  }
  std::string string(i64 which, std::string_view key) const {
    const nlohmann::json found = value(which, key);
    if (found.is_string()) return found.get<std::string>();
    throw error(which, key,
                fmt::format("it is {}, not a text: write a text in quotation marks, name another field, or "
                            "leave the line out",
                            found.is_null()      ? "null"
                            : found.is_boolean() ? "true or false"
                            : found.is_number()  ? "a number"
                            : found.is_array()   ? "a list"
                                                 : "an object"));
  }
  std::optional<std::string> find(i64 which, std::string_view key) const {
    const nlohmann::json object =
        nlohmann::json::parse(in_.line(lines_[static_cast<std::size_t>(which)]), nullptr, false);
    if (object.is_object() && (!object.contains(key) || object[key].is_null())) return {};
    return text(which, key);
  }
  nlohmann::ordered_json fields(i64 which) const {
    const i64 line = lines_[static_cast<std::size_t>(which)];
    nlohmann::ordered_json object = nlohmann::ordered_json::parse(in_.line(line), nullptr, false);
    return object.is_object() ? object : throw no_object(line);
  }
  file_error error(i64 which, std::string_view key, std::string_view why) const {
    return in_.error(lines_[static_cast<std::size_t>(which)], fmt::format("'{}': {}", key, why));
  }

 private:
  nlohmann::json value(i64 which, std::string_view key) const {
    const i64 line = lines_[static_cast<std::size_t>(which)];
    const nlohmann::json object = nlohmann::json::parse(in_.line(line), nullptr, false);
    if (!object.is_object()) throw no_object(line);
    const auto found = object.find(key);
    if (found == object.end())
      throw in_.error(line, fmt::format("the object lacks '{}': add it, or name another field", key));
    return *found;
  }
  file_error no_object(i64 line) const {
    return in_.error(line, "it is no object in JSON: write one object a line, without ends of lines inside");
  }

  line_file in_;
  std::vector<i64> lines_;
};

class table {
 public:
  table(std::string name, delimited_form how) : in_(std::move(name), how) {}
  i64 count() const { return in_.count(); }
  bool has(std::string_view column) const { return in_.find(column).has_value(); }
  std::string text(i64 which, std::string_view column) const { return in_.at(which, in_.column(column)); }
  std::string string(i64 which, std::string_view column) const { return text(which, column); }
  std::optional<std::string> find(i64 which, std::string_view column) const {
    if (const auto at = in_.find(column)) return in_.at(which, *at);
    return {};
  }
  nlohmann::ordered_json fields(i64 which) const {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (const std::string& column : in_.columns()) all[column] = text(which, column);
    return all;
  }
  file_error error(i64 which, std::string_view column, std::string_view why) const {
    return in_.error(which, column, why);
  }

 private:
  delimited_file in_;
};

/// Whether all files have an ending. Throws std::invalid_argument if some have it and some have not.
inline bool all_end_with(std::string_view ending, const std::vector<std::string>& files) {
  const auto count = std::count_if(files.begin(), files.end(),
                                   [&](const std::string& file) { return file.ends_with(ending); });
  if (count > 0 && count < std::ssize(files))
    throw std::invalid_argument(
        fmt::format("wsl: some files end with {} and some do not: read files of one kind", ending));
  return count > 0;
}

/// A line of a folder's meta.dat: a file, or one of sources and one of targets, and the number of examples.
struct meta_line {
  std::vector<std::string> files;
  i64 count;
  i64 number;  // of the line
};

/// Those of a folder; none without a meta.dat. Throws file_error for a line of another form.
inline std::vector<meta_line> meta_lines(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<meta_line> all;
  const std::string list = (fs::path(folder) / "meta.dat").string();
  if (!file_exists(list)) return all;
  const line_file in(list);
  for (i64 i = 0; i < in.count(); ++i) {
    std::vector<std::string> words = divided(in.line(i));
    if (words.empty()) continue;
    i64 count = -1;
    const std::string& last = words.back();
    const auto [past, error] = std::from_chars(last.data(), last.data() + last.size(), count);
    if (words.size() < 2 || error != std::errc() || past != last.data() + last.size() || count < 0)
      throw in.error(i, "a line has the name of a file, or of two, and the number of its examples");
    words.pop_back();
    for (std::string& name : words) name = (fs::path(folder) / name).string();
    all.push_back({std::move(words), count, i + 1});
  }
  return all;
}
/// Throws file_error if the meta.dat beside a file says another number of examples than it has.
inline void check_meta(const std::string& file, i64 count) {
  namespace fs = std::filesystem;
  const std::string folder = fs::path(file).parent_path().string();
  for (const meta_line& line : meta_lines(folder))
    for (const std::string& name : line.files)
      if (fs::path(name).lexically_normal() == fs::path(file).lexically_normal() && line.count != count)
        throw file_error(fmt::format(
            "wsl: {} has {} examples, but {}/meta.dat, line {}, says {}: one of both is cut short "
            "or of other data, make them again",
            file, count, folder, line.number, line.count));
}

}  // namespace detail

/// The files that some paths mean. A folder means those that its meta.dat lists, as the Model Zoo's scripts
/// write it (a name and the number of examples a line), or else those with the first of the endings that any
/// file there has, in the order of their names. Throws file_error if a path is not there or a folder has no
/// such file.
inline std::vector<std::string> files_of(const std::vector<std::string>& paths,
                                         const std::vector<std::string>& endings) {
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    if (!file_exists(path)) throw file_error(fmt::format("wsl: {}: there is no such file or folder", path));
    if (!fs::is_directory(path)) {
      all.push_back(path);
      continue;
    }
    std::vector<std::string> here;
    for (const detail::meta_line& line : detail::meta_lines(path)) here.push_back(line.files.front());
    for (auto ending = endings.begin(); ending != endings.end() && here.empty(); ++ending) {
      for (const fs::directory_entry& entry : fs::directory_iterator(path))
        if (entry.path().extension() == *ending) here.push_back(entry.path().string());
      std::sort(here.begin(), here.end());
    }
    if (here.empty())
      throw file_error(fmt::format("wsl: {}: the folder has neither a meta.dat nor files that end with {}",
                                   path, detail::quoted_list(endings)));
    all.insert(all.end(), here.begin(), here.end());
  }
  if (all.empty()) throw file_error("wsl: no file of examples is named");
  return all;
}

/// May be read by several threads at a time. Copies share the files.
class records {
 public:
  /// Throws file_error for a name with another ending, and what the readers of the formats throw.
  explicit records(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      files_.push_back(open(name));
      begins_.push_back(count_);
      const i64 count = std::visit([](const auto& f) { return f.count(); }, *files_.back());
      detail::check_meta(name, count);
      count_ += count;
    }
    if (count_ == 0)
      throw file_error(
          fmt::format("wsl: {}: there are no examples in it", names.empty() ? "no file" : names.front()));
  }

  i64 count() const { return count_; }
  /// Whether the first file has a column; objects in JSON may have any.
  bool has(std::string_view column) const {
    return std::visit([&](const auto& f) { return f.has(column); }, *files_.front());
  }
  /// A text of an example; what is no text in JSON, as JSON writes it. Throws file_error, with the file and
  /// the line, if it has none of that name.
  std::string text(i64 which, std::string_view column) const {
    const place at = place_of(which);
    return std::visit([&](const auto& f) { return f.text(at.which, column); }, *at.file);
  }
  /// The same of what must be a text. Throws file_error for null, a number, a list or an object, too.
  std::string string(i64 which, std::string_view column) const {
    const place at = place_of(which);
    return std::visit([&](const auto& f) { return f.string(at.which, column); }, *at.file);
  }
  /// The same; nothing if the example has none of that name, or an empty one.
  std::optional<std::string> find(i64 which, std::string_view column) const {
    const place at = place_of(which);
    std::optional<std::string> found =
        std::visit([&](const auto& f) { return f.find(at.which, column); }, *at.file);
    return found && found->empty() ? std::nullopt : found;
  }
  /// All fields of an example, in the order of its file; those of a table are texts. Throws file_error for a
  /// line that is no object in JSON.
  nlohmann::ordered_json fields(i64 which) const {
    const place at = place_of(which);
    return std::visit([&](const auto& f) { return f.fields(at.which); }, *at.file);
  }
  /// The numbers of a list, and its texts. Throws file_error if the text is no such list.
  std::vector<i32> numbers(i64 which, std::string_view column) const {
    return listed(which, column, numbers_of_list);
  }
  std::vector<std::string> texts(i64 which, std::string_view column) const {
    return listed(which, column, texts_of_list);
  }
  /// A mistake in a text, to be thrown.
  file_error error(i64 which, std::string_view column, std::string_view why) const {
    const place at = place_of(which);
    return std::visit([&](const auto& f) { return f.error(at.which, column, why); }, *at.file);
  }

 private:
  using any_file = std::variant<detail::table, detail::json_lines>;
  struct place {
    const any_file* file;
    i64 which;  // in the file
  };

  static std::shared_ptr<const any_file> open(const std::string& name) {
    const std::string ending = std::filesystem::path(name).extension().string();
    if (ending == ".csv") return std::make_shared<const any_file>(detail::table(name, csv_form));
    if (ending == ".tsv") return std::make_shared<const any_file>(detail::table(name, tsv_form));
    if (ending == ".jsonl") return std::make_shared<const any_file>(detail::json_lines(name));
    throw file_error(
        fmt::format("wsl: {}: examples are read from files that end with .csv, .tsv or .jsonl, not with '{}'",
                    name, ending));
  }
  place place_of(i64 which) const {
    const auto k = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), which) -
                                            begins_.begin() - 1);
    return {files_[k].get(), which - begins_[k]};
  }
  template <class Read>
  std::invoke_result_t<Read, std::string_view> listed(i64 which, std::string_view column, Read read) const {
    const std::string all = text(which, column);
    try {
      return read(all);
    } catch (const std::invalid_argument& e) { throw error(which, column, e.what()); }
  }

  std::vector<std::shared_ptr<const any_file>> files_;
  std::vector<i64> begins_;
  i64 count_ = 0;
};

}  // namespace wsl::ml
