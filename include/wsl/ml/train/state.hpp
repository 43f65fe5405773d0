// SPDX-License-Identifier: MIT
// The training state: the parameters, the arrays that the optimizer keeps, and the position. A trainer of the
// same model and optimizer that is given all of it resumes bit for bit. The state is in the memory beside the
// wafer; the wafer itself keeps nothing between steps. `trainer::state` gives the arrays as views, to read
// and to set:
//   for (const ml::state_array& x : t.state()) save(x.name, x.rows, x.columns, x.numbers);
// A state on disk is a checkpoint (io/checkpoint.hpp). Sparse parameters and what belongs to them are whole
// arrays with zeros here, but not in the memory (sparse_parameters.hpp).
#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../model/parameter_store.hpp"
#include "../optim/grad_scaler.hpp"
#include "../optim/step.hpp"
#include "sparse_parameters.hpp"

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

/// Calls f(array, a) for each array of the state of a model, without its numbers: all parameters, then the
/// arrays a = 0 of those that `updates` keep, then a = 1, ..., then the averages if there are any.
template <class F>
void each_state_array(const std::vector<parameter>& parameters, const std::vector<parameter_update>& updates,
                      bool has_average, F f) {
  using per = kept_array::per;
  using kind = state_array::kind;
  const auto array_of = [&](kind what, std::size_t k, const std::string& suffix, per each) {
    const parameter& p = parameters[k];
    return state_array{
        p.name + suffix, what, k, each == per::column ? 1 : p.rows, each == per::row ? 1 : p.columns, {}};
  };
  for (std::size_t k = 0; k < parameters.size(); ++k) f(array_of(kind::parameter, k, "", per::number), 0);
  for (int a = 0; a < max_kept_arrays; ++a)
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (const kept_arrays kept = updates[k].kept(parameters[k]); a < kept.size())
        f(array_of(kind::kept, k, fmt::format("/{}", kept[a].name), kept[a].each), a);
  for (std::size_t k = 0; has_average && k < parameters.size(); ++k)
    if (!parameters[k].frozen) f(array_of(kind::average, k, "/ema", per::number), 0);
}

/// The arrays of the state that a trainer of this model and optimizer would have, without their numbers.
/// Throws std::invalid_argument for an optimizer that does not fit the model.
inline std::vector<state_array> state_of(const network& n, const optimizer& rule) {
  std::vector<state_array> all;
  each_state_array(n.parameters(), updates_of(rule, n.parameters()), rule.average.is_on(),
                   [&](state_array x, int) { all.push_back(std::move(x)); });
  return all;
}

