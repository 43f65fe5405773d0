// SPDX-License-Identifier: MIT
// The traces of a shot as files of several formats, and back.
#pragma once
#include <filesystem>
#include <string>
#include <vector>
#include <wsl/kernel/wave25/problem.hpp>

#include "volume.hpp"

namespace wave_app {

/// The formats of a list such as "csv,segy".
struct record_formats {
  bool csv = true, svg = true, npy = false, segy = false;
};

/// Writes shot.csv, shot.svg, shot.npy and shot.sgy, as asked for, to a folder. Traces have one sample for
/// each step, from the first on; SEG-Y has one for each `interval` s (0: the largest whole number of
/// microseconds in a time step). `number` is that of the shot.
void write_records(const std::filesystem::path& folder, const std::vector<std::vector<f32>>& traces,
                   const wsl::wave25::problem& p, const record_formats& formats, f64 interval, int number);

/// Throws std::invalid_argument that names the option if SEG-Y cannot have the traces of so many steps.
void require_segy_holds(const wsl::wave25::problem& p, i64 steps, f64 interval);

/// The traces that were recorded for the receivers of a problem at its time steps, `steps` of them: of
/// shot.sgy in the folder, or of shot.npy, whose samples are `interval` s apart. Throws std::invalid_argument
/// if there are none, or those of another source or other receivers, or if they end before the steps do.
std::vector<std::vector<f32>> read_records(const std::filesystem::path& folder, const wsl::wave25::problem& p,
                                           i64 steps, f64 interval);

/// Of all that read_records takes from the folder. Throws std::invalid_argument if there are no traces.
wsl::u64 fingerprint_of_records(const std::filesystem::path& folder, f64 interval);

}  // namespace wave_app
