// SPDX-License-Identifier: MIT
#include "exports.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

namespace wave_app {

using ranges::views::cartesian_product, ranges::views::iota;
using wsl::f32;
using wsl::f64;
using wsl::u32;
using wsl::wave25::cells;

std::string vtk(const std::vector<f32>& field, const cells& size, f64 spacing) {
  std::string bytes = fmt::format(
      "# vtk DataFile Version 3.0\nwsl-wave\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS {0} {1} {2}\n"
      "ORIGIN 0 0 0\nSPACING {3:.9g} {3:.9g} {3:.9g}\nPOINT_DATA {4}\nSCALARS u float 1\nLOOKUP_TABLE "
      "default\n",
      size.x, size.y, size.z, spacing, field.size());
  // In this format x is fastest, and numbers are big-endian.
  for (const auto [z, y, x] : cartesian_product(iota(0, size.z), iota(0, size.y), iota(0, size.x))) {
    const u32 word = __builtin_bswap32(std::bit_cast<u32>(field[size.index({x, y, z})]));
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

std::string vti(const std::vector<f32>& field, const cells& size, f64 spacing) {
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", size.x - 1, size.y - 1, size.z - 1);
  std::string bytes = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"{0}\" Origin=\"0 0 0\" Spacing=\"{1:.9g} {1:.9g} "
      "{1:.9g}\">\n<Piece Extent=\"{0}\">\n<PointData Scalars=\"u\">\n<DataArray type=\"Float32\" Name=\"u\" "
      "format=\"appended\" offset=\"0\"/>\n</PointData>\n</Piece>\n</ImageData>\n<AppendedData "
      "encoding=\"raw\">\n_",
      extent, spacing);
  const wsl::u64 size_of_data = field.size() * sizeof(f32);
  bytes.append(reinterpret_cast<const char*>(&size_of_data), sizeof size_of_data);
  // In this format x is fastest.
  for (const auto [z, y, x] : cartesian_product(iota(0, size.z), iota(0, size.y), iota(0, size.x)))
    bytes.append(reinterpret_cast<const char*>(&field[size.index({x, y, z})]), sizeof(f32));
  return bytes + "\n</AppendedData>\n</VTKFile>\n";
}

std::string csv(const std::vector<std::vector<f32>>& traces, const wsl::wave25::problem& p) {
  std::string lines = "time";
  for (const auto& r : p.receivers)
    if (r.place)
      fmt::format_to(std::back_inserter(lines), ",{}m/{}m/{}m", r.place->x, r.place->y, r.place->z);
    else fmt::format_to(std::back_inserter(lines), ",{}/{}/{}", r.at.x, r.at.y, r.at.z);
  lines += '\n';
  const f64 dt = p.time_step();
  for (std::size_t t = 0; t < traces.front().size(); ++t) {
    fmt::format_to(std::back_inserter(lines), "{:.9g}", static_cast<f64>(t + 1) * dt);
    for (const auto& trace : traces) fmt::format_to(std::back_inserter(lines), ",{:.9g}", trace[t]);
    lines += '\n';
  }
  return lines;
}

}  // namespace wave_app
