// SPDX-License-Identifier: MIT
// All PEs of a team call a collective with the same number of words; other numbers would give wrong results
// or a deadlock, and are a fault that names two PEs that differ.
#include <wsl/collective.hpp>

#include "unit/engine/engines.hpp"

#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr broadcast<i32> spread{.first = 0, .among = each_row};
constexpr collective::reduce<i32> join{.first = 1, .among = each_column};
constexpr all_reduce<i32> sum{.first = 3};
constexpr all_reduce<i32> narrow{.first = 7, .words = 2, .colors = 1};
constexpr scattered_all_reduce<i32> chunks{.first = 8};
constexpr shift<i32> next{.first = 14};
constexpr all_to_all<i32> turn{.first = 16};
constexpr scatter<i32> deal{.first = 20, .among = each_row};
constexpr gather<i32> collect{.first = 22, .among = each_row};
constexpr halo_exchange<i32> rim{.first = 24};

struct caller {
  i32 x[64]{}, y[64]{};
  endpoint<spread> spreading;
  endpoint<join> joining;
  endpoint<sum> adding;
  endpoint<narrow> adding_on_one_color;
  endpoint<chunks> going_around;
  endpoint<next> passing;
  endpoint<turn> turning;
  endpoint<deal> dealing;
  endpoint<collect> collecting;
  endpoint<rim> filling;

  void broadcasts(pe& me, int n) { spreading.start(me, mem(x).part(0, n)); }
  void reduces(pe& me, int n) { joining.start(me, mem(x).part(0, n)); }
  void all_reduces(pe& me, int n) { adding.start(me, mem(x).part(0, n)); }
  void all_reduces_on_one_color(pe& me, int n) { adding_on_one_color.start(me, mem(x).part(0, n)); }
  void goes_around(pe& me, int n) { going_around.start(me, mem(x).part(0, n)); }
  void shifts(pe& me, int n) { passing.start(me, mem(x).part(0, n), mem(y).part(0, n)); }
  void turns(pe& me, int n) { turning.start(me, mem(x).part(0, 3 * n), mem(y).part(0, 3 * n)); }
  void deals(pe& me, int n) {
    if (me.x() == 0) dealing.start(me, mem(x).part(0, 3 * n), mem(y).part(0, n));
    else dealing.start(me, mem(y).part(0, n));
  }
  void collects(pe& me, int n) {
    if (me.x() == 0) collecting.start(me, mem(y).part(0, n), mem(x).part(0, 3 * n));
    else collecting.start(me, mem(y).part(0, n));
  }
  void fills(pe& me, int rows, int columns, int width) {
    const tile_shape tile{rows, columns, width};
    filling.start(me, mem(x).part(0, tile.cells()), tile);
  }
  using tasks = task_list<launch<&caller::broadcasts>, launch<&caller::reduces>, launch<&caller::all_reduces>,
                          launch<&caller::all_reduces_on_one_color>, launch<&caller::goes_around>,
                          launch<&caller::shifts>, launch<&caller::turns>, launch<&caller::deals>,
                          launch<&caller::collects>, launch<&caller::fills>, use<&caller::spreading>,
                          use<&caller::joining>, use<&caller::adding>, use<&caller::adding_on_one_color>,
                          use<&caller::going_around>, use<&caller::passing>, use<&caller::turning>,
                          use<&caller::dealing>, use<&caller::collecting>, use<&caller::filling>>;
};

const layout plan = layout{host, 3, 2}.place<caller>(all).wire(spread, join, sum, narrow, chunks, next, turn,
                                                               deal, collect, rim);

