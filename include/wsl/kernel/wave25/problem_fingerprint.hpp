// SPDX-License-Identifier: MIT
// A number that says whether two problems of wave25 are the same, for what was begun with one and goes on
// later.
#pragma once
#include "../../support/fingerprint.hpp"
#include "problem.hpp"

namespace wsl::wave25 {

/// Of all that the results depend on: the grid, the model, the time step, the border, sources and receivers.
inline u64 fingerprint_of(const problem& p) {
  support::fingerprint f;
  const auto add = [&](const cells& c) { f.add(c.x), f.add(c.y), f.add(c.z); };
  add(p.size), f.add(p.spacing), f.add(p.time_step()), f.add(p.edge), f.add(p.edge_width);
  f.add(p.model ? p.model.fingerprint
                : support::fingerprint_of_blocks(p.velocity.data(), p.velocity.size() * sizeof(f32)));
  const auto placed = [&](const auto& x) {
    add(x.at), f.add(x.place.has_value());
    if (x.place) f.add(x.place->x), f.add(x.place->y), f.add(x.place->z);
  };
  f.add(p.free_surface);
  for (const source& s : p.sources) {
    placed(s), f.add(s.peak_hz), f.add(s.amplitude), f.add(s.delay), f.add(s.kind), f.add(s.wavelet.size());
    f.add(s.wavelet.data(), s.wavelet.size() * sizeof(f32));
  }
  f.add(p.sources.size());
  for (const receiver& r : p.receivers) placed(r);
  return f.value();
}

}  // namespace wsl::wave25
