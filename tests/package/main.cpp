// SPDX-License-Identifier: MIT
// A stranger's program: it needs the headers, a thread, and fmt without its library.
#include <wsl/version.hpp>

#include <fmt/core.h>

#include <thread>

int main() {
  std::thread{[] { fmt::print("wsl {}.{}.{}\n", WSL_VERSION_MAJOR, WSL_VERSION_MINOR, WSL_VERSION_PATCH); }}.join();
}
