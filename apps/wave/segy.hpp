// SPDX-License-Identifier: MIT
// SEG-Y, the format of seismic data, by libsegyio: velocity models, and the traces of a shot. Without the
// library each function throws std::invalid_argument, which names the package. Files are not trusted.
#pragma once
#include <string>
#include <wsl/kernel/wave25/place.hpp>

#include "volume.hpp"

namespace wave_app {

/// The traces of a shot.
struct gather {
  int shot = 1;                               ///< its number, from 1 on
  f64 interval = 0;                           ///< s from one sample to the next
  f64 first = 0;                              ///< s of the first sample
  wsl::wave25::point source;                  ///< m
  std::vector<wsl::wave25::point> receivers;  ///< m
  std::vector<std::vector<f32>> traces;       ///< one a receiver, all of a length
};

/// Throws std::invalid_argument if this program has no SEG-Y; `what` is the file or option that asks for it.
void require_segy(const std::string& what);

/// A model: a trace for each x and y along z, x by inline and y by crossline numbers. The spacing along z is
/// a thousandth of the header's sample interval, in m; along x and y it follows from the CDP coordinates.
/// What the headers leave 0 is 0.
stored_volume segy_volume(const std::string& file);

/// A file of revision 1, IEEE floats, with the coordinates of the source and the receivers in the trace
/// headers (m, with a scalar) and the sample interval, which is a whole number of microseconds, in both
/// headers. The first sample is at time 0.
std::string segy_bytes(const gather& g);

/// The traces of a file and their headers.
gather segy_gather(const std::string& file);

}  // namespace wave_app
