// SPDX-License-Identifier: MIT
// The compiled part of what training reads and writes: what programs that define WSL_ML_DATA_COMPILED only
// declare. One source file of such a program includes this header, compiled with the same definition; the
// CMake target wsl::ml_data_compiled has such a file. Without WSL_ML_DATA_COMPILED every program that
// includes a reader has these definitions already.
#pragma once
#include "../io/hugging_face/pretrained.hpp"
#include "../io/llmc/files.hpp"
#include "../io/safetensors/checkpoints.hpp"
#include "../io/safetensors/files.hpp"
#include "../io/safetensors/mapping.hpp"
#include "../io/safetensors/parse.hpp"
#include "../io/safetensors/shards.hpp"
#include "../run/checkpointing/states.hpp"
#include "../run/golden_state/compare.hpp"
#include "images/drawing.hpp"
#include "images/files.hpp"
#include "images/idx_file.hpp"
#include "vocabulary/file.hpp"
