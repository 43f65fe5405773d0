// SPDX-License-Identifier: MIT
// How a model's layers are cut over a row of PEs: in the order in which they run, as evenly as their work
// allows, so that a large layer lies on several PEs (each has some of its outputs) and several small ones lie
// on one. What a PE needs of the values before it, and what those after it need, crosses the boundary between
// them.
#pragma once
#include <algorithm>
#include <iterator>
#include <map>

#include "../state.hpp"

namespace wsl::ml {

/// A part of a stage that a PE has: some rows of one of its parameters, or with `which` -1 its own work.
struct stage_part {
  const stage* of;
  int which;
  std::size_t parameter;
  int row, rows, columns;
  bool owned = true;  ///< this is the parameter's first stage; others borrow its numbers
  f64 work = 0;
  weight_tile use(f32* numbers) const { return {which, row, matrix<f32>(numbers, rows, columns)}; }
  std::size_t first() const { return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns); }
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// What crosses from a PE to the one after it, and back.
struct boundary {
  std::vector<int> values;  ///< their numbers for each token ...
  /// ... and on the way back the gradients of all but the model's input
  std::vector<int> gradients;
  /// parameters that later stages borrow: once a step their numbers, and back their gradients
  std::vector<std::size_t> borrowed;
};

struct strip {
  std::vector<stage_part> parts;
  std::vector<int> widths;  ///< of all values, 0 for those that the PE does not touch
  boundary west, east;
  f64 work = 0;  ///< operations for a token
};

class strips {
 public:
  /// At most `count` PEs. Throws std::invalid_argument for less than one.
  strips(const network& n, int count) : network_(n) {
    if (count < 1 || count > most)
      throw std::invalid_argument("wsl: a pipeline has 1 to " + std::to_string(most) + " strips, not " +
                                  std::to_string(count));
    const std::vector<stage_part> parts = list(count);
    std::vector<std::size_t> begins = cut(parts, count);
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

  static constexpr int most = 64;

 private:
  std::vector<stage_part> list(int count) const {
    std::vector<stage_part> parts;
    std::vector<bool> seen(network_.parameters().size());
    const int length = std::max(1, network_.positions());
    for (const auto& s : network_.stages()) {
      const int width = network_.width(s->output);
      parts.push_back({s.get(), -1, 0, 0, 0, 0, true, s->operations(-1, 0, width, length)});
      for (std::size_t w = 0; w < s->parameters.size(); ++w) {
        const std::size_t k = static_cast<std::size_t>(s->parameters[w]);
        const parameter& p = network_.parameters()[k];
        const int rows = slab_rows(p, 2 * count), which = static_cast<int>(w);
        for (int row = 0; row < p.rows; row += rows) {
          const int some = std::min(rows, p.rows - row);
          parts.push_back({s.get(), which, k, row, some, p.columns, !seen[k],
                           s->operations(which, some, p.columns, length)});
        }
        seen[k] = true;
      }
    }
    return parts;
  }
  /// Where the strips begin so that the busiest has as little work as can be.
  static std::vector<std::size_t> cut(const std::vector<stage_part>& parts, int count) {
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
      if (k > begins.back() && work + parts[k].work > most_work) begins.push_back(k), work = 0;
      work += parts[k].work;
    }
    return begins;
  }
  /// Neighbouring rows of one parameter become one part.
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
  boundary between(const std::vector<stage_part>& parts, std::size_t cut) const {
    constexpr std::size_t never = ~std::size_t{0};
    struct use {
      std::size_t first = never, last = 0;
    };
    std::vector<use> values(network_.widths().size());
    std::vector<bool> owned(network_.parameters().size()), borrowed(owned);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto touch = [&](int v) {
        use& u = values[static_cast<std::size_t>(v)];
        u.first = std::min(u.first, k), u.last = k;
      };
      for (int v : parts[k].of->inputs) touch(v);
      touch(parts[k].of->output);
      if (parts[k].which < 0) continue;
      if (k < cut && parts[k].owned) owned[parts[k].parameter] = true;
      if (k >= cut && !parts[k].owned) borrowed[parts[k].parameter] = true;
    }
    boundary b;
    for (std::size_t v = 0; v < values.size(); ++v)
      if (values[v].first < cut && values[v].last >= cut && values[v].first != never)
        b.values.push_back(static_cast<int>(v));
    std::copy_if(b.values.begin(), b.values.end(), std::back_inserter(b.gradients),
                 [&](int v) { return v != network_.input(); });
    for (std::size_t k = 0; k < owned.size(); ++k)
      if (owned[k] && borrowed[k]) b.borrowed.push_back(k);
    return b;
  }
  std::vector<int> widths(const strip& x) const {
    std::vector<int> w(network_.widths().size());
    const auto touch = [&](int v) { w[static_cast<std::size_t>(v)] = network_.width(v); };
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
