// SPDX-License-Identifier: MIT
// Functions that the host calls between steps, where numbers of the wafer may be read.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "data_executor.hpp"
#include "model.hpp"

namespace wsl::ml::cstorch {

/// A function that is called in steps which the executor chooses.
template <class F, bool (data_executor::*is_due)() const>
class closure {
 public:
  closure(F f, const char* what) : f_(std::move(f)), what_(what) {}

  /// Calls the function if it is due; what it returns is lost. Throws std::logic_error outside of the loop of
  /// an executor, and in a traced function.
  template <class... A>
  void operator()(A&&... with) {
    if (recording::is_on())
      throw std::logic_error(
          std::string("wsl: ") + what_ +
          " reads numbers that a traced step has not made yet: call it after the traced function");
    if (!(data_executor::running(what_).*is_due)()) return;
    const in_closure reading;
    f_(std::forward<A>(with)...);
  }

 private:
  F f_;
  const char* what_;
};

/// Called in the steps that log: every log_steps, and the last.
template <class F>
auto step_closure(F f) {
  return closure<F, &data_executor::logs>(std::move(f), "a step closure");
}
/// Called in the steps that save: every checkpoint_steps, and the last.
template <class F>
auto checkpoint_closure(F f) {
  return closure<F, &data_executor::saves>(std::move(f), "a checkpoint closure");
}

}  // namespace wsl::ml::cstorch
