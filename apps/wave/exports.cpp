// SPDX-License-Identifier: MIT
#include "exports.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace wave_app {

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
  for (int z = 0; z < size.z; ++z)  // in this format x is fastest, and numbers are big-endian
    for (int y = 0; y < size.y; ++y)
      for (int x = 0; x < size.x; ++x) {
        const u32 word = __builtin_bswap32(std::bit_cast<u32>(field[size.index({x, y, z})]));
        bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
      }
  return bytes;
}

std::string csv(const std::vector<std::vector<f32>>& traces, const wsl::wave25::problem& p) {
  std::string lines = "time";
  for (const cells& r : p.receivers) fmt::format_to(std::back_inserter(lines), ",{}/{}/{}", r.x, r.y, r.z);
  lines += '\n';
  for (std::size_t t = 0; t < traces.front().size(); ++t) {
    fmt::format_to(std::back_inserter(lines), "{:.9g}", static_cast<f64>(t + 1) * p.time_step());
    for (const auto& trace : traces) fmt::format_to(std::back_inserter(lines), ",{:.9g}", trace[t]);
    lines += '\n';
  }
  return lines;
}

}  // namespace wave_app
