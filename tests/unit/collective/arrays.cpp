// SPDX-License-Identifier: MIT
// Collectives of arrays: their faults at run time, their colors, their cost model, and the tactics that it
// chooses.
#include <wsl/collective.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>

#include <catch2/catch.hpp>
#include <set>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr area inner = columns(1, edge).rows(1, edge);
constexpr broadcast<f32> spread{.first = 0, .where = inner};
constexpr scatter<f32> deal{.first = 1, .where = inner, .root = {1, 1}};
constexpr gather<f32> collect{.first = 5, .where = inner, .root = {1, 1}};
constexpr shift<f32> next_one{.first = 9, .where = inner};
constexpr all_to_all<f32> turn{.first = 11, .where = inner};
constexpr collective::reduce<f32> sum{
    .first = 15, .where = inner, .among = each_row, .how = tactic::chain, .colors = 2};
constexpr halo_exchange<f32> rim{.first = 17, .where = inner, .rows = 2, .columns = 2};

/// Calls one of its modules as it is told.
struct caller {
  f32 a[40]{}, b[40]{};
  int done = 0;
  endpoint<spread> spreading;
  endpoint<deal> dealing;
  endpoint<collect> collecting;
  endpoint<next_one> passing;
  endpoint<turn> turning;
  endpoint<sum> adding;
  endpoint<rim> meeting;

  void broadcast_of(pe& me, int words) { spreading.start(me, mem(a).part(0, words), then<&caller::end>()); }
  void deal_own(pe& me, int words) { dealing.start(me, mem(b).part(0, words)); }
  void deal_all(pe& me, int words, int all_words) {
    dealing.start(me, mem(a).part(0, all_words), mem(b).part(0, words));
  }
  void collect_own(pe& me, int words) { collecting.start(me, mem(b).part(0, words)); }
  void collect_all(pe& me, int words, int all_words) {
    collecting.start(me, mem(b).part(0, words), mem(a).part(0, all_words));
  }
  void shift_of(pe& me, int words, int others) {
    passing.start(me, mem(a).part(0, words), mem(b).part(0, others));
  }
  void turn_of(pe& me, int words) { turning.start(me, mem(a).part(0, words), mem(b).part(0, words)); }
  void add_up(pe& me) { adding.start(me, mem(a).part(0, 4), then<&caller::end>()); }
  void meet(pe& me, int cells) { meeting.start(me, mem(a).part(0, cells)); }
  void end(pe&) { ++done; }

  using tasks =
      task_list<launch<&caller::broadcast_of>, launch<&caller::deal_own>, launch<&caller::deal_all>,
                launch<&caller::collect_own>, launch<&caller::collect_all>, launch<&caller::shift_of>,
                launch<&caller::turn_of>, launch<&caller::add_up>, launch<&caller::meet>, local<&caller::end>,
                use<&caller::spreading>, use<&caller::dealing>, use<&caller::collecting>,
                use<&caller::passing>, use<&caller::turning>, use<&caller::adding>, use<&caller::meeting>>;
};

layout everything() {
  layout l{host, 4, 4};
  l.place<caller>(all);
  spread.wire(l), deal.wire(l), collect.wire(l), next_one.wire(l), turn.wire(l), sum.wire(l), rim.wire(l);
  return l;
}

/// The line from 0 to size - 1 as a layout that only has a size.
layout line(int size) { return {host, size, 1}; }

}  // namespace

