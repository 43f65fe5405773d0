// SPDX-License-Identifier: MIT
// The routers of the timed engine at work. A arbiter lets at most one word a cycle through each port. Where
// words go from a virtual_channel is the virtual_channel's course, its ports and pipes; where a router has a
// gate, each word's course is the gate's to say.
#pragma once
#include "../diagnose/timeline.hpp"
#include "mesh_parts.hpp"

namespace wsl::engines {

class mesh : public mesh_parts {
 public:
  using mesh_parts::mesh_parts;

  /// Of a run.
  struct transport {
    u64 hops = 0, delivered = 0;
    u64 end = 0;  ///< of the last cycle in which a word moved
  };
  transport done;
  /// cycles in which a word that could move found its port taken by another color
  u64 link_stalls = 0;
  timeline* traced = nullptr;  ///< who wants to know, if anybody

  /// A PE opens a gate that is closed.
  void reopen(u32 router, int color, const path_record& how, u64 now) {
    timed_switch& g = *switch_of(router, color);
    g.open(*plan_, coord_of(router), how, now);
    when_->note(g.arbiter, now + 1);
  }
  /// One cycle of a arbiter; more where that can be told.
  [[gnu::always_inline]] void step(u32 actor, u64 now) {
    arbiter& b = arbiters_[actor - first_arbiter_actor_];
    switch (b.what) {
      case arbiter::kind::alone: return step_alone(b, actor, now);
      case arbiter::kind::road:
      case arbiter::kind::link: return step_link(b, actor, now);
      case arbiter::kind::shared: return step_in_turn<false>(b, actor, now);
      case arbiter::kind::changing: return step_in_turn<true>(b, actor, now);
      case arbiter::kind::ranked: return step_in_turn<true, true>(b, actor, now);
    }
  }

  /// A word comes into a pipe and can be taken from it from `ready` on. It goes on at once, as far as nothing
  /// that is not known yet can come in its way.
  void send(u32 into, const wavelet& w, u64 ready) {
    traced ? send_on<true>(into, w, ready) : send_on<false>(into, w, ready);
  }

