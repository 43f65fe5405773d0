// SPDX-License-Identifier: MIT
// The routers of the timed engine as they are put together: pipes, the arbiters that empty them, and where
// words go from each. A arbiter is virtual_channels that take turns at a router's ports. Straight runs in
// which nothing can get in the way are single pipes, so that a word crosses them in one step.
#pragma once
#include "../../support/flat_queue.hpp"
#include "pipes.hpp"
#include "router_switches.hpp"
#include "virtual_channels.hpp"

namespace wsl::engines {

class mesh_parts {
 public:
  static constexpr u32 none = channel_node::none;

  /// Where a pipe starts.
  struct origin {
    enum class kind : u8 { from_pe, to_pe, link, host };
    kind what;
    u8 color;
    port side;  ///< of the router, for a link; on which the words enter, for a host stream
    u32 router;
  };
  struct source {
    u32 pipe = none;
    u8 color = 0;
    coord at;
  };

  /// `pe_at(c)` is the number of the PE at c, or -1; `input_depth(c, color)` and `output_depth(c, color)` are
  /// in words.
  template <class PeAt, class InputDepth, class OutputDepth>
  mesh_parts(const layout& plan, event_queue& when, u32 pes, PeAt pe_at, InputDepth input_depth,
             OutputDepth output_depth)
      : through(when),
        channels_(plan),
        plan_(&plan),
        when_(&when),
        first_arbiter_actor_(pes),
        switches_(channels_.router_switches()) {
    place_pipes();
    connect(plan.machine(), pe_at, input_depth, output_depth);
    for (const stream_record& s : plan.streams())
      for (int i = 0; s.inbound && i < s.where.count(); ++i) add_source(plan.machine(), s, s.where.nth(i));
    for (arbiter& b : arbiters_) rank(b), follow(b);
    through.settle();
  }

  pipes through;

  u32 router_at(coord c) const { return channels_.router_at(c); }
  coord coord_of(u32 router) const { return channels_.coord_of(router); }
  /// In the order of their colors.
  std::span<channel_node> nodes_of(u32 router) { return channels_.nodes_of(router); }
  channel_node* node_of(u32 router, int color) { return channels_.node_of(router, color); }
  /// The pipe from which a PE takes a color: an empty one where no path ends.
  u32 down_pipe(u32 router, int color) {
    const channel_node* n = node_of(router, color);
    return n && n->down != none ? n->down : nobody;
  }
  /// The gate of a color at a router, null if its route always stays.
  timed_switch* switch_of(u32 router, int color) {
    const channel_node* n = node_of(router, color);
    return n && n->router_switch != none ? &switches_[n->router_switch] : nullptr;
  }
  /// The gate that does not take the words of a pipe as things stand, or null.
  const timed_switch* switch_before(const pipe& in) const {
    if (in.targets > 0) return nullptr;
    const switched_channel& l = switched_channels_[in.target];
    return switches_[l.router_switch].way.takes(l.from) ? nullptr : &switches_[l.router_switch];
  }
  const origin& origin_of(u32 pipe) const { return origins_[pipe]; }
  std::span<source> sources() { return {sources_.data(), sources_.data() + sources_.size()}; }

  u32 first_arbiter_actor() const { return first_arbiter_actor_; }
  [[gnu::always_inline]] bool is_arbiter(u32 actor) const {
    return actor - first_arbiter_actor_ < arbiters_.size();
  }
  u32 first_source_actor() const { return first_arbiter_actor_ + static_cast<u32>(arbiters_.size()); }
  u32 actors() const { return first_source_actor() + static_cast<u32>(sources_.size()); }

  /// Words that left the grid at a router, oldest first.
  struct exit {
    u32 router = 0;
    u8 color = 0;
    support::flat_queue<u32> words;
  };
  exit& exit_of(coord c, int color) {
    u32 k = 0;
    while (exits_[k].router != router_at(c) || exits_[k].color != color) ++k;
    return exits_[k];
  }

  /// The virtual_channels' own words: use(coord, color, pipe).
  template <class Use>
  void each_virtual_channel(Use use) const {
    for (const arbiter& b : arbiters_)
      for (u32 k = b.first; k < b.first + b.virtual_channels; ++k)
        use(coord_of(b.router), through[k].color, through[k]);
  }
  /// The side links that a pipe runs over, one after the other: use(router, side).
  template <class Use>
  void each_link(u32 pipe, Use use) const {
    const origin& from = origins_[pipe];
    u32 r = from.router;
    int color = from.color;
    for (int k = 0; k < through[pipe].links; ++k) {
      const bool given = k == 0 && from.what == origin::kind::link;
      const port side = given ? from.side
                              : virtual_channels::only_side(
                                    const_cast<virtual_channels&>(channels_).node_of(r, color)->how.to);
      use(r, side);
      color = color_behind(*plan_, coord_of(r), color, side);
      r = router_at(coord_of(r) + wsl::step(side));
    }
  }

