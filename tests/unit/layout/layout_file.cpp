// SPDX-License-Identifier: MIT
// The text of layout files: every kind of entry on small layouts. What reads them is tested in apps/view.
#include <wsl/layout/filters.hpp>
#include <wsl/layout/injection.hpp>
#include <wsl/layout/layout_file.hpp>
#include <wsl/layout/swaps.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/program/declarations.hpp>
#include <wsl/program/tasks.hpp>
#include <wsl/support/file_error.hpp>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace wsl;
using Catch::Contains;

constexpr color<f32> red{0};
constexpr color<u32> blue{3};

namespace plates {

struct cell {
  f32 u[10]{};
  bool done = false;
  void begin(pe&, i32, f32) {}
  void hear(pe&, f32) {}
  void step(pe&) {}
  void stop(pe&, u16) {}
  using tasks = task_list<launch<&cell::begin>, on<red, &cell::hear>, joins<2, &cell::step>,
                          control<7, &cell::stop>, sends<red>>;
  using exports = export_list<&cell::done, &cell::u>;
};
struct named_relay {
  static constexpr auto in = symbolic<f32>(0);
  void hear(pe&, f32) {}
  using tasks = task_list<on<in, &named_relay::hear>>;
};

}  // namespace plates
using namespace plates;

namespace {

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a layout file has an entry for each placement and path") {
  layout l{wse2, 750, 994};
  l.place<cell>(columns(0, edge, 2))
      .path(red, column(0), ramp >> (ramp | east))
      .stream_in(red, at(0, 3), west);
  l.claim_colors("halo", 4, 8, l.grid());
  CHECK(layout_json(l) == R"({"format":"wsl layout","version":1,
"machine":{"name":"wse2","width":750,"height":994,"colors":24,"memory":49152,"color_owns_queue":false,)"
                          R"("prefers_injected":true,"swaps_colors":true},
"width":750,"height":994,
"programs":[
{"name":"plates::cell","bytes":52,"members":[
{"name":"done","type":"bool","offset":40,"bytes":1},
{"name":"u","type":"f32","offset":0,"bytes":40,"extents":[10]}],"tasks":[
{"what":"launch","id":0,"name":"begin","arguments":2},
{"what":"data","id":0,"name":"hear","payload":["float",4]},
{"what":"local","id":0,"name":"step","arrivals":2},
{"what":"control","id":7,"name":"stop"},
{"what":"send","id":0,"name":"","payload":["float",4]}]}],
"placements":[
{"where":[0,0,375,994,2,1],"program":0}],
"paths":[
{"where":[0,0,1,994,1,1],"color":0,"payload":["float",4],"from":"R","to":"RE"}],
"streams":[
{"where":[0,3,1,1,1,1],"color":0,"side":"W","inbound":true}],
"claims":[
{"where":[0,0,750,994,1,1],"module":"halo","first":4,"count":8}]}
)");
}

TEST_CASE("a layout file has the options of paths") {
  layout l{wse2, 4, 1};
  l.path(red, column(0), ramp >> west,
         switches{.pos1 = {.to = north}, .start = 1, .ring = true, .pop = pop::always});
  l.path(red, column(1), west >> ramp, range_filter{.first = 2, .last = 9, .per_column = 10});
  l.path(blue, column(2), west >> ramp, phase{1})
      .path(blue, column(3), (west | ramp) >> east, merges, starts_closed);
  const std::string text = layout_json(l);
  CHECK_THAT(text, Contains(R"("from":"R","to":"W","switch":{"positions":[["R","W"],["R","N"]],"start":1,)"
                            R"("ring":true,"pop":"always"}})"));
  CHECK_THAT(text,
             Contains(R"("filter":{"by_index":true,"first":2,"last":9,"period":0,"start":0,"per_column":10,)"
                      R"("per_row":0,"counts_data":true,"counts_control":false,"holds_control":false}})"));
  CHECK_THAT(text, Contains(R"("payload":["unsigned int",4],"from":"W","to":"R","phase":1})"));
  CHECK_THAT(text, Contains(R"("from":"RW","to":"E","merges":true,"closed":true})"));

  layout swapped{wse2, 3, 1};
  swapped.path(red, all, (west | ramp) >> east, merges, injects_last, swap_x);
  CHECK_THAT(layout_json(swapped), Contains(R"("merges":true,"injects":-1,"swaps":"EW"})"));
}

TEST_CASE("a layout file says which colors a placement gives its program") {
  layout l{wse2, 2, 1};
  l.place<named_relay>(column(0), given_colors(named_relay::in, red));
  l.place<named_relay>(column(1), given_colors(named_relay::in, color<f32>{5}));
  CHECK_THAT(layout_json(l), Contains(R"("where":[0,0,1,1,1,1],"program":0,"colors":{"48":0}})"));
  CHECK_THAT(layout_json(l), Contains(R"("where":[1,0,1,1,1,1],"program":0,"colors":{"48":5}})"));
}

TEST_CASE("a layout file is whole or not there") {
  const std::string file = "layout_file_test.json";
  layout l{wse2, 2, 1};
  l.place<cell>(all);
  save_layout(l, file);
  CHECK(text_of(file) == layout_json(l));
  std::remove(file.c_str());
  CHECK_THROWS_WITH(save_layout(l, "no_such_folder/plate.json"),
                    Contains("cannot write no_such_folder/plate.json"));
}
