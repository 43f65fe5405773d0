// SPDX-License-Identifier: MIT
// From one cut of a tensor to another, on the fabric: what each PE has travels round the ring of its row, and
// who passes it on keeps what its column will need; then the same round the rings of the columns. Both ends
// know the cuts, so no index travels. Where all PEs of a row, or of a column, have what they need, nothing
// does. See examples/93_cuts.cpp.
#pragma once
#include "../../kernel/gemm/folded_ring.hpp"
#include "patch.hpp"

namespace wsl::ml {

class redistributor {
 public:
  static constexpr folded_ring<f32> along_rows{0, folded_ring<f32>::axis::rows},
      along_columns{3, folded_ring<f32>::axis::columns};

  /// What this PE has: before a run under the old cut, after it under the new one; its patch, row-major.
  std::vector<f32> numbers;

  /// The host calls this on every PE.
  void begin(pe& me, tensor_shape shape, cut from, cut to) {
    const coord grid{me.width(), me.height()};
    from_ = placement(shape, from, grid), to_ = placement(shape, to, grid);
    phase_ = axis::x;
    start(me);
  }
  /// A packet has come and the one before has gone.
  void moved(pe& me) {
    me.block<&redistributor::moved>();
    packet_.swap(next_);
    ++step_;
    copy_common(goal_, gathered_, patch_before(source(me, step_)), packet_);
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

  /// What the PE at `at` has before this phase, and after it. After the rows it has what its row had and its
  /// column will need.
  patch patch_before(coord at) const { return in_rows() ? patch::of(from_, at) : between(at); }
  patch patch_after(coord at) const { return in_rows() ? between(at) : patch::of(to_, at); }
  patch between(coord at) const {
    patch p;
    for (int d = 0; d < from_.shape().dimensions(); ++d) {
      const std::vector<int> had = patch::indices_of_line(from_, at, axis::x, d),
                             needed = patch::indices_of_line(to_, at, axis::y, d);
      std::set_intersection(had.begin(), had.end(), needed.begin(), needed.end(),
                            std::back_inserter(p.indices.emplace_back()));
    }
    return p;
  }

  /// Whether any PE of this row, or then of this column, does not have all that it is to have: then all take
  /// part.
  bool line_lacks_something(const pe& me) const {
    for (int k = 0; k < ring_length(me); ++k) {
      const coord at = in_rows() ? coord{k, me.y()} : coord{me.x(), k};
      if (!patch_before(at).has(patch_after(at))) return true;
    }
    return false;
  }
  void start(pe& me) {
    goal_ = patch_after(me.at());
    gathered_.assign(goal_.size(), 0);
    packet_.swap(numbers);
    step_ = 0;
    copy_common(goal_, gathered_, patch_before(me.at()), packet_);
    if (line_lacks_something(me)) shift(me);
    else finish(me);
  }
  void shift(pe& me) {
    const int n = ring_length(me), at = in_rows() ? me.x() : me.y();
    if (step_ + 1 >= n) return finish(me);
    const auto& ring = in_rows() ? along_rows : along_columns;
    next_.resize(patch_before(source(me, step_ + 1)).size());
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

  placement from_, to_;
  int step_ = 0;
  axis phase_ = axis::x;
  patch goal_;
  std::vector<f32> packet_, next_, gathered_;
};

/// A tensor on a rectangle of PEs under a cut, which can change.
class cut_tensor {
 public:
  /// With `width` x `height` PEs; 0 threads: WSL_THREADS, or one a core.
  cut_tensor(const tensor_shape& shape, int width, int height, int threads = 0)
      : now_(shape, cut{}, {width, height}),
        fabric_(redistributor::plan(width, height),
                threaded{.threads = threads, .pes_per_partition = static_cast<u32>(width)}) {}

  /// From the host to the PEs under a cut; the numbers of the whole, row-major. Throws std::invalid_argument
  /// for another number of them, and for a cut of a dimension that the tensor does not have.
  void load(std::span<const f32> numbers, const cut& how) {
    if (static_cast<i64>(numbers.size()) != now_.shape().size())
      throw std::invalid_argument("wsl: a tensor of " + std::to_string(now_.shape().size()) +
                                  " numbers is loaded with " + std::to_string(numbers.size()));
    now_ = placement(now_.shape(), how, now_.grid());
    const patch all = patch::whole(now_.shape());
    each([&](const patch& p, std::vector<f32>& here) {
      here.resize(p.size());
      copy_common(p, here, all, numbers);
    });
  }
  /// To another cut, on the fabric. Throws std::invalid_argument as `load`.
  outcome recut(const cut& how) {
    const placement after(now_.shape(), how, now_.grid());
    const outcome done = fabric_.launch<&redistributor::begin>(all, now_.shape(), now_.how(), how);
    now_ = after;
    return done;
  }
  /// From the PEs to the host: the numbers of the whole.
  std::vector<f32> whole() {
    std::vector<f32> numbers(static_cast<std::size_t>(now_.shape().size()));
    const patch all = patch::whole(now_.shape());
    each([&](const patch& p, std::vector<f32>& here) { copy_common(all, numbers, p, here); });
    return numbers;
  }
  const placement& now() const { return now_; }
  /// What one PE has, and its numbers.
  patch patch_at(coord at) const { return patch::of(now_, at); }
  const std::vector<f32>& numbers_at(coord at) { return fabric_.program_at<redistributor>(at).numbers; }

 private:
  template <class F>
  void each(F f) {
    for (int y = 0; y < now_.grid().y; ++y)
      for (int x = 0; x < now_.grid().x; ++x)
        f(patch_at({x, y}), fabric_.program_at<redistributor>({x, y}).numbers);
  }
  placement now_;
  fabric fabric_;
};

}  // namespace wsl::ml
