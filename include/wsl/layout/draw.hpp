// SPDX-License-Identifier: MIT
// A drawing of a layout as text for a terminal (UTF-8), also of one with faults. draw(plate) shows where each
// program runs and how many PEs use each color, draw(plate, red) shows the routes of one color:
//
//     0   1   2   3
//  0  o──►●──►┐   ·     (0, 0) sends from its ramp, (1, 0) receives it and passes it on,
//             ▼         (2, 0) turns it to the south
//  1  ·   ●◄──┴──►●     (2, 1) forks it to (1, 1) and (3, 1)
//
// A large grid is drawn with gaps: `+742` above a column of dots are 742 columns that continue the pattern
// beside them.
#pragma once
#include "draw/changes.hpp"
#include "draw/text.hpp"

namespace wsl::drawing {

inline std::string program_legend(const layout& l, const program_census& programs) {
  const std::string memory = "bytes of " + std::to_string(l.machine().memory);
  const auto line = [&](char letter, i64 pes, const std::string& bytes, const std::string& name) {
    return std::string{letter} + to_right(std::to_string(pes), 9) + to_right(bytes, length(memory) + 2) +
           "  " + name + "\n";
  };
  std::string out = "       PEs  " + memory + "  program\n";
  for (const program_use& use : programs)
    out += line(letter_of(programs.index_of(use.what)), use.pes, std::to_string(use.what->bytes),
                use.what->name);
  const i64 empty = i64{l.width()} * l.height() - programs.pes();
  return empty > 0 ? out + line('.', empty, "-", "(no program)") : out;
}

inline std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

inline std::string color_table(const layout& l) {
  const auto ids = colors_of(l);
  if (ids.empty()) return "";
  const auto payload_of = [&](int id) { return use_of(l, id).type ? use_of(l, id).type->name : "-"; };
  const auto owner_of = [&](int id) { return or_dash(modules_of(l, id)); };
  int payload = 7, owner = 6;
  for (const int id : ids) payload = widest(payload, payload_of(id)), owner = widest(owner, owner_of(id));

  std::string out = "\ncolor     send  receive  forward  ";
  out += to_left("payload", payload) + "  " + to_left("module", owner) + "  host\n";
  for (const int id : ids) {
    const color_use use = use_of(l, id);
    out += to_right(std::to_string(id), 5) + to_right(std::to_string(use.send), 9) +
           to_right(std::to_string(use.receive), 9) + to_right(std::to_string(use.forward), 9) + "  " +
           to_left(payload_of(id), payload) + "  " + to_left(owner_of(id), owner) + "  " +
           or_dash(streams_of(l, id)) + "\n";
  }
  return out;
}

inline std::string program_grid(const layout& l, const program_census& programs) {
  axes a{l};
  a.add_programs(l);
  const sheet page{a.x.fit(44), a.y.fit(32), 2};
  std::string out = page.ruler(0);
  for (const slot& y : page.ys) {
    std::string line = page.row_label(y);
    for (const slot& x : page.xs) {
      const char mark = letter_of(programs.index_of(l.program_at({x.first, y.first})));
      if (x.gap) line += y.gap ? "      " : "  …   ";
      else line += y.gap ? "⋮ " : std::string{mark, ' '};
    }
    out += trimmed(line);
  }
  return out + page.gap_legend();
}

/// The state of a link between two PEs in one direction, for one color.
enum class link_state : u8 { none, whole, hosted, lost, unfed };

// From a PE, or from the host where `from` is outside of the grid, through a side of it.
inline link_state link_through(const layout& l, int color, coord from, port side) {
  const coord to = from + step(side);
  const auto hosted = [&](coord c, port through, bool inbound) {
    for (const stream_record& s : l.streams())
      if (s.color == color && s.inbound == inbound && s.side == through && s.where.has(c)) return true;
    return false;
  };
  const bool sent = l.has(from) ? l.route_at(from, color).to.has(side) : hosted(to, opposite(side), true);
  const auto as = [&](int c) {
    return l.has(from) && l.has(to) && l.route_at(from, c).to.has(side)
               ? l.path_at(from, c)->color_through(side)
               : c;
  };
  const bool swapped = l.swapped_colors() >> color & 1;
  if (swapped && !sent && as(color ^ 1) == color) return link_state::none;  // shown where it comes from
  const int received = swapped ? as(color) : color;
  const bool taken =
      l.has(to) ? l.route_at(to, received).from.has(opposite(side)) : hosted(from, side, false);
  if (sent && taken) return l.has(from) && l.has(to) ? link_state::whole : link_state::hosted;
  return sent ? link_state::lost : taken ? link_state::unfed : link_state::none;
}

/// Draws the routes of one color and remembers which symbols it used, for the legend.
class route_drawing {
 public:
  route_drawing(const layout& l, int color) : l_(l), color_(color), page_(fitted()) {
    for (const slot& y : page_.ys)
      if (across({0, y.first})[0] != ' ') edge_ = 3;
    for (const path_record& p : l.paths())
      if (p.color == color) tall_ = tall_ || turned(l.every_route(p).from) || turned(l.every_route(p).to);
  }

