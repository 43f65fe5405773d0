// SPDX-License-Identifier: MIT
// A disk without room is noticed before the ranks write, since Open MPI hangs if it is full while they do. A
// file in memory (tmpfs) may have any size as long as it is sparse, but its room is refused at once: so the
// test fails if only the size is set, and needs neither root nor a disk that is really full.
#include <wsl/mpi.hpp>

#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

using namespace wsl;
using Catch::Contains;

TEST_CASE("a file that has no room on the disk is refused before ranks write") {
  constexpr long of_tmpfs = 0x01021994;
  struct statfs kind{};
  struct statvfs room{};
  const bool limited = ::statfs("/dev/shm", &kind) == 0 && kind.f_type == of_tmpfs &&
                       ::statvfs("/dev/shm", &room) == 0 && room.f_blocks > 0;
  const auto who = mpi::world().who;
  if (who.sum(limited ? 1u : 0u) != static_cast<u64>(who.size())) {
    WARN("/dev/shm is no tmpfs with a limit, so that nothing refuses the room");
    return;
  }
  const u64 whole = who.largest(u64{room.f_blocks} * room.f_frsize);
  std::string name = "/dev/shm/wsl_room_" + std::to_string(::getpid());
  name = who.broadcast(name, 0);
  CHECK_THROWS_WITH((mpi::joint_file{who, name, whole + 4096}),
                    Contains("cannot write " + name + ": No space left on device"));
  CHECK_FALSE(std::filesystem::exists(name));
  CHECK_FALSE(std::filesystem::exists(name + ".unfinished"));
}
