// SPDX-License-Identifier: MIT
// The grid as a router of connections sees it: which region a PE belongs to, and which nets pass it.
#pragma once
#include <vector>

#include "../layout/rules/scratch.hpp"
#include "net.hpp"

namespace wsl::planning {

class territory {
 public:
  static constexpr int free = -1, of_layout = -2;  ///< no region; a program that the layout had before

  constexpr territory(int width, int height)
      : width_(width),
        height_(height),
        owner_(width * height),
        first_(width * height),
        penalty_(width * height) {}

  constexpr int width() const { return width_; }
  constexpr int height() const { return height_; }
  constexpr bool has(coord c) const { return c.x >= 0 && c.y >= 0 && c.x < width_ && c.y < height_; }
  constexpr std::size_t index(coord c) const { return static_cast<std::size_t>(c.y * width_ + c.x); }
  constexpr coord at(std::size_t i) const {
    const int k = static_cast<int>(i);
    return {k % width_, k / width_};
  }

  constexpr int count() const { return width_ * height_; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(count()); }
  constexpr int owner(coord c) const { return owner(index(c)); }
  constexpr void set_owner(coord c, int region) { owner_.data()[index(c)] = region - free; }

  /// One that passes a PE: a net, or an inner path of a region (net -1), of a class.
  struct guest {
    int of_class, net;
    int next;     ///< its number plus 1; 0: none
    bool is_end;  ///< the net begins or ends here
  };
  /// Calls f(class, net) for all that pass a PE.
  template <class F>
  constexpr void each(coord c, F f) const {
    const guest* all = guests_.data();
    for (int k = first_.data()[index(c)]; k > 0; k = all[k - 1].next) f(all[k - 1].of_class, all[k - 1].net);
  }
  struct company {
    int others = 0;      ///< classes besides this one
    int own = 0;         ///< nets of this class on their way
    bool stays = false;  ///< an end of a net of this class, or an inner path
  };
  /// Tells who is on a PE, for a net of this class.
  constexpr company on(std::size_t i, int of_class) const {
    company found;
    const guest* all = guests_.data();
    for (int k = first_.data()[i]; k > 0; k = all[k - 1].next) {
      const guest& g = all[k - 1];
      if (g.of_class != of_class) ++found.others;
      else if (g.is_end || g.net < 0) found.stays = true;
      else ++found.own;
    }
    return found;
  }
  constexpr void add(coord c, int of_class, int net, bool is_end = false) {
    int& first = first_.data()[index(c)];
    guests_.push_back({of_class, net, first, is_end});
    first = static_cast<int>(guests_.size());
  }
  /// Takes a net away from a PE on its way.
  constexpr void remove(coord c, int net) {
    for (int* k = &first_.data()[index(c)]; *k > 0;) {
      guest& g = guests_[static_cast<std::size_t>(*k - 1)];
      if (g.net == net && !g.is_end) *k = g.next;
      else k = &g.next;
    }
  }
  constexpr void clear_guests() {
    if (guests_.empty()) return;
    guests_.clear();
    for (int i = 0; i < count(); ++i) first_.data()[i] = 0;
  }
  /// How much a net avoids a PE, in hops, because connections there have run out of colors.
  constexpr int& penalty(coord c) { return penalty_.data()[index(c)]; }
  constexpr int penalty(std::size_t i) const { return penalty_.data()[i]; }
  constexpr int owner(std::size_t i) const { return owner_.data()[i] + free; }

 private:
  int width_, height_;
  rules::scratch<int> owner_, first_, penalty_;  // by PE: the owner from `free` on, the first guest plus 1
  std::vector<guest> guests_;
};

}  // namespace wsl::planning
