// SPDX-License-Identifier: MIT
// The distribution of a tensor over PEs is a value, and going from one such value to another is a program of
// the fabric. Queries of 6 tokens, 4 heads and 2 features lie where linear layers make them, with tokens cut
// over rows and features over columns of PEs. Attention needs whole heads, and the next layer needs its
// tokens again.
#include <wsl/ml/tensor/redistribute.hpp>

#include <cstdio>
using namespace wsl;
using ml::axis, ml::distribution;

constexpr int tokens = 0, heads = 1, features = 2;
constexpr distribution by_tokens = distribution{}.block(tokens, axis::y).block(features, axis::x);
// two rows of two PEs: a head for each
constexpr distribution by_heads = distribution{}.block(heads, axis::y).block(heads, axis::x);
// every second token in each row of PEs, copies along it
constexpr distribution in_turn = distribution{}.cyclic(tokens, axis::y, 1);

void print(const char* name, ml::distributed_tensor& q) {
  std::printf("%-10s PE(1, 1) has", name);
  for (f32 x : q.numbers_at({1, 1})) std::printf(" %g", static_cast<f64>(x));
  std::printf("\n");
}

int main() {
  std::vector<f32> numbers;
  for (int t = 0; t < 6; ++t)
    for (int h = 0; h < 4; ++h)
      for (int i = 0; i < 2; ++i) numbers.push_back(static_cast<f32>(100 * t + 10 * h + i));

  ml::distributed_tensor q({6, 4, 2}, 2, 2);
  q.load(numbers, by_tokens);
  print("by tokens", q);
  q.redistribute(by_heads);
  print("by heads", q);
  const outcome copied = q.redistribute(in_turn);
  print("in turn", q);
  std::printf("%llu words have travelled to get there\n", static_cast<unsigned long long>(copied.wavelets));
  q.redistribute(by_tokens);
  return q.whole() == numbers ? 0 : 1;
}
