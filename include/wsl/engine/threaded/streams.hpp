// SPDX-License-Identifier: MIT
// A thread's visit to an end of a host stream: it takes all words that have come for the host, and sends the
// host's words as far as there is room.
#pragma once
#include "transport.hpp"

namespace wsl::engines {

inline void visit_stream(transport& words, partition& b, u32 who) {
  stream_end& s = words.net.stream_of(who);
  for (cursor& in : words.net.cursors_of(who))
    while (words.available(in)) {
      const bool control = words.control_first(b, in);  // for the host it is a word like any other
      const u32 n = control ? 1 : words.readable(b, in);
      for (u32 i = 0; i < n; ++i) s.words.push(words.words_at(in)[i]);
      control ? words.consume_control(b, in) : words.consume(b, in, n);
    }
  for (channel& c : words.net.channels_of(who))
    while (const u32 n =
               s.words.empty()
                   ? 0
                   : words.room(b, c,
                                static_cast<u32>(support::min<std::size_t>(s.words.size(), topology::deep))))
      for (u32 i = 0; i < n; ++i, s.words.pop(), c.move_to(c.next() + 1)) *c.room() = s.words.front();
}

}  // namespace wsl::engines
