// SPDX-License-Identifier: MIT
// The places of a machine's state, read as they are looked at.
#pragma once
#include <unordered_map>

#include "machine_state.hpp"

namespace wsl::debug {

class places {
 public:
  /// The state must outlive it.
  explicit places(const machine_state& of) : s_(of) {}

  /// The state of a place of the grid, by its rank; equal ones are read once.
  const place_state& operator[](std::size_t i) {
    const u32 block = s_.states[i];
    const auto known = read_.find(block);
    return known != read_.end() ? known->second
                                : read_.emplace(block, s_.decoded(s_.blocks[block])).first->second;
  }

 private:
  const machine_state& s_;
  std::unordered_map<u32, place_state> read_;
};

}  // namespace wsl::debug
