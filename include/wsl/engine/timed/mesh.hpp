// SPDX-License-Identifier: MIT
// The mesh of the timed engine moves words over the routers and links that mesh_builder.hpp has built. The
// words of a virtual channel go to its targets; if the router has a switch, the switch decides for each word.
// The page docs/engines/timed.md draws the path of a word.
#pragma once
#include "mesh_builder.hpp"
#include "trace_recorder.hpp"

namespace wsl::engines {

class mesh {
 public:
  static constexpr u32 none = mesh_topology::none;

  mesh(mesh_topology& built, pipe_store& all, event_queue& events)
      : through(all, events), events_(events), topology_(built) {}

  pipes through;

  /// The counts of a run.
  struct transport {
    u64 hops = 0, delivered = 0;
    u64 end = 0;  ///< the end of the last cycle in which a word moved
  };
  transport done;
  u64 link_stalls = 0;  ///< cycles in which a word that could move found its port taken by another color
  trace_recorder* traced = nullptr;  ///< the record of the links that words cross, or null

  const mesh_topology& topology() const { return topology_; }
  u32 router_at(coord c) const { return topology_.channels.router_at(c); }
  coord coord_of(u32 router) const { return topology_.channels.coord_of(router); }
  /// The nodes of a router in the order of their colors.
  std::span<channel_node> nodes_of(u32 router) { return topology_.channels.nodes_of(router); }
  channel_node* node_of(u32 router, int color) { return topology_.channels.node_of(router, color); }
  /// The pipe from which a PE takes a color; the empty pipe if no path ends there.
  u32 down_pipe(u32 router, int color) {
    const channel_node* n = node_of(router, color);
    return n && n->down != none ? n->down : mesh_topology::empty_pipe;
  }
  /// The switch of a color at a router, null if the route never changes.
  timed_switch* switch_of(u32 router, int color) {
    const channel_node* n = node_of(router, color);
    return n && n->router_switch != none ? &topology_.switches[n->router_switch] : nullptr;
  }
  /// The switch that does not take the words of a pipe in its present position, or null.
  const timed_switch* switch_before(const pipe& in) const {
    if (in.targets > 0) return nullptr;
    const switched_channel& vc = topology_.switched_channels[in.target];
    const timed_switch& s = topology_.switches[vc.router_switch];
    return s.way.takes(vc.from) ? nullptr : &s;
  }
  mesh_topology::exit& exit_of(coord c, int color) { return topology_.exit_of(c, color); }

  /// Calls use(coord, color, pipe) for every pipe that ends at an arbiter.
  template <class Use>
  void each_virtual_channel(Use use) const {
    for (const arbiter& a : topology_.arbiters)
      for (u32 k = a.first; k < a.first + a.channels; ++k)
        use(coord_of(a.router), through[k].color, through[k]);
  }
  /// Calls use(pipe, color, side) for the numbers of the pipes that bring words to a router from its
  /// neighbors or from the host, with the side by which they come in.
  template <class Use>
  void each_link_into(u32 router, Use use) const {
    const arbiter* a = std::lower_bound(topology_.arbiters.begin(), topology_.arbiters.end(), router,
                                        [](const arbiter& b, u32 r) { return b.router < r; });
    for (; a != topology_.arbiters.end() && a->router == router; ++a)
      for (u32 k = a->first; k < a->first + a->channels; ++k) {
        const mesh_topology::origin& from = topology_.origins[k];
        if (from.what == mesh_topology::origin::kind::from_pe ||
            from.what == mesh_topology::origin::kind::to_pe)
          continue;
        port side = from.side;
        each_link(k, [&](u32, port through_side) { side = opposite(through_side); });
        use(k, int{through[k].color}, side);
      }
  }
  /// Calls use(router, side) for the links between routers that a pipe runs over, one after the other.
  template <class Use>
  void each_link(u32 pipe, Use use) const {
    topology_.each_link(pipe, through[pipe].links, use);
  }

  /// A PE opens a switch that was torn down.
  void reopen(u32 router, int color, const path_record& how, u64 now) {
    timed_switch& s = *switch_of(router, color);
    s.open(*topology_.plan, coord_of(router), how, now);
    events_.note(s.arbiter, now + 1);
  }
  /// Words go on at once as long as all routers that they come to, and the neighbors of these, have lines
  /// from `first` on, before `end`.
  void stay_within(int first, int end) {
    first_inner_ = first + 1;
    inner_ = static_cast<u32>(end - first - 2);
  }
  void stay_nowhere() { first_inner_ = 0, inner_ = ~u32{0}; }
  /// One cycle of an arbiter, or several if their outcome is certain.
  [[gnu::always_inline]] void step(u32 actor, u64 now) {
    arbiter& a = topology_.arbiter_of(actor);
    switch (a.what) {
      case arbiter::kind::alone: return step_alone(a, actor, now);
      case arbiter::kind::straight:
      case arbiter::kind::merging: return step_one_port(a, actor, now);
      case arbiter::kind::forking: return step_in_turn<false>(a, actor, now);
      case arbiter::kind::switched: return step_in_turn<true>(a, actor, now);
      case arbiter::kind::ranked: return step_in_turn<true, true>(a, actor, now);
    }
  }

