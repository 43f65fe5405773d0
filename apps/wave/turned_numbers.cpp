// SPDX-License-Identifier: MIT
#include "turned_numbers.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace wave_app {
namespace {

using wsl::u64;
using wsl::grid::range;

/// The axes of a grid in the order of a file: their lengths, fastest first, and from one cell to the next
/// along each the way in an array that has z fastest, then y.
struct file_axes {
  std::array<std::size_t, 3> n{}, step{};
  std::size_t x = 0;  ///< which of them is x

  file_axes(const cells& size, const std::string& order) {
    const auto whole = [](int cells) { return static_cast<std::size_t>(cells); };
    for (std::size_t i = 0; i < 3; ++i) {
      const char axis = order[i];
      if (axis == 'x') x = i;
      n[i] = whole(axis == 'x' ? size.x : axis == 'y' ? size.y : size.z);
      step[i] = axis == 'x' ? whole(size.y) * whole(size.z) : axis == 'y' ? whole(size.z) : 1;
    }
  }
};

class turned {
 public:
  turned(std::shared_ptr<const wsl::support::file_reader> file, u64 begin, const cells& size,
         number_format how, const slabs& by)
      : file_(std::move(file)),
        begin_(begin),
        size_(size),
        how_(std::move(how)),
        by_(by),
        axes_(size, how_.order) {}

  void read(const wsl::grid::lines& some, std::span<f32> to) {
    const std::size_t nz = static_cast<std::size_t>(size_.z),
                      of_plane = nz * static_cast<std::size_t>(size_.y),
                      some_of_plane = nz * static_cast<std::size_t>(some.y.size());
    auto next = to.begin();
    for (int x = some.x.from; x < some.x.to;) {
      const int slab = x / by_.planes;
      const range planes{slab * by_.planes, std::min((slab + 1) * by_.planes, size_.x)};
      const int end = std::min(planes.to, some.x.to);
      const bool is_whole = some.y.size() == size_.y && x == planes.from && end == planes.to;
      const auto count = static_cast<std::ptrdiff_t>(some_of_plane) * (end - x);
      if (const auto kept = slab_of(slab, planes, is_whole))
        for (; x < end; ++x)
          next = std::copy_n(kept->begin() + static_cast<std::ptrdiff_t>(
                                                 static_cast<std::size_t>(x - planes.from) * of_plane +
                                                 static_cast<std::size_t>(some.y.from) * nz),
                             some_of_plane, next);
      else read_slab(planes, {next, next + count}), next += count, x = end;
    }
  }

 private:
  using numbers = std::shared_ptr<const std::vector<f32>>;
  struct kept_slab {
    int number;
    numbers of;
  };

  /// A slab that is kept, or is read now and kept instead of the one that was used longest ago. With
  /// `only_if_kept` none, if it would have to be read.
  numbers slab_of(int number, const range& planes, bool only_if_kept) {
    const std::scoped_lock now(one_at_a_time_);
    auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const kept_slab& s) { return s.number == number; });
    if (found == kept_.end()) {
      if (only_if_kept) return nullptr;
      if (std::ssize(kept_) == by_.kept) kept_.erase(kept_.begin());
      std::vector<f32> all(static_cast<std::size_t>(planes.size()) * static_cast<std::size_t>(size_.y) *
                           static_cast<std::size_t>(size_.z));
      read_slab(planes, all);
      kept_.push_back({number, std::make_shared<const std::vector<f32>>(std::move(all))});
    } else std::rotate(found, found + 1, kept_.end());
    return kept_.back().of;
  }

  /// Reads planes of x. In the file they are runs of numbers with the same distance from one to the next.
  void read_slab(const range& planes, std::span<f32> to) const {
    constexpr std::size_t bytes_at_once = std::size_t{1} << 22, short_gap = 4096;
    std::array<std::size_t, 3> n = axes_.n;
    n[axes_.x] = static_cast<std::size_t>(planes.size());
    std::size_t run = 1, distance = 1, runs = 1, before = static_cast<std::size_t>(planes.from);
    for (std::size_t i = 0; i < 3; ++i) {
      if (i < axes_.x) before *= n[i];
      if (i <= axes_.x) run *= n[i], distance *= axes_.n[i];
      else runs *= n[i];
    }
    std::size_t row = 0;  // of n[0] numbers, the next one to be placed
    const auto place = [&](std::span<const f32> some) {
      for (; !some.empty(); some = some.subspan(n[0]), ++row) {
        f32* const first = to.data() + row % n[1] * axes_.step[1] + row / n[1] * axes_.step[2];
        for (std::size_t i = 0; i < n[0]; ++i) first[i * axes_.step[0]] = some[i];
      }
    };
    const std::size_t bytes = how_.is_wide ? 8 : 4, most = bytes_at_once / bytes;
    std::vector<f32> some;
    const auto read = [&](std::size_t first, std::size_t count) {
      some.resize(count);
      read_numbers(*file_, begin_, first, how_, some);
    };
    if (distance == run) run *= runs, runs = 1;
    if (runs > 1 && distance <= most && (distance - run) * bytes <= short_gap) {
      const std::size_t at_once = most / distance;  // with what lies between them
      for (std::size_t i = 0; i < runs; i += at_once) {
        const std::size_t count = std::min(at_once, runs - i);
        read(before + i * distance, (count - 1) * distance + run);
        for (std::size_t k = 0; k < count; ++k) place(std::span(some).subspan(k * distance, run));
      }
      return;
    }
    const std::size_t at_once = std::max<std::size_t>(most / n[0], 1) * n[0];
    for (std::size_t i = 0; i < runs; ++i)
      for (std::size_t from = 0; from < run; from += at_once) {
        read(before + i * distance + from, std::min(at_once, run - from));
        place(some);
      }
  }

  std::shared_ptr<const wsl::support::file_reader> file_;
  u64 begin_;
  cells size_;
  number_format how_;
  slabs by_;
  file_axes axes_;
  std::mutex one_at_a_time_;
  std::vector<kept_slab> kept_;  ///< the one that was used last at the end
};

}  // namespace

slabs slabs_of(const cells& size, int processes, int threads) {
  constexpr int parts = 8, least_bytes = 1 << 20;
  const f64 plane = 4. * size.y * size.z;
  const int share = (size.x + processes - 1) / processes,
            least = static_cast<int>(std::min(least_bytes / plane, 1e6)),
            planes = std::clamp(std::max((share + parts - 1) / parts, least), 1, size.x),
            all = (size.x + planes - 1) / planes;
  return {planes, std::min({threads + 1, (share + planes - 1) / planes + 2, all})};
}

stored_volume turned_numbers(std::shared_ptr<const wsl::support::file_reader> file, u64 begin,
                             const cells& size, const extent& spacing, const number_format& how,
                             const slabs& by) {
  return {.size = size,
          .spacing = spacing,
          .read = [of = std::make_shared<turned>(std::move(file), begin, size, how, by)](
                      const wsl::grid::lines& some, std::span<f32> to) { of->read(some, to); },
          .bytes_kept = 4. * by.planes * by.kept * size.y * size.z};
}

}  // namespace wave_app
