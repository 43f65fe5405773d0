// SPDX-License-Identifier: MIT
// The peer of the BiCGStab solver: the method as textbooks write it, with five OpenMP loops over the cells
// in each iteration, on arrays with a frame of zero cells. Dot products are computed in the loop that
// produces their operands; all inner loops are vectorised.
#pragma once
#include <cstddef>
#include <vector>

namespace bench {

class bicgstab_loop {
 public:
  /// n^3 cells. Weights: a centre in each cell and -1 for its neighbours, or seven in each cell.
  bicgstab_loop(long n, bool all_weights);

  float& weight(int k, long x, long y, long z) {
    return weights_[static_cast<std::size_t>(k)][static_cast<std::size_t>(index(x, y, z))];
  }
  float& right_side(long x, long y, long z) { return b_[static_cast<std::size_t>(index(x, y, z))]; }
  float solution(long x, long y, long z) const { return x_[static_cast<std::size_t>(index(x, y, z))]; }

  void begin();  ///< x = 0
  void iterate(int iterations);
  double residual() const;  ///< |r| / |b|

 private:
  using numbers = std::vector<float>;
  long index(long x, long y, long z) const { return ((x + 1) * (n_ + 2) + y + 1) * (n_ + 2) + z + 1; }
  template <bool all_weights>
  void weigh(const float* u, float* v, long first) const;
  template <bool all_weights>
  void iterate_with(int iterations);

  long n_;
  bool all_weights_;
  std::vector<numbers> weights_;  // centre, west, east, north, south, down, up
  numbers b_, x_, r_, p_, v_, s_, t_;
  double rho_ = 0, whole_ = 0, left_ = 0;
};

}  // namespace bench
