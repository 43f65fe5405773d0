// SPDX-License-Identifier: MIT
// The topology of the timed engine's mesh of routers: virtual channels and the arbiters that serve them, the
// pipes between them, switches, and the places where words enter and leave the grid. mesh_builder.hpp builds
// it once from a layout; mesh.hpp moves words over it. Pipes and actors have numbers: the PEs are the first
// actors, followed by the arbiters and the host streams.
#pragma once
#include "../../support/flat_queue.hpp"
#include "arbiter.hpp"
#include "router_switches.hpp"

namespace wsl::engines {

struct mesh_topology {
  static constexpr u32 none = channel_node::none;
  static constexpr u32 empty_pipe = 0;           ///< the pipe that never holds a word
  static constexpr u32 off_grid = u32{1} << 31;  ///< marks a target that is an exit instead of a pipe

  /// The start of a pipe.
  struct origin {
    enum class kind : u8 { from_pe, to_pe, link, host };
    kind what;
    u8 color;
    port side;  ///< for a link, the side of the router; for a host stream, the side by which its words enter
    u32 router;
  };
  /// The entry of a host stream into the grid.
  struct source {
    u32 pipe = none;
    u8 color = 0;
    coord at;
  };
  /// Words that have left the grid at a router, oldest first.
  struct exit {
    u32 router = 0;
    u8 color = 0;
    support::flat_queue<u32> words;
  };
  /// The rank of a virtual channel whose rank is not 0, by its pipe.
  struct channel_rank {
    u32 pipe = 0;
    i8 rank = 0;
  };

  mesh_topology(const layout& plan_of_routes, const grid_cut& cut_of_grid, u32 pes)
      : plan(&plan_of_routes),
        cut(cut_of_grid),
        channels(plan_of_routes, cut_of_grid),
        first_arbiter_actor(pes),
        switches(channels.router_switches()) {}

  const layout* plan;
  grid_cut cut;
  virtual_channels channels;
  u32 first_arbiter_actor;
  support::flat_vector<arbiter> arbiters;
  support::flat_vector<u32> targets;  ///< of pipes with several
  support::flat_vector<origin> origins;
  support::flat_vector<source> sources;
  support::flat_vector<exit> exits;
  support::flat_vector<timed_switch> switches;
  support::flat_vector<switched_channel> switched_channels;
  support::flat_vector<channel_rank> ranks;

  [[gnu::always_inline]] bool is_arbiter(u32 actor) const {
    return actor - first_arbiter_actor < arbiters.size();
  }
  [[gnu::always_inline]] arbiter& arbiter_of(u32 actor) { return arbiters[actor - first_arbiter_actor]; }
  /// Whether words come into a pipe from a PE or from the host, not from a router.
  bool enters(u32 pipe) const {
    return origins[pipe].what == origin::kind::from_pe || origins[pipe].what == origin::kind::host;
  }
  u32 first_source_actor() const { return first_arbiter_actor + static_cast<u32>(arbiters.size()); }
  u32 actors() const { return first_source_actor() + static_cast<u32>(sources.size()); }

  const channel_rank* ranks_from(u32 pipe) const {
    return std::lower_bound(ranks.begin(), ranks.end(), pipe,
                            [](const channel_rank& r, u32 p) { return r.pipe < p; });
  }
  int rank_of(u32 pipe) const {
    const channel_rank* r = ranks_from(pipe);
    return r != ranks.end() && r->pipe == pipe ? r->rank : 0;
  }
  exit& exit_of(coord c, int color) {
    u32 k = 0;
    while (exits[k].router != channels.router_at(c) || exits[k].color != color) ++k;
    return exits[k];
  }
  /// Calls use(router, side) for the `links` links between routers that a pipe runs over, in order.
  template <class Use>
  void each_link(u32 pipe, int links, Use use) const {
    const origin& from = origins[pipe];
    u32 router = from.router;
    int color = from.color;
    for (int k = 0; k < links; ++k) {
      const bool given = k == 0 && from.what == origin::kind::link;
      const port side =
          given ? from.side : virtual_channels::only_side(channels.node_of(router, color)->how.to);
      use(router, side);
      const coord c = channels.coord_of(router);
      color = color_behind(*plan, c, color, side);
      router = channels.router_at(c + wsl::step(side));
    }
  }
};

}  // namespace wsl::engines
