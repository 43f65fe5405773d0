// SPDX-License-Identifier: MIT
// The numbers of a model's parameters as plain arrays: to initialize, to read and write files, to compare.
#pragma once
#include <random>

#include "network.hpp"

namespace wsl::ml {

/// Numbers of a distribution. The same seed gives the same numbers everywhere.
inline void initialize(std::span<f32> x, initial start, u64 seed) {
  // Not the standard distributions, whose numbers differ from library to library.
  std::mt19937_64 random(seed);
  const auto open_unit = [&] { return (static_cast<f64>(random() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] {
    // one after the other
    const f64 radius = std::sqrt(-2 * std::log(open_unit())), turn = 2 * M_PI * open_unit();
    return static_cast<f32>(radius * std::cos(turn)) * start.size;
  };
  const auto truncated = [&] {
    // Of narrow bounds a normal number is rarely within, and a uniform one rarely rejected.
    const bool is_narrow = start.most - start.least < start.size;
    for (;;) {
      const f32 v =
          is_narrow ? start.least + static_cast<f32>(open_unit()) * (start.most - start.least) : normal();
      const f64 z = static_cast<f64>(v) / static_cast<f64>(start.size);
      if (is_narrow ? open_unit() < std::exp(-z * z / 2) : v >= start.least && v <= start.most) return v;
    }
  };
  for (f32& v : x) {
    switch (start.how) {
      case initial::kind::constant: v = start.size; break;
      case initial::kind::uniform: v = static_cast<f32>(2 * open_unit() - 1) * start.size; break;
      case initial::kind::normal: v = normal(); break;
      case initial::kind::truncated_normal: v = truncated(); break;
    }
  }
}
/// Initial values of a parameter.
inline void initialize(std::span<f32> x, const parameter& p, u64 seed) {
  initialize(x, p.start, seed);
  for (f32& v : x.first(static_cast<std::size_t>(i64{p.start.first_rows} * p.columns))) v *= p.start.of_first;
}
/// The seed of a parameter, from the seed of the model.
inline u64 seed_of(u64 model, std::size_t parameter) { return model * 0x9e3779b97f4a7c15u + parameter; }

class weights {
 public:
  weights() = default;
  /// All zero.
  explicit weights(const network& n) {
    for (const parameter& p : n.parameters())
      numbers_.emplace_back(static_cast<std::size_t>(p.size())), shapes_.push_back({p.rows, p.columns});
  }
  /// The initial values of the parameters. The same seed gives the same numbers everywhere.
  weights(const network& n, u64 seed) : weights(n) {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      initialize(numbers_[i], n.parameters()[i], seed_of(seed, i));
  }

  std::size_t size() const { return numbers_.size(); }
  std::vector<f32>& operator[](std::size_t i) { return numbers_[i]; }
  const std::vector<f32>& operator[](std::size_t i) const { return numbers_[i]; }
  /// Rows and columns of an array.
  std::pair<int, int> rows_and_columns(std::size_t i) const { return {shapes_[i].rows, shapes_[i].columns}; }
  matrix<f32> of(std::size_t i) { return {numbers_[i].data(), shapes_[i].rows, shapes_[i].columns}; }
  void clear() {
    for (auto& x : numbers_) x.assign(x.size(), 0);
  }

 private:
  struct shape {
    int rows, columns;
  };
  std::vector<std::vector<f32>> numbers_;
  std::vector<shape> shapes_;
};

}  // namespace wsl::ml
