// SPDX-License-Identifier: MIT
// Files that are whole or not there: they are written under a temporary name beside their place and then renamed.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace app {

[[noreturn]] inline void file_error(const char* what, const std::filesystem::path& path) {
  throw std::runtime_error(std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(errno));
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path partial = path.string() + ".partial";
  const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) file_error("write", partial);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ::close(file);
      ::unlink(partial.c_str());
      file_error("write", partial);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  ::fsync(file);
  ::close(file);
  std::filesystem::rename(partial, path);
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) file_error("read", path);
  std::string bytes(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) file_error("read", path);
  return bytes;
}

}  // namespace app
