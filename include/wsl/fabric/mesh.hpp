// SPDX-License-Identifier: MIT
// The routers of the timed engine at work. A board, lanes that take turns, lets at most one word a cycle through each port. Where
// words go from a lane is the lane's course, its ports and pipes; a lane could be given another course while the fabric runs. Straight
// runs in which nothing can get in the way are single pipes, so that a word crosses them in one step.
#pragma once
#include "backlog.hpp"
#include "lanes.hpp"
#include "pipes.hpp"
#include "timeline.hpp"

namespace wsl::engines {

class mesh {
 public:
  static constexpr u32 none = lane_node::none;

  /// Where a pipe starts.
  struct origin {
    enum class kind : u8 { from_pe, to_pe, link, host };
    kind what;
    u8 color;
    port side;      ///< of the router, for a link; on which the words enter, for a host stream
    u32 router;
  };
  struct source {
    u32 pipe = none;
    u8 color = 0;
    coord at;
  };

  /// `pe_at(c)` is the number of the PE at c, or -1; `input_depth(c, color)` and `output_depth(c, color)` are in words.
  template <class PeAt, class InputDepth, class OutputDepth>
  mesh(const layout& plan, agenda& when, u32 pes, PeAt pe_at, InputDepth input_depth, OutputDepth output_depth)
      : through(when), lanes_(plan), when_(&when), first_board_actor_(pes) {
    place_pipes();
    connect(plan.machine(), pe_at, input_depth, output_depth);
    for (const stream_record& s : plan.streams())
      for (int i = 0; s.inbound && i < s.where.count(); ++i) add_source(plan.machine(), s, s.where.nth(i));
    through.settle();
  }

  pipes through;

  u32 router_at(coord c) const { return lanes_.router_at(c); }
  coord coord_of(u32 router) const { return lanes_.coord_of(router); }
  /// In the order of their colors.
  std::span<lane_node> nodes_of(u32 router) { return lanes_.nodes_of(router); }
  lane_node* node_of(u32 router, int color) { return lanes_.node_of(router, color); }
  /// The pipe from which a PE takes a color: an empty one where no path ends.
  u32 down_pipe(u32 router, int color) {
    const lane_node* n = node_of(router, color);
    return n && n->down != none ? n->down : nobody;
  }
  const origin& origin_of(u32 pipe) const { return origins_[pipe]; }
  std::span<source> sources() { return {sources_.data(), sources_.data() + sources_.size()}; }

  u32 first_board_actor() const { return first_board_actor_; }
  u32 first_source_actor() const { return first_board_actor_ + static_cast<u32>(boards_.size()); }
  u32 actors() const { return first_source_actor() + static_cast<u32>(sources_.size()); }

  /// Of a run.
  struct traffic {
    u64 hops = 0, delivered = 0;
  };
  traffic done;
  u64 link_stalls = 0;           ///< cycles in which a word that could move found its port taken by another color
  timeline* traced = nullptr;    ///< who wants to know, if anybody

  /// Words that left the grid at a router, oldest first.
  struct exit {
    u32 router = 0;
    u8 color = 0;
    backlog<u32> words;
  };
  exit& exit_of(coord c, int color) {
    u32 k = 0;
    while (exits_[k].router != router_at(c) || exits_[k].color != color) ++k;
    return exits_[k];
  }

  /// One cycle of a board. Says whether anything moved.
  [[gnu::always_inline]] bool step(u32 actor, u64 now) {
    board& b = boards_[actor - first_board_actor_];
    return b.lanes == 1 ? step_alone(through[b.first], actor, now) : step_in_turn(b, actor, now);
  }

  /// The lanes' own words: use(coord, color, pipe).
  template <class Use>
  void each_lane(Use use) const {
    for (const board& b : boards_)
      for (u32 k = b.first; k < b.first + b.lanes; ++k) use(coord_of(b.router), through[k].color, through[k]);
  }
  /// The side links that a pipe runs over, one after the other: use(router, side).
  template <class Use>
  void each_link(u32 pipe, Use use) const {
    const origin& from = origins_[pipe];
    u32 r = from.router;
    for (int k = 0; k < through[pipe].links; ++k) {
      const bool given = k == 0 && from.what == origin::kind::link;
      const port side = given ? from.side : lanes::only_side(const_cast<lanes&>(lanes_).node_of(r, from.color)->how.to);
      use(r, side);
      r = router_at(coord_of(r) + wsl::step(side));
    }
  }

