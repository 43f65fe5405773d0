// SPDX-License-Identifier: MIT
// Files and folders that are written completely or not at all, whatever lies at their names.
#include <sys/stat.h>
#include <unistd.h>

#include <wsl/support/resumable_folder.hpp>
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

TEST_CASE("A folder that was begun goes on, with the same recipe only") {
  const files::folder here;
  const std::string name = here / "made", unfinished = name + ".unfinished";
  { support::resumable_folder out(name, "r"); }
  CHECK_FALSE(fs::exists(unfinished));  // nothing was recorded
  {
    support::resumable_folder out(name, "r");
    CHECK(out.state().empty());
    support::write_whole_file(out / "a", "1");
    out.record("one");
    // What a process that is killed leaves: a file that nothing is recorded of, and one that has not its
    // name.
    files::write(out / "b", "half"), files::write(out / "c.unfinished", "x");
    CHECK_THAT(files::refusal([&] { support::resumable_folder(name, "r"); }),
               Contains("another process makes the folder " + name));
  }
  CHECK_THAT(files::refusal([&] { support::resumable_folder(name, "s"); }),
             Contains("was begun with other settings or of other files: go on with those, or remove it"));
  {
    support::resumable_folder out(name, "r");
    CHECK(out.state() == "one");
    CHECK(read_whole(out / "a") == "1");
    CHECK_FALSE(fs::exists(out / "c.unfinished"));
    support::write_whole_file(out / "b", "2");
    out.record("two"), out.finish();
  }
  const auto names_in = [](const std::string& folder) {
    std::vector<std::string> all;
    for (const auto& x : fs::directory_iterator(folder)) all.push_back(x.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(names_in(name) == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(fs::exists(unfinished));
  CHECK_THAT(files::refusal([&] { support::resumable_folder(name, "r"); }), Contains("made has files"));
  // Killed between the name of the folder and the end: it is finished once more.
  files::write(name + "/resume.recipe", "r"), files::write(name + "/resume.state", "two");
  {
    support::resumable_folder out(name, "r");
    CHECK(out.state() == "two");
    out.finish();
  }
  CHECK(names_in(name) == std::vector<std::string>{"a", "b"});
  // What was killed before it had a recipe begins again.
  fs::create_directories(here / "other.unfinished");
  files::write(here / "other.unfinished/a", "x");
  support::resumable_folder out(here / "other", "r");
  CHECK(out.state().empty());
  CHECK_FALSE(fs::exists(out / "a"));
}

}  // namespace
