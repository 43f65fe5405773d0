// SPDX-License-Identifier: MIT
// A coordinate check: models of several widths take a few steps, and the mean sizes of their activations are
// compared. Under muP (model/mup.hpp) sizes do not depend on the width; under the standard parametrization
// some grow with it, and with them the learning rate that is best changes (Yang et al., arXiv 2203.03466,
// appendix D.1).
//   coordinate_check sizes;
//   for (int width : {64, 128, 256}) ... sizes.add(width, step, coordinates_of(d, n, w, batch));
//   sizes.growth(coordinate::kind::logits, 1)   // near 0 if they are stable
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "../model/decoder.hpp"
#include "../model/serial.hpp"
#include "power_law.hpp"

namespace wsl::ml {

/// The mean absolute value of some numbers that a model computes.
struct coordinate {
  /// Of the output of a block, the scores of its attention, or the logits of the model.
  enum class kind : u8 { block, scores, logits };
  std::string name;
  kind of = kind::block;
  f64 size = 0;
};

namespace detail {

inline f64 mean_size(const matrix<f32>& x) {
  f64 sum = 0;
  for (int i = 0; i < x.rows(); ++i)
    for (int k = 0; k < x.columns(); ++k) sum += std::abs(static_cast<f64>(x.row(i)[k]));
  return sum / (static_cast<f64>(x.rows()) * static_cast<f64>(x.columns()));
}

/// The mean size of the scores of a layer, the products of queries with their own key and those before it;
/// qkv is (tokens, queries | keys | values).
inline f64 mean_size_of_scores(const decoder& d, int layer, const matrix<f32>& qkv, int sequences,
                               int length) {
  const int width = d.width_of_head(), keys_at = d.of_queries(),
            shared = d.kv_heads ? d.heads / d.kv_heads : 1;
  const f64 scale = (d.attention_scale != 0 ? static_cast<f64>(d.attention_scale) : 1 / std::sqrt(width)) /
                    (d.scale_by_layer ? layer + 1 : 1);
  f64 sum = 0, count = 0;
  for (int s = 0; s < sequences; ++s)
    for (int h = 0; h < d.heads; ++h)
      for (int t = 0; t < length; ++t)
        for (int u = 0; u <= t; ++u) {
          const f32 *q = qkv.row(s * length + t) + h * width,
                    *k = qkv.row(s * length + u) + keys_at + h / shared * width;
          f32 product = 0;
          for (int i = 0; i < width; ++i) product += q[i] * k[i];
          sum += std::abs(static_cast<f64>(product)) * scale, ++count;
        }
  return sum / count;
}

}  // namespace detail

/// The sizes of a decoder's activations for a batch: of what each block gives ("layer 0"), of the scores of
/// its attention before ALiBi and the softmax ("layer 0 scores"), and of the logits. The network is that of
/// the decoder, and the batch has targets. Throws std::invalid_argument if the batch does not fit the model.
inline std::vector<coordinate> coordinates_of(const decoder& d, const network& n, weights& w, batch b) {
  check(n, b);
  activation_store store = store_of(n, b);
  serial_forward(n, w, store);
  const auto value_called = [&](const std::string& name) {
    for (std::size_t v = 0; v < n.values().size(); ++v)
      if (n.values()[v].name == name) return static_cast<int>(v);
    throw std::invalid_argument(
        fmt::format("wsl: the network has no value {}: it is that of another decoder", name));
  };
  std::vector<coordinate> all;
  for (int l = 0; l < d.layers; ++l) {
    const std::string name = fmt::format("layer {}", l);
    const int qkv = value_called(name + (d.position == positioning::rotary ? " rotary" : " qkv"));
    all.push_back(
        {name, coordinate::kind::block, detail::mean_size(store.value(value_called(name + " sum 2")))});
    all.push_back({name + " scores", coordinate::kind::scores,
                   detail::mean_size_of_scores(d, l, store.value(qkv), b.sequences, b.length)});
  }
  all.push_back({"logits", coordinate::kind::logits, detail::mean_size(store.value(n.logits()))});
  return all;
}

/// The sizes of the same coordinates at several widths and steps.
class coordinate_check {
 public:
  struct row {
    std::string name;
    coordinate::kind of = coordinate::kind::block;
    i64 step = 0;
    std::vector<f64> widths = {}, sizes = {};

    /// The exponent with which the size grows with the width.
    f64 slope() const { return log_slope(widths, sizes); }
  };

  void add(int width, i64 step, const std::vector<coordinate>& all) {
    for (const coordinate& c : all) {
      const auto found = std::find_if(rows_.begin(), rows_.end(),
                                      [&](const row& r) { return r.name == c.name && r.step == step; });
      row& r = found == rows_.end() ? rows_.emplace_back(row{c.name, c.of, step}) : *found;
      r.widths.push_back(width), r.sizes.push_back(c.size);
    }
  }
  const std::vector<row>& rows() const { return rows_; }

  /// The exponent with which sizes of a kind grow with the width, the mean over all layers, this step and
  /// later ones: scores of a single layer and step vary much more. Throws std::invalid_argument if there are
  /// none, or for fewer than two widths.
  f64 growth(coordinate::kind of, i64 first_step) const {
    f64 sum = 0;
    int n = 0;
    for (const row& r : rows_)
      if (r.of == of && r.step >= first_step) sum += r.slope(), ++n;
    if (!n)
      throw std::invalid_argument(
          fmt::format("wsl: no coordinates are known of step {} and later", first_step));
    return sum / n;
  }

 private:
  std::vector<row> rows_;
};

}  // namespace wsl::ml
