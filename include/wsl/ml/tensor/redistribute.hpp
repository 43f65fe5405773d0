// SPDX-License-Identifier: MIT
// From one cut of a matrix to another, on the fabric: what each PE has travels round the ring of its row, and who passes it on
// keeps what its column will need; then the same round the rings of the columns. Both ends know the cuts, so no index travels. A matrix whose
// old cut does not use an axis does not travel along it.
#pragma once
#include <algorithm>
#include <iterator>
#include <vector>

#include "../../kernel/folded_ring.hpp"
#include "../../kernel/matrix.hpp"
#include "cut.hpp"

namespace wsl::ml {

/// Some rows crossed with some columns of the whole, by number and in order.
struct patch {
  std::vector<int> rows, columns;

  std::size_t size() const { return rows.size() * columns.size(); }

  /// What the PE at `at` has under a cut of a (rows, columns) matrix.
  static patch of(const cut& c, int rows, int columns, coord at, coord grid) {
    return {indices(c, dimension::rows, rows, at, grid), indices(c, dimension::columns, columns, at, grid)};
  }
  static std::vector<int> indices(const cut& c, dimension d, int length, coord at, coord grid) {
    const partition p = c.of(d, length, grid);
    std::vector<int> all(static_cast<std::size_t>(p.size(c.part(d, at))));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = p.global(c.part(d, at), static_cast<int>(i));
    return all;
  }
};

/// Copies to `to`, the numbers of a patch, those that `from`, the numbers of another, has.
inline void copy_common(const patch& mine, std::span<f32> to, const patch& theirs, std::span<const f32> from) {
  const auto common = [](const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<std::pair<std::size_t, std::size_t>> both;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i] < b[j] ? ++i : b[j] < a[i] ? ++j : (both.emplace_back(i, j), ++i, ++j)) {}
    return both;
  };
  const auto columns = common(mine.columns, theirs.columns);
  for (auto [i, other] : common(mine.rows, theirs.rows))
    for (auto [j, there] : columns) to[i * mine.columns.size() + j] = from[other * theirs.columns.size() + there];
}

class redistributor {
 public:
  static constexpr folded_ring<f32> along_rows{0, folded_ring<f32>::axis::rows}, along_columns{3, folded_ring<f32>::axis::columns};

  /// What this PE has: before a run under the old cut, after it under the new one; its patch, row-major.
  std::vector<f32> numbers;

  /// The host calls this on every PE with a (rows, columns) matrix.
  void begin(pe& me, cut from, cut to, int rows, int columns) {
    from_ = from, to_ = to, rows_ = rows, columns_ = columns;
    phase_ = axis::x;
    start(me);
  }
  /// A packet has come and the one before has gone.
  void moved(pe& me) {
    me.block<&redistributor::moved>();
    packet_.swap(next_);
    ++step_;
    copy_common(goal_, gathered_, patch_before(me, source(me, step_)), packet_);
    shift(me);
  }

  static consteval auto tasks() {
    return table(launch<&redistributor::begin>(), local<&redistributor::moved>(blocked), ring_entries<along_rows>(), ring_entries<along_columns>());
  }

