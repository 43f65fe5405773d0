// SPDX-License-Identifier: MIT
// Wavefields and seismograms as figures: SVG files with axes in metres and seconds, a colour bar, the source,
// the receivers and the interfaces of the velocity model. The field itself is a picture inside the file.
#pragma once
#include <string>
#include <vector>
#include <wsl/kernel/wave25.hpp>

namespace wave_app {

/// Where a slice cuts the grid: the cells whose coordinate along an axis ('x', 'y' or 'z') is `at`.
struct slice {
  char axis = 'y';
  int at = 0;
};

/// The field u after `step` steps, in a slice: z points down, or y where z is cut. `field` holds x * y * z
/// cells, z fastest, then y. Red is positive and blue negative, and the colours are full at the clip, which
/// 99 % of the amplitudes of the wave do not reach.
std::string figure_of_slice(const std::vector<wsl::f32>& field, const wsl::wave25::problem& p,
                            const slice& where, wsl::i64 step);

/// The traces of all receivers side by side, time pointing down: a seismogram. Up to 64 traces are drawn as
/// wiggles, too. Clipped at half of the median of the traces' largest amplitudes. There is at least one
/// receiver, with at least one sample.
std::string figure_of_traces(const std::vector<std::vector<wsl::f32>>& traces, const wsl::wave25::problem& p);

}  // namespace wave_app
