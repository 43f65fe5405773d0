// SPDX-License-Identifier: MIT
// Files of the tests: a folder that goes away again, bytes written as they are, and the data sets where they
// are there.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <wsl/ml/io/input_file.hpp>

namespace files {

class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "wsl_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void write(const std::string& name, const std::string& bytes) {
  std::ofstream(name, std::ios::binary) << bytes;
}
template <class T>
std::string bytes_of(const std::vector<T>& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(T)};
}

/// The sentence with which f throws an Error.
template <class Error = wsl::ml::file_error, class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "it is taken";
}

/// A file of the data sets, or nothing, and then the test says so.
inline std::optional<std::string> data_set(const std::string& name) {
  const char* in = std::getenv("WSL_DATA_DIR");
  const std::string path = std::string(in ? in : "") + "/" + name;
  if (in && std::filesystem::exists(path)) return path;
  WARN("SKIPPED: there is no " + name + " in WSL_DATA_DIR");
  return {};
}

}  // namespace files
