// SPDX-License-Identifier: MIT
// A film of pictures, as an animated file of WebP. Without libwebp each function throws
// std::invalid_argument, which names the package.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace wave_app {

/// Throws std::invalid_argument if this program makes no films.
void require_film();

/// The bytes of a film of PNG files of one size, each shown for so many milliseconds.
std::string film_bytes(const std::vector<std::filesystem::path>& pictures, int milliseconds);

}  // namespace wave_app
