// SPDX-License-Identifier: MIT
// A folder that is written file after file for a long time, and that exists with all its files or not at all,
// as whole_folder, but of which a process that is killed loses no finished file: the next one that makes the
// same goes on. A text, the recipe, says of what it is made, and another one, the state, how far it is.
//   resumable_folder out("data", recipe);
//   std::size_t k = out.state().empty() ? 0 : std::stoul(out.state());
//   for (; k < parts; ++k) write_whole_file(out / name_of(k), text_of(k)), out.record(std::to_string(k + 1));
//   out.finish();
#pragma once
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "folder_lock.hpp"
#include "whole_folder.hpp"

namespace wsl::support {

class resumable_folder {
 public:
  /// All functions throw file_error with the folder's name and the reason. Refused are a folder that has
  /// something, one that another process makes, and one that was begun by another recipe.
  resumable_folder(const std::string& name, const std::string& recipe) : name_(name) {
    namespace fs = std::filesystem;
    path_ = detail::folder_path(name);
    unfinished_ = detail::unfinished_of(path_);
    // A process may have been killed when the folder was complete but for its name, or had even that.
    if (text_of(path_ / recipe_name) == recipe && !fs::exists(unfinished_, why_))
      fs::rename(path_, unfinished_, why_);
    must("write");
    detail::require_free_folder(path_, name);
    fs::create_directories(unfinished_, why_);
    must("make");
    lock_.emplace(unfinished_.string(), "wsl: another process makes the folder " + name +
                                            ": wait until it has ended, or give another folder");
    const std::string begun = text_of(recipe_file());
    if (!begun.empty() && begun != recipe)
      throw file_error("wsl: " + unfinished_.string() +
                       " was begun with other settings or of other files: go on with those, or remove it and "
                       "begin again");
    if (begun.empty()) {
      // A process that was killed before it had begun has left these.
      for (const fs::path& file : files()) fs::remove_all(file, why_);
      must("make");
      write_whole_file(recipe_file(), recipe);
      return;
    }
    state_ = text_of(state_file());
    for (const fs::path& file : files())
      if (file.extension() == ".unfinished") fs::remove(file, why_);
    must("make");
  }
  resumable_folder(const resumable_folder&) = delete;
  resumable_folder& operator=(const resumable_folder&) = delete;
  /// If it ends before anything is recorded, nothing is left; otherwise the next one can go on.
  ~resumable_folder() {
    if (!unfinished_.empty() && state_.empty()) std::filesystem::remove_all(unfinished_, why_);
  }

  /// The text that was recorded last; empty: none yet.
  const std::string& state() const { return state_; }
  /// Says that the files of so far are written. The text is not empty.
  void record(std::string state) {
    write_whole_file(state_file(), state);
    state_ = std::move(state);
  }

  /// The name under which a file of the folder is written.
  std::string operator/(const std::string& file) const { return (unfinished_ / file).string(); }
  /// The folder in which the files are written.
  std::string unfinished() const { return unfinished_.string(); }

  void finish() {
    namespace fs = std::filesystem;
    fs::rename(unfinished_, path_, why_);
    must("write");
    unfinished_.clear();
    file_replacement::sync_folder_of(path_.string());
    // The recipe goes last: as long as it is there, the next process knows what the folder is.
    for (const char* file : {state_name, recipe_name}) fs::remove(path_ / file, why_), must("write");
  }

 private:
  static constexpr const char *recipe_name = "resume.recipe", *state_name = "resume.state";

  std::string recipe_file() const { return *this / recipe_name; }
  std::string state_file() const { return *this / state_name; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(unfinished_)) all.push_back(entry.path());
    return all;
  }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void must(const char* what) const { detail::must_folder(what, name_, why_); }

  std::string name_, state_;
  std::filesystem::path path_, unfinished_;
  std::optional<folder_lock> lock_;
  std::error_code why_;
};

}  // namespace wsl::support
