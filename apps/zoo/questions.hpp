// SPDX-License-Identifier: MIT
// Questions with several answers, in the forms of three data sets: HellaSwag, ARC and LAMBADA. Prompts are
// those of lm-evaluation-harness (github.com/EleutherAI).
#pragma once
#include <string>
#include <vector>

namespace zoo_app {

struct question {
  std::string context;
  /// what may follow, with the blank before it; of LAMBADA only the last word
  std::vector<std::string> answers;
  int right = 0;
  std::string place = {};  ///< the file and the line
};

/// Reads a file with a JSON object in each line, at most `limit` of them if that is not 0. Throws
/// wsl::ml::file_error with the line.
std::vector<question> read_questions(const std::string& file, int limit);

}  // namespace zoo_app
