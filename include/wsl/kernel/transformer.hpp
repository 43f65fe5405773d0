// SPDX-License-Identifier: MIT
// A layer of GPT-2 on a wafer by weight streaming, and its reference; docs/guide/kernel.md explains them.
#pragma once
#include "transformer/serial.hpp"
#include "transformer/wafer.hpp"
