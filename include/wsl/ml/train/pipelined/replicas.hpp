// SPDX-License-Identifier: MIT
// Replicas of a pipeline: copies of the model that train on parts of the same batch, one below the other on
// the wafer, so that a strip is a column of PEs. The first replica's parameters are those of the training
// state. They go down every column before a step; at its end the gradients of all replicas are added up on
// the way to the first, which updates. So all replicas have the same parameters in each step.
#pragma once
#include <vector>

#include "../../../collective/awaited.hpp"
#include "../../../collective/broadcast.hpp"
#include "../../../collective/reduce.hpp"
#include "strips.hpp"

namespace wsl::ml {

inline constexpr broadcast<f32> replica_parameters{.first = 4, .among = each_column};
inline constexpr collective::reduce<f32> replica_gradients{
    .first = 5, .among = each_column, .words = 1 << 16};

/// The parameters and gradients that a PE of another replica than the first has copies of: those that its
/// strip owns.
class replica_copy {
 public:
  void resize(const strip& s) {
    parts_ = s.parts.data(), begins_.clear();
    std::size_t size = 0;
    for (const stage_part& p : s.parts) {
      begins_.push_back(size);
      if (p.which >= 0 && p.owned) size += p.size();
    }
    numbers_.resize(size), gradients_.resize(size);
  }
  f32* numbers(const stage_part& p) { return numbers_.data() + begin(p); }
  /// Of a part that is not frozen.
  f32* gradients(const stage_part& p) { return gradients_.data() + begin(p); }

 private:
  std::size_t begin(const stage_part& p) const { return begins_[static_cast<std::size_t>(&p - parts_)]; }

  const stage_part* parts_ = nullptr;
  std::vector<std::size_t> begins_;
  std::vector<f32> numbers_, gradients_;
};

}  // namespace wsl::ml