 private:
  template <bool watched>
  void send_on(u32 into, const wavelet w, u64 ready) {
    const u64 now = when_->now();
    u64 hops = 0, delivered = 0, left = 0;
    pipe* in = &through[into];
    for (;;) {
      if (!watched && !w.control) flow(in, w.bits, ready, now, hops, delivered, left);
      hops += in->links;
      if (in->to_pe) [[unlikely]] {
        through.deliver(*in, w.bits, w.control, ready);
        ++delivered;
        break;
      }
      arbiter& b = arbiters_[in->reader - first_arbiter_actor_];
      u64 at = event_queue::never;
      u32 next = none;
      if (b.what == arbiter::kind::alone) {
        if (in->empty()) at = leaves_alone(b, in->reader, ready, now), next = b.on;
      } else if (b.what == arbiter::kind::road && passes_at_once(b, *in, ready, now)) {
        at = ready, next = in->target;
      }
      if (at == event_queue::never) {
        through.put(*in, w.bits, w.control, ready);
        break;
      }
      through.cross(*in, ready, at);
      left = at + 1;
      if (b.down != none)
        through.deliver(through[b.down], w.bits, w.control, at + through[b.down].latency), ++delivered;
      if (watched && b.down != none) traced->crossed(b.down, at);
      if (b.others) [[unlikely]]
        send_to_others(b, w, at);
      if (next == none) break;
      if (watched) traced->crossed(next, at);
      in = &through[next];
      ready = at + in->latency;
    }
    done.hops += hops, done.delivered += delivered;
    done.end = std::max(done.end, left);
  }
  // Through as many routers as do nothing else, or whose virtual_channels share all their links, where all
  // that comes after is certain.
  [[gnu::always_inline]] void flow(pipe*& in, u32 bits, u64& ready, u64 now, u64& hops, u64& delivered,
                                   u64& left) {
    u64 copies = 0;
    while (!in->to_pe && in->empty()) {
      arbiter& b = arbiters_[in->reader - first_arbiter_actor_];
      u64 at = ready;
      u32 to = b.on;
      if (b.what == arbiter::kind::road) {
        if (!passes_at_once(b, *in, ready, now)) break;
        to = in->target;
      } else if (!b.flows) {
        break;
      } else {
        at = std::max(std::max(ready, b.free_from), through[to].room);
        if (at == event_queue::never) break;
        if (b.down != none) {
          pipe& down = through[b.down];
          steady_reader* const r = through.certain_reader_of(down);
          if (!r) break;
          at = std::max(at, down.room);
          through.deliver_for_certain(down, *r, bits, at + down.latency);
          ++copies;
        }
        b.free_from = at + 1;
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

  // A virtual_channel that shares nothing: the words that have come leave at times that nobody can change any
  // more.
  void step_alone(arbiter& b, u32 actor, u64 now) {
    pipe& in = through[b.first];
    while (!in.empty()) {
      const u64 at = leaves_alone(b, actor, std::max(now, in.ready), now);
      if (at == event_queue::never) return;
      const wavelet w = first_of(in);
      through.take(in, at);
      done.end = std::max(done.end, at + 1);
      if (b.down != none) arrive(b.down, w, at);
      if (b.others) [[unlikely]]
        send_to_others(b, w, at);
      if (b.on != none) arrive(b.on, w, at);
    }
  }
  // When the next word leaves a virtual_channel that is alone, if it can be taken from `ready` on; never if
  // that is not known yet.
  [[gnu::always_inline]] u64 leaves_alone(arbiter& b, u32 actor, u64 ready, u64 now) {
    u64 free = b.others ? room_for(through[b.first]) : 0;
    if (b.down != none) free = std::max(free, through.room_at(through[b.down]));
    if (b.on != none) free = std::max(free, through.room_at(through[b.on]));
    if (free > now) [[unlikely]] {
      if (free == event_queue::never) return free;
      if (b.down != none && through.foretold(through[b.down])) {
        when_->note(actor, free);
        return event_queue::never;
      }
    }
    const u64 at = std::max({b.free_from, ready, free});
    b.free_from = at + 1;
    return at;
  }
  [[gnu::noinline]] void send_to_others(const arbiter& b, const wavelet& w, u64 at) {
    for (u32 q : targets_of(through[b.first]))
      if (q != b.down && q != b.on) arrive(q, w, at);
  }

  // Lanes from one port into another: their words come one a cycle, so one that finds nobody here, and room
  // behind, leaves as it comes.
  [[gnu::always_inline]] bool passes_at_once(arbiter& b, const pipe& virtual_channel, u64 ready, u64 now) {
    const pipe& out = through[virtual_channel.target];
    if (out.room > ready || (out.room > now && through.foretold(out))) return false;
    const pipe* const virtual_channels = &through[b.first];
    for (u32 k = 0; k < b.virtual_channels; ++k)
      if (!virtual_channels[k].empty()) return false;
    const auto next = static_cast<u32>(&virtual_channel - virtual_channels) + 1;
    b.turn = static_cast<u8>(next == b.virtual_channels ? 0 : next);
    return true;
  }

  // Lanes that share one port: one word a cycle. Each has one pipe to go to.
  void step_link(arbiter& b, u32 actor, u64 now) {
    if (traced) [[unlikely]]
      return step_in_turn<false>(b, actor, now);
    pipe* const virtual_channels = &through[b.first];
    const u32 n = b.virtual_channels;
    u32 k = b.turn, moved = none;
    u64 next = event_queue::never;
    for (u32 left = n; left > 0; --left) {
      pipe& in = virtual_channels[k];
      u64 again = in.ready;
      if (++k == n) k = 0;
      if (again <= now) {
        if (moved != none) ++link_stalls, again = next_of(in, now);
        else if (pass_on(in, now)) moved = k, again = next_of(in, now);
        else again = through.room_at(through[in.target]);
      }
      if (again < next) next = again;
    }
    if (next != event_queue::never) when_->note(actor, next);
    if (moved == none) return;
    b.turn = static_cast<u8>(moved);
    done.end = std::max(done.end, now + 1);
  }
  [[gnu::always_inline]] bool pass_on(pipe& in, u64 now) {
    const pipe& out = through[in.target];
    if (out.room > now) return false;
    hand_on(in, now);
    return true;
  }
  // To the pipe that a virtual_channel goes to.
  [[gnu::always_inline]] void hand_on(pipe& in, u64 now) {
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
  // From when on the next word of a virtual_channel may leave it, if not in this cycle: only its arbiter
  // fills the pipe that it goes to.
  [[gnu::always_inline]] u64 next_of(const pipe& in, u64 now) {
    return in.empty() ? event_queue::never
                      : std::max({in.ready, now + 1, through.room_at(through[in.target])});
  }

  template <bool changing, bool ranked = false>
  void step_in_turn(arbiter& b, u32 actor, u64 now) {
    pipe* const first = &through[b.first];
    pipe* const last = first + b.virtual_channels;
    const auto after = [=](pipe* virtual_channel) {
      return virtual_channel + 1 == last ? first : virtual_channel + 1;
    };
    pipe* virtual_channel = first + b.turn;
    u32 used = 0;
    u64 next = event_queue::never;
    bool moved = false;
    for (u32 left = ranked ? 3u * b.virtual_channels : b.virtual_channels, n = 0; n < left;
         ++n, virtual_channel = after(virtual_channel)) {
      if (ranked && rank_of(b.first + static_cast<u32>(virtual_channel - first)) !=
                        1 - static_cast<int>(n / b.virtual_channels))
        continue;
      pipe& in = *virtual_channel;
      const bool gated = changing && in.targets == 0;
      const u64 ready = gated ? ready_at_gate(in) : in.ready;
      if (ready > now) {
        next = std::min(next, ready);
        continue;
      }
      const ports to = gated ? outputs(in) : ports_of(in);
      if ((to.bits & used) || (gated && gate_after(in).passed == now)) {
        ++link_stalls;
        next = now + 1;
      } else if (const u64 free = gated ? room_behind(in, to) : room_for(in); free > now) {
        next = std::min(next, free);
      } else {
        if (!moved) b.turn = static_cast<u8>(after(virtual_channel) - first);
        moved = true;
        used |= to.bits;
        gated ? pass_gate(in, now) : move(in, now);
        next = gated ? now + 1 : std::min(next, std::max(in.ready, now + 1));
      }
    }
    if (next != event_queue::never) when_->note(actor, next);
    if (moved) done.end = std::max(done.end, now + 1);
  }
  static ports ports_of(const pipe& in) {
    ports to;
    to.bits = in.ports;
    return to;
  }

  // ---- gates ------------------------------------------------------------------------------------

  timed_switch& gate_after(const pipe& in) { return switches_[switched_channels_[in.target].router_switch]; }
  wavelet first_of(const pipe& in) const {
    return {through.first_bits(in), in.color, through.first_is_control(in)};
  }
  ports outputs(const pipe& in) { return gate_after(in).way.outputs(first_of(in)); }
  u64 ready_at_gate(const pipe& in) {
    return std::max(in.ready, gate_after(in).takes_from(switched_channels_[in.target].from));
  }
  u64 room_behind(const pipe& in, ports to) {
    u64 free = 0;
    for (port p : every_port)
      if (const u32 q = switched_channels_[in.target].to[index_of(p)]; to.has(p) && !(q & leaves))
        free = std::max(free, through.room_at(through[q]));
    return free;
  }
  // The PE hears a control wavelet as it came, the next router as this one has left it.
  void pass_gate(pipe& in, u64 now) {
    timed_switch& g = gate_after(in);
    const wavelet w = first_of(in);
    const ports to = g.way.outputs(w);
    const wavelet on = g.way.pass(w);
    through.take(in, now);
    for (port p : every_port)
      if (to.has(p)) arrive(switched_channels_[in.target].to[index_of(p)], p == ramp ? w : on, now);
    g.passed = now;
    if (!g.way.closed() || g.pe == timed_switch::none) return;
    g.heard_from = now + static_cast<u64>(plan_->machine().ramp_latency);
    when_->note(g.pe, g.heard_from);
  }

  // ---- words ------------------------------------------------------------------------------------

  static bool goes_on(const pipe& in) { return in.targets == 1 && !(in.target & leaves); }

  // When all targets have room, never if another actor will say so.
  u64 room_for(const pipe& in) {
    if (goes_on(in)) [[likely]]
      return through.room_at(through[in.target]);
    u64 free = 0;
    for (u32 q : targets_of(in))
      if (!(q & leaves)) free = std::max(free, through.room_at(through[q]));
    return free;
  }

  [[gnu::always_inline]] void move(pipe& in, u64 now) {
    if (!goes_on(in) || traced) [[unlikely]]
      return fork(in, now);
    hand_on(in, now);
  }
  [[gnu::noinline]] void fork(pipe& in, u64 now) {
    const wavelet w = first_of(in);
    for (u32 q : targets_of(in)) arrive(q, w, now);
    through.take(in, now);
  }
  [[gnu::always_inline]] void arrive(u32 q, const wavelet& w, u64 now) {
    if (q & leaves) [[unlikely]]
      return leave(q & ~leaves, w.bits);
    if (traced) [[unlikely]]
      traced->crossed(q, now);
    send(q, w, now + through[q].latency);
  }
  [[gnu::noinline]] void leave(u32 k, u32 bits) {
    exits_[k].words.push(bits);
    ++done.hops, ++done.delivered;
  }
};

}  // namespace wsl::engines
