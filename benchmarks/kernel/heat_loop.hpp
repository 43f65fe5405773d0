// SPDX-License-Identifier: MIT
// The peer of a stencil of five points: heat on a plane as a plain loop with OpenMP, on arrays with a frame
// of zero cells.
#pragma once
#include <vector>

namespace bench {

class heat_loop {
 public:
  explicit heat_loop(int n) : n_(n), now_(cells()), next_(cells()) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step(now_.data(), next_.data());
      now_.swap(next_);
    }
  }
  float& now(int x, int y) {
    return now_[static_cast<std::size_t>(x + 1) * pitch() + static_cast<std::size_t>(y + 1)];
  }

 private:
  void step(const float* u, float* v) const;
  std::size_t pitch() const { return static_cast<std::size_t>(n_ + 2); }
  std::size_t cells() const { return pitch() * pitch(); }

  int n_;
  std::vector<float> now_, next_;
};

}  // namespace bench
