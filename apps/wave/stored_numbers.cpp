// SPDX-License-Identifier: MIT
#include "stored_numbers.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "../ranks.hpp"
#include "turned_numbers.hpp"

namespace wave_app {
namespace {

using wsl::u32;
using wsl::u64;

f32 swapped(f32 x) { return std::bit_cast<f32>(__builtin_bswap32(std::bit_cast<u32>(x))); }
f64 swapped(f64 x) { return std::bit_cast<f64>(__builtin_bswap64(std::bit_cast<u64>(x))); }

/// Whether numbers lie in the order of the grid. An axis of one cell may be anywhere.
bool is_plain(const cells& size, const std::string& order) {
  std::string longer;
  for (const char axis : order)
    if ((axis == 'x' ? size.x : axis == 'y' ? size.y : size.z) > 1) longer += axis;
  return std::is_sorted(longer.rbegin(), longer.rend());
}

}  // namespace

void read_numbers(const wsl::support::file_reader& file, u64 begin, u64 first, const number_format& how,
                  std::span<f32> to) {
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

std::shared_ptr<const wsl::support::file_reader> opened(const std::string& option, const std::string& name) {
  try {
    return std::make_shared<const wsl::support::file_reader>(name);
  } catch (const wsl::support::file_error& e) {
    refuse("{}: {}", option, std::string_view(e.what()).substr(std::string_view("wsl: ").size()));
  }
}

stored_volume stored_numbers(std::shared_ptr<const wsl::support::file_reader> file, u64 begin,
                             const cells& size, const extent& spacing, const number_format& how) {
  if (!is_plain(size, how.order))
    return turned_numbers(std::move(file), begin, size, spacing, how,
                          slabs_of(size, app::ranks(), wsl::default_threads()));
  return {.size = size,
          .spacing = spacing,
          .read =
              [file = std::move(file), begin, size, how](const wsl::grid::lines& some, std::span<f32> to) {
                // The lines of a plane are in one piece.
                const std::size_t n =
                    static_cast<std::size_t>(some.y.size()) * static_cast<std::size_t>(size.z);
                for (int x = some.x.from; x < some.x.to; ++x)
                  read_numbers(*file, begin, size.index({x, some.y.from, 0}), how,
                               to.subspan(static_cast<std::size_t>(x - some.x.from) * n, n));
              },
          .is_plain = true};
}

}  // namespace wave_app
