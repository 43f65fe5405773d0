// SPDX-License-Identifier: MIT
// The checker of layouts that are built at run time, for instance from arguments, by the rules that constant
// layouts are checked with. See docs/guide/layout.md.
#pragma once
#include <string>

#include "../support/compiled.hpp"
#include "layout.hpp"

namespace wsl {

/// Throws fault with the sentence of the first fault of a layout, if it has one.
void require(const layout& l);

/// The faults of a layout, a line each: the first that each rule finds for every color and every placement.
std::string explain(const layout& l);

/// "wsl: the_path_leaves_the_grid: color 3, PE(4, 0), side east: there is no PE on this side: ..."
std::string sentence(const diagnostic& d);

}  // namespace wsl

#ifndef WSL_COMPILED
#include "explain_text.hpp"
#endif
