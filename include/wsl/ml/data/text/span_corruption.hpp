// SPDX-License-Identifier: MIT
// Span corruption, with which T5 is trained (arXiv:1910.10683, section 3.1.4): spans of a text are left out,
// each is replaced by a sentinel of its own, and what was left out is the text to write.
//   Thank you for inviting me to your party last week
//   inputs    Thank you <X> me to your party <Y> week
//   targets   <X> for inviting <Y> last
// The number of tokens and of spans that are left out depends on the length alone, so the lengths of inputs
// and targets are known; where the spans lie is drawn, all places alike (random_spans_noise_mask of
// google-research/text-to-text-transfer-transformer).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "draws.hpp"

namespace wsl::ml {

struct span_corruption {
  f64 noise_density = 0.15;        ///< the part of the tokens that is left out
  f64 mean_noise_span_length = 3;  ///< tokens of a span, on average
  i32 first_sentinel = 0;          ///< the largest id of the vocabulary; the next sentinel is one less

  /// The sizes that follow from the length of a text.
  struct shape {
    int noise = 0, spans = 0;     ///< tokens that are left out, and the spans that they form
    int inputs = 0, targets = 0;  ///< tokens, without one at the end
  };

  /// Throws std::invalid_argument for settings out of range.
  void check() const {
    if (!(noise_density > 0) || !(noise_density < 1) || !(mean_noise_span_length >= 1))
      throw std::invalid_argument(fmt::format(
          "wsl: noise_density is between 0 and 1 and mean_noise_span_length at least 1, not {} and {}",
          noise_density, mean_noise_span_length));
  }
  /// For a text of at least two tokens.
  shape shape_of(int length) const {
    shape s;
    s.noise = std::clamp(static_cast<int>(std::nearbyint(length * noise_density)), 1, length - 1);
    s.spans = std::max(1, static_cast<int>(std::nearbyint(s.noise / mean_noise_span_length)));
    s.spans = std::min({s.spans, s.noise, length - s.noise});
    s.inputs = length - s.noise + s.spans, s.targets = s.noise + s.spans;
    return s;
  }
  /// The longest text whose inputs and targets have at most so many tokens; 0 if there is none.
  int longest(int inputs, int targets) const {
    int length = 0;
    for (int next = 2; next <= 4 * (inputs + targets); ++next) {
      const shape s = shape_of(next);
      if (s.inputs > inputs || s.targets > targets) break;
      length = next;
    }
    return length;
  }

  /// Which tokens of a text of at least two are left out. Spans that stay and spans that go alternate,
  /// beginning with one that stays.
  std::vector<bool> noise_mask(int length, draws& random) const {
    const shape s = shape_of(length);
    const std::vector<int> noise = segments(s.noise, s.spans, random),
                           rest = segments(length - s.noise, s.spans, random);
    std::vector<bool> mask;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      mask.resize(mask.size() + static_cast<std::size_t>(rest[i]), false);
      mask.resize(mask.size() + static_cast<std::size_t>(noise[i]), true);
    }
    return mask;
  }
  /// The text with a sentinel in the place of each run of tokens of the mask: the inputs; with the tokens of
  /// the mask taken for the others, the targets.
  std::vector<i32> replaced(std::span<const i32> text, const std::vector<bool>& mask,
                            bool of_mask = true) const {
    std::vector<i32> out;
    i32 sentinel = first_sentinel;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (mask[i] != of_mask) out.push_back(text[i]);
      else if (i == 0 || mask[i - 1] != of_mask) out.push_back(sentinel--);
    }
    return out;
  }

 private:
  /// `sum` items in so many segments that are not empty, all divisions alike.
  static std::vector<int> segments(int sum, int count, draws& random) {
    std::vector<u8> begins(static_cast<std::size_t>(sum - 1));
    std::fill_n(begins.begin(), count - 1, u8{1});
    random.shuffle(std::span(begins));
    std::vector<int> lengths(1, 1);
    for (const u8 b : begins)
      if (b) lengths.push_back(1);
      else ++lengths.back();
    return lengths;
  }
};

}  // namespace wsl::ml
