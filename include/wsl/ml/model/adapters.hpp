// SPDX-License-Identifier: MIT
// Weights of a model with adapters and of the same model without them (network::adapt).
//   const network plain = d.build(), tuned = d.build({.rank = 8, .layers = {{"layer * qkv"}}});
//   weights w = with_adapters(plain, pretrained, tuned, seed);   // adapters that change nothing yet
//   ...
//   weights folded = without_adapters(tuned, trained, plain);    // the adapters are part of their layers
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "../../linalg/dense.hpp"
#include "parameter_store.hpp"

namespace wsl::ml {

namespace detail {

/// Calls f(index in `plain`, index in `tuned`) for all parameters of a model without adapters. Throws
/// std::invalid_argument if it is not the same model.
template <class F>
void each_common_parameter(const network& plain, const network& tuned, F f) {
  std::vector<bool> added(tuned.parameters().size());
  for (const adapter& a : tuned.adapters())
    added[static_cast<std::size_t>(a.a)] = added[static_cast<std::size_t>(a.b)] = true;
  std::size_t k = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (added[i]) continue;
    const parameter& t = tuned.parameters()[i];
    if (k == plain.parameters().size() || plain.parameters()[k].name != t.name ||
        plain.parameters()[k].rows != t.rows || plain.parameters()[k].columns != t.columns)
      throw std::invalid_argument(fmt::format(
          "wsl: {} is a parameter of the model with adapters only: without them it is another model",
          t.name));
    f(k++, i);
  }
  if (k < plain.parameters().size())
    throw std::invalid_argument(fmt::format(
        "wsl: {} is a parameter of the model without adapters only: with them it is another model",
        plain.parameters()[k].name));
}

}  // namespace detail

/// The weights of a model, and adapters with their initial values by this seed, which change nothing yet.
inline weights with_adapters(const network& plain, const weights& w, const network& tuned, u64 seed) {
  weights all(tuned, seed);
  detail::each_common_parameter(plain, tuned, [&](std::size_t k, std::size_t i) { all[i] = w[k]; });
  return all;
}

/// The weights beneath the adapters: those of the model as it would be without them.
inline weights beneath_adapters(const network& tuned, const weights& w, const network& plain) {
  weights all(plain);
  detail::each_common_parameter(plain, tuned, [&](std::size_t k, std::size_t i) { all[k] = w[i]; });
  return all;
}

/// The weights of a model in which the adapters have been added to the weights of their layers: they give the
/// same numbers without them, up to rounding ("merge_and_unload" of peft).
inline weights without_adapters(const network& tuned, const weights& w, const network& plain) {
  weights folded = w;
  for (const adapter& of : tuned.adapters()) {
    const matrix<f32> to = folded.of(static_cast<std::size_t>(of.weight)),
                      a = folded.of(static_cast<std::size_t>(of.a)),
                      b = folded.of(static_cast<std::size_t>(of.b));
    const int rank = b.columns();
    std::vector<f32> scaled(static_cast<std::size_t>(rank));
    for (std::size_t k = 0; k < of.parts.size(); ++k)
      for (int row = of.parts[k].first; row < of.parts[k].end(); ++row) {
        for (int r = 0; r < rank; ++r) scaled[static_cast<std::size_t>(r)] = of.factor * b(row, r);
        multiply_add(to.part(row, 0, 1, to.columns()), matrix<const f32>(scaled.data(), 1, rank),
                     matrix<const f32>(a.part(static_cast<int>(k) * rank, 0, rank, a.columns())));
      }
  }
  weights all(plain);
  detail::each_common_parameter(plain, tuned, [&](std::size_t k, std::size_t i) { all[k] = folded[i]; });
  return all;
}

}  // namespace wsl::ml