  std::string text() {
    std::string out = page_.ruler(edge_);
    const int rows = page_.ys.size();
    for (int j = 0; j < rows; ++j) out += links_above(page_.ys[j].first, j == 0) + row(page_.ys[j]);
    out += links_above(l_.height(), true);
    return out + page_.gap_legend() + "\n" + legend();
  }

 private:
  static bool turned(ports p) { return p.has(north) || p.has(south); }
  sheet fitted() const {
    axes a{l_};
    a.add_routes(l_, color_);
    return {a.x.fit(22), a.y.fit(22), 4};
  }

  const char* shown(link_state f, const char* const (&glyphs)[5]) {
    seen_[static_cast<int>(f)] = true;
    return glyphs[static_cast<int>(f)];
  }
  const char* across(coord at) {  // between the west neighbour of `at` and `at`
    const link_state out = link_through(l_, color_, at + step(west), east),
                     back = link_through(l_, color_, at, west);
    if (out != link_state::none && back != link_state::none) return "◄─►";
    if (back == link_state::none) return shown(out, {"   ", "──►", "══►", "──✕", "··▷"});
    return shown(back, {"   ", "◄──", "◄══", "✕──", "◁··"});
  }
  const char* down(coord at) {  // between the north neighbour of `at` and `at`
    const link_state out = link_through(l_, color_, at + step(north), south),
                     back = link_through(l_, color_, at, north);
    if (out != link_state::none && back != link_state::none) return "⇅";
    if (back == link_state::none) return shown(out, {" ", "▼", "⇓", "✕", "▽"});
    return shown(back, {" ", "▲", "⇑", "✕", "△"});
  }

  std::string links_above(int y, bool outermost) {
    std::string line = spaces(page_.margin() + edge_);
    if (!tall_) return "";
    for (const slot& x : page_.xs)
      line += x.gap ? std::string(6, ' ') : std::string(down({x.first, y})) + "   ";
    return trimmed(line) == "\n" && outermost ? "" : trimmed(line);
  }
  std::string row(const slot& y) {
    std::string line = page_.row_label(y) + (y.gap || edge_ == 0 ? spaces(edge_) : across({0, y.first}));
    for (const slot& x : page_.xs) {
      if (y.gap) line += x.gap ? "      " : "⋮   ";
      else line += (x.gap ? " … " : knot({x.first, y.first})) + std::string(across({x.last() + 1, y.first}));
    }
    return trimmed(line);
  }
  const char* knot(coord at) {
    const path_record* p = l_.path_at(at, color_);
    if (!p) return kinds_[4] = true, "·";
    if (l_.switch_of(*p)) return kinds_[5] = true, "◆";
    const int kind = p->how.from.has(ramp) ? (p->how.to.has(ramp) ? 2 : 0) : p->how.to.has(ramp) ? 1 : 3;
    kinds_[kind] = true, merges_ = merges_ || p->merges;
    if (kind == 3 && !p->merges) return bend((p->how.from | p->how.to).bits >> 1);
    constexpr const char* knots[2][4] = {{"o", "●", "◉", ""}, {"□", "■", "▣", "╬"}};
    return knots[p->merges][kind];
  }
  // One bit for each of east, west, north and south.
  static const char* bend(int sides) {
    constexpr const char* bends[] = {"┼", "┼", "┼", "─", "┼", "└", "┘", "┴",
                                     "┼", "┌", "┐", "┬", "│", "├", "┤", "┼"};
    return bends[sides];
  }

  std::string legend() const {
    constexpr const char* kinds[] = {
        "o sends from its ramp", "● receives at its ramp", "◉ both", "┼ ─ ┐ passes on", "· no route",
        "◆ has a switch"};
    std::string out;
    for (int i = 0; i < 6; ++i)
      if (kinds_[i]) out += (out.empty() ? "  " : "   ") + std::string(kinds[i]);
    if (merges_) out += "\n  □ ■ ▣ ╬ the same where wavelets merge";
    const auto seen = [&](link_state f) { return seen_[static_cast<int>(f)]; };
    if (seen(link_state::hosted)) out += "\n  ══► ⇓ host stream";
    if (seen(link_state::lost)) out += "\n  ──✕ sent, but the neighbour does not take it";
    if (seen(link_state::unfed)) out += "\n  ··▷ awaited, but the neighbour does not send it";
    return out + "\n" + changes_of(l_, color_);
  }

  const layout& l_;
  int color_;
  sheet page_;
  int edge_ = 0;  // characters west of the grid
  bool tall_ = false, merges_ = false;
  bool kinds_[6] = {}, seen_[5] = {};
};

}  // namespace wsl::drawing

namespace wsl {

/// The programs of a layout on its grid, and a table of its colors.
inline std::string draw(const layout& l) {
  const drawing::program_census programs{l};
  return drawing::title_of(l) + "\n\n" + drawing::program_grid(l, programs) + "\n" +
         drawing::program_legend(l, programs) + drawing::color_table(l);
}

/// The routes of one color.
inline std::string draw(const layout& l, int color) {
  return drawing::title_of(l) + ", " + drawing::title_of(l, color) + "\n\n" +
         drawing::route_drawing{l, color}.text();
}
template <payload T>
std::string draw(const layout& l, color<T> c) {
  return draw(l, c.id);
}

}  // namespace wsl
