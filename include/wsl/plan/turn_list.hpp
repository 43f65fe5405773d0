// SPDX-License-Identifier: MIT
// The PEs at which connections take turns: each gets a switch with a position for each of them.
#pragma once
#include <vector>

#include "path_list.hpp"

namespace wsl::planning {

class turn_list {
 public:
  /// One more position for a color on a PE, of which there are at most four. `has_switch`: there is a switch
  /// even if this is the only one, so that the commands of its sender have one to meet.
  constexpr void add(coord at, int color, route how, const payload_calls* calls, bool has_switch) {
    for (place& p : places_)
      if (p.at == at && p.color == color) {
        p.routes[p.count++] = how;
        return;
      }
    places_.push_back({at, color, calls, {how}, 1, has_switch});
  }
  /// Adds the path of each PE. The pieces name switches of this list, and must not outlive it.
  constexpr void add_to(std::vector<path_piece>& pieces) {
    switches_.reserve(places_.size());  // its elements stay where they are
    const std::size_t first = pieces.size();
    for (const place& p : places_)
      planning::add_to(
          pieces, first,
          {{p.at.x, p.at.x + 1, p.at.y, p.at.y + 1},
           p.color,
           p.routes[0].from,
           p.routes[0].to,
           false,
           {},
           p.count > 1 || p.has_switch
               ? &kept({.pos1 = p.routes[1], .pos2 = p.routes[2], .pos3 = p.routes[3], .ring = true})
               : nullptr,
           p.calls});
  }

 private:
  struct place {
    coord at;
    int color = 0;
    const payload_calls* calls = nullptr;   // for the payload of the color
    route routes[detail::max_positions]{};  // the position that each connection has; others are empty
    int count = 0;
    bool has_switch = false;
  };
  constexpr const switches& kept(const switches& s) {
    for (const switches& before : switches_)
      if (before == s) return before;
    switches_.push_back(s);
    return switches_.back();
  }

  std::vector<place> places_;
  std::vector<switches> switches_;
};

}  // namespace wsl::planning
