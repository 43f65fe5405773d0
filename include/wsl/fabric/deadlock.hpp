// SPDX-License-Identifier: MIT
// temporary
#pragma once
#include "wait.hpp"
#include "../layout/layout.hpp"
namespace wsl {
class deadlock : public std::runtime_error {
 public:
  deadlock(const layout&, waits w) : runtime_error("deadlock"), open_(std::move(w)) {}
  const waits& open() const { return open_; }
 private: waits open_;
};
}
