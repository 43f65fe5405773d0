// SPDX-License-Identifier: MIT
// The processes that train together: those that mpirun or srun has started, or this one alone. ranks_mpi.cpp
// knows MPI; a build without it has ranks_alone.cpp.
#pragma once
#include <algorithm>
#include <thread>

#include "../memory.hpp"
#include "machine.hpp"
#include "params.hpp"

namespace train_app::ranks {

int rank();
int size();
/// Whether this process is the one that prints and writes files.
inline bool root() { return rank() == 0; }

// All processes must call the functions marked "collective", in the same order.

/// A machine for weight streaming, whose wafers are distributed over the processes; collective.
std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how);
/// The layout of weight streaming.
wsl::layout streaming_plan(const wsl::ml::wafer_grid& grid);
/// The sum of all processes' numbers; collective.
wsl::i64 sum(wsl::i64 mine);
/// Whether it is true on any process; collective.
inline bool any(bool mine) { return sum(mine) > 0; }
/// Copies the first process's numbers to all others; collective.
void share(std::span<wsl::i64> numbers);
/// The cores of the first process's computer, so that all processes lay out the same wafer; collective.
inline int cores() {
  wsl::i64 mine[] = {static_cast<wsl::i64>(std::max(1u, std::thread::hardware_concurrency()))};
  share(mine);
  return static_cast<int>(mine[0]);
}
/// The bytes of memory of the first process's computer, so that all processes have the same micro-batches;
/// collective.
inline wsl::f64 memory() {
  wsl::i64 mine[] = {static_cast<wsl::i64>(app::memory_there())};
  share(mine);
  return static_cast<wsl::f64>(mine[0]);
}
/// Whether no earlier process ends with the same sentence.
bool first_to_say(const std::string& sentence);
/// Throws an error on all processes that names the first one whose number differs from that of process 0;
/// collective.
void require_same(wsl::u64 number, const std::string& what);

}  // namespace train_app::ranks
