// SPDX-License-Identifier: MIT
// Floating-point numbers in a file one after the other, in the order of the grid (z fastest, then y), of which
// a process reads those of its own cells only.
#pragma once
#include <memory>
#include <wsl/support/file_reader.hpp>

#include "volume.hpp"

namespace wave_app {

/// How the numbers of a file are written.
struct number_format {
  bool is_wide = false;     ///< 64 bits each; else 32
  bool is_swapped = false;  ///< the byte order is not that of this computer
};

/// The file that an option names. Throws std::invalid_argument with both if it cannot be read.
std::shared_ptr<const wsl::support::file_reader> opened(const std::string& option, const std::string& name);

/// The numbers of a grid from a byte of the file on.
stored_volume stored_numbers(std::shared_ptr<const wsl::support::file_reader> file, wsl::u64 begin,
                             const cells& size, const extent& spacing, number_format how = {});

}  // namespace wave_app
