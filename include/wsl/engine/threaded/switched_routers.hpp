// SPDX-License-Identifier: MIT
// Where a color's way is not known before the run: routers with a gate. Routes are resolved to their receivers once, but only up to
// the next crossing. To the threaded engine it is one more reader, with an inlet for everyone whose words come to it, and one more
// writer, with a channel for each port that it may send through. What it does, switches.hpp knows, which programs with such routes include.
#pragma once
#include "../../layout/layout.hpp"
#include "../../program/engine_link.hpp"
#include "../diagnose/wait.hpp"

namespace wsl::engines {

class traffic;
struct band;
struct wiring;

struct crossing {
  coord at;
  int color = 0;
  ports outputs;  ///< each has a channel, in the order of every_port
  u32 first_channel = 0, first_inlet = 0;
  membership in;
};

/// All crossings of a layout.
class crossings {
 public:
  static constexpr u32 none = ~u32{0};

  virtual ~crossings() = default;
  /// The number of the crossing of a color at a PE, or none.
  virtual u32 find(coord c, int color) const = 0;
  /// Opens the channels of all.
  virtual void open(wiring& net) = 0;
  /// Sends on what can move, its inlets in turn from the first-th on. Says whether a command has closed it.
  virtual bool visit(traffic& words, band& b, u32 who, u64 first) = 0;
  virtual void reopen(const pe_state& on, int color, int phase) = 0;
  /// What waits at a crossing that is quiet.
  virtual void waits_at(waits& open, traffic& words, u32 who) = 0;

  u32 size() const { return size_; }
  crossing& operator[](u32 i) const { return list_[i]; }

 protected:
  crossing* list_ = nullptr;
  u32 size_ = 0;
};

/// Finds the crossings of a layout, null if it has none; null itself where switches.hpp is not included. The caller owns them.
using crossings_finder = crossings* (*)(const layout&);
inline constinit crossings_finder find_crossings = nullptr;

}  // namespace wsl::engines
