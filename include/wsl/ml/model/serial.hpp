// SPDX-License-Identifier: MIT
// A step of training without a fabric: one place holds all tokens, and the slabs are parts of the weights
// themselves. It is what training on the fabric is compared with.
#pragma once
#include "weights.hpp"

namespace wsl::ml {

/// Calls f(slab) for the slabs of a stage's parameters, in the order in which they come by; `numbers` holds
/// the parameters.
template <class F>
void each_slab(const network& n, const stage& s, weights& numbers, F f) {
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    const std::size_t which = static_cast<std::size_t>(s.parameters[k]);
    const parameter& p = n.parameters()[which];
    const int rows = slab_rows(p, 1);
    for (int row = 0; row < p.rows; row += rows)
      f(weight_tile{static_cast<int>(k), row,
                    numbers.of(which).part(row, 0, std::min(rows, p.rows - row), p.columns)},
        which);
  }
}

/// The loss's sum over the tokens of `at`, which has its ids, or its input values, and its targets.
inline f64 serial_forward(const network& n, weights& numbers, place& at) {
  at.zero_grad();
  for (const auto& s : n.stages()) {
    s->forward(at);
    each_slab(n, *s, numbers, [&](const weight_tile& x, std::size_t) { s->forward(at, x); });
  }
  return at.loss;
}

/// Adds to the gradients what the step that `at` holds gives.
inline void serial_backward(const network& n, weights& numbers, weights& gradients, place& at) {
  std::vector<f32> of_slab;
  for (std::size_t k = n.stages().size(); k-- > 0;) {
    const stage& s = *n.stages()[k];
    s.backward(at);
    each_slab(n, s, numbers, [&](const weight_tile& x, std::size_t which) {
      of_slab.resize(static_cast<std::size_t>(x.rows.rows()) * static_cast<std::size_t>(x.rows.columns()));
      const matrix<f32> gradient(of_slab.data(), x.rows.rows(), x.rows.columns());
      s.backward(at, x, gradient);
      add(gradients.of(which).part(x.row, 0, gradient.rows(), gradient.columns()), gradient);
    });
  }
}

}  // namespace wsl::ml
