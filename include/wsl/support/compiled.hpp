// SPDX-License-Identifier: MIT
// The library is headers, and can be compiled once: with WSL_COMPILED defined, as the CMake target
// wsl::compiled defines it, the engines, the run-time checker and the reports are only declared where they
// are used, and one source file of a program, which includes <wsl/compiled.hpp>, defines them. A program then
// compiles several times faster.
#pragma once

#ifdef WSL_COMPILED
#define WSL_COMPILED_PART
#else
/// Stands before the definition of a function of the compiled part.
#define WSL_COMPILED_PART inline
#endif

#ifdef WSL_ML_COMPILED
#define WSL_ML_COMPILED_PART
#else
/// The same for the trainers, which <wsl/ml/compiled.hpp> defines and the CMake target wsl::ml_compiled
/// compiles.
#define WSL_ML_COMPILED_PART inline
#endif

#ifdef WSL_ML_DATA_COMPILED
#define WSL_ML_DATA_COMPILED_PART
#else
/// The same for what training reads and writes: <wsl/ml/data/compiled.hpp>, wsl::ml_data_compiled.
#define WSL_ML_DATA_COMPILED_PART inline
#endif

#ifdef WSL_TOKENIZER_COMPILED
#define WSL_TOKENIZER_COMPILED_PART
#else
/// The same for tokenizers: <wsl/ml/tokenizer/compiled.hpp>, wsl::tokenizer_compiled.
#define WSL_TOKENIZER_COMPILED_PART inline
#endif
