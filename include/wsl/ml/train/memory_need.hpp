// SPDX-License-Identifier: MIT
// The memory that weight streaming needs, known before a step is made: that of the training state, which may
// lie in files (streaming_settings::memory_folder), and that of the activations, which a step divides by its
// micro-batches (streaming_settings::micro_batch_size).
#pragma once
#include <algorithm>
#include <vector>

#include "../model/column_cut.hpp"
#include "../optim/step.hpp"
#include "settings.hpp"
#include "streaming/micro_batch.hpp"
#include "streaming/recomputation.hpp"
#include "streaming/row_tokens.hpp"

namespace wsl::ml {

/// Bytes of a model's parameters, the gradients of those that are trained, and the numbers that the optimizer
/// keeps.
inline f64 state_bytes(const network& n, const optimizer& rule) {
  return 4 * (static_cast<f64>(n.parameter_count()) + static_cast<f64>(n.trained_count()) +
              static_cast<f64>(kept_numbers(rule, n.parameters())));
}

/// Bytes of the activations of a sequence, with their gradients, on all columns of a row of workers. With
/// `recompute` they are at most those that streaming_settings::recompute leaves.
inline f64 activation_bytes(const network& n, const column_cut& cut, int length, bool recompute = false) {
  // How often a value is there, on all columns together; a whole value is on each.
  std::vector<f64> copies(n.values().size());
  const auto made = [&](int v, value_form f) {
    copies[static_cast<std::size_t>(v)] += f == value_form::whole ? cut.columns() : 1;
  };
  for (int v = 0; v < static_cast<int>(n.values().size()); ++v)
    for (const value_form f : cut.forms_given(v))
      if (f != value_form::tokens) made(v, f);  // beside those of a PE's own tokens
  for (const auto& s : n.stages()) {
    for (const exchange& e : cut.before(*s)) made(e.value, e.to);
    for (const exchange& e : cut.after(*s)) made(e.value, e.to);
    if (!dynamic_cast<const loss_stage*>(s.get())) made(s->output, cut.writes(*s));
  }
  const auto numbers = [&](int v) {
    // Features that the host gives have no gradient.
    const bool is_given = n.info(v).from != origin::computed;
    const f64 times = copies[static_cast<std::size_t>(v)];
    return n.tokens_for_each(v) * n.widths()[static_cast<std::size_t>(v)] *
           (is_given ? 1 + times : 2 * times);
  };
  const f64 all = recomputation(n, false).most<f64>(n, numbers);
  const recomputation blocks(n, recompute);
  if (blocks.blocks().size() == 1) return 4 * all * length;
  // The values of a block take the memory of others that may need more, which is wasted. The factor is that
  // of the worst of the tests' models.
  constexpr f64 wasted = 1.4;
  return 4 * std::min(all, wasted * blocks.most<f64>(n, numbers)) * length;
}

/// The numbers that a stage reads on a worker where rows share sequences: those of a prefix, or of lines with
/// the ones that it borrows.
inline f64 numbers_shared(const column_cut& cut, const rows_of_wafers& rows, int row, int column,
                          const stage& s) {
  if (const int features = cut.features_of_prefix(s, column)) {
    const row_tokens t = rows.tokens_of(row);
    return t.count() > 0 && t.tokens.first > 0 ? static_cast<f64>(features) * t.in_first_sequence().end : 0;
  }
  const auto pixels = rows.pixels(row, s);
  return pixels.borrowed ? static_cast<f64>(pixels.all) * cut.features_read(s, column) : 0;
}

/// Bytes that rows of workers take beyond that where they share sequences, of which there are so many on all
/// wafers together: each row keeps what one stage at a time reads of the tokens before its own, or the lines
/// of images that it reads with those that it borrows, and the gradients of them.
inline f64 prefix_bytes(const network& n, const column_cut& cut, const wafer_grid& grid, int sequences,
                        int length) {
  const rows_of_wafers rows(cut, grid, sequences, length);
  f64 numbers = 0;
  for (int row = 0; row < grid.rows * grid.wafers; ++row)
    for (int column = 0; column < cut.columns(); ++column) {
      f64 most = 0;
      for (const auto& s : n.stages()) most = std::max(most, numbers_shared(cut, rows, row, column, *s));
      numbers += most;
    }
  return 2 * 4 * numbers;
}

/// The largest divisor of each wafer's part of a batch whose activations take at most so many bytes on all
/// wafers together; 1 if a single sequence of each takes more. Source: micro_batch_size "auto" of the
/// Cerebras Model Zoo.
inline int micro_batch_that_fits(const network& n, const wafer_grid& grid, int sequences, int length,
                                 f64 bytes, bool recompute = false) {
  const column_cut cut(n, grid.columns);
  const f64 each = activation_bytes(n, cut, length, recompute) * grid.wafers;
  const int on_wafer = std::max(1, sequences / grid.wafers);
  int best = 1;
  for (int size = 1; size <= on_wafer; ++size)
    if (on_wafer % size == 0 && size * each + prefix_bytes(n, cut, grid, size * grid.wafers, length) <= bytes)
      best = size;
  return best;
}

/// Bytes of the training state that a step reads and writes.
struct state_traffic {
  f64 read = 0, written = 0;
};
/// Each micro-batch reads the weights twice, or with `recompute` three times. The update reads and writes the
/// weights and what the optimizer keeps. Gradients that it does not use as they come are added to those
/// before them, and cleared at the end.
inline state_traffic traffic_of_step(const network& n, const optimizer& rule, const streaming_settings& how,
                                     int sequences) {
  const f64 weights = 4 * static_cast<f64>(n.parameter_count()),
            trained = 4 * static_cast<f64>(n.trained_count()),
            kept = 4 * static_cast<f64>(kept_numbers(rule, n.parameters()));
  const int passes = micro_batch::count(sequences, how.num_csx, how.micro_batch_size, sequences_together(n));
  const std::vector<parameter_update> updates = updates_of(rule, n.parameters());
  const bool waits = passes > 1 || how.clip_norm > 0 || rounds_of(updates) > 1;
  const f64 gradients = waits ? (passes + 1) * trained : 0;
  return {(how.recompute ? 3 : 2) * passes * weights + trained + kept + gradients,
          trained + kept + gradients};
}

}  // namespace wsl::ml
