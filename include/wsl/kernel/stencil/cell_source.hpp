// SPDX-License-Identifier: MIT
// Numbers of the cells of a grid, such as velocities, that are more than the memory of a process, or than it
// needs to have: each process reads those of its own cells where it needs them, from a file for instance.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../../support/bad_argument.hpp"
#include "grid.hpp"

namespace wsl::grid {

struct cell_source {
  f64 least = 0, greatest = 0;  ///< of all cells
  /// support::fingerprint_of_blocks of all cells as f32, z fastest, then y
  u64 fingerprint = 0;
  /// Gives the numbers of the cells of some lines along z: z fastest, then y. Several threads call it at the
  /// same time. An exception ends the making of a simulation, on all ranks.
  std::function<void(const lines&, std::span<f32>)> read;

  explicit operator bool() const { return static_cast<bool>(read); }
};

/// The numbers of a property are 1, size.z or size.count() in memory, or those of a source, if it is one.
inline bool is_layered(std::span<const f32> numbers, const cell_source& source, const cells& size) {
  return !source && (numbers.size() == 1 || numbers.size() == static_cast<std::size_t>(size.z));
}
/// The number of one cell. A source reads a line for it.
inline f32 number_at(std::span<const f32> numbers, const cell_source& source, const cells& size,
                     const cells& c) {
  const std::size_t z = static_cast<std::size_t>(c.z), nz = static_cast<std::size_t>(size.z);
  if (source) {
    std::vector<f32> line(nz);
    source.read({{c.x, c.x + 1}, {c.y, c.y + 1}}, line);
    return line[z];
  }
  return numbers[numbers.size() == 1 ? 0 : numbers.size() == nz ? z : size.index(c)];
}

/// Gives the lines along z of a property, one after the other, to one thread. What it reads outlives it.
class line_reader {
 public:
  /// Of lines with y in a range. Of a source it keeps so many planes: as many with neighbouring x can be in
  /// use at a time.
  line_reader(std::span<const f32> numbers, const cell_source& source, const cells& size, const range& y,
              int planes = 1)
      : numbers_(numbers), source_(source), size_(size), y_(y) {
    if (source_) planes_.resize(static_cast<std::size_t>(planes));
    else if (numbers_.size() == 1) even_.assign(line_size(), numbers_[0]);
  }

  /// The size.z numbers of a line.
  const f32* operator()(int x, int y) {
    if (source_) return plane(x) + static_cast<std::size_t>(y - y_.from) * line_size();
    if (numbers_.size() == 1) return even_.data();
    return numbers_.data() + (numbers_.size() == line_size() ? 0 : size_.index({x, y, 0}));
  }

 private:
  struct plane_of_source {
    int x = -1;
    std::vector<f32> numbers = {};
  };

  std::size_t line_size() const { return static_cast<std::size_t>(size_.z); }
  const f32* plane(int x) {
    plane_of_source& p = planes_[static_cast<std::size_t>(x) % planes_.size()];
    if (p.x != x) {
      p.x = -1;  // while it is being read
      p.numbers.resize(static_cast<std::size_t>(y_.size()) * line_size());
      source_.read({{x, x + 1}, y_}, p.numbers);
      require_range(x, p.numbers);
      p.x = x;
    }
    return p.numbers.data();
  }

  /// A source that gives other numbers than it says would spoil a run in silence.
  void require_range(int x, const std::vector<f32>& plane) const {
    const f32 least = static_cast<f32>(source_.least), greatest = static_cast<f32>(source_.greatest);
    for (std::size_t i = 0; i < plane.size(); ++i)
      if (!(plane[i] >= least && plane[i] <= greatest))
        support::bad_argument({"a source of numbers of cells gives ", std::to_string(plane[i]), " in cell (",
                               x, ", ", y_.from + static_cast<int>(i / line_size()), ", ",
                               static_cast<int>(i % line_size()), "), and its `least` and `greatest` are ",
                               std::to_string(source_.least), " and ", std::to_string(source_.greatest)});
  }

  std::span<const f32> numbers_;
  const cell_source& source_;
  cells size_;
  range y_;
  std::vector<f32> even_;
  std::vector<plane_of_source> planes_;
};

}  // namespace wsl::grid
