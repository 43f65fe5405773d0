// SPDX-License-Identifier: MIT
// Mistakes that would corrupt memory, crash or pass silently: each is the same fault on every engine.
#include <wsl/host/device.hpp>
#include <wsl/host/queue.hpp>
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/ops.hpp>
#include <wsl/program/event.hpp>

#include "engines.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <span>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0};
fabric* own_fabric = nullptr;  // of the test that runs
pe* kept = nullptr;            // by a task that should not

struct without_tasks {
  f32 y[4]{};
};
struct helper {
  f32 sum = 0;
  void compute() { sum = 1; }
};

struct sender {
  static constexpr f32 constants[4]{1, 2, 3, 4};
  f32 x[4]{1, 2, 3, 4};
  std::vector<f32> owned{1, 2, 3, 4};
  fifo<f32, 4> queue;
  event sent;

  // Operands that are gone when the task ends.
  void local_array(pe& me) {
    f32 y[4]{1, 2, 3, 4};
    me.async(mov(fabout(red), mem(y)));
  }
  void local_part(pe& me) {
    std::array<f32, 8> y{};
    me.async(mov(fabout(red), mem(y).part(2, 4)), then<&sender::nothing>());
  }
  void local_box(pe& me) {
    f32 y[4]{1, 2, 3, 4};
    me.async(mov(fabout(red), box(mem(y), {2, 2})));
  }
  void local_fifo(pe& me) {
    fifo<f32, 4> q;
    me.async(mov(into(q), mem(x)));
  }
  void local_event(pe& me) {
    event e;
    me.async(mov(fabout(red), mem(x)), signals(e));
  }
  void reference_captured(pe& me) {
    f32 factor = 2;
    me.async(map_each([&](f32 v) { return v * factor; }, fabout(red), mem(x)));
  }
  void local_part_computes(pe& me) {
    helper h;
    me.async_compute<&helper::compute>(h);
  }
  void local_third_time(pe& me) {
    f32 y[1]{3};
    const bool last = ++runs == 3;
    me.async(mov(fabout(red, 1), last ? mem(y) : mem(x).part(0, 1)), then<&sender::local_third_time>());
  }

  // And those that are not.
  void member(pe& me) { me.async(mov(fabout(red), mem(x))); }
  void constant(pe& me) { me.async(mov(fabout(red), mem(constants))); }
  void static_local(pe& me) {
    static constexpr f32 y[4]{1, 2, 3, 4};
    me.async(mov(fabout(red), mem(y)));
  }
  void vector(pe& me) { me.async(mov(fabout(red), mem(std::span(owned)))); }
  void values_captured(pe& me) {
    const f32 factor = 2;
    const int half = 2;
    const u64 many = 1;
    me.async(map_each([=](f32 v) { return v * factor / static_cast<f32>(half) * static_cast<f32>(many); },
                      fabout(red), mem(x)));
  }
  void of_a_span(pe& me, std::span<f32> host) { me.async(mov(fabout(red), mem(host))); }
  void no_elements(pe& me) {
    f32 unused[1]{};
    me.async(mov(fabout(red), mem(unused).part(0, 0)), then<&sender::member>());
  }
  task waits(pe& me) {
    f32 y[4]{1, 2, 3, 4};
    co_await mov(fabout(red), mem(y));
    me.activate<&sender::nothing>();
  }
  void recursive(pe& me, int depth) { depth ? recursive(me, depth - 1) : member(me); }

  // The mistakes of the host between runs.
  void runs_inside(pe&) { own_fabric->run(); }
  void launches_inside(pe&) { own_fabric->launch<&sender::member>(column(0)); }
  void starts_inside(pe&) { own_fabric->start<&sender::member>(column(0)); }
  void reads_inside(pe&) { x[0] = own_fabric->read(1, 0, &without_tasks::y)[0]; }
  void looks_inside(pe&) { x[0] = own_fabric->program_at<without_tasks>({1, 0}).y[0]; }
  void copies_inside(pe&) { device{*own_fabric}.fill(&sender::x, column(0), 0.f); }
  void runs_another(pe& me) {
    const layout other = layout{host, 1, 1}.place<other_program>(all);
    fabric f{other, reference{}};
    f.launch();
    x[0] = f.read(0, 0, &other_program::x);
    member(me);
  }
  void keeps(pe& me) {
    kept = &me;
    member(me);
  }
  task waiting(pe&) { co_await mov(fabout(red), mem(x)); }
  void calls_a_waiting_task(pe& me) { static_cast<void>(waiting(me)); }
  void nothing(pe&) {}

