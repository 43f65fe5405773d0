// SPDX-License-Identifier: MIT
// A step of training without a fabric: one activation store holds all tokens, and the weight tiles are parts
// of the weights themselves. Training on the fabric is compared with it.
#pragma once
#include <limits>

#include "batch.hpp"
#include "weights.hpp"

namespace wsl::ml {

/// Calls f(tile, index of the parameter) for the weight tiles of a stage, in the order in which they would
/// come. `numbers` holds the parameters. Tiles have as many rows as with one server, or at most `most_rows`.
template <class F>
void each_tile(const network& n, const stage& s, weights& numbers, F f, int most_rows = 0) {
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    const std::size_t which = static_cast<std::size_t>(s.parameters[k]);
    const parameter& p = n.parameters()[which];
    const int rows = p.undivided ? p.rows
                     : most_rows ? std::min(most_rows, p.rows)
                                 : streamed_rows(p.size(), p.rows, 1);
    for (int row = 0; row < p.rows; row += rows)
      f(weight_tile{static_cast<int>(k), row,
                    numbers.of(which).part(row, 0, std::min(rows, p.rows - row), p.columns)},
        which);
  }
}

/// The work of a stage in the forward pass, and in the backward pass, in which it adds the gradients of its
/// parameters to `gradients`. Weights that it does not need there are NaN, if no gradients of inputs are
/// wanted, which some stages need them for.
inline void forward_of_stage(const network& n, const stage& s, weights& numbers, activation_store& store,
                             int most_rows = 0) {
  tile_in_format in_format;
  begin_forward(s, store, true);
  each_tile(
      n, s, numbers,
      [&](const weight_tile& x, std::size_t) { s.forward(store, in_format(x, s, store.format)); }, most_rows);
}
inline void backward_of_stage(const network& n, const stage& s, weights& numbers, weights& gradients,
                              activation_store& store, int most_rows = 0) {
  std::vector<f32> of_tile, absent;
  tile_in_format in_format;
  begin_backward(s, store, true);
  each_tile(
      n, s, numbers,
      [&](weight_tile x, std::size_t which) {
        if (!store.gradients_of_inputs && !s.needs_weight_in_backward(x.which)) {
          absent.assign(static_cast<std::size_t>(x.rows.rows()) * static_cast<std::size_t>(x.rows.columns()),
                        std::numeric_limits<f32>::quiet_NaN());
          x.rows = matrix(absent.data(), x.rows.rows(), x.rows.columns());
        }
        // A stage sets the gradient of its tile; what it leaves out is seen.
        of_tile.assign(static_cast<std::size_t>(x.rows.rows()) * static_cast<std::size_t>(x.rows.columns()),
                       std::numeric_limits<f32>::quiet_NaN());
        const matrix<f32> gradient(of_tile.data(), x.rows.rows(), x.rows.columns());
        s.backward(store, in_format(x, s, store.format), gradient);
        if (!n.parameters()[which].frozen)
          add(gradients.of(which).part(x.row, 0, gradient.rows(), gradient.columns()), gradient);
      },
      most_rows);
}

namespace detail {

inline void serial_pass(const network& n, weights& numbers, activation_store& store, int most_rows) {
  store.zero_grad();
  for (const auto& s : n.stages()) forward_of_stage(n, *s, numbers, store, most_rows);
}

}  // namespace detail

/// The sums over all tokens on which the losses depend (loss_stage::statistics), by a forward pass in which
/// they are counted.
inline std::vector<f64> serial_statistics(const network& n, weights& numbers, activation_store& store,
                                          int most_rows = 0) {
  store.statistics.clear();
  if (n.statistics() > 0) detail::serial_pass(n, numbers, store, most_rows);
  return store.counted;
}
/// The forward pass. Returns the sum of the loss over the tokens of `store`, to which a batch has been given.
/// It makes the sums over all tokens on which losses depend, unless the batch has them.
inline f64 serial_forward(const network& n, weights& numbers, activation_store& store, int most_rows = 0) {
  const bool makes_statistics = store.statistics.empty();
  if (makes_statistics) store.statistics = serial_statistics(n, numbers, store, most_rows);
  detail::serial_pass(n, numbers, store, most_rows);
  if (makes_statistics) store.statistics.clear();
  return store.loss;
}

/// The backward pass: adds the gradients of all parameters that are not frozen to `gradients`.
inline void serial_backward(const network& n, weights& numbers, weights& gradients, activation_store& store,
                            int most_rows = 0) {
  for (std::size_t k = n.stages().size(); k-- > 0;)
    if (const stage& s = *n.stages()[k]; s.goes_back || store.gradients_of_inputs)
      backward_of_stage(n, s, numbers, gradients, store, most_rows);
}

}  // namespace wsl::ml
