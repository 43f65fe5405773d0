// SPDX-License-Identifier: MIT
// A layout as a picture, in SVG: PEs are rounded squares in the hue of their program, routes run through them
// from side to side. draw_svg(plate) shows all colors beside each other, draw_svg(plate, red) one of them. A
// ring is a ramp that sends, a dot a ramp that receives, a square host memory; gaps stand for columns and
// rows that continue the pattern, as in draw.hpp.
#pragma once
#include "../../support/svg.hpp"
#include "census.hpp"
#include "text.hpp"

namespace wsl::drawing {

using namespace support::svg;

inline coord along(coord from, port side, int distance) {
  return from + coord{step(side).x * distance, step(side).y * distance};
}

/// An arrow head whose middle is at a point.
inline std::string arrow_head(coord at, port side, int size) {
  const coord tip = along(at, side, size), base = along(at, side, -size);
  const coord across{step(side).y * size, step(side).x * size};
  return to('M', tip) + to('L', base + across) + to('L', base - across) + "Z";
}

class picture {
 public:
  picture(const layout& l, const support::inplace_vector<int, max_colors>& colors, const std::string& title)
      : l_(l), programs_(l), colors_(colors), title_(title), plain_(colors.size() == 1) {
    axes a{l};
    a.add_programs(l);
    for (const int id : colors) a.add_routes(l, id);
    xs_ = a.x.fit(24), ys_ = a.y.fit(18);
    square_ = plain_ || colors.size() < 3 ? 48 : 28 + 2 * apart * colors.size();
    for (const stream_record& s : l.streams()) {
      const bool drawn = !plain_ || s.color == colors[0];
      if (drawn && s.side == west) left_ = 92;
      if (drawn && s.side == north) top_ = 96;
    }
  }

  std::string text() const {
    const std::string below = legend();
    const coord whole{sheet_width(), legend_top() + 24 * legend_lines() + 8};
    const std::string box = support::joined({"0 0 ", whole.x, " ", whole.y});
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("viewBox", box) +
           attribute("width", whole.x) + attribute("height", whole.y) + attribute("role", "img") +
           attribute("font-family", "sans-serif") + attribute("font-size", 13) + attribute("fill", "#333") +
           ">\n<title>" + escaped(title_) + "</title>\n" +
           rectangle({0, 0}, whole, 10, attribute("fill", "#fdfdfb")) +
           label({24, 34}, title_, attribute("font-size", 17) + attribute("font-weight", "bold")) +
           numbers() + squares() + routes() + below + "</svg>\n";
  }

 private:
  static constexpr int between = 28, gap_size = 60;
  static constexpr int apart = 4;  // half the distance of two colors

  // Places. A cell is a square and half of the space around it: routes meet at the sides of cells.
  int pitch() const { return square_ + between; }
  int place(const slots& s, int i) const {
    int at = 0;
    for (int k = 0; k < i; ++k) at += s[k].gap ? gap_size : pitch();
    return at;
  }
  coord cell(int i, int j) const { return {left_ + place(xs_, i), top_ + place(ys_, j)}; }
  coord middle(int i, int j) const {
    return cell(i, j) + coord{(xs_[i].gap ? gap_size : pitch()) / 2, (ys_[j].gap ? gap_size : pitch()) / 2};
  }
  int legend_top() const { return top_ + place(ys_, ys_.size()) + 52; }
  int legend_lines() const {
    return programs_.size() + colors_.size() + (gap_legend_of(xs_, ys_).empty() ? 2 : 3);
  }
  int sheet_width() const {
    int wide = left_ + place(xs_, xs_.size()) + 60;
    const auto fit = [&](int characters) { wide = characters * 8 + 90 > wide ? characters * 8 + 90 : wide; };
    fit(length(title_) * 5 / 4), fit(72);
    for (const program_use& use : programs_) fit(length(about(l_, use)));
    for (const int id : colors_) fit(length(about(l_, id)));
    return wide;
  }

  std::string numbers() const {
    const std::string grey = attribute("fill", "#888") + attribute("font-size", 11);
    std::string out = "<g" + grey + attribute("text-anchor", "middle") + ">\n";
    for (int i = 0; i < xs_.size(); ++i)
      out += label({middle(i, 0).x, top_ - (top_ > 80 ? 28 : 4)}, label_of(xs_[i]));
    out += "</g>\n<g" + grey + attribute("text-anchor", "end") + ">\n";
    for (int j = 0; j < ys_.size(); ++j)
      out += label({left_ - (left_ > 70 ? 34 : 4), middle(0, j).y + 4}, label_of(ys_[j]));
    return out + "</g>\n";
  }

