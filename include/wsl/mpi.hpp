// SPDX-License-Identifier: MIT
// The fabric on several machines: `fabric f{plan, mpi::world()}`. An optional part, wsl::mpi; it needs an MPI
// library.
#pragma once
#include "mpi/engine.hpp"
#include "mpi/joint_file.hpp"