 protected:
  static constexpr u32 nobody = 0;             // a pipe without words
  static constexpr u32 leaves = u32{1} << 31;  // a target beyond the edge of the grid
  struct arbiter {
    enum class kind : u8 { alone, road, link, shared, changing, ranked };
    u32 first = 0;  ///< its virtual_channels' pipes stand together
    u8 virtual_channels = 0, turn = 0;
    /// one virtual_channel; several from one port into one; from several into one; into several; some with a
    /// gate; of several ranks
    kind what = kind::alone;
    u32 router = 0;
    // Of one virtual_channel: the pipe to its PE; that to a virtual_channel of the same kind, which only this
    // one fills; whether there are others; and the first cycle that is not told yet.
    u32 down = none, on = none;
    /// and whether there is nothing but such a pipe, and perhaps the PE's
    bool others = false, flows = false;
    u64 free_from = 0;
  };

  std::span<const u32> targets_of(const pipe& in) const {
    return {in.targets == 1 ? &in.target : targets_.data() + in.target, in.targets};
  }

  virtual_channels channels_;
  const layout* plan_;
  event_queue* when_;
  u32 first_arbiter_actor_;
  support::flat_vector<arbiter> arbiters_;
  support::flat_vector<u32> targets_;
  support::flat_vector<origin> origins_;
  support::flat_vector<source> sources_;
  support::flat_vector<exit> exits_;
  support::flat_vector<timed_switch> switches_;
  support::flat_vector<switched_channel> switched_channels_;
  struct preference {
    u32 pipe = 0;
    i8 rank = 0;
  };
  support::flat_vector<preference> ranked_;  // virtual_channels of another rank than 0, by their pipes
  const preference* ranked_from(u32 pipe) const {
    return std::lower_bound(ranked_.begin(), ranked_.end(), pipe,
                            [](const preference& p, u32 k) { return p.pipe < k; });
  }
  int rank_of(u32 pipe) const {
    const preference* p = ranked_from(pipe);
    return p != ranked_.end() && p->pipe == pipe ? p->rank : 0;
  }

 private:
  u32 add_pipe(origin from, const pipe& p) {
    origins_.push_back(from);
    return through.add(p);
  }
  void place_pipes() {
    add_pipe({}, {});
    u32 router = none;
    u16 number = 0;
    port entered = ramp;  // by the first virtual_channel of a arbiter
    for (virtual_channel& l : channels_.all()) {
      if (l.passes) continue;
      if (l.router != router || l.arbiter != number)
        arbiters_.push_back({.first = static_cast<u32>(through.size()), .router = l.router});
      router = l.router, number = l.arbiter;
      arbiter& b = arbiters_.back();
      ++b.virtual_channels;
      if (l.changes || b.what == arbiter::kind::changing) b.what = arbiter::kind::changing;
      else if (b.virtual_channels == 1) entered = l.from;
      else if (!one_port(b, l)) b.what = arbiter::kind::shared;
      else
        b.what = b.what != arbiter::kind::link && l.from == entered && !from_host(l) ? arbiter::kind::road
                                                                                     : arbiter::kind::link;
      if (l.rank != 0) ranked_.push_back({static_cast<u32>(through.size()), l.rank});
      l.pipe = add_pipe({}, {.reader = first_source_actor() - 1, .ports = l.to.bits, .color = l.color});
    }
  }

  template <class PeAt, class InputDepth, class OutputDepth>
  void connect(const machine& m, PeAt pe_at, InputDepth input_depth, OutputDepth output_depth) {
    for (virtual_channel& l : channels_.all()) {
      if (l.passes) continue;
      const coord c = coord_of(l.router);
      channel_node& n = *node_of(l.router, l.color);
      if (l.from == ramp) {
        // A word that is sent in a cycle is out of the processor in the next, and then crosses the ramp.
        n.up = l.pipe;
        origins_[l.pipe] = {origin::kind::from_pe, l.color, ramp, l.router};
        through[l.pipe].filler = static_cast<u32>(pe_at(c));
        through[l.pipe].latency = static_cast<u16>(1 + m.ramp_latency);
        through.open(l.pipe, output_depth(c, l.color) + m.ramp_latency + m.router_depth);
      }
      if (l.changes) {
        add_switched_channel(m, l, n, pe_at, input_depth);
        continue;
      }
      const auto first = static_cast<u32>(targets_.size());
      for (port p : every_port)
        if (l.to.has(p)) targets_.push_back(target_of(m, l, n, p, pe_at, input_depth));
      pipe& from = through[l.pipe];
      from.targets = static_cast<u8>(targets_.size() - first);
      from.target = from.targets == 1 ? targets_[first] : first;
    }
  }

