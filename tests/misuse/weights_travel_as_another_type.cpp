// SPDX-License-Identifier: MIT
// says: weights travel as f32 or as bf16
#include <wsl/ml/train/streaming/weight_format.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
using weights = ml::weight_format<f16>;
#else
using weights = ml::weight_format<bf16>;
#endif

int main() { return weights::words(3) == 2 ? 0 : 1; }
