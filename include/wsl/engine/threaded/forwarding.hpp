// SPDX-License-Identifier: MIT
// A thread's visit to a switched router: it forwards the wavelets that the router's switch lets through, data
// in spans and control wavelets one by one, as far as all outputs have room. Wavelets that the switch does
// not take stay with its cursors and hold up their senders.
#pragma once
#include <cstring>

#include "transport.hpp"

namespace wsl::engines {

class forwarding {
 public:
  forwarding(transport& words, partition& b, switched_router& at)
      : transport_(words), partition_(b), at_(at), way_(at.way) {}

  /// Forwards all that can move, from the cursors in turn, beginning with cursor `first`. Returns whether a
  /// command has closed the color.
  bool run(std::span<cursor> cursors, u64 first) {
    const bool was_closed = way_.closed();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < cursors.size(); ++k)
        moved |= forward(cursors[(first + k) % cursors.size()]);
    }
    return way_.closed() && !was_closed;
  }

 private:
  /// The channel of an output.
  channel& out(port p) {
    channel* c = transport_.net.channels.data() + at_.first_channel;
    for (port q : every_port) {
      if (q == p) break;
      c += at_.outputs.has(q);
    }
    return *c;
  }

  bool forward(cursor& in) {
    if (!way_.takes(every_port[in.port]) || transport_.available(in) == 0) return false;
    if (transport_.control_first(partition_, in)) return forward_control(in);
    return way_.uniform() ? forward_span(in) : forward_filtered(in);
  }

  /// The number of words, at most n, that have room at all of these ports.
  [[gnu::noinline]] u32 room(ports to, u32 n) {
    for (port p : every_port)
      if (to.has(p) && n > 0) n = transport_.room(partition_, out(p), n);
    return n;
  }

  [[gnu::cold, gnu::noinline]] bool forward_control(cursor& in) {
    const wavelet w{*transport_.words_at(in), in.color, true};
    const ports to = way_.outputs(w);
    if (room(to, 1) == 0) return false;
    const wavelet on = way_.pass(w);
    for (port p : every_port)
      if (to.has(p))
        transport_.put_control(partition_, out(p), p == ramp ? w.bits : on.bits), --partition_.done.wavelets;
    --partition_.done.delivered;
    transport_.consume_control(partition_, in);
    return true;
  }

  [[gnu::noinline]] bool forward_span(cursor& in) {
    const ports to = way_.every_output();
    const u32 n = room(to, transport_.readable(partition_, in));
    for (port p : every_port)
      if (to.has(p)) write(p, transport_.words_at(in), n);
    return took(in, n);
  }

  [[gnu::noinline]] bool forward_filtered(cursor& in) {
    const u32* words = transport_.words_at(in);
    const ports to = without_ramp(way_.every_output());
    u32 n = 0;
    for (const u32 most = room(to, transport_.readable(partition_, in)); n < most; ++n) {
      const wavelet w{words[n], in.color, false};
      const bool kept = way_.outputs(w).has(ramp);
      if (kept && transport_.room(partition_, out(ramp), 1) == 0) break;
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

  // A router neither sends nor receives, so the wavelets that its channels and cursors have counted are
  // subtracted again.
  void write(port p, const u32* words, u32 n) {
    channel& c = out(p);
    if (n > 0) std::memcpy(c.room(), words, n * sizeof(u32));
    c.move_to(c.next() + static_cast<int>(n));
    partition_.done.wavelets -= n;
  }
  bool took(cursor& in, u32 n) {
    if (n == 0) return false;
    partition_.done.delivered -= n;
    transport_.consume(partition_, in, n);
    return true;
  }

  transport& transport_;
  partition& partition_;
  const switched_router& at_;
  router_switch& way_;
};

}  // namespace wsl::engines
