// SPDX-License-Identifier: MIT
// Fields and traces as files for other programs: VTK volumes (ParaView, VisIt) and tables.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/wave25/problem.hpp>

namespace wave_app {

/// The field of x * y * z cells, z fastest, as a legacy VTK file of structured points; lengths in m.
std::string vtk(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size, wsl::f64 spacing);

/// The same as an image file of VTK (.vti), the numbers raw and little-endian behind the XML.
std::string vti(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size, wsl::f64 spacing);

/// A table with a line for each step: the time in s and the sample of each receiver, with all digits.
std::string csv(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
