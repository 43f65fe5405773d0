// SPDX-License-Identifier: MIT
// Fields and traces as files for other programs: VTK volumes (ParaView, VisIt) and tables.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>
#include <wsl/kernel/wave25/problem.hpp>

namespace wave_app {

/// The bytes around the f32 of a volume in a file; of these x is fastest, then y.
struct volume_format {
  std::string head, tail;
  bool big_endian = false;
};
/// A legacy VTK file of structured points; lengths in m.
volume_format vtk(const wsl::wave25::cells& size, wsl::f64 spacing);
/// An image file of VTK (.vti), the numbers raw and little-endian behind the XML.
volume_format vti(const wsl::wave25::cells& size, wsl::f64 spacing);

/// The cells of some lines along z of a field: line(x, y) begins at z = 0.
struct field_block {
  wsl::grid::lines where;
  std::function<const wsl::f32*(int x, int y)> line;
};
/// A field of x * y * z cells, z fastest, as one block; it must live longer.
field_block whole_field(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size);

/// Writes a field of which this process has some blocks; those of all processes are the grid. With `is_alone`
/// this process has all of them, and otherwise this is collective.
void write_volume(const std::filesystem::path& to, const volume_format& format,
                  const wsl::wave25::cells& size, const std::vector<field_block>& mine, bool is_alone);

/// A table with a line for each step: the time in s and the sample of each receiver, with all digits.
std::string csv(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