  struct other_program {
    f32 x = 0;
    void go(pe&) { x = 1; }
    using tasks = task_list<launch<&other_program::go>>;
  };
  int runs = 0;
  using tasks =
      task_list<launch<&sender::local_array>, launch<&sender::local_part>, launch<&sender::local_box>,
                launch<&sender::local_fifo>, launch<&sender::local_event>,
                launch<&sender::reference_captured>, launch<&sender::local_part_computes>,
                local<&sender::local_third_time>, launch<&sender::member>, launch<&sender::constant>,
                launch<&sender::static_local>, launch<&sender::vector>, launch<&sender::values_captured>,
                launch<&sender::of_a_span>, launch<&sender::no_elements>, launch<&sender::waits>,
                launch<&sender::recursive>, launch<&sender::runs_inside>, launch<&sender::launches_inside>,
                launch<&sender::starts_inside>, launch<&sender::copies_inside>, launch<&sender::reads_inside>,
                launch<&sender::looks_inside>, launch<&sender::runs_another>, launch<&sender::keeps>,
                launch<&sender::calls_a_waiting_task>, launch<&sender::local_third_time>,
                local<&sender::nothing>, local<&sender::member>, sends<red>>;
};

struct with_result {
  f32 result = 7;
  void report(pe&) {}
  using tasks = task_list<launch<&with_result::report>>;
};
struct receiver : without_tasks, with_result {
  void take(pe& me) { me.async(mov(mem(y), fabin(red))); }
  void local_array(pe& me) {
    f32 z[4]{};
    me.async(mov(mem(z), fabin(red)));
  }
  void local_sum(pe& me) {
    f32 sum = 0;
    me.async(add(&sum, 0, fabin(red, 4)));
  }
  using tasks = task_list<launch<&receiver::take>, launch<&receiver::local_array>,
                          launch<&receiver::local_sum>, reads<red>>;
};

constexpr layout pair = layout{wse2, 2, 1}
                            .place<sender>(column(0))
                            .place<receiver>(column(1))
                            .path(red, column(0), ramp >> east)
                            .path(red, column(1), west >> ramp);

template <class Engine, auto Task, class... Arguments>
void send_with(const Arguments&... arguments) {
  fabric f{pair, Engine{}};
  own_fabric = &f;
  f.start<&receiver::take>(column(1));
  f.launch<Task>(column(0), arguments...);
  for (int i = 0; i < 4; ++i) CHECK(f.read(1, 0, &receiver::y)[i] == static_cast<f32>(i + 1));
}
template <class Engine, auto Task>
void take_with() {
  fabric f{pair, Engine{}};
  f.start<&sender::member>(column(0));
  f.launch<Task>(column(1));
}

const auto is_local =
    Contains("is a local variable of the task, which is gone before the operation is complete");

}  // namespace

TEMPLATE_LIST_TEST_CASE("an operation that goes on after its task has no local variable as an operand", "",
                        every_engine) {
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_array>()),
                    is_local && Contains("in local_array on PE(0, 0) of ") && Contains("an operand of mov"));
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_part>()), is_local);
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_box>()), is_local);
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_fifo>()), is_local);
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_event>()), is_local);
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_third_time>()), is_local);
  CHECK_THROWS_WITH((send_with<TestType, &sender::local_part_computes>()), is_local && Contains("compute"));
  CHECK_THROWS_WITH((send_with<TestType, &sender::reference_captured>()),
                    Contains("has captured a reference to a local variable"));
  CHECK_THROWS_WITH((take_with<TestType, &receiver::local_array>()), is_local);
  CHECK_THROWS_WITH((take_with<TestType, &receiver::local_sum>()), is_local && Contains("an operand of add"));
}

TEMPLATE_LIST_TEST_CASE("other memory may be an operand", "", every_engine) {
  send_with<TestType, &sender::member>();
  send_with<TestType, &sender::constant>();
  send_with<TestType, &sender::static_local>();
  send_with<TestType, &sender::vector>();
  send_with<TestType, &sender::values_captured>();
  send_with<TestType, &sender::no_elements>();
  send_with<TestType, &sender::waits>();
  f32 of_the_host[4]{1, 2, 3, 4};
  send_with<TestType, &sender::of_a_span>(std::span<f32>(of_the_host));
}

