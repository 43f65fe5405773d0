// SPDX-License-Identifier: MIT
// A place in the data of a run. Batches that resume there are those that would have come next (batches.hpp).
#pragma once
#include "../../core/scalar.hpp"

namespace wsl::ml {

struct data_position {
  u64 seed = 1;                ///< the seed of the orders of all epochs
  i64 epoch = 0, example = 0;  ///< the next example
  friend bool operator==(const data_position&, const data_position&) = default;
};

}  // namespace wsl::ml
