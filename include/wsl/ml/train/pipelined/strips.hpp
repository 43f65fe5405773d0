// SPDX-License-Identifier: MIT
// The division of a model's layers over a row of PEs: in the order in which they run, as evenly as their work
// allows. A large layer lies on several PEs, each of which has some of its outputs, and several small layers
// lie on one. Values that later PEs read cross the boundary between neighbouring strips.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "../../model/batch.hpp"
#include "../../optim/step.hpp"
#include "../state.hpp"

namespace wsl::ml {

/// The part of a stage that a PE has: some rows of one of its parameters, or with `which` -1 its own work.
struct stage_part {
  const stage* of;
  int which;
  std::size_t parameter;
  int row, rows, columns;
  bool owned = true;  ///< false if an earlier stage has the parameter, too: it owns the numbers
  bool frozen = false;
  f64 work = 0;  ///< operations for each token
  weight_tile tile(f32* numbers) const { return {which, row, matrix<f32>(numbers, rows, columns)}; }
  /// Whether the parts of the stage may lie on several PEs. Others may keep numbers of the forward pass, or
  /// of their own work, that all of their tiles need.
  bool is_divisible() const {
    return of->how_cut() == stage_cut::by_output || of->how_cut() == stage_cut::by_rows_of_table;
  }
  /// Whether it has numbers that are updated here.
  bool is_trained() const { return which >= 0 && owned && !frozen; }
  std::size_t first() const { return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns); }
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// The values that cross from a PE to the next one, and back.
struct boundary {
  std::vector<int> values;     ///< forward, for each token
  std::vector<int> gradients;  ///< backward: those of the values whose gradients are wanted
  /// Parameters that later stages share: once a step their numbers go forward, and the gradients of those
  /// that are not frozen back.
  std::vector<std::size_t> borrowed, returned;
};

struct strip {
  std::vector<stage_part> parts;
  std::vector<value_width> widths;  ///< of all values; 0 for those that the PE has no part in
  boundary west, east;
  f64 work = 0;  ///< operations for each token
};

class strips {
 public:
  /// Divides a model into at most `count` strips. Throws std::invalid_argument if count is not 1 to 64, or if
  /// a stage needs sums over the whole batch.
  strips(const network& n, int count) : network_(n) {
    if (count < 1 || count > max_strips)
      throw std::invalid_argument(
          fmt::format("wsl: a pipeline has 1 to {} strips, not {}", max_strips, count));
    for (const auto& s : n.stages())
      if (s->needs_sums())
        throw std::invalid_argument(fmt::format(
            "wsl: {} needs sums over the whole batch, of which a pipeline has a part at a time: {}", s->name,
            dynamic_cast<const loss_stage*>(s.get())
                ? "it compares all sequences of the batch, so train with weight streaming"
                : "train with weight streaming, or take a norm of single examples"));
    const std::vector<stage_part> parts = list(count);
    std::vector<std::size_t> begins = divided(parts, count);
    begins.push_back(parts.size());
    for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
      strip& x = all_.emplace_back();
      for (std::size_t k = begins[s]; k < begins[s + 1]; ++k) append(x, parts[k]);
      x.west = s ? all_[s - 1].east : boundary{};
      if (s + 2 < begins.size()) x.east = between(parts, begins[s + 1]);
      x.widths = widths(x);
    }
  }
  int count() const { return static_cast<int>(all_.size()); }
  const strip& operator[](int k) const { return all_[static_cast<std::size_t>(k)]; }

  static constexpr int max_strips = 64;

