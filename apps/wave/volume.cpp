// SPDX-License-Identifier: MIT
#include "volume.hpp"

#include <algorithm>

namespace wave_app {

stored_volume stored(std::shared_ptr<const volume> all) {
  return {.size = all->size,
          .spacing = all->spacing,
          .read =
              [all](const wsl::grid::lines& some, std::span<f32> to) {
                auto next = to.begin();
                const std::size_t n =
                    static_cast<std::size_t>(some.y.size()) * static_cast<std::size_t>(all->size.z);
                for (int x = some.x.from; x < some.x.to; ++x)
                  next = std::copy_n(&all->numbers[all->size.index({x, some.y.from, 0})], n, next);
              },
          .is_plain = true,
          .bytes_kept = 4. * static_cast<f64>(all->numbers.size())};
}

std::vector<f32> numbers_of(const stored_volume& v) {
  std::vector<f32> all(v.size.count());
  v.read({{0, v.size.x}, {0, v.size.y}}, all);
  return all;
}

}  // namespace wave_app
