// SPDX-License-Identifier: MIT
// Files that ranks write together are those that one process writes, whichever rank has which pieces, and the
// failure of one is that of all.
#include <wsl/mpi.hpp>
#include <wsl/support/file_reader.hpp>

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "common_folder.hpp"

using namespace wsl;
using Catch::Contains;
using support::file_run;

namespace {

u8 byte_at(u64 at) { return static_cast<u8>(at * 31 + at / 251); }

/// Pieces of a file of `size` bytes, in their order; most have an owner, and some are left out.
struct piece {
  file_run where;
  int owner;
};
std::vector<piece> some_pieces(u64 size, int ranks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<piece> all_pieces;
  for (u64 at = 0; at < size;) {
    const u64 n = std::min<u64>(size - at, 1 + random() % (seed % 2 ? 40 : 3000));
    all_pieces.push_back({{at, n}, static_cast<int>(random() % static_cast<unsigned>(ranks + 1)) - 1});
    at += n;
  }
  return all_pieces;
}

std::string contents(const std::string& name) {
  const support::file_reader in(name);
  std::string bytes(in.size(), '\0');
  in.read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("pieces of all ranks make a file, in any number of rounds") {
  const common_folder folder;
  const auto who = mpi::world().who;
  const u64 size = 100'003;
  for (const unsigned seed : {0u, 1u, 2u, 3u})
    for (const u64 at_once : {u64{1} << 30, u64{777}, u64{20'000}}) {
      const std::string name = folder.file("bytes");
      const std::vector<piece> pieces = some_pieces(size, who.size(), seed);
      std::vector<file_run> mine;
      std::vector<u8> bytes;
      std::string expected(size, '\0');
      for (const piece& p : pieces)
        for (u64 i = 0; i < p.where.size && p.owner >= 0; ++i) {
          expected[p.where.at + i] = static_cast<char>(byte_at(p.where.at + i));
          if (p.owner != who.rank()) continue;
          if (i == 0) mine.push_back(p.where);
          bytes.push_back(byte_at(p.where.at + i));
        }
      mpi::joint_file f(who, name, size, at_once);
      // in two parts, of which a rank may have nothing
      const std::size_t half = mine.size() / 2;
      u64 of_half = 0;
      for (std::size_t i = 0; i < half; ++i) of_half += mine[i].size;
      f.write(std::span(mine).first(half), bytes.data());
      f.write(std::span(mine).subspan(half), bytes.data() + of_half);
      f.finish();
      CHECK(contents(name) == expected);
      CHECK_FALSE(std::filesystem::exists(name + ".unfinished"));
      who.sum(0);
    }
}

TEST_CASE("a file may be longer than 4 GiB") {
  const common_folder folder;
  const auto who = mpi::world().who;
  const std::string name = folder.file("long");
  const u64 far = (u64{5} << 30) + 7 + 10 * static_cast<u64>(who.rank()), size = (u64{5} << 30) + 1000;
  const std::string mine = "I am " + std::to_string(1000 + who.rank());
  {
    mpi::joint_file f(who, name, size);
    const file_run run{far, mine.size()};
    f.write({&run, 1}, mine.data());
    f.finish();
  }
  const support::file_reader in(name);
  CHECK(in.size() == size);
  for (int r = 0; r < who.size(); ++r) {
    std::string theirs(9, '\0');
    in.read((u64{5} << 30) + 7 + 10 * static_cast<u64>(r), theirs.data(), theirs.size());
    CHECK(theirs == "I am " + std::to_string(1000 + r));
  }
}

TEST_CASE("a file that is not finished leaves the older one") {
  const common_folder folder;
  const auto who = mpi::world().who;
  const std::string name = folder.file("old");
  if (who.root()) std::ofstream(name) << "older";
  who.sum(0);
  {
    mpi::joint_file f(who, name, 5);
    const file_run run{0, who.root() ? u64{5} : u64{0}};
    f.write({&run, 1}, "newer");
    who.sum(0);
  }
  who.sum(0);
  CHECK(contents(name) == "older");
  CHECK_FALSE(std::filesystem::exists(name + ".unfinished"));
  who.sum(0);
  mpi::joint_file f(who, name, 5);
  const file_run run{0, who.root() ? u64{5} : u64{0}};
  f.write({&run, 1}, "newer");
  f.finish();
  CHECK(contents(name) == "newer");
}

TEST_CASE("runs that a file does not take end all ranks with a sentence") {
  const common_folder folder;
  const auto who = mpi::world().who;
  const std::string name = folder.file("runs"), bytes(40, 'x');
  const bool is_last = who.rank() == who.size() - 1;
  const auto is_refused = [&](std::vector<file_run> last_ranks, const std::string& why) {
    mpi::joint_file f(who, name, 100);
    const std::vector<file_run> runs = is_last ? last_ranks : std::vector<file_run>{};
    CHECK_THROWS_WITH(f.write(runs, bytes.data()), "wsl: cannot write " + name + ": " + why + " (on rank " +
                                                       std::to_string(who.size() - 1) + ")");
    CHECK_FALSE(std::filesystem::exists(name));
    who.sum(0);
  };
  is_refused({{90, 20}}, "a run of 20 bytes from byte 90 on lies beyond the size of the file, 100 bytes");
  is_refused(
      {{~u64{7}, 8}},
      "a run of 8 bytes from byte 18446744073709551608 on lies beyond the size of the file, 100 bytes");
  is_refused({{10, 20}, {20, 20}}, "a run begins at byte 20, before the end of the one before it, byte 30");
  is_refused({{50, 10}, {10, 10}}, "a run begins at byte 10, before the end of the one before it, byte 60");
  CHECK_THROWS_WITH((mpi::joint_file{who, name, 100, 0}),
                    Contains("at least a byte is handed to MPI at once"));
  if (who.size() > 1)
    CHECK_THROWS_WITH((mpi::joint_file{who, name, is_last ? 101u : 100u}),
                      Contains("has another size of " + name));
}

TEST_CASE("ranks that are in different functions of a file are told so instead of waiting for each other") {
  const common_folder folder;
  const auto who = mpi::world().who;
  if (who.size() == 1) return;
  const std::string name = folder.file("apart"), other = folder.file("other");
  if (who.root()) std::ofstream(name) << "older";
  who.sum(0);
  const bool is_last = who.rank() == who.size() - 1;
  const std::string last = "rank " + std::to_string(who.size() - 1),
                    rest = who.size() == 2   ? "rank 0 calls "
                           : who.size() == 3 ? "rank 0 and rank 1 call "
                           : who.size() == 4 ? "rank 0, rank 1 and rank 2 call "
                                             : "rank 0, rank 1, rank 2 and " +
                                                   std::to_string(who.size() - 4) + " others call ",
                    so = "; all ranks call the same functions of a file, in the same order";
  const file_run run{static_cast<u64>(who.rank()), 1};
  const auto is_refused = [&](auto call, const std::string& what) {
    mpi::joint_file f(who, name, 8);
    CHECK_THROWS_WITH(call(f), "wsl: cannot write " + name + ": " + what + so);
    who.sum(0);  // the root has removed it
    CHECK(contents(name) == "older");
    CHECK_FALSE(std::filesystem::exists(name + ".unfinished"));
    who.sum(0);
  };
  is_refused([&](mpi::joint_file& f) { is_last ? f.write({&run, 1}, "x") : f.finish(); },
             last + " calls write, and " + rest + "finish");
  is_refused([&](mpi::joint_file& f) { is_last ? f.finish() : f.write({&run, 1}, "x"); },
             rest + "write, and " + last + " calls finish");
  is_refused(
      [&](mpi::joint_file& f) {
        f.write({&run, 1}, "x");
        is_last ? f.together([] {}) : f.write({&run, 1}, "x");
      },
      last + " calls together, and " + rest + "write");
  is_refused(
      [&](mpi::joint_file& f) {
        if (is_last) mpi::joint_file(who, other, 8);
        else f.finish();
      },
      last + " calls its constructor of another file, and " + rest + "finish");
  mpi::joint_file g(who, other, 8);
  is_refused([&](mpi::joint_file& f) { (is_last ? g : f).write({&run, 1}, "x"); },
             rest + "write, and " + last + " calls write of another file");
}

TEST_CASE("a file that cannot be written is named by all ranks") {
  const common_folder folder;
  const auto who = mpi::world().who;
  const std::string nowhere = folder.file("nowhere") + "/file";
  CHECK_THROWS_WITH((mpi::joint_file{who, nowhere, 10}),
                    Contains("cannot write " + nowhere + ": No such file or directory"));
  CHECK_THROWS_WITH((mpi::joint_file{who, "/dev/null", 10}),
                    Contains("cannot write /dev/null: it is no regular file"));
  if (who.root()) std::filesystem::create_directory(folder.file("taken"));
  who.sum(0);
  CHECK_THROWS_WITH((mpi::joint_file{who, folder.file("taken"), 10}), Contains("no regular file"));
  who.sum(0);
  // a folder has taken its name meanwhile
  const std::string late = folder.file("late");
  mpi::joint_file f(who, late, 4);
  if (who.root()) std::filesystem::create_directories(late + "/within");
  who.sum(0);
  CHECK_THROWS_WITH(f.finish(), Contains("cannot write " + late));
  CHECK_FALSE(std::filesystem::exists(late + ".unfinished"));
}
