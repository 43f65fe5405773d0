// SPDX-License-Identifier: MIT
// The weights of a model, cut over the columns of a writer: heads, features inside the feed-forward part and
// words of the vocabulary in even shares. A layer whose outputs are shared out has some rows of its matrix on
// each column. A layer whose inputs are has some columns of it, and the columns add up their terms, of which
// the first has the bias: the tensor parallelism of Megatron-LM (arXiv 1909.08053).
#pragma once
#include <fmt/format.h>

#include "layer_parts.hpp"

namespace wsl::ml {

struct cut_weights {
  stored_weights all;
  precision format = precision::f32;
  bool in_place = false;
  int columns = 1;

  /// The `column`-th of even shares of some units.
  feature_run share(int units, int column) const {
    const block_cyclic cut{units, columns};
    return {cut.size(column) ? cut.global(column, 0) : 0, cut.size(column)};
  }
  /// The units of the column that has most.
  int largest_share(int units) const { return (units + columns - 1) / columns; }

  /// Some rows of a matrix, one run after the other, and of these some columns.
  weight_part part(const std::string& name, std::span<const feature_run> rows, feature_run of_row) const {
    return {*all.find(name), rows, of_row, format, in_place};
  }
  /// Some elements of a vector; none if the model has none of that name.
  std::vector<f32> vector(const std::string& name, std::span<const feature_run> which) const {
    std::vector<f32> numbers;
    if (const stored_weights::array* p = all.find(name))
      for (const feature_run& r : which)
        with_number(p->runs[0].format, [&]<class T>(std::type_identity<T>) {
          for (int i = 0; i < r.count; ++i)
            numbers.push_back(static_cast<f32>(static_cast<const T*>(p->runs[0].first)[r.first + i]));
        });
    return numbers;
  }

  /// Some outputs of a layer with `inputs` features.
  linear_part outputs(const std::string& name, std::span<const feature_run> which, int inputs) const {
    return {part(name + ".weight", which, {0, inputs}), vector(name + ".bias", which)};
  }
  /// All `outputs` of a layer for some of its inputs: a term of their sum over the columns.
  linear_part term(const std::string& name, int outputs, feature_run inputs, int column) const {
    const feature_run every[]{{0, outputs}};
    linear_part p{part(name + ".weight", every, inputs), {}};
    if (column == 0) p.bias = vector(name + ".bias", every);
    return p;
  }
  norm_part norm(const std::string& name, int width, normalization how, f32 epsilon) const {
    const feature_run every[]{{0, width}};
    return {how, epsilon, vector(name + ".gain", every), vector(name + ".bias", every)};
  }
  /// `Model` is a configuration with `width`, `is_gated()` and `between`; `name` begins those of its layers.
  template <class Model>
  feed_forward_part feed_forward(const std::string& name, const Model& m, feature_run inside,
                                 int column) const {
    const feature_run own[]{inside};
    feed_forward_part p;
    p.between = m.between;
    p.up = outputs(name + "up", own, m.width);
    if (m.is_gated()) p.gate = outputs(name + "gate", own, m.width);
    p.down = term(name + "down", m.width, inside, column);
    return p;
  }
};

/// The weights, which are those of a network. Throws std::invalid_argument if they are of another one.
inline stored_weights weights_of(const network& n, stored_weights w) {
  const auto& all = n.parameters();
  for (std::size_t k = 0; k < std::max(all.size(), w.size()); ++k)
    if (k >= all.size() || k >= w.size() || all[k].name != w[k].name || all[k].rows != w[k].rows ||
        all[k].columns != w[k].columns)
      throw std::invalid_argument(
          fmt::format("wsl: these weights are of another model: parameter {} is '{}' there, and '{}' here", k,
                      k < w.size() ? w[k].name : "missing", k < all.size() ? all[k].name : "missing"));
  return w;
}

}  // namespace wsl::ml
