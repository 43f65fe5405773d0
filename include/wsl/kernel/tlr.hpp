// SPDX-License-Identifier: MIT
// Products with matrices of low-rank tiles (TLR-MVM). See tlr/multiply.hpp and examples/89_low_rank.cpp;
// tlr/compress.hpp, which makes such matrices of dense ones, needs Eigen and is included by its own name.
#pragma once
#include "tlr/least_squares.hpp"
#include "tlr/low_rank.hpp"
#include "tlr/multiply.hpp"
