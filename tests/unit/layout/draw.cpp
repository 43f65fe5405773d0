// SPDX-License-Identifier: MIT
// Drawings: exact text of small layouts, bounds on the size of large ones, and pictures that are well-formed
// XML.
#include <wsl/layout/draw.hpp>
#include <wsl/layout/draw/layout_svg.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace wsl;
using wsl::detail::binding, wsl::detail::payload_type_of, wsl::detail::role;

namespace {

constexpr color<f32> red{0}, blue{1};
constexpr color<u32> green{2};

constexpr binding runner_table[] = {
    {.what = role::data, .id = 0, .type = &payload_type_of<f32>, .name = "pass"},
    {.what = role::send, .id = 1, .type = &payload_type_of<f32>}};
constexpr program runner{
    .name = "runner<blue, red>", .bytes = 4, .alignment = 4, .table = runner_table, .entries = 2};
constexpr program walker{.name = "walker<red, blue>", .bytes = 120, .alignment = 4};
constexpr program cell{.name = "cell", .bytes = 31004, .alignment = 4};

constexpr layout chain(int width, int height) {
  const area even = columns(0, edge, 2), odd = columns(1, edge, 2);
  return layout{wse2, width, height}
      .place(even, runner)
      .place(odd, walker)
      .path(red, even, ramp >> east)
      .path(red, odd, west >> ramp)
      .path(blue, columns(1, edge - 1, 2), ramp >> east)
      .path(blue, columns(2, edge, 2), west >> ramp);
}

constexpr layout from_host(int width, int height) {
  return layout{wse2, width, height}
      .place(all, cell)
      .path(green, at(0, 0), west >> (ramp | east | south))
      .path(green, row(0).columns(1, edge - 1), west >> (ramp | east | south))
      .path(green, at(edge - 1, 0), west >> (ramp | south))
      .path(green, rows(1, edge - 1), north >> (ramp | south))
      .path(green, row(edge - 1), north >> ramp)
      .stream_in(green, at(0, 0), west);
}

// Rows exchange with the row below: even rows send red to the south, odd rows answer in blue to the north.
constexpr layout halo(int width, int height) {
  layout l{wse2, width, height};
  l.place(all, cell).claim_colors("halo", 0, 4, l.grid());
  l.path(red, rows(0, edge - 1, 2), ramp >> south).path(red, rows(1, edge, 2), north >> ramp);
  l.path(blue, rows(1, edge, 2), ramp >> north).path(blue, rows(0, edge - 1, 2), south >> ramp);
  return l;
}

// A route with every kind of PE in it.
constexpr layout knots() {
  layout l{wse3, 4, 3};
  l.path(red, at(0, 0), ramp >> east)
      .path(red, at(1, 0), west >> (ramp | east))
      .path(red, at(2, 0), west >> south);
  l.path(red, at(2, 1), north >> (west | east))
      .path(red, at(1, 1), east >> ramp)
      .path(red, at(3, 1), west >> north);
  l.path(red, at(3, 0), south >> ramp);
  l.path(blue, at(0, 0), ramp >> south).path(blue, at(0, 1), (north | ramp) >> south, merges);
  l.path(blue, at(0, 2), (north | east) >> (ramp | south), merges).path(blue, at(1, 2), east >> west);
  l.path(blue, at(2, 2), ramp >> (west | east)).stream_out(blue, at(0, 2), south);
  return l;
}

std::string_view after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  return at == text.npos ? std::string_view{} : text.substr(at + mark.size());
}
bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
int times(std::string_view text, std::string_view part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

struct page_size {
  int lines = 0, columns = 0;
};
// Every byte that does not continue a UTF-8 sequence is one character.
page_size size_of(std::string_view text) {
  page_size size;
  int column = 0;
  for (const char c : text) {
    if (c == '\n') ++size.lines, column = 0;
    else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && ++column > size.columns) size.columns = column;
  }
  return size;
}

// Opening and closing tags match, quotes and angle brackets stand only where XML has them. Returns the first
// complaint.
std::string xml_complaint(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    if (text[0] != '<') {
      if (text[0] == '>') return "a bare >";
      text.remove_prefix(1);
      continue;
    }
    const auto close = text.find('>');
    if (close == text.npos) return "a tag without end";
    const std::string tag{text.substr(1, close - 1)};
    if (contains(tag, "<") || times(tag, "\"") % 2 != 0) return "a broken tag: " + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != tag) return "an unexpected end: " + tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    text.remove_prefix(close + 1);
  }
  return open.empty() ? "" : "no end of " + open.back();
}

}  // namespace

TEST_CASE("a chain shows its programs and its colors") {
  CHECK(draw(chain(8, 1)) == R"(wse2, 8 x 1 PEs

    0 1 2 3 4 5 6 7
 0  A B A B A B A B

       PEs  bytes of 49152  program
A        4               4  runner<blue, red>
B        4             120  walker<red, blue>

color     send  receive  forward  payload  module  host
    0        4        4        0  float    -       -
    1        3        3        0  float    -       -
)");
}