/// A block of a parameter that one PE owns. Of a sparse parameter its nonzeros are the columns of one row.
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
                  bool keeps = true, const sparsity_settings& sparse_ones = {})
      : model(&n),
        average_(rule.average),
        updates_(updates_of(rule, n.parameters())),
        sparse(sparse_of(sparse_ones.with_seed(seed), folder, keeps)),
        parameters(n, seed, folder, keeps,
                   whole([](sparse_parameter&) { return sparse_parameter::weights; })),
        gradients(parameter_store::of_trained(
            n, folder, keeps, whole([](sparse_parameter&) { return sparse_parameter::gradients; }))),
        rule_name(rule.name()),
        whole_(updates_.size()),
        kept_(keeps ? array_store(sizes_kept(), folder) : array_store()),
        averages_(parameter_store::of_trained(n, folder, keeps && average_.is_on(),
                                              whole([](sparse_parameter& s) { return s.average(); }))) {}

  const network* model;

 private:
  weight_average average_;
  std::vector<parameter_update> updates_;

 public:
  std::vector<std::unique_ptr<sparse_parameter>> sparse;  ///< of each parameter; null: it is dense
  parameter_store parameters, gradients;                  ///< the second of those that are not frozen
  const std::string rule_name;                            ///< of the optimizer's update rule
  bool measures_gradients = false;                        ///< steps measure the norms of gradients

  /// A step of this optimizer.
  optimizer_step step(f64 rate, i64 number, const clipping& clip, f64 loss_scale = 1,
                      bool may_be_skipped = false) const {
    return {static_cast<f32>(rate),       number,        clip, rounds_of(updates_), average_,
            static_cast<f32>(loss_scale), may_be_skipped};
  }
  /// A round of the update of a block, with its gradients, (rows, columns).
  void update(const optimizer_step& s, const owned_block& b, const matrix<f32>& gradient, f32 clip_factor,
              int round, owned_sums& sums) {
    const std::size_t k = b.parameter;
    parameter_sums none;
    s.update(updates_[k], part(b, gradient), clip_factor, round, whole_[k], s.rounds > 1 ? sums[k] : none);
  }
  /// Adds the sums of an owner to those of the round, and clears them. Owners come in a fixed order.
  void collect(owned_sums& of_owner) {
    for (const auto& [k, sums] : of_owner) collected_[k].add(sums);
    of_owner.clear();
  }
  /// Ends a round: what has been collected is what the next round reads.
  void combine(const optimizer_step& s, f32 clip_factor, int round) {
    for (const auto& [k, sums] : std::exchange(collected_, {}))
      s.combine(updates_[k], whole(k), clip_factor, round, sums, whole_[k]);
  }

  /// The arrays of the state: all parameters, then the first arrays that are kept, then the second, ..., then
  /// the averages.
  std::vector<state_array> state() {
    std::vector<state_array> all;
    if (parameters.size() == 0) return all;  // another process keeps them
    each_state_array(model->parameters(), updates_, has_average(), [&](state_array x, int a) {
      const std::size_t k = x.parameter;
      x.numbers = x.what == state_array::kind::parameter ? parameters[k]
                  : x.what == state_array::kind::average ? averages_[k]
                  : sparse[k]                            ? sparse[k]->whole(kept_of_sparse(a))
                                                         : array(k, a);
      all.push_back(std::move(x));
    });
    return all;
  }
  /// Exchanges the parameters and the averages of the weights.
  void swap_average() {
    for (std::size_t k = 0; k < averages_.size(); ++k)
      if (sparse[k]) sparse[k]->swap_average();
      else std::swap_ranges(averages_[k].begin(), averages_[k].end(), parameters[k].begin());
  }
  bool has_average() const { return average_.is_on(); }

  /// The numbers of a parameter, and their gradients, as the memory keeps them: all, or those of the
  /// nonzeros.
  std::span<f32> kept_weights(std::size_t k) {
    return sparse[k] ? sparse[k]->nonzeros(sparse_parameter::weights) : parameters[k];
  }
  std::span<f32> kept_gradients(std::size_t k) {
    return sparse[k] ? sparse[k]->nonzeros(sparse_parameter::gradients) : gradients[k];
  }
  /// Calls f(parameter) for those that are sparse.
  template <class F>
  void each_sparse(F f) {
    for (const auto& s : sparse)
      if (s) f(*s);
  }

 private:
  std::vector<std::unique_ptr<sparse_parameter>> sparse_of(const sparsity_settings& how,
                                                           const std::string& folder, bool keeps) const {
    std::vector<std::unique_ptr<sparse_parameter>> all(updates_.size());
    const std::vector<const sparsity::group*> groups = sparse_groups(*model, updates_, how);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (groups[k])
        all[k] = std::make_unique<sparse_parameter>(model->parameters()[k], *groups[k], kept_for(k).size(),
                                                    average_.is_on(), folder, keeps);
    return all;
  }
  /// An array of each sparse parameter, whose number `which` says.
  template <class F>
  std::vector<numbers_elsewhere> whole(F which) const {
    std::vector<numbers_elsewhere> all(sparse.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      if (sparse_parameter* const s = sparse[k].get()) all[k] = [s, which] { return s->whole(which(*s)); };
    return all;
  }
  static std::size_t kept_of_sparse(int a) {
    return sparse_parameter::first_kept + static_cast<std::size_t>(a);
  }
  /// The sizes of all kept arrays, parameter by parameter; sets `first_kept_`.
  std::vector<std::size_t> sizes_kept() {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < updates_.size(); ++k) {
      first_kept_.push_back(all.size());
      const parameter& p = model->parameters()[k];
      for (const kept_array& a : kept_for(k))
        all.push_back(sparse[k] ? 0 : static_cast<std::size_t>(a.size(p.rows, p.columns)));
    }
    return all;
  }
  kept_arrays kept_for(std::size_t k) const { return updates_[k].kept(model->parameters()[k]); }
  std::span<f32> array(std::size_t k, int a) { return kept_[first_kept_[k] + static_cast<std::size_t>(a)]; }
  parameter_part part(const owned_block& b, const matrix<f32>& gradient) {
    const std::size_t k = b.parameter;
    if (sparse[k]) return part_of_sparse(b, gradient);
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
  parameter_part part_of_sparse(const owned_block& b, const matrix<f32>& gradient) {
    sparse_parameter& s = *sparse[b.parameter];
    const i64 first = b.where.column;
    parameter_part x{.where = b.where,
                     .stride = b.where.columns,
                     .gradient_stride = b.where.columns,
                     .weights = s.nonzeros(sparse_parameter::weights).data() + first,
                     .gradients = gradient.first(),
                     .arrays = kept_for(b.parameter),
                     .average = average_.is_on() ? s.nonzeros(s.average()).data() + first : nullptr};
    for (int a = 0; a < x.arrays.size(); ++a)
      x.kept[static_cast<std::size_t>(a)] = s.nonzeros(kept_of_sparse(a)).data() + first;
    return x;
  }
  whole_parameter whole(std::size_t k) {
    // No rule that reads what is kept of a whole parameter takes a sparse one.
    if (sparse[k]) return {.rows = 1, .columns = static_cast<int>(sparse[k]->pattern().count())};
    whole_parameter w{.rows = model->parameters()[k].rows, .columns = model->parameters()[k].columns};
    const int n = kept_for(k).size();
    for (int a = 0; a < n; ++a) w.kept[static_cast<std::size_t>(a)] = array(k, a).data();
    return w;
  }

  std::vector<parameter_sums> whole_;    // what the rounds of a step have found out
  std::vector<std::size_t> first_kept_;  // index of the first array that is kept for each parameter
  array_store kept_;
  parameter_store averages_;
  owned_sums collected_;
};

}  // namespace wsl::ml
