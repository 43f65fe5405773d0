// SPDX-License-Identifier: MIT
// The section `sparsity` of a params file, with the names of the Cerebras Model Zoo: a map, a list of maps
// for groups of parameters, or a number, which makes the usual parameters sparse with a pattern that stays.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/sparsity/settings.hpp>

#include "fields.hpp"

namespace train_app {

/// The group that the section says itself, or its list of groups.
struct sparsity_params {
  sparsity_part all = {};
  sparsity_parts groups = {};
  bool sparsify_checkpoint = false;  ///< weights that come without masks get those of init_method

  bool are_given() const { return all.sparsity.is_given() || !groups.empty(); }
  /// The settings, whose patterns of names are those of the file. Throws std::invalid_argument with the line
  /// and the field.
  wsl::ml::sparsity_settings settings() const;
};

void declare_sparsity(fields& f, sparsity_params& p);

/// The names that the Model Zoo has for one of our parameters, which may be several parameters there.
using zoo_names = std::function<std::vector<std::string>(const std::string&)>;
/// Those of a parameter of the blocks of a decoder or an encoder, whose module there has that path, without
/// "model." before it: queries, keys and values are three. None for other parameters.
std::vector<std::string> names_in_zoo(const std::string& ours, const std::string& module);

/// The settings for a model: the patterns of param_filter, which may be of our names, of the names of groups
/// and of the Model Zoo's names, have become names of parameters. Throws std::invalid_argument for a pattern
/// that no parameter has, and for one that the Zoo would make sparse in a part only.
wsl::ml::sparsity_settings sparsity_of(
    const sparsity_params& p, const wsl::ml::network& model,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& groups, const zoo_names& names);

}  // namespace train_app
