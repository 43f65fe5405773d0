// SPDX-License-Identifier: MIT
// The reference of a run that learns from preferences (wsl/ml/model/preference.hpp): the log-probabilities
// that a frozen model gives to all sequences of its data. They are computed once, before the first step, and
// kept in a file whose name is a fingerprint of the data, of the model and of how it computes, so that a run
// that goes on, or another run with the same three, takes them from there.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <wsl/ml/data/dataset.hpp>
#include <wsl/ml/model/network.hpp>
#include <wsl/ml/model/weights.hpp>

#include "params.hpp"

namespace train_app {

/// The part of a run whose examples are pairs of sequences, of which the first is preferred.
struct preference_run {
  f64 beta = 1;  ///< the factor of rewards
  /// The network of the reference, whose output are numbers of sequences; none: there is no reference.
  std::function<wsl::ml::network()> reference = {};
  /// Its weights; called by the first process. None: they are no longer there, and a run that goes on has its
  /// numbers in a file.
  std::function<wsl::ml::weights()> read_reference = {};
  std::string reference_name = {};  ///< where they come from, for people
  std::string architecture = {};    ///< of the reference: fields of its model and their values
  std::string cache = {};           ///< the folder of the files; empty: that of the run
  bool is_mean = false;             ///< log-probabilities are means over tokens
};

/// The file in which the numbers of a reference are kept. It depends on all examples of the data, which have
/// the tokens, on all weights and their names, on `is_mean` and on the precision.
class reference_file {
 public:
  reference_file(const std::filesystem::path& folder, const wsl::ml::dataset& data, wsl::u64 of_weights,
                 bool is_mean, precision format);

  const std::string& name() const { return name_; }
  /// The numbers, two for each pair; none if there is no such file. One that is damaged, or is another's, is
  /// named on stderr and is none.
  std::optional<std::vector<wsl::f32>> read() const;
  /// Writes them; the file is whole or not there. Throws wsl::ml::file_error.
  void write(const std::vector<wsl::f32>& numbers) const;

 private:
  std::string name_, key_;
  wsl::u64 pairs_;
};

/// As the names of files and checkpoints have it.
std::string text_of_fingerprint(wsl::u64 fingerprint);
/// A fingerprint of the weights of a network with their names, and of what else its architecture says.
wsl::u64 fingerprint_of(const wsl::ml::network& n, const wsl::ml::weights& w,
                        const std::string& architecture);

}  // namespace train_app
