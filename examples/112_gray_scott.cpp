// SPDX-License-Identifier: MIT
// The reaction of Gray and Scott: two substances diffuse and react, and spots divide. An update of two fields
// has an argument for each and returns both new values; feed and kill are scalars, given at run time.
#include <wsl/kernel/stencil.hpp>

#include <cstdio>
using namespace wsl;

constexpr auto laplacian = [](auto u) {
  return 0.2f * ((u(1, 0) + u(-1, 0)) + (u(0, 1) + u(0, -1))) +
         0.05f * ((u(1, 1) + u(-1, -1)) + (u(1, -1) + u(-1, 1))) - u(0, 0);
};
constexpr auto gray_scott = [](auto u, auto v, auto feed, auto kill) {
  const auto reaction = u(0, 0) * v(0, 0) * v(0, 0);
  return std::tuple{u(0, 0) + laplacian(u) - reaction + feed * (1 - u(0, 0)),
                    v(0, 0) + 0.5f * laplacian(v) + reaction - (feed + kill) * v(0, 0)};
};
constexpr stencils::takes substances{.fields = 2, .scalars = 2};

constexpr int height = 72, width = 96;

/// Starts from a small square of the second substance.
template <class Simulation>
void start(Simulation& s) {
  std::vector<f32> u(height * width, 1.f), v(height * width);
  for (int y = 31; y < 39; ++y)
    for (int x = 42; x < 52; ++x) u[std::size_t(y * width + x)] = 0.5f, v[std::size_t(y * width + x)] = 0.25f;
  s.load(u, 0), s.load(v, 1);
  s.scalar(0, 0.0367f), s.scalar(1, 0.0649f);
}

int main() {
  stencils::simulation<gray_scott, substances> s({height, width}, stencils::boundary::periodic);
  start(s);
  s.run(2500);
  const std::vector<f32> v = s.values(1);
  for (int y = 0; y < height; y += 4, std::putchar('\n'))
    for (int x = 0; x < width; x += 2)
      std::putchar(" .:+#"[std::min(4, int(v[std::size_t(y * width + x)] * 14))]);

  stencils::simulation<gray_scott, substances> short_run({height, width}, stencils::boundary::periodic);
  stencils::serial<gray_scott, substances> reference({height, width}, stencils::boundary::periodic);
  start(short_run), start(reference);
  short_run.run(50), reference.run(50);
  const bool same = short_run.values(0) == reference.values(0) && short_run.values(1) == reference.values(1);
  std::printf("after 50 steps it has %s bits as the serial reference\n", same ? "the same" : "OTHER");
  return same ? 0 : 1;
}
