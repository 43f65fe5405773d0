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

namespace detail {

/// Throws file_error if something could not be done with the folder of that name.
inline void must_folder(const char* what, const std::string& name, const std::error_code& why) {
  if (why)
    throw file_error(std::string("wsl: cannot ") + what + " the folder " + name + ": " + why.message());
}
/// The path of a folder, which may not be there yet.
inline std::filesystem::path folder_path(const std::string& name) {
  std::error_code why;
  std::filesystem::path path = std::filesystem::weakly_canonical(name, why);
  must_folder("make", name, why);
  return path.has_filename() ? path : path.parent_path();  // the name may end with a slash
}
/// Throws file_error if there is something that a new folder would replace.
inline void require_free_folder(const std::filesystem::path& path, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code why;
  const fs::file_status there = fs::status(path, why);
  if (fs::exists(there) && (!fs::is_directory(there) || !fs::is_empty(path, why)))
    throw file_error("wsl: " + name + (fs::is_directory(there) ? " has files" : " is no folder") +
                     ": give a new folder, so that nothing is written over");
  if (path == fs::current_path(why))
    throw file_error("wsl: " + name + " is the working folder, which cannot be replaced: give a new folder");
}
/// Where the files of a folder are written.
inline std::filesystem::path unfinished_of(const std::filesystem::path& path) {
  return path.string() + ".unfinished";
}

}  // namespace detail

class whole_folder {
 public:
  /// All functions throw file_error with the folder's name and the reason. The folders that it is in are
  /// made.
  explicit whole_folder(const std::string& name) : name_(name), path_(detail::folder_path(name)) {
    namespace fs = std::filesystem;
    detail::require_free_folder(path_, name);
    unfinished_ = detail::unfinished_of(path_);
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
    file_replacement::sync_folder_of(path_.string());
  }

 private:
  void must(const char* what) const { detail::must_folder(what, name_, why_); }

  std::string name_;
  std::filesystem::path path_, unfinished_;
  std::error_code why_;
};

}  // namespace wsl::support
