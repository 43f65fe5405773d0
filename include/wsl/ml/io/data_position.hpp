// SPDX-License-Identifier: MIT
// Where a training run is in its data; with it the run goes on exactly, see batches.hpp.
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::ml {

struct data_position {
  u64 seed = 1;                ///< of the orders of all epochs
  i64 epoch = 0, example = 0;  ///< the next one
  friend bool operator==(const data_position&, const data_position&) = default;
};

}  // namespace wsl::ml
