// SPDX-License-Identifier: MIT
#include "stored_numbers.hpp"

#include <bit>
#include <string_view>

namespace wave_app {
namespace {

using wsl::u32;
using wsl::u64;

f32 swapped(f32 x) { return std::bit_cast<f32>(__builtin_bswap32(std::bit_cast<u32>(x))); }
f64 swapped(f64 x) { return std::bit_cast<f64>(__builtin_bswap64(std::bit_cast<u64>(x))); }

void read(const wsl::support::file_reader& file, u64 begin, u64 first, number_format how, std::span<f32> to) {
  if (how.is_wide) {
    std::vector<f64> wide(to.size());
    file.read(begin + sizeof(f64) * first, wide.data(), sizeof(f64) * wide.size());
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<f32>(how.is_swapped ? swapped(wide[i]) : wide[i]);
    return;
  }
  file.read(begin + sizeof(f32) * first, to.data(), to.size_bytes());
  if (how.is_swapped)
    for (f32& x : to) x = swapped(x);
}

}  // namespace

std::shared_ptr<const wsl::support::file_reader> opened(const std::string& option, const std::string& name) {
  try {
    return std::make_shared<const wsl::support::file_reader>(name);
  } catch (const wsl::support::file_error& e) {
    refuse("{}: {}", option, std::string_view(e.what()).substr(std::string_view("wsl: ").size()));
  }
}

stored_volume stored_numbers(std::shared_ptr<const wsl::support::file_reader> file, u64 begin,
                             const cells& size, const extent& spacing, number_format how) {
  return {.size = size,
          .spacing = spacing,
          .read =
              [file = std::move(file), begin, size, how](const wsl::grid::lines& some, std::span<f32> to) {
                // The lines of a plane are in one piece.
                const std::size_t n =
                    static_cast<std::size_t>(some.y.size()) * static_cast<std::size_t>(size.z);
                for (int x = some.x.from; x < some.x.to; ++x)
                  read(*file, begin, size.index({x, some.y.from, 0}), how,
                       to.subspan(static_cast<std::size_t>(x - some.x.from) * n, n));
              },
          .is_plain = true};
}

}  // namespace wave_app