TEST_CASE("who calls a collective wrongly hears why") {
  const auto says = [](auto call, const char* what) {
    fabric f{everything(), reference{}};
    CHECK_THROWS_WITH(call(f), Contains(what));
  };
  says([](fabric& f) { f.launch<&caller::broadcast_of>(at(0, 2), 3); },
       "wsl: PE(0, 2) calls broadcast, whose rectangle is columns 1 to 3 and rows 1 to 3");
  says([](fabric& f) { f.launch<&caller::broadcast_of>(at(1, 1), 0); },
       "wsl: PE(1, 1) calls broadcast with no words");
  says([](fabric& f) { f.launch<&caller::deal_own>(at(2, 2), 2); },
       "wsl: PE(2, 2) is the root of scatter, so it calls with the array of all blocks");
  says([](fabric& f) { f.launch<&caller::deal_all>(at(1, 2), 2, 18); },
       "wsl: PE(1, 2) is not the root of scatter");
  says([](fabric& f) { f.launch<&caller::deal_all>(at(2, 2), 2, 17); },
       "wsl: PE(2, 2) calls scatter with an array of 17 words for 9 blocks of 2: it needs 18");
  says([](fabric& f) { f.launch<&caller::collect_own>(at(2, 2), 2); }, "wsl: PE(2, 2) is the root of gather");
  says([](fabric& f) { f.launch<&caller::collect_all>(at(3, 2), 2, 18); },
       "wsl: PE(3, 2) is not the root of gather");
  says([](fabric& f) { f.launch<&caller::collect_all>(at(2, 2), 2, 19); },
       "wsl: PE(2, 2) calls gather with an array of 19 words for 9 blocks of 2: it needs 18");
  says([](fabric& f) { f.launch<&caller::shift_of>(at(2, 2), 2, 3); },
       "wsl: PE(2, 2) calls shift with arrays of 2 and 3 words: their lengths are equal");
  says([](fabric& f) { f.launch<&caller::turn_of>(at(2, 2), 7); },
       "wsl: PE(2, 2) calls all_to_all with an array of 7 words for 3 blocks of 3: it needs 9");
  says([](fabric& f) { f.launch<&caller::turn_of>(at(2, 2), 1); },
       "wsl: PE(2, 2) calls all_to_all with an array of 1 word for 3 blocks of 1: it needs 3");
  says([](fabric& f) { f.launch<&caller::meet>(at(2, 2), 15); },
       "wsl: PE(2, 2) calls halo_exchange with an array of 15 words: a tile with its rim has 4 x 4");
  says([](fabric& f) { f.launch<&caller::broadcast_of>(at(1, 1), 41); },
       "wsl: a descriptor of 41 elements from element 0 on leaves its array of 40 elements");
}

TEST_CASE("a collective that has begun is not begun again") {
  fabric f{everything(), reference{}};
  f.start<&caller::add_up>(at(1, 1));
  f.start<&caller::add_up>(at(1, 1));
  CHECK_THROWS_WITH(f.run(), Contains("wsl: PE(1, 1)") && Contains("reads color") &&
                                 Contains("twice at once; the color is one of reduce, whose last call is not "
                                          "complete here: call it again from its completion"));
}

TEST_CASE("nor is an all-reduce that takes turns") {
  static constexpr all_reduce<f32> total{.first = 0, .words = 2, .colors = 1};
  struct member {
    f32 x[2]{};
    endpoint<total> totals;
    void start(pe& me) { totals.start(me, mem(x)); }
    using tasks [[maybe_unused]] = task_list<launch<&member::start>, use<&member::totals>>;
  };
  layout l{wse2, 3, 2};
  l.place<member>(all);
  total.wire(l);
  fabric f{l, reference{}};
  f.launch(), f.launch();
  f.start(at(0, 1)), f.start(at(0, 1));
  CHECK_THROWS_WITH(f.run(),
                    Contains("wsl: PE(0, 1) calls all_reduce again before its last call is complete"));
}

TEST_CASE("who waits for a PE that does not call is a deadlock") {
  fabric f{everything(), reference{}};
  CHECK_THROWS_AS(f.launch<&caller::add_up>(column(1).rows(1)), deadlock);
}

TEST_CASE("modules take no more colors than they say") {
  const layout l = everything();
  std::set<int> colors;
  for (const path_record& p : l.paths()) colors.insert(p.color);
  CHECK(colors.size() == 25);
  CHECK(*colors.rbegin() == 24);
  CHECK(l.claims().size() == 7);
}

