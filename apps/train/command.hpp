// SPDX-License-Identifier: MIT
// The command line of a trainer: a mode, a params file or a bundled configuration, and every field as an
// option, --section.name, or --name, which sets it in all sections that have it.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields.hpp"

namespace train_app {

struct bundled {
  std::string name, text;
};

/// The modes that read an option, "section.name", or all of a section that have no such line of their own.
struct readers {
  std::string of;
  std::vector<std::string> modes;
};

struct program_words {
  std::string name, about;
  std::vector<std::pair<std::string, std::string>> modes;  ///< their names and descriptions
  /// the first is taken if none is named and model_dir has no run
  std::vector<bundled> configurations;
  /// the option that gives a model of another program: beside it the params of a run are read only if its
  /// model_dir is given, too
  std::string model_option = {};
  /// the modes that without params and without a run in model_dir take the params of the checkpoint that
  /// --checkpoint_path names
  std::vector<std::string> modes_of_checkpoints = {};
  /// the options that some modes read; the others are read by all
  std::vector<readers> options = {};
};

/// The first words of a run's params file (params.yaml); the program's name follows.
inline const std::string params_of = "# The params of a run of ";

/// Sets model.name to that of the Model Zoo's model if nothing has given it, and the field knows it.
void take_model_name(fields& f, const std::string& model);

/// Prints the values of fields that a user's params file does not give: those of the Model Zoo's defaults, or
/// `by_name` those that the model's name stands for, as `wsl-zoo config check` does.
void say_values_not_given(fields& f, const std::string& program, bool by_name);

/// The names and places of the fields in the params file of the command, after `parse`: a program has one.
const words_of_file& words_of_params();

/// Reads the command line, the params file and the fields. Returns the mode; none if there is nothing to do
/// (help was asked for, or a word is not known), and sets the exit status. Throws std::invalid_argument for
/// an invalid field, and for an option of the command line that the mode does not read.
std::optional<std::string> parse(int argc, char** argv, const program_words& words, fields& f, int& status);

}  // namespace train_app
