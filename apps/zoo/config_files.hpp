// SPDX-License-Identifier: MIT
// `wsl-zoo config check`: which params files the trainers take, in the V1 or V2 form of the Model Zoo, what
// of them has no effect, and what is refused. `wsl-zoo config convert`: one form from the other. See
// docs/guide/configurations.md.
#pragma once
#include <string>
#include <vector>

namespace zoo_app {

/// The judgement of a params file.
struct verdict {
  std::string model, program;  ///< empty: not known, or there is none here
  std::vector<std::string> notes = {}, refused = {};

  /// A file of a model that there is not here: nothing is said of its settings.
  bool is_of_others() const { return refused.empty() && program.empty(); }
};
/// Judges a file; `asked` is the model of one that does not say it. The sentences have the file's name and,
/// as far as it is known, the line.
verdict verdict_of(const std::string& file, const std::string& asked);
/// The same of a text that a file of that name has, or would have.
verdict verdict_of_text(const std::string& text, const std::string& file, const std::string& asked);
/// Throws std::invalid_argument for the value of --model if there is no such model.
void require_model(const std::string& asked);

/// Checks files, without their data and without a model. Returns 0 if all are accepted, otherwise 1. Throws
/// std::invalid_argument for options that are wrong. The arguments follow the word config.
int run_config_check(int argc, char** argv);
/// Converts a file. Returns 0, or 1 if `config check` refuses the file, of which it says the same; then
/// nothing is written; as little if it would refuse the result. Throws std::invalid_argument for options that
/// are wrong, and support::file_error where the result cannot be written. The arguments follow the word
/// config.
int run_config_convert(int argc, char** argv);

}  // namespace zoo_app
