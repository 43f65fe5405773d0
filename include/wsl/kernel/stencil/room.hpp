// SPDX-License-Identifier: MIT
// Memory for the cells of a stencil's grid: where there is none, a sentence says how much it would take.
#pragma once
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "boundary.hpp"

namespace wsl::stencils::checks {

/// What is thrown for so many bytes of `what`, which this process does not get. It is copied without memory.
inline std::invalid_argument no_memory(const extents& size, u64 bytes, const std::string& what) {
  return std::invalid_argument(
      support::joined({"wsl: stencil: a grid of ", size.text(), " cells takes ", bytes, " bytes for ", what,
                       ", and there is not enough memory: take fewer cells, f32 instead of f64, or more "
                       "computers and mpi::world()"}));
}
/// Throws it before anything is taken, if the computer has less than that in all. An operating system that
/// promises more memory than it has would end the process instead.
inline void memory(const extents& size, u64 bytes, const std::string& what) {
  const u64 pages = static_cast<u64>(sysconf(_SC_PHYS_PAGES)), page = static_cast<u64>(sysconf(_SC_PAGESIZE));
  if (bytes / page > pages) throw no_memory(size, bytes, what);
}

/// What make() returns, which takes so many bytes.
template <class Make>
auto in_memory(const extents& size, u64 bytes, const std::string& what, Make make) {
  memory(size, bytes, what);
  try {
    return make();
  } catch (const std::bad_alloc&) { throw no_memory(size, bytes, what); }
}
/// n zeros.
template <class T>
std::vector<T> room_for(const extents& size, u64 n, const std::string& what) {
  return in_memory(size, n * sizeof(T), what, [&] { return std::vector<T>(static_cast<std::size_t>(n)); });
}

}  // namespace wsl::stencils::checks
