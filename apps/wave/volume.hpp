// SPDX-License-Identifier: MIT
// A number in each cell of a grid, as files of models and images have them.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include <wsl/kernel/stencil/grid.hpp>

namespace wave_app {

using wsl::f32;
using wsl::f64;
using wsl::i64;
using wsl::grid::cells;

/// The size of a cell along each axis in m; 0 where a file does not say it.
struct extent {
  f64 x = 0, y = 0, z = 0;
  friend bool operator==(const extent&, const extent&) = default;
};

struct volume {
  cells size;
  extent spacing;
  std::vector<f32> numbers;  ///< x * y * z, z fastest, then y
};

/// The same in a file of which parts are read where they are needed.
struct stored_volume {
  cells size;
  extent spacing;
  /// Gives the numbers of some lines along z: z fastest, then y. Several threads may call it at the same time.
  /// Throws std::invalid_argument or support::file_error with the name of the file.
  std::function<void(const wsl::grid::lines&, std::span<f32>)> read;
  bool is_plain = false;  ///< a plane is in the file as it is given
  f64 bytes_kept = 0;     ///< in memory, of the file
};
/// One whose numbers are all in memory.
stored_volume stored(std::shared_ptr<const volume> all);
/// All numbers of one, in memory.
std::vector<f32> numbers_of(const stored_volume& v);

/// Throws std::invalid_argument with a sentence about an option or a file.
template <class... X>
[[noreturn]] void refuse(fmt::format_string<X...> sentence, X&&... x) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<X>(x)...));
}

/// The sentence of an exception without the part of the library that says it, since users give options.
inline std::string sentence_of(const std::exception& e) {
  std::string_view sentence = e.what();
  for (const std::string_view part : {"wsl: ", "wave25: ", "seismic: "})
    if (sentence.starts_with(part)) sentence.remove_prefix(part.size());
  return std::string(sentence);
}

}  // namespace wave_app
