// SPDX-License-Identifier: MIT
// What the members of programs own outside themselves, such as the elements of a std::vector, lies in the
// SRAM of a PE as the members do. The rules of a layout know the members only; this counts the rest, with
// program/storage.hpp.
#pragma once
#include <cstdint>
#include <string>

#include "../engine/engine.hpp"
#include "../program/storage.hpp"
#include "../support/text.hpp"

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

/// Throws fault if a PE that this process runs has more in its members, and in what they own, than the memory
/// of the layout's machine. A layout for the machine `host` has no such limit but the computer's memory.
inline void containers_fit_memory(engine& of) {
  const u64 room = static_cast<u64>(of.target().memory);
  if (of.target().memory >= host.memory) return;
  for (const placement& p : of.plan().placements()) {
    if (!p.what->storage) continue;
    for (int i = 0; i < p.where.count(); ++i) {
      pe& one = *of.find(p.where.nth(i));
      if (!of.here(one)) continue;
      const u64 members = static_cast<u64>(p.what->bytes),
                owned = heap_bytes(*p.what, state_of(one).memory()).count();
      if (members + owned <= room) continue;
      throw fault(
          support::joined({"wsl: PE(", p.where.nth(i).x, ", ", p.where.nth(i).y, ") of ", p.what->name,
                           " has ", members + owned, " bytes, ", members, " in its members and ", owned,
                           " in their containers; a PE of ", of.target().name, " has ", room,
                           ": use smaller arrays or more PEs, or say f.ignore_memory_limit()"}));
    }
  }
}

}  // namespace wsl::detail
