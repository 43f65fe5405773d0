// SPDX-License-Identifier: MIT
// The sparse weights of a run: what becomes of their patterns, in words, and whether the masks of a
// checkpoint are those that the params want.
#pragma once
#include <string>
#include <vector>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/op/precision.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/sparsity/settings.hpp>

namespace train_app {

class sparse_run {
 public:
  using i64 = wsl::i64;

  /// The settings have the seed of the run. Throws std::invalid_argument for settings that do not fit the
  /// model or the optimizer.
  sparse_run(wsl::ml::network model, const wsl::ml::optimizer& rule, wsl::ml::sparsity_settings how);
  sparse_run(const sparse_run&) = delete;

  /// The names of the parameters.
  std::vector<std::string> names() const;

  /// Throws std::invalid_argument if an update of the pattern until the last step leaves a parameter without
  /// weights.
  void require_weights(i64 last) const;
  /// Requires that patterns which no update changes after a step are as sparse as the settings want them, to
  /// a hundredth. `remade`: the command wants masks to be made of dense weights.
  void require_same_share(wsl::ml::checkpoint& c, i64 step, bool remade) const;

  /// How many weights are there, what a pass sends of them, and what the updates after step `first` until the
  /// last step make of them: a line for each group. Those of a checkpoint are counted if one is named.
  std::string words(wsl::ml::precision as, i64 first, i64 last, const std::string& checkpoint) const;
  /// What makes the patterns beside the sparsity and the updates; a run goes on with the same.
  std::string makers() const;
  /// All settings in words, which are equal where they are.
  std::string text() const;

 private:
  struct parameter {
    const wsl::ml::parameter& of;
    const wsl::ml::sparsity::group& group;
    i64 blocks, size_of_block;  ///< of places that compete

    /// The nonzeros of the first pattern.
    i64 first_count() const;
    /// The nonzeros after an update, of so many.
    i64 after(i64 step, i64 count) const;
  };
  /// Calls f(step) for the updates of a group after one step until another.
  template <class F>
  static void each_update(const wsl::ml::sparsity::group& g, i64 after, i64 last, F f);

  wsl::ml::network model_;
  wsl::ml::sparsity_settings how_;
  std::vector<parameter> all_;
};

}  // namespace train_app
