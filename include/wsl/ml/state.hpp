// SPDX-License-Identifier: MIT
// What a run of training is, so that it can be saved and gone on with, bit for bit: named arrays (the parameters, and what the
// optimizer keeps of each number) and a position. All of it lies in the memory beside the wafer; the wafer itself keeps nothing
// between steps. `trainer::state` gives views of the arrays, to read and to set:
//   for (const ml::state_array& x : t.state()) save(x.name, x.rows, x.columns, x.numbers);
#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/store.hpp"
#include "optim/rule.hpp"

namespace wsl::ml {

/// One array of the state, as a view of the trainer's own numbers.
struct state_array {
  enum class kind : u8 { parameter, first, second };  ///< `first` is the mean of gradients, of sgd the velocity; `second` that of their squares

  std::string name;        ///< of the parameter; "/first" and "/second" after it say which moment
  kind what = kind::parameter;
  std::size_t parameter = 0;  ///< which of the model's
  int rows = 1, columns = 1;
  std::span<f32> numbers;  ///< (rows, columns), row-major
};

/// What is no array. The learning rate is a function of `steps`, and the random numbers of a step one of `seed` and `steps`, so
/// nothing else has to be kept.
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

/// How a step changes the parameters.
struct learning {
  optimizer rule;
  f32 rate = 0;
  i64 step = 1;       ///< 1, 2, ...
  bool now = true;    ///< a parameter changes as soon as its gradient is whole; otherwise when the norm of all is known
};

/// The arrays of a model's parameters and of what a rule keeps of them: all parameters, then all first moments, then all second ones.
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
