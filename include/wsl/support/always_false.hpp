// SPDX-License-Identifier: MIT
// The condition of a static_assert that explains the use of a template: false, but only for the arguments
// with which the template is instantiated.
#pragma once

namespace wsl::support {

template <class...>
inline constexpr bool always_false = false;
template <auto...>
inline constexpr bool always_false_for = false;

}  // namespace wsl::support
