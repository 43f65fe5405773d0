// SPDX-License-Identifier: MIT
// The routers of a layout in time. A lane is one color that enters a router by one port; lanes that share an output port make up a
// switchboard, which lets at most one word a cycle through each port. A lane that only passes on to one side and shares its port with
// no other lane can hold up nobody: such routers and their links become part of one pipe, so that a word crosses them in one step.
// What a router does is a course, its ports and pipes; a lane could be given another course while the fabric runs.
#pragma once
#include <algorithm>
#include <bit>
#include <span>
#include <tuple>

#include "../layout/layout.hpp"
#include "backlog.hpp"
#include "pipes.hpp"
#include "timeline.hpp"

namespace wsl::engines {

class mesh {
 public:
  static constexpr u32 none = pipes::none;

  /// One color on one router: how its PE sends and receives it.
  struct node {
    u8 color = 0;
    route how;
    u32 up = none, down = none;  ///< pipes from and to the PE
  };
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
      : through(when), plan_(&plan), grid_(plan.grid()), when_(&when), first_board_actor_(pes) {
    place_nodes();
    place_lanes();
    connect(pe_at, input_depth, output_depth);
    through.settle();
  }

  pipes through;

  u32 router_at(coord c) const { return static_cast<u32>(grid_.rank(c)); }
  coord coord_of(u32 router) const { return grid_.nth(static_cast<int>(router)); }
  /// In the order of their colors.
  std::span<node> nodes_of(u32 router) { return {nodes_.data() + first_node_[router], nodes_.data() + first_node_[router + 1]}; }
  node* node_of(u32 router, int color) {
    for (node& n : nodes_of(router))
      if (n.color == color) return &n;
    return nullptr;
  }
  /// The pipe from which a PE takes a color: an empty one where no path ends.
  u32 down_pipe(u32 router, int color) {
    const node* n = node_of(router, color);
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

  /// One cycle of a switchboard. Says whether anything moved.
  bool step(u32 actor, u64 now) {
    board& b = boards_[actor - first_board_actor_];
    const lane* const lanes = lanes_.data() + b.first;
    u32 used = 0, first_moved = b.lanes;
    u64 next = agenda::never;
    for (u32 k = 0, at = b.turn; k < b.lanes; ++k, at = at + 1 == b.lanes ? 0 : at + 1) {
      const lane& l = lanes[at];
      pipe& in = through[l.in];
      u64 ready = through.ready_at(in);
      if (ready <= now) {
        if (const u64 wait = blocked_until(l, used, now)) {
          next = std::min(next, wait);
          continue;
        }
        if (first_moved == b.lanes) first_moved = at;
        used |= l.how.ports;
        move(l, in, now);
        ready = std::max(through.ready_at(in), now + 1);
      }
      next = std::min(next, ready);
    }
    if (next != agenda::never) when_->note(actor, next);
    if (first_moved == b.lanes) return false;
    b.turn = static_cast<u16>(first_moved + 1 < b.lanes ? first_moved + 1 : 0);
    return true;
  }

  /// Words of a color inside the pipes that end in this router, not counting the PE's own queue.
  template <class Use>
  void each_lane(Use use) const {
    for (const lane& l : lanes_)
      if (l.in != nobody) use(coord_of(l.router), l.color, through[l.in]);
  }
  /// The side links that a pipe runs over, one after the other: use(router, side).
  template <class Use>
  void each_link(u32 pipe, Use use) const {
    const origin& from = origins_[pipe];
    u32 r = from.router;
    for (int k = 0; k < through[pipe].links; ++k) {
      const port side = k == 0 && from.what == origin::kind::link ? from.side : only_side(node_at(r, from.color)->how.to);
      use(r, side);
      r = router_at(coord_of(r) + wsl::step(side));
    }
  }

 private:
  static constexpr u32 nobody = 0;               // the pipe of a lane that nothing reaches
  static constexpr u32 leaves = u32{1} << 31;    // a target beyond the edge of the grid
  struct course {
    u32 target = 0;  ///< the only one: a pipe, or an exit of the grid; with several ...
    u32 first = 0;   ///< ... where their list starts
    u8 targets = 0;
    u8 ports = 0;
  };
  struct lane {
    u32 in = nobody;
    u32 router = 0;
    course how;
    u8 color = 0;
    port from = ramp;
    bool passes = false;  ///< part of a pipe
    u16 board = 0;
  };
  struct board {
    u32 first = 0;
    u16 lanes = 0, turn = 0;
  };

  static ports ports_of(u8 bits) {
    ports p;
    p.bits = bits;
    return p;
  }
  static port only_side(ports to) {
    for (port p : every_side)
      if (to.has(p)) return p;
    return ramp;
  }

  // ---- building --------------------------------------------------------------------------------------------------------------

  void place_nodes() {
    first_node_ = flat_vector<u32>(static_cast<std::size_t>(grid_.count()) + 1);
    const auto each = [&](auto use) {
      for (const path_record& p : plan_->paths())
        for (int i = 0; i < p.where.count(); ++i) use(router_at(p.where.nth(i)), p);
    };
    each([&](u32 r, const path_record&) { ++first_node_[r + 1]; });
    for (std::size_t r = 1; r < first_node_.size(); ++r) first_node_[r] += first_node_[r - 1];
    nodes_ = flat_vector<node>(first_node_.back());
    flat_vector<u32> next(first_node_);
    each([&](u32 r, const path_record& p) {
      node& n = nodes_[next[r]++];
      n.color = static_cast<u8>(p.color);
      n.how = p.how;
    });
    for (u32 r = 0; r < routers(); ++r) {
      const auto here = nodes_of(r);
      std::sort(here.begin(), here.end(), [](const node& a, const node& b) { return a.color < b.color; });
    }
  }
  u32 routers() const { return static_cast<u32>(first_node_.size() - 1); }
  const node* node_at(u32 router, int color) const { return const_cast<mesh*>(this)->node_of(router, color); }

  void place_lanes() {
    first_lane_ = flat_vector<u32>(first_node_.size());
    for (u32 r = 0; r < routers(); ++r) {
      first_lane_[r] = static_cast<u32>(lanes_.size());
      int users[5] = {};
      for (const node& n : nodes_of(r))
        for (port from : every_port) {
          if (!n.how.from.has(from)) continue;
          lane& l = lanes_.push_back({});
          l.router = r, l.color = n.color, l.from = from, l.how.ports = n.how.to.bits;
          for (port p : every_port) users[index_of(p)] += n.how.to.has(p);
        }
      make_boards(r, users);
    }
    first_lane_[routers()] = static_cast<u32>(lanes_.size());
  }

  // Lanes of one router that share a port, at once or through others, stand together in the order of color and port.
  void make_boards(u32 r, const int (&users)[5]) {
    const u32 first = first_lane_[r], last = static_cast<u32>(lanes_.size());
    u8 shared[5] = {};
    int boards = 0;
    for (u32 i = first; i < last; ++i) {
      lane& l = lanes_[i];
      l.passes = passes(l, users);
      if (l.passes) continue;
      u8 mine = l.how.ports;
      int kept = 0;
      for (int b = 0; b < boards; ++b) {
        if (shared[b] & mine) mine = static_cast<u8>(mine | shared[b]);
        else shared[kept++] = shared[b];
      }
      shared[kept] = mine;
      boards = kept + 1;
    }
    for (u32 i = first; i < last; ++i)
      for (int b = 0; b < boards; ++b)
        if (!lanes_[i].passes && (lanes_[i].how.ports & shared[b])) lanes_[i].board = static_cast<u16>(b + 1);
    std::sort(lanes_.begin() + first, lanes_.begin() + last, [](const lane& a, const lane& b) {
      return std::tuple(a.board, a.color, index_of(a.from)) < std::tuple(b.board, b.color, index_of(b.from));
    });
    for (u32 i = first; i < last; ++i) {
      if (lanes_[i].passes) continue;
      if (i == first || lanes_[i].board != lanes_[i - 1].board) boards_.push_back({i, 0, 0});
      ++boards_.back().lanes;
    }
  }

  bool passes(const lane& l, const int (&users)[5]) const {
    const ports to = ports_of(l.how.ports);
    if (l.from == ramp || to.has(ramp) || !to.single()) return false;
    const port side = only_side(to);
    return users[index_of(side)] == 1 && grid_.has(coord_of(l.router) + wsl::step(side));
  }

  lane* lane_at(u32 router, int color, port from) {
    for (u32 i = first_lane_[router]; i < first_lane_[router + 1]; ++i)
      if (lanes_[i].color == color && lanes_[i].from == from) return &lanes_[i];
    return nullptr;
  }
  u32 actor_of(const lane& l) const {
    const u32 at = static_cast<u32>(&l - lanes_.data());
    const auto b = std::upper_bound(boards_.begin(), boards_.end(), at, [](u32 i, const board& x) { return i < x.first; }) - 1;
    return first_board_actor_ + static_cast<u32>(b - boards_.begin());
  }

  u32 add_pipe(origin from, int capacity, const pipe& p) {
    origins_.push_back(from);
    return through.add(p, capacity);
  }

  // From where words enter the router of `l`, through all routers that only pass them on.
  u32 run_from(origin from, lane* l, u32 filler) {
    int h = 1;
    for (; l->passes; ++h) {
      const port side = only_side(ports_of(l->how.ports));
      l = lane_at(router_at(coord_of(l->router) + wsl::step(side)), from.color, opposite(side));
    }
    const auto cycles = static_cast<u16>(h), links = static_cast<u16>(from.what == origin::kind::host ? h - 1 : h);
    return l->in = add_pipe(from, h * plan_->machine().router_depth,
                            {.filler = filler, .reader = actor_of(*l), .latency = cycles, .credit = cycles, .links = links});
  }

  template <class PeAt, class InputDepth, class OutputDepth>
  void connect(PeAt pe_at, InputDepth input_depth, OutputDepth output_depth) {
    const machine& m = plan_->machine();
    add_pipe({}, 1, {});  // nobody's
    for (lane& l : lanes_) {
      if (l.passes) continue;
      const u32 actor = actor_of(l);
      const coord c = coord_of(l.router);
      node& n = *node_of(l.router, l.color);
      if (l.from == ramp) {
        // A word that is sent in a cycle is out of the processor in the next, and then crosses the ramp.
        const int capacity = output_depth(c, l.color) + m.ramp_latency + m.router_depth;
        n.up = l.in = add_pipe({origin::kind::from_pe, l.color, ramp, l.router}, capacity,
                               {.filler = static_cast<u32>(pe_at(c)), .reader = actor, .latency = static_cast<u16>(1 + m.ramp_latency)});
      }
      l.how.first = static_cast<u32>(targets_.size());
      for (port p : every_port) {
        if (!n.how.to.has(p)) continue;
        targets_.push_back(target_of(l, n, p, actor, pe_at, input_depth));
        ++l.how.targets;
      }
      l.how.target = targets_[l.how.first];
    }
    for (const stream_record& s : plan_->streams())
      for (int i = 0; s.inbound && i < s.where.count(); ++i) add_source(s, s.where.nth(i));
  }

  // Lanes of one node that merge fill the same pipes.
  template <class PeAt, class InputDepth>
  u32 target_of(const lane& l, node& n, port p, u32 actor, PeAt pe_at, InputDepth input_depth) {
    const coord c = coord_of(l.router), next = c + wsl::step(p);
    const machine& m = plan_->machine();
    if (p == ramp) {
      if (n.down == none)
        n.down = add_pipe({origin::kind::to_pe, l.color, ramp, l.router}, input_depth(c, l.color) + m.ramp_latency,
                          {.filler = actor, .reader = static_cast<u32>(pe_at(c)), .latency = static_cast<u16>(m.ramp_latency), .to_pe = true});
      return n.down;
    }
    for (u32 i = first_lane_[l.router]; i < static_cast<u32>(&l - lanes_.data()); ++i)
      if (lanes_[i].color == l.color && !lanes_[i].passes) return targets_[lanes_[i].how.first + order_of(n.how.to, p)];
    if (!grid_.has(next)) {
      exits_.push_back({l.router, l.color, {}});
      return leaves | static_cast<u32>(exits_.size() - 1);
    }
    return run_from({origin::kind::link, l.color, p, l.router}, lane_at(router_at(next), l.color, opposite(p)), actor);
  }
  static u32 order_of(ports to, port p) {
    u32 n = 0;
    for (port q : every_port) {
      if (q == p) break;
      n += to.has(q);
    }
    return n;
  }

  void add_source(const stream_record& s, coord c) {
    const u32 actor = first_source_actor() + static_cast<u32>(sources_.size());
    lane* l = lane_at(router_at(c), s.color, s.side);
    const u32 entry = run_from({origin::kind::host, static_cast<u8>(s.color), s.side, router_at(c)}, l, actor);
    sources_.push_back({entry, static_cast<u8>(s.color), c});
  }

  // ---- running ---------------------------------------------------------------------------------------------------------------

  std::span<const u32> targets_of(const lane& l) const {
    return {l.how.targets == 1 ? &l.how.target : targets_.data() + l.how.first, l.how.targets};
  }

  // 0 if the lane's word can move now; else when to look again, never if another actor will say so.
  u64 blocked_until(const lane& l, u32 used, u64 now) {
    if (l.how.ports & used) {
      ++link_stalls;
      return now + 1;
    }
    u64 free = 0;
    for (u32 q : targets_of(l))
      if (!(q & leaves)) free = std::max(free, through.room_at(through[q]));
    return free <= now ? 0 : free;
  }

  void move(const lane& l, pipe& in, u64 now) {
    const u32 bits = through.first_bits(in);
    const bool control = through.first_is_control(in);
    through.take(in, now);
    for (u32 q : targets_of(l)) {
      if (q & leaves) {
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

  const layout* plan_;
  region grid_;
  agenda* when_;
  u32 first_board_actor_;
  flat_vector<u32> first_node_, first_lane_;
  flat_vector<node> nodes_;
  flat_vector<lane> lanes_;
  flat_vector<board> boards_;
  flat_vector<u32> targets_;
  flat_vector<origin> origins_;
  flat_vector<source> sources_;
  flat_vector<exit> exits_;
};

}  // namespace wsl::engines