TEST_CASE("a chain shows the route of one color") {
  const std::string expected = R"(wse2, 8 x 1 PEs, color 1 (float): 3 PEs send, 3 receive, 0 forward

    0   1   2   3   4   5   6   7
 0  ·   o──►●   o──►●   o──►●   ·

  o sends from its ramp   ● receives at its ramp   · no route
)";
  CHECK(draw(chain(8, 1), blue) == expected);
  CHECK(draw(chain(8, 1), 1) == expected);
}

TEST_CASE("a broadcast forks on its way from the host") {
  CHECK(draw(from_host(4, 3), green) ==
        R"(wse2, 4 x 3 PEs, color 2 (unsigned int): 0 PEs send, 12 receive, 8 forward

       0   1   2   3
 0  ══►●──►●──►●──►●
       ▼   ▼   ▼   ▼
 1     ●   ●   ●   ●
       ▼   ▼   ▼   ▼
 2     ●   ●   ●   ●

  ● receives at its ramp
  ══► ⇓ host stream
)");
}

TEST_CASE("a halo on 4 x 3 names its module and the PEs without a partner") {
  CHECK(draw(halo(4, 3)) == R"(wse2, 4 x 3 PEs

    0 1 2 3
 0  A A A A
 1  A A A A
 2  A A A A

       PEs  bytes of 49152  program
A       12           31004  cell

color     send  receive  forward  payload  module  host
    0        4        4        0  float    halo    -
    1        4        4        0  float    halo    -
    2        0        0        0  -        halo    -
    3        0        0        0  -        halo    -
)");
  CHECK(draw(halo(4, 3), red) == R"(wse2, 4 x 3 PEs, color 0 (float): 4 PEs send, 4 receive, 0 forward

    0   1   2   3
 0  o   o   o   o
    ▼   ▼   ▼   ▼
 1  ●   ●   ●   ●

 2  ·   ·   ·   ·

  o sends from its ramp   ● receives at its ramp   · no route
)");
  CHECK(contains(draw(halo(4, 3), blue), " 0  ●   ●   ●   ●\n    ▲   ▲   ▲   ▲\n 1  o   o   o   o\n"));
}

TEST_CASE("turns, forks, merges and ways to the host have their symbols") {
  CHECK(after(draw(knots(), red), "\n\n") == R"(    0   1   2   3
 0  o──►●──►┐   ●
            ▼   ▲
 1  ·   ●◄──┴──►┘

 2  ·   ·   ·   ·

  o sends from its ramp   ● receives at its ramp   ┼ ─ ┐ passes on   · no route
)");
  // (2, 2) sends to the east, where (3, 2) has no route.
  CHECK(after(draw(knots(), blue), "\n\n") == R"(    0   1   2   3
 0  o   ·   ·   ·
    ▼
 1  □   ·   ·   ·
    ▼
 2  ■◄───◄──o──✕·
    ⇓

  o sends from its ramp   ● receives at its ramp   ┼ ─ ┐ passes on   · no route
  □ ■ ▣ ╬ the same where wavelets merge
  ══► ⇓ host stream
  ──✕ sent, but the neighbour does not take it
)");
}

TEST_CASE("a color that waits for nobody, and PEs without program") {
  layout l{wse2, 2, 1};
  l.place(at(0, 0), cell).path(red, at(0, 0), east >> ramp);
  CHECK(contains(draw(l, red), " 0  ●◁···\n"));
  CHECK(contains(draw(l), " 0  A .\n"));
  CHECK(contains(draw(l), ".        1               -  (no program)\n"));
  CHECK(contains(draw(l, 7), "color 7: 0 PEs send, 0 receive, 0 forward"));
}

TEST_CASE("a whole wafer fits a terminal, with exact counts") {
  const layout wafer = chain(750, 994);
  CHECK(draw(wafer) == R"(wse2, 750 x 994 PEs

      0 1 2 3 4  +740 745 747 749
   0  A B A B A   …   B A B A B
   1  A B A B A   …   B A B A B
+990  ⋮ ⋮ ⋮ ⋮ ⋮       ⋮ ⋮ ⋮ ⋮ ⋮
 992  A B A B A   …   B A B A B
 993  A B A B A   …   B A B A B

+n: n more, which continue the pattern beside them

       PEs  bytes of 49152  program
A   372750               4  runner<blue, red>
B   372750             120  walker<red, blue>

color     send  receive  forward  payload  module  host
    0   372750   372750        0  float    -       -
    1   371756   371756        0  float    -       -
)");
  for (const std::string& text :
       {draw(wafer, blue), draw(from_host(750, 994), green), draw(halo(750, 994), red)}) {
    INFO(text);
    CHECK(size_of(text).lines <= 60);
    CHECK(size_of(text).columns <= 100);
  }
  CHECK(contains(draw(from_host(750, 994), green), "0 PEs send, 745500 receive, 744750 forward"));
  CHECK(contains(draw(from_host(750, 994), green), "   0  ══►●──►●──►●──► … ──►●──►●──►●\n"));
}

