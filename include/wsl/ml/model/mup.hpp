// SPDX-License-Identifier: MIT
// muP, the maximal update parametrization (Yang et al., arXiv 2203.03466), as the Cerebras Model Zoo has it
// (Release_2.10.0, models/nlp/gpt2/gpt2_model.py): settings that were tuned for a small base model hold for
// wider ones. Deviations of initial weights, learning rates and the logits get factors that follow from the
// widths of both; then neither activations nor what a step changes of them grow with the width.
//   const decoder wide = with_mup({.layers = 10, .heads = 12, .width = 768, .deviation = 0.08f,
//                                  .embedding_scale = 10, ...}, {.width = 256, .filter = 1024});
// The result is a decoder like any other. The factors of rates are for optimizers whose steps do not depend on
// the size of a gradient, such as Adam's, and not for SGD. See docs/guide/mup.md.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "decoder.hpp"

namespace wsl::ml {

/// The base model, for which the settings were tuned.
struct mup_base {
  f64 width = 0, filter = 0;    ///< the features of a token, and those inside its feed-forward part
  f32 logits = 1;               ///< a tuned factor of the logits (output_logits_alpha of the Zoo)
  bool logits_by_root = false;  ///< logits are divided by the root of the ratio of the widths
};

/// The factors of a model, beside the settings of its base model. With m, the ratio of the widths, m_filter,
/// that of the filters, and L blocks they are
///   deviation of qkv, up and gate  m^-1/2         learning rate of attention, up and gate  1 / m
///   deviation of projection        (2 L m)^-1/2   learning rate of down                    1 / m_filter
///   deviation of down              (2 L m_filter)^-1/2
/// and that of the logits is 1 / m, times the base's. Tables, norms, biases and the head have none.
struct mup_factors {
  f64 inside = 1;      ///< of the deviation of qkv, up and gate
  f64 projection = 1;  ///< of the deviation of the output of attention
  f64 down = 1;        ///< of the deviation of the output of the feed-forward part
  f64 logits = 1;
  f64 rate = 1;       ///< of the learning rate of qkv, projection, up and gate
  f64 rate_down = 1;  ///< of that of down
};

/// Throws std::invalid_argument unless all sizes are positive.
inline mup_factors mup_factors_for(int width, int filter, int layers, const mup_base& base) {
  for (const auto& [what, size] : {std::pair("the width of the base model", base.width),
                                   {"the filter of the base model", base.filter},
                                   {"the width of the model", static_cast<f64>(width)},
                                   {"the filter of the model", static_cast<f64>(filter)},
                                   {"the number of blocks", static_cast<f64>(layers)}})
    if (!(size > 0) || std::isinf(size))
      throw std::invalid_argument(fmt::format("wsl: muP: {} is positive, not {}", what, size));
  if (!(base.logits > 0) || std::isinf(base.logits))
    throw std::invalid_argument(
        fmt::format("wsl: muP: the factor of the logits is positive and finite, not {}", base.logits));
  const f64 m = width / base.width, of_filter = filter / base.filter, depth = 2. * layers;
  return {.inside = 1 / std::sqrt(m),
          .projection = 1 / std::sqrt(depth * m),
          .down = 1 / std::sqrt(depth * of_filter),
          .logits = static_cast<f64>(base.logits) / (base.logits_by_root ? std::sqrt(m) : m),
          .rate = 1 / m,
          .rate_down = 1 / of_filter};
}

/// A decoder with these factors. Its `deviation` and `starts`, its `rates`, its factors of embedding and
/// logits are those of the base model. Layers without a start of their own begin with the deviation, and the
/// projection and down get their factor for the depth, also where they have a start. Scores are divided by
/// the features of a head, unless attention_scale says otherwise. Throws what mup_factors_for throws.
inline decoder with_mup(decoder d, const mup_base& base) {
  const mup_factors by = mup_factors_for(d.width, d.inner_width(), d.layers, base);
  const auto times = [&](std::optional<initial>& start, f64 factor) {
    start = start.value_or(initial::normal(d.deviation)).times(static_cast<f32>(factor));
  };
  times(d.starts.qkv, by.inside), times(d.starts.up, by.inside);
  times(d.starts.projection, by.projection), times(d.starts.down, by.down);
  d.rates.attention *= static_cast<f32>(by.rate), d.rates.up *= static_cast<f32>(by.rate);
  d.rates.down *= static_cast<f32>(by.rate_down);
  d.logit_scale *= static_cast<f32>(by.logits);
  if (d.attention_scale == 0 && d.width_of_head() > 0)
    d.attention_scale = 1 / static_cast<f32>(d.width_of_head());
  return d;
}

}  // namespace wsl::ml
