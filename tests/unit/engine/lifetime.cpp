// SPDX-License-Identifier: MIT
// A fabric destroys all that it builds: programs, and tasks that still wait. The leak checker of the address
// sanitizer sees the rest.

#include "engines.hpp"

#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>

using namespace wsl;
using Catch::StartsWith;

namespace {

constexpr color<f32> red{0};

std::atomic<int> alive{0};  // PEs run on several threads
struct instance {
  instance() { ++alive; }
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;
  ~instance() { --alive; }
};

struct alignas(128) owner {
  instance self;
  std::unique_ptr<int> heap = std::make_unique<int>(7);
  std::array<f32, 4> x{};
  int awake = 0;
  task wait(pe&, int rounds) {
    const instance local_variable;
    for (int i = 0; i < rounds; ++i) {
      co_await mov(mem(x), fabin(red));
      ++awake;
    }
  }
  task fail(pe&) {
    const instance local_variable;
    co_await mov(mem(x), fabin(red));
    throw std::runtime_error("after the wait");
  }
  task fail_at_once(pe&) {
    const instance local_variable;
    if (heap) throw std::runtime_error("before the wait");
    co_return;
  }
  using tasks =
      task_list<launch<&owner::wait>, launch<&owner::fail>, launch<&owner::fail_at_once>, reads<red>>;
};

struct sender {
  void send(pe& me, int n) {
    for (int i = 0; i < n; ++i) me.send(red, 1.f);
  }
  using tasks = task_list<launch<&sender::send>, sends<red>>;
};

constexpr layout fan = layout{wse2, 4, 1}
                           .place<sender>(column(0))
                           .place<owner>(columns(1, edge))
                           .path(red, column(0), ramp >> east)
                           .path(red, columns(1, edge - 1), west >> (ramp | east))
                           .path(red, column(edge - 1), west >> ramp);

}  // namespace

TEMPLATE_LIST_TEST_CASE("programs are built and destroyed once on each PE, where their alignment wants them",
                        "", every_engine) {
  {
    fabric f{fan, TestType{}};
    CHECK(alive == 3);
    for (int x : {1, 2, 3}) {
      CHECK(*f.read(x, 0, &owner::heap) == 7);
      CHECK(reinterpret_cast<std::uintptr_t>(&f.program_at<owner>({x, 0})) % 128 == 0);
    }
  }
  CHECK(alive == 0);
}

TEMPLATE_LIST_TEST_CASE(
    "a fabric may be destroyed while its tasks wait, before and after they have been resumed", "",
    every_engine) {
  for (int words : {0, 4, 6}) {
    {
      fabric f{fan, TestType{}};
      f.start<&owner::wait>(columns(1, edge), 2);
      CHECK_THROWS_AS(f.launch<&sender::send>(at(0, 0), words), deadlock);
      CHECK(alive == 6);
      CHECK(f.read(2, 0, &owner::awake) == words / 4);
    }
    CHECK(alive == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("a task that waited goes on in a later run", "", every_engine) {
  fabric f{fan, TestType{}};
  f.start<&owner::wait>(columns(1, edge), 2);
  CHECK_THROWS_AS(f.launch<&sender::send>(at(0, 0), 5), deadlock);
  f.launch<&sender::send>(at(0, 0), 3);
  CHECK(f.read(3, 0, &owner::awake) == 2);
  CHECK(alive == 3);
}

TEMPLATE_LIST_TEST_CASE("a task that throws is gone, with what it held", "", every_engine) {
  {
    fabric f{fan, TestType{}};
    f.start<&owner::fail>(at(3, 0));
    f.start<&owner::wait>(columns(1, 3), 1);
    CHECK_THROWS_WITH(f.launch<&sender::send>(at(0, 0), 4),
                      StartsWith("after the wait\n  in fail on PE(3, 0)"));
    fabric g{fan, TestType{}};
    CHECK_THROWS_WITH(g.launch<&owner::fail_at_once>(at(3, 0)),
                      StartsWith("before the wait\n  in fail_at_once on PE(3, 0)"));
  }
  CHECK(alive == 0);
}

TEMPLATE_LIST_TEST_CASE("a run that never began leaves its arguments behind", "", every_engine) {
  const auto held = std::make_shared<int>(1);
  struct holder {
    void take(pe&, std::shared_ptr<int>) {}
    using tasks [[maybe_unused]] = task_list<launch<&holder::take>>;
  };
  {
    fabric f{layout{wse2, 2, 2}.place<holder>(all), TestType{}};
    f.start<&holder::take>(all, held);
    CHECK(held.use_count() == 2);  // one for all PEs
  }
  CHECK(held.use_count() == 1);
}
