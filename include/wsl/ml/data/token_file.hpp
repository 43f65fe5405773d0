// SPDX-License-Identifier: MIT
// Tokens on disk, in two formats:
//   llm.c     256 words of header (magic number, version, count), then the tokens: 16 bits each for GPT-2,
//             32 bits each for Llama 3; the word behind the count, which llm.c leaves 0 and does not read, is
//             the size of another vocabulary than theirs
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

/// Tokens of 16 or 32 bits, in memory or in mapped files, one behind the other. Copies share the numbers.
class tokens {
 public:
  tokens() = default;
  tokens(std::vector<u16> numbers) { keep(std::move(numbers)); }
  tokens(std::vector<u32> numbers) { keep(std::move(numbers)); }
  template <class T>
  tokens(mapped<T> of) {
    add(std::move(of.owner), of.numbers);
  }
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

  i64 size() const { return parts_.empty() ? 0 : parts_.back().begin + parts_.back().size(); }
  i32 operator[](i64 i) const {
    const part& p = part_of(i);
    return std::visit(
        [&](const auto& x) { return static_cast<i32>(x[static_cast<std::size_t>(i - p.begin)]); }, p.numbers);
  }
  /// Copies tokens from number `from` on, as many as there is room for.
  void copy(i64 from, std::span<i32> to) const {
    if (to.empty()) return;
    for (const part* p = &part_of(from); !to.empty(); ++p) {
      const i64 n = std::min<i64>(std::ssize(to), p->begin + p->size() - from);
      std::visit([&](const auto& x) { std::copy_n(x.begin() + (from - p->begin), n, to.begin()); },
                 p->numbers);
      from += n, to = to.subspan(static_cast<std::size_t>(n));
    }
  }
  /// The largest number; -1 if there are no tokens.
  i32 largest() const {
    i32 most = -1;
    each_part([&](const auto& x) {
      if (!x.empty()) most = std::max(most, static_cast<i32>(*std::max_element(x.begin(), x.end())));
    });
    return most;
  }
  /// Whether some are stored in 32 bits.
  bool are_wide() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const part& p) { return p.numbers.index() == 1; });
  }
  /// Calls f(a span of u16 or of u32) for the tokens in their order, one part after the other.
  template <class F>
  void each_part(F f) const {
    for (const part& p : parts_) std::visit(f, p.numbers);
  }
  /// Adds the tokens of another one behind these, without a copy.
  void append(const tokens& next) {
    for (const part& p : next.parts_) std::visit([&](const auto& x) { add(p.owner, x); }, p.numbers);
  }

 private:
  using spans = std::variant<std::span<const u16>, std::span<const u32>>;
  struct part {
    std::shared_ptr<const void> owner;
    spans numbers;
    i64 begin;  // the tokens before it
    i64 size() const {
      return std::visit([](const auto& x) { return static_cast<i64>(x.size()); }, numbers);
    }
  };

  template <class T>
  void keep(std::vector<T> x) {
    const auto all = std::make_shared<const std::vector<T>>(std::move(x));
    add(all, std::span<const T>(*all));
  }
  void add(std::shared_ptr<const void> owner, spans numbers) {
    parts_.push_back({std::move(owner), numbers, size()});
  }
  /// That of a token which is there. A part without tokens begins where the next one does.
  const part& part_of(i64 i) const {
    return *std::prev(std::upper_bound(parts_.begin(), parts_.end(), i,
                                       [](i64 at, const part& p) { return at < p.begin; }));
  }

  std::vector<part> parts_;
};

/// The first words of the files of llm.c.
struct token_magic {
  i32 magic, version;
};
inline constexpr token_magic gpt2_tokens{20240520, 1}, llama3_tokens{20240801, 7};
inline constexpr std::size_t llmc_header = 256;  ///< words

/// The format of a file, by its first word. Throws file_error if it cannot be read.
inline token_format format_of_tokens(const std::string& name) {
  input_file in(name);
  const i32 magic = in.left() >= 4 ? in.take<i32>(1, "the magic number")[0] : 0;
  return magic == gpt2_tokens.magic     ? token_format::llmc
         : magic == llama3_tokens.magic ? token_format::llmc_llama3
                                        : token_format::raw;
}

/// Opens a file of either format; that of llm.c is recognized by its magic number. The tokens stay in the
/// file, which must not be truncated while they are used. Throws file_error.
inline tokens read_tokens(const std::string& name) {
  const token_format form = format_of_tokens(name);
  const bool gpt2 = form == token_format::llmc;
  input_file in(name);
  if (form == token_format::raw) {
    if (in.size() % 2)
      throw in.error(
          "tokens of 16 bits fill an even number of bytes, not {}: this is no file of tokens, or it is cut "
          "short",
          in.size());
    return in.map<u16>(in.size() / 2, "tokens");
  }
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

/// The size of a vocabulary that is neither GPT-2's nor Llama 3's, as the header of a file says; 0 if it does
/// not. Throws file_error if it cannot be read.
inline int vocabulary_of_tokens(const std::string& name) {
  if (format_of_tokens(name) == token_format::raw) return 0;
  input_file in(name);
  return std::max(0, in.take<i32>(4, "the header of 256 words")[3]);
}

/// Writes a file; `vocabulary` is the size of one that is neither GPT-2's nor Llama 3's, which a header
/// keeps. Throws std::invalid_argument if a token does not fit the format, or the number of tokens the header
/// of llm.c; file_error if the file cannot be written.
inline void write_tokens(const std::string& name, const tokens& x, token_format how, int vocabulary = 0) {
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
    const std::array<i32, llmc_header> header{m.magic, m.version, static_cast<i32>(x.size()), vocabulary};
    out.write(header.data(), sizeof header);
  }
  x.each_part([&]<class T>(std::span<const T> numbers) {
    if ((sizeof(T) == 4) == wide) return out.write(numbers.data(), numbers.size() * sizeof(T));
    for (T id : numbers)
      wide ? out.write(std::array{static_cast<u32>(id)}.data(), 4)
           : out.write(std::array{static_cast<u16>(id)}.data(), 2);
  });
  out.finish();
}

}  // namespace wsl::ml
