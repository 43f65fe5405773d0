// SPDX-License-Identifier: MIT
// Causal attention of the queries of a PE to a block of keys and values that visits it, as it is summed up
// block by block (Dao et al., "FlashAttention", arXiv 2205.14135; on a ring Liu et al., arXiv 2310.01889),
// and its derivative. Blocks lie token by token, the queries feature by feature where an operation goes over
// tokens. Products and sums are descriptor operations; exponential functions are computed in C++ and charged
// as such.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "../../program/descriptor/box.hpp"
#include "../../program/descriptor/ops.hpp"
#include "../../program/pe.hpp"
#include "../vector_products.hpp"
#include "../vector_work.hpp"
#include "layer.hpp"

namespace wsl::transformer {

using kernel::add_columns, kernel::add_outer_product, kernel::numbers;

template <layer_shape shape>
class attention_tile {
  static constexpr int features = shape.features, tokens = shape.tokens, unit = features * tokens;

 public:
  void begin(memory<f32> sums) {
    mov(sums, 0);
    mov(mem(largest_), -1e30f);
    mov(mem(total_), 0);
  }
  /// Adds what the queries take from a block of the row `from` of `rows`: sums is (tokens, features).
  void add(const pe& me, int row, int from, int rows, const f32* queries, const f32* keys, const f32* values,
           f32* sums) {
    kernel::vector_work work(me.machine());
    mov(mem(larger_), mem(largest_));
    each_key(row, from, rows, [&](int k, int first) {
      score(queries, keys, k, first);
      const memory<f32> of = mem(larger_).from(first);
      fmax(of, of, row_of(score_, k, first));
    });
    exponentials(work, shrink_, largest_, larger_, 0);
    mov(mem(largest_), mem(larger_));
    mul(mem(total_), mem(total_), mem(shrink_));
    for (int t = 0; t < tokens; ++t) {
      work.comparisons(1);
      if (shrink_[t] != 1)
        mul(numbers(sums + t * features, features), numbers(sums + t * features, features), shrink_[t]);
    }
    each_key(row, from, rows, [&](int k, int first) {
      exponentials(work, score_ + k * tokens, score_ + k * tokens, larger_, first);
      const memory<f32> of = mem(total_).from(first);
      add_(of, row_of(score_, k, first));
    });
    // sums(t, :) += p(k, t) values(k, :) for the keys of each token
    each_key(row, from, rows, [&](int k, int first) {
      add_outer_product(sums + first * features, numbers(values + k * features, features),
                        row_of(score_, k, first));
    });
    charge_ += work.cycles();
  }
  /// Divides the sums by the totals.
  void end(const pe& me, f32* sums) {
    kernel::vector_work work(me.machine());
    for (int t = 0; t < tokens; ++t) {
      mul(numbers(sums + t * features, features), numbers(sums + t * features, features), 1 / total_[t]);
      total_[t] = largest_[t] + std::log(total_[t]);  // its logarithm, which the derivative needs
    }
    charge_ += work.quotients(2 * tokens).cycles();
  }

  /// The sums of products of gradient and result, which all derivatives of a token's scores need; both are
  /// (features, tokens).
  void begin_derivative(const f32* gradient, const f32* result) {
    mov(mem(dots_), 0);
    for (int i = 0; i < features; ++i) {
      mul(mem(products_), numbers(gradient + i * tokens, tokens), numbers(result + i * tokens, tokens));
      add_(mem(dots_), mem(products_));
    }
  }
  /// What a PE has of its own tokens for the derivatives.
  struct own_side {
    const f32 *queries, *gradient;                    // (features, tokens)
    const f32 *queries_by_token, *gradient_by_token;  // (tokens, features)
    f32* of_queries;                                  // (tokens, features)
  };
  /// Adds the derivatives of the scores with a block, of the row `from` of `rows`, to those of the queries
  /// and to those that travel with the block: keys, values, and the derivatives of both, `unit` numbers each.
  void add_derivative(const pe& me, int row, int from, int rows, const own_side& own, f32* block) {
    kernel::vector_work work(me.machine());
    const f32 *keys = block, *values = block + unit;
    f32 *of_keys = block + 2 * unit, *of_values = block + 3 * unit;
    each_key(row, from, rows, [&](int k, int first) {
      score(own.queries, keys, k, first);
      exponentials(work, score_ + k * tokens, score_ + k * tokens, total_, first);
      const memory<f32> p = row_of(score_, k, first), slope = row_of(slope_, k, first);
      mov(slope, 0);
      add_columns(slope, own.gradient + first, tokens, numbers(values + k * features, features));
      sub(slope, slope, mem(dots_).from(first));
      mul(slope, slope, p);
      add_columns(numbers(of_values + k * features, features), own.gradient_by_token + first * features,
                  features, p);
      add_columns(numbers(of_keys + k * features, features), own.queries_by_token + first * features,
                  features, slope);
      add_outer_product(own.of_queries + first * features, numbers(keys + k * features, features), slope);
    });
    charge_ += work.cycles();
  }

  /// The cycles of what was computed in C++, once.
  u64 take_charge() { return std::exchange(charge_, 0); }

 private:
  template <class Use>
  static void each_key(int row, int from, int rows, Use use) {
    for (int k = 0; k < tokens; ++k) {
      int first = 0;  // of the tokens that see it
      while (first < tokens && position(row, first, rows, tokens) < position(from, k, rows, tokens)) ++first;
      if (first < tokens) use(k, first);
    }
  }
  static memory<f32> row_of(f32* of, int k, int first) {
    return numbers(of + k * tokens + first, tokens - first);
  }
  static void add_(memory<f32> to, memory<const f32> x) { wsl::add(to, to, x); }

  void score(const f32* queries, const f32* keys, int k, int first) {
    const memory<f32> s = row_of(score_, k, first);
    mov(s, 0);
    add_columns(s, queries + first, tokens, numbers(keys + k * features, features));
  }
  static void exponentials(kernel::vector_work& work, f32* to, const f32* x, const f32* minus, int first) {
    for (int t = first; t < tokens; ++t) to[t] = std::exp(x[t] - minus[t]);
    work.sums(1, tokens - first).exponentials(tokens - first);
  }

  // A row of scores and a row of queries are read in the same cycle if they are 4 bytes apart, modulo 8: the
  // owner's queries and gradients begin so.
  alignas(8) f32 score_[std::size_t{tokens * tokens}]{}, slope_[std::size_t{tokens * tokens}]{};
  f32 largest_[std::size_t{tokens}]{}, larger_[std::size_t{tokens}]{}, shrink_[std::size_t{tokens}]{};
  f32 products_[std::size_t{tokens}]{}, total_[std::size_t{tokens}]{}, dots_[std::size_t{tokens}]{};
  u64 charge_ = 0;
};

}  // namespace wsl::transformer
