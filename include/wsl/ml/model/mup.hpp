// SPDX-License-Identifier: MIT
// muP, the maximal update parametrization (Yang et al., arXiv 2203.03466), as the Cerebras Model Zoo has it
// (Release_2.10.0, models/nlp/gpt2/gpt2_model.py): settings that were tuned for a small base model hold for
// wider ones. Deviations of initial weights, learning rates and the logits get factors that follow from the
// widths of both; then neither activations nor what a step changes of them grow with the width. Encoders
// (models/nlp/bert/bert_model.py) and encoders with a decoder (models/nlp/t5/t5_model.py) have it, too.
//   const decoder wide = with_mup({.layers = 10, .heads = 12, .width = 768, .deviation = 0.08f,
//                                  .embedding_scale = 10, ...}, {.width = 256, .filter = 1024});
// The result is a decoder like any other. The factors of rates are for optimizers whose steps do not depend
// on the size of a gradient, such as Adam's, and not for SGD. See docs/guide/mup.md.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "decoder.hpp"
#include "encoder.hpp"
#include "encoder_decoder.hpp"

namespace wsl::ml {

/// The base model, for which the settings were tuned.
struct mup_base {
  f64 width = 0, filter = 0;    ///< the features of a token, and those inside its feed-forward part
  f32 logits = 1;               ///< a tuned factor of the logits (output_logits_alpha of the Zoo)
  bool logits_by_root = false;  ///< logits are divided by the root of the ratio of the widths
  f64 head = 0;  ///< the features of a head, where they vary (encoder_decoder); 0: they are the same
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

namespace detail {

/// Gives a start the factor of muP; without one it is the usual one of the base model.
inline void scale_start(std::optional<initial>& start, const initial& usual, f64 factor) {
  start = start.value_or(usual).times(static_cast<f32>(factor));
}

}  // namespace detail

/// A decoder with these factors. Its `deviation` and `starts`, its `rates`, its factors of embedding and
/// logits are those of the base model. Layers without a start of their own begin with the deviation, and the
/// projection and down get their factor for the depth, also where they have a start. Scores are divided by
/// the features of a head, unless attention_scale says otherwise. Throws what mup_factors_for throws.
inline decoder with_mup(decoder d, const mup_base& base) {
  const mup_factors by = mup_factors_for(d.width, d.inner_width(), d.layers, base);
  const auto times = [&](auto& start, f64 factor) {
    detail::scale_start(start, initial::normal(d.deviation), factor);
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

/// An encoder with these factors, those of the layers with the same names of a decoder; the pooler starts as
/// qkv does and has its learning rate. Throws what mup_factors_for throws.
inline encoder with_mup(encoder e, const mup_base& base) {
  const mup_factors by = mup_factors_for(e.width, e.inner_width(), e.layers, base);
  const auto times = [&](auto& start, f64 factor) { detail::scale_start(start, e.usual_start(), factor); };
  times(e.starts.attention, by.inside), times(e.starts.up, by.inside);
  times(e.starts.projection, by.projection), times(e.starts.down, by.down);
  e.rates.attention *= static_cast<f32>(by.rate), e.rates.up *= static_cast<f32>(by.rate);
  e.rates.pooler *= static_cast<f32>(by.rate), e.rates.down *= static_cast<f32>(by.rate_down);
  e.logit_scale *= static_cast<f32>(by.logits);
  if (e.attention_scale == 0 && e.heads > 0)
    e.attention_scale = static_cast<f32>(e.heads) / static_cast<f32>(e.width);
  return e;
}

/// An encoder with a decoder under the muP of the Zoo's T5, whose weights start as its widths say, whatever
/// the base. With w features of a token, h of a head, f inside the feed-forward part, L blocks of a side and
/// m as above, these are
///   deviation of tables and head  w^-1/2            learning rate  m^-1/2
///   of queries                    (w h)^-1/2        m^-1/2
///   of keys and values            w^-1/2            m^-1/2
///   of an attention's output      (2 L w)^-1/2      m^-1/2
///   of up and gate                w^-1/2            1 / m
///   of down                       (2 L f)^-1/2      1 / m_filter
/// The embedding has the factor w^1/2, and queries, keys and values m^-1/2, which for values the output takes
/// back: so scores have the factor 1 / m. If heads vary, too, they have none of these factors, the output of
/// an attention of n heads has the deviation (2 L n h)^-1/2, and the learning rates are 1 / m, and 1 over the
/// ratio of the heads for the output. (The Zoo's file multiplies outputs by 2 L where its other models divide
/// by the root, which is taken for a slip.) The factors of scores and embedding that m has already multiply
/// these; scores without one are divided by the features of a head. Throws what mup_factors_for throws.
inline encoder_decoder with_mup(encoder_decoder m, const mup_base& base) {
  const mup_factors of_encoder = mup_factors_for(m.width, m.inner_width(), m.layers, base);
  const f64 ratio = m.width / base.width, head = m.width_of_head(), width = m.width;
  const auto normal = [](f64 deviation) { return initial::normal(static_cast<f32>(deviation)); };
  const auto starts_of = [&](int layers) {
    const f64 depth = 2. * layers;
    return side_starts{.attention = normal(1 / std::sqrt(width)),
                       .queries = static_cast<f32>(1 / std::sqrt(head)),
                       .projection = normal(1 / std::sqrt(depth * (base.head > 0 ? m.of_heads() : width))),
                       .up = normal(1 / std::sqrt(width)),
                       .down = normal(1 / std::sqrt(depth * m.inner_width()))};
  };
  m.encoder_starts = starts_of(m.layers), m.decoder_starts = starts_of(m.layers_of_decoder());
  m.embedding_start = m.head_start = normal(1 / std::sqrt(width));
  m.embedding_scale *= static_cast<f32>(std::sqrt(width)), m.scales_waves = true;
  m.logit_scale = static_cast<f32>(of_encoder.logits);
  const f32 root = static_cast<f32>(1 / std::sqrt(ratio));
  m.rates = {.tables = root,
             .attention = base.head > 0 ? static_cast<f32>(of_encoder.rate) : root,
             .projection = base.head > 0 ? static_cast<f32>(base.head / head) : root,
             .up = static_cast<f32>(of_encoder.rate),
             .down = static_cast<f32>(of_encoder.rate_down)};
  const auto scored = [&](f32 scale) {
    return static_cast<f32>((scale != 0 ? static_cast<f64>(scale) : 1 / head) / (base.head > 0 ? 1 : ratio));
  };
  m.decoder_attention_scale =
      scored(m.decoder_attention_scale != 0 ? m.decoder_attention_scale : m.attention_scale);
  m.attention_scale = scored(m.attention_scale);
  return m;
}

}  // namespace wsl::ml
