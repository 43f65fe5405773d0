// SPDX-License-Identifier: MIT
// The rows of a sparse matrix that a PE has, in the form in which it multiplies them. Sixteen rows are a
// slice, whose numbers lie side by side for vector instructions. There are three kinds of slices:
//   diagonals  the rows have their numbers at the same distances from the diagonal, as almost all rows of an
//              operator on a grid: the numbers that a diagonal multiplies are consecutive, and it has one
//              offset for sixteen numbers
//   gathered   slices that are equal but for their place, as those of an interpolation: one offset a number
//   scattered  all others: compressed rows
// Slices of the first two kinds that are equal but for their place are kept once, as a pattern: constant
// coefficients take no memory traffic at all. The order of additions depends on the rows alone.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

#include "number_lanes.hpp"
#include "row_source.hpp"

namespace wsl::solver {

/// Rows of a slice. Vectors that are multiplied have as many readable numbers before their first and behind
/// their last one.
inline constexpr int slice_rows = 16;

namespace loops {

struct slice {
  i32 pattern = 0;  ///< of a scattered slice, ~k where k is the place of its first row among scattered ones
  i32 base = 0;     ///< of a gathered slice, added to its offsets
};
struct slice_pattern {
  i32 slots = 0;     ///< numbers of a row
  i32 gathered = 0;  ///< each number has an offset, otherwise each slot
  i64 offset = 0, value = 0;
};

template <class V>
struct slices {
  const slice* all;
  const slice_pattern* patterns;
  const i32* offsets;
  const V* values;
  const i64* first;  ///< of scattered rows
  const i32* column;
  const V* value;
  int rows;
};

template <class V, bool dots>
struct multiplying_slices {
  template <int lanes>
  [[gnu::always_inline]] static inline void run(const slices<V>& m, V* y, const V* x, f64* dot) {
    constexpr int count = lanes * 4 / static_cast<int>(sizeof(V)), parts = slice_rows / count;
    using part = numbers<V, count>;
    const slices<V> a = m;
    part line{};
    f64 total = 0;
    int waiting = 0;
    for (int row = 0, s = 0; row < a.rows; row += slice_rows, ++s) {
      const slice here = a.all[s];
      if (here.pattern < 0) {
        const int end = a.rows < row + slice_rows ? a.rows : row + slice_rows;
        const i64* first = a.first + ~here.pattern;
        for (int r = row; r < end; ++r, ++first) {
          V sum0{}, sum1{}, sum2{}, sum3{};
          i64 k = first[0];
          const i64 last = first[1];
          for (; k + 4 <= last; k += 4) {
            sum0 += a.value[k] * x[a.column[k]], sum1 += a.value[k + 1] * x[a.column[k + 1]];
            sum2 += a.value[k + 2] * x[a.column[k + 2]], sum3 += a.value[k + 3] * x[a.column[k + 3]];
          }
          for (; k < last; ++k) sum0 += a.value[k] * x[a.column[k]];
          y[r] = (sum0 + sum1) + (sum2 + sum3);
          if constexpr (dots) total += static_cast<f64>(y[r]) * static_cast<f64>(x[r]);
        }
        continue;
      }
      const slice_pattern p = a.patterns[here.pattern];
      const i32* offset = a.offsets + p.offset;
      const V* v = a.values + p.value;
      part sum[std::size_t{parts}]{};
      if (!p.gathered) {
        const V* from = x + row;
        for (int k = 0; k < p.slots; ++k, v += slice_rows) {
          const V* there = from + offset[k];
          for (int i = 0; i < parts; ++i)
            sum[i] += numbers_at<V, count>(v + i * count) * numbers_at<V, count>(there + i * count);
        }
      } else {
        const V* from = x + here.base;
        for (int k = 0; k < p.slots; ++k, v += slice_rows, offset += slice_rows)
          for (int i = 0; i < parts; ++i) {
            part there{};
            for (int j = 0; j < count; ++j) there[j] = from[offset[i * count + j]];
            sum[i] += numbers_at<V, count>(v + i * count) * there;
          }
      }
      for (int i = 0; i < parts; ++i) {
        numbers_at<V, count>(y + row + i * count) = sum[i];
        if constexpr (dots) line += sum[i] * numbers_at<V, count>(x + row + i * count);
      }
      if constexpr (dots)
        if (++waiting == line_of_sums / slice_rows)
          total += folded<V, count>(line), line = part{}, waiting = 0;
    }
    if constexpr (dots) *dot += total + folded<V, count>(line);
  }
};

}  // namespace loops

template <class V>
class sliced_rows {
 public:
  sliced_rows() = default;
  /// `append(row, entries)` appends the entries of a row, whose columns are places in the vector that is
  /// multiplied, also negative ones. It is called several times for each row.
  template <class Append>
  sliced_rows(int rows, const Append& append);

