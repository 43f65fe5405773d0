// SPDX-License-Identifier: MIT
// Fields and traces as files that others can read: PNG pictures, legacy VTK volumes (ParaView, VisIt) and
// tables.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/wave25.hpp>

namespace wave_app {

/// A picture of numbers, rows from the top, blue for negative ones and red for positive ones. The colors are
/// full where 99 % of the numbers are smaller.
std::string png(const std::vector<wsl::f32>& numbers, int width, int height);

/// The slice of a field where the coordinate of an axis ('x', 'y' or 'z') is `at`: z points down, or y where
/// z is cut.
std::string png_of_slice(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size, char axis,
                         int at);

/// All traces side by side, time points down.
std::string png_of_traces(const std::vector<std::vector<wsl::f32>>& traces);

/// The field as a legacy VTK file of structured points; lengths in m.
std::string vtk(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size, wsl::f64 spacing);

/// A line for each step: the time in s and what each receiver heard, with all digits.
std::string csv(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
