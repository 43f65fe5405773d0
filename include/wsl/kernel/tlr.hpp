// SPDX-License-Identifier: MIT
// Products with matrices whose tiles have a low rank. See tlr/multiply.hpp and examples/89_low_rank.cpp;
// tlr/compress.hpp, which makes them of dense matrices, needs Eigen and is included by name.
#pragma once
#include "tlr/low_rank.hpp"
#include "tlr/multiply.hpp"