TEST_CASE("what differs everywhere is cut in the middle") {
  layout l{wse2, 750, 994};
  for (int x = 0; x < 250; ++x)
    l.place(column(3 * x), x % 2 == 0 ? cell : runner).path(red, at(3 * x, 3 * x), ramp >> east);
  for (const std::string& text : {draw(l), draw(l, red)}) {
    INFO(text);
    CHECK(size_of(text).lines <= 60);
    CHECK(size_of(text).columns <= 100);
    CHECK(contains(text, "~n: n more, different ones, left out"));
  }
}

TEST_CASE("slots of an axis cover it once, in order") {
  for (const int extent : {1, 16, 17, 750}) {
    for (const int every : {1, 2, 3, 16}) {
      drawing::axis a{extent};
      a.add({0, extent, every}), a.add({extent / 3, extent / 2 + 1, 1}), a.add({0, extent, every});
      int next = 0;
      for (const drawing::slot& s : a.fit(24)) {
        CHECK(s.first == next);
        CHECK((s.gap || s.count == 1));
        next += s.count;
      }
      CHECK(next == extent);
      CHECK(a.fit(24).size() <= 26);
    }
  }
}

TEST_CASE("a gap hides only columns like the drawn ones") {
  const drawing::stripe stripes[] = {{0, 750, 2}, {1, 749, 3}, {0, 375, 1}, {400, 700, 2}};
  drawing::axis a{750};
  for (const drawing::stripe& s : stripes) a.add(s);
  const auto kind = [&](int x) {
    int bits = 0;
    for (const drawing::stripe& s : stripes)
      bits = 2 * bits + (x >= s.from && x < s.to && (x - s.from) % s.every == 0);
    return bits;
  };
  const drawing::slots shown = a.fit(100);
  CHECK(drawing::has_gap(shown, true));
  CHECK_FALSE(drawing::has_gap(shown, false));
  for (const drawing::slot& s : shown)
    for (int x = s.first; x <= s.last(); ++x) {
      bool drawn = false;
      for (const drawing::slot& other : shown) drawn = drawn || (!other.gap && kind(other.first) == kind(x));
      CHECK(drawn);
    }
}

TEST_CASE("pictures are well-formed, with names escaped and nothing from elsewhere") {
  for (const std::string& svg :
       {draw_svg(chain(8, 1)), draw_svg(chain(8, 1), red), draw_svg(from_host(750, 994), green),
        draw_svg(halo(4, 3)), draw_svg(knots(), 1), draw_svg(layout{wse2, 1, 1})}) {
    CHECK(xml_complaint(svg) == "");
    CHECK(contains(svg, " viewBox=\"0 0 "));
    CHECK_FALSE(contains(svg, "href"));
    CHECK_FALSE(contains(svg, "NaN"));
  }
  CHECK(contains(draw_svg(chain(8, 1)), "runner&lt;blue, red&gt;"));
  CHECK(support::svg::escaped("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
  CHECK(xml_complaint("<a><b></a>") == "an unexpected end: /a");
  CHECK(xml_complaint("<a>1 > 0</a>") == "a bare >");
}

TEST_CASE("a picture has a square for each PE and a way for each direction") {
  const std::string svg = draw_svg(chain(8, 1), red);
  CHECK(times(svg, "<title>PE(") == 8);
  CHECK(contains(svg, "PE(7, 0): walker&lt;red, blue&gt;"));
  for (const port from : every_side) {
    for (const port out : every_side) {
      if (from == out) continue;
      layout l{wse2, 3, 3};
      l.path(red, at(1, 1), from >> out);
      // The PE's cell begins 76 to the east and south of (62, 74); its sides have their middle at 38.
      const coord corner{62 + 76, 74 + 76}, middle = corner + coord{38, 38};
      const coord a = middle + coord{step(from).x * 38, step(from).y * 38},
                  b = middle + coord{step(out).x * 38, step(out).y * 38};
      const std::string way{after(draw_svg(l, red), "<path d=\"")}, line = way.substr(0, way.find('"'));
      INFO(name_of(from) << " to " << name_of(out) << ": " << line);
      CHECK(line.starts_with(support::svg::to('M', a)));
      CHECK(line.ends_with(support::svg::to('L', b)));
      CHECK(contains(line, "Q") == (from != opposite(out)));
    }
  }
}

TEST_CASE("a picture shows what crosses the sides of a gap, and the streams of its color only") {
  // Drawn are the columns 0 to 4 and 745 to 749: 0, 2, 4, 746, 748 and the hidden 744 send; one arrow is in
  // the legend.
  CHECK(times(draw_svg(chain(750, 1), red), "Z") == 7);
  const std::string mark = " rx=\"1\"";  // host memory, and three in the legend
  CHECK(times(draw_svg(from_host(4, 3), green), mark) == 4);
  CHECK(times(draw_svg(from_host(4, 3), red), mark) == 3);
}

TEST_CASE("programs keep apart by hue, then by lightness") {
  std::vector<std::string> seen;
  for (int i = 0; i < 24; ++i)
    seen.push_back(support::svg::pale_tint(i).hex()), seen.push_back(support::svg::dark_tint(i).hex());
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(seen[i] != seen[j]);
}
