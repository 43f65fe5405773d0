// SPDX-License-Identifier: MIT
// The text of a caught exception, for those to whom only that can be passed on.
#pragma once
#include <exception>
#include <string>

namespace wsl::support {

inline std::string exception_text(const std::exception_ptr& of) {
  try {
    std::rethrow_exception(of);
  } catch (const std::exception& e) { return e.what(); } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace wsl::support
