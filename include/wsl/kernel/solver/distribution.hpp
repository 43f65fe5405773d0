// SPDX-License-Identifier: MIT
// How the unknowns of a system lie on a row of PEs, and which of them travel. A PE has consecutive unknowns.
// The numbers of other PEs that its rows need, its ghosts, lie in front of its own and behind them, in the
// order of their indices, so that neighbours on a grid are as far apart in its memory as in the whole vector.
// Numbers travel from PE to PE, and as far as they are needed: in round s, a PE passes on what those s PEs
// further on need of what came in round s - 1. On a grid that is one round with each neighbour; a matrix that
// connects all with all takes as many rounds as there are PEs.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "row_source.hpp"

namespace wsl::solver {

/// PE i has the unknowns from[i] to before from[i + 1].
struct row_shares {
  std::vector<i32> from;

  int pes() const { return static_cast<int>(from.size()) - 1; }
  int begin(int pe) const { return from[static_cast<std::size_t>(pe)]; }
  int end(int pe) const { return from[static_cast<std::size_t>(pe) + 1]; }
  int size(int pe) const { return end(pe) - begin(pe); }
  int whole() const { return from.back(); }

  /// n unknowns in shares of the same size.
  static row_shares of(int n, int pes) {
    row_shares p;
    for (int i = 0; i <= pes; ++i) p.from.push_back(static_cast<i32>(i64{n} * i / pes));
    return p;
  }
  /// All on one PE.
  static row_shares on(int pe, int n, int pes) {
    row_shares p;
    for (int i = 0; i <= pes; ++i) p.from.push_back(i > pe ? n : 0);
    return p;
  }
};

/// One round of a PE in one direction: it sends the numbers at some places of its vector, and takes
/// in so many from a place on. Places count from its first own number.
struct round_of_ghosts {
  std::vector<i32> out;
  i32 in = 0, in_count = 0;
  bool is_consecutive() const {
    return !out.empty() && out.back() - out.front() == static_cast<i32>(out.size()) - 1;
  }
};

/// The ghosts of a PE.
struct ghosts {
  int west = 0, east = 0;                           ///< how many lie in front of its own, and behind
  std::vector<round_of_ghosts> eastward, westward;  ///< as many rounds on all PEs
  std::vector<i32> west_indices, east_indices;      ///< which they are, ascending
  int rounds() const { return static_cast<int>(eastward.size()); }
};

/// A matrix that is multiplied with a vector, and the PEs of its rows.
struct user_of_vector {
  const row_source* matrix;
  const row_shares* rows;
};

namespace detail {

/// The ghosts that travel in one direction. PEs and indices count against it if it is westward.
class ghosts_one_way {
 public:
  /// far[c] is the last PE in this direction that needs unknown c, or the owner.
  ghosts_one_way(const row_shares& p, const std::vector<i32>& far, bool westward)
      : p_(p), westward_(westward), sent_(static_cast<std::size_t>(p.pes())) {
    for (int k = 0; k < p.pes(); ++k) {
      std::vector<i32> left(static_cast<std::size_t>(p.size(k)));
      for (int i = 0; i < p.size(k); ++i) left[static_cast<std::size_t>(i)] = p.begin(k) + i;
      for (int s = 1;; ++s) {
        std::erase_if(left, [&](i32 c) {
          const i32 last = far[static_cast<std::size_t>(c)];
          return westward ? last > k - s : last < k + s;
        });
        if (left.empty()) break;
        sent_[static_cast<std::size_t>(k)].push_back(left);
        rounds_ = std::max(rounds_, s);
      }
    }
  }
  int rounds() const { return rounds_; }

  /// The rounds of a PE, and its ghosts' indices, ascending.
  std::vector<round_of_ghosts> rounds_of(int pe, int rounds, std::vector<i32>& indices) const {
    std::vector<round_of_ghosts> all(static_cast<std::size_t>(rounds));
    i32 place = westward_ ? p_.size(pe) : 0;  // of the next block's near end
    i32 block_before = 0;
    for (int s = 1; s <= rounds; ++s) {
      round_of_ghosts& now = all[static_cast<std::size_t>(s) - 1];
      // what this PE passes on: of its own in the first round, later of the block that came in the round
      // before
      const std::vector<i32>& out = of(source(pe, s - 1), s);
      if (s == 1)
        for (i32 c : out) now.out.push_back(c - p_.begin(pe));
      else {
        const std::vector<i32>& came = of(source(pe, s - 1), s - 1);
        i32 at = 0;
        for (i32 c : out) {
          while (came[static_cast<std::size_t>(at)] != c) ++at;
          now.out.push_back(block_before + at);
        }
      }
      const std::vector<i32>& in = of(source(pe, s), s);
      now.in_count = static_cast<i32>(in.size());
      if (!westward_) place -= now.in_count;
      now.in = block_before = place;
      if (westward_) place += now.in_count;
      indices.insert(westward_ ? indices.end() : indices.begin(), in.begin(), in.end());
    }
    return all;
  }

 private:
  int source(int pe, int distance) const { return westward_ ? pe + distance : pe - distance; }
  /// The unknowns of a PE that travel at least s PEs.
  const std::vector<i32>& of(int pe, int s) const {
    static const std::vector<i32> none;
    if (pe < 0 || pe >= p_.pes()) return none;
    const auto& all = sent_[static_cast<std::size_t>(pe)];
    return s <= static_cast<int>(all.size()) ? all[static_cast<std::size_t>(s) - 1] : none;
  }

  const row_shares& p_;
  bool westward_;
  int rounds_ = 0;
  std::vector<std::vector<std::vector<i32>>> sent_;  // by PE and round
};

}  // namespace detail

/// The ghosts of the PEs for which `is_wanted(pe)` is true, and nothing for the others, for the products of
/// all users of vectors that are distributed as `p`.
template <class Wanted>
std::vector<ghosts> ghosts_of(const row_shares& p, const std::vector<user_of_vector>& users,
                              const Wanted& is_wanted) {
  const std::size_t n = static_cast<std::size_t>(p.whole());
  std::vector<i32> far_east(n, -1), far_west(n, std::numeric_limits<i32>::max());
  std::vector<row_entry> row;
  for (const user_of_vector& u : users)
    for (int pe = 0; pe < p.pes(); ++pe) {
      const i32 begin = p.begin(pe), end = p.end(pe);
      for (int r = u.rows->begin(pe); r < u.rows->end(pe); ++r) {
        row.clear();
        u.matrix->append(r, row);
        for (const row_entry& e : row) {
          const std::size_t at = static_cast<std::size_t>(e.column);
          if (e.column < begin) far_east[at] = std::max(far_east[at], pe);
          else if (e.column >= end) far_west[at] = std::min(far_west[at], pe);
        }
      }
    }
  const detail::ghosts_one_way eastward(p, far_east, false), westward(p, far_west, true);
  const int rounds = std::max(eastward.rounds(), westward.rounds());
  std::vector<ghosts> all(static_cast<std::size_t>(p.pes()));
  for (int pe = 0; pe < p.pes(); ++pe) {
    if (!is_wanted(pe)) continue;
    ghosts& g = all[static_cast<std::size_t>(pe)];
    g.eastward = eastward.rounds_of(pe, rounds, g.west_indices);
    g.westward = westward.rounds_of(pe, rounds, g.east_indices);
    g.west = static_cast<int>(g.west_indices.size()), g.east = static_cast<int>(g.east_indices.size());
  }
  return all;
}

}  // namespace wsl::solver
