// SPDX-License-Identifier: MIT
#include <wsl/support/number_text.hpp>
#include <wsl/support/text.hpp>

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

using namespace wsl::support;

TEST_CASE("sentences have whole numbers of any type and size") {
  using most = std::numeric_limits<std::uint64_t>;
  using least = std::numeric_limits<std::int64_t>;
  CHECK(joined({"PE(", 3, ", ", std::int8_t{-1}, ")"}) == "PE(3, -1)");
  CHECK(joined({most::max(), " ", least::min(), " ", std::numeric_limits<std::uint32_t>::max()}) ==
        "18446744073709551615 -9223372036854775808 4294967295");
  CHECK(filled("color {} of {}", {3, 24u}) == "color 3 of 24");
  CHECK(counted(1, "word") + ", " + counted(most::max(), "word") == "1 word, 18446744073709551615 words");
}

TEST_CASE("numbers in sentences have the digits that it takes to read them again") {
  CHECK(number_text(0.1f) == "0.1");
  CHECK(number_text(-1e-9) == "-1e-09");
  CHECK(number_text(1. / 3) == "0.3333333333333333");
}
