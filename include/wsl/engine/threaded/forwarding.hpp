// SPDX-License-Identifier: MIT
// What a thread does at a crossing that it visits: it sends on what its gate lets through, data in spans and control wavelets one by
// one, as far as all outputs have room. What the gate does not take stays in the inlets, and holds up its senders.
#pragma once
#include <cstring>

#include "../router_switch.hpp"
#include "transport.hpp"

namespace wsl::engines {

class forwarding {
 public:
  forwarding(traffic& words, band& b, const crossing& at, gate& way) : traffic_(words), band_(b), at_(at), way_(way) {}

  /// Sends on all that can move. Says whether a command has closed the gate.
  bool run(std::span<inlet> inlets, u64 first) {
    const bool was_closed = way_.closed();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < inlets.size(); ++k) moved |= forward(inlets[(first + k) % inlets.size()]);
    }
    return way_.closed() && !was_closed;
  }

 private:
  /// The channel of an output.
  channel& out(port p) {
    channel* c = traffic_.net.channels.data() + at_.first_channel;
    for (port q : every_port) {
      if (q == p) break;
      c += at_.outputs.has(q);
    }
    return *c;
  }

  bool forward(inlet& in) {
    if (!way_.takes(every_port[in.port]) || traffic_.available(in) == 0) return false;
    if (traffic_.control_first(band_, in)) return forward_control(in);
    return way_.uniform() ? forward_span(in) : forward_filtered(in);
  }

  /// How many of n words have room at all of these ports.
  u32 room(ports to, u32 n) {
    for (port p : every_port)
      if (to.has(p) && n > 0) n = traffic_.room(band_, out(p), n);
    return n;
  }

  bool forward_control(inlet& in) {
    const wavelet w{*traffic_.words_at(in), in.color, true};
    const ports to = way_.outputs(w);
    if (room(to, 1) == 0) return false;
    const wavelet on = way_.pass(w);
    for (port p : every_port)
      if (to.has(p)) traffic_.put_control(band_, out(p), p == ramp ? w.bits : on.bits), --band_.done.wavelets;
    --band_.done.delivered;
    traffic_.consume_control(band_, in);
    return true;
  }

  bool forward_span(inlet& in) {
    const ports to = way_.every_output();
    const u32 n = room(to, traffic_.readable(band_, in));
    for (port p : every_port)
      if (to.has(p)) write(p, traffic_.words_at(in), n);
    return took(in, n);
  }

  bool forward_filtered(inlet& in) {
    const u32* words = traffic_.words_at(in);
    const ports to = without_ramp(way_.every_output());
    u32 n = 0;
    for (const u32 most = room(to, traffic_.readable(band_, in)); n < most; ++n) {
      const wavelet w{words[n], in.color, false};
      const bool kept = way_.outputs(w).has(ramp);
      if (kept && traffic_.room(band_, out(ramp), 1) == 0) break;
      if (kept) write(ramp, &w.bits, 1);
      way_.pass(w);
    }
    for (port p : every_side)
      if (to.has(p)) write(p, words, n);
    return took(in, n);
  }
  static ports without_ramp(ports p) {
    p.bits = static_cast<u8>(p.bits & ~ports{ramp}.bits);
    return p;
  }

  // A crossing neither sends nor receives: what its channels and inlets count is taken back.
  void write(port p, const u32* words, u32 n) {
    channel& c = out(p);
    if (n > 0) std::memcpy(c.room(), words, n * sizeof(u32));
    c.move_to(c.next() + static_cast<int>(n));
    band_.done.wavelets -= n;
  }
  bool took(inlet& in, u32 n) {
    if (n == 0) return false;
    band_.done.delivered -= n;
    traffic_.consume(band_, in, n);
    return true;
  }

  traffic& traffic_;
  band& band_;
  const crossing& at_;
  gate& way_;
};

}  // namespace wsl::engines