  int rows() const { return rows_; }
  /// Bytes that a product reads of the matrix, if what is kept once is read once.
  std::size_t bytes() const {
    return slices_.size() * sizeof(loops::slice) + patterns_.size() * sizeof(loops::slice_pattern) +
           offsets_.size() * sizeof(i32) + (values_.size() + value_.size()) * sizeof(V) +
           first_.size() * sizeof(i64) + column_.size() * sizeof(i32);
  }

  /// y = A x. y does not overlap x.
  void multiply(V* y, const V* x) const { product<false>(y, x, nullptr); }
  /// The same, and the dot product of y and x, of a matrix whose rows and columns are the same places.
  f64 multiply_and_dot(V* y, const V* x) const {
    f64 dot = 0;
    product<true>(y, x, &dot);
    return dot;
  }

 private:
  template <bool dots>
  void product(V* y, const V* x, f64* dot) const {
    static const auto code =
        vector_code<loops::multiplying_slices<V, dots>, const loops::slices<V>&, V*, const V*, f64*>::best();
    code({slices_.data(), patterns_.data(), offsets_.data(), values_.data(), first_.data(), column_.data(),
          value_.data(), rows_},
         y, x, dot);
  }

  /// A slice on its way into one of the three kinds.
  struct draft {
    std::vector<row_entry> rows[std::size_t{slice_rows}];
    int row = 0, count = 0;  ///< the first row, and how many there are
    // in the form of a pattern
    bool is_scattered = true;
    loops::slice_pattern form;
    i32 base = 0;
    std::vector<i32> offsets;
    std::vector<V> values;
    u64 hash = 0;

    template <class Append>
    void read(int first, int end, const Append& append);
    void give_form();

   private:
    void along_diagonals();
    void gather(std::size_t longest);
  };

  void keep_scattered(const draft& d);
  /// The number of the pattern of a draft, a new one if there is none that is equal.
  i32 pattern_of(draft& d, std::vector<i32>& with_same_hash);

