// SPDX-License-Identifier: MIT
// How the pattern of a sparse parameter changes in training: RigL, SET and GMP as cerebras.pytorch has them
// (sparse/{rigl,set,gmp}.py), as functions of whole parameters. After the optimizer's update number `step`,
// the first being 1,
//   if (sparsity::updates_at(g, step))
//     pattern = sparsity::updated_pattern(g, name, step, weights, gradients, pattern);
// Weights that the new pattern lacks become 0 and lose their state; those that only the new one has begin
// with 0, and so does their state; a weight that was dropped and grew again in the same update keeps both.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "masks.hpp"

namespace wsl::ml::sparsity {

/// Whether the pattern may change after update number `step` of the optimizer.
inline bool updates_at(const group& g, i64 step) { return g.changes() && step > 0 && g.update.are_at(step); }
/// Whether that change needs the gradients of absent weights as well.
inline bool needs_dense_gradient(const group& g, i64 step) {
  return g.algorithm == algorithm::rigl && updates_at(g, step);
}
/// The sparsity that the settings want after update number `step`; at 0 that of the first pattern.
inline f32 target_sparsity(const group& g, i64 step) {
  return g.sparsity.at(step, step > 0 ? g.update.before(step) : 0);
}
/// The share of nonzeros that a change after update number `step` drops.
inline f32 drop_fraction_at(const group& g, i64 step) {
  constexpr f32 usual = 0.3f;
  return g.drop_fraction.is_given()
             ? g.drop_fraction.at(step, g.update.before(step) - (g.update.are_at(0) ? 1 : 0))
             : usual;
}

/// What an update makes of a block of `size` places, of which `there` are nonzeros.
struct counts_of_update {
  i64 kept, wanted;  ///< of the nonzeros, and by the sparsity
  counts_of_update(const group& g, i64 step, i64 size, f32 there)
      : kept(0), wanted(kept_of(target_sparsity(g, step), size)) {
    kept = g.algorithm == algorithm::gmp ? wanted : static_cast<i64>((1 - drop_fraction_at(g, step)) * there);
  }
  i64 after() const { return std::max(kept, wanted); }
};

/// The pattern after update number `step`. The arrays are row-major, (outputs, inputs): the weights after the
/// update, and the gradient from which it was made, which only RigL reads; for other algorithms it may be
/// empty. If a number of either is not finite, the pattern stays as it is. Throws std::invalid_argument for
/// arrays of other sizes.
///   In each block of places that compete, of which most parameters have one, the pattern keeps the nonzeros
/// with the largest weights: (1 - drop_fraction) of them with RigL and SET, and with GMP as many as its
/// sparsity leaves. Then it grows until it has as many places as the sparsity leaves: with RigL those with
/// the largest gradients, with SET and GMP random ones. Of equal numbers the first place of the row-major
/// array is taken. All counts are rounded down. Where the sparsity leaves fewer than were kept, nothing
/// grows; the next updates drop more.
inline sparse_pattern updated_pattern(const group& g, std::string_view name, i64 step,
                                      std::span<const f32> weights, std::span<const f32> gradients,
                                      const sparse_pattern& now) {
  const int rows = now.rows(), columns = now.columns();
  const auto are_finite = [](std::span<const f32> x) {
    return std::all_of(x.begin(), x.end(), [](f32 v) { return std::isfinite(v); });
  };
  if (!updates_at(g, step)) return now;
  detail::require_size(name, rows, columns, weights, "weights");
  const bool by_gradient = g.algorithm == algorithm::rigl;
  if (by_gradient) detail::require_size(name, rows, columns, gradients, "gradients");
  if (!are_finite(weights) || (by_gradient && !are_finite(gradients))) return now;

  const std::vector<block_of_places> blocks = blocks_of(g, name, rows, columns);
  std::vector<u8> has = now.mask();
  for (const block_of_places& b : blocks) {
    const counts_of_update count(g, step, b.size(),
                                 static_cast<f32>(now.count()) / static_cast<f32>(blocks.size()));
    const auto is_there = [&](i64 at) { return has[static_cast<std::size_t>(at)] != 0; };
    const auto mark = [&](const places& all, u8 as) {
      for (i64 at : all) has[static_cast<std::size_t>(at)] = as;
    };
    places there = places_of(b, columns, is_there);
    mark(there, 0);
    keep_highest(there, count.kept, magnitude{weights});
    mark(there, 1);
    places absent = places_of(b, columns, [&](i64 at) { return !is_there(at); });
    const i64 grown = count.wanted - static_cast<i64>(there.size());
    if (by_gradient) keep_highest(absent, grown, magnitude{gradients});
    else keep_highest(absent, grown, random_score(g.seed.value_or(default_seed), name, step));
    mark(absent, 1);
  }
  return sparse_pattern::of_mask(rows, columns, has);
}

}  // namespace wsl::ml::sparsity
