// SPDX-License-Identifier: MIT
// What a launch asks of the program at run time.
#include <wsl/fabric/fabric.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

struct scaler {
  f32 x = 2;
  void scale(pe&, f32 by) { x *= by; }
  static consteval auto tasks() { return table(launch<&scaler::scale>()); }
};
struct other {
  f32 x = 2;
  void start(pe&) {}
  static consteval auto tasks() { return table(launch<&other::start>()); }
};

}  // namespace

TEST_CASE("a host function that takes arguments is not run without them") {
  fabric f{layout{wse2, 2, 1}.place(all, program_v<scaler>)};
  CHECK_THROWS_WITH(f.launch(),
                    Contains("scaler's host function scale takes arguments: f.launch<&...>(area, ...)"));
  f.launch<&scaler::scale>(column(1), 3);
  CHECK(f.read(0, 0, &scaler::x) == 2);
  CHECK(f.read(1, 0, &scaler::x) == 6);
}

TEST_CASE("a member is read from the program that has it") {
  fabric f{layout{wse2, 2, 1}.place(column(0), program_v<scaler>).place(column(1), program_v<other>)};
  CHECK(f.read(0, 0, &scaler::x) == 2);
  CHECK_THROWS_WITH(f.read(1, 0, &scaler::x),
                    Contains("PE(1, 0) runs ") && Contains("other, not ") && Contains("scaler"));
  CHECK_THROWS_WITH(f.launch<&scaler::scale>(all, 2), Contains("does not bind launch<&scale>()"));
}
