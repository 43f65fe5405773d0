// SPDX-License-Identifier: MIT
// The wavelets that have reached PEs, in the order of their cycles.
#pragma once
#include <deque>
#include <map>
#include <vector>

#include "../layout/program.hpp"
#include "stop.hpp"

namespace wsl::debug {

class arrival_log {
 public:
  /// An engine may tell of a wavelet before the cycle of its arrival has come.
  void expect(const arrival& a) { coming_.insert({a.cycle, a}); }
  /// Takes those that have come by this cycle, oldest first, and calls each(arrival).
  template <class Each>
  void take(u64 until, Each each) {
    while (!coming_.empty() && coming_.begin()->first <= until) {
      const arrival a = coming_.extract(coming_.begin()).mapped();
      std::deque<arrival>& kept = newest_[a.word.color];
      if (kept.size() == most_kept) kept.pop_front();
      kept.push_back(a);
      each(a);
    }
  }
  /// The newest of a color, oldest first.
  std::vector<arrival> of(int color) const { return {newest_[color].begin(), newest_[color].end()}; }
  void clear() { *this = {}; }

 private:
  static constexpr std::size_t most_kept = 4096;  // of each color

  std::multimap<u64, arrival> coming_;
  std::deque<arrival> newest_[detail::max_colors];
};

}  // namespace wsl::debug
