// SPDX-License-Identifier: MIT
// The training state: the parameters, the optimizer's moments of each number, and the position. A trainer of
// the same model and optimizer that is given all three resumes bit for bit. The state is in the memory beside
// the wafer; the wafer itself keeps nothing between steps. `trainer::state` gives the arrays as views, to
// read and to set:
//   for (const ml::state_array& x : t.state()) save(x.name, x.rows, x.columns, x.numbers);
// A state on disk is a checkpoint (io/checkpoint.hpp).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "../model/parameter_store.hpp"
#include "../optim/optimizer.hpp"

namespace wsl::ml {

/// One array of the state, as a view of the trainer's own numbers.
struct state_array {
  /// The first moment is the running mean of the gradients (for SGD the velocity), the second moment that of
  /// their squares.
  enum class kind : u8 { parameter, first_moment, second_moment };

  std::string name;  ///< the parameter's, with "/first" or "/second" after it for a moment
  kind what = kind::parameter;
  std::size_t parameter = 0;  ///< index of the parameter in the model
  int rows = 1, columns = 1;
  std::span<f32> numbers;  ///< (rows, columns), row-major
};

/// The position of the training. The learning rate is a function of `steps`, and the random numbers of a step
/// are a function of `seed` and `steps`, so nothing else has to be stored.
struct training_position {
  i64 steps = 0;  ///< steps done
  u64 seed = 1;
  friend bool operator==(const training_position&, const training_position&) = default;
};

/// The arrays of a model in training. Every PE touches only the part that it owns.
struct training_arrays {
  const network* model = nullptr;
  parameter_store parameters, gradients, first_moments, second_moments;
};

/// The arrays of the state: all parameters, then all first moments, then all second moments. SGD has no
/// second moments.
inline std::vector<state_array> state_of(const optimizer& rule, training_arrays& arrays) {
  std::vector<state_array> all;
  const auto append = [&](state_array::kind what, const char* suffix, parameter_store& store) {
    for (std::size_t k = 0; k < store.size(); ++k) {
      const parameter& p = arrays.model->parameters()[k];
      all.push_back({p.name + suffix, what, k, p.rows, p.columns, store[k]});
    }
  };
  append(state_array::kind::parameter, "", arrays.parameters);
  append(state_array::kind::first_moment, "/first", arrays.first_moments);
  if (rule.how != optimizer::kind::sgd)
    append(state_array::kind::second_moment, "/second", arrays.second_moments);
  return all;
}

}  // namespace wsl::ml
