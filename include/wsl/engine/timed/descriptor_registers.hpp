// SPDX-License-Identifier: MIT
// The registers of a PE that hold the descriptors of operands in memory (the machine's DSRs): a file for each
// role. A program's first descriptors are in them when it starts, as a compiler arranges it. An operand whose
// descriptor is in none must be loaded, over the one that has not been used for longest. A register that is
// swept over an array, each use where the last ended, keeps up by itself (CSL's save_address); one that has
// been used twice in the same place does not.
#pragma once
#include "../../program/descriptor/cost.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class descriptor_registers {
 public:
  /// Whether this operand has to be loaded, on a machine with so many registers in a file; it is in one then.
  bool must_load(const memory_operand& d, int registers) {
    support::flat_vector<held>& file = files_[static_cast<int>(d.as)];
    ++uses_;
    for (held& h : file)
      if (h.what.first == d.first && alike(h.what, d)) return h.stays = true, h.used = uses_, false;
    held* before = nullptr;
    for (held& h : file)
      if (!h.stays && alike(h.what, d) && h.what.first + span(d) == d.first &&
          (!before || h.used > before->used))
        before = &h;
    if (before) return *before = {d, uses_, false}, false;
    if (file.size() < static_cast<std::size_t>(registers)) return file.push_back({d, uses_, false}), false;
    held* oldest = &file[0];
    for (held& h : file)
      if (h.used < oldest->used) oldest = &h;
    *oldest = {d, uses_, false};
    return true;
  }

 private:
  struct held {
    memory_operand what;
    u64 used = 0;
    bool stays = false;
  };
  static bool alike(const memory_operand& a, const memory_operand& b) {
    return a.length == b.length && a.step == b.step;
  }
  static std::uintptr_t span(const memory_operand& d) {
    return static_cast<std::uintptr_t>(d.length * d.step);
  }

  support::flat_vector<held> files_[3];
  u64 uses_ = 0;
};

}  // namespace wsl::engines
