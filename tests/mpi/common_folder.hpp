// SPDX-License-Identifier: MIT
#pragma once
#include <wsl/mpi.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

/// A folder that all ranks see, while it lives.
class common_folder {
 public:
  common_folder() {
    path_ = (std::filesystem::temp_directory_path() / "wsl_joint_XXXXXX").string();
    if (who_.root()) REQUIRE(::mkdtemp(path_.data()));
    path_ = who_.broadcast(path_, 0);
  }
  common_folder(const common_folder&) = delete;
  common_folder& operator=(const common_folder&) = delete;
  ~common_folder() {
    who_.sum(0);  // nobody looks any more
    if (who_.root()) std::filesystem::remove_all(path_);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  wsl::mpi::ranks who_ = wsl::mpi::world().who;
  std::string path_;
};
