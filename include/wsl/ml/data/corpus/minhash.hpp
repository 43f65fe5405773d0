// SPDX-License-Identifier: MIT
// MinHash (Broder, "On the resemblance and containment of documents", 1997): a text is a set of shingles, the
// sequences of so many characters in it; a signature has the smallest value of the set under each of some
// permutations of hashes. The part of two signatures that is equal estimates the Jaccard similarity s of the
// sets, with the standard deviation sqrt(s (1 - s) / permutations). Shingles are those of SlimPajama
// (Cerebras' Model Zoo): of the text in lower case, without the punctuation of ASCII, white space being one
// space.
//   const minhash by;
//   const f64 s = similarity(by.signature(shingle_text(a)), by.signature(shingle_text(b)));
#pragma once
#include <array>
#include <limits>
#include <span>

#include "../../../linalg/vector_code.hpp"
#include "../../tokenizer/unicode.hpp"
#include "../permutation.hpp"

namespace wsl::ml {

/// The code points that shingles are made of: lower case, none of !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~, one space
/// for each run of white space, and none at the ends. The text is UTF-8.
inline std::u32string shingle_text(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  bool gap = false;
  const auto put = [&](char32_t c) {
    if (gap && !out.empty()) out += U' ';
    gap = false, out += c;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = unicode::next(text, at);
    if (c < 0x80) {
      if ((c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9')) put(c);
      else if (c >= U'A' && c <= U'Z') put(c + 32);
      else if (c == U' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) gap = true;
      else if (c < 32 || c == 127) put(c);
    } else if (unicode::is_space(c)) gap = true;
    else if (c == 0x130) put(U'i'), put(0x307);
    else put(static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  }
  return out;
}

/// The hashes of the sequences of `width` code points, in order. A text that is shorter is one sequence; an
/// empty one has none.
inline std::vector<u32> shingle_hashes(std::u32string_view text, int width) {
  std::vector<u32> all;
  if (text.empty()) return all;
  const std::size_t w = std::min(text.size(), static_cast<std::size_t>(width));
  constexpr u64 base = 0xd6e8feb86659fd93u;
  u64 leaving = 1, hash = 0;
  for (std::size_t i = 0; i < w; ++i) hash = hash * base + scramble(text[i]), leaving *= base;
  all.reserve(text.size() - w + 1);
  for (std::size_t i = w;; ++i) {
    all.push_back(static_cast<u32>(scramble(hash) >> 32));
    if (i == text.size()) return all;
    hash = hash * base + scramble(text[i]) - scramble(text[i - w]) * leaving;
  }
}

namespace detail {

/// least[p] = min(least[p], factor[p] * x + offset[p] mod 2^32) for each hash x. The number of permutations
/// is a multiple of `minhash_step`.
inline constexpr int minhash_step = 64;
struct minhash_loop {
  template <int lanes>
  [[gnu::always_inline]] static void run(u32* least, const u32* factor, const u32* offset, int permutations,
                                         const u32* hashes, std::size_t count) {
    typedef u32 vector __attribute__((vector_size(lanes * 4), aligned(4), may_alias));
    constexpr int group = 4;
    for (int p = 0; p < permutations; p += group * lanes) {
      vector m[group], a[group], b[group];
      for (int g = 0; g < group; ++g) {
        m[g] = *reinterpret_cast<const vector*>(least + p + g * lanes);
        a[g] = *reinterpret_cast<const vector*>(factor + p + g * lanes);
        b[g] = *reinterpret_cast<const vector*>(offset + p + g * lanes);
      }
      for (std::size_t i = 0; i < count; ++i)
        for (int g = 0; g < group; ++g) {
          const vector x = a[g] * hashes[i] + b[g];
          m[g] = x < m[g] ? x : m[g];
        }
      for (int g = 0; g < group; ++g) *reinterpret_cast<vector*>(least + p + g * lanes) = m[g];
    }
  }
};

}  // namespace detail

class minhash {
 public:
  /// Throws std::invalid_argument unless there are 1 to 4096 permutations and 1 to 1000 characters a shingle.
  explicit minhash(int permutations = 128, int width = 13, u64 seed = 1)
      : permutations_(permutations), width_(width) {
    if (permutations < 1 || permutations > 4096)
      throw std::invalid_argument(
          fmt::format("wsl: a signature has 1 to 4096 permutations, not {}", permutations));
    if (width < 1 || width > 1000)
      throw std::invalid_argument(fmt::format("wsl: a shingle has 1 to 1000 characters, not {}", width));
    const int padded =
        (permutations + detail::minhash_step - 1) / detail::minhash_step * detail::minhash_step;
    for (int p = 0; p < padded; ++p) {
      const u64 random = scramble(scramble(seed) + static_cast<u64>(p));
      factor_.push_back(static_cast<u32>(random) | 1u);  // odd: the map is a permutation of 32 bits
      offset_.push_back(static_cast<u32>(random >> 32));
    }
  }

  int permutations() const { return permutations_; }
  int width() const { return width_; }
  /// The signature of a text as shingle_text makes it: `permutations` numbers. All are 2^32 - 1 for an empty
  /// text. May be called by several threads at a time.
  std::vector<u32> signature(std::u32string_view text) const {
    std::vector<u32> least(factor_.size(), std::numeric_limits<u32>::max());
    const std::vector<u32> hashes = shingle_hashes(text, width_);
    static const auto loop =
        vector_code<detail::minhash_loop, u32*, const u32*, const u32*, int, const u32*, std::size_t>::best();
    constexpr std::size_t block = 4096;  // hashes that stay in the cache nearest to a processor
    for (std::size_t at = 0; at < hashes.size(); at += block)
      loop(least.data(), factor_.data(), offset_.data(), static_cast<int>(factor_.size()), hashes.data() + at,
           std::min(block, hashes.size() - at));
    least.resize(static_cast<std::size_t>(permutations_));
    return least;
  }

 private:
  int permutations_, width_;
  std::vector<u32> factor_, offset_;
};

/// The part of two signatures, of the same length, that is equal.
inline f64 similarity(std::span<const u32> a, std::span<const u32> b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return static_cast<f64>(equal) / static_cast<f64>(a.size());
}

}  // namespace wsl::ml
