// SPDX-License-Identifier: MIT
// Files that are read in parts, and files that are written in pieces.
#include <wsl/support/file_reader.hpp>
#include <wsl/support/fingerprint.hpp>
#include <wsl/support/scattered_file.hpp>
#include <wsl/support/whole_file.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

using namespace wsl::support;
using Catch::Contains;

namespace {

class folder {
 public:
  folder() : path_((std::filesystem::temp_directory_path() / "wsl_files_XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()));
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string contents(const std::string& name) {
  const file_reader in(name);
  std::string bytes(in.size(), '\0');
  in.read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("parts of a file are read where they lie") {
  const folder here;
  write_whole_file(here.file("text"), "0123456789");
  const file_reader in(here.file("text"));
  CHECK(in.size() == 10);
  char part[4] = {};
  in.read(3, part, 3);
  CHECK(std::string(part) == "345");
  in.read(10, part, 0);
  CHECK_THROWS_WITH(in.read(8, part, 3), Contains("text: it ends too early"));
  CHECK_THROWS_WITH(file_reader(here.file("nothing")),
                    Contains("cannot read " + here.file("nothing") + ": No such file"));
  CHECK_THROWS_WITH(file_reader("/dev/zero"), Contains("cannot read /dev/zero: it is no regular file"));
}

TEST_CASE("pieces make a file that was whole or not there") {
  const folder here;
  const std::string name = here.file("pieces");
  {
    scattered_file f(name, 12);
    const std::vector<file_run> runs{{1, 3}, {6, 2}, {8, 2}};
    f.write(runs, "abcdefg");
    CHECK_FALSE(std::filesystem::exists(name));
    f.finish();
  }
  CHECK(contents(name) == std::string("\0abc\0\0defg\0\0", 12));
  {
    scattered_file f(name, 3);
    const file_run all{0, 3};
    f.write({&all, 1}, "new");
  }
  CHECK(contents(name).size() == 12);
  CHECK_FALSE(std::filesystem::exists(name + ".unfinished"));
  std::filesystem::create_symlink("pieces", here.file("link"));
  scattered_file f(here.file("link"), 3);
  const file_run all{0, 3};
  f.write({&all, 1}, "new");
  f.finish();
  CHECK(contents(name) == "new");
  CHECK(std::filesystem::is_symlink(here.file("link")));
}

TEST_CASE("pieces that a file does not take leave nothing") {
  const folder here;
  const std::string name = here.file("runs"), bytes(40, 'x');
  const auto is_refused = [&](const std::vector<file_run>& runs, const char* why) {
    scattered_file f(name, 100);
    CHECK_THROWS_WITH(f.write(runs, bytes.data()), "wsl: cannot write " + name + ": " + why);
    CHECK(std::filesystem::is_empty(std::filesystem::path(name).parent_path()));
  };
  is_refused({{90, 20}}, "a run of 20 bytes from byte 90 on lies beyond the size of the file, 100 bytes");
  is_refused({{10, 20}, {20, 20}}, "a run begins at byte 20, before the end of the one before it, byte 30");
  is_refused({{50, 10}, {10, 10}}, "a run begins at byte 10, before the end of the one before it, byte 60");
}

TEST_CASE("pieces that cannot be written leave nothing, and the file is named") {
  const folder here;
  CHECK_THROWS_WITH(scattered_file(here.file("no/where"), 1),
                    Contains("cannot write " + here.file("no/where")));
  CHECK_THROWS_WITH(scattered_file("/dev/null", 1), Contains("no regular file"));
  std::optional<scattered_file> begun(std::in_place, here.file("begun"), 3000);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH(scattered_file(here.file("large"), 2000), Contains("large: File too large"));
  const std::vector<char> bytes(3000);
  const file_run whole{0, bytes.size()};
  CHECK_THROWS_WITH(begun->write({&whole, 1}, bytes.data()), Contains("begun: File too large"));
  begun.reset();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  CHECK(std::filesystem::is_empty(std::filesystem::path(here.file("large")).parent_path()));
}

TEST_CASE("the fingerprint of blocks tells arrays apart, and is a sum of parts") {
  std::vector<unsigned char> bytes(3 * bytes_of_fingerprint_block + 17);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 1000);
  const auto whole = fingerprint_of_blocks(bytes.data(), bytes.size());
  std::uint64_t sum = 0;
  for (std::uint64_t b = 4; b-- > 0;)
    sum += fingerprint_of_block(b, bytes.data() + b * bytes_of_fingerprint_block,
                                b < 3 ? bytes_of_fingerprint_block : 17);
  CHECK(sum == whole);
  for (const std::size_t at : {std::size_t{0}, bytes_of_fingerprint_block, bytes.size() - 1}) {
    bytes[at] ^= 1;
    CHECK(fingerprint_of_blocks(bytes.data(), bytes.size()) != whole);
    bytes[at] ^= 1;
  }
  // blocks in another order
  std::swap_ranges(bytes.begin(), bytes.begin() + bytes_of_fingerprint_block,
                   bytes.begin() + bytes_of_fingerprint_block);
  CHECK(fingerprint_of_blocks(bytes.data(), bytes.size()) != whole);
  CHECK(fingerprint_of_blocks(bytes.data(), bytes.size() - 1) != whole);
}
