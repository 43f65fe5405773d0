// SPDX-License-Identifier: MIT
// A folder of files that a program exports and may export again. The folder is new or empty, or has nothing
// but an earlier export, as a list in it says: among the files of others, such as another model with its
// tokenizer, new weights would be taken for theirs. Files are written aside, and each takes the place of the
// earlier one when all are complete. Without `finish` nothing changes.
//   export_folder out("out", "wsl-gpt");
//   write_model(out.unfinished());
//   out.finish();
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "files.hpp"

namespace app {

class export_folder {
 public:
  /// Throws std::invalid_argument if the folder has other files, and std::runtime_error if it cannot be made.
  export_folder(const std::string& folder, const std::string& program)
      : folder_(folder), title_(fmt::format("# The files of an export of {}", program)) {
    namespace fs = std::filesystem;
    if (fs::exists(folder_) && !fs::is_directory(folder_))
      throw std::invalid_argument(fmt::format("--out {} is no folder: give the name of a new one", folder));
    is_new_ = !fs::exists(folder_);
    if (!is_new_) earlier_ = listed();
    if (!is_new_)
      for (const auto& entry : fs::directory_iterator(folder_)) {
        const std::string name = entry.path().filename().string();
        if (name != list_name && name != aside_name && !earlier_.contains(name))
          throw std::invalid_argument(
              fmt::format("--out {} has {}, which is of no earlier export of this program: give a new or an "
                          "empty folder, so that files of two are not mixed",
                          folder, name));
      }
    make_folder(folder_);
    fs::remove_all(unfinished());  // of a process that was killed
    make_folder(unfinished());
  }
  export_folder(const export_folder&) = delete;
  export_folder& operator=(const export_folder&) = delete;
  ~export_folder() {
    std::error_code none;
    std::filesystem::remove_all(unfinished(), none);
    if (is_new_) std::filesystem::remove(folder_, none);  // which is refused if there is something in it
  }

  /// The folder in which the files are written.
  std::string unfinished() const { return (folder_ / aside_name).string(); }

  /// Puts the files in their places, and removes those that only the earlier export had. Throws
  /// std::filesystem::filesystem_error, and support::file_error for a disk that is full.
  void finish() {
    namespace fs = std::filesystem;
    std::set<std::string> now;
    for (const auto& entry : fs::directory_iterator(unfinished()))
      now.insert(entry.path().filename().string());
    // Whatever interrupts this, all files that are there are in the list.
    std::set<std::string> both = now;
    both.insert(earlier_.begin(), earlier_.end());
    write_list(both);
    for (const std::string& name : now) fs::rename(fs::path(unfinished()) / name, folder_ / name);
    for (const std::string& name : earlier_)
      if (!now.contains(name)) fs::remove(folder_ / name);
    write_list(now);
  }

 private:
  static constexpr const char *list_name = "exported.txt", *aside_name = ".exported.unfinished";

  /// The names in the list of an earlier export of the program; none if there is no such list.
  std::set<std::string> listed() const {
    std::set<std::string> names;
    if (!std::filesystem::is_regular_file(folder_ / list_name)) return names;
    std::istringstream in(read_file(folder_ / list_name));
    std::string line;
    if (!std::getline(in, line) || line != title_) return names;
    while (std::getline(in, line))
      // A name with a slash would be that of a file elsewhere.
      if (!line.empty() && line.find('/') == line.npos && line != "..") names.insert(line);
    return names;
  }
  void write_list(const std::set<std::string>& names) const {
    std::string text = fmt::format("{}\n", title_);
    for (const std::string& name : names) text += fmt::format("{}\n", name);
    write_file(folder_ / list_name, text);
  }

  std::filesystem::path folder_;
  std::string title_;
  std::set<std::string> earlier_;
  bool is_new_ = true;
};

}  // namespace app
