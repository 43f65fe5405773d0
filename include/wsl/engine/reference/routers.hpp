// SPDX-License-Identifier: MIT
// The routers of a layout, simulated hop by hop. Every color that passes a PE has a virtual channel there,
// with one bounded queue for each input port; every queue knows the router that fills it and the router that
// empties it. A wavelet crosses one link a cycle; a link carries one wavelet a cycle, whatever its color; a
// multicast moves when all its outputs have room. If several wavelets want one link, the number of the cycle
// decides whose turn it is, which defines the order of merges. If a color has a switch, wavelets from a port
// that its position does not take wait, and control wavelets change the position after they have passed.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../pe_core.hpp"
#include "../resolved_routes.hpp"
#include "../router_switch.hpp"

namespace wsl::engines {

class routers {
 public:
  static constexpr u32 none = ~u32{0};

  /// A bounded queue in the arena, between the router or processor that fills it and the one that empties it.
  struct queue {
    u32 first = 0;
    u16 capacity = 0, head = 0, size = 0;
    u32 filled_by = none, emptied_by = none;  ///< routers by their place on the grid
    bool room() const { return size < capacity; }
  };

  struct virtual_channel {
    u8 color = 0;
    route how;
    u32 router_switch = none;  ///< the index of its switch, which then decides instead of `how`
    /// queues by input port; in[0] is the output queue of the processor
    u32 in[5] = {none, none, none, none, none};
    /// queues by output port; out[0] is the input queue of the processor
    u32 out[5] = {none, none, none, none, none};
  };

  /// `image_at(coord)` returns the program of the PE there, null if there is none.
  routers(const layout& plan, const auto& image_at) : plan_(plan), switched_(plan), grid_(plan.grid()) {
    place_channels(plan);
    const machine& m = plan.machine();
    for (std::size_t r = 0; r + 1 < first_channel_.size(); ++r) {
      const program_image* image = image_at(coord_of(static_cast<u32>(r)));
      for (virtual_channel& l : virtual_channels_of(static_cast<u32>(r))) {
        const route every = every_route(static_cast<u32>(r), l);
        for (port p : every_port)
          if (every.from.has(p))
            l.in[index_of(p)] =
                add_queue(p == ramp && image ? output_depth(*image, m, l.color) : m.router_depth, none,
                          static_cast<u32>(r));
        if (every.to.has(ramp))
          l.out[0] = add_queue(image ? input_depth(*image, m, l.color) : 1, static_cast<u32>(r), none);
      }
    }
    connect(plan);
    arena_.resize(arena_size_);
    awake_flag_.resize(first_channel_.size());
  }

  u32 router_at(coord c) const { return static_cast<u32>(grid_.rank(c)); }
  coord coord_of(u32 router) const { return grid_.nth(static_cast<int>(router)); }

  std::span<virtual_channel> virtual_channels_of(u32 router) {
    return {channels_.data() + first_channel_[router], channels_.data() + first_channel_[router + 1]};
  }
  virtual_channel* virtual_channel_of(coord c, int color) {
    for (virtual_channel& l : virtual_channels_of(router_at(c)))
      if (l.color == color) return &l;
    return nullptr;
  }

  /// The switch of a virtual channel, null if its route never changes.
  router_switch* switch_of(const virtual_channel& l) {
    return l.router_switch == none ? nullptr : &switches_[l.router_switch];
  }
  bool takes(const virtual_channel& l, port p) const {
    return l.router_switch == none ? l.how.from.has(p) : switches_[l.router_switch].takes(p);
  }

  const queue& operator[](u32 q) const { return queues_[q]; }
  const wavelet& front(u32 q) const { return arena_[queues_[q].first + queues_[q].head]; }
  /// Calls use(wavelet) for the words of a queue, oldest first.
  template <class Use>
  void each_word(u32 q, Use use) const {
    const queue& k = queues_[q];
    for (u32 i = 0; i < k.size; ++i) use(arena_[k.first + (u32{k.head} + i) % k.capacity]);
  }
  void push(u32 q, wavelet w) {
    queue& k = queues_[q];
    arena_[k.first + (u32{k.head} + k.size++) % k.capacity] = w;
    wake(k.emptied_by);
  }
  void pop(u32 q) {
    queue& k = queues_[q];
    k.head = static_cast<u16>((k.head + 1) % k.capacity);
    --k.size;
    wake(k.filled_by);
  }
  void wake(u32 router) {
    if (router == none || awake_flag_[router]) return;
    awake_flag_[router] = 1;
    awake_.push_back(router);
  }
  bool idle() const { return awake_.empty(); }

  /// One cycle: every wavelet that can move does. Calls delivered(router, wavelet, color) for wavelets that
  /// reach a processor, accepted(router) when an output queue of a processor gets room, left(router, port,
  /// wavelet) at the grid's edge, and torn_down(router, color) when a command has closed a color.
  template <class Delivered, class Accepted, class Left, class TornDown>
  u64 step(u64 cycle, Delivered delivered, Accepted accepted, Left left, TornDown torn_down) {
    now_.swap(awake_);
    awake_.clear();
    for (u32 r : now_) awake_flag_[r] = 0;
    moves_.clear();
    for (u32 r : now_) choose(r, cycle);  // all choices see the state at the start of the cycle
    u64 hops = 0;
    for (const move& m : moves_) hops += carry_out(m, delivered, accepted, left, torn_down);
    return hops;
  }

