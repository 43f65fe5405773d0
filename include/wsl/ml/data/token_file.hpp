// SPDX-License-Identifier: MIT
// Tokens on disk, in two formats:
//   llm.c     256 words of header (magic number, version, count), then the tokens: 16 bits each for GPT-2,
//             32 bits each for Llama 3
//   nanoGPT   nothing but the tokens, 16 bits each
// (karpathy/llm.c dev/data/data_common.py, karpathy/nanoGPT data/*/prepare.py)
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <variant>

#include "../../support/whole_file.hpp"
#include "../io/input_file.hpp"

namespace wsl::ml {

enum class token_format : u8 { llmc, llmc_llama3, raw };

/// Tokens of 16 or 32 bits, in memory or in a mapped file. Copies share the numbers.
class tokens {
 public:
  tokens() = default;
  tokens(std::vector<u16> numbers) { keep(std::move(numbers)); }
  tokens(std::vector<u32> numbers) { keep(std::move(numbers)); }
  template <class T>
  tokens(mapped<T> of) : owner_(std::move(of.owner)), numbers_(of.numbers) {}
  /// Throws std::invalid_argument for a negative number.
  tokens(std::span<const i32> ids) {
    const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
    if (ids.empty()) return;
    if (*least < 0)
      throw std::invalid_argument(fmt::format("wsl: tokens have numbers from 0 on, not {}", *least));
    if (*most <= std::numeric_limits<u16>::max()) keep(std::vector<u16>(ids.begin(), ids.end()));
    else keep(std::vector<u32>(ids.begin(), ids.end()));
  }
  tokens(const std::vector<i32>& ids) : tokens(std::span(ids)) {}

  i64 size() const {
    return std::visit([](const auto& x) { return static_cast<i64>(x.size()); }, numbers_);
  }
  i32 operator[](i64 i) const {
    return std::visit([i](const auto& x) { return static_cast<i32>(x[static_cast<std::size_t>(i)]); },
                      numbers_);
  }
  /// Copies tokens from number `from` on, as many as there is room for.
  void copy(i64 from, std::span<i32> to) const {
    std::visit([&](const auto& x) { std::copy_n(x.begin() + from, to.size(), to.begin()); }, numbers_);
  }
  /// The largest number; -1 if there are no tokens.
  i32 largest() const {
    return std::visit(
        [](const auto& x) {
          return x.empty() ? -1 : static_cast<i32>(*std::max_element(x.begin(), x.end()));
        },
        numbers_);
  }
  const auto& numbers() const { return numbers_; }

 private:
  template <class T>
  void keep(std::vector<T> x) {
    const auto all = std::make_shared<const std::vector<T>>(std::move(x));
    owner_ = all, numbers_ = std::span<const T>(*all);
  }

  std::shared_ptr<const void> owner_;
  std::variant<std::span<const u16>, std::span<const u32>> numbers_;
};

/// The first words of the files of llm.c.
struct token_magic {
  i32 magic, version;
};
inline constexpr token_magic gpt2_tokens{20240520, 1}, llama3_tokens{20240801, 7};
inline constexpr std::size_t llmc_header = 256;  ///< words

/// Opens a file of either format; that of llm.c is recognized by its magic number. The tokens stay in the
/// file, which must not be truncated while they are used. Throws file_error.
inline tokens read_tokens(const std::string& name) {
  input_file in(name);
  const auto magic = in.left() >= 4 ? in.take<i32>(1, "the magic number")[0] : 0;
  const bool gpt2 = magic == gpt2_tokens.magic, llama3 = magic == llama3_tokens.magic;
  if (!gpt2 && !llama3) {
    in.go_to(0);
    if (in.size() % 2)
      throw in.error(
          "tokens of 16 bits fill an even number of bytes, not {}: this is no file of tokens, or it is cut "
          "short",
          in.size());
    return in.map<u16>(in.size() / 2, "tokens");
  }
  in.go_to(0);
  const std::vector<i32> header = in.take<i32>(llmc_header, "the header of 256 words");
  const i32 version = gpt2 ? gpt2_tokens.version : llama3_tokens.version;
  if (header[1] != version)
    throw in.error(
        "tokens with this magic number have version {}, not {}: write the file again with today's llm.c or "
        "wsl-data",
        version, header[1]);
  if (header[2] < 0) throw in.error("the header speaks of {} tokens", header[2]);
  const u64 n = static_cast<u64>(header[2]);
  if (gpt2) {
    tokens all = in.map<u16>(n, "tokens");
    in.ends_here();
    return all;
  }
  const mapped<u32> all = in.map<u32>(n, "tokens");
  in.ends_here();
  if (std::any_of(all.numbers.begin(), all.numbers.end(),
                  [](u32 id) { return id > static_cast<u32>(std::numeric_limits<i32>::max()); }))
    throw in.error("a token has more than 31 bits: the file is damaged");
  return all;
}

/// Writes a file. Throws std::invalid_argument if a token does not fit the format, or the number of tokens
/// the header of llm.c; file_error if the file cannot be written.
inline void write_tokens(const std::string& name, const tokens& x, token_format how) {
  const bool wide = how == token_format::llmc_llama3;
  if (!wide && x.largest() > std::numeric_limits<u16>::max())
    throw std::invalid_argument(fmt::format(
        "wsl: {}: token {} does not fit 16 bits; write token_format::llmc_llama3", name, x.largest()));
  if (how != token_format::raw && x.size() > std::numeric_limits<i32>::max())
    throw std::invalid_argument(fmt::format(
        "wsl: {}: a file of llm.c has less than 2^31 tokens, not {}; write several", name, x.size()));
  support::whole_file out(name);
  if (how != token_format::raw) {
    const token_magic m = wide ? llama3_tokens : gpt2_tokens;
    const std::array<i32, llmc_header> header{m.magic, m.version, static_cast<i32>(x.size())};
    out.write(header.data(), sizeof header);
  }
  std::visit(
      [&]<class T>(std::span<const T> numbers) {
        if ((sizeof(T) == 4) == wide) return out.write(numbers.data(), numbers.size() * sizeof(T));
        for (T id : numbers)
          wide ? out.write(std::array{static_cast<u32>(id)}.data(), 4)
               : out.write(std::array{static_cast<u16>(id)}.data(), 2);
      },
      x.numbers());
  out.finish();
}

}  // namespace wsl::ml
