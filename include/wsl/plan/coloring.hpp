// SPDX-License-Identifier: MIT
// Gives each class of nets a color. Classes that share a PE, or a region, need different ones, so this is the
// coloring of a graph; it takes, again and again, the class that has fewest colors left (DSATUR, D. Brelaz,
// 1979), and gives it the lowest.
#pragma once
#include <bit>
#include <vector>

#include "territory.hpp"

namespace wsl::planning {

class coloring {
 public:
  /// `colors` are those of the machine.
  constexpr coloring(int classes, int colors)
      : classes_(classes),
        words_((classes + 63) / 64),
        all_(colors >= 64 ? ~u64{0} : (u64{1} << colors) - 1),
        apart_(static_cast<std::size_t>(classes * words_), 0),
        barred_(static_cast<std::size_t>(classes), 0),
        color_(static_cast<std::size_t>(classes), -1) {}

  /// Two classes need different colors.
  constexpr void keep_apart(int a, int b) {
    if (a != b) mark(a, b), mark(b, a);
  }
  constexpr bool are_apart(int a, int b) const {
    return (apart_[static_cast<std::size_t>(a * words_ + b / 64)] >> b % 64 & 1) != 0;
  }
  /// A class may not have these colors.
  constexpr void bar(int of_class, u64 colors) { barred_[static_cast<std::size_t>(of_class)] |= colors; }
  constexpr u64 barred(int of_class) const { return barred_[static_cast<std::size_t>(of_class)]; }
  constexpr u64 all() const { return all_; }
  /// A class has this color whatever the others have.
  constexpr void fix(int of_class, int color) { color_[static_cast<std::size_t>(of_class)] = color; }

  constexpr int color(int of_class) const { return color_[static_cast<std::size_t>(of_class)]; }
  /// The colors that a class may still have.
  constexpr u64 left(int of_class) const {
    u64 taken = barred_[static_cast<std::size_t>(of_class)];
    for (int w = 0; w < words_; ++w)
      for (u64 others = apart_[static_cast<std::size_t>(of_class * words_ + w)]; others;
           others &= others - 1) {
        const int c = color(64 * w + std::countr_zero(others));
        if (c >= 0) taken |= u64{1} << c;
      }
    return all_ & ~taken;
  }

  /// Colors all classes that it can. Returns those for which no color is left.
  constexpr std::vector<int> run() {
    std::vector<int> failed;
    for (int k = 0; k < classes_; ++k)
      if (color(k) >= 0) {
        const int own = color(k);
        color_[static_cast<std::size_t>(k)] = -1;
        const bool possible = (left(k) >> own & 1) != 0;
        color_[static_cast<std::size_t>(k)] = own;
        if (!possible) failed.push_back(k);
      }
    std::vector<u64> taken(static_cast<std::size_t>(classes_), 0);
    for (int k = 0; k < classes_; ++k) taken[static_cast<std::size_t>(k)] = ~left(k);
    for (;;) {
      int next = -1, fewest = 65, most_neighbors = -1;
      for (int k = 0; k < classes_; ++k) {
        if (color(k) >= 0 || taken[static_cast<std::size_t>(k)] == ~u64{0}) continue;
        const int n = std::popcount(~taken[static_cast<std::size_t>(k)]);
        if (n > fewest) continue;
        const int neighbors = n < fewest ? -1 : most_neighbors;
        if (n == fewest && degree(k) <= neighbors) continue;
        next = k, fewest = n, most_neighbors = degree(k);
      }
      if (next < 0) break;
      const int given = std::countr_zero(~taken[static_cast<std::size_t>(next)]);
      color_[static_cast<std::size_t>(next)] = given;
      for (int k = 0; k < classes_; ++k)
        if (are_apart(next, k)) taken[static_cast<std::size_t>(k)] |= u64{1} << given;
    }
    for (int k = 0; k < classes_; ++k)
      if (color(k) < 0) failed.push_back(k);
    return failed;
  }

 private:
  constexpr void mark(int a, int b) {
    apart_[static_cast<std::size_t>(a * words_ + b / 64)] |= u64{1} << b % 64;
  }
  constexpr int degree(int k) const {
    int n = 0;
    for (int w = 0; w < words_; ++w) n += std::popcount(apart_[static_cast<std::size_t>(k * words_ + w)]);
    return n;
  }

  int classes_, words_;
  u64 all_;
  std::vector<u64> apart_, barred_;
  std::vector<int> color_;
};

}  // namespace wsl::planning