  static layout plan(int width, int height) {
    layout l{host, width, height};
    l.place(all, program_v<redistributor>);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

 private:
  static coord grid(const pe& me) { return {me.width(), me.height()}; }
  bool in_rows() const { return phase_ == axis::x; }
  int ring_length(const pe& me) const { return in_rows() ? me.width() : me.height(); }

  /// What the PE at `at` has before this phase, and after it. After the rows it has what its row had and its column will need.
  patch patch_before(const pe& me, coord at) const {
    return in_rows() ? patch::of(from_, rows_, columns_, at, grid(me)) : between(me, at);
  }
  patch patch_after(const pe& me, coord at) const {
    return in_rows() ? between(me, at) : patch::of(to_, rows_, columns_, at, grid(me));
  }
  patch between(const pe& me, coord at) const {
    const auto along = [&](dimension d, int length) {
      const bool had = from_.of(d) == axis::y, needed = to_.of(d) == axis::x;
      const std::vector<int> row = patch::indices(had ? from_ : cut{}, d, length, at, grid(me)), column = patch::indices(needed ? to_ : cut{}, d, length, at, grid(me));
      std::vector<int> both;
      std::set_intersection(row.begin(), row.end(), column.begin(), column.end(), std::back_inserter(both));
      return both;
    };
    return {along(dimension::rows, rows_), along(dimension::columns, columns_)};
  }

  void start(pe& me) {
    goal_ = patch_after(me, me.at());
    gathered_.assign(goal_.size(), 0);
    packet_.swap(numbers);
    step_ = 0;
    copy_common(goal_, gathered_, patch_before(me, me.at()), packet_);
    if (from_.cuts_along(phase_)) shift(me);
    else finish(me);
  }
  void shift(pe& me) {
    const int n = ring_length(me), at = in_rows() ? me.x() : me.y();
    if (step_ + 1 >= n) return finish(me);
    const auto& ring = in_rows() ? along_rows : along_columns;
    next_.resize(patch_before(me, source(me, step_ + 1)).size());
    me.async(mov(mem(std::span(next_)), fabin(ring.in(at, n))), then<&redistributor::moved>());
    me.async(mov(fabout(ring.out(at, n)), mem(std::span(packet_))), unblocks<&redistributor::moved>());
  }
  void finish(pe& me) {
    numbers.swap(gathered_);
    if (std::exchange(phase_, axis::y) == axis::x) start(me);
  }

  /// Whose packet this PE holds after some steps.
  coord source(const pe& me, int steps) const {
    const int n = ring_length(me), place = along_rows.place(in_rows() ? me.x() : me.y(), n);
    const int before = ((place - steps) % n + n) % n;
    const int at = 2 * before < n ? 2 * before : 2 * (n - before) - 1;  // the PE at that place of the ring
    return in_rows() ? coord{at, me.y()} : coord{me.x(), at};
  }

  cut from_, to_;
  int rows_ = 0, columns_ = 0, step_ = 0;
  axis phase_ = axis::x;
  patch goal_;
  std::vector<f32> packet_, next_, gathered_;
};

/// A matrix on a rectangle of PEs under a cut, which can change.
class cut_matrix {
 public:
  cut_matrix(int rows, int columns, int width, int height, int threads = 0)
      : rows_(rows), columns_(columns), grid_{width, height},
        fabric_(redistributor::plan(width, height), threaded{.threads = threads, .pes_per_band = static_cast<u32>(width)}) {}

  /// From the host to the PEs under a cut.
  void load(const matrix<const f32>& whole, const cut& how) {
    now_ = how;
    each([&](const patch& p, std::vector<f32>& numbers) {
      numbers.clear();
      for (int i : p.rows)
        for (int j : p.columns) numbers.push_back(whole(i, j));
    });
  }
  /// To another cut, on the fabric.
  outcome recut(const cut& how) {
    const outcome done = fabric_.launch<&redistributor::begin>(all, now_, how, rows_, columns_);
    now_ = how;
    return done;
  }
  /// What one PE has, row-major, and where it stands in the whole.
  patch patch_of(coord at) const { return patch::of(now_, rows_, columns_, at, grid_); }
  const std::vector<f32>& numbers_at(coord at) { return fabric_.program_at<redistributor>(at).numbers; }

 private:
  template <class F>
  void each(F f) {
    for (int y = 0; y < grid_.y; ++y)
      for (int x = 0; x < grid_.x; ++x) f(patch_of({x, y}), fabric_.program_at<redistributor>({x, y}).numbers);
  }
  int rows_, columns_;
  coord grid_;
  cut now_;
  fabric fabric_;
};

}  // namespace wsl::ml
