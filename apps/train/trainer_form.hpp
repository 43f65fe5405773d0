// SPDX-License-Identifier: MIT
// The V2 form of the Model Zoo's params files, `trainer: {init: ..., fit: ...}`, and the V1 form with its
// sections train_input, eval_input, model, optimizer, runconfig: one table of names says how a setting of one
// is called in the other. A file of the V2 form is read as the V1 sections that mean the same.
#pragma once
#include <map>
#include <string_view>

#include "yaml_text.hpp"

namespace train_app {

/// Whether a file has the V2 form.
bool is_trainer_form(const YAML::Node& root);
/// The V1 sections of a file in the V2 form, whose nodes keep their lines. Adds mistakes, and to `ignored` a
/// note for each setting that changes no result here; to `names`, if it is not null, what the file calls a
/// setting by its name in the V1 form, "section.name".
YAML::Node sections_of_trainer(const YAML::Node& root, const std::string& file, mistakes& found,
                               std::vector<std::string>& ignored,
                               std::map<std::string, std::string>* names = nullptr);
/// What a V2 file calls a setting of the V1 form, "section.name"; `optimizer` is the type of the file's.
std::string name_in_trainer(std::string_view v1, const std::string& optimizer);
/// The V2 form of V1 sections. Settings for which the Zoo's V2 form has no place are in init.wsl, from where
/// they are read again. Adds mistakes.
YAML::Node trainer_of_sections(const YAML::Node& root, const std::string& file, mistakes& found);

}  // namespace train_app
