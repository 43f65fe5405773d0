// SPDX-License-Identifier: MIT
// says: what is joined must have equally many features on both sides
// says: linear<64, 60
// says: heads must divide the features, and heads of keys those of queries
// says: causal_attention<64, 5
#include <wsl/ml/model/block.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr ml::residual to_fewer{ml::layer_norm<64>{}, ml::linear<64, 60>{}};
constexpr ml::causal_attention<64, 5> uneven;
#else
constexpr ml::residual to_fewer{ml::layer_norm<64>{}, ml::linear<64, 64>{}};
constexpr ml::causal_attention<64, 4> uneven;
#endif

int main() { return to_fewer.takes == uneven.takes ? 0 : 1; }
