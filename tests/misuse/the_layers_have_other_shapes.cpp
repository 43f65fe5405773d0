// SPDX-License-Identifier: MIT
// says: these two layers do not fit: the second takes another number of features than the first gives
// says: features<8, 8, 3>
// says: features<8, 8, 4>
#include <wsl/ml/model/sequence.hpp>
using namespace wsl;

template <int from, int to>
struct convolution {
  static constexpr ml::shape takes{8, 8, from}, gives{8, 8, to};
  static constexpr const char* name = "convolution";
  static int build(ml::network&, const std::string&, int x) { return x; }
};

#ifdef WSL_MISUSE
constexpr ml::sequence net{convolution<1, 3>{}, ml::elementwise<ml::relu>{}, convolution<4, 5>{}};
#else
constexpr ml::sequence net{convolution<1, 3>{}, ml::elementwise<ml::relu>{}, convolution<3, 5>{}};
#endif

int main() { return net.takes == ml::shape{8, 8, 1} ? 0 : 1; }
