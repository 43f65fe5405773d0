// SPDX-License-Identifier: MIT
// The route of one color at one router in the oracle of the timed engine, read from the layout's records.
// Every route is treated as one that may change.
#pragma once
#include <wsl/core/control.hpp>
#include <wsl/layout/layout.hpp>

namespace law {

using namespace wsl;
using namespace wsl::detail;

class oracle_switch {
 public:
  oracle_switch() = default;
  oracle_switch(const layout& plan, coord at, int color) : plan_(&plan), at_(at), color_(color) {
    open(0);
    closed_ = path_->closed;
  }

  u64 passed = ~u64{0};  // the cycle of the newest word

  void open(int phase) {
    path_ = plan_->path_at(at_, color_, phase);
    const switch_record* s = plan_->switch_of(*path_);
    position_ = s ? s->start : 0;
    words_ = 0;
    closed_ = false;
  }
  bool closed() const { return closed_; }
  bool takes(port p) const { return !closed_ && now().from.has(p); }
  ports outputs(u32 bits, bool control) const {
    ports to = now().to;
    if (to.has(ramp) && !((!control || control_word{bits}.heard()) && keeps(bits, control)))
      to.bits = static_cast<u8>(to.bits - ports{ramp}.bits);
    return to;
  }
  /// A word has passed; returns what goes on to the next router.
  u32 pass(u32 bits, bool control) {
    if (const filter_record* f = plan_->filter_of(*path_))
      words_ += control ? f->counts_control : f->counts_data;
    if (!control) return bits;
    const control_word word{bits};
    closed_ = word.head() == teardown;
    const switch_record* s = plan_->switch_of(*path_);
    if (!s) return bits;
    if (word.head() == switch_rst) position_ = 0;
    if (word.head() == switch_adv && ++position_ == s->count) position_ = s->ring ? 0 : s->count - 1;
    const bool pops = s->pop == pop::always || (s->pop == pop::on_advance && word.head() == switch_adv) ||
                      (s->pop == pop::on_advance_or_nop && (word.head() == switch_adv || word.head() == nop));
    return pops ? word.popped().bits : bits;
  }

 private:
  route now() const {
    const switch_record* s = plan_->switch_of(*path_);
    return s ? s->position(position_) : path_->how;
  }
  bool keeps(u32 bits, bool control) const {
    const filter_record* f = plan_->filter_of(*path_);
    if (!f || (control && !f->holds_control)) return true;
    const region& r = path_->where;
    const i64 moved = i64{(at_.x - r.x0) / r.sx} * f->per_column + i64{(at_.y - r.y0) / r.sy} * f->per_row;
    if (f->by_index) return bits >> 16 >= f->first + moved && bits >> 16 <= f->last + moved;
    const i64 number = (f->start + moved + words_) % f->period;
    return (number < 0 ? number + f->period : number) <= f->last;
  }

  const layout* plan_ = nullptr;
  coord at_;
  int color_ = 0, position_ = 0;
  const path_record* path_ = nullptr;
  bool closed_ = false;
  i64 words_ = 0;  // that its filter has counted
};

}  // namespace law