  int rows_ = 0;
  std::vector<loops::slice> slices_;
  std::vector<loops::slice_pattern> patterns_;
  std::vector<i32> offsets_;
  std::vector<V> values_;
  std::vector<i64> first_;
  std::vector<i32> column_;
  std::vector<V> value_;
};

template <class V>
template <class Append>
void sliced_rows<V>::draft::read(int first, int end, const Append& append) {
  row = first, count = std::min(slice_rows, end - first);
  for (int i = 0; i < count; ++i) {
    rows[i].clear();
    append(first + i, rows[i]);
  }
}

template <class V>
void sliced_rows<V>::draft::give_form() {
  is_scattered = true, base = 0, hash = 0, form = {};
  offsets.clear(), values.clear();
  if (count < slice_rows) return;
  std::size_t nonzeros = 0, longest = 0;
  for (int i = 0; i < slice_rows; ++i) {
    nonzeros += rows[i].size(), longest = std::max(longest, rows[i].size());
    for (const row_entry& e : rows[i]) offsets.push_back(e.column - row - i);
  }
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  const std::size_t width = slice_rows;
  // Zeros that fill the slots take as long as numbers.
  if (offsets.size() * width <= nonzeros + nonzeros / 4 + 2 * width) along_diagonals();
  else if (longest * width <= 2 * nonzeros) gather(longest);
  else return;
  is_scattered = false;
  const auto mix = [&](u64 bits) { hash = (hash ^ bits) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29; };
  mix(static_cast<u64>(form.slots) * 2 + static_cast<u64>(form.gathered));
  for (i32 o : offsets) mix(static_cast<u32>(o));
  for (V v : values) {
    u64 bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    mix(bits);
  }
}

template <class V>
void sliced_rows<V>::draft::along_diagonals() {
  form.slots = static_cast<i32>(offsets.size());
  values.assign(offsets.size() * slice_rows, V{});
  for (int i = 0; i < slice_rows; ++i)
    for (const row_entry& e : rows[i]) {
      const auto slot =
          std::lower_bound(offsets.begin(), offsets.end(), e.column - row - i) - offsets.begin();
      values[static_cast<std::size_t>(slot * slice_rows + i)] += static_cast<V>(e.value);
    }
}

template <class V>
void sliced_rows<V>::draft::gather(std::size_t longest) {
  base = std::numeric_limits<i32>::max();
  for (const auto& r : rows)
    for (const row_entry& e : r) base = std::min(base, e.column);
  form.slots = static_cast<i32>(longest), form.gathered = 1;
  offsets.assign(longest * slice_rows, 0), values.assign(longest * slice_rows, V{});
  for (std::size_t i = 0; i < slice_rows; ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      offsets[k * slice_rows + i] = rows[i][k].column - base;
      values[k * slice_rows + i] = static_cast<V>(rows[i][k].value);
    }
}

template <class V>
void sliced_rows<V>::keep_scattered(const draft& d) {
  slices_.push_back({~static_cast<i32>(first_.size()), 0});
  for (int i = 0; i < d.count; ++i) {
    first_.push_back(static_cast<i64>(column_.size()));
    for (const row_entry& e : d.rows[i])
      column_.push_back(e.column), value_.push_back(static_cast<V>(e.value));
  }
  first_.push_back(static_cast<i64>(column_.size()));
}

template <class V>
i32 sliced_rows<V>::pattern_of(draft& d, std::vector<i32>& with_same_hash) {
  for (i32 number : with_same_hash) {
    const loops::slice_pattern& p = patterns_[static_cast<std::size_t>(number)];
    if (p.slots == d.form.slots && p.gathered == d.form.gathered &&
        std::equal(d.offsets.begin(), d.offsets.end(), offsets_.begin() + p.offset) &&
        std::memcmp(d.values.data(), values_.data() + p.value, d.values.size() * sizeof(V)) == 0)
      return number;
  }
  d.form.offset = static_cast<i64>(offsets_.size()), d.form.value = static_cast<i64>(values_.size());
  offsets_.insert(offsets_.end(), d.offsets.begin(), d.offsets.end());
  values_.insert(values_.end(), d.values.begin(), d.values.end());
  patterns_.push_back(d.form);
  with_same_hash.push_back(static_cast<i32>(patterns_.size()) - 1);
  return with_same_hash.back();
}

template <class V>
template <class Append>
sliced_rows<V>::sliced_rows(int rows, const Append& append) : rows_(rows) {
  draft d;
  // Gathered slices are worth their offsets only if some of them are equal.
  constexpr int few = 4;
  std::unordered_map<u64, int> times;
  for (int row = 0; row < rows; row += slice_rows) {
    d.read(row, rows, append);
    d.give_form();
    if (d.form.gathered) ++times[d.hash];
  }
  std::unordered_map<u64, std::vector<i32>> known;
  for (int row = 0; row < rows; row += slice_rows) {
    d.read(row, rows, append);
    d.give_form();
    if (d.is_scattered || (d.form.gathered && times[d.hash] < few)) keep_scattered(d);
    else {
      const i32 pattern = pattern_of(d, known[d.hash]);
      slices_.push_back({pattern, d.base});
    }
  }
}

}  // namespace wsl::solver
