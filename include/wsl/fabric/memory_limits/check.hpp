// SPDX-License-Identifier: MIT
// The checks of memory limits. The storage that the members of programs own outside themselves, such as the
// elements of a std::vector, lies in the SRAM of a PE as the members do. The rules of a layout know only the
// members; this header counts the rest, with program/storage.hpp.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <string>

#include "../../program/storage.hpp"
#include "../../support/text.hpp"
#include "../memory_limits.hpp"

namespace wsl::detail {

/// The bytes that a program owns outside itself, as far as pe_storage knows the types of its members.
class heap_bytes final : private storage_visitor {
 public:
  heap_bytes(const program& what, const void* memory)
      : first_(reinterpret_cast<std::uintptr_t>(memory)), size_(what.bytes) {
    if (what.storage) what.storage(memory, *this);
  }
  u64 count() const { return bytes_; }

 private:
  void owner(const void* where, std::size_t bytes) override {
    if (reinterpret_cast<std::uintptr_t>(where) - first_ >= static_cast<std::uintptr_t>(size_))
      bytes_ += bytes;
  }
  void values(const void*, std::size_t bytes) override { bytes_ += bytes; }
  void unknown(const char*) override {}

  std::uintptr_t first_;
  int size_;
  u64 bytes_ = 0;
};

WSL_COMPILED_PART void containers_fit_memory(engines::engine& of) {
  const u64 room = static_cast<u64>(of.target().memory);
  if (of.target().memory >= host.memory) return;
  for (const placement& p : of.plan().placements()) {
    if (!p.what->storage) continue;
    for (int i = 0; i < p.where.count(); ++i) {
      pe& one = *of.find(p.where.nth(i));
      if (!of.here(one)) continue;
      const u64 members = static_cast<u64>(p.what->bytes),
                owned = heap_bytes(*p.what, engines::state_of(one).memory()).count();
      if (members + owned <= room) continue;
      throw fault(
          support::joined({"wsl: PE(", p.where.nth(i).x, ", ", p.where.nth(i).y, ") of ", p.what->name,
                           " has ", members + owned, " bytes, ", members, " in its members and ", owned,
                           " in their containers; a PE of ", of.target().name, " has ", room,
                           ": use smaller arrays or more PEs, or say f.ignore_memory_limit()"}));
    }
  }
}

/// The bytes that the programs of a layout, and the states of its PEs, take on this computer at least.
inline u64 bytes_of_programs(const layout& plan) {
  u64 bytes = 0;
  for (const placement& p : plan.placements())
    bytes += static_cast<u64>(p.where.count()) * (static_cast<u64>(p.what->bytes) + sizeof(pe));
  return bytes;
}

inline std::string memory_of_grid(const layout& plan) {
  return support::joined({"wsl: a grid of ", plan.width(), " x ", plan.height(), " PEs takes ",
                          (bytes_of_programs(plan) >> 20) + 1, " MiB for its programs"});
}
WSL_COMPILED_PART void the_engine_needs_more_memory(const layout& plan) {
  throw fault(
      memory_of_grid(plan) +
      " and more for its engine, which this computer does not give: use a smaller grid or smaller arrays");
}

WSL_COMPILED_PART void fit_this_computer(const layout& plan, int computers) {
  const u64 pages = static_cast<u64>(sysconf(_SC_PHYS_PAGES)), page = static_cast<u64>(sysconf(_SC_PAGESIZE));
  if (bytes_of_programs(plan) / page / static_cast<u64>(computers) > pages)
    throw fault(memory_of_grid(plan) +
                " alone, which is more than this computer has: use a smaller grid or smaller arrays");
}

}  // namespace wsl::detail