  template <class PeAt, class InputDepth>
  void add_switched_channel(const machine& m, const virtual_channel& l, channel_node& n, PeAt pe_at,
                            InputDepth input_depth) {
    const coord c = coord_of(l.router);
    timed_switch& g = switches_[n.router_switch];
    g.way = router_switch(*plan_, c, *plan_->path_at(c, l.color));
    g.arbiter = through[l.pipe].reader;
    g.pe = static_cast<u32>(pe_at(c));
    switched_channel added{.router_switch = n.router_switch, .from = l.from};
    for (port p : every_port)
      if (l.to.has(p)) added.to[index_of(p)] = target_of(m, l, n, p, pe_at, input_depth);
    through[l.pipe].target = static_cast<u32>(switched_channels_.size());
    switched_channels_.push_back(added);
  }

  // Streams bring a word of each color a cycle.
  bool from_host(const virtual_channel& l) const {
    return l.from != ramp && !channels_.on_grid(coord_of(l.router) + wsl::step(l.from));
  }
  bool at_edge(const virtual_channel& l) const {
    return !channels_.on_grid(coord_of(l.router) + wsl::step(virtual_channels::only_side(l.to)));
  }
  bool one_port(const arbiter& b, const virtual_channel& l) const {
    return b.what != arbiter::kind::shared && l.to.single() && through[b.first].ports == l.to.bits &&
           (l.to.has(ramp) || !at_edge(l));
  }
  void rank(arbiter& b) {
    const preference* p = ranked_from(b.first);
    if (b.virtual_channels > 1 && p != ranked_.end() && p->pipe < b.first + b.virtual_channels)
      b.what = arbiter::kind::ranked;
  }
  // What only a virtual_channel that is alone fills, and another such virtual_channel empties, is looked
  // after by the first.
  void follow(arbiter& b) {
    if (b.what != arbiter::kind::alone) return;
    for (u32 q : targets_of(through[b.first])) {
      const bool inside = !(q & leaves);
      if (inside && through[q].to_pe) b.down = q;
      else if (inside && b.on == none && is_alone(through[q].reader))
        b.on = q, through[q].reads = pipe::wake_policy::followed;
      else b.others = true;
    }
    b.flows = b.on != none && !b.others;
  }
  bool is_alone(u32 actor) const {
    return is_arbiter(actor) && arbiters_[actor - first_arbiter_actor_].what == arbiter::kind::alone;
  }

  // Lanes of one node that merge fill the same pipes.
  template <class PeAt, class InputDepth>
  u32 target_of(const machine& m, const virtual_channel& l, channel_node& n, port p, PeAt pe_at,
                InputDepth input_depth) {
    const coord c = coord_of(l.router), next = c + wsl::step(p);
    const u32 actor = through[l.pipe].reader;
    if (p == ramp) {
      if (n.down != none) return n.down;
      n.down = add_pipe({origin::kind::to_pe, l.color, ramp, l.router},
                        {.filler = actor,
                         .reader = static_cast<u32>(pe_at(c)),
                         .latency = static_cast<u16>(m.ramp_latency),
                         .to_pe = true});
      through.open(n.down, input_depth(c, l.color) + m.ramp_latency);
      return n.down;
    }
    if (channels_.on_grid(next))
      return run_from(m, {origin::kind::link, l.color, p, l.router}, channels_.behind(l, p), actor);
    for (u32 k = 0; k < exits_.size(); ++k)
      if (exits_[k].router == l.router && exits_[k].color == l.color) return leaves | k;
    exits_.push_back({l.router, l.color, {}});
    return leaves | static_cast<u32>(exits_.size() - 1);
  }

  // From where words enter the router of `l`, through all routers that only pass them on, to a
  // virtual_channel that does more.
  u32 run_from(const machine& m, origin from, virtual_channel* l, u32 filler) {
    int h = 1;
    for (; l->passes; ++h) l = channels_.after(*l);
    pipe& p = through[l->pipe];
    if (p.end != p.first) return l->pipe;  // a virtual_channel that merges with this one has opened it
    origins_[l->pipe] = from;
    p.filler = filler;
    p.latency = p.credit = static_cast<u16>(h);
    p.links = static_cast<u16>(from.what == origin::kind::host ? h - 1 : h);
    through.open(l->pipe, h * m.router_depth);
    return l->pipe;
  }

  void add_source(const machine& m, const stream_record& s, coord c) {
    const u32 actor = first_source_actor() + static_cast<u32>(sources_.size());
    virtual_channel* entered = channels_.at(router_at(c), s.color, s.side);
    const u32 entry =
        run_from(m, {origin::kind::host, static_cast<u8>(s.color), s.side, router_at(c)}, entered, actor);
    sources_.push_back({entry, static_cast<u8>(s.color), c});
  }
};

}  // namespace wsl::engines
