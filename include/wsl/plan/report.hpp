// SPDX-License-Identifier: MIT
// The text of a floor plan at run time: the table of its connections, and why one has no way or no color.
#pragma once
#include <algorithm>
#include <string>

#include "connector.hpp"

namespace wsl::planning {

inline std::string connector::text_of_no_way(const net& n, const router& find) const {
  const net_end& end = find.lost();
  std::string text =
      support::joined({"wsl: the connection from ", source_of(n), " to ", sink_of(n), " finds no way to ",
                       end.at == nowhere ? "the edge of the grid" : text_of(end.at)});
  for (const net_end* e : {&n.root, &end})
    if (e->at != nowhere && opens_to_nothing(*e))
      return text + support::joined({": the port on ", text_of(e->at),
                                     " opens only toward the edge of the grid; let it open to another side"});
  // what stands around the PEs that it has reached
  std::vector<std::string> around;
  const auto note = [&](const std::string& what) {
    if (std::find(around.begin(), around.end(), what) == around.end()) around.push_back(what);
  };
  const auto look = [&](coord c) {
    for (const port side : every_side) {
      const coord next = c + step(side);
      if (!grid_.has(next)) continue;
      const int owner = grid_.owner(next);
      bool same = false;
      grid_.each(next, [&](int of_class, int) { same |= of_class == n.of_class; });
      if (owner == territory::of_layout) note("a program of the layout");
      else if (owner >= 0 && owner != end.region && owner != n.root.region)
        note(std::string("region ") + region_name(owner));
      else if (same && !is_end(n, next)) note("a connection of the same color");
    }
  };
  find.each_reached(look);
  if (n.root.at != nowhere) look(n.root.at);
  for (std::size_t i = 0; i < around.size() && i < 4; ++i)
    text += (i == 0                   ? ": in its way "
             : i + 1 == around.size() ? " and "
                                      : ", ") +
            (i == 0 ? std::string(around.size() > 1 ? "are " : "is ") : std::string()) + around[i];
  if (around.size() > 4) text += support::joined({" and ", around.size() - 4, " more"});
  return text + "; leave a free row or column between the regions, or let the port open to another side";
}

inline bool connector::opens_to_nothing(const net_end& e) const {
  for (const port side : every_side)
    if (e.sides.has(side) && grid_.has(e.at + step(side))) return false;
  return true;
}

inline std::string connector::text_of_no_color(const net& n, coord worst, const coloring& colors) const {
  std::string text = support::joined({"wsl: no color is left for the connection from ", source_of(n), " to ",
                                      sink_of(n), ": at ", text_of(worst), " it meets"});
  int count = 0;
  grid_.each(worst, [&](int of_class, int number) {
    if (of_class == n.of_class) return;
    if (++count > 6) return;
    text += count > 1 ? ", " : " ";
    if (number < 0) text += "an inner path of its region";
    else
      text += std::string(source_of(nets_[static_cast<std::size_t>(number)])) + " to " +
              sink_of(nets_[static_cast<std::size_t>(number)]);
    const int c = colors.color(of_class);
    text += c >= 0 ? support::joined({" (color ", c, ")"}) : std::string(" (no color yet)");
  });
  if (count > 6) text += support::joined({" and ", count - 6, " more"});
  if (count == 0) text += " colors of programs, paths and modules of the layout";
  const int machine_colors = base_.machine().colors;
  return text + support::joined({"; ", base_.machine().name, " has ", machine_colors,
                                 " colors: move the regions apart, or let connections take other sides"});
}

inline std::string connector::table() const {
  std::string text = "color  from                 to                   PEs  hops\n";
  const auto padded = [](std::string word, std::size_t width) {
    word.resize(std::max(width, word.size() + 1), ' ');
    return word;
  };
  for (std::size_t k = 0; k < nets_.size(); ++k) {
    const net& n = nets_[k];
    const auto end = [&](const net_end& e) {
      return e.at == nowhere ? std::string("the host")
                             : std::string(region_name(e.region)) + " " + text_of(e.at).substr(2);
    };
    for (std::size_t i = 0; i < n.leaves.size(); ++i) {
      const std::string from = end(n.merges ? n.leaves[i] : n.root),
                        to = end(n.merges ? n.root : n.leaves[i]);
      text += padded(std::to_string(color_of(n.of_class)), 7) + padded(from, 21) + padded(to, 21);
      if (i == 0) {
        const std::size_t pes = ways_[k].steps.size();
        text += padded(std::to_string(pes), 5) + std::to_string(pes - 1);
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace wsl::planning
