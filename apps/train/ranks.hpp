// SPDX-License-Identifier: MIT
// The processes that train together: those that mpirun or srun has started, or this one alone. ranks_mpi.cpp
// knows MPI; a build without it has ranks_alone.cpp.
#pragma once
#include "machine.hpp"
#include "params.hpp"

namespace train_app::ranks {

int rank();
int size();
/// Who prints and writes files.
inline bool root() { return rank() == 0; }

/// What is said to be called together is called by all processes, in the same order.
/// Weights stream to wafers that are shared out to the processes; together.
std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how, weights_as as);
/// Its layout.
wsl::layout streaming_plan(const wsl::ml::streaming_settings& how, weights_as as);
/// The sum of everybody's numbers; together.
wsl::i64 sum(wsl::i64 mine);
/// Whether anybody says yes; together.
inline bool any(bool mine) { return sum(mine) > 0; }
/// Everybody has the first process's numbers; together.
void share(std::span<wsl::i64> numbers);
/// Whether no process before this one ends with the same sentence.
bool first_to_say(const std::string& sentence);
/// Throws an error, on all, that names the first process that has another number than the first; together.
void require_same(wsl::u64 number, const std::string& what);

}  // namespace train_app::ranks
