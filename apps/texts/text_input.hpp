// SPDX-License-Identifier: MIT
// The texts of a run, in the fields of train_input and eval_input: a data processor of the Cerebras Model Zoo
// and its settings (wsl/ml/data/text/encode/processors.hpp). All settings of all processors are fields; those
// of another one than is chosen are refused.
#pragma once
#include <fields.hpp>
#include <map>
#include <synthetic.hpp>
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

  /// Declares the fields in the section that is open, whose name is `section`, with these processors of a
  /// kind.
  void declare(train_app::fields& f, const std::string& section, wsl::ml::text_kind kind,
               const std::vector<std::string>& processors);

  /// Whether the files of this part are given here, by data_dir or by src_data_dir.
  bool names_files(train_app::fields& f, const std::string& data_dir) const;

  /// Forgets the lengths that a file of params gives if an option names a processor of HDF5, whose data have
  /// theirs.
  void forget_lengths(train_app::fields& f);

  /// The processor with the settings that were given here, without a look at the data. Throws
  /// std::invalid_argument for settings of another processor.
  wsl::ml::text_processor settings(train_app::fields& f, const std::string& data_dir,
                                   const text_input* otherwise = nullptr) const;
  /// The processor with the settings that were given here, or else in `otherwise`, and with these files, if
  /// there are any. Throws std::invalid_argument for settings of another processor.
  wsl::ml::text_processor processor(train_app::fields& f, const std::string& data_dir,
                                    const text_input* otherwise = nullptr) const;

 private:
  using value = std::variant<bool, int, f64, std::string, std::vector<std::string>>;
  /// The value of a field that was given; null if it was not.
  const value* given(train_app::fields& f, const std::string& name) const;

  std::string section_;
  wsl::ml::text_kind kind_ = {};
  std::map<std::string, value> settings_, usual_;  // fields hold references to the first; their defaults
  std::map<std::string, std::string> accepted_;    // fields of which only some values are accepted
};

/// Gives a processor of HDF5 the function that reads its data, and what these say themselves: the vocabulary
/// beside them, the lengths of their examples and the special tokens. Others stay as they are. Throws
/// file_error, and std::invalid_argument for settings that contradict the data; in a program without libhdf5
/// for every processor of HDF5.
void complete_hdf5(wsl::ml::text_processor& p);

/// Gives a processor of random numbers its seed, and the sizes that the model has; others stay as they are.
/// Throws std::invalid_argument if the model does not say its vocabulary.
void complete_synthetic(wsl::ml::text_processor& p, const train_app::input_params& in, bool trains,
                        int vocabulary, int positions);
/// Throws std::invalid_argument for a setting that a processor of files misses. Data in HDF5 say some
/// themselves.
void require_settings(const wsl::ml::text_processor& p);
/// Whether a processor makes its data itself.
bool needs_no_files(const wsl::ml::text_processor& p);

}  // namespace text_app
