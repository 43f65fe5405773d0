// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <wsl/layout/explain.hpp>

#include "../../checker_shapes.hpp"

using namespace wsl;
using Catch::Matchers::Contains;

namespace {

std::filesystem::path root() { return std::filesystem::path(__FILE__).parent_path() / "../../.."; }

std::string read(const std::filesystem::path& path) {
  std::ifstream file(root() / path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The literals of a piece of source, joined as the compiler joins them.
std::string literals(const std::string& source) {
  std::string text;
  bool inside = false;
  for (char c : source)
    if (c == '"') inside = !inside;
    else if (inside) text += c;
  return text;
}

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
  CHECK(d.what == fault_kind::the_path_leaves_the_grid);
  CHECK((d.color == 0 && d.at == coord{6, 0} && d.side == east));
  CHECK_THROWS_WITH(require(chain(7)), sentence(d));
  CHECK(sentence(d) ==
        "wsl: the_path_leaves_the_grid: color 0, PE (6, 0), side east: there is no PE on this side: end the "
        "path one PE earlier, as in "
        "columns(0, edge - 1), or bind a stream_out to this side");
}

TEST_CASE("names of programs stand in the sentence at run time") {
  layout l = chain(8);
  l.place(column(3), relay);
  CHECK_THAT(sentence(check(l)),
             Contains("two_programs_run_on_one_pe: PE (3, 0): ") && Contains("(relay and relay)"));
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

TEST_CASE("the texts of the compiler and of a run are the same") {
  const std::string errors = "include/wsl/layout/errors/";
  const std::string source =
      read(errors + "routes.hpp") + read(errors + "switches.hpp") + read(errors + "programs.hpp");
  for (const fault_text& t : fault_texts) {
    CHECK(&t == &text_of(t.what));
    if (t.what == fault_kind::none) continue;
    INFO(t.name);
    const size_t begin = source.find("constexpr bool " + std::string(t.name) + "()");
    REQUIRE(begin != std::string::npos);
    CHECK(literals(source.substr(begin, source.find("return true", begin) - begin)) ==
          "wsl: " + std::string(t.text));
  }
}

TEST_CASE("every fault has a misuse test and an entry in docs/errors.md") {
  const std::string page = read("docs/errors.md");
  for (const fault_text& t : fault_texts) {
    if (t.what == fault_kind::none) continue;
    INFO(t.name);
    CHECK_THAT(page, Contains("### " + std::string(t.name) + "\n") &&
                         Contains("](#" + std::string(t.name) + ")") && Contains(t.text));
    CHECK(std::filesystem::exists(root() / "tests/misuse" / (std::string(t.name) + ".cpp")));
  }
}

TEST_CASE("every mistake of the builder has a misuse test and an entry in docs/errors.md") {
  const std::string source = read("include/wsl/core/misuse.hpp") +
                             read("include/wsl/layout/faults/path_options.hpp"),
                    page = read("docs/errors.md");
  const std::string mark = "[[noreturn]] inline void ";
  int mistakes = 0;
  for (size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at + 1), ++mistakes) {
    const size_t begin = at + mark.size();
    const std::string name = source.substr(begin, source.find('(', begin) - begin);
    INFO(name);
    CHECK_THAT(page, Contains("### " + name + "\n") && Contains("](#" + name + ")"));
    CHECK(std::filesystem::exists(root() / "tests/misuse" / (name + ".cpp")));
  }
  CHECK(mistakes >= 11);
}

TEST_CASE("a run walks as many PEs as it takes") {
  CHECK_NOTHROW(require(shapes::weave(744, 994)));
  const diagnostic circle = check(shapes::weave(744, 994, true));
  CHECK(circle.what == fault_kind::the_route_goes_in_a_circle);
  CHECK((circle.at.x < 4 && circle.at.y < 2));
}

TEST_CASE("forks and merges are walked only where they can matter") {
  const layout l = shapes::shuttles(993);
  rules::flow f(l, 0);
  rules::scratch<bool> chosen;
  rules::choose(f, chosen);
  CHECK(rules::walk(f, chosen).size > 4096);
  CHECK_NOTHROW(require(l));
}

TEST_CASE("a straight run needs no walk") {
  const layout l = shapes::snake(750, 994);
  rules::flow f(l, 0);
  rules::scratch<bool> chosen;
  for (int j = 0; j < f.edges.size(); ++j) chosen.push_back(true);
  while (rules::drop(f, chosen)) {}
  CHECK(rules::walk(f, chosen).size == 0);
}

TEST_CASE("a run checks what a constant expression refuses") {
  CHECK_NOTHROW(require(shapes::tangle(16, 14)));
  CHECK_NOTHROW(require(shapes::beads(750)));
}
