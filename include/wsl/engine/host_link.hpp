// SPDX-License-Identifier: MIT
// The link between the host and a wafer, for an engine that counts cycles: `timed{.host = {.channels = 12}}`.
// A stream that the host writes then gives a word to the grid when the link has brought it. Without channels
// the link is infinitely fast.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

struct host_link {
  /// They carry words at the same time. A CS-2 and a CS-3 have twelve, 1.2 Tb/s in all (the vendor's data
  /// sheets). The SDK takes up to sixteen of its own, and more than eight are no faster. With 0 of them no
  /// time is charged.
  int channels = 0;
  f64 bits_a_second = 100e9;  ///< of a channel: 100 Gb/s Ethernet
  /// Seconds from the host's call to the first word at the edge, besides its transfer; nobody has published
  /// them.
  f64 latency = 0;
};

}  // namespace wsl