TEST_CASE("a star from both sides of its root has a color for each") {
  layout l{wse2, 9, 7};
  CHECK_THROWS_WITH(
      (collective::reduce<f32>{.first = 0, .root = {3, 2}, .how = tactic::star, .colors = 1}.wire(l)),
      Contains("needs 2 colors"));
}

TEST_CASE("whoever is done with a reduction may begin the next, whatever the others do") {
  static constexpr collective::reduce<u32> total{
      .first = 0, .root = {20, 1}, .words = 2, .how = tactic::grouped_star};
  static constexpr int calls = 5;
  struct member {
    u32 x[2]{}, sums[calls]{};
    int called = 0;
    endpoint<total> totals;
    void start(pe& me) {
      x[0] = x[1] = static_cast<u32>(called + 1);
      totals.start(me, mem(x), then<&member::again>());
    }
    void again(pe& me) {
      sums[called++] = x[1];
      if (called < calls) start(me);
    }
    using tasks [[maybe_unused]] =
        task_list<launch<&member::start>, use<&member::totals>, local<&member::again>>;
  };
  layout l{wse2, 33, 8};
  l.place<member>(all);
  total.wire(l);
  const auto adds_up = [&](const auto& engine) {
    fabric f{l, engine};
    f.launch();
    for (int n = 0; n < calls; ++n)
      CHECK(f.read(20, 1, &member::sums)[n] == static_cast<u32>(33 * 8 * (n + 1)));
  };
  adds_up(reference{}), adds_up(timed{}), adds_up(threaded{.threads = 2});
}

TEST_CASE("the model gives the published cycles") {
  const auto reduced = [](int size, int words, tactic how) {
    return collective::reduce<f32>{.first = 0, .among = each_row, .how = how, .colors = 10}.cycles(line(size),
                                                                                                   words);
  };
  CHECK(reduced(512, 1, tactic::chain) == 3067);
  CHECK(reduced(512, 4096, tactic::chain) == 7162);
  CHECK(broadcast<f32>{.first = 0, .among = each_row}.cycles(line(512), 1) == 517);
  CHECK(reduced(1, 5, tactic::chain) == 0);
}

TEST_CASE("a reduce takes what is quickest for its words and colors") {
  const auto chosen = [](int size, int words, int colors, bool switched = false) {
    return collective::cheapest({{0, size, 0, 1}, collective::axis::x, 0}, words, colors, switched, colors)
        .how();
  };
  CHECK(chosen(256, 1, 8, true) == tactic::grouped_star);
  CHECK(chosen(256, 1, 2, true) == tactic::grouped_star);
  CHECK(chosen(256, 1, 2) == tactic::chain);
  CHECK(chosen(256, 1, 8) == tactic::tree);
  CHECK(chosen(256, 16, 2, true) == tactic::two_phase);
  CHECK(chosen(256, 16, 8, true) == tactic::tree);
  CHECK(chosen(64, 4096, 10, true) == tactic::chain);
  CHECK(chosen(8, 1, 2, true) == tactic::star);
  CHECK(chosen(16, 2, 2, true) == tactic::grouped_star);
}

TEST_CASE("a tree, however many colors it takes, is quicker than the choice on two by a sixth at most") {
  for (int words : {1, 2, 4, 8, 16, 256, 4096})
    for (int size = 2; size <= 520; size += 7) {
      const collective::lines where{{0, size, 0, 1}, collective::axis::x, 0};
      const collective::line_reduce two_colors = collective::cheapest(where, words, 2, true, 2),
                                    tree{tactic::tree, where, words};
      CHECK(collective::reduce_cost{two_colors, words}.cycles() <=
            1.17 * collective::reduce_cost{tree, words}.cycles());
    }
}

TEST_CASE("constant layouts with collectives are checked while compiling") {
  static constexpr layout wafer = [] {
    layout l{host, 400, 300};
    l.place<caller>(all);
    spread.wire(l), deal.wire(l), collect.wire(l), next_one.wire(l), turn.wire(l), sum.wire(l), rim.wire(l);
    return l;
  }();
  static_assert(routed<wafer>());
  SUCCEED();
}
