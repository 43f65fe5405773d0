// SPDX-License-Identifier: MIT
// Files of the applications, by their paths.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <wsl/support/whole_file.hpp>

namespace app {

/// Writes a file that is whole or not there. Throws support::file_error.
inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  wsl::support::whole_file file(path.string());
  file.write(bytes.data(), bytes.size());
  file.finish();
}

/// Makes a folder, and those it is in, if it is not there. Throws std::runtime_error.
inline void make_folder(const std::filesystem::path& path) {
  std::error_code why;
  std::filesystem::create_directories(path, why);
  if (why) throw std::runtime_error("cannot make the folder " + path.string() + ": " + why.message());
}

/// Throws std::invalid_argument if there is something at a path that a command would write.
inline void require_free(const std::filesystem::path& path, std::string_view option) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path)))
    throw std::invalid_argument(path.string() +
                                " is there already, and nothing is written over it: give another " +
                                std::string(option) + ", or remove it");
}

/// Throws std::invalid_argument if a file, or a folder, could not be written there for want of the folder around
/// it or of its permission: before any work whose result would be lost.
inline void require_place(const std::filesystem::path& path, std::string_view option) {
  if (path.empty()) return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder))
    throw std::invalid_argument(std::string(option) + ": there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::invalid_argument(std::string(option) + ": nothing can be written into the folder " +
                                folder.string() + ": " + std::strerror(errno));
}
/// The same for a file, which takes the place of no folder.
inline void require_place_of_file(const std::filesystem::path& path, std::string_view option) {
  if (std::filesystem::is_directory(path))
    throw std::invalid_argument(std::string(option) + ": " + path.string() +
                                " is a folder: give the name of a file");
  require_place(path, option);
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string() + ": " + std::strerror(errno));
  std::error_code why;  // of a folder, for instance
  const std::uintmax_t size = std::filesystem::file_size(path, why);
  if (why) throw std::runtime_error("cannot read " + path.string() + ": " + why.message());
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw std::runtime_error("cannot read " + path.string() + ": " + std::strerror(errno));
  return bytes;
}

}  // namespace app
