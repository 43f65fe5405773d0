// SPDX-License-Identifier: MIT
// Where the numbers of a model's parameters lie in the tensors of a family's files. A tensor of theirs has
// some rows of a parameter of ours in an order of their own: those of the queries, or queries, keys and
// values head by head, or rotated features in another order. A bias has them as elements, and a Conv1D has
// the transpose.
#pragma once
#include <fmt/format.h>

#include <numeric>
#include <span>

#include "../../model/decoder.hpp"
#include "../../model/encoder.hpp"
#include "../../model/encoder_decoder.hpp"

namespace wsl::ml::hugging_face {

struct tensor_rule {
  std::string theirs, ours;
  std::vector<i32> rows = {};  ///< the rows of ours in the order of theirs; empty: all as they are
  bool transposed = false;
  bool is_row = false;  ///< theirs is a matrix of one row, (1, n), where ours is a vector
  /// A second name of what another rule has, which files may have or not.
  bool is_copy = false;
  /// It is of the layers for a task: the files of a model that has learnt another one have no such tensor.
  bool is_of_task = false;
  bool is_fresh = false;  ///< the task has changed: a tensor of this name is another layer's

  bool is_vector() const { return ours.ends_with(".bias") || ours.ends_with(".gain"); }
  /// The rows of their tensor, as ours would have them.
  u64 count(const parameter& p) const {
    return rows.empty() ? static_cast<u64>(is_vector() ? p.columns : p.rows) : rows.size();
  }
  std::vector<u64> shape(const parameter& p) const {
    const u64 n = count(p), columns = static_cast<u64>(p.columns);
    if (is_row) return {1, n};
    if (is_vector()) return {n};
    return transposed ? std::vector<u64>{columns, n} : std::vector<u64>{n, columns};
  }
  /// Their tensor from our parameter.
  std::vector<f32> to_theirs(const parameter& p, std::span<const f32> x) const {
    std::vector<f32> y(static_cast<std::size_t>(count(p) * row_size(p)));
    each(p, [&](std::size_t their, std::size_t our) { y[their] = x[our]; });
    return y;
  }
  /// Sets the part of our parameter that their tensor has.
  void from_theirs(const parameter& p, std::span<f32> x, std::span<const f32> y) const {
    each(p, [&](std::size_t their, std::size_t our) { x[our] = y[their]; });
  }

 private:
  u64 row_size(const parameter& p) const { return is_vector() ? 1 : static_cast<u64>(p.columns); }
  /// Calls f(number of theirs, number of ours).
  template <class F>
  void each(const parameter& p, F f) const {
    const std::size_t n = count(p), columns = row_size(p);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = rows.empty() ? i : static_cast<std::size_t>(rows[i]);
      for (std::size_t j = 0; j < columns; ++j)
        f(transposed ? j * n + i : i * columns + j, row * columns + j);
    }
  }
};

/// The rows of queries, keys and values in orders of other programs. Ours are all queries head by head, all
/// keys, all values.
class qkv_rows {
 public:
  /// They rotate the features of a head in such pairs; rows of queries and keys are permuted if ours differ.
  qkv_rows(const decoder& d, pairs theirs)
      : heads_(d.heads), groups_(d.kv_heads ? d.kv_heads : d.heads), head_(d.width_of_head()) {
    order_.resize(static_cast<std::size_t>(head_));
    std::iota(order_.begin(), order_.end(), 0);
    if (d.position != positioning::rotary || d.rotary_pairs == theirs) return;
    const int half = (d.rotary_features ? d.rotary_features : head_) / 2;
    for (int i = 0; i < half; ++i)
      if (theirs == pairs::halves) at(i) = 2 * i, at(i + half) = 2 * i + 1;
      else at(2 * i) = i, at(2 * i + 1) = i + half;
  }

  std::vector<i32> queries() const { return heads(0, heads_, true); }
  std::vector<i32> keys() const { return heads(heads_, groups_, true); }
  std::vector<i32> values() const { return heads(heads_ + groups_, groups_, false); }
  /// All queries, all keys, all values.
  std::vector<i32> fused() const { return joined({queries(), keys(), values()}); }
  /// The queries of a group of heads, their key, their value; then the next group.
  std::vector<i32> by_group() const {
    std::vector<i32> all;
    const int of_group = heads_ / groups_;
    for (int g = 0; g < groups_; ++g)
      append(all, joined({heads(g * of_group, of_group, true), heads(heads_ + g, 1, true),
                          heads(heads_ + groups_ + g, 1, false)}));
    return all;
  }
  /// As CodeGen was trained, on `parts` computers: the queries, values and keys of the first part of the
  /// heads, then those of the next.
  std::vector<i32> by_part(int parts) const {
    std::vector<i32> all;
    const int n = heads_ / parts;
    for (int p = 0; p < parts; ++p)
      append(all, joined({heads(p * n, n, true), heads(heads_ + groups_ + p * n, n, false),
                          heads(heads_ + p * n, n, true)}));
    return all;
  }

 private:
  i32& at(int k) { return order_[static_cast<std::size_t>(k)]; }
  /// The rows of `count` heads from head `first` of all of queries, keys and values.
  std::vector<i32> heads(int first, int count, bool is_rotated) const {
    std::vector<i32> rows;
    for (int h = first; h < first + count; ++h)
      for (int i = 0; i < head_; ++i)
        rows.push_back(h * head_ + (is_rotated ? order_[static_cast<std::size_t>(i)] : i));
    return rows;
  }
  static void append(std::vector<i32>& to, const std::vector<i32>& x) {
    to.insert(to.end(), x.begin(), x.end());
  }
  static std::vector<i32> joined(std::initializer_list<std::vector<i32>> parts) {
    std::vector<i32> all;
    for (const std::vector<i32>& p : parts) append(all, p);
    return all;
  }

  int heads_, groups_, head_;
  std::vector<i32> order_;  // the feature of our head that is feature i of theirs
};

/// The rules of a model, put together layer by layer. Names are theirs without ".weight" and ".bias".
class tensor_rules {
 public:
  std::vector<tensor_rule> all;

  void table(const std::string& theirs, const std::string& ours) {
    all.push_back({theirs + ".weight", ours});
  }
  void norm(const std::string& theirs, const std::string& ours, bool bias) {
    all.push_back({theirs + ".weight", ours + ".gain"});
    if (bias) all.push_back({theirs + ".bias", ours + ".bias"});
  }
  void linear(const std::string& theirs, const std::string& ours, bool bias,
              const std::vector<i32>& rows = {}) {
    all.push_back({theirs + ".weight", ours + ".weight", rows});
    if (bias) all.push_back({theirs + ".bias", ours + ".bias", rows});
  }
  /// Queries, keys and values of equal width, which ours has one below the other in this order.
  void three(const std::string& q, const std::string& k, const std::string& v, const std::string& ours,
             int width, bool bias) {
    int first = 0;
    for (const std::string& theirs : {q, k, v}) linear(theirs, ours, bias, run(first, width)), first += width;
  }
  static std::vector<i32> run(int first, int count) {
    std::vector<i32> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    return rows;
  }
  void copy(const std::string& theirs, const std::string& ours) {
    all.push_back({.theirs = theirs, .ours = ours, .is_copy = true});
  }
  void conv1d(const std::string& theirs, const std::string& ours, bool bias,
              const std::vector<i32>& rows = {}) {
    linear(theirs, ours, bias, rows);
    all[all.size() - (bias ? 2 : 1)].transposed = true;
  }
};

}  // namespace wsl::ml::hugging_face
