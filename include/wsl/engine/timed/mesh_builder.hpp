// SPDX-License-Identifier: MIT
// Builds the mesh of the timed engine from a layout: a pipe for each virtual channel that has an arbiter,
// pipes from and to the PEs, and exits at the edge of the grid. A straight run of links and routers in which
// no word can be delayed by others becomes a single pipe, which a word crosses in one step.
#pragma once
#include "pipes.hpp"
#include "ramp_queues.hpp"
#include "topology.hpp"

namespace wsl::engines {

class mesh_builder {
 public:
  mesh_builder(mesh_topology& topology, pipe_store& all, const ramp_queues& ramps)
      : topology_(topology),
        channels_(topology.channels),
        pipes_(all),
        ramps_(ramps),
        machine_(topology.plan->machine()) {}

  /// Builds it for an engine on this number of threads.
  void build(u32 threads) {
    reserve();
    add_arbiters();
    for (virtual_channel& vc : channels_.all())
      if (!vc.passes) connect(vc);
    for (const stream_record& s : topology_.plan->streams())
      for (int i = 0; s.inbound && i < s.where.count(); ++i) add_source(s, s.where.nth(i));
    for (arbiter& a : topology_.arbiters) rank(a), follow(a);
    channels_.forget_all();
    pipes_.settle(ramps_.pes(), threads);
  }

 private:
  using origin = mesh_topology::origin;
  static constexpr u32 none = mesh_topology::none;

  u32 add_pipe(origin from, const pipe& p) {
    topology_.origins.push_back(from);
    return pipes_.add(p);
  }

  // Of a wafer these are gigabytes, so they do not grow by doubling.
  void reserve() {
    std::size_t pipes = 1, arbiters = 0;
    u32 router = none, group = 0;
    for (const virtual_channel& vc : channels_.all()) {
      if (vc.passes) continue;
      ++pipes;
      if (vc.router != router || vc.group != group) ++arbiters;
      router = vc.router, group = vc.group;
    }
    pipes += channels_.count([](const channel_node& n) { return n.how.to.has(ramp); });
    pipes_.reserve(pipes);
    topology_.origins.reserve(pipes);
    topology_.arbiters.reserve(arbiters);
  }

  void add_arbiters() {
    add_pipe({}, {});  // mesh_topology::empty_pipe
    u32 router = none;
    u16 group = 0;
    port entered = ramp;  // by the first virtual channel of the group
    for (virtual_channel& vc : channels_.all()) {
      if (vc.passes) continue;
      if (vc.router != router || vc.group != group)
        topology_.arbiters.push_back(
            {.first = pipes_.added,
             .router = vc.router,
             .line = static_cast<u16>(topology_.cut.line_of(channels_.coord_of(vc.router)))});
      router = vc.router, group = vc.group;
      arbiter& a = topology_.arbiters.back();
      if (++a.channels == 1) entered = vc.from;
      a.what = kind_with(a, vc, entered);
      if (vc.rank != 0) topology_.ranks.push_back({pipes_.added, vc.rank});
      const u32 actor = topology_.first_source_actor() - 1;
      vc.pipe = add_pipe({}, {.reader = actor, .ports = vc.to.bits, .color = vc.color});
    }
  }
  // The kind of an arbiter when `vc` has become its newest channel.
  arbiter::kind kind_with(const arbiter& a, const virtual_channel& vc, port entered) const {
    using kind = arbiter::kind;
    if (vc.switched || a.what == kind::switched) return kind::switched;
    if (a.channels == 1) return kind::alone;
    if (!leaves_by_one_port(a, vc)) return kind::forking;
    return a.what != kind::merging && vc.from == entered && !from_host(vc) ? kind::straight : kind::merging;
  }
  bool leaves_by_one_port(const arbiter& a, const virtual_channel& vc) const {
    return a.what != arbiter::kind::forking && vc.to.single() && pipes_[a.first].ports == vc.to.bits &&
           (vc.to.has(ramp) || !leaves_grid(vc));
  }
  // At the entry of host streams, words of several colors may arrive by one port in the same cycle.
  bool from_host(const virtual_channel& vc) const {
    return vc.from != ramp && !channels_.on_grid(channels_.coord_of(vc.router) + wsl::step(vc.from));
  }
  bool leaves_grid(const virtual_channel& vc) const {
    return !channels_.on_grid(channels_.coord_of(vc.router) + wsl::step(virtual_channels::only_side(vc.to)));
  }

