// SPDX-License-Identifier: MIT
// Floating-point numbers in a file in another order of axes than that of the grid, such as an array in
// Fortran order. The numbers of a plane of x may lie apart from each other all over the file; so a process
// reads slabs of several planes, and keeps the last ones.
#pragma once
#include "stored_numbers.hpp"

namespace wave_app {

/// The planes of x in a slab, and how many slabs are kept.
struct slabs {
  int planes = 1, kept = 1;
};
/// Those for a grid of which each process reads a range of planes: a slab is an eighth of the range, or a
/// megabyte if that is more, and each thread, which reads one plane after the other, has its own.
slabs slabs_of(const cells& size, int processes, int threads);

/// The numbers of a grid from a byte of the file on, in the order of axes that `how` says.
stored_volume turned_numbers(std::shared_ptr<const wsl::support::file_reader> file, wsl::u64 begin,
                             const cells& size, const extent& spacing, const number_format& how,
                             const slabs& by);

}  // namespace wave_app
