// SPDX-License-Identifier: MIT
// stub
#pragma once
#include "flow.hpp"
