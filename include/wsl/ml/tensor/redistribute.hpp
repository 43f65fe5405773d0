// SPDX-License-Identifier: MIT
// Converts one distribution of a tensor to another, on the fabric. First the tile of each PE travels round
// the ring of its row, and every PE keeps the numbers that its column will need; then the same happens round
// the rings of the columns. All PEs know both distributions, so no index travels. If all PEs of a row, or of
// a column, already have the numbers that they need, nothing travels. See examples/93_redistribution.cpp.
#pragma once
#include <fmt/format.h>
#include "../../collective/folded_ring.hpp"
#include "tile.hpp"

namespace wsl::ml {

class redistributor {
 public:
  static constexpr folded_ring<f32> along_rows{0, folded_ring<f32>::axis::rows},
      along_columns{3, folded_ring<f32>::axis::columns};

  /// The numbers of this PE's tile, row-major: before a run under the old distribution, after it under the
  /// new.
  std::vector<f32> numbers;

  /// Launched on every PE.
  void begin(pe& me, tensor_shape shape, distribution from, distribution to) {
    const coord grid{me.width(), me.height()};
    from_ = index_map(shape, from, grid), to_ = index_map(shape, to, grid);
    phase_ = axis::x;
    start(me);
  }
  /// The next tile has come and the one before it has gone.
  void moved(pe& me) {
    me.block<&redistributor::moved>();
    packet_.swap(next_);
    ++step_;
    copy_common(goal_, gathered_, tile_before(source(me, step_)), packet_);
    shift(me);
  }

  using tasks = task_list<launch<&redistributor::begin>, local<&redistributor::moved, blocked>,
                          ring_entries<along_rows>, ring_entries<along_columns>>;

  static layout plan(int width, int height) {
    layout l{host, width, height};
    l.place<redistributor>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

 private:
  bool in_rows() const { return phase_ == axis::x; }
  int ring_length(const pe& me) const { return in_rows() ? me.width() : me.height(); }

  /// The tiles of the PE `at` before and after this phase. After the rows' phase it has the numbers of its
  /// row that its column will need.
  tile tile_before(coord at) const { return in_rows() ? tile::of(from_, at) : between(at); }
  tile tile_after(coord at) const { return in_rows() ? between(at) : tile::of(to_, at); }
  tile between(coord at) const {
    tile p;
    for (int d = 0; d < from_.shape().dimensions(); ++d) {
      const std::vector<int> had = tile::indices_of_line(from_, at, axis::x, d),
                             needed = tile::indices_of_line(to_, at, axis::y, d);
      std::set_intersection(had.begin(), had.end(), needed.begin(), needed.end(),
                            std::back_inserter(p.indices.emplace_back()));
    }
    return p;
  }

  /// Whether a PE of this row, or in the second phase of this column, lacks something. Then all take part.
  bool line_lacks_something(const pe& me) const {
    for (int k = 0; k < ring_length(me); ++k) {
      const coord at = in_rows() ? coord{k, me.y()} : coord{me.x(), k};
      if (!tile_before(at).has(tile_after(at))) return true;
    }
    return false;
  }
  void start(pe& me) {
    goal_ = tile_after(me.at());
    gathered_.assign(goal_.size(), 0);
    packet_.swap(numbers);
    step_ = 0;
    copy_common(goal_, gathered_, tile_before(me.at()), packet_);
    if (line_lacks_something(me)) shift(me);
    else finish(me);
  }
  void shift(pe& me) {
    const int n = ring_length(me), at = in_rows() ? me.x() : me.y();
    if (step_ + 1 >= n) return finish(me);
    const auto& ring = in_rows() ? along_rows : along_columns;
    next_.resize(tile_before(source(me, step_ + 1)).size());
    me.async(mov(mem(std::span(next_)), fabin(ring.in(at, n))), then<&redistributor::moved>());
    me.async(mov(fabout(ring.out(at, n)), mem(std::span(packet_))), unblocks<&redistributor::moved>());
  }
  void finish(pe& me) {
    numbers.swap(gathered_);
    if (std::exchange(phase_, axis::y) == axis::x) start(me);
  }

  /// The PE whose tile this PE holds after some steps.
  coord source(const pe& me, int steps) const {
    const int n = ring_length(me), place = along_rows.place(in_rows() ? me.x() : me.y(), n);
    const int before = ((place - steps) % n + n) % n;
    const int at = along_rows.pe_at(before, n);
    return in_rows() ? coord{at, me.y()} : coord{me.x(), at};
  }

  index_map from_, to_;
  int step_ = 0;
  axis phase_ = axis::x;
  tile goal_;
  std::vector<f32> packet_, next_, gathered_;
};

/// A tensor on a rectangle of PEs, whose distribution can change.
class distributed_tensor {
 public:
  /// On width x height PEs. With 0 threads: WSL_THREADS, or one a core.
  distributed_tensor(const tensor_shape& shape, int width, int height, int threads = 0)
      : now_(shape, distribution{}, {width, height}),
        fabric_(redistributor::plan(width, height),
                threaded{.threads = threads, .pes_per_partition = static_cast<u32>(width)}) {}

  /// Copies the numbers of the whole tensor, row-major, from the host to the PEs. Throws
  /// std::invalid_argument for a wrong number of them, and for a distribution that cuts a dimension which the
  /// tensor does not have.
  void load(std::span<const f32> numbers, const distribution& how) {
    if (static_cast<i64>(numbers.size()) != now_.shape().size())
      throw std::invalid_argument(
          fmt::format("wsl: a tensor of {} numbers is loaded with {}", now_.shape().size(), numbers.size()));
    now_ = index_map(now_.shape(), how, now_.grid());
    const tile all = tile::whole(now_.shape());
    each([&](const tile& t, std::vector<f32>& here) {
      here.resize(t.size());
      copy_common(t, here, all, numbers);
    });
  }
  /// Changes the distribution, on the fabric. Throws std::invalid_argument as `load` does.
  outcome redistribute(const distribution& how) {
    const index_map after(now_.shape(), how, now_.grid());
    const outcome done = fabric_.launch<&redistributor::begin>(all, now_.shape(), now_.how(), how);
    now_ = after;
    return done;
  }
  /// The numbers of the whole tensor, copied from the PEs to the host.
  std::vector<f32> whole() {
    std::vector<f32> numbers(static_cast<std::size_t>(now_.shape().size()));
    const tile all = tile::whole(now_.shape());
    each([&](const tile& t, std::vector<f32>& here) { copy_common(all, numbers, t, here); });
    return numbers;
  }
  /// The distribution as it is now.
  const index_map& now() const { return now_; }
  /// The tile of one PE, and its numbers.
  tile tile_at(coord at) const { return tile::of(now_, at); }
  const std::vector<f32>& numbers_at(coord at) { return fabric_.program_at<redistributor>(at).numbers; }

 private:
  template <class F>
  void each(F f) {
    for (int y = 0; y < now_.grid().y; ++y)
      for (int x = 0; x < now_.grid().x; ++x)
        f(tile_at({x, y}), fabric_.program_at<redistributor>({x, y}).numbers);
  }
  index_map now_;
  fabric fabric_;
};

}  // namespace wsl::ml
