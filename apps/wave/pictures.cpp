// SPDX-License-Identifier: MIT
#include "pictures.hpp"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace wave_app {
namespace {

using wsl::f32;
using wsl::f64;
using wsl::u32;
using wsl::u8;
using wsl::wave25::cells;

f32 full_color(const std::vector<f32>& numbers) {
  std::vector<f32> sizes(numbers.size());
  std::transform(numbers.begin(), numbers.end(), sizes.begin(), [](f32 v) { return std::abs(v); });
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 99 / 100);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at > 0 ? *at : 1;
}

// White at zero; the color takes away what is not its own.
void paint(f32 share, u8* rgb) {
  const auto rest = static_cast<u8>(255 * (1 - std::min(std::abs(share), 1.f)));
  rgb[0] = share < 0 ? rest : u8{255}, rgb[1] = rest, rgb[2] = share > 0 ? rest : u8{255};
}

template <class... Numbers>
std::string text(const char* format, Numbers... numbers) {
  char line[128];
  std::snprintf(line, sizeof line, format, numbers...);
  return line;
}

}  // namespace

std::string png(const std::vector<f32>& numbers, int width, int height) {
  const f32 scale = full_color(numbers);
  std::vector<u8> rgb(numbers.size() * 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) paint(numbers[i] / scale, &rgb[3 * i]);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<u32>(width), image.height = static_cast<u32>(height);
  image.format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr))
    throw std::runtime_error(std::string("libpng: ") + image.message);
  bytes.resize(size);
  return bytes;
}

std::string png_of_slice(const std::vector<f32>& field, const cells& size, char axis, int at) {
  const int width = axis == 'x' ? size.y : size.x, height = axis == 'z' ? size.y : size.z;
  std::vector<f32> numbers;
  for (int row = 0; row < height; ++row)
    for (int i = 0; i < width; ++i)
      numbers.push_back(field[size.index(axis == 'x'   ? cells{at, i, row}
                                         : axis == 'y' ? cells{i, at, row}
                                                       : cells{i, row, at})]);
  return png(numbers, width, height);
}

std::string png_of_traces(const std::vector<std::vector<f32>>& traces) {
  std::vector<f32> numbers;
  constexpr int columns = 4;  // a trace, so that few receivers still make a picture
  for (std::size_t t = 0; t < traces.front().size(); ++t)
    for (const auto& trace : traces) numbers.insert(numbers.end(), columns, trace[t]);
  return png(numbers, columns * static_cast<int>(traces.size()), static_cast<int>(traces.front().size()));
}

std::string vtk(const std::vector<f32>& field, const cells& size, f64 spacing) {
  std::string bytes = "# vtk DataFile Version 3.0\nwsl-wave\nBINARY\nDATASET STRUCTURED_POINTS\n";
  bytes += text("DIMENSIONS %d %d %d\nORIGIN 0 0 0\nSPACING %.9g %.9g %.9g\n", size.x, size.y, size.z,
                spacing, spacing, spacing);
  bytes += text("POINT_DATA %zu\nSCALARS u float 1\nLOOKUP_TABLE default\n", field.size());
  for (int z = 0; z < size.z; ++z)  // there x is fastest, and numbers are big-endian
    for (int y = 0; y < size.y; ++y)
      for (int x = 0; x < size.x; ++x) {
        const u32 word = __builtin_bswap32(std::bit_cast<u32>(field[size.index({x, y, z})]));
        bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
      }
  return bytes;
}

std::string csv(const std::vector<std::vector<f32>>& traces, const wsl::wave25::problem& p) {
  std::string lines = "time";
  for (const cells& r : p.receivers) lines += text(",%d/%d/%d", r.x, r.y, r.z);
  lines += '\n';
  const f64 dt = p.time_step();
  for (std::size_t t = 0; t < traces.front().size(); ++t) {
    lines += text("%.9g", static_cast<f64>(t + 1) * dt);
    for (const auto& trace : traces) lines += text(",%.9g", static_cast<f64>(trace[t]));
    lines += '\n';
  }
  return lines;
}

}  // namespace wave_app