  void connect(virtual_channel& vc) {
    channel_node& n = *channels_.node_of(vc.router, vc.color);
    if (vc.from == ramp) connect_ramp(vc, n);
    if (vc.switched) return add_switched_channel(vc, n);
    const auto first = static_cast<u32>(topology_.targets.size());
    for (port p : every_port)
      if (vc.to.has(p)) topology_.targets.push_back(target_of(vc, n, p));
    pipe& from = pipes_[vc.pipe];
    from.targets = static_cast<u8>(topology_.targets.size() - first);
    from.target = from.targets == 1 ? topology_.targets[first] : first;
  }
  // A word that is sent in one cycle leaves the processor in the next, and then crosses the ramp.
  void connect_ramp(const virtual_channel& vc, channel_node& n) {
    const coord c = channels_.coord_of(vc.router);
    n.up = vc.pipe;
    topology_.origins[vc.pipe] = {origin::kind::from_pe, vc.color, ramp, vc.router};
    pipes_[vc.pipe].filler = ramps_.pe_at(c);
    pipes_[vc.pipe].latency = static_cast<u16>(1 + machine_.ramp_latency);
    pipes_.open(vc.pipe, ramps_.output_depth(c, vc.color) + machine_.ramp_latency + machine_.router_depth);
  }
  void add_switched_channel(const virtual_channel& vc, channel_node& n) {
    const coord c = channels_.coord_of(vc.router);
    timed_switch& s = topology_.switches[n.router_switch];
    s.way = router_switch(*topology_.plan, c, *topology_.plan->path_at(c, vc.color));
    s.arbiter = pipes_[vc.pipe].reader;
    s.pe = ramps_.pe_at(c);
    switched_channel added{.router_switch = n.router_switch, .from = vc.from};
    for (port p : every_port)
      if (vc.to.has(p)) added.to[index_of(p)] = target_of(vc, n, p);
    pipes_[vc.pipe].target = static_cast<u32>(topology_.switched_channels.size());
    topology_.switched_channels.push_back(added);
  }

  // The pipe, or exit, into which the words of a virtual channel go through a port. Channels that merge into
  // one port fill the same pipe.
  u32 target_of(const virtual_channel& vc, channel_node& n, port p) {
    const coord c = channels_.coord_of(vc.router);
    const u32 actor = pipes_[vc.pipe].reader;
    if (p == ramp) {
      if (n.down == none) n.down = add_down_pipe(vc, actor);
      return n.down;
    }
    if (channels_.on_grid(c + wsl::step(p)))
      return straight_run({origin::kind::link, vc.color, p, vc.router}, channels_.behind(vc, p), actor);
    return mesh_topology::off_grid | exit_of(vc);
  }
  u32 add_down_pipe(const virtual_channel& vc, u32 actor) {
    const coord c = channels_.coord_of(vc.router);
    const u32 down = add_pipe({origin::kind::to_pe, vc.color, ramp, vc.router},
                              {.filler = actor,
                               .reader = ramps_.pe_at(c),
                               .latency = static_cast<u16>(machine_.ramp_latency),
                               .to_pe = true});
    pipes_.open(down, ramps_.input_depth(c, vc.color) + machine_.ramp_latency);
    return down;
  }
  u32 exit_of(const virtual_channel& vc) {
    auto& exits = topology_.exits;
    for (u32 k = 0; k < exits.size(); ++k)
      if (exits[k].router == vc.router && exits[k].color == vc.color) return k;
    exits.push_back({vc.router, vc.color, {}});
    return static_cast<u32>(exits.size() - 1);
  }

  // Builds the pipe from the place where words enter the router of `vc`, through all routers that only pass
  // them on, to a virtual channel that has an arbiter.
  u32 straight_run(origin from, virtual_channel* vc, u32 filler) {
    int hops = 1;
    for (; vc->passes; ++hops) vc = channels_.behind(*vc);
    pipe& p = pipes_[vc->pipe];
    if (p.end != p.first) return vc->pipe;  // a virtual channel that merges with this one has opened it
    topology_.origins[vc->pipe] = from;
    p.filler = filler;
    p.latency = p.credit = static_cast<u16>(hops);
    p.links = static_cast<u16>(from.what == origin::kind::host ? hops - 1 : hops);
    pipes_.open(vc->pipe, hops * machine_.router_depth);
    return vc->pipe;
  }

  void add_source(const stream_record& s, coord c) {
    const u32 actor = topology_.first_source_actor() + static_cast<u32>(topology_.sources.size());
    const u32 router = channels_.router_at(c);
    const auto color = static_cast<u8>(s.color);
    virtual_channel* entered = channels_.at(router, s.color, s.side);
    topology_.sources.push_back(
        {straight_run({origin::kind::host, color, s.side, router}, entered, actor), color, c});
  }

  void rank(arbiter& a) const {
    const mesh_topology::channel_rank* r = topology_.ranks_from(a.first);
    if (a.channels > 1 && r != topology_.ranks.end() && r->pipe < a.first + a.channels)
      a.what = arbiter::kind::ranked;
  }
  // If a channel that is alone fills a pipe that another such channel empties, the first keeps it moving.
  void follow(arbiter& a) {
    if (a.what != arbiter::kind::alone) return;
    u32 others = 0, other = none;
    for (u32 target : targets_of(pipes_[a.first])) {
      const bool inside = !(target & mesh_topology::off_grid);
      if (inside && pipes_[target].to_pe) a.down = target;
      else if (inside && a.next == none && is_alone(pipes_[target].reader))
        a.next = target, pipes_[target].wakes = pipe::wake_policy::never;
      else ++others, other = target;
    }
    // A single other channel may follow as well; its own arbiter moves it.
    if (others == 1 && a.next == none && !(other & mesh_topology::off_grid)) a.next = other, others = 0;
    a.others = others > 0;
    a.flows = a.next != none && !a.others;
  }
  bool is_alone(u32 actor) {
    return topology_.is_arbiter(actor) && topology_.arbiter_of(actor).what == arbiter::kind::alone;
  }
  std::span<const u32> targets_of(const pipe& p) const {
    return {p.targets == 1 ? &p.target : topology_.targets.data() + p.target, p.targets};
  }

  mesh_topology& topology_;
  virtual_channels& channels_;
  pipe_store& pipes_;
  const ramp_queues& ramps_;
  const machine& machine_;
};

}  // namespace wsl::engines
