// SPDX-License-Identifier: MIT
// The compiled part of tokenizers: what programs that define WSL_TOKENIZER_COMPILED only declare. One source
// file of such a program includes this header, compiled with the same definition; the CMake target
// wsl::tokenizer_compiled has such a file. Without WSL_TOKENIZER_COMPILED every program that includes a
// tokenizer has these definitions already.
#pragma once
#include "chat_formats.hpp"
#include "encoding.hpp"
