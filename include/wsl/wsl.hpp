// SPDX-License-Identifier: MIT
// The language, the checker and the fabric: floors 0 to 4 of the library. Collectives, kernels and the training stack have
// umbrella headers of their own.
#pragma once
#include "core/half.hpp"
#include "fabric/fabric.hpp"
#include "host/device.hpp"
#include "layout/check.hpp"
#include "program/ops.hpp"
#include "program/table.hpp"
#include "version.hpp"
