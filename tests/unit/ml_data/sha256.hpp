// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), to compare files with published checksums.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace files {

inline std::string sha256(std::string text) {
  std::array<std::uint32_t, 64> k{};
  std::array<std::uint32_t, 8> h{};
  // The constants are the first bits of the fractions of the cube and square roots of the first primes.
  const auto fraction = [](long double root) {
    return static_cast<std::uint32_t>((root - static_cast<long double>(static_cast<std::uint64_t>(root))) *
                                      0x1p32L);
  };
  for (std::uint32_t n = 0, prime = 2; n < 64; ++prime) {
    bool is_prime = true;
    for (std::uint32_t d = 2; d * d <= prime; ++d) is_prime &= prime % d != 0;
    if (!is_prime) continue;
    if (n < 8) h[n] = fraction(__builtin_sqrtl(prime));
    k[n++] = fraction(__builtin_cbrtl(prime));
  }
  const std::uint64_t bits = text.size() * 8;
  text += '\x80';
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, '\0');
  for (int i = 7; i >= 0; --i) text += static_cast<char>(bits >> (8 * i));
  for (std::size_t at = 0; at < text.size(); at += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i)
      w[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])) << (24 - 8 * (i % 4));
    for (std::size_t i = 16; i < 64; ++i)
      w[i] = w[i - 16] + (std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
             (std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
    auto [a, b, c, d, e, f, g, z] = h;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t t1 =
          z + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
      const std::uint32_t t2 =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      z = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e, h[5] + f, h[6] + g, h[7] + z};
  }
  std::string hex;
  for (std::uint32_t word : h)
    for (int i = 28; i >= 0; i -= 4) hex += "0123456789abcdef"[word >> i & 15];
  return hex;
}

}  // namespace files