 private:
  static constexpr u32 nobody = 0;              // a pipe without words
  static constexpr u32 leaves = u32{1} << 31;   // a target beyond the edge of the grid
  struct board {
    u32 first = 0;    ///< its lanes' pipes stand together
    u16 lanes = 0, turn = 0;
    u32 router = 0;
  };

  // ---- building --------------------------------------------------------------------------------------------------------------

  u32 add_pipe(origin from, const pipe& p) {
    origins_.push_back(from);
    return through.add(p);
  }
  void place_pipes() {
    add_pipe({}, {});
    u32 router = none;
    u16 number = 0;
    for (lane& l : lanes_.all()) {
      if (l.passes) continue;
      if (l.router != router || l.board != number) boards_.push_back({static_cast<u32>(through.size()), 0, 0, l.router});
      router = l.router, number = l.board;
      ++boards_.back().lanes;
      l.pipe = add_pipe({}, {.reader = first_source_actor() - 1, .ports = l.to.bits, .color = l.color});
    }
  }

  template <class PeAt, class InputDepth, class OutputDepth>
  void connect(const machine& m, PeAt pe_at, InputDepth input_depth, OutputDepth output_depth) {
    for (lane& l : lanes_.all()) {
      if (l.passes) continue;
      const coord c = coord_of(l.router);
      lane_node& n = *node_of(l.router, l.color);
      if (l.from == ramp) {
        // A word that is sent in a cycle is out of the processor in the next, and then crosses the ramp.
        n.up = l.pipe;
        origins_[l.pipe] = {origin::kind::from_pe, l.color, ramp, l.router};
        through[l.pipe].filler = static_cast<u32>(pe_at(c));
        through[l.pipe].latency = static_cast<u16>(1 + m.ramp_latency);
        through.open(l.pipe, output_depth(c, l.color) + m.ramp_latency + m.router_depth);
      }
      const auto first = static_cast<u32>(targets_.size());
      for (port p : every_port)
        if (l.to.has(p)) targets_.push_back(target_of(m, l, n, p, pe_at, input_depth));
      pipe& from = through[l.pipe];
      from.targets = static_cast<u8>(targets_.size() - first);
      from.target = from.targets == 1 ? targets_[first] : first;
    }
  }

  // Lanes of one node that merge fill the same pipes.
  template <class PeAt, class InputDepth>
  u32 target_of(const machine& m, const lane& l, lane_node& n, port p, PeAt pe_at, InputDepth input_depth) {
    const coord c = coord_of(l.router), next = c + wsl::step(p);
    const u32 actor = through[l.pipe].reader;
    if (p == ramp) {
      if (n.down != none) return n.down;
      n.down = add_pipe({origin::kind::to_pe, l.color, ramp, l.router},
                        {.filler = actor, .reader = static_cast<u32>(pe_at(c)), .latency = static_cast<u16>(m.ramp_latency), .to_pe = true});
      through.open(n.down, input_depth(c, l.color) + m.ramp_latency);
      return n.down;
    }
    if (lanes_.on_grid(next)) {
      lane* entered = lanes_.at(router_at(next), l.color, opposite(p));
      return run_from(m, {origin::kind::link, l.color, p, l.router}, entered, actor);
    }
    for (u32 k = 0; k < exits_.size(); ++k)
      if (exits_[k].router == l.router && exits_[k].color == l.color) return leaves | k;
    exits_.push_back({l.router, l.color, {}});
    return leaves | static_cast<u32>(exits_.size() - 1);
  }

