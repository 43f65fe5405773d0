// SPDX-License-Identifier: MIT
// Ranks of one computer never pin two threads to one processor, and by default none where they share some; a
// rank prepares the programs of its own PEs on the threads that run them.
#include <wsl/mpi.hpp>
#include <wsl/wsl.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <vector>

using namespace wsl;

namespace {

/// How many threads of all ranks are pinned to each processor.
std::vector<u64> pinned_to_each() {
  engines::thread_pool pool(2);
  cpu_set_t places[2];
  auto job = [&](int thread) { places[thread] = support::allowed_processors(); };
  pool.run(job);
  std::vector<u64> counts(CPU_SETSIZE);
  for (std::size_t p = 0; p < counts.size(); ++p)
    for (const cpu_set_t& one : places)
      counts[p] += pool.pinned() && CPU_COUNT(&one) == 1 && CPU_ISSET(p, &one) != 0;
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM,
                mpi::world().who.group());
  return counts;
}

struct part {
  long prepared_by = 0, run_by = 0;
  void go(pe&) { run_by = ::syscall(SYS_gettid); }
  using tasks = task_list<launch<&part::go>>;
};

u64 sum(const std::vector<u64>& counts) {
  u64 all_of_them = 0;
  for (const u64 n : counts) all_of_them += n;
  return all_of_them;
}

}  // namespace

TEST_CASE("no two threads of the ranks of a computer are pinned to one processor") {
  const auto who = mpi::world().who;
  if (mpi::detail::ranks_here != who.size()) return;  // processors of several computers have the same numbers
  ::setenv("WSL_PIN", "1", 1);
  const std::vector<u64> wanted = pinned_to_each();
  ::unsetenv("WSL_PIN");
  const std::vector<u64> by_default = pinned_to_each();
  for (const u64 n : wanted) CHECK(n <= 1);
  for (const u64 n : by_default) CHECK(n <= 1);
  const cpu_set_t mine = support::allowed_processors();
  const int cores = engines::available_cores();
  if (engines::share_of_process.processes > 1) {
    CHECK(engines::share_of_process.processes == who.size());
    CHECK(sum(by_default) == 0);
    if (cores >= 2 * who.size()) CHECK(sum(wanted) == 2 * static_cast<u64>(who.size()));
  } else if (who.size() == 1) {
    CHECK(sum(wanted) == (CPU_COUNT(&mine) >= 2 ? 2 : 0));
    CHECK(sum(by_default) == (cores == 2 && support::processors_of(mine).nodes > 1 ? 2 : 0));
  }
}

TEST_CASE("a rank prepares its own PEs on the threads that run them") {
  const auto who = mpi::world().who;
  fabric f{layout{host, 16, 16}.place<part>(all), mpi::world().with({.threads = 2, .pes_per_partition = 8})};
  f.prepare<part>(all, [](part& p, coord) { p.prepared_by = ::syscall(SYS_gettid); });
  f.launch();
  u64 here = 0;
  bool same = true;
  for (int i = 0; i < 256; ++i) {
    const coord c{i % 16, i / 16};
    if (!f.here(c)) continue;
    const part& p = f.program_at<part>(c);
    ++here, same &= p.prepared_by != 0 && p.prepared_by == p.run_by;
  }
  CHECK(same);
  CHECK(who.sum(here) == 256);
  CHECK_THROWS_WITH(f.prepare<part>(all, [](part&, coord) { throw std::invalid_argument("no"); }),
                    Catch::Contains("no"));
}
