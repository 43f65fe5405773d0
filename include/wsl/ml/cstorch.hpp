// SPDX-License-Identifier: MIT
// Training programs with the parts and the names of cerebras.pytorch (cstorch): a compiled model, a traced
// step, closures, and a data executor. See docs/guide/from_cstorch.md.
#pragma once
#include "cstorch/amp.hpp"
#include "cstorch/checkpoint.hpp"
#include "cstorch/closures.hpp"
#include "cstorch/data_executor.hpp"
#include "cstorch/model.hpp"
#include "cstorch/optim.hpp"
#include "cstorch/trace.hpp"

namespace wsl::ml::cstorch {

namespace sparse = ml::sparsity;

}  // namespace wsl::ml::cstorch
