// SPDX-License-Identifier: MIT
// The numbers in the legends of drawings: how many PEs run each program, and how many send, receive and
// forward each color. They are sums over the areas of the layout, so they cost nothing for each PE, and they
// are exact for a checked layout, whose areas do not overlap.
#pragma once
#include <string>

#include "../../support/text.hpp"
#include "../layout.hpp"

namespace wsl::drawing {

using support::counted, support::filled;

struct program_use {
  const program* what = nullptr;
  i64 pes = 0;
};

/// The programs of a layout in the order of their first placement.
class program_census {
 public:
  explicit program_census(const layout& l) {
    for (const placement& p : l.placements()) count(p);
  }
  const program_use* begin() const { return uses_.begin(); }
  const program_use* end() const { return uses_.end(); }
  int size() const { return uses_.size(); }

  /// The place of a program in this order, or -1.
  int index_of(const program* what) const {
    for (int i = 0; i < uses_.size(); ++i)
      if (uses_[i].what == what) return i;
    return -1;
  }
  i64 pes() const {
    i64 sum = 0;
    for (const program_use& use : uses_) sum += use.pes;
    return sum;
  }

 private:
  void count(const placement& p) {
    const int i = index_of(p.what);
    (i < 0 ? uses_.push_back({p.what, 0}) : uses_[i]).pes += p.where.count();
  }
  support::inplace_vector<program_use, layout::max_placements> uses_;
};

/// A letter for each program; # for those beyond the 52nd.
inline char letter_of(int index) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return index < 0 ? '.' : index < 52 ? letters[index] : '#';
}

struct color_use {
  const payload_type* type = nullptr;  ///< none: no path and no stream uses the color
  i64 send = 0;                        ///< PEs that send it from their ramp ...
  i64 receive = 0;                     ///< ... receive it at their ramp ...
  /// ... and take it from one side to another, whether or not they receive it too
  i64 forward = 0;
};

inline color_use use_of(const layout& l, int color) {
  color_use use;
  const auto beside_ramp = [](ports p) { return (p.bits & ~ports{ramp}.bits) != 0; };
  for (const stream_record& s : l.streams())
    if (s.color == color) use.type = s.type;
  for (const path_record& p : l.paths()) {
    if (p.color != color || p.phase > 0) continue;
    use.type = p.type;
    const route how = l.every_route(p);
    if (how.from.has(ramp)) use.send += p.where.count();
    if (how.to.has(ramp)) use.receive += p.where.count();
    if (beside_ramp(how.from) && beside_ramp(how.to)) use.forward += p.where.count();
  }
  return use;
}

inline void append_to_list(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

/// The modules that claim a color, each once: "halo, sum".
inline std::string modules_of(const layout& l, int color) {
  std::string list;
  for (const claim& c : l.claims()) {
    const std::string name = c.module;
    const bool listed = (", " + list + ", ").find(", " + name + ", ") != std::string::npos;
    if (color >= c.first && color < c.first + c.count && !listed) append_to_list(list, name);
  }
  return list;
}

/// The host streams of a color: "in west at 1 PE, out east at 32 PEs".
inline std::string streams_of(const layout& l, int color) {
  std::string list;
  for (const stream_record& s : l.streams())
    if (s.color == color)
      append_to_list(list, filled("{} {} at {}", {s.inbound ? "in" : "out", name_of(s.side),
                                                  counted(s.where.count(), "PE")}));
  return list;
}

/// The colors that a path or a stream uses or a module claims.
inline support::inplace_vector<int, max_colors> colors_of(const layout& l) {
  support::inplace_vector<int, max_colors> ids;
  for (int id = 0; id < l.machine().colors; ++id)
    if (use_of(l, id).type || !modules_of(l, id).empty()) ids.push_back(id);
  return ids;
}

/// "wse2, 750 x 994 PEs"
inline std::string title_of(const layout& l) {
  return filled("{}, {} x {} PEs", {l.machine().name, l.width(), l.height()});
}

/// "color 3 (float): 4 PEs send, 4 receive, 0 forward"
inline std::string title_of(const layout& l, int color) {
  const color_use use = use_of(l, color);
  const std::string type = use.type ? filled(" ({})", {use.type->name}) : "";
  return filled(
      "color {}{}: {} {}, {} receive, {} forward",
      {color, type, counted(use.send, "PE"), use.send == 1 ? "sends" : "send", use.receive, use.forward});
}

/// A line of a legend: a program, or a color with its modules and streams.
inline std::string about(const layout& l, const program_use& use) {
  return filled("{}, {} of {} bytes: {}",
                {counted(use.pes, "PE"), use.what->bytes, l.machine().memory, use.what->name});
}
inline std::string about(const layout& l, int color) {
  std::string out = title_of(l, color);
  for (const std::string& more : {modules_of(l, color), streams_of(l, color)})
    if (!more.empty()) out += ", " + more;
  return out;
}

}  // namespace wsl::drawing
