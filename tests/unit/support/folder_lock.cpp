// SPDX-License-Identifier: MIT
// The lock of a folder: one holder at a time, who may leave it to a child for a moment.
#include <wsl/support/folder_lock.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <filesystem>

using wsl::support::folder_lock;

namespace {

struct temporary_folder {
  std::string name = (std::filesystem::temp_directory_path() / "wsl_lock_XXXXXX").string();
  temporary_folder() { REQUIRE(::mkdtemp(name.data())); }
  ~temporary_folder() { std::filesystem::remove_all(name); }
};

/// A process that holds the lock for so long.
pid_t holder(const std::string& folder, std::chrono::milliseconds time) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const folder_lock held(folder, "held");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    std::this_thread::sleep_for(time);
    ::_exit(0);
  }
  char x;
  REQUIRE(::read(ready[0], &x, 1) == 1);
  ::close(ready[0]), ::close(ready[1]);
  return child;
}

}  // namespace

TEST_CASE("one process works in a folder, and takes it over from one that has just ended") {
  const temporary_folder here;
  const pid_t brief = holder(here.name, std::chrono::milliseconds(200));
  CHECK_NOTHROW(folder_lock(here.name, "another works here"));
  ::waitpid(brief, nullptr, 0);

  const pid_t lasting = holder(here.name, std::chrono::minutes(1));
  CHECK_THROWS_WITH(folder_lock(here.name, "another works here"), Catch::Contains("another works here"));
  ::kill(lasting, SIGKILL);
  ::waitpid(lasting, nullptr, 0);
  CHECK_NOTHROW(folder_lock(here.name, "another works here"));
}
