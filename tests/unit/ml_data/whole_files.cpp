// SPDX-License-Identifier: MIT
// Files and folders that are written completely or not at all, whatever lies at their names.
#include <sys/stat.h>
#include <unistd.h>

#include <wsl/support/whole_folder.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("A symbolic link stays one when its file is written, and what is no regular file stays as it is") {
  const files::folder here;
  fs::create_directories(here / "far");
  files::write(here / "far/file", "before");
  fs::create_symlink("far/file", here / "link");
  fs::create_symlink("link", here / "second");
  fs::create_symlink("far/new", here / "dangling");
  support::write_whole_file(here / "second", "after");
  support::write_whole_file(here / "dangling", "new");
  CHECK(read_whole(here / "far/file") == "after");
  CHECK(read_whole(here / "far/new") == "new");
  for (const char* link : {"link", "second", "dangling"}) CHECK(fs::is_symlink(here / link));
  fs::create_symlink("loop", here / "loop");
  CHECK_THAT(files::refusal([&] { support::write_whole_file(here / "loop", "x"); }),
             Contains("cannot write"));

  REQUIRE(::mkfifo((here / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("pipe", here / "to_pipe");
  for (const char* name : {"pipe", "to_pipe", "far"})
    CHECK_THAT(files::refusal([&] { support::write_whole_file(here / name, "x"); }),
               Contains("is no regular file: give a name that is free"));
  CHECK((fs::is_fifo(here / "pipe") && fs::is_directory(here / "far")));
}

TEST_CASE("A folder is written completely or not at all, and never over another") {
  const files::folder here;
  {
    support::whole_folder out(here / "new/one/");
    support::write_whole_file(out / "a", "1");
    CHECK_FALSE(fs::exists(here / "new/one"));
    out.finish();
  }
  CHECK(read_whole(here / "new/one/a") == "1");
  { support::write_whole_file(support::whole_folder(here / "left") / "a", "1"); }
  CHECK_FALSE((fs::exists(here / "left") || fs::exists(here / "left.unfinished")));
  CHECK_THAT(files::refusal([&] { support::whole_folder(here / "new"); }),
             Contains("new has files: give a new folder"));
  CHECK_THAT(files::refusal([&] { support::whole_folder(here / "new/one/a"); }),
             Contains("is no folder: give a new folder"));
  fs::create_directories(here / "empty");
  const fs::path working = fs::current_path();
  fs::current_path(here / "empty");
  CHECK_THAT(files::refusal([&] { support::whole_folder("."); }), Contains(". is the working folder"));
  fs::current_path(working);
  support::whole_folder out(here / "empty");
  support::write_whole_file(out / "b", "2");
  out.finish();
  CHECK(read_whole(here / "empty/b") == "2");
}

}  // namespace
