// SPDX-License-Identifier: MIT
// The texts of a run, in the fields of train_input and eval_input: a data processor of the Cerebras Model Zoo
// and its settings (wsl/ml/data/text/encode/processors.hpp). All settings of all processors are fields; those
// of another one than is chosen are refused.
#pragma once
#include <fields.hpp>
#include <map>
#include <variant>
#include <wsl/ml/data/text/encode/processors.hpp>

namespace text_app {

using train_app::f64;

class text_input {
 public:
  std::string data_processor;

  text_input() = default;
  // Fields hold references into it.
  text_input(const text_input&) = delete;
  text_input& operator=(const text_input&) = delete;

  /// Declares the fields in the section that is open, whose name is `section`, with these processors.
  void declare(train_app::fields& f, const std::string& section, const std::vector<std::string>& processors);

  /// The processor with the settings that were given here, or else in `otherwise`, and with these files, if
  /// there are any. Throws std::invalid_argument for settings of another processor.
  wsl::ml::text_processor processor(train_app::fields& f, const std::string& data_dir,
                                    const text_input* otherwise = nullptr) const;

 private:
  using value = std::variant<bool, int, f64, std::string, std::vector<std::string>>;
  /// The value of a field that was given; null if it was not.
  const value* given(train_app::fields& f, const std::string& name) const;

  std::string section_;
  std::map<std::string, value> settings_, usual_;  // fields hold references to the first; their defaults
  std::map<std::string, std::string> accepted_;    // fields of which only some values are accepted
};

}  // namespace text_app