  /// Puts a word into a pipe, from which it can be taken from `ready` on. The word moves on at once as far as
  /// no event that is not known yet can delay it.
  void send(u32 into, const wavelet& w, u64 ready) {
    traced         ? send_on<true, false>(into, w, ready)
    : has_bounds() ? send_on<false, true>(into, w, ready)
                   : send_on<false, false>(into, w, ready);
  }

 private:
  static constexpr u32 off_grid = mesh_topology::off_grid;

  // ---- words that go on at once -----------------------------------------------------------------

  // Outside of windows all routers are inner ones, and a word asks at none of them.
  bool has_bounds() const { return inner_ != ~u32{0}; }
  template <bool bounded>
  bool is_inner(const arbiter& a) const {
    return !bounded || static_cast<u32>(a.line - first_inner_) < inner_;
  }
  template <bool watched, bool bounded>
  void send_on(u32 into, const wavelet w, u64 ready) {
    const u64 now = events_.now();
    u64 hops = 0, delivered = 0, left = 0;
    pipe* in = &through[into];
    if (watched && topology_.enters(into)) traced->entered(into, ready - in->latency);
    for (;;) {
      if (!watched && !w.control) flow<bounded>(in, w.bits, ready, now, hops, delivered, left);
      hops += in->links;
      if (in->to_pe) [[unlikely]] {
        through.deliver(*in, w.bits, w.control, ready);
        ++delivered;
        break;
      }
      arbiter& a = topology_.arbiter_of(in->reader);
      u64 at = event_queue::never;
      u32 next = none;
      if (!is_inner<bounded>(a)) [[unlikely]] {
        if (in->wakes == pipe::wake_policy::never && in->empty()) events_.note(in->reader, ready);
      } else if (a.what == arbiter::kind::alone) {
        if (in->empty()) at = leaves_alone(a, in->reader, ready, now), next = a.next;
      } else if (a.what == arbiter::kind::straight && passes_at_once(a, *in, ready, now)) {
        at = ready, next = in->target;
      }
      if (at == event_queue::never) {
        through.put(*in, w.bits, w.control, ready);
        break;
      }
      through.cross(*in, ready, at);
      left = at + 1;
      if (a.down != none)
        through.deliver(through[a.down], w.bits, w.control, at + through[a.down].latency), ++delivered;
      if (watched && a.down != none) traced->crossed(a.down, at, w);
      if (a.others) [[unlikely]]
        send_to_others(a, w, at);
      if (next == none) break;
      if (watched) traced->crossed(next, at, w);
      in = &through[next];
      ready = at + in->latency;
    }
    done.hops += hops, done.delivered += delivered;
    done.end = std::max(done.end, left);
  }
  // Moves a data word through all routers ahead that have no other traffic, or whose virtual channels share
  // all their links, as long as the PEs there take their copies at times that are certain.
  template <bool bounded>
  [[gnu::always_inline]] void flow(pipe*& in, u32 bits, u64& ready, u64 now, u64& hops, u64& delivered,
                                   u64& left) {
    u64 copies = 0;
    while (!in->to_pe && in->empty()) {
      arbiter& a = topology_.arbiter_of(in->reader);
      if (!is_inner<bounded>(a)) [[unlikely]]
        break;
      u64 at = ready;
      u32 to = a.next;
      if (a.what == arbiter::kind::straight) {
        if (!passes_at_once(a, *in, ready, now)) break;
        to = in->target;
      } else if (!a.flows) {
        break;
      } else {
        at = std::max(std::max(ready, a.free_from), through[to].room);
        if (at == event_queue::never) break;
        if (a.down != none) {
          pipe& down = through[a.down];
          steady_reader* const reader = through.certain_reader_of(down);
          if (!reader) break;
          at = std::max(at, down.room);
          through.deliver_for_certain(down, *reader, bits, at + down.latency);
          ++copies;
        }
        a.free_from = at + 1;
      }
      through.cross(*in, ready, at);
      hops += in->links;
      left = at + 1;
      in = &through[to];
      ready = at + in->latency;
    }
    through.more_inside(copies);
    delivered += copies;
  }

  // ---- arbiters of one virtual channel ----------------------------------------------------------