  std::string squares() const {
    std::string out, dots;
    for (int j = 0; j < ys_.size(); ++j)
      for (int i = 0; i < xs_.size(); ++i) {
        if (!xs_[i].gap && !ys_[j].gap) out += square(cell(i, j), {xs_[i].first, ys_[j].first});
        for (const int d : {-9, 0, 9})
          if (xs_[i].gap != ys_[j].gap)
            dots += to('M', middle(i, j) + (xs_[i].gap ? coord{d, 0} : coord{0, d})) + "h0";
      }
    return out + outline(dots, painted("none", "#bbb", 4) + attribute("stroke-linecap", "round"));
  }
  std::string square(coord corner, coord at) const {
    const program* what = l_.program_at(at);
    const int index = programs_.index_of(what);
    const tint fill = pale_tint(index);
    const std::string place = text_of(at) + ": ";
    const coord inner = corner + coord{between / 2, between / 2};
    const std::string body =
        rectangle(inner, {square_, square_}, 9, painted(fill.hex(), fill.towards(black, 25).hex(), 1),
                  place + (what ? what->name : "no program"));
    if (!what) return body;
    const std::string dim = attribute("fill", fill.towards(black, 60).hex()) + attribute("font-size", 10);
    return body + label(inner + coord{5, 13}, std::string{letter_of(index)}, dim);
  }

  // Routes. Colors keep a distance from the middle of their cells, to the east and to the south, and so never
  // cover each other.
  struct strokes {
    int color, offset;
    std::string lines, heads, knots;
  };
  int weight() const { return plain_ ? 2 : 1; }
  int head_size() const { return plain_ ? 7 : 4; }
  std::string ink(const strokes& s) const { return dark_tint(s.color).hex(); }
  coord side(coord corner, port p, int offset) const {
    const int half = pitch() / 2;
    const coord centre = corner + coord{half + offset, half + offset};
    switch (p) {
      case port::east: return {corner.x + pitch(), centre.y};
      case port::west: return {corner.x, centre.y};
      case port::north: return {centre.x, corner.y};
      case port::south: return {centre.x, corner.y + pitch()};
      case port::ramp: break;
    }
    return centre;
  }

  std::string routes() const {
    std::string out;
    for (int k = 0; k < colors_.size(); ++k) {
      strokes s{colors_[k], (2 * k - colors_.size() + 1) * apart, "", "", ""};
      for (int j = 0; j < ys_.size(); ++j)
        for (int i = 0; i < xs_.size(); ++i) add_slot(s, i, j);
      const std::string round = attribute("stroke-linecap", "round") + attribute("stroke-linejoin", "round");
      out += "<g><title>" + escaped(title_of(l_, s.color)) + "</title>\n" +
             outline(s.lines, painted("none", "#fff", 4 * weight()) + round) +
             outline(s.lines, painted("none", ink(s), 2 * weight()) + round) +
             outline(s.heads, painted(ink(s), "#fff", 1)) + s.knots + "</g>\n";
    }
    return out;
  }
  void add_slot(strokes& s, int i, int j) const {
    if (xs_[i].gap && ys_[j].gap) return;
    const coord at{xs_[i].first, ys_[j].first}, last{xs_[i].last(), ys_[j].last()}, corner = cell(i, j);
    if (xs_[i].gap) return add_ends(s, corner, at, last, west, east);
    if (ys_[j].gap) return add_ends(s, corner, at, last, north, south);
    if (const path_record* p = l_.path_at(at, s.color)) add_path(s, *p, corner);
    for (const stream_record& stream : l_.streams())
      if (stream.color == s.color && stream.where.has(at)) add_stream(s, stream, corner);
  }

