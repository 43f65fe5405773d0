// SPDX-License-Identifier: MIT
// What waits between the fabric and a worker's own work: slabs that have come, and gradients that are to go.
// Both are short, so the memory of a PE holds a few slabs and never a layer.
#pragma once
#include "schedule.hpp"
#include "weight_format.hpp"

namespace wsl::ml {

/// The slabs of one server: the next may come while the one before waits for its turn.
template <class Weight>
class arrivals {
 public:
  using format = weight_format<Weight>;
  using word = typename format::word;

  void begin(std::size_t longest) {
    first_ = count_ = trip_ = 0, listens_ = false;
    for (std::vector<word>& x : words_) x.resize(format::words(longest));
  }
  bool empty() const { return count_ == 0; }
  word* front() { return words_[first_ % places].data(); }
  void pop() { ++first_, --count_; }
  void push() { ++count_, listens_ = false; }

  /// The next trip whose slab may come now; null if one is on its way, if there is no room, if its layer is
  /// after `layer`, or after the last.
  const weight_transfer* next(const std::vector<weight_transfer>& all, int server, int layer) {
    if (listens_ || count_ == places) return nullptr;
    while (trip_ < all.size() && !all[trip_].comes_from(server)) ++trip_;
    if (trip_ == all.size() || all[trip_].layer > layer) return nullptr;
    listens_ = true;
    return &all[trip_++];
  }
  std::span<word> room(const weight_transfer& t) {
    return std::span(words_[(first_ + count_) % places]).first(format::words(t.size()));
  }

 private:
  static constexpr std::size_t places = 2;
  std::vector<word> words_[places];
  std::size_t first_ = 0, count_ = 0, trip_ = 0;
  bool listens_ = false;
};

/// Gradients, sent in the order in which they are made, several at a time if they take different lanes.
class departures {
 public:
  static constexpr int lanes = 3;

  void begin(std::size_t longest, int servers) {
    slots_.resize(static_cast<std::size_t>(4 * servers));
    for (slot& s : slots_) s.numbers.resize(longest), s.holds = nothing;
    trip_ = started_ = gone_ = 0;
  }
  bool has_room(const weight_transfer& t) const { return t.gradient < gone_ + slots_.size(); }
  std::span<f32> of(const weight_transfer& t) { return std::span(at(t.gradient).numbers).first(t.size()); }
  void made(const weight_transfer& t) { at(t.gradient).holds = t.gradient; }

  /// The next in order; null if it is not made yet, or after the last.
  const weight_transfer* next(const std::vector<weight_transfer>& all) {
    while (trip_ < all.size() && !all[trip_].returns()) ++trip_;
    return trip_ < all.size() && at(all[trip_].gradient).holds == all[trip_].gradient ? &all[trip_] : nullptr;
  }
  void start(const weight_transfer& t, int lane) {
    ++trip_, ++started_;
    on_lane_[lane] = &at(t.gradient);
  }
  bool busy(int lane) const { return on_lane_[lane]; }
  void finish(int lane) {
    std::exchange(on_lane_[lane], nullptr)->holds = nothing;
    while (gone_ < started_ && at(gone_).holds == nothing) ++gone_;
  }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  struct slot {
    std::vector<f32> numbers;
    std::size_t holds = nothing;  ///< the gradient that is made and not yet gone
  };
  slot& at(std::size_t gradient) { return slots_[gradient % slots_.size()]; }

  std::vector<slot> slots_;
  slot* on_lane_[lanes] = {};
  /// next trip; gradients on their way or gone; those gone without a gap
  std::size_t trip_ = 0, started_ = 0, gone_ = 0;
};

}  // namespace wsl::ml