  // The channel shares no port, so the words that have arrived leave it at times that nothing can change any
  // more.
  void step_alone(arbiter& a, u32 actor, u64 now) {
    pipe& in = through[a.first];
    while (!in.empty()) {
      const u64 at = leaves_alone(a, actor, std::max(now, in.ready), now);
      if (at == event_queue::never) return;
      const wavelet w = first_of(in);
      through.take(in, at);
      done.end = std::max(done.end, at + 1);
      if (a.down != none) arrive(a.down, w, at);
      if (a.others) [[unlikely]]
        send_to_others(a, w, at);
      if (a.next != none) arrive(a.next, w, at);
    }
  }
  // The time at which the next word leaves such a channel, if it can be taken from `ready` on; `never` if
  // that is not known yet.
  [[gnu::always_inline]] u64 leaves_alone(arbiter& a, u32 actor, u64 ready, u64 now) {
    u64 free = a.others ? room_for(through[a.first]) : 0;
    if (a.down != none) free = std::max(free, through.room_at(through[a.down]));
    if (a.next != none) free = std::max(free, through.room_at(through[a.next]));
    if (free > now) [[unlikely]] {
      if (free == event_queue::never) return free;
      if (a.down != none && through.may_be_revised(through[a.down])) {
        // not before the word is here: in a window, a thread may have simulated this router up to then
        events_.note(actor, std::max(free, ready));
        return event_queue::never;
      }
    }
    const u64 at = std::max({a.free_from, ready, free});
    a.free_from = at + 1;
    return at;
  }
  [[gnu::noinline]] void send_to_others(const arbiter& a, const wavelet& w, u64 at) {
    for (u32 target : targets_of(through[a.first]))
      if (target != a.down && target != a.next) arrive(target, w, at);
  }

  // ---- arbiters of one output port --------------------------------------------------------------

  // Whether a word of a straight arbiter leaves in the cycle in which it arrives: its input port brings one
  // word a cycle, so a word that finds no other here, and room in the next pipe, need not wait.
  [[gnu::always_inline]] bool passes_at_once(arbiter& a, const pipe& in, u64 ready, u64 now) {
    const pipe& out = through[in.target];
    if (out.room > ready || (out.room > now && through.may_be_revised(out))) return false;
    const pipe* const inputs = &through[a.first];
    for (u32 k = 0; k < a.channels; ++k)
      if (!inputs[k].empty()) return false;
    const auto next = static_cast<u32>(&in - inputs) + 1;
    a.turn = static_cast<u8>(next == a.channels ? 0 : next);
    return true;
  }

  // One word a cycle; each virtual channel has one target.
  void step_one_port(arbiter& a, u32 actor, u64 now) {
    if (traced) [[unlikely]]
      return step_in_turn<false>(a, actor, now);
    pipe* const inputs = &through[a.first];
    const u32 n = a.channels;
    u32 k = a.turn, moved = none;
    u64 next = event_queue::never;
    for (u32 left = n; left > 0; --left) {
      pipe& in = inputs[k];
      u64 again = in.ready;
      if (++k == n) k = 0;
      if (again <= now) {
        if (moved != none) ++link_stalls, again = next_of(in, now);
        else if (pass_on(in, now)) moved = k, again = next_of(in, now);
        else again = through.room_at(through[in.target]);
      }
      if (again < next) next = again;
    }
    if (next != event_queue::never) events_.note(actor, next);
    if (moved == none) return;
    a.turn = static_cast<u8>(moved);
    done.end = std::max(done.end, now + 1);
  }
  [[gnu::always_inline]] bool pass_on(pipe& in, u64 now) {
    if (through[in.target].room > now) return false;
    move_to_target(in, now);
    return true;
  }
  // Moves the first word of a channel with one target.
  [[gnu::always_inline]] void move_to_target(pipe& in, u64 now) {
    const u32 to = in.target;
    pipe& out = through[to];
    if (out.empty() && !out.to_pe) {
      const wavelet w = first_of(in);
      through.take(in, now);
      return send(to, w, now + out.latency);
    }
    through.pass(in, out, now);
    done.hops += out.links;
    done.delivered += out.to_pe;
  }
  // The time from which the next word of a channel may leave it, if it does not leave in this cycle. It is
  // certain because only the channel's own arbiter fills the next pipe.
  [[gnu::always_inline]] u64 next_of(const pipe& in, u64 now) {
    return in.empty() ? event_queue::never
                      : std::max({in.ready, now + 1, through.room_at(through[in.target])});
  }

  // ---- arbiters of several output ports ---------------------------------------------------------