  void add_path(strokes& s, const path_record& p, coord corner) const {
    const switch_record* positions = l_.switch_of(p);
    const route every = l_.every_route(p);
    for (int i = 0; i < (positions ? positions->count : 1); ++i) {
      const route how = positions ? positions->position(i) : p.how;
      for (const port from : every_port)
        for (const port out : every_port)
          if (how.from.has(from) && how.to.has(out)) s.lines += leg(corner, from, out, s.offset);
    }
    for (const port out : every_side)
      if (every.to.has(out)) s.heads += arrow_head(side(corner, out, s.offset), out, head_size());
    s.knots += knot(every, p.merges, side(corner, ramp, s.offset), ink(s));
  }
  // Legs from one side share a stem up to the bend.
  std::string leg(coord corner, port from, port out, int offset) const {
    const coord a = side(corner, from, offset), centre = side(corner, ramp, offset),
                b = side(corner, out, offset);
    if (from == ramp || out == ramp || from == opposite(out)) return to('M', a) + to('L', b);
    if (from == out) return to('M', a) + to('L', centre);
    const int bend = square_ / 4;
    return to('M', a) + to('L', along(centre, from, bend)) + to('Q', centre) +
           to(' ', along(centre, out, bend)) + to('L', b);
  }
  std::string knot(const route& how, bool merges, coord at, const std::string& color) const {
    const int size = 2 + 2 * weight();
    const auto spot = [&](int radius, const std::string& paint) {
      return merges ? rectangle(at - coord{radius, radius}, {2 * radius, 2 * radius}, 1, paint)
                    : circle(at, radius, paint);
    };
    std::string out;
    if (how.from.has(ramp)) out += spot(size, painted("#fff", color, weight() + 1));
    if (how.to.has(ramp))
      out += spot(how.from.has(ramp) ? size - 2 - weight() / 2 : size, painted(color, color, 1));
    else if (merges && out.empty()) out = spot(size - 1, painted("#fff", color, weight()));
    return out;
  }
  void add_stream(strokes& s, const stream_record& stream, coord corner) const {
    const coord door = side(corner, stream.side, s.offset), memory = along(door, stream.side, 22);
    s.lines += to('M', memory) + to('L', door);
    s.heads += arrow_head(door, stream.inbound ? opposite(stream.side) : stream.side, head_size());
    const int half = 2 + weight();
    s.knots += rectangle(memory - coord{half, half}, {2 * half, 2 * half}, 1, painted("#fff", ink(s), 2));
  }

  // Adds the links of the first and the last PE inside a gap to the drawn PEs beside it.
  void add_ends(strokes& s, coord corner, coord first, coord last, port near, port far) const {
    const coord past = along({}, far, gap_size - pitch());
    add_end(s, l_.route_at(first, s.color), side(corner, near, s.offset), near);
    add_end(s, l_.route_at(last, s.color), side(corner + past, far, s.offset), far);
  }
  void add_end(strokes& s, route r, coord door, port toward) const {
    if (r.to.has(toward) || r.from.has(toward)) s.lines += to('M', door) + to('L', along(door, toward, -14));
    if (r.to.has(toward)) s.heads += arrow_head(door, toward, head_size());
  }

  // Legend.
  std::string legend() const {
    std::string out;
    coord at{26, legend_top()};
    const auto line = [&](const std::string& sign, const std::string& text) {
      out += sign + label(at + coord{40, 5}, text);
      at.y += 24;
    };
    for (const program_use& use : programs_) {
      const int index = programs_.index_of(use.what);
      const tint fill = pale_tint(index);
      const std::string small = attribute("font-size", 10) + attribute("text-anchor", "middle");
      line(rectangle(at - coord{0, 9}, {26, 18}, 5, painted(fill.hex(), fill.towards(black, 25).hex(), 1)) +
               label(at + coord{13, 4}, std::string{letter_of(index)}, small),
           about(l_, use));
    }
    for (const int id : colors_)
      line(outline(to('M', at) + "h20", painted("none", dark_tint(id).hex(), 2 * weight())) +
               outline(arrow_head(at + coord{21, 0}, east, 5), attribute("fill", dark_tint(id).hex())),
           about(l_, id));
    return out + symbols(at) + label(at + coord{0, 53}, gap_legend_of(xs_, ys_));
  }
  static std::string symbols(coord at) {
    const std::string hollow = painted("#fff", "#555", 2), full = painted("#555", "#555", 1);
    return circle(at + coord{13, 0}, 5, hollow) + label(at + coord{40, 5}, "sends from its ramp") +
           circle(at + coord{203, 0}, 5, full) + label(at + coord{230, 5}, "receives at its ramp") +
           rectangle(at + coord{9, 20}, {8, 8}, 1, hollow) + label(at + coord{40, 29}, "host stream") +
           rectangle(at + coord{192, 19}, {10, 10}, 1, hollow) +
           rectangle(at + coord{206, 19}, {10, 10}, 1, full) +
           label(at + coord{230, 29}, "square on a PE: wavelets merge");
  }

  const layout& l_;
  program_census programs_;
  support::inplace_vector<int, max_colors> colors_;
  std::string title_;
  bool plain_;
  int left_ = 62, top_ = 74;
  slots xs_, ys_;
  int square_ = 0;
};

}  // namespace wsl::drawing

namespace wsl {

/// The programs of a layout and the routes of all its colors.
inline std::string draw_svg(const layout& l) {
  return drawing::picture{l, drawing::colors_of(l), drawing::title_of(l)}.text();
}

/// The routes of one color.
inline std::string draw_svg(const layout& l, int color) {
  support::inplace_vector<int, detail::max_colors> only;
  only.push_back(color);
  return drawing::picture{l, only, support::joined({drawing::title_of(l), ", color ", color})}.text();
}
template <payload T>
std::string draw_svg(const layout& l, color<T> c) {
  return draw_svg(l, c.id);
}

}  // namespace wsl
