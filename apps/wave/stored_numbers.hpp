// SPDX-License-Identifier: MIT
// Floating-point numbers in a file one after the other, of which a process reads those of its own cells only.
#pragma once
#include <memory>
#include <wsl/support/file_reader.hpp>

#include "volume.hpp"

namespace wave_app {

/// How the numbers of a file are written.
struct number_format {
  bool is_wide = false;       ///< 64 bits each; else 32
  bool is_swapped = false;    ///< the byte order is not that of this computer
  std::string order = "zyx";  ///< of the axes, the fastest one first
};

/// The file that an option names. Throws std::invalid_argument with both if it cannot be read.
std::shared_ptr<const wsl::support::file_reader> opened(const std::string& option, const std::string& name);

/// Reads numbers from the one with an index on, counted from a byte of the file, in the order of the file.
void read_numbers(const wsl::support::file_reader& file, wsl::u64 begin, wsl::u64 first,
                  const number_format& how, std::span<f32> to);

/// The numbers of a grid from a byte of the file on. Planes in another order than that of the grid (z
/// fastest, then y) are not plain, and some of them are kept in memory.
stored_volume stored_numbers(std::shared_ptr<const wsl::support::file_reader> file, wsl::u64 begin,
                             const cells& size, const extent& spacing, const number_format& how = {});

}  // namespace wave_app
