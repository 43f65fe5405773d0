// SPDX-License-Identifier: MIT
// What wsl-ctl submit makes of a command line: the params file of this computer is sent along, all else is
// for the program.
#pragma once
#include <string>
#include <vector>

#include "cluster.pb.h"

namespace cluster {

struct submit_options {
  std::vector<std::string> labels;
  std::string priority, memory;
  long long time_s = 0;
  int num_csx = 0, cores = 0;
};

/// The submission of a command, `<program> <arguments>`. Throws std::invalid_argument.
wsl::cluster::Submission submission_of(const submit_options& o, const std::vector<std::string>& command);

/// The name by which jobs and cancelled ones tell whose they are: that of the account.
std::string name_of_user();

/// p0 to p3, or a number. Throws std::invalid_argument.
int priority_of(const std::string& text);

/// Splits "key=value". Throws std::invalid_argument.
std::pair<std::string, std::string> label_of(const std::string& text);

}  // namespace cluster
