// SPDX-License-Identifier: MIT
// Fields and traces as files for other programs: VTK volumes (ParaView, VisIt) and tables.
#pragma once
#include <filesystem>
#include <string>
#include <vector>
#include <wsl/kernel/stencil/state_on_pes.hpp>
#include <wsl/kernel/wave25/problem.hpp>

namespace wave_app {

/// The bytes around the f32 of a volume in a file; of these x is fastest, then y, unless z is, then y.
struct volume_format {
  std::string head, tail;
  bool big_endian = false, z_is_fastest = false;
};
/// A legacy VTK file of structured points; lengths in m.
volume_format vtk(const wsl::wave25::cells& size, wsl::f64 spacing);
/// An image file of VTK (.vti), the numbers raw and little-endian behind the XML.
volume_format vti(const wsl::wave25::cells& size, wsl::f64 spacing);

/// An array of NumPy, of shape (x, y, z).
volume_format npy(const wsl::wave25::cells& size);

/// A field of which a process has the cells of its blocks.
struct spread_field {
  wsl::wave25::cells size;
  std::vector<wsl::grid::block> blocks;  ///< of all processes
  wsl::grid::line_array<const wsl::f32> cells;
};

/// Writes a field. With `is_alone` this process has all of it, and otherwise this is collective.
void write_volume(const std::filesystem::path& to, const volume_format& format, const spread_field& field,
                  bool is_alone);

/// A table with a line for each step: the time in s and the sample of each receiver, with all digits.
std::string csv(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
