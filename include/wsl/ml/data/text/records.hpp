// SPDX-License-Identifier: MIT
// Examples with named texts, from any number of files in a row: tables (.csv, .tsv) whose first row names the
// columns, and objects in JSON, one a line (.jsonl). Files stay on the disk.
//   const records train(files_of({"mnli/train.tsv"}));
//   const std::string premise = train.text(7, "sentence1");
#pragma once
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
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
    const i64 line = lines_[static_cast<std::size_t>(which)];
    const nlohmann::json object = nlohmann::json::parse(in_.line(line), nullptr, false);
    if (!object.is_object())
      throw in_.error(line, "it is no object in JSON: write one object a line, without ends of lines inside");
    const auto found = object.find(key);
    if (found == object.end())
      throw in_.error(line, fmt::format("the object lacks '{}': add it, or name another field", key));
    return found->is_string() ? found->get<std::string>() : found->dump();
  }
  file_error error(i64 which, std::string_view key, std::string_view why) const {
    return in_.error(lines_[static_cast<std::size_t>(which)], fmt::format("'{}': {}", key, why));
  }

 private:
  line_file in_;
  std::vector<i64> lines_;
};

class table {
 public:
  table(std::string name, delimited_form how) : in_(std::move(name), how) {}
  i64 count() const { return in_.count(); }
  bool has(std::string_view column) const { return in_.find(column).has_value(); }
  std::string text(i64 which, std::string_view column) const { return in_.at(which, in_.column(column)); }
  file_error error(i64 which, std::string_view column, std::string_view why) const {
    return in_.error(which, column, why);
  }

 private:
  delimited_file in_;
};

}  // namespace detail

/// The files that some paths mean. A folder means those that its meta.dat lists, as the Model Zoo's scripts
/// write it (a name and the number of examples a line), or else those with one of the endings, in the order
/// of their names. Throws file_error if a path is not there or a folder has no such file.
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
    const std::size_t before = all.size();
    if (const std::string list = path + "/meta.dat"; file_exists(list)) {
      const line_file lines(list);
      for (i64 i = 0; i < lines.count(); ++i) {
        const std::string_view line = lines.line(i);
        if (const std::size_t end = line.find(' '); !line.empty()) {
          if (end == std::string_view::npos)
            throw lines.error(i, "after the name of a file its number of examples should follow");
          const fs::path name(line.substr(0, end));
          all.push_back((name.is_absolute() ? name : path / name).string());
        }
      }
    } else {
      for (const fs::directory_entry& entry : fs::directory_iterator(path))
        if (std::find(endings.begin(), endings.end(), entry.path().extension()) != endings.end())
          all.push_back(entry.path().string());
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    }
    if (all.size() == before)
      throw file_error(fmt::format("wsl: {}: the folder has neither a meta.dat nor files that end with {}",
                                   path, detail::quoted_list(endings)));
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
      count_ += std::visit([](const auto& f) { return f.count(); }, *files_.back());
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
  /// A text of an example. Throws file_error, with the file and the line, if it has none of that name.
  std::string text(i64 which, std::string_view column) const {
    const place at = place_of(which);
    return std::visit([&](const auto& f) { return f.text(at.which, column); }, *at.file);
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
