// SPDX-License-Identifier: MIT
// The dumps of several ranks: each writes what its own PEs hold, and together they are the dump of one
// process.
#include <wsl/debug/commands.hpp>
#include <wsl/debug/dump.hpp>
#include <wsl/mpi.hpp>
#include <wsl/program/descriptor/ops.hpp>
#include <wsl/wsl.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "common_folder.hpp"

using namespace wsl;

namespace {

constexpr color<f32> down{1};

struct waiter {
  f32 got[4]{};
  int row = 0;
  task wait(pe& me) {
    row = me.y();
    if (me.north_edge()) me.async(mov(fabout(down), mem(got).part(0, 2)));
    else co_await mov(mem(got), fabin(down));
  }
  using tasks = task_list<launch<&waiter::wait>, reads<down>, sends<down>>;
  using exports = export_list<&waiter::got, &waiter::row>;
};

layout columns_of(int side) {
  layout l{wse2, side, side};
  l.place<waiter>(all)
      .path(down, row(0), ramp >> south)
      .path(down, rows(1, edge - 1), north >> (ramp | south))
      .path(down, row(edge - 1), north >> ramp);
  return l;
}

}  // namespace

TEST_CASE("each rank dumps its own PEs") {
  constexpr int side = 6;
  auto who = mpi::world().who;
  const common_folder folder;
  const std::string file = folder.file("dump");

  fabric alone{columns_of(side), threaded{.threads = 1}},
      f{columns_of(side), mpi::world().with({.pes_per_partition = side})};
  CHECK_THROWS_AS(alone.launch(all), deadlock);
  ::setenv("WSL_DUMP", file.c_str(), 1);
  CHECK_THROWS_AS(f.launch(all), deadlock);
  ::unsetenv("WSL_DUMP");

  const std::string mine = who.size() > 1 ? file + "." + std::to_string(who.rank()) : file;
  const debug::machine_state s = debug::read_dump(mine), one = debug::capture(alone);
  debug::state_view part(s), whole(one);
  u64 here = 0;
  for (int i = 0; i < side * side; ++i) {
    const coord c = s.grid().nth(i);
    if (f.here(c)) {
      ++here;
      CHECK(part.pe(c) == whole.pe(c));
    } else {
      CHECK(part.pe(c).ends_with("another process runs it, whose dump says more\n"));
    }
  }
  CHECK(who.sum(here) == u64{side} * side);
  CHECK(who.sum(s.waits.size()) == one.waits.size());
}
