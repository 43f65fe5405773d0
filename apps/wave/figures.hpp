// SPDX-License-Identifier: MIT
// Wavefields and seismograms as figures: SVG files with axes in metres and seconds, a colour bar, the source,
// the receivers and the interfaces of the velocity model. The field itself is a picture inside the file.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/wave25/problem.hpp>

namespace wave_app {

/// A slice of the grid: the cells whose coordinate along an axis ('x', 'y' or 'z') is `at`.
struct slice {
  char axis = 'y';
  int at = 0;
};

/// The cells of a slice, in the order of the other axes, of a field of x * y * z cells, z fastest, then y.
std::vector<wsl::f32> cells_of_slice(const std::vector<wsl::f32>& field, const wsl::wave25::cells& size,
                                     const slice& where);

/// A number in each cell of a slice, such as the field there: z points down, or y where z is cut. They are in
/// the order of the other axes. Red is positive and blue negative, and the colours are full at the clip,
/// which 99 % of the amplitudes of the wave do not reach.
std::string figure_of_slice(const std::vector<wsl::f32>& numbers, const wsl::wave25::problem& p,
                            const slice& where, const std::string& title);

/// The same as a bare picture, the bytes of a PNG file: each cell is a square of pixels. Colours are full at
/// `clip`, or as in the figure if it is 0.
std::string picture_of_slice(const std::vector<wsl::f32>& numbers, const wsl::wave25::problem& p,
                             const slice& where, wsl::f32 clip);

/// The cell that a place lies in.
wsl::wave25::cells nearest_cell(const wsl::wave25::point& at, const wsl::wave25::problem& p);

/// The traces of all receivers side by side, time pointing down: a seismogram. Up to 64 traces are drawn as
/// wiggles, too. Clipped at half of the median of the traces' largest amplitudes. There is at least one
/// receiver, with at least one sample.
std::string figure_of_traces(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
