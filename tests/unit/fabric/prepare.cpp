// SPDX-License-Identifier: MIT
// Programs that are set up on the threads that run them.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/wsl.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <string>

using namespace wsl;
using Catch::Contains;

namespace {

long this_thread() { return syscall(SYS_gettid); }

struct part {
  long prepared_by = 0, run_by = 0;
  int visits = 0;
  void go(pe&) { run_by = this_thread(); }
  using tasks = task_list<launch<&part::go>>;
};
struct other {
  int n = 0;
  void go(pe&) { ++n; }
  using tasks = task_list<launch<&other::go>>;
};

const layout square = layout{host, 8, 8}.place<part>(all);

}  // namespace

TEST_CASE("a PE's program is prepared by the thread that runs it") {
  for (const int threads : {1, 2, 3, 5}) {
    fabric f{square, threaded{.threads = threads, .pes_per_partition = 8}};
    f.prepare<part>(all, [](part& p, coord) { p.prepared_by = this_thread(), ++p.visits; });
    f.launch();
    std::set<long> threads_used;
    for (int i = 0; i < 64; ++i) {
      const part& p = f.program_at<part>({i % 8, i / 8});
      CHECK(p.visits == 1);
      if (threads > 1) CHECK(p.prepared_by == p.run_by);
      threads_used.insert(p.prepared_by);
    }
    CHECK(threads_used.size() == static_cast<std::size_t>(threads));
  }
}

TEST_CASE("every engine prepares the programs of an area") {
  const auto judge = [](fabric f) {
    f.prepare<part>(columns(1, edge, 2), [](part& p, coord c) { p.visits += 1 + 8 * c.y + c.x; });
    for (int i = 0; i < 64; ++i) CHECK(f.read(i % 8, i / 8, &part::visits) == (i % 2 ? 1 + i : 0));
  };
  judge(fabric{square, reference{}});
  judge(fabric{square, timed{}});
  judge(fabric{square, threaded{.threads = 2, .pes_per_partition = 8}});
}

TEST_CASE("what preparing throws comes out, that of the first partition on any number of threads") {
  for (const int threads : {1, 2, 3, 8}) {
    fabric f{square, threaded{.threads = threads, .pes_per_partition = 8}};
    for (const int first : {0, 3, 7}) {
      CHECK_THROWS_WITH(f.prepare<part>(all,
                                        [&](part&, coord c) {
                                          if (c.y >= first) throw std::invalid_argument(std::to_string(c.y));
                                        }),
                        Catch::Equals(std::to_string(first)));
      CHECK_NOTHROW(f.launch());  // the fabric goes on
    }
  }
}

TEST_CASE("preparing what runs another program, or while the fabric is in use, is a fault") {
  layout mixed{host, 8, 2};
  mixed.place<part>(row(0)).place<other>(row(1));
  fabric f{mixed, threaded{.threads = 2, .pes_per_partition = 4}};
  CHECK_THROWS_WITH(f.prepare<part>(all, [](part&, coord) {}),
                    Contains("PE(0, 1) runs") && Contains("other"));
  CHECK_NOTHROW(f.prepare<other>(row(1), [](other& o, coord) { o.n = 7; }));
  CHECK(f.read(5, 1, &other::n) == 7);
  CHECK_THROWS_WITH(f.prepare<part>(row(0), [&](part&, coord) { f.launch<&other::go>(row(1)); }),
                    Contains("the fabric is running"));
}
