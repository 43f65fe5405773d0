// SPDX-License-Identifier: MIT
// The choice of rows and columns for the workers of a wafer, by the time that a step would take. More rows
// share out sequences, and parts of them, but each makes the gradient of all weights of its column; more
// columns share out weights and their gradients, but exchange activations. The prediction counts products,
// bytes and hops:
//   products    of the row with the most tokens and, for each stage, the column with the most features
//   weights     each worker reads those of its column twice, and writes and sends as many gradients
//   gradients   the sum of a gradient goes from worker to worker of a column, and each adds its own to it
//   exchanges   each column sends what it has of a value to the C - 1 others
//   sequences   rows that share one bring keys and values along their columns twice, and gradients back, and
//               wait for each other about ten hops each time; the last of them has the most keys
//   images      rows that share one bring lines of it and gradients of them in the same way
// Of a sparse parameter the nonzeros count.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "../../model/column_cut.hpp"
#include "../../model/operations.hpp"
#include "../settings.hpp"
#include "micro_batch.hpp"
#include "row_tokens.hpp"
#include "sparse_tile.hpp"
#include "wires.hpp"

namespace wsl::ml {

/// The rates of a core, per second, and the times of a hop between workers: of a part of a value along a row,
/// for which the workers wait, and of a gradient along a column, beside which they go on. They are orders of
/// magnitude for a server: only the ratios matter, and near the best grid the time hardly depends on it.
/// `gradient_hop` is fitted to the times of the grids of up to 16 workers for the two small models of `bench
/// train`.
struct worker_rates {
  f64 operations = 60e9, bytes = 6e9, hop = 10e-6, gradient_hop = 3e-6;
};

/// The most tokens of a row.
inline int most_tokens(const rows_of_wafers& all, int rows) {
  int most = 0;
  for (int row = 0; row < rows; ++row) most = std::max(most, all.tokens_of(row).count());
  return most;
}
/// The most pixels that a row borrows for a stage of images.
inline f64 most_borrowed(const rows_of_wafers& all, int rows, const stage& s) {
  i64 most = 0;
  for (int row = 0; row < rows; ++row) most = std::max(most, all.pixels(row, s).borrowed);
  return static_cast<f64>(most);
}

/// The share of a parameter's numbers that are there from the first step on; 1 where a schedule says it.
inline f64 density_of(const parameter& p, const sparsity_settings& sparse) {
  const sparsity::group* const g = sparse.group_of(p.name, p.rows, p.columns);
  const f64* const constant = g && g->starts_sparse() ? g->sparsity.as<f64>() : nullptr;
  return constant ? 1 - *constant : 1;
}

/// The predicted seconds of a training step, but for the update, which takes the same on every grid.
inline f64 predicted_step(const network& n, int sequences, int length, const wafer_grid& g,
                          const sparsity_settings& sparse = {}, const worker_rates& of = {}) {
  const column_cut cut(n, g.columns);
  const int rows = g.rows * g.wafers, most = (sequences + rows - 1) / rows;
  const bool shares_sequences = sequences < rows && !cut.rows_keep_sequences();
  const rows_of_wafers all_rows(cut, g, sequences, length);
  const f64 tokens = shares_sequences ? most_tokens(all_rows, rows) : static_cast<f64>(most) * length,
            share = 1. / g.columns;
  f64 operations = 0;  // of a token, on the column with the most; more for the keys of the last row
  f64 bytes = 0, moved = 0, hops = 0, gradient_hops = 0;
  // A number is copied on the ring, and once more to its place: four accesses of 4 bytes, on both ways.
  const auto exchange_all = [&](const std::vector<exchange>& all) {
    for (const exchange& e : all)
      hops += 2. * (g.columns - 1), moved += 2 * 16 * tokens * n.width(e.value) * (1 - share);
  };
  for (const auto& s : n.stages()) {
    exchange_all(cut.before(*s)), exchange_all(cut.after(*s));
    const bool is_cut = s->how_cut() == stage_cut::by_output || s->how_cut() == stage_cut::by_head;
    const f64 widest = is_cut ? static_cast<f64>(cut.largest_width(s->output)) / n.width(s->output) : share;
    for (int p : s->parameters) {
      const parameter& weights = n.parameters()[static_cast<std::size_t>(p)];
      const f64 numbers = static_cast<f64>(weights.size()) *
                          std::min(1., sparse_tile_form::words_of_nonzero * density_of(weights, sparse)) *
                          (cut.is_cut(*s) ? share : 1);
      // Of the workers of a column all but one add: they read two numbers and write one.
      bytes += 4. * 4 * numbers + 4. * 3 * numbers * (g.rows - 1) / g.rows;
      if (!cut.is_cut(*s)) hops += g.columns - 1;
      gradient_hops += g.rows - 1;
    }
    operations += widest * operations_per_token(n, *s, length, [&](const parameter& p) {
                    return std::min(1., numbers_in_time_of_nonzero * density_of(p, sparse));
                  });
    if (const int features = cut.largest_prefix(*s); shares_sequences && features) {
      const int window = s->reads_of_prefix().window;
      const f64 before = std::min<f64>(length - tokens, window ? window - 1 : length);
      if (!window) operations += widest * s->operations(-1, 0, n.width(s->output), length) * before / length;
      hops += 3. * (10 + std::ceil(before / tokens)), moved += 3 * 4 * before * features;
    }
    if (const f64 pixels = shares_sequences ? most_borrowed(all_rows, rows, *s) : 0; pixels > 0)
      hops += 3 * 10, moved += 3 * 4 * pixels * cut.features_read(*s, 0);
  }
  return operations * tokens / of.operations + (bytes + moved) / of.bytes + hops * of.hop +
         gradient_hops * of.gradient_hop;
}

/// The grid of the settings, with what they leave open chosen for batches of so many sequences, which pass in
/// micro-batches if the settings say so. Throws std::invalid_argument for settings that contradict each
/// other.
inline wafer_grid choose_grid(const network& n, const streaming_settings& how, int sequences, int length) {
  if (how.workers < 0 || how.columns < 0)
    throw std::invalid_argument(
        fmt::format("wsl: {} workers in {} columns: each number is at least 1, or 0 to have it chosen",
                    how.workers, how.columns));
  if (how.workers && how.columns && how.workers % how.columns)
    throw std::invalid_argument(
        fmt::format("wsl: {} workers are not divided by {} columns: all columns of a wafer have as many",
                    how.workers, how.columns));
  const int cores = how.cores > 0 ? how.cores
                                  : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
            workers = how.workers ? how.workers : std::max(cores / how.num_csx, std::max(1, how.columns));
  if (how.workers && how.columns)
    return wires::checked({how.workers / how.columns, how.columns, how.num_csx});
  const int passes = micro_batch::count(sequences, how.num_csx, how.micro_batch_size, sequences_together(n)),
            of_pass = (sequences + passes - 1) / passes;
  const int most_columns = column_cut::can_cut(n) ? workers : 1;
  wafer_grid best{how.workers ? workers : 1, 1, how.num_csx};
  f64 least = -1;
  for (int columns = std::max(1, how.columns); columns <= (how.columns ? how.columns : most_columns);
       ++columns)
    for (int rows = 1; rows * columns <= workers; ++rows) {
      const wafer_grid g{rows, columns, how.num_csx};
      if ((how.workers && rows * columns != workers) || !wires::fits(g)) continue;
      const f64 seconds = predicted_step(n, of_pass, length, g, how.sparsity);
      if (least < 0 || seconds < least) best = g, least = seconds;
    }
  return wires::checked(best);
}

}  // namespace wsl::ml
