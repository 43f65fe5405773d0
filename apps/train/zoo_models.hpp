// SPDX-License-Identifier: MIT
// The models of the Cerebras Model Zoo by their names, and the program that trains each of them here. Files
// of the V2 form name their model; those of the V1 form lie in its folder, .../gpt2/configs/params.yaml.
#pragma once
#include "yaml_text.hpp"

namespace train_app {

struct zoo_model {
  const char* name;     ///< as a file says it, "bert/classifier" for instance, or as its folder is called
  const char* program;  ///< empty: there is none here
};
/// The model of that name; null if none is known.
const zoo_model* zoo_model_of(const std::string& name);
/// The model in whose folder a file lies; null if none is known.
const zoo_model* zoo_model_of_path(const std::string& file);
/// The name of the model that a params file says itself, in the V1 or in the V2 form; empty if it does not.
std::string model_named_in(const YAML::Node& root);
/// The node of that name; undefined if the file does not say it.
YAML::Node name_node_in(const YAML::Node& root);
/// A params file: the one document of a text, where a model that is called by the name of its class in the
/// Zoo, LlamaModel for instance, has that of the Zoo's files. Throws as `parsed` does.
YAML::Node parsed_params(const std::string& text, const std::string& where);
/// The names of all models that a program here trains.
std::vector<std::string> names_of_zoo_models();

}  // namespace train_app
