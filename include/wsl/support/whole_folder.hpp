// SPDX-License-Identifier: MIT
// A folder that exists with all its files or not at all: they are written to a folder beside it, which is
// renamed when it is complete. Without `finish` nothing is left. A folder that has something is refused, so
// that the files of two are never mixed.
//   whole_folder out("export");
//   write_whole_file(out / "config.json", text);
//   out.finish();
#pragma once
#include <filesystem>
#include <string>
#include <system_error>

#include "whole_file.hpp"

namespace wsl::support {

class whole_folder {
 public:
  /// All functions throw file_error with the folder's name and the reason. The folders that it is in are
  /// made.
  explicit whole_folder(const std::string& name) : name_(name) {
    namespace fs = std::filesystem;
    path_ = fs::weakly_canonical(name, why_);
    if (!path_.has_filename()) path_ = path_.parent_path();  // the name ends with a slash
    must("make");
    const fs::file_status there = fs::status(path_, why_);
    if (fs::exists(there) && (!fs::is_directory(there) || !fs::is_empty(path_, why_)))
      throw file_error("wsl: " + name_ + (fs::is_directory(there) ? " has files" : " is no folder") +
                       ": give a new folder, so that nothing is written over");
    if (path_ == fs::current_path(why_))
      throw file_error("wsl: " + name_ +
                       " is the working folder, which cannot be replaced: give a new folder");
    unfinished_ = path_.string() + ".unfinished";
    fs::remove_all(unfinished_, why_);  // of a process that was killed
    if (!why_) fs::create_directories(unfinished_, why_);
    must("make");
  }
  whole_folder(const whole_folder&) = delete;
  whole_folder& operator=(const whole_folder&) = delete;
  ~whole_folder() {
    if (!unfinished_.empty()) std::filesystem::remove_all(unfinished_, why_);
  }

  /// The name under which a file of the folder is written.
  std::string operator/(const std::string& file) const { return (unfinished_ / file).string(); }
  /// The folder in which the files are written.
  std::string unfinished() const { return unfinished_.string(); }

  void finish() {
    std::filesystem::rename(unfinished_, path_, why_);
    must("write");
    unfinished_.clear();
    whole_file::sync_folder_of(path_.string());
  }

 private:
  void must(const char* what) const {
    if (why_)
      throw file_error(std::string("wsl: cannot ") + what + " the folder " + name_ + ": " + why_.message());
  }

  std::string name_;
  std::filesystem::path path_, unfinished_;
  std::error_code why_;
};

}  // namespace wsl::support
