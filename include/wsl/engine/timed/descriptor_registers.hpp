// SPDX-License-Identifier: MIT
// The registers of a PE that hold the descriptors of operands in memory (the machine's DSRs): a file for each
// role. A program's first descriptors are in them when it starts, as a compiler arranges it. An operand whose
// descriptor is in none must be loaded, over the one that has not been used for longest. A register that is
// swept over an array, each use where the last ended, keeps up by itself (CSL's save_address); one that has
// been used twice in the same place does not. What is no member of the program, a local array or one on the
// heap, lies where no compiler knows: its descriptor is loaded in each task that uses it, and is out of date
// when the task ends or waits.
#pragma once
#include "../../program/descriptor/cost.hpp"
#include "../../support/flat_vector.hpp"

namespace wsl::engines {

class descriptor_registers {
 public:
  /// Puts the descriptor of an operand into a register of a file of so many, if it is in none. Returns
  /// whether that is a load.
  bool load_if_absent(const memory_operand& d, int registers, bool is_member) {
    support::flat_vector<held>& file = files_[static_cast<int>(d.as)];
    for (std::size_t k = 0; k < file.size(); ++k)
      if (file[k].first == d.first && alike(file[k], d)) return use(file, k, d, true), false;
    for (std::size_t k = 0; k < file.size(); ++k)
      if (!file[k].stays && alike(file[k], d) && file[k].first + span(d) == d.first)
        return use(file, k, d, false), false;
    // those out of date are the last
    const bool has_room = file.size() < static_cast<std::size_t>(registers),
               replaces = !file.empty() && file.back().length == out_of_date;
    if (has_room && !replaces) file.push_back({});
    use(file, file.size() - 1, d, false);
    return !has_room || replaces || !is_member;
  }
  /// The task has ended or waits: only descriptors of its program's members, `size` bytes from `begin` on,
  /// stay.
  void end_task(const void* begin, std::size_t size) {
    for (support::flat_vector<held>& file : files_) {
      std::size_t last = file.size();
      for (std::size_t k = last; k-- > 0;)
        // an address below `begin` wraps to one far behind the end
        if (file[k].length >= 0 && file[k].first - reinterpret_cast<std::uintptr_t>(begin) >= size) {
          for (std::size_t i = k; i + 1 < last; ++i) file[i] = file[i + 1];
          file[--last] = {.length = out_of_date};
        }
    }
  }
  u64 bytes() const {
    u64 n = 0;
    for (const auto& file : files_) n += file.capacity() * sizeof(held);
    return n;
  }

 private:
  struct held {
    std::uintptr_t first = 0;
    i64 step = 0;
    int length = 0;
    bool stays = false;  ///< it has been used twice in this place
  };
  static constexpr int out_of_date = -1;  // as a length: no operand has it

  static bool alike(const held& a, const memory_operand& b) {
    return a.length == b.length && a.step == b.step;
  }
  // The k-th is the one that was used last from now on.
  static void use(support::flat_vector<held>& file, std::size_t k, const memory_operand& d, bool stays) {
    for (; k > 0; --k) file[k] = file[k - 1];
    file[0] = {d.first, d.step, d.length, stays};
  }
  static std::uintptr_t span(const memory_operand& d) {
    return static_cast<std::uintptr_t>(d.length * d.step);
  }

  support::flat_vector<held> files_[3];  // each in the order of the last uses, the newest first
};

}  // namespace wsl::engines
