// SPDX-License-Identifier: MIT
// What a run of training is, so that it can be saved and gone on with, bit for bit: named arrays (the
// parameters, and what the optimizer keeps of each number) and a position. All of it lies in the memory
// beside the wafer; the wafer itself keeps nothing between steps. `trainer::state` gives views of the arrays,
// to read and to set:
//   for (const ml::state_array& x : t.state()) save(x.name, x.rows, x.columns, x.numbers);
#pragma once
#include <span>
#include <string>
#include <vector>

#include "../model/store.hpp"
#include "../optim/rule.hpp"

namespace wsl::ml {

/// One array of the state, as a view of the trainer's own numbers.
struct state_array {
  /// `first` is the mean of gradients, of sgd the velocity; `second` that of their squares
  enum class kind : u8 { parameter, first, second };

  std::string name;  ///< of the parameter; "/first" and "/second" after it say which moment
  kind what = kind::parameter;
  std::size_t parameter = 0;  ///< which of the model's
  int rows = 1, columns = 1;
  std::span<f32> numbers;  ///< (rows, columns), row-major
};

/// What is no array. The learning rate is a function of `steps`, and the random numbers of a step one of
/// `seed` and `steps`, so nothing else has to be kept.
struct position {
  i64 steps = 0;  ///< of training, done
  u64 seed = 1;
  friend bool operator==(const position&, const position&) = default;
};

/// All numbers of a run, off the wafer or on it; each PE touches its own only.
struct memory {
  const network* of = nullptr;
  parameter_store numbers, gradients, first, second;
};

/// Bounds of gradients; 0: none. The norm is that of all gradients together, the value that of each number.
struct clipping {
  f64 norm = 0, value = 0;

  /// Throws std::invalid_argument for both at once, and for bounds that are not positive.
  static clipping checked(f64 norm, f64 value) {
    if (!(norm >= 0) || !(value >= 0))
      throw std::invalid_argument(
          "wsl: gradients are clipped by a positive norm or value, or by 0 for none, not by " +
          std::to_string(norm >= 0 ? value : norm));
    if (norm > 0 && value > 0)
      throw std::invalid_argument("wsl: gradients are clipped by their norm or by their values, not by both");
    return {norm, value};
  }
};

/// How a step changes the parameters.
struct learning {
  optimizer rule;
  f32 rate = 0;
  i64 step = 1;  ///< 1, 2, ...
  clipping clip = {};

  /// Whether a parameter changes as soon as its gradient is whole, or only when the norm of all is known.
  bool now() const { return clip.norm == 0; }
  /// Changes n numbers by their gradient, which is clipped by value before.
  void change(const parameter& p, f32* numbers, const moments& kept, f32* gradient, f32 scale, int n) const {
    if (clip.value > 0) clip_by_value(gradient, static_cast<f32>(clip.value), n);
    update(rule, numbers, kept, gradient, scale, rate * p.rate_factor, does_decay(rule.which, p), step, n);
  }
};

/// The arrays of a model's parameters and of what a rule keeps of them: all parameters, then all first
/// moments, then all second ones.
inline std::vector<state_array> state_of(const optimizer& rule, memory& m) {
  std::vector<state_array> all;
  const auto append = [&](state_array::kind what, const char* suffix, parameter_store& of) {
    for (std::size_t k = 0; k < of.size(); ++k) {
      const parameter& p = m.of->parameters()[k];
      all.push_back({p.name + suffix, what, k, p.rows, p.columns, of[k]});
    }
  };
  append(state_array::kind::parameter, "", m.numbers);
  append(state_array::kind::first, "/first", m.first);
  if (rule.how != optimizer::kind::sgd) append(state_array::kind::second, "/second", m.second);
  return all;
}

}  // namespace wsl::ml
