// SPDX-License-Identifier: MIT
// The wavelet of a source from a file, and signals at other times than their own.
#pragma once
#include <string>
#include <string_view>

#include "volume.hpp"

namespace wave_app {

/// Samples at the times first, first + interval, ..., in s.
struct signal {
  f64 first = 0, interval = 0;
  std::vector<f32> samples;
};

/// A number a line; or a time in s and a number, the times at equal distances. `#` begins a comment. The
/// interval is 0 if no times are given. Throws std::invalid_argument with the file and the line.
signal signal_from_text(std::string_view text, const std::string& name);

/// A file of text, or an array of NumPy with one axis, for which `interval` says the time between two samples
/// in s.
signal read_wavelet(const std::string& file, f64 interval);

/// The signal at n times from `first` on, by a windowed sinc of eight samples; before its beginning and after
/// its end it is zero.
std::vector<f32> at_times(const signal& s, f64 first, f64 interval, std::size_t n);

}  // namespace wave_app
