// SPDX-License-Identifier: MIT
// Nets: what a router of connections has to connect. A net is a tree of links from one source to one or
// several sinks, or, if it merges, from several sources to one sink. All its wavelets have one color. Nets
// that must have the same color, because a region has one symbolic color for both, are of one class.
#pragma once
#include <vector>

#include "code_region.hpp"

namespace wsl::planning {

inline constexpr coord nowhere{-1, -1};

/// The hops between two PEs.
constexpr int distance(coord a, coord b) {
  return (a.x < b.x ? b.x - a.x : a.x - b.x) + (a.y < b.y ? b.y - a.y : a.y - b.y);
}

/// Of every `of` words the processor gets `words`, beginning with word `first`; all if `words` is 0.
struct dealing {
  int words = 0, first = 0, of = 0;
  friend constexpr bool operator==(const dealing&, const dealing&) = default;
};

/// A PE at which a net begins or ends.
struct net_end {
  coord at = nowhere;  ///< nowhere: any PE at that side of the grid, where a stream of the host is
  ports sides;         ///< through which the net may leave or enter
  ports inner{ramp};   ///< what it joins there
  int region = -1;     ///< -1: the host
  dealing deal;        ///< at a leaf: which of the words it gets
  const switches* positions = nullptr;
};

struct net {
  int of_class = 0;
  bool beside = false;  ///< one of several of a connection
  bool merges = false;  ///< several sources and one sink, which is the root
  /// Has one source and one sink, and takes turns with other nets of its class that begin or end there.
  bool by_turns = false;
  net_end root;  ///< of the tree: the source, or the sink of a net that merges
  std::vector<net_end> leaves;
  const payload_calls* calls = nullptr;
  int connection = 0;  ///< the first that it belongs to
};

/// The part of a net on one PE.
struct net_step {
  coord at;
  ports from, to;
  dealing deal{};
  const switches* positions = nullptr;
};

/// The way of a net, PE by PE, and where it meets the host.
struct net_route {
  std::vector<net_step> steps;
  coord host = nowhere;
  bool found = false;
};

}  // namespace wsl::planning
