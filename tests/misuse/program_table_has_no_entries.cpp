// SPDX-License-Identifier: MIT
// A table says what the program does.
// says: wsl: a table has at least one entry
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  static consteval auto nothing() { return table(); }
  static consteval auto tasks() { return table(part::nothing()); }
};
#else
struct part {
  static consteval auto nothing() { return table(reads<red>()); }
  static consteval auto tasks() { return table(part::nothing()); }
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place(all, program_v<part>);
