// SPDX-License-Identifier: MIT
// The checks of a launch at run time: its task, and its arguments.
#include <wsl/fabric/fabric.hpp>

#include <catch2/catch.hpp>
#include <limits>

using namespace wsl;
using Catch::Contains;

namespace {

struct scaler {
  f32 x = 2;
  void scale(pe&, f32 by) { x *= by; }
  using tasks = task_list<launch<&scaler::scale>>;
};
struct other {
  f32 x = 2;
  void start(pe&) {}
  using tasks = task_list<launch<&other::start>>;
};

}  // namespace

TEST_CASE("a host function that takes arguments is not run without them") {
  fabric f{layout{wse2, 2, 1}.place<scaler>(all)};
  CHECK_THROWS_WITH(f.launch(),
                    Contains("scaler's host function scale takes arguments: f.launch<&...>(area, ...)"));
  f.launch<&scaler::scale>(column(1), 3);
  CHECK(f.read(0, 0, &scaler::x) == 2);
  CHECK(f.read(1, 0, &scaler::x) == 6);
}

TEST_CASE("a member is read from the program that has it") {
  fabric f{layout{wse2, 2, 1}.place<scaler>(column(0)).place<other>(column(1))};
  CHECK(f.read(0, 0, &scaler::x) == 2);
  CHECK_THROWS_WITH(f.read(1, 0, &scaler::x),
                    Contains("PE(1, 0) runs ") && Contains("other, not ") && Contains("scaler"));
  CHECK_THROWS_WITH(f.launch<&scaler::scale>(all, 2),
                    Contains("does not bind launch<&") && Contains("scaler::scale>"));
}

TEST_CASE("a launch that fails has queued nothing") {
  fabric f{layout{wse2, 3, 1}.place<scaler>(column(0)).place<other>(column(1))};
  CHECK_THROWS_WITH(f.start<&scaler::scale>(all, 3),
                    Contains("does not bind launch<&") && Contains("scaler::scale>"));
  CHECK_THROWS_WITH(f.start<&scaler::scale>(columns(0, 3, 2), 3), Contains("no program at PE(2, 0)"));
  CHECK(f.waiting_calls() == 0);
  f.run();
  CHECK(f.read(0, 0, &scaler::x) == 2);
}

namespace {

struct measured {
  i64 large = 0;
  u32 count = 0;
  u16 small = 0;
  bool set = false;
  f32 real = 0;
  void take(pe&, u32 n) { count = n; }
  void take_small(pe&, u16 n, bool b) { small = n, set = b; }
  void take_real(pe&, f32 x) { real = x; }
  void take_half(pe&, f16 x) { real = static_cast<f32>(x); }
  using tasks = task_list<launch<&measured::take>, launch<&measured::take_small>,
                          launch<&measured::take_real>, launch<&measured::take_half>>;
};

}  // namespace

TEST_CASE("the arguments of a launch keep their value, or are refused") {
  fabric f{layout{wse2, 1, 1}.place<measured>(all)};
  f.launch<&measured::take>(all, 4'294'967'295);
  CHECK(f.read(0, 0, &measured::count) == 4'294'967'295);
  CHECK_THROWS_WITH(f.launch<&measured::take>(all, -1),
                    Contains("-1 does not fit into an unsigned number of 32 bits"
                             "\n  as an argument of launch<&take>"));
  CHECK_THROWS_WITH(f.launch<&measured::take>(all, 5'000'000'000), Contains("5000000000 does not fit"));
  f.launch<&measured::take_small>(all, 65'535u, true);
  CHECK(f.read(0, 0, &measured::small) == 65'535);
  CHECK(f.read(0, 0, &measured::set));
  CHECK_THROWS_WITH(f.launch<&measured::take_small>(all, 65'536, false), Contains("65536 does not fit"));
  f.launch<&measured::take_real>(all, 3);
  CHECK(f.read(0, 0, &measured::real) == 3);
  f.launch<&measured::take_real>(all, 0.25);
  CHECK(f.read(0, 0, &measured::real) == 0.25f);
  f.launch<&measured::take_real>(all, 1. / 3);  // fractions are rounded
  CHECK(f.read(0, 0, &measured::real) == 1.f / 3);
  f.launch<&measured::take_real>(all, 1 << 30);
  CHECK(f.read(0, 0, &measured::real) == 0x1p30f);
  CHECK_THROWS_WITH(f.launch<&measured::take_real>(all, 16'777'217),
                    Contains("16777217 would become 16777216 as a floating-point number of 32 bits") &&
                        Contains("as an argument of launch<&take_real>"));
  CHECK_THROWS_WITH(f.launch<&measured::take_real>(all, std::numeric_limits<u64>::max()),
                    Contains("18446744073709551615 would become"));
  CHECK_THROWS_WITH(f.launch<&measured::take_real>(all, 1e300), Contains("1e+300 would become inf"));
  f.launch<&measured::take_real>(all, std::numeric_limits<f64>::infinity());
  CHECK(f.read(0, 0, &measured::real) == std::numeric_limits<f32>::infinity());
  CHECK_THROWS_WITH(f.launch<&measured::take_half>(all, 2049), Contains("2049 would become 2048"));
  CHECK_THROWS_WITH(f.launch<&measured::take_half>(all, 1e5f), Contains("100000 would become inf"));
}

namespace {

struct counting {
  int counted = 0;
  void count(pe& me) {
    ++counted;
    me.activate<&counting::count_again>();
  }
  void count_again(pe&) { counted += 10; }
  using tasks = task_list<launch<&counting::count>, local<&counting::count_again>>;
};
struct named {
  int name[5]{1, 2, 3, 4, 5};
  void rename(pe&, int first) { name[0] = first; }
};
/// Tasks of two base classes, of which one has a list of its own and neither begins where the program begins.
struct both {
  virtual ~both() = default;
  int before = -1;
};
struct inheriting : both, named, counting {
  int own = 0;
  void work(pe& me) {
    own = 7;
    me.activate<&inheriting::count_again>();
  }
  using tasks = task_list<launch<&inheriting::rename>, launch<&inheriting::work>, counting::tasks>;
};

}  // namespace

TEST_CASE("a program has the tasks and the members of its base classes") {
  fabric f{layout{wse2, 2, 1}.place<inheriting>(column(0)).place<counting>(column(1))};
  f.launch<&inheriting::rename>(at(0, 0), 6);
  f.launch<&inheriting::count>(all);
  f.launch<&inheriting::work>(at(0, 0));
  CHECK(f.read(0, 0, &named::name)[0] == 6);
  CHECK(f.read(0, 0, &inheriting::name)[4] == 5);
  CHECK(f.read(0, 0, &inheriting::counted) == 21);
  CHECK(f.read(0, 0, &both::before) == -1);
  CHECK(f.read(0, 0, &inheriting::own) == 7);
  CHECK(f.read(1, 0, &inheriting::counted) == 11);
  CHECK_THROWS_WITH(f.read(1, 0, &named::name), Contains("counting, not ") && Contains("named"));
}
