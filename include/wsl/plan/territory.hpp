// SPDX-License-Identifier: MIT
// The grid as a router of connections sees it: which region a PE belongs to, and which nets pass it.
#pragma once
#include <vector>

#include "net.hpp"

namespace wsl::planning {

class territory {
 public:
  static constexpr int free = -1, of_layout = -2;  ///< no region; a program that the layout had before

  constexpr territory(int width, int height)
      : width_(width),
        height_(height),
        owner_(static_cast<std::size_t>(width * height), free),
        head_(owner_.size(), -1),
        penalty_(owner_.size(), 0) {}

  constexpr int width() const { return width_; }
  constexpr int height() const { return height_; }
  constexpr bool has(coord c) const { return c.x >= 0 && c.y >= 0 && c.x < width_ && c.y < height_; }
  constexpr std::size_t index(coord c) const { return static_cast<std::size_t>(c.y * width_ + c.x); }
  constexpr coord at(std::size_t i) const {
    const int k = static_cast<int>(i);
    return {k % width_, k / width_};
  }

  constexpr std::size_t size() const { return owner_.size(); }
  constexpr int owner(coord c) const { return owner_[index(c)]; }
  constexpr void set_owner(coord c, int region) { owner_[index(c)] = region; }

  /// What passes a PE: a net, or an inner path of a region (net -1), of a class.
  struct guest {
    int of_class, net, next;
  };
  /// Calls f(class, net) for all that pass a PE.
  template <class F>
  constexpr void each(coord c, F f) const {
    for (int k = head_[index(c)]; k >= 0; k = guests_[static_cast<std::size_t>(k)].next)
      f(guests_[static_cast<std::size_t>(k)].of_class, guests_[static_cast<std::size_t>(k)].net);
  }
  /// The number of classes besides this one on a PE, or -1 if this one is there.
  constexpr int others(std::size_t i, int of_class) const {
    int n = 0;
    const guest* all = guests_.data();
    for (int k = head_.data()[i]; k >= 0; k = all[k].next) {
      if (all[k].of_class == of_class) return -1;
      ++n;
    }
    return n;
  }
  constexpr void add(coord c, int of_class, int net) {
    int& head = head_[index(c)];
    guests_.push_back({of_class, net, head});
    head = static_cast<int>(guests_.size()) - 1;
  }
  /// Takes the nets of a class away from a PE.
  constexpr void remove(coord c, int of_class) {
    for (int* k = &head_[index(c)]; *k >= 0;) {
      const guest& g = guests_[static_cast<std::size_t>(*k)];
      if (g.of_class == of_class && g.net >= 0) *k = g.next;
      else k = &guests_[static_cast<std::size_t>(*k)].next;
    }
  }
  constexpr void clear_guests() {
    guests_.clear();
    for (int& head : head_) head = -1;
  }
  /// How much a net avoids a PE, in hops, because connections there have run out of colors.
  constexpr int& penalty(coord c) { return penalty_[index(c)]; }
  constexpr int penalty(std::size_t i) const { return penalty_.data()[i]; }
  constexpr int owner(std::size_t i) const { return owner_.data()[i]; }

 private:
  int width_, height_;
  std::vector<int> owner_, head_, penalty_;
  std::vector<guest> guests_;
};

}  // namespace wsl::planning
