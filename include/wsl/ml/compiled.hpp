// SPDX-License-Identifier: MIT
// The compiled part of training: what programs that define WSL_ML_COMPILED only declare, which is how
// networks are put together and how the trainers run them on a fabric. One source file of such a program
// includes this header, compiled with the same definition; the CMake target wsl::ml_compiled has such a file.
// Without WSL_ML_COMPILED every program that includes a model or a trainer has these definitions already.
#pragma once
#include "model/decoder_blocks.hpp"
#include "model/network_stages.hpp"
#include "train/pipelined/run.hpp"
#include "train/streaming/run.hpp"
