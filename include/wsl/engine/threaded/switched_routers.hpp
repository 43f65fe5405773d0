// SPDX-License-Identifier: MIT
// Where a color's way is not known before the run: routers with a gate. Routes are resolved to their
// receivers once, but only up to the next switched_router. To the threaded engine it is one more reader, with
// an cursor for everyone whose words come to it, and one more writer, with a channel for each port that it
// may send through. What it does, switches.hpp knows, which programs with such routes include.
#pragma once
#include "../../layout/layout.hpp"
#include "../../program/engine_link.hpp"
#include "../diagnose/wait.hpp"

namespace wsl::engines {

class transport;
struct partition;
struct topology;

struct switched_router {
  coord at;
  int color = 0;
  ports outputs;  ///< each has a channel, in the order of every_port
  u32 first_channel = 0, first_cursor = 0;
  membership in;
};

/// All switched_routers of a layout.
class switched_routers {
 public:
  static constexpr u32 none = ~u32{0};

  virtual ~switched_routers() = default;
  /// The number of the switched_router of a color at a PE, or none.
  virtual u32 find(coord c, int color) const = 0;
  /// Opens the channels of all.
  virtual void open(topology& net) = 0;
  /// Sends on what can move, its cursors in turn from the first-th on. Says whether a command has closed it.
  virtual bool visit(transport& words, partition& b, u32 who, u64 first) = 0;
  virtual void reopen(const pe_state& on, int color, int phase) = 0;
  /// What waits at a switched_router that is quiet.
  virtual void waits_at(waits& open, transport& words, u32 who) = 0;

  u32 size() const { return size_; }
  switched_router& operator[](u32 i) const { return list_[i]; }

 protected:
  switched_router* list_ = nullptr;
  u32 size_ = 0;
};

/// Finds the switched_routers of a layout, null if it has none; null itself where switches.hpp is not
/// included. The caller owns them.
using switched_routers_finder = switched_routers* (*)(const layout&);
inline constinit switched_routers_finder find_switched_routers = nullptr;

}  // namespace wsl::engines
