// SPDX-License-Identifier: MIT
// The switch of a router: its state for a color that it does not always route the same way. The color has
// switch positions or a filter there, its route may be torn down and opened again, or control wavelets for
// other routers pass the PE's ramp. All engines share this state machine and differ only in the time at which
// a wavelet meets it. See examples/16_switches.cpp.
#pragma once
#include "../layout/layout.hpp"
#include "filter_state.hpp"
#include "processor.hpp"

namespace wsl::engines {

class router_switch {
 public:
  router_switch() = default;
  router_switch(const layout& plan, coord at, const path_record& p) {
    open(plan, at, p);
    closed_ = p.closed;
  }

  /// Opens the color on this path.
  void open(const layout& plan, coord at, const path_record& p) {
    positions_ = plan.switch_of(p);
    position_ = positions_ ? positions_->start : 0;
    how_ = positions_ ? positions_->position(position_) : p.how;
    const filter_record* f = plan.filter_of(p);
    filtered_ = f != nullptr;
    if (f) filter_ = filter_state(*f, {(at.x - p.where.x0) / p.where.sx, (at.y - p.where.y0) / p.where.sy});
    closed_ = false;
  }

  bool closed() const { return closed_; }
  bool takes(port p) const { return !closed_ && how_.from.has(p); }
  /// The position of the switch; -1 where the color is closed or has no positions.
  int position() const { return closed_ || !positions_ ? -1 : position_; }

  /// The side from which its position takes wavelets; "" if these are several, or none.
  const char* side() const {
    return closed_ || !how_.from.single() ? "" : name_of(static_cast<port>(how_.from.bits));
  }

  /// The ports to which a wavelet goes; the ramp is left out if the filter or the control wavelet excludes
  /// the processor.
  ports outputs(const wavelet& w) const {
    ports to = how_.to;
    const bool heard = !w.control || control_word{w.bits}.heard();
    if (!heard || (filtered_ && !filter_.keeps(w))) to.bits = static_cast<u8>(to.bits & ~ports{ramp}.bits);
    return to;
  }

  /// Records that the wavelet has passed, and returns it as the next routers see it.
  wavelet pass(wavelet w) {
    if (filtered_) filter_.count(w);
    if (!w.control) return w;
    const control_word word{w.bits};
    closed_ = word.head() == teardown;
    if (!positions_) return w;
    position_ = positions_->after(word.head(), position_);
    how_ = positions_->position(position_);
    w.bits = positions_->passed_on(word).bits;
    return w;
  }

  /// Whether all data wavelets go the same way until a control wavelet comes, to every_output().
  bool uniform() const { return !filtered_; }
  ports every_output() const { return how_.to; }

 private:
  const switch_record* positions_ = nullptr;
  int position_ = 0;
  route how_;
  bool closed_ = false, filtered_ = false;
  filter_state filter_;
};

/// The paths of a layout on which a color needs a router_switch.
class switched_paths {
 public:
  explicit switched_paths(const layout& plan) : plan_(plan) {
    for (const path_record& p : plan.paths())
      if (p.phase > 0 || p.closed) rewritten_ |= color_bit(p.color);
    u64 switched = rewritten_;
    for (const switch_record& s : plan.switches()) switched |= color_bit(plan.paths()[s.path].color);
    for (const placement& p : plan.placements())
      for (const binding& b : *p.what)
        if (b.what == role::steer &&
            (!(b.commands & where_switched) || (switched & color_bit(p.colors(b.id)))))
          (b.commands & command_bit(teardown) ? rewritten_ : steered_) |= color_bit(p.colors(b.id));
    if (plan.swapped_colors() && any())
      throw fault("wsl: the programs of a layout that swaps colors send no commands to routers");
  }

  bool any() const { return rewritten_ || steered_ || plan_.changes(); }
  /// Whether this path, of phase 0, needs a switch.
  bool has(const path_record& p) const {
    if (rewritten_ & color_bit(p.color)) return true;
    return plan_.switch_of(p) || plan_.filter_of(p) ||
           ((steered_ & color_bit(p.color)) && p.how.to.has(ramp));
  }

 private:
  const layout& plan_;
  u64 rewritten_ = 0;  // colors that may be torn down
  u64 steered_ = 0;    // colors on which commands travel
};

namespace rule {

/// The path on which a PE's router reopens a color that is closed there.
inline const path_record& reopened_path(const pe_state& s, int color, int phase, const router_switch* g,
                                        const layout& plan) {
  if (!g || !g->closed()) not_closed(s, color);
  const path_record* p = plan.path_at({s.x, s.y}, color, phase);
  if (!p)
    throw fault("wsl: " + name_of(s) + " reopens color " + std::to_string(color) + " in phase " +
                std::to_string(phase) +
                ", but no path of this phase covers the PE; add .path(color, area, ..., phase{" +
                std::to_string(phase) + "})");
  return *p;
}
/// Opens a color again at a PE's router.
inline void reopen(const pe_state& s, int color, int phase, router_switch* g, const layout& plan) {
  g->open(plan, {s.x, s.y}, reopened_path(s, color, phase, g, plan));
}

}  // namespace rule

}  // namespace wsl::engines
