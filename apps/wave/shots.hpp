// SPDX-License-Identifier: MIT
// A list of shots, as a table with commas:
//   kind,x,y,z
//   source,500,700,20              # begins a shot; positions in m
//   receiver,250.5,700,10          # of this shot
//   line,100,700,10,1900,20        # receivers from x = 100 to x = 1900, every 20 m
//   source,600,700,20              # a shot without receivers has those of the command line
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <wsl/kernel/wave25/place.hpp>

namespace wave_app {

/// Receivers at equal distances along x; one has a count of 1.
struct receiver_line {
  wsl::wave25::point first;  ///< m
  wsl::f64 step = 0;         ///< m
  wsl::i64 count = 1;

  wsl::wave25::point at(wsl::i64 i) const {
    return {first.x + static_cast<wsl::f64>(i) * step, first.y, first.z};
  }
};
/// The receivers from x = from on, every `step` m up to x = to.
receiver_line line_of_receivers(wsl::f64 from, wsl::f64 to, wsl::f64 step, wsl::f64 y, wsl::f64 z);

struct shot {
  wsl::wave25::point source;  ///< m
  std::vector<receiver_line> receivers;
};

/// Throws std::invalid_argument with the file and the line.
std::vector<shot> shots_from_text(std::string_view text, const std::string& name);

}  // namespace wave_app
