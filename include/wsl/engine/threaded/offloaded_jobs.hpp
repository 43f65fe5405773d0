// SPDX-License-Identifier: MIT
// Jobs that PEs of a partition have offloaded (pe::async_compute). A job lives from its request to the next
// computing superstep. It completes there, whichever thread has done it and whenever, so results do not
// depend on the speed of threads.
#pragma once
#include <atomic>
#include <exception>

#include "../processor.hpp"

namespace wsl::engines {

class open_job {
 public:
  const offloaded_job what;
  const u32 who;
  std::exception_ptr failure;

  open_job(const offloaded_job& w, u32 on) : what(w), who(on) {}

  /// Runs the job if no other thread has begun it. Returns whether this thread ran it.
  bool do_if_first() {
    if (takers_.fetch_add(1) != 0) return false;
    try {
      what.compute(what.part);
    } catch (...) { failure = std::current_exception(); }
    return true;
  }

 private:
  std::atomic<u32> takers_ = 0;
};

/// Completes the first job, which no thread runs any more, on its PE; returns that PE's number. Rethrows an
/// exception of the job.
inline u32 complete_first_job(support::flat_vector<open_job*>& all, pe_state& on) {
  open_job* const first = all[0];
  all.erase(0);
  first->do_if_first();
  const offloaded_job what = first->what;
  const std::exception_ptr failure = first->failure;
  delete first;
  with_place_in_faults(on, what.name, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  on.complete(what.then);
  return on.index;
}

}  // namespace wsl::engines
