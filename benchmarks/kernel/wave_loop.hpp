// SPDX-License-Identifier: MIT
// The peer of wave25: the same scheme as a plain loop over three axes with OpenMP, on arrays with a frame of
// four zero cells.
#pragma once
#include <vector>

namespace bench {

class wave_loop {
 public:
  explicit wave_loop(int n) : n_(n), now_(cells()), before_(cells()), factor_(cells()) {}

  void run(int steps, bool vectorised) {
    for (int i = 0; i < steps; ++i) {
      if (vectorised) step_vectorised(now_.data(), before_.data(), factor_.data());
      else step_plain(now_.data(), before_.data(), factor_.data());
      now_.swap(before_);
    }
  }

  float& now(int x, int y, int z) { return now_[index(x, y, z)]; }
  float& factor(int x, int y, int z) { return factor_[index(x, y, z)]; }

 private:
  void step_vectorised(const float* u, float* v, const float* k) const;
  void step_plain(const float* u, float* v, const float* k) const;
  std::size_t cells() const {
    return static_cast<std::size_t>(n_ + 8) * static_cast<std::size_t>(n_ + 8) *
           static_cast<std::size_t>(n_ + 8);
  }
  std::size_t index(int x, int y, int z) const {
    const std::size_t s = static_cast<std::size_t>(n_ + 8);
    return (static_cast<std::size_t>(x + 4) * s + static_cast<std::size_t>(y + 4)) * s +
           static_cast<std::size_t>(z + 4);
  }

  int n_;
  std::vector<float> now_, before_, factor_;
};

}  // namespace bench
