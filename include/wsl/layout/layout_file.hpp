// SPDX-License-Identifier: MIT
// A layout as a file, for tools that show it after the program has ended, such as wsl-view. The file is JSON
// with an entry for each placement, path and stream, none for each PE, so that of a whole wafer has some
// kilobytes. docs/guide/view.md describes the format.
//   save_layout(plate, "plate.json");
#pragma once
#include <string>

#include "../support/compiled.hpp"
#include "layout.hpp"

namespace wsl {

/// The text of a layout file. Programs have the members that they export, with their places.
std::string layout_json(const layout& l);

namespace detail {

inline constexpr int layout_file_version = 1;

void write_layout_file(const layout& l, const std::string& file);

}  // namespace detail

/// Writes a layout file. Throws support::file_error, with the file's name and the system's reason, if it
/// cannot.
inline void save_layout(const layout& l, const std::string& file) { detail::write_layout_file(l, file); }

}  // namespace wsl

#ifndef WSL_COMPILED
#include "layout_file_text.hpp"
#endif
