// SPDX-License-Identifier: MIT
// The text header of a model whose numbers are raw f32:
//   wsl-wave model
//   size 737 1 750       # cells along x, y and z
//   spacing 5 5 5        # m
//   order zyx            # the axis whose cells follow each other, the next one, and the slowest
//   bytes little         # or big
//   data marmousi.bin    # a file beside this one; left out, the numbers follow the line `end`
//   end
#pragma once
#include <string>
#include <string_view>

#include "volume.hpp"

namespace wave_app {

struct raw_header {
  cells size{0, 0, 0};
  extent spacing;
  std::string order = "zyx";
  bool big_endian = false;
  std::string data;        ///< the name of the file with the numbers; empty: they follow the header
  std::size_t length = 0;  ///< bytes of the header
};

inline constexpr std::string_view raw_header_begins = "wsl-wave model\n";
/// The most bytes that a header has.
inline constexpr std::size_t raw_header_length = 4096;

/// Throws std::invalid_argument with the name of the file and the line.
raw_header raw_header_of(std::string_view bytes, const std::string& name);

}  // namespace wave_app
