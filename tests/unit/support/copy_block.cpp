// SPDX-License-Identifier: MIT
#include <wsl/support/copy_block.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using namespace wsl;
using support::copy_block, support::ends;

namespace {

/// Whether exactly the block is copied, from and to places that are no vector's.
template <ends are>
bool copies(std::size_t bytes, std::size_t from, std::size_t to) {
  constexpr std::size_t around = 64;
  std::vector<unsigned char> source(from + bytes + around), target(to + bytes + around, 0xee);
  std::iota(source.begin(), source.end(), static_cast<unsigned char>(bytes));
  std::vector<unsigned char> expected = target;
  for (std::size_t i = 0; i < bytes; ++i) expected[to + i] = source[from + i];
  copy_block<are>(target.data() + to, source.data() + from, bytes);
  return target == expected;
}

TEST_CASE("A block is copied, and nothing beside it, whatever its length and place") {
  for (std::size_t words = 0; words < 2200; words += words < 70 ? 1 : 37)
    for (std::size_t from : {0u, 4u, 12u, 32u, 60u})
      for (std::size_t to : {0u, 4u, 28u, 64u}) {
        CAPTURE(words, from, to);
        REQUIRE(copies<ends::settled>(4 * words, from, to));
        REQUIRE(copies<ends::just_stored>(4 * words, from, to));
      }
}

TEST_CASE("A block without bytes may be nowhere") {
  std::size_t none = 0;
  asm("" : "+r"(none));
  copy_block<ends::settled>(nullptr, nullptr, none);
  copy_block<ends::just_stored>(nullptr, nullptr, none);
}

TEST_CASE("Every way to copy that this processor has copies the same") {
  std::vector<char> source(256);
  std::iota(source.begin(), source.end(), static_cast<char>(1));
  const auto agrees = [&](support::detail::copier* way) {
    for (std::size_t bytes = 128; bytes <= 256; bytes += 4) {
      std::vector<char> target(256);
      way(target.data(), source.data(), bytes);
      if (!std::equal(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(bytes), target.begin()))
        return false;
    }
    return true;
  };
  CHECK(agrees(support::detail::copy_as_c_does));
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    CHECK(agrees(support::detail::copy_eight_vectors));
    CHECK(agrees(support::detail::copy_just_stored_ends));
    CHECK(agrees(support::detail::copy_in_vectors));
  }
  if (__builtin_cpu_supports("avx512f")) CHECK(agrees(support::detail::copy_four_vectors));
#endif
}

}  // namespace
