// SPDX-License-Identifier: MIT
// A file that the mode predict writes. It is written over a file only if that is, byte for byte, what a
// predict has written there before, and nothing that this one reads: labels that somebody has corrected, a
// file that has the name by chance, and the texts themselves stay. The hidden file .predictions beside it
// keeps the fingerprints of what has been written.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <wsl/support/fingerprint.hpp>
#include <wsl/support/whole_file.hpp>

#include "fields.hpp"

namespace train_app {

class file_of_predictions {
 public:
  /// Of a name, which `option` gives; `f` has what the run reads. Throws std::invalid_argument if the file
  /// may not be written over, as does `finish` if that is so by then, and support::file_error if it cannot be
  /// written.
  file_of_predictions(const fields& f, std::string name, std::string option = "out");

  /// Adds bytes to the file, which nobody sees before `finish`. Throws support::file_error.
  void add(std::string_view bytes);
  /// Puts the file in its place and prints its name. Throws support::file_error.
  void finish();
  /// All at once.
  void write(std::string_view text) { add(text), finish(); }

  const std::string& name() const { return name_; }

 private:
  void require_own() const;

  std::string name_, option_;
  std::optional<wsl::support::whole_file>
      file_;  // always there: it is made when the name is known to be free
  wsl::support::fingerprint written_;
};

}  // namespace train_app
