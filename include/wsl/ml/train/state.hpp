// SPDX-License-Identifier: MIT
// The training state: the parameters, the arrays that the optimizer keeps, and the position. A trainer of the
// same model and optimizer that is given all of it resumes bit for bit. The state is in the memory beside the
// wafer; the wafer itself keeps nothing between steps. `trainer::state` gives the arrays as views, to read
// and to set:
//   for (const ml::state_array& x : t.state()) save(x.name, x.rows, x.columns, x.numbers);
// A state on disk is a checkpoint (io/checkpoint.hpp).
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../model/parameter_store.hpp"
#include "../optim/grad_scaler.hpp"
#include "../optim/step.hpp"

namespace wsl::ml {

/// One array of the state, as a view of the trainer's own numbers.
struct state_array {
  /// A parameter; an array that the optimizer keeps for one; the average of its weights.
  enum class kind : u8 { parameter, kept, average };

  std::string name;  ///< the parameter's, with "/first" and the like after it for what is kept
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
  /// The state of a dynamic loss scale, if there is one.
  std::optional<grad_scaler_state> loss_scale = {};
  friend bool operator==(const training_position&, const training_position&) = default;
};

/// A block of a parameter that one PE owns.
struct owned_block {
  std::size_t parameter;
  parameter_block where;
};
/// The sums over an owner's blocks, by parameter, in a round of an update.
using owned_sums = std::map<std::size_t, parameter_sums>;

/// The arrays of a model in training. Every PE touches only the blocks that it owns; between the rounds of an
/// update the sums of all owners are added up, always in the same order.
class training_arrays {
 public:
  /// The arrays lie in main memory, or, if a folder is given, in mapped files there. If `keeps` is false,
  /// another process keeps them. Throws std::invalid_argument for an optimizer that does not fit the model.
  training_arrays(const network& n, const optimizer& rule, u64 seed, const std::string& folder = {},
                  bool keeps = true)
      : model(&n),
        parameters(n, seed, folder, keeps),
        gradients(n, folder, keeps),
        average_(rule.average),
        updates_(updates_of(rule, n.parameters())),
        whole_(updates_.size()),
        kept_(keeps ? array_store(sizes_kept(), folder) : array_store()),
        averages_(keeps && average_.is_on() ? parameter_store(n, folder) : parameter_store(n, {}, false)) {}

  const network* model;
  parameter_store parameters, gradients;

  /// A step of this optimizer.
  optimizer_step step(f64 rate, i64 number, const clipping& clip, f64 loss_scale = 1,
                      bool may_be_skipped = false) const {
    return {static_cast<f32>(rate),       number,        clip, rounds_of(updates_), average_,
            static_cast<f32>(loss_scale), may_be_skipped};
  }
  /// A round of the update of a block, with its gradients, (rows, columns).
  void update(const optimizer_step& s, const owned_block& b, const matrix<f32>& gradient, f32 scale,
              int round, owned_sums& sums) {
    const std::size_t k = b.parameter;
    parameter_sums none;
    s.update(updates_[k], part(b, gradient), scale, round, whole_[k], s.rounds > 1 ? sums[k] : none);
  }
  /// Adds the sums of an owner to those of the round, and clears them. Owners come in a fixed order.
  void collect(owned_sums& of_owner) {
    for (const auto& [k, sums] : of_owner) collected_[k].add(sums);
    of_owner.clear();
  }
  /// Ends a round: what has been collected is what the next round reads.
  void combine(const optimizer_step& s, f32 scale, int round) {
    for (const auto& [k, sums] : std::exchange(collected_, {}))
      s.combine(updates_[k], whole(k), scale, round, sums, whole_[k]);
  }

  /// The arrays of the state: all parameters, then the first arrays that are kept, then the second, ..., then
  /// the averages.
  std::vector<state_array> state() {
    std::vector<state_array> all;
    const auto append = [&](state_array::kind what, std::size_t k, std::string suffix, kept_array::per each,
                            std::span<f32> numbers) {
      const parameter& p = model->parameters()[k];
      all.push_back({p.name + std::move(suffix), what, k, each == kept_array::per::column ? 1 : p.rows,
                     each == kept_array::per::row ? 1 : p.columns, numbers});
    };
    using per = kept_array::per;
    for (std::size_t k = 0; k < parameters.size(); ++k)
      append(state_array::kind::parameter, k, "", per::number, parameters[k]);
    for (int a = 0; a < max_kept_arrays; ++a)
      for (std::size_t k = 0; k < parameters.size(); ++k)
        if (const kept_arrays kept = kept_for(k); a < kept.size())
          append(state_array::kind::kept, k, "/" + std::string(kept[a].name), kept[a].each, array(k, a));
    for (std::size_t k = 0; k < averages_.size(); ++k)
      append(state_array::kind::average, k, "/ema", per::number, averages_[k]);
    return all;
  }
  /// Exchanges the parameters and the averages of the weights.
  void swap_average() {
    for (std::size_t k = 0; k < averages_.size(); ++k)
      std::swap_ranges(averages_[k].begin(), averages_[k].end(), parameters[k].begin());
  }
  bool has_average() const { return average_.is_on(); }

 private:
  /// The sizes of all kept arrays, parameter by parameter; sets `first_kept_`.
  std::vector<std::size_t> sizes_kept() {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < updates_.size(); ++k) {
      first_kept_.push_back(all.size());
      const parameter& p = model->parameters()[k];
      for (const kept_array& a : kept_for(k))
        all.push_back(static_cast<std::size_t>(a.size(p.rows, p.columns)));
    }
    return all;
  }
  kept_arrays kept_for(std::size_t k) const { return updates_[k].kept(model->parameters()[k]); }
  std::span<f32> array(std::size_t k, int a) { return kept_[first_kept_[k] + static_cast<std::size_t>(a)]; }
  parameter_part part(const owned_block& b, const matrix<f32>& gradient) {
    const std::size_t k = b.parameter;
    const i64 stride = model->parameters()[k].columns, first = b.where.row * stride + b.where.column;
    parameter_part x{.where = b.where,
                     .stride = stride,
                     .gradient_stride = gradient.row_stride(),
                     .weights = parameters[k].data() + first,
                     .gradients = gradient.first(),
                     .arrays = kept_for(k),
                     .average = average_.is_on() ? averages_[k].data() + first : nullptr};
    for (int a = 0; a < x.arrays.size(); ++a)
      x.kept[static_cast<std::size_t>(a)] =
          array(k, a).data() + (x.arrays[a].each == kept_array::per::row      ? b.where.row
                                : x.arrays[a].each == kept_array::per::column ? b.where.column
                                                                              : first);
    return x;
  }
  whole_parameter whole(std::size_t k) {
    whole_parameter w{.rows = model->parameters()[k].rows, .columns = model->parameters()[k].columns};
    const int n = kept_for(k).size();
    for (int a = 0; a < n; ++a) w.kept[static_cast<std::size_t>(a)] = array(k, a).data();
    return w;
  }

  weight_average average_;
  std::vector<parameter_update> updates_;
  std::vector<parameter_sums> whole_;    // what the rounds of a step have found out
  std::vector<std::size_t> first_kept_;  // index of the first array that is kept for each parameter
  array_store kept_;
  parameter_store averages_;
  owned_sums collected_;
};

}  // namespace wsl::ml
