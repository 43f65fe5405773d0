// SPDX-License-Identifier: MIT
// Every bit pattern travels as it is.
#include <wsl/core/half.hpp>
#include <wsl/core/wavelet.hpp>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

using namespace wsl;
using wsl::detail::from_bits, wsl::detail::to_bits;

namespace {

struct tagged {
  u8 tag;
  bool odd;
};
struct complex16 {
  f16 re, im;
};

/// The words whose bits `T` keeps: all 32, or the low 16.
template <class T>
bool keeps(u32 word) {
  const u32 expected = sizeof(T) == 4 ? word : word & 0xffff;
  const T value = from_bits<T>(word);
  return to_bits(value) == expected && std::memcmp(&value, &expected, sizeof value) == 0;
}

template <class... T>
void keep_every_word() {
  std::mt19937_64 any{7};
  for (int n = 0; n < 100'000; ++n) {
    const u32 word = static_cast<u32>(any());
    REQUIRE((keeps<T>(word) && ...));
  }
  for (u32 word : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu, 0x10000u, 0x7f800000u, 0x7fc00001u, 0x80000000u,
                   0xff800000u, 0xffc00000u})
    REQUIRE((keeps<T>(word) && ...));
}

}  // namespace

TEST_CASE("a payload is its bits") {
  keep_every_word<u32, i32, f32, u16, i16, f16, bf16, halves<u16>, halves<f16, i16>, complex16>();
}

TEST_CASE("halves are two numbers of one word") {
  const auto h = from_bits<halves<f16>>(0x00073e00);
  CHECK(h.data == f16{1.5f});
  CHECK(h.index == 7);
  CHECK(to_bits(halves<i16, i16>{-2, 3}) == 0x0003fffe);
}

TEST_CASE("a struct of two bytes travels in the low half") {
  CHECK(to_bits(tagged{5, true}) == 0x0105);
  CHECK(from_bits<tagged>(0xabcd0009).tag == 9);
}