 private:
  struct move {
    u32 router, virtual_channel, port;
    ports to;
  };

  void place_channels(const layout& plan) {
    first_channel_.assign(static_cast<std::size_t>(grid_.count()) + 1, 0);
    const auto each = [&](auto use) {
      for (const path_record& p : plan.paths())
        for (int i = 0; i < p.where.count() && p.phase == 0; ++i) use(router_at(p.where.nth(i)), p);
    };
    each([&](u32 r, const path_record&) { ++first_channel_[r + 1]; });
    for (std::size_t r = 1; r < first_channel_.size(); ++r) first_channel_[r] += first_channel_[r - 1];
    channels_.resize(first_channel_.back());
    std::vector<u32> next(first_channel_.begin(), first_channel_.end() - 1);
    each([&](u32 r, const path_record& p) {
      virtual_channel& l = channels_[next[r]++];
      l.color = static_cast<u8>(p.color);
      l.how = p.how;
      if (!switched_.has(p)) return;
      l.router_switch = static_cast<u32>(switches_.size());
      switches_.push_back({plan, coord_of(r), p});
    });
  }

  // All ports that a virtual_channel ever uses.
  route every_route(u32 r, const virtual_channel& l) const {
    return l.router_switch == none ? l.how : plan_.route_at(coord_of(r), l.color);
  }

  u32 add_queue(int capacity, u32 filled_by, u32 emptied_by) {
    queues_.push_back({arena_size_, static_cast<u16>(capacity), 0, 0, filled_by, emptied_by});
    arena_size_ += static_cast<u32>(capacity);
    return static_cast<u32>(queues_.size() - 1);
  }

  // Connects the queues of neighbours: a word that leaves through a side of one router enters its neighbour
  // by the opposite side.
  void connect(const layout& plan) {
    for (u32 r = 0; r + 1 < first_channel_.size(); ++r)
      for (virtual_channel& l : virtual_channels_of(r))
        for (port side : every_side) {
          const coord next = coord_of(r) + wsl::step(side);
          if (!every_route(r, l).to.has(side) || !plan.has(next)) continue;
          virtual_channel* other = virtual_channel_of(next, color_behind(plan, coord_of(r), l.color, side));
          l.out[index_of(side)] = other->in[index_of(opposite(side))];
          queues_[l.out[index_of(side)]].filled_by = r;
        }
  }

  ports outputs_of(const virtual_channel& l, const wavelet& w) const {
    return l.router_switch == none ? l.how.to : switches_[l.router_switch].outputs(w);
  }

  bool can_move(const virtual_channel& l, ports to, u8 used) const {
    if (to.bits & used) return false;
    for (port p : every_port) {
      const u32 q = l.out[index_of(p)];
      if (to.has(p) && q != none && !queues_[q].room()) return false;
    }
    return true;
  }

  void choose(u32 r, u64 cycle) {
    const auto virtual_channels = virtual_channels_of(r);
    u8 used = 0;
    for (std::size_t k = 0; k < virtual_channels.size(); ++k) {
      const std::size_t turn = (k + cycle) % virtual_channels.size();
      const virtual_channel& l = virtual_channels[turn];
      for (u32 i = 0; i < 5; ++i) {
        const u32 p = static_cast<u32>((i + cycle) % 5);
        if (l.in[p] == none || queues_[l.in[p]].size == 0 || !takes(l, every_port[p])) continue;
        const ports to = outputs_of(l, front(l.in[p]));
        if (!can_move(l, to, used)) continue;
        used = static_cast<u8>(used | to.bits);
        moves_.push_back({r, static_cast<u32>(turn), p, to});
        if (l.router_switch != none) break;  // this wavelet may change the route of the next
      }
    }
  }

  template <class Delivered, class Accepted, class Left, class TornDown>
  u64 carry_out(const move& m, Delivered delivered, Accepted accepted, Left left, TornDown torn_down) {
    const virtual_channel& l = virtual_channels_of(m.router)[m.virtual_channel];
    const u32 from = l.in[m.port];
    const wavelet w = front(from);
    const wavelet on = l.router_switch == none ? w : switches_[l.router_switch].pass(w);
    pop(from);
    if (m.port == 0) accepted(m.router);
    wake(m.router);
    u64 hops = 0;
    for (port p : every_port) {
      if (!m.to.has(p)) continue;
      const u32 q = l.out[index_of(p)];
      hops += p != ramp;
      if (q == none) left(m.router, p, wavelet{on.bits, l.color, on.control});
      else push(q, p == ramp ? w : on);
      if (p == ramp) delivered(m.router, w, l.color);
    }
    if (l.router_switch != none && switches_[l.router_switch].closed()) torn_down(m.router, l.color);
    return hops;
  }

  const layout& plan_;
  switched_paths switched_;
  region grid_;
  std::vector<router_switch> switches_;
  // the virtual_channels of router r stand from first_channel_[r] to first_channel_[r + 1]
  std::vector<u32> first_channel_;
  std::vector<virtual_channel> channels_;
  std::vector<queue> queues_;
  std::vector<wavelet> arena_;
  u32 arena_size_ = 0;
  std::vector<u32> awake_, now_;
  std::vector<u8> awake_flag_;
  std::vector<move> moves_;
};

}  // namespace wsl::engines
