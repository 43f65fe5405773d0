// SPDX-License-Identifier: MIT
// says: these two layers do not fit: the second takes another number of features than the first gives
// says: linear<784, 500
// says: linear<400, 10
#include <wsl/ml/model/sequence.hpp>
using namespace wsl;

#ifdef WSL_MISUSE
constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<400, 10>{}};
#else
constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 10>{}};
#endif

int main() { return net.takes == 784 ? 0 : 1; }
