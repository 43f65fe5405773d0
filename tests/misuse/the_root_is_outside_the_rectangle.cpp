// SPDX-License-Identifier: MIT
// The root of a reduce stands beside its rectangle.
// says: the_root_is_outside_the_rectangle
#include <wsl/collective/reduce.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
constexpr collective::reduce<f32> module{.first = 0, .where = columns(0, 2), .among = each_row, .root = {2}};
#else
constexpr collective::reduce<f32> module{.first = 0, .where = columns(0, 2), .among = each_row, .root = {1}};
#endif
constexpr layout wired = [] {
  layout l{wse2, 4, 4};
  module.wire(l);
  return l;
}();
