// SPDX-License-Identifier: MIT
// For a dataset of one's own that has other examples for each wafer: how many
// wafers share out a batch, and whose part of it is being made. Both are asked in dataset::get, where batches
// call it; elsewhere there is one task.
//   d.get = [&](i64 which, const example& to) { read(files[task_id()], which, to); };
// A run of such data depends on the number of wafers; data that do not ask are the same on any.
#pragma once
#include <utility>

namespace wsl::ml {

namespace detail {

struct task_state {
  int count = 1, id = 0;
};
inline task_state& task_now() {
  thread_local task_state now;
  return now;
}

}  // namespace detail

/// The number of wafers, each of which has a part of every batch.
inline int num_tasks() { return detail::task_now().count; }
/// The wafer whose part is being made, from 0 to num_tasks() - 1.
inline int task_id() { return detail::task_now().id; }

/// Makes the examples of one wafer on this thread, as long as it lives; batches do this.
class task_scope {
 public:
  task_scope(int tasks, int id) : before_(std::exchange(detail::task_now(), {tasks, id})) {}
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;
  ~task_scope() { detail::task_now() = before_; }

 private:
  detail::task_state before_;
};

}  // namespace wsl::ml