/// One PE gives 3 words and the others 2.
template <class Engine, auto Task>
void one_gives_more(coord who, const char* module) {
  fabric f{plan, Engine{}};
  for (int i = 0; i < 6; ++i) {
    const coord c{i % 3, i / 3};
    f.start<Task>(at(c.x, c.y), c == who ? 3 : 2);
  }
  CHECK_THROWS_WITH(f.run(), Contains(std::string(" calls ") + module + " with ") && Contains(text_of(who)) &&
                                 Contains(" in the same call: all PEs of a team give the same"));
}
/// Each row has a size of its own, and each call.
template <class Engine, auto Task>
void rows_differ() {
  fabric f{plan, Engine{}};
  for (int n : {4, 1, 3}) {
    f.start<Task>(row(0), n);
    CHECK_NOTHROW(f.launch<Task>(row(1), n + 1));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("PEs of a team that give different numbers of words are a fault", "", every_engine) {
  one_gives_more<TestType, &caller::broadcasts>({1, 1}, "broadcast");
  one_gives_more<TestType, &caller::broadcasts>({0, 0}, "broadcast");
  one_gives_more<TestType, &caller::reduces>({1, 1}, "reduce");
  one_gives_more<TestType, &caller::all_reduces>({1, 1}, "all_reduce");
  one_gives_more<TestType, &caller::all_reduces_on_one_color>({2, 0}, "all_reduce");
  one_gives_more<TestType, &caller::goes_around>({2, 0}, "scattered_all_reduce");
  one_gives_more<TestType, &caller::shifts>({0, 1}, "shift");
  one_gives_more<TestType, &caller::turns>({1, 0}, "all_to_all");
  one_gives_more<TestType, &caller::deals>({0, 1}, "scatter");
  one_gives_more<TestType, &caller::collects>({2, 1}, "gather");
}

TEMPLATE_LIST_TEST_CASE("other teams, and other calls, have sizes of their own", "", every_engine) {
  rows_differ<TestType, &caller::broadcasts>();
  rows_differ<TestType, &caller::goes_around>();
  rows_differ<TestType, &caller::shifts>();
  rows_differ<TestType, &caller::turns>();
  rows_differ<TestType, &caller::deals>();
  rows_differ<TestType, &caller::collects>();
}

TEMPLATE_LIST_TEST_CASE("tiles that do not go with those beside them are a fault", "", every_engine) {
  const auto fill = [](tile_shape odd) {
    fabric f{plan, TestType{}};
    f.start<&caller::fills>(columns(0, 2), 3, 2, 1);
    f.start<&caller::fills>(at(2, 1), 3, 2, 1);
    f.launch<&caller::fills>(at(2, 0), odd.rows, odd.columns, odd.width);
  };
  CHECK_NOTHROW(fill({3, 2, 1}));
  CHECK_THROWS_WITH(fill({2, 2, 1}), Contains(" calls halo_exchange with ") && Contains("2 rows") &&
                                         Contains("PE(2, 0)") && Contains("all rims have one width"));
  CHECK_THROWS_WITH(fill({3, 3, 1}), Contains("columns and a rim of width 1, and PE(2, "));
  CHECK_THROWS_WITH(fill({3, 2, 2}), Contains("a rim of width 2"));
  CHECK_NOTHROW([] {
    fabric f{plan, TestType{}};
    for (int i = 0; i < 6; ++i) f.start<&caller::fills>(at(i % 3, i / 3), 1 + i / 3, 1 + i % 3, 1);
    f.run();
  }());
}

namespace {

/// A root that is far ahead of the others, and calls with two sizes in turn.
struct listener {
  i32 v[4]{}, w[4]{};
  awaited<spread> spreading;
  task ahead(pe& me, int calls, int at_root, int elsewhere) {
    const int n = me.x() == 0 ? at_root : elsewhere;
    for (int i = 0; i < calls; ++i) co_await spreading(me, mem(v).part(0, n));
  }
  task in_two_pieces(pe& me) {
    const bool root = me.x() == 0;
    co_await spreading(me, mem(v).part(0, root ? 3 : 2));
    co_await spreading(me, mem(w).part(0, root ? 2 : 3));
  }
  task in_turn(pe& me) {
    for (int i = 0; i < 40; ++i) co_await spreading(me, mem(v).part(0, 1 + i % 4));
  }
  using tasks = task_list<launch<&listener::ahead>, launch<&listener::in_two_pieces>,
                          launch<&listener::in_turn>, use<&listener::spreading>>;
};
const layout three = layout{wse2, 3, 1}.place<listener>(all).wire(spread);

}  // namespace

TEMPLATE_LIST_TEST_CASE("words that would stay for the next call are a fault", "", every_engine) {
  fabric f{three, TestType{}};
  CHECK_THROWS_WITH(f.launch<&listener::in_two_pieces>(all), Contains("calls broadcast with ") &&
                                                                 Contains("2") && Contains("3") &&
                                                                 Contains("in in_two_pieces on PE("));
}
TEMPLATE_LIST_TEST_CASE("so are they after a root that is far ahead", "", every_engine) {
  fabric f{three, TestType{}};
  CHECK_THROWS_WITH(f.launch<&listener::ahead>(all, 200, 1, 2), Contains(" in the same call"));
  fabric g{three, TestType{}};
  CHECK_NOTHROW(g.launch<&listener::ahead>(all, 200, 2, 2));
  CHECK_NOTHROW(g.launch<&listener::in_turn>(all));
}
