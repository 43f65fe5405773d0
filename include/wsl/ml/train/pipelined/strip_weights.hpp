// SPDX-License-Identifier: MIT
// The weights of a strip in the format of a step. A PE of a pipeline keeps its parameters in f32, and in
// mixed precision a copy in 16 bits, which is made when a stage reads them for the first time in a step.
#pragma once
#include <vector>

#include "strips.hpp"

namespace wsl::ml {

class strip_weights {
 public:
  /// Begins a step: the parameters may have changed.
  void begin(const strip& s, precision as) {
    first_ = s.parts.data(), as_ = as;
    copies_.resize(s.parts.size());
    for (copy& c : copies_) c.is_made = false;
  }
  /// The weights of a part of the strip, whose f32 numbers are given, as its stage reads them.
  weight_tile tile(const stage_part& p, f32* numbers) {
    weight_tile t = p.tile(numbers);
    if (as_ == precision::f32) return t;
    copy& c = copies_[static_cast<std::size_t>(&p - first_)];
    if (!std::exchange(c.is_made, true)) make(c, p, {numbers, p.size()});
    t.operands = c.words.data();
    t.rows = matrix(c.wide.data(), p.rows, p.columns);
    return t;
  }

 private:
  struct copy {
    std::vector<f32> words, wide;  ///< in 16 bits or, for stages that read f32, rounded to them
    bool is_made = false;
  };
  void make(copy& c, const stage_part& p, std::span<f32> numbers) {
    if (p.of->reads_operands(p.which)) pack(as_, numbers, c.words);
    else {
      c.wide.assign(numbers.begin(), numbers.end());
      round_to(as_, c.wide.data(), static_cast<i64>(c.wide.size()));
    }
  }

  const stage_part* first_ = nullptr;
  precision as_ = precision::f32;
  std::vector<copy> copies_;  // of each part
};

}  // namespace wsl::ml