TEMPLATE_LIST_TEST_CASE("a task may call another function of its program, itself included", "",
                        every_engine) {
  send_with<TestType, &sender::recursive>(3);
  CHECK_THROWS_WITH((send_with<TestType, &sender::calls_a_waiting_task>()),
                    Contains("a task that waits was called like a function"));
}

TEMPLATE_LIST_TEST_CASE("a task does not run its own fabric", "", every_engine) {
  const auto is_running = Contains("wsl: the fabric is running");
  CHECK_THROWS_WITH((send_with<TestType, &sender::runs_inside>()),
                    is_running && Contains("in runs_inside on PE(0, 0)"));
  CHECK_THROWS_WITH((send_with<TestType, &sender::launches_inside>()), is_running);
  CHECK_THROWS_WITH((send_with<TestType, &sender::starts_inside>()), is_running);
  CHECK_THROWS_WITH((send_with<TestType, &sender::copies_inside>()), is_running);
  CHECK_THROWS_WITH((send_with<TestType, &sender::reads_inside>()),
                    is_running && Contains("in reads_inside on PE(0, 0)"));
  CHECK_THROWS_WITH((send_with<TestType, &sender::looks_inside>()), is_running);
  send_with<TestType, &sender::runs_another>();
}

TEMPLATE_LIST_TEST_CASE("a PE is not used outside of its tasks", "", every_engine) {
  fabric f{pair, TestType{}};
  f.start<&receiver::take>(column(1));
  f.launch<&sender::keeps>(column(0));
  CHECK_THROWS_WITH(kept->async(mov(fabout(red), mem(f.program_at<sender>({0, 0}).x))),
                    Contains("starts mov outside of a task"));
  CHECK_THROWS_WITH(kept->send_control(red, 0), Contains("was sent on PE(0, 0) outside of a task"));
  kept->send(red, 1.f);
  CHECK_THROWS_WITH(f.run(), Contains("color 0 was sent on PE(0, 0) outside of a task"));
  f.start<&receiver::take>(column(1));
  f.launch<&sender::member>(column(0));  // nothing of it is left
  CHECK(f.read(1, 0, &receiver::y)[0] == 1);
}

TEMPLATE_LIST_TEST_CASE("a device does not outlive its fabric", "", every_engine) {
  std::optional<fabric> first;
  first.emplace(pair, TestType{});
  device d{*first}, other{*first};
  std::optional<device> gone_before;
  gone_before.emplace(*first);
  gone_before.reset();
  CHECK_NOTHROW(d.run());
  const auto is_gone = Contains("wsl: the fabric of this device is gone");
  {
    device_queue later{d};
    later.run().wait();
    first.reset();
    CHECK_THROWS_WITH(later.run(), is_gone);
  }
  CHECK_THROWS_WITH(d.run(), is_gone);
  CHECK_THROWS_WITH(other.copy_out(&receiver::y, column(1)), is_gone);

  fabric f{pair, TestType{}};
  device of_f{f};
  fabric moved{std::move(f)};
  CHECK_THROWS_WITH(of_f.run(), is_gone);
  CHECK_NOTHROW(device{moved}.run());
}

TEMPLATE_LIST_TEST_CASE("the host reads members of a base class, with tasks or without", "", every_engine) {
  fabric f{pair, TestType{}};
  f.start<&receiver::take>(column(1));
  f.launch<&sender::member>(column(0));
  CHECK(f.read(1, 0, &receiver::y)[3] == 4);  // a member of without_tasks
  CHECK(f.read(1, 0, &without_tasks::y)[3] == 4);
  CHECK(f.read(1, 0, &with_result::result) == 7);
  CHECK_THROWS_WITH(f.read(0, 0, &without_tasks::y), Contains("PE(0, 0) runs ") && Contains("sender, not "));
}

TEMPLATE_LIST_TEST_CASE("the area of a launch lies on the grid", "", every_engine) {
  fabric f{pair, TestType{}};
  CHECK_THROWS_WITH(f.launch<&sender::member>(columns(0, 99)),
                    Contains("columns 0 to 98, rows 0 to 0 leave the grid of 2 x 1 PEs: count from `edge`"));
}