 private:
  std::vector<stage_part> list(int count) const {
    std::vector<stage_part> parts;
    std::vector<bool> seen(network_.parameters().size());
    const int length = std::max(1, network_.positions());
    for (const auto& s : network_.stages()) {
      const int width = network_.width(s->output);
      const f64 tokens = network_.tokens_for_each(s->output);
      parts.push_back({s.get(), -1, 0, 0, 0, 0, true, false, tokens * s->operations(-1, 0, width, length)});
      for (std::size_t w = 0; w < s->parameters.size(); ++w) {
        const std::size_t k = static_cast<std::size_t>(s->parameters[w]);
        const parameter& p = network_.parameters()[k];
        const int rows = tile_rows(p.size(), p.rows, 2 * count), which = static_cast<int>(w);
        for (int row = 0; row < p.rows; row += rows) {
          const int some = std::min(rows, p.rows - row);
          parts.push_back({s.get(), which, k, row, some, p.columns, !seen[k], p.frozen,
                           tokens * s->operations(which, some, p.columns, length)});
        }
        seen[k] = true;
      }
    }
    return parts;
  }
  /// The parts with which the strips begin, so that the busiest strip has as little work as possible.
  static std::vector<std::size_t> divided(const std::vector<stage_part>& parts, int count) {
    f64 low = 0, high = 0;
    for (const stage_part& p : parts) low = std::max(low, p.work), high += p.work;
    for (int i = 0; i < 50; ++i) {
      const f64 middle = (low + high) / 2;
      (static_cast<int>(filled(parts, middle).size()) <= count ? high : low) = middle;
    }
    return filled(parts, high);
  }
  static std::vector<std::size_t> filled(const std::vector<stage_part>& parts, f64 most_work) {
    std::vector<std::size_t> begins{0};
    f64 work = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k > begins.back() && work + parts[k].work > most_work &&
          !(is_loss(parts[k]) && is_loss(parts[k - 1])) &&
          (parts[k].of != parts[k - 1].of || parts[k].is_divisible()))
        begins.push_back(k), work = 0;
      work += parts[k].work;
    }
    return begins;
  }
  /// All losses are on the last PE.
  static bool is_loss(const stage_part& p) { return dynamic_cast<const loss_stage*>(p.of); }
  /// Appends a part to a strip; neighbouring rows of one parameter become one part.
  static void append(strip& x, const stage_part& p) {
    x.work += p.work;
    if (!x.parts.empty()) {
      stage_part& last = x.parts.back();
      if (p.which >= 0 && last.of == p.of && last.which == p.which) {
        last.rows += p.rows, last.work += p.work;
        return;
      }
    }
    x.parts.push_back(p);
  }
  boundary between(const std::vector<stage_part>& parts, std::size_t begin) const {
    constexpr std::size_t never = ~std::size_t{0};
    struct use {
      std::size_t first = never, last = 0;
    };
    std::vector<use> values(network_.widths().size());
    for (std::size_t v = 0; v < values.size(); ++v)
      if (network_.is_input(static_cast<int>(v))) values[v].first = 0;
    std::vector<bool> owned(network_.parameters().size()), borrowed(owned);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto touch = [&](int v) {
        use& u = values[static_cast<std::size_t>(v)];
        u.first = std::min(u.first, k), u.last = k;
      };
      for (int v : parts[k].of->inputs) touch(v);
      touch(parts[k].of->output);
      if (parts[k].which < 0) continue;
      if (k < begin && parts[k].owned) owned[parts[k].parameter] = true;
      if (k >= begin && !parts[k].owned) borrowed[parts[k].parameter] = true;
    }
    boundary b;
    for (std::size_t v = 0; v < values.size(); ++v)
      if (values[v].first < begin && values[v].last >= begin && travels(static_cast<int>(v)))
        b.values.push_back(static_cast<int>(v));
    std::copy_if(b.values.begin(), b.values.end(), std::back_inserter(b.gradients),
                 [&](int v) { return network_.wants_gradient(v); });
    for (std::size_t k = 0; k < owned.size(); ++k)
      if (owned[k] && borrowed[k]) {
        b.borrowed.push_back(k);
        if (!network_.parameters()[k].frozen) b.returned.push_back(k);
      }
    return b;
  }
  /// Ids and targets come from the host to the PEs that read them.
  bool travels(int v) const { return network_.info(v).from == origin::computed || network_.is_input(v); }
  std::vector<value_width> widths(const strip& x) const {
    const std::vector<value_width> all = widths_of(network_);
    std::vector<value_width> w = all;
    for (value_width& of : w) of.all = of.own = 0;
    const auto touch = [&](int v) { w[static_cast<std::size_t>(v)] = all[static_cast<std::size_t>(v)]; };
    for (const stage_part& p : x.parts) {
      for (int v : p.of->inputs) touch(v);
      touch(p.of->output);
    }
    for (int v : x.west.values) touch(v);
    for (int v : x.east.values) touch(v);
    return w;
  }

  const network& network_;
  std::vector<strip> all_;
};

}  // namespace wsl::ml