  template <bool switches, bool ranked = false>
  void step_in_turn(arbiter& a, u32 actor, u64 now) {
    pipe* const first = &through[a.first];
    pipe* const last = first + a.channels;
    const auto after = [=](pipe* in) { return in + 1 == last ? first : in + 1; };
    pipe* candidate = first + a.turn;
    u32 used = 0;
    u64 next = event_queue::never;
    bool moved = false;
    for (u32 left = ranked ? 3u * a.channels : a.channels, n = 0; n < left;
         ++n, candidate = after(candidate)) {
      if (ranked && topology_.rank_of(a.first + static_cast<u32>(candidate - first)) !=
                        1 - static_cast<int>(n / a.channels))
        continue;
      pipe& in = *candidate;
      const bool switched = switches && in.targets == 0;
      const u64 ready = switched ? ready_at_switch(in) : in.ready;
      if (ready > now) {
        next = std::min(next, ready);
        continue;
      }
      const ports to = switched ? outputs(in) : ports_of(in);
      if ((to.bits & used) || (switched && switch_after(in).passed == now)) {
        ++link_stalls;
        next = now + 1;
      } else if (const u64 free = switched ? room_behind_switch(in, to) : room_for(in); free > now) {
        next = std::min(next, free);
      } else {
        if (!moved) a.turn = static_cast<u8>(after(candidate) - first);
        moved = true;
        used |= to.bits;
        switched ? pass_switch(in, now) : move(in, now);
        next = switched ? now + 1 : std::min(next, std::max(in.ready, now + 1));
      }
    }
    if (next != event_queue::never) events_.note(actor, next);
    if (moved) done.end = std::max(done.end, now + 1);
  }
  static ports ports_of(const pipe& in) {
    ports to;
    to.bits = in.ports;
    return to;
  }

  // ---- switches ---------------------------------------------------------------------------------

  const switched_channel& switched_channel_of(const pipe& in) const {
    return topology_.switched_channels[in.target];
  }
  timed_switch& switch_after(const pipe& in) {
    return topology_.switches[switched_channel_of(in).router_switch];
  }
  wavelet first_of(const pipe& in) const {
    return {through.first_bits(in), in.color, through.first_is_control(in)};
  }
  ports outputs(const pipe& in) { return switch_after(in).way.outputs(first_of(in)); }
  u64 ready_at_switch(const pipe& in) {
    return std::max(in.ready, switch_after(in).takes_from(switched_channel_of(in).from));
  }
  u64 room_behind_switch(const pipe& in, ports to) {
    u64 free = 0;
    for (port p : every_port)
      if (const u32 target = switched_channel_of(in).to[index_of(p)]; to.has(p) && !(target & off_grid))
        free = std::max(free, through.room_at(through[target]));
    return free;
  }
  // The PE receives a control wavelet as it arrived, the next router as this router has rewritten it.
  void pass_switch(pipe& in, u64 now) {
    timed_switch& s = switch_after(in);
    const wavelet w = first_of(in);
    const ports to = s.way.outputs(w);
    const wavelet passed_on = s.way.pass(w);
    through.take(in, now);
    for (port p : every_port)
      if (to.has(p)) arrive(switched_channel_of(in).to[index_of(p)], p == ramp ? w : passed_on, now);
    s.passed = now;
    if (!s.way.closed() || s.pe == timed_switch::none) return;
    s.heard_from = now + static_cast<u64>(topology_.plan->machine().ramp_latency);
    events_.note(s.pe, s.heard_from);
  }

  // ---- words ------------------------------------------------------------------------------------

  static bool has_one_target(const pipe& in) { return in.targets == 1 && !(in.target & off_grid); }
  std::span<const u32> targets_of(const pipe& in) const {
    return {in.targets == 1 ? &in.target : topology_.targets.data() + in.target, in.targets};
  }

  // The time from which all targets have room; `never` if another actor will wake this one when they have.
  u64 room_for(const pipe& in) {
    if (has_one_target(in)) [[likely]]
      return through.room_at(through[in.target]);
    u64 free = 0;
    for (u32 target : targets_of(in))
      if (!(target & off_grid)) free = std::max(free, through.room_at(through[target]));
    return free;
  }

  [[gnu::always_inline]] void move(pipe& in, u64 now) {
    if (!has_one_target(in) || traced) [[unlikely]]
      return fork(in, now);
    move_to_target(in, now);
  }
  [[gnu::noinline]] void fork(pipe& in, u64 now) {
    const wavelet w = first_of(in);
    for (u32 target : targets_of(in)) arrive(target, w, now);
    through.take(in, now);
  }
  [[gnu::always_inline]] void arrive(u32 target, const wavelet& w, u64 now) {
    if (target & off_grid) [[unlikely]]
      return leave(target & ~off_grid, w.bits);
    if (traced) [[unlikely]]
      traced->crossed(target, now, w);
    send(target, w, now + through[target].latency);
  }
  [[gnu::noinline]] void leave(u32 exit, u32 bits) {
    topology_.exits[exit].words.push(bits);
    ++done.hops, ++done.delivered;
  }

  event_queue& events_;
  mesh_topology& topology_;
  i32 first_inner_ = 0;  // the first line at whose routers words may go on at once ...
  u32 inner_ = ~u32{0};  // ... and how many there are
};

}  // namespace wsl::engines
