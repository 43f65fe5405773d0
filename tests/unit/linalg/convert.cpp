// SPDX-License-Identifier: MIT
// The oracle is the scalar integer code of core/half.hpp, which tests/unit/core/half.cpp checks against the
// definition of each format.
#include <bit>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>
#include <wsl/linalg/convert.hpp>

namespace {
using namespace wsl;

template <class Half>
constexpr int mantissa_bits = std::numeric_limits<Half>::digits - 1;
template <class Half>
u16 narrowed(f32 x) {
  return detail::narrow<15 - mantissa_bits<Half>, mantissa_bits<Half>>(x);
}
template <class Half>
f32 widened(int bits) {
  return detail::widen<15 - mantissa_bits<Half>, mantissa_bits<Half>>(static_cast<u16>(bits));
}

struct version {
  int lanes;
  bool bf16_instructions;
};
// Each version that this processor can run.
std::vector<version> versions() {
  std::vector<version> all;
  for (int lanes = 4; lanes <= processor_lanes(); lanes *= 2) all.push_back({lanes, false});
  if (processor_has_bf16()) all.push_back({16, true});
  return all;
}

// Every number of the format, the middle above it and the floats next to both: ties, subnormal numbers,
// infinities, NaN with all kinds of payloads. Then floats of any bits.
template <class Half>
std::vector<f32> telling_numbers() {
  std::vector<f32> all;
  const u32 half_a_place = 1u << (22 - mantissa_bits<Half>);
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto here = std::bit_cast<u32>(widened<Half>(bits));
    const bool subnormal = (bits & 0x7fff) >> mantissa_bits<Half> == 0;
    const auto middle = subnormal ? std::bit_cast<u32>((widened<Half>(bits) + widened<Half>(bits + 1)) / 2)
                                  : here + half_a_place;
    for (const u32 x : {here - 1, here, here + 1, middle - 1, middle, middle + 1})
      all.push_back(std::bit_cast<f32>(x));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200'003; ++i) all.push_back(std::bit_cast<f32>(static_cast<u32>(random())));
  for (u32 i = 0; i < 2000; ++i) all.push_back(std::bit_cast<f32>(i % 2 << 31 | i * 4001));  // subnormal
  return all;
}

TEMPLATE_TEST_CASE("An array is rounded to the bits of the scalar conversion", "", f16, bf16, cb16) {
  const std::vector<f32> numbers = telling_numbers<TestType>();
  for (const version& v : versions()) {
    std::vector<TestType> got(numbers.size());
    dense::conversion_with<TestType, f32>(v.lanes, v.bf16_instructions)(got.data(), numbers.data(),
                                                                        static_cast<i64>(numbers.size()));
    long wrong = 0;
    std::string first;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (got[i].bits != narrowed<TestType>(numbers[i]) && wrong++ == 0)
        first = std::to_string(std::bit_cast<u32>(numbers[i])) + " became " + std::to_string(got[i].bits);
    INFO(v.lanes << " lanes" << (v.bf16_instructions ? ", AVX512-BF16" : "") << "; bits " << first);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("All patterns of 16 bits are widened to the bits of the scalar conversion", "", f16, bf16,
                   cb16) {
  std::vector<TestType> patterns;
  for (int bits = 0; bits < 0x10000; ++bits) patterns.push_back(TestType::from_bits(static_cast<u16>(bits)));
  for (const version& v : versions()) {
    std::vector<f32> got(patterns.size());
    dense::conversion_with<f32, TestType>(v.lanes, v.bf16_instructions)(got.data(), patterns.data(),
                                                                        static_cast<i64>(patterns.size()));
    long wrong = 0;
    for (int bits = 0; bits < 0x10000; ++bits)
      wrong += std::bit_cast<u32>(got[static_cast<std::size_t>(bits)]) !=
               std::bit_cast<u32>(widened<TestType>(bits));
    INFO(v.lanes << " lanes");
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("Arrays of any length and place are converted, and nothing beside them", "", f16, bf16,
                   cb16) {
  const std::vector<f32> numbers = telling_numbers<TestType>();
  const auto mark = TestType::from_bits(0x1234);
  long wrong = 0;
  for (const std::size_t from : {0u, 1u, 3u})
    for (std::size_t n = 0; n < 70; ++n) {
      std::vector<TestType> half(n + from + 1, mark);
      std::vector<f32> back(n + from + 1, 5);
      convert(half.data() + from, numbers.data() + 1000 + from, static_cast<i64>(n));
      convert(back.data() + from, half.data() + from, static_cast<i64>(n));
      for (std::size_t i = 0; i < half.size(); ++i) {
        const bool inside = i >= from && i < from + n;
        wrong += half[i].bits != (inside ? narrowed<TestType>(numbers[1000 + i]) : mark.bits);
        wrong += back[i] != (inside ? widened<TestType>(half[i].bits) : 5);
      }
    }
  CHECK(wrong == 0);
}

}  // namespace
