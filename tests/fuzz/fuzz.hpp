// SPDX-License-Identifier: MIT
// The common parts of the fuzzed readers: a table of them by name, bytes as a file without a disk, and a
// folder for the files that they write.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

inline void holds(bool x) {
  if (!x) std::abort();
}

/// Takes bytes or throws wsl::ml::file_error.
struct reader {
  std::string_view name;
  void (*reads)(std::string_view);
};
inline std::vector<reader>& readers() {
  static std::vector<reader> all;
  return all;
}
/// Enters readers into the table before main begins.
struct enter {
  enter(std::initializer_list<reader> some) { readers().insert(readers().end(), some); }
};

class memory_file {
 public:
  explicit memory_file(std::string_view bytes) : file_(::memfd_create("fuzz", 0)) {
    holds(file_ >= 0 && ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(file_); }
  std::string name() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// A folder in memory.
inline const std::string& scratch() {
  static const struct folder {
    std::string name = "/dev/shm/wsl_fuzz_XXXXXX";
    folder() { holds(::mkdtemp(name.data())); }
    ~folder() { std::filesystem::remove_all(name); }
  } here;
  return here.name;
}

}  // namespace fuzz
