// SPDX-License-Identifier: MIT
// Positional encodings without parameters: sinusoids that are added to a token's features (arXiv 1706.03762,
// 3.5), a rotation of queries and keys (rotary, arXiv 2104.09864), or a penalty of distant keys (ALiBi, arXiv
// 2108.12409). Positions count from 0.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

/// The two features that are rotated together: 2 i and 2 i + 1 (GPT-J, Llama as published), or i and i + half
/// (Hugging Face).
enum class pairs : u8 { neighbours, halves };

/// A table (positions, width) of sin(t / 10000^(2 k / width)) and the cosine of the same angle for position
/// t, as neighbouring features 2 k and 2 k + 1, or first all sines and then all cosines.
inline std::vector<f32> sinusoids(int positions, int width, pairs which = pairs::neighbours) {
  std::vector<f32> table;
  const int sines = (width + 1) / 2;
  for (int t = 0; t < positions; ++t)
    for (int i = 0; i < width; ++i) {
      const bool in_turn = which == pairs::neighbours, is_cosine = in_turn ? i % 2 : i >= sines;
      const int k = in_turn ? i / 2 : is_cosine ? i - sines : i;
      const f64 angle = t / std::pow(10000., 2. * k / width);
      table.push_back(static_cast<f32>(is_cosine ? std::cos(angle) : std::sin(angle)));
    }
  return table;
}

/// By how much ALiBi lowers the scores of each head for each position that the key is further away.
inline std::vector<f32> alibi_slopes(int heads) {
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  std::vector<f32> slopes;
  for (int h = 0; h < whole; ++h) slopes.push_back(static_cast<f32>(std::exp2(-8. * (h + 1) / whole)));
  for (int h = 0; h < heads - whole; ++h)
    slopes.push_back(static_cast<f32>(std::exp2(-4. * (2 * h + 1) / whole)));
  return slopes;
}

/// Slower rotations, with which a model is used for longer sequences than it was trained for: `linear`
/// divides all frequencies by the factor (position interpolation, arXiv 2306.15595). `llama3` does so only
/// with those whose wavelength is longer than positions / low; those shorter than positions / high stay, and
/// those between are interpolated (transformers, modeling_rope_utils.py).
struct rotary_scaling {
  enum class kind : u8 { none, linear, llama3 };
  kind how = kind::none;
  f64 factor = 1, low = 1, high = 4;
  int positions = 0;  ///< of the sequences for which the model was trained

  f64 of_frequency(f64 frequency) const {
    if (how == kind::none) return frequency;
    if (how == kind::linear) return frequency / factor;
    const f64 turns = positions * frequency / (2 * M_PI);  // in a sequence
    const f64 kept = std::clamp((turns - low) / (high - low), 0., 1.);
    return frequency * ((1 - kept) / factor + kept);
  }
  friend bool operator==(const rotary_scaling&, const rotary_scaling&) = default;
};

/// The rotation of the first `features` features of a head: pair i at position t by the angle t / base^(2 i /
/// features).
class rotation {
 public:
  rotation(int positions, int features, f64 base, pairs which, const rotary_scaling& scaling = {})
      : half_(features / 2), which_(which) {
    for (int t = 0; t < positions; ++t)
      for (int i = 0; i < half_; ++i) {
        const f64 angle = t * scaling.of_frequency(std::pow(base, -2. * i / features));
        table_.push_back({static_cast<f32>(std::cos(angle)), static_cast<f32>(std::sin(angle))});
      }
  }
  /// y = rotated x; both are the features of one head.
  void rotate(f32* y, const f32* x, int position) const {
    each(position, [&](int a, int b, turned by) {
      y[a] = x[a] * by.cosine - x[b] * by.sine;
      y[b] = x[b] * by.cosine + x[a] * by.sine;
    });
  }
  /// dx += dy rotated back, which is the gradient.
  void rotate_backward(f32* dx, const f32* dy, int position) const {
    each(position, [&](int a, int b, turned by) {
      dx[a] += dy[a] * by.cosine + dy[b] * by.sine;
      dx[b] += dy[b] * by.cosine - dy[a] * by.sine;
    });
  }
  int features() const { return 2 * half_; }

 private:
  struct turned {
    f32 cosine, sine;
  };
  template <class F>
  void each(int position, F f) const {
    const turned* by = table_.data() + i64{position} * half_;
    if (which_ == pairs::neighbours)
      for (int i = 0; i < half_; ++i) f(2 * i, 2 * i + 1, by[i]);
    else
      for (int i = 0; i < half_; ++i) f(i, i + half_, by[i]);
  }

  int half_;
  pairs which_;
  std::vector<turned> table_;
};

}  // namespace wsl::ml
