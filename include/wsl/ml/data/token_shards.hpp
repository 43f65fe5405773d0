// SPDX-License-Identifier: MIT
// Tokens in many files, such as the shards of llm.c's FineWeb, read as one stream. They stay in their files:
//   const tokens all = read_token_files(token_files_of({"fineweb10B"}, "train"));   // fineweb_train_*.bin
//   batches train(windows(all, 1024), {.size = 8, .seed = 7});
#pragma once
#include <glob.h>

#include <cctype>
#include <filesystem>

#include "token_file.hpp"

namespace wsl::ml {

namespace detail {

/// Whether a name ends with the word and .bin, or has the word between other characters than letters and
/// digits.
inline bool is_token_file_of(const std::filesystem::path& file, const std::string& part) {
  const std::string name = file.filename().string();
  if (file.extension() != ".bin") return false;
  if (name.ends_with(part + ".bin")) return true;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || !is_word(name[at - 1])) && (end == name.size() || !is_word(name[end]))) return true;
  }
  return false;
}
/// The files that a pattern such as data/train_*.bin matches, in the order of their names.
inline std::vector<std::string> matches_of(const std::string& pattern) {
  ::glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> all;
  for (std::size_t k = 0; status == 0 && k < found.gl_pathc; ++k) all.emplace_back(found.gl_pathv[k]);
  ::globfree(&found);
  return all;
}
inline bool is_pattern(const std::string& path) {
  return path.find_first_of("*?[") != path.npos && !file_exists(path);
}

}  // namespace detail

/// The files of tokens that some paths mean for a part of the data, "train" or "val": files, patterns with *,
/// ? and [..], and folders, of which those .bin files whose names have the word. They stay in the order of
/// the paths, and those of a folder or a pattern in that of their names. A folder without such files means
/// none. Throws file_error for a path that is not there, a pattern that matches nothing, and a file that is
/// named twice.
inline std::vector<std::string> token_files_of(const std::vector<std::string>& paths,
                                               const std::string& part) {
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::vector<std::string> here{path};
    if (detail::is_pattern(path)) {
      here = detail::matches_of(path);
      if (here.empty()) throw file_error(fmt::format("wsl: {}: no file has such a name", path));
    } else if (!file_exists(path)) {
      throw file_error(fmt::format("wsl: {}: there is no such file or folder", path));
    } else if (fs::is_directory(path)) {
      here.clear();
      for (const fs::directory_entry& x : fs::directory_iterator(path))
        if (x.is_regular_file() && detail::is_token_file_of(x.path(), part))
          here.push_back(x.path().string());
      std::sort(here.begin(), here.end());
    }
    all.insert(all.end(), here.begin(), here.end());
  }
  std::vector<std::string> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw file_error(fmt::format("wsl: {} is named twice: leave one out", *twice));
  return all;
}

/// The form of a file of tokens in words.
inline const char* words_of(token_format form) {
  return form == token_format::raw    ? "16 bits a token and no header, as nanoGPT's"
         : form == token_format::llmc ? "llm.c's header of 16 bits a token"
                                      : "llm.c's header of 32 bits a token";
}

/// The tokens of several files as one stream, in the order of the files. Throws file_error for a file that
/// cannot be read, and for files of different forms.
inline tokens read_token_files(const std::vector<std::string>& files) {
  if (files.empty()) throw file_error("wsl: no file of tokens is named");
  tokens all;
  const token_format first = format_of_tokens(files.front());
  for (const std::string& name : files) {
    if (const token_format form = format_of_tokens(name); form != first)
      throw file_error(
          fmt::format("wsl: {} has {}, and {} has {}: files that are read together have one form, which "
                      "`wsl-data convert --form` makes",
                      files.front(), words_of(first), name, words_of(form)));
    all.append(read_tokens(name));
  }
  return all;
}

}  // namespace wsl::ml
