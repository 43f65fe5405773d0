// SPDX-License-Identifier: MIT
// Layout files come back as they were written, and broken ones are refused with their place and a remedy.
#include <catch2/catch.hpp>
#include <wsl/core/fault.hpp>
#include <wsl/layout/draw/csl.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/injection.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/program/declarations.hpp>

#include "../stored_layout.hpp"

using namespace wsl;
using Catch::Contains;
using view::stored_layout;

namespace plates {

constexpr color<f32> red{0}, green{1};
constexpr color<u32> blue{2};

struct cell {
  static constexpr auto in = symbolic<f32>(3);
  f32 u[10]{};
  i32 count = 0;
  void begin(pe&, i32) {}
  void hear(pe&, f32) {}
  void step(pe&) {}
  void stop(pe&, u16) {}
  using tasks = task_list<launch<&cell::begin>, on<in, &cell::hear>, joins<2, &cell::step>,
                          control<7, &cell::stop>, sends<red>>;
  using exports = export_list<&cell::u, &cell::count>;
};

layout plate() {
  layout l{wse2, 12, 8};
  l.place<cell>(columns(0, edge, 2), given_colors(cell::in, red));
  l.place<cell>(columns(1, edge, 2), given_colors(cell::in, green));
  l.path(red, column(0), ramp >> west,
         switches{.pos1 = {.to = north}, .start = 1, .ring = true, .pop = pop::always});
  l.path(red, column(1), west >> ramp, range_filter{.first = 2, .last = 9, .per_column = 10});
  l.path(green, all, (west | ramp) >> east, merges, injects_last)
      .path(blue, row(1), west >> ramp, phase{2}, starts_closed);
  l.stream_in(blue, at(0, 1), west).stream_out(green, column(edge - 1), east);
  l.claim_colors("halo", 4, 8, l.grid());
  return l;
}

}  // namespace plates
using plates::cell, plates::plate;

namespace {

std::string with(std::string text, const std::string& what, const std::string& instead) {
  REQUIRE(text.find(what) != text.npos);
  return text.replace(text.find(what), what.size(), instead);
}
void refuses(const std::string& text, const std::string& sentence) {
  INFO(text);
  CHECK_THROWS_WITH(stored_layout(text, "plate.json"), Contains(sentence));
}

}  // namespace

TEST_CASE("a layout that is read is the one that was written") {
  const layout l = plate();
  const std::string text = layout_json(l);
  const stored_layout read(text, "plate.json");
  CHECK(read.json() == text);
  CHECK(read.plan().paths().size() == l.paths().size());

  const auto expected = csl_skeleton(l), found = csl_skeleton(read.plan());
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k].name == expected[k].name);
    CHECK(found[k].text == expected[k].text);
  }
}

TEST_CASE("a layout of a whole wafer is a file of some kilobytes") {
  layout l{wse2, 750, 994};
  l.place<cell>(all, given_colors(cell::in, plates::red));
  CHECK(layout_json(l).size() < 2000);
  CHECK(stored_layout(layout_json(l), "wafer.json").plan().placements()[0].where.count() == 745'500);
}

TEST_CASE("layouts for wse3 and host come back") {
  for (const machine& m : {wse3, host}) {
    layout l{m, 3, 3};
    l.path(plates::blue, all, west >> (ramp | east));
    CHECK(stored_layout(layout_json(l), "l.json").json() == layout_json(l));
  }
}

TEST_CASE("what is no layout file is refused") {
  const std::string text = layout_json(plate());
  refuses("", "plate.json is no layout file, or a part of one: there is no JSON at byte 1");
  refuses(text.substr(0, 100), "or a part of one: there is no JSON at byte 101: write the file again");
  refuses("[]", "plate.json: is no object");
  refuses("{}", "has no \"format\"");
  refuses(with(text, "wsl layout", "wsl dump"), "format is \"wsl dump\"; it is one of wsl layout");
  refuses(with(text, "\"version\":1", "\"version\":2"), "version is 2; this wsl-view reads version 1");
  refuses(std::string(40, '['), "nested too deep");
}

TEST_CASE("a wrong entry of a layout file is named") {
  const std::string text = layout_json(plate());
  refuses(with(text, "\"width\":12", "\"width\":123456789012345678901234567890"),
          "width is 1.2345678901234568e+29; it is a whole number");
  refuses(with(text, "\"width\":12", "\"width\":18446744073709551615"),
          "width is 18446744073709551615; it is a whole number");
  refuses(with(text, "\"width\":12", "\"width\":800"), "width makes no layout (");
  refuses(with(text, "\"width\":12", "\"width\":-1"), "width is -1; it is a whole number from 1 to 32767");
  refuses(with(text, "[0,0,6,8,2,1],\"program\":0", "[0,0,6,8,2,1],\"program\":1"),
          "placements[0].program is 1; it is a whole number from 0 to 0");
  refuses(with(text, "[0,0,6,8,2,1]", "[0,0,7,8,2,1]"), "placements[0].where leaves the grid of 12 x 8 PEs");
  refuses(with(text, "[0,0,6,8,2,1]", "[0,0,6,8,2]"), "placements[0].where has 5 entries, not 6");
  refuses(with(text, "\"color\":0", "\"color\":24"),
          "paths[0].color is 24; it is a whole number from 0 to 23");
  refuses(with(text, "\"from\":\"R\"", "\"from\":\"Q\""),
          "paths[0].from is \"Q\"; it has some of R, E, W, N and S");
  refuses(with(text, "\"from\":\"R\"", "\"from\":\"\""), "paths[0].from has no port");
  refuses(with(text, "\"start\":1", "\"start\":2"),
          "paths[0].switch.start is 2; it is a whole number from 0 to 1");
  refuses(with(text, "\"pop\":\"always\"", "\"pop\":\"often\""), "it is one of never, always, on_advance");
  refuses(with(text, "\"last\":9", "\"last\":1"), "paths[1].filter keeps nothing");
  refuses(with(text, "\"51\"", "\"47\""), "is given to no symbolic color");
  refuses(with(text, "\"side\":\"W\"", "\"side\":\"S\""),
          "streams[0] makes no layout (bind the host stream of color 2 to PEs at an edge");
  refuses(with(text, "\"count\":8", "\"count\":80"), "claims[0].count is 80");
}
