// SPDX-License-Identifier: MIT
// The weights of a model where they lie: in main memory, or in a file that the operating system maps. A
// parameter is there as runs of rows, because the tensors of other programs may have its rows in another
// order, in several tensors, as columns, or in 16 bits. Writing text takes its parts of a model from here
// (write/writer.hpp); the files of transformers and checkpoints of this library are read as such
// (io/mapped_weights.hpp).
#pragma once
#include <algorithm>
#include <memory>

#include "../op/precision.hpp"
#include "weights.hpp"

namespace wsl::ml {

/// Some rows of a parameter in memory: number (i, j) of them lies at first[i * row_stride + j *
/// column_stride].
struct stored_rows {
  int row = 0, rows = 0;  ///< the first of them, and how many
  const void* first = nullptr;
  ml::precision format = precision::f32;
  i64 row_stride = 0, column_stride = 1;

  template <class T>
  matrix<const T> as(int columns) const {
    return {static_cast<const T*>(first), rows, columns, row_stride, column_stride};
  }
};

class stored_weights {
 public:
  struct array {
    std::string name;
    int rows = 0, columns = 0;
    std::vector<stored_rows> runs = {};  ///< in the order of their rows
  };

  /// Weights in main memory. Throws std::invalid_argument if they are of another model.
  stored_weights(const network& n, weights w) : stored_weights(n) {
    const auto kept = std::make_shared<const weights>(std::move(w));
    if (kept->size() != arrays_.size())
      throw std::invalid_argument(fmt::format(
          "wsl: these weights are of another model: they have {} parameters, and this model has {}",
          kept->size(), arrays_.size()));
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      if ((*kept)[k].size() !=
          static_cast<std::size_t>(arrays_[k].rows) * static_cast<std::size_t>(arrays_[k].columns))
        throw std::invalid_argument(fmt::format(
            "wsl: these weights are of another model: they have {} numbers for '{}', which is {} x {} here",
            (*kept)[k].size(), arrays_[k].name, arrays_[k].rows, arrays_[k].columns));
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      arrays_[k].runs = {
          {.rows = arrays_[k].rows, .first = (*kept)[k].data(), .row_stride = arrays_[k].columns}};
    keep(kept);
  }
  /// The parameters of a network, whose numbers are told by `add`.
  explicit stored_weights(const network& n) {
    for (const parameter& p : n.parameters()) arrays_.push_back({p.name, p.rows, p.columns});
  }

  std::size_t size() const { return arrays_.size(); }
  const array& operator[](std::size_t k) const { return arrays_[k]; }
  /// The parameter of that name; null if there is none.
  const array* find(std::string_view name) const {
    const auto p =
        std::find_if(arrays_.begin(), arrays_.end(), [&](const array& x) { return x.name == name; });
    return p == arrays_.end() ? nullptr : &*p;
  }

  /// Says where rows of parameter k lie. Runs that go on where the last one ended become one.
  void add(std::size_t k, const stored_rows& x) {
    std::vector<stored_rows>& runs = arrays_[k].runs;
    if (!runs.empty() && continues(runs.back(), x)) runs.back().rows += x.rows;
    else runs.push_back(x);
  }
  /// Keeps memory in which runs lie.
  void keep(std::shared_ptr<const void> memory) { memory_.push_back(std::move(memory)); }
  /// Puts the runs of each parameter in the order of its rows. Throws std::invalid_argument if they do not
  /// cover it.
  void complete() {
    for (array& a : arrays_) {
      std::sort(a.runs.begin(), a.runs.end(),
                [](const stored_rows& x, const stored_rows& y) { return x.row < y.row; });
      int next = 0;
      for (const stored_rows& x : a.runs) {
        if (x.row != next) break;
        next += x.rows;
      }
      if (next != a.rows)
        throw std::invalid_argument(
            fmt::format("wsl: row {} of '{}' is in none of the tensors, or in two", next, a.name));
    }
  }

 private:
  static bool continues(const stored_rows& a, const stored_rows& b) {
    return a.row + a.rows == b.row && a.format == b.format && a.row_stride == b.row_stride &&
           a.column_stride == b.column_stride &&
           static_cast<const char*>(a.first) + a.row_stride * a.rows * static_cast<i64>(bytes_of(a.format)) ==
               b.first;
  }

  std::vector<array> arrays_;
  std::vector<std::shared_ptr<const void>> memory_;
};

}  // namespace wsl::ml
