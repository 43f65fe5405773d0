// SPDX-License-Identifier: MIT
// A picture is blurred by a convolution, the product of two spectra. Each spectrum takes the place of its
// picture, whose lines are padded for that.
#include <wsl/kernel/fft.hpp>

#include <cmath>
#include <cstdio>
using namespace wsl;

constexpr int height = 45, width = 62, pitch = width + 2;

/// A periodic picture.
struct picture {
  std::vector<f32> pixels = std::vector<f32>(height * pitch);

  f32& at(int y, int x) {
    return pixels[static_cast<std::size_t>((y + height) % height * pitch + (x + width) % width)];
  }
  std::span<fft::number> spectrum() {
    return {reinterpret_cast<fft::number*>(pixels.data()), pixels.size() / 2};
  }
};

f32 weight(int y, int x) { return std::exp(-static_cast<f32>(x * x + y * y) / 4) / 12.56637f; }

int main() {
  picture stars, spot;
  for (int k = 0; k < 9; ++k) stars.at(k * 17 % height, k * k * 7 % width) = 1.f + static_cast<f32>(k % 3);
  for (int y = -6; y <= 6; ++y)
    for (int x = -6; x <= 6; ++x) spot.at(y, x) = weight(y, x);

  picture blurred = stars;
  fft::real_transform t({height, width}, {.padded = true});
  for (picture* p : {&blurred, &spot}) t.forward(p->spectrum(), p->pixels);
  for (std::size_t k = 0; k < t.spectrum_size(); ++k) blurred.spectrum()[k] *= spot.spectrum()[k];
  t.inverse(blurred.pixels, blurred.spectrum());

  f64 worst = 0, light = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      f32 sum = 0;
      for (int dy = -6; dy <= 6; ++dy)
        for (int dx = -6; dx <= 6; ++dx) sum += weight(dy, dx) * stars.at(y - dy, x - dx);
      worst = std::max(worst, static_cast<f64>(std::abs(sum - blurred.at(y, x))));
      light += static_cast<f64>(blurred.at(y, x));
    }
  std::printf("%d x %d pixels: the light of the stars is %.2f, as before\n", height, width, light);
  std::printf("Each pixel is the sum over the spot to 1e-6: %s\n", worst < 1e-6 ? "yes" : "no");
  return worst < 1e-6 ? 0 : 1;
}
