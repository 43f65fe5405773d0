// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <wsl/layout/explain.hpp>

#include "../../checker_shapes.hpp"

using namespace wsl;
using Catch::Matchers::Contains;
using wsl::detail::binding, wsl::detail::payload_type_of, wsl::detail::role;

namespace {

constexpr color<f32> red{0};
constexpr binding relay_table[] = {{.what = role::launch, .id = 0},
                                   {.what = role::send, .id = 0, .type = &payload_type_of<f32>},
                                   {.what = role::data, .id = 0, .type = &payload_type_of<f32>}};
constexpr program relay{.name = "relay", .bytes = 16, .table = relay_table, .entries = 3};

/// Even columns send to odd ones; with an odd number of columns the last sends off the grid.
layout chain(int width) {
  layout l{wse2, width, 1};
  l.place(all, relay)
      .path(red, columns(0, edge, 2), ramp >> east)
      .path(red, columns(1, edge, 2), west >> ramp);
  return l;
}

}  // namespace

TEST_CASE("a fault names color, PE, side and remedy, and is thrown by require") {
  CHECK_NOTHROW(require(chain(8)));
  const diagnostic d = check(chain(7));
  CHECK(d.kind == fault_kind::the_path_leaves_the_grid);
  CHECK((d.color == 0 && d.at == coord{6, 0} && d.side == east));
  CHECK_THROWS_WITH(require(chain(7)), sentence(d));
  CHECK(sentence(d) ==
        "wsl: the_path_leaves_the_grid: color 0, PE(6, 0), side east: there is no PE on this side: end the "
        "path one PE earlier, as in "
        "columns(0, edge - 1), or bind a stream_out to this side");
}

TEST_CASE("names of programs stand in the sentence at run time") {
  layout l = chain(8);
  l.place(column(3), relay);
  CHECK_THAT(sentence(check(l)),
             Contains("two_programs_run_on_one_pe: PE(3, 0): ") && Contains("(relay and relay)"));
}

TEST_CASE("a fault in a color of a module names the module at run time") {
  layout l{wse2, 8, 1};
  l.claim_colors("all_reduce", 0, 2, l.grid());
  l.place(columns(0, 7), relay)
      .path(red, columns(0, edge, 2), ramp >> east)
      .path(red, columns(1, edge, 2), west >> ramp);
  CHECK(check(l).kind == fault_kind::no_program_takes_the_delivery);
  CHECK_THROWS_WITH(require(l), sentence(check(l)) + "; color 0 belongs to the module all_reduce");
  CHECK_THAT(explain(l), Contains("; color 0 belongs to the module all_reduce\n"));
}

TEST_CASE("explain lists the first fault of every rule") {
  layout l{wse2, 4, 1};
  l.path(red, column(0), (west | ramp) >> east).path(red, column(2), west >> ramp);
  const std::string text = explain(l);
  for (const char* name : {"a_path_with_several_inputs_must_say_merge", "the_neighbour_does_not_listen",
                           "the_path_listens_beyond_the_grid", "the_path_listens_to_silence",
                           "no_program_takes_the_delivery", "no_program_sends_into_the_path"})
    CHECK_THAT(text, Contains(name));
  CHECK(explain(chain(8)).empty());
}

TEST_CASE("a run walks as many PEs as it takes") {
  CHECK_NOTHROW(require(shapes::weave(744, 994)));
  const diagnostic circle = check(shapes::weave(744, 994, true));
  CHECK(circle.kind == fault_kind::the_route_goes_in_a_circle);
  CHECK((circle.at.x < 4 && circle.at.y < 2));
}

TEST_CASE("forks and merges are walked only where they can matter") {
  const layout l = shapes::shuttles(993);
  rules::flow f(l, 0);
  rules::scratch<bool> chosen;
  rules::choose_edges(f, chosen);
  CHECK(rules::pe_graph(f, chosen).size > 4096);
  CHECK_NOTHROW(require(l));
}

TEST_CASE("a straight run needs no walk") {
  const layout l = shapes::snake(750, 994);
  rules::flow f(l, 0);
  rules::scratch<bool> chosen;
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(true);
  while (rules::drop_acyclic(f, chosen)) {}
  CHECK(rules::pe_graph(f, chosen).size == 0);
}

TEST_CASE("a run checks what a constant expression gives up") {
  CHECK_NOTHROW(require(shapes::tangle(16, 14)));
  CHECK_NOTHROW(require(shapes::beads(750)));
}
