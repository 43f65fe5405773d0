// SPDX-License-Identifier: MIT
#include "exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "../npy.hpp"
#include "../ranks.hpp"

namespace wave_app {

using wsl::f32;
using wsl::f64;
using wsl::u32;
using wsl::support::file_run;
using wsl::wave25::cells;

namespace {
constexpr f64 bytes_at_once = 1 << 24;  // of a process that writes a volume
}

volume_format vtk(const cells& size, f64 spacing) {
  return {
      fmt::format("# vtk DataFile Version 3.0\nwsl-wave\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS {0} "
                  "{1} {2}\nORIGIN 0 0 0\nSPACING {3:.9g} {3:.9g} {3:.9g}\nPOINT_DATA {4}\nSCALARS u float "
                  "1\nLOOKUP_TABLE default\n",
                  size.x, size.y, size.z, spacing, size.count()),
      "", true, false};
}

volume_format vti(const cells& size, f64 spacing) {
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", size.x - 1, size.y - 1, size.z - 1);
  std::string head = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"{0}\" Origin=\"0 0 0\" Spacing=\"{1:.9g} {1:.9g} "
      "{1:.9g}\">\n<Piece Extent=\"{0}\">\n<PointData Scalars=\"u\">\n<DataArray type=\"Float32\" Name=\"u\" "
      "format=\"appended\" offset=\"0\"/>\n</PointData>\n</Piece>\n</ImageData>\n<AppendedData "
      "encoding=\"raw\">\n_",
      extent, spacing);
  const wsl::u64 size_of_data = size.count() * sizeof(f32);
  head.append(reinterpret_cast<const char*>(&size_of_data), sizeof size_of_data);
  return {std::move(head), "\n</AppendedData>\n</VTKFile>\n", false, false};
}

volume_format npy(const cells& size) {
  const auto n = [](int cells) { return static_cast<std::size_t>(cells); };
  return {app::npy_bytes<f32>({n(size.x), n(size.y), n(size.z)}, {}), "", false, true};
}

namespace {

/// Writes the cells of this process from byte `head` on, x fastest, then y.
void write_planes(app::joint_file& file, wsl::u64 head, const spread_field& field, bool big_endian,
                  int processes) {
  const cells& size = field.size;
  // Of a plane of z, this process has the rows of its blocks, in the order of the file.
  struct row {
    int y;
    const wsl::grid::block* of;
    std::size_t place;  // of its first cell among those of this process
  };
  std::vector<row> rows;
  for (const wsl::grid::block& b : field.blocks)
    for (int y = b.where.y.from; b.is_here && y < b.where.y.to; ++y) rows.push_back({y, &b, 0});
  std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) {
    return std::pair(a.y, a.of->where.x.from) < std::pair(b.y, b.of->where.x.from);
  });
  std::size_t cells_of_plane = 0;
  for (row& r : rows)
    r.place = std::exchange(cells_of_plane, cells_of_plane + static_cast<std::size_t>(r.of->where.x.size()));

  // As many planes at a time as make some megabytes a process; the same number on all.
  const f64 plane = 4. * size.x * size.y;
  const int at_once =
      static_cast<int>(std::clamp(bytes_at_once * processes / plane, 1., static_cast<f64>(size.z)));
  std::vector<u32> words;
  std::vector<file_run> runs;
  for (int from = 0; from < size.z; from += at_once) {
    const int to_plane = std::min(from + at_once, size.z);
    file.together([&] {  // a process may lack the memory
      words.resize(cells_of_plane * static_cast<std::size_t>(to_plane - from)), runs.clear();
      for (const row& r : rows)
        for (int x = r.of->where.x.from; x < r.of->where.x.to; ++x) {
          const f32* const line = field.cells.line(r.of->pe, x, r.y).data();
          u32* next = words.data() + r.place + static_cast<std::size_t>(x - r.of->where.x.from);
          for (int z = from; z < to_plane; ++z, next += cells_of_plane) {
            const u32 word = std::bit_cast<u32>(line[z]);
            *next = big_endian ? __builtin_bswap32(word) : word;
          }
        }
      for (int z = from; z < to_plane; ++z)
        for (const row& r : rows) {
          const cells in_file{z, r.y, r.of->where.x.from};
          const file_run run{head + sizeof(f32) * cells{size.z, size.y, size.x}.index(in_file),
                             sizeof(f32) * static_cast<wsl::u64>(r.of->where.x.size())};
          if (!runs.empty() && runs.back().at + runs.back().size == run.at) runs.back().size += run.size;
          else runs.push_back(run);
        }
    });
    file.write(runs, words.data());
  }
}

}  // namespace

void write_volume(const std::filesystem::path& to, const volume_format& format, const spread_field& field,
                  bool is_alone) {
  const wsl::u64 data = field.size.count() * sizeof(f32), head = format.head.size();
  app::joint_file file(to.string(), head + data + format.tail.size(), is_alone);
  const auto write_text = [&](wsl::u64 at, const std::string& text) {
    const file_run whole{at, is_alone || app::is_root() ? text.size() : 0};
    file.write({&whole, 1}, text.data());
  };
  write_text(0, format.head);
  if (format.z_is_fastest) wsl::grid::write(file, head, field.blocks, field.cells);
  else write_planes(file, head, field, format.big_endian, is_alone ? 1 : app::ranks());
  write_text(head + data, format.tail);
  file.finish();
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
