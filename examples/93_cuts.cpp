// SPDX-License-Identifier: MIT
// How a tensor lies on the PEs is a value, and from one such value to another is a program of the fabric. Queries of 6 tokens, 4 heads and 2
// features lie where linear layers make them, tokens shared out to rows and features to columns of PEs; attention wants whole heads; and the
// next layer its tokens again.
#include <wsl/ml/tensor/redistribute.hpp>

#include <cstdio>
using namespace wsl;
using ml::axis, ml::cut;

constexpr int tokens = 0, heads = 1, features = 2;
constexpr cut by_tokens = cut{}.split(tokens, axis::y).split(features, axis::x);
constexpr cut by_heads = cut{}.split(heads, axis::y).split(heads, axis::x);  // two rows of two PEs: a head for each
constexpr cut in_turn = cut{}.tile(tokens, axis::y, 1);                      // every second token in each row of PEs, copies along it

void print(const char* name, ml::cut_tensor& q) {
  std::printf("%-10s PE (1, 1) has", name);
  for (f32 x : q.numbers_at({1, 1})) std::printf(" %g", static_cast<f64>(x));
  std::printf("\n");
}

int main() {
  std::vector<f32> numbers;
  for (int t = 0; t < 6; ++t)
    for (int h = 0; h < 4; ++h)
      for (int i = 0; i < 2; ++i) numbers.push_back(static_cast<f32>(100 * t + 10 * h + i));

  ml::cut_tensor q({6, 4, 2}, 2, 2);
  q.load(numbers, by_tokens);
  print("by tokens", q);
  q.recut(by_heads);
  print("by heads", q);
  const outcome copied = q.recut(in_turn);
  print("in turn", q);
  std::printf("%llu words have travelled to get there\n", static_cast<unsigned long long>(copied.wavelets));
  q.recut(by_tokens);
  return q.whole() == numbers ? 0 : 1;
}
