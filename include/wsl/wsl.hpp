// SPDX-License-Identifier: MIT
// The language, the checker and the fabric, from core to fabric: what every program needs. The
// host's device, streams and reports are included by name, from host/, because a program that only launches
// and reads members does not pay for them. Collectives have an umbrella header of their own.
#pragma once
#include "support/cxx20.hpp"

// Before the others, so that few lines of "In file included from" stand before the sentence of a fault.
#include "core/color.hpp"
#include "layout/faults/table.hpp"
#include "layout/layout.hpp"
#include "program/descriptor/ops.hpp"
#include "program/pe.hpp"
#include "program/tasks.hpp"

#include "core/half.hpp"
#include "fabric/fabric.hpp"
#include "layout/check.hpp"
#include "program/declarations.hpp"
#include "version.hpp"
