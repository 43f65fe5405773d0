// SPDX-License-Identifier: MIT
// While a simulation asks a function of its user for numbers, that function must not change the simulation.
#pragma once
#include "../../support/bad_argument.hpp"

namespace wsl::stencils {

class asking {
 public:
  /// Calls f(), which asks.
  template <class F>
  void ask(F f) {
    struct until_the_end {
      bool &now, before;
      ~until_the_end() { now = before; }
    } end{asks_, asks_};
    asks_ = true;
    f();
  }
  /// Throws std::invalid_argument for a call that changes the simulation while it asks.
  void require_none(const char* call) const {
    if (asks_)
      support::bad_argument({"stencil: ", call,
                             " is called by a function that the simulation asks for numbers, "
                             "such as that of a source; call it before or afterwards"});
  }

 private:
  bool asks_ = false;
};

}  // namespace wsl::stencils
