// SPDX-License-Identifier: MIT
// What a user submits, and whether the cluster can run it: it is refused before it waits in the queue, with
// what is wrong.
#pragma once
#include <stdexcept>

#include "cluster_file.hpp"
#include "job.hpp"

namespace cluster {

/// What cannot be run as it is asked for.
class refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void require_user(const std::string& name);
/// Refuses labels that are no words, or too many.
void require_labels(const std::map<std::string, std::string>& labels);
void require_priority(i64 priority);

/// Completes a job with what its program says of its params (wafers and the folder of its run), and checks
/// all of it: sizes, names, paths, whether any nodes can hold it, and for a training run what the program's
/// mode `validate` says on the node's share of memory. Throws `refused`. A num_csx of 0 is what the params
/// say.
job checked(const cluster_file& c, job j);

/// Gives a training run that names no folder one of its own.
void give_folder(const cluster_file& c, job& j);

}  // namespace cluster