  // From where words enter the router of `l`, through all routers that only pass them on, to a lane that does more.
  u32 run_from(const machine& m, origin from, lane* l, u32 filler) {
    int h = 1;
    for (; l->passes; ++h) l = lanes_.after(*l);
    pipe& p = through[l->pipe];
    if (p.end != p.first) return l->pipe;  // a lane that merges with this one has opened it
    origins_[l->pipe] = from;
    p.filler = filler;
    p.latency = p.credit = static_cast<u16>(h);
    p.links = static_cast<u16>(from.what == origin::kind::host ? h - 1 : h);
    through.open(l->pipe, h * m.router_depth);
    return l->pipe;
  }

  void add_source(const machine& m, const stream_record& s, coord c) {
    const u32 actor = first_source_actor() + static_cast<u32>(sources_.size());
    lane* entered = lanes_.at(router_at(c), s.color, s.side);
    const u32 entry = run_from(m, {origin::kind::host, static_cast<u8>(s.color), s.side, router_at(c)}, entered, actor);
    sources_.push_back({entry, static_cast<u8>(s.color), c});
  }

  // ---- running ---------------------------------------------------------------------------------------------------------------

  std::span<const u32> targets_of(const pipe& in) const {
    return {in.targets == 1 ? &in.target : targets_.data() + in.target, in.targets};
  }

  bool step_alone(pipe& in, u32 actor, u64 now) {
    const u64 ready = through.ready_at(in);
    u64 next = ready;
    if (ready <= now) {
      next = room_for(in);
      if (next > now) {
        if (next != agenda::never) when_->note(actor, next);
        return false;
      }
      move(in, now);
      next = std::max(through.ready_at(in), now + 1);
    }
    if (next != agenda::never) when_->note(actor, next);
    return ready <= now;
  }

  bool step_in_turn(board& b, u32 actor, u64 now) {
    pipe* const lanes = &through[b.first];
    const u32 n = b.lanes, turn = b.turn;
    u32 used = 0;
    u64 next = agenda::never;
    for (u32 k = 0, at = turn; k < n; ++k, at = at + 1 == n ? 0 : at + 1) {
      pipe& in = lanes[at];
      const u64 ready = through.ready_at(in);
      if (ready > now) {
        next = std::min(next, ready);
      } else if (in.ports & used) {
        ++link_stalls;
        next = now + 1;
      } else if (const u64 free = room_for(in); free > now) {
        next = std::min(next, free);
      } else {
        if (!used) b.turn = static_cast<u16>(at + 1 == n ? 0 : at + 1);
        used |= in.ports;
        move(in, now);
        next = std::min(next, std::max(through.ready_at(in), now + 1));
      }
    }
    if (next != agenda::never) when_->note(actor, next);
    return used != 0;
  }

  static bool goes_on(const pipe& in) { return in.targets == 1 && !(in.target & leaves); }

  // When all targets have room, never if another actor will say so.
  u64 room_for(const pipe& in) {
    if (goes_on(in)) [[likely]] return through.room_at(through[in.target]);
    u64 free = 0;
    for (u32 q : targets_of(in))
      if (!(q & leaves)) free = std::max(free, through.room_at(through[q]));
    return free;
  }

  void move(pipe& in, u64 now) {
    if (!goes_on(in) || traced) return fork(in, now);
    pipe& out = through[in.target];
    through.pass(in, out, now);
    done.hops += out.links;
    done.delivered += out.to_pe;
  }
  [[gnu::noinline]] void fork(pipe& in, u64 now) {
    const u32 bits = through.first_bits(in);
    const bool control = through.first_is_control(in);
    through.take(in, now);
    for (u32 q : targets_of(in)) {
      if (q & leaves) [[unlikely]] {
        leave(q & ~leaves, bits);
        continue;
      }
      pipe& out = through[q];
      through.put(out, bits, control, now + out.latency);
      if (traced) [[unlikely]] traced->crossed(q, now);
      done.hops += out.links;
      done.delivered += out.to_pe;
    }
  }
  [[gnu::noinline]] void leave(u32 k, u32 bits) {
    exits_[k].words.push(bits);
    ++done.hops, ++done.delivered;
  }

  lanes lanes_;
  agenda* when_;
  u32 first_board_actor_;
  flat_vector<board> boards_;
  flat_vector<u32> targets_;
  flat_vector<origin> origins_;
  flat_vector<source> sources_;
  flat_vector<exit> exits_;
};

}  // namespace wsl::engines
