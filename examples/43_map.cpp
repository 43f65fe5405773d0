// SPDX-License-Identifier: MIT
// `map_each` applies any function to elements: one of the standard library, a lambda with captures, or one
// that folds elements into a result. The descriptors select the elements, here the diagonal of a matrix.
#include <wsl/wsl.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr int N = 5;

struct worker {
  f32 a[N * N]{}, weight[N]{}, root[N]{};
  i32 b[N]{10, 20, 30, 40, 50}, sum = 0;

  void work(pe&, f32 first, f32 second) {
    const auto diagonal = mem(a).every(N + 1);
    map_each([](f32 x) { return std::sqrt(x); }, mem(root), diagonal);
    map_each([=](f32 x, f32 w) { return x * (first + w) + x * (second + w); }, diagonal, diagonal,
             mem(weight));
    map_each([](i32 total, i32 x) { return total + x; }, &sum, 0, mem(b));
  }

  using tasks = task_list<launch<&worker::work>>;
};

constexpr layout one = layout{wse2, 1, 1}.place<worker>(all);
static_assert(routed<one>());

int main() {
  fabric f{one};
  worker& w = f.program_at<worker>({0, 0});
  for (f32& x : w.a) x = 42;
  for (int i = 0; i < N; ++i) w.weight[i] = static_cast<f32>(i);
  f.launch<&worker::work>(all, 2.f, 6.f);

  bool right = w.sum == 150;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const f32 expected = i == j ? 42.f * (8 + 2 * static_cast<f32>(i)) : 42.f;
      right = right && w.a[i * N + j] == expected && w.root[i] == std::sqrt(42.f);
      std::printf("%6g%s", w.a[i * N + j], j == N - 1 ? "\n" : "");
    }
  std::printf("roots %.6f, sum %d\n", w.root[0], w.sum);
  return right ? 0 : 1;
}
