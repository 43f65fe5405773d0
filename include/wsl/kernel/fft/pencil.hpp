// SPDX-License-Identifier: MIT
// The PE program of a Fourier transform (pencil decomposition, after wsFFT, arXiv 2209.15040): it transforms
// whole lines of one axis, exchanges parts of them with the PEs of its column or row, and continues with
// whole lines of the next axis. Complex transforms and inverse real ones treat the axes in the order n0, n1,
// n2. Forward real transforms begin with n2, where half of the spectrum is enough. The front end is
// transform.hpp; see examples/85_fft.cpp.
#pragma once
#include "decomposition.hpp"
#include "groups.hpp"
#include "split_all_to_all.hpp"

namespace wsl::fft {

enum class kind : u8 {
  complex,    ///< n0, then n1, then n2
  from_real,  ///< n2, then n1, then n0
  to_real,    ///< n0, then n1, then n2
  /// one line as (n1, n2), the four-step algorithm (Bailey 1990): along n1, twiddle factors, along n2; the
  /// result is transposed
  four_step,
};

/// The arguments of a launch: the arrays of the host, and the strides of their axes in real numbers.
template <class T>
struct job {
  kind what;
  bool inverse;  ///< real and imaginary parts are exchanged on the way in and on the way out
  T factor;      ///< the factor of the result
  const T* from;
  T* to;
  i64 from_stride[3]{}, to_stride[3]{};
};

/// The memory of a PE: `width` lines side by side, and the real numbers of each buffer. 0 is no limit.
struct capacity {
  int width = widest_lanes, parts = 4;
  int volume = 0, plane = 0, group = 0;
};

template <capacity r, class T = f32>
class pencil {
  static constexpr all_to_all<f32> along_rows{.first = 0, .among = each_row};
  static constexpr split_all_to_all<r.parts> along_columns{.first = 4, .among = each_column};
  using of = group<r.width, T>;

 public:
  static constexpr layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<pencil>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

  /// The time on a wafer of one phase with a line of n numbers: its transform, and two copies.
  static constexpr u64 phase_cycles(const machine& m, int n) {
    return line_cycles(m, n) + kernel::vector_work(m).sums(2, i64{2} * n).cycles();
  }

  /// The host describes, once, the transform. For real numbers n2 counts those of the spectrum, and `length`
  /// those of a line: an even number of them is transformed as half as many complex ones, and two lines of an
  /// odd number as one complex line.
  void prepare(const decomposition& shape, kind what, coord at, int length) {
    decomposition_ = shape, at_ = at;
    const bool real = what == kind::from_real || what == kind::to_real;
    is_odd_ = real && length % 2 == 1;
    const int n[3] = {shape.n0, shape.n1, !real ? shape.n2 : is_odd_ ? length : length / 2};
    int room = shape.n2;
    for (int axis : {0, 1, 2}) {
      lines_[axis].prepare(axis < shape.batched ? 1 : n[axis]);
      room = std::max(room, lines_[axis].room());
    }
    for (buffer<r.volume, T>* w : {&give_, &take_}) w->resize(static_cast<std::size_t>(shape.volume()));
    for (buffer<r.plane, T>* w : {&give_plane_, &take_plane_})
      w->resize(static_cast<std::size_t>(shape.plane()));
    const i64 rounded = (room + r.width - 1) / r.width * r.width;
    for (buffer<r.group, T>* w : {&x_, &y_}) w->resize(static_cast<std::size_t>(rounded * of::number));
    if (real && !is_odd_) prepare_half_roots(n[2]);
    if (what == kind::four_step) prepare_twiddles();
  }

  void begin(pe& me, const job<T>& j) {
    job_ = j, plane_ = 0;
    if (decomposition_.batched == 2) return along_n2_only();
    if (j.what == kind::from_real || decomposition_.flat()) return next_plane(me);
    along_n0_from_host();
    charge(me, 0, decomposition_.part1() * decomposition_.lines2());
    give_to_column(me);
  }

 private:
  // ---- one phase after the other ----------------------------------------------------------------

  void give_to_column(pe& me) {
    if (decomposition_.high > 1)
      return to_column_.start(me, give_.words(), take_.words(), decomposition_.parts(),
                              then<&pencil::column_has_given>());
    std::swap(give_, take_);
    me.activate<&pencil::column_has_given>();
  }
  void column_has_given(pe& me) {
    if (job_.what == kind::from_real) {
      along_n0_to_host();
      charge(me, 0, decomposition_.part1() * decomposition_.lines2());
    } else next_plane(me);
  }
  /// A plane belongs to one element of n0: its lines of one axis, and after the row's exchange its lines of
  /// the other one.
  void next_plane(pe& me) {
    if (plane_ == decomposition_.part0() || plane0() >= decomposition_.n0) return ended(me);
    if (job_.what == kind::from_real) along_n2_from_host();
    else along_n1_forth();
    if (job_.what == kind::from_real) charge(me, 2, decomposition_.lines1());
    else charge(me, 1, decomposition_.lines2());
    if (decomposition_.wide > 1)
      return to_row_.start(me, mem(give_plane_.words()), mem(take_plane_.words()),
                           then<&pencil::row_has_given>());
    std::swap(give_plane_, take_plane_);
    me.activate<&pencil::row_has_given>();
  }
  void row_has_given(pe& me) {
    if (job_.what == kind::from_real) along_n1_back();
    else along_n2_to_host();
    if (job_.what == kind::from_real) charge(me, 1, decomposition_.lines2());
    else charge(me, 2, decomposition_.lines1());
    ++plane_;
    me.activate<&pencil::next_plane>();
  }
  void ended(pe& me) {
    if (job_.what == kind::from_real && !decomposition_.flat()) give_to_column(me);
  }

  // ---- lines of n0: a part of n1, and groups along n2 -------------------------------------------

  void along_n0_from_host() {
    each_line_of_n0(
        [&](int i1, int i2, int live, const places<T>& here) {
          of::load(x_.data(), from_host(0, i1, i2, 0, 2, live), decomposition_.n0, job_.inverse);
          of::scatter(here, lines_[0].transform(x_.data(), y_.data()), decomposition_.n0);
        },
        give_.data());
  }
  void along_n0_to_host() {
    each_line_of_n0(
        [&](int i1, int i2, int live, const places<T>& here) {
          of::gather(x_.data(), here, decomposition_.n0);
          store(lines_[0].transform(x_.data(), y_.data()), decomposition_.n0, to_host(0, i1, i2, 0, 2, live));
        },
        take_.data());
  }
  template <class F>
  void each_line_of_n0(F f, T* box) {
    const range mine = decomposition::part(decomposition_.n1, decomposition_.part1(), at_.y);
    for (int i1 = mine.from; i1 < mine.to; ++i1)
      each_group(decomposition_.n2, decomposition_.lines2(), [&](int i2, int g, int live) {
        T* first = box + (i64{i1 - mine.from} * decomposition_.lines2() + g) * 2;
        f(i1, i2, live, places<T>{first, decomposition_.n0, 0, decomposition_.row0() * 2});
      });
  }

  // ---- lines of n1 in a plane: groups along n2 --------------------------------------------------

  void along_n1_forth() {
    each_group(decomposition_.n2, decomposition_.lines2(), [&](int i2, int g, int live) {
      if (decomposition_.flat())
        of::load(x_.data(), from_host(plane0(), 0, i2, 1, 2, live), decomposition_.n1, job_.inverse);
      else of::gather(x_.data(), line_of_n1(take_.data(), g), decomposition_.n1);
      T* done = lines_[1].transform(x_.data(), y_.data());
      if (job_.what == kind::four_step)
        of::twiddle(done, decomposition_.n1, twiddles_of_group(i2), twiddles_of_lines_.data());
      const i64 across = i64{2} * decomposition_.lines1();
      of::scatter_transposed({give_plane_.data() + g * across, decomposition_.lines1(),
                              across * decomposition_.lines2(), across},
                             done, decomposition_.n1);
    });
  }
  void along_n1_back() {
    each_group(decomposition_.n2, decomposition_.lines2(), [&](int i2, int g, int live) {
      const i64 across = i64{2} * decomposition_.lines2();
      of::gather(
          x_.data(),
          {take_plane_.data() + g * 2, decomposition_.lines1(), across * decomposition_.lines1(), across},
          decomposition_.n1);
      T* done = lines_[1].transform(x_.data(), y_.data());
      if (decomposition_.flat()) store(done, decomposition_.n1, to_host(plane0(), 0, i2, 1, 2, live));
      else of::scatter(line_of_n1(give_.data(), g), done, decomposition_.n1);
    });
  }
  places<T> line_of_n1(T* box, int g) {
    const int round = plane_ / decomposition_.turn(), nth = plane_ % decomposition_.turn();
    const i64 block = decomposition_.row0() * 2 * decomposition_.turn();
    return {box + round * decomposition_.high * block + nth * decomposition_.row0() * 2 + g * 2,
            decomposition_.part1(), block, i64{2} * decomposition_.lines2()};
  }

  // ---- lines of n2 in a plane: groups along n1 --------------------------------------------------

  void along_n2_to_host() {
    if (job_.what == kind::to_real && is_odd_)
      return each_two_groups([&](int i1, int g, int live, int live_b) {
        gather_n2(x_.data(), g);
        if (live_b > 0) gather_n2(y_.data(), g + r.width);
        store_two(i1, live, live_b);
      });
    each_group(decomposition_.n1, decomposition_.lines1(), [&](int i1, int g, int live) {
      gather_n2(x_.data(), g);
      const int n = lines_[2].length();
      if (job_.what == kind::to_real) of::join(x_.data(), n, half_roots_.data());
      store(lines_[2].transform(x_.data(), y_.data()), n,
            to_host(plane0(), i1, 0, 2, job_.to_stride[1], live));
    });
  }
  void along_n2_from_host() {
    if (is_odd_)
      return each_two_groups([&](int i1, int g, int live, int live_b) {
        const auto [a, b] = load_two(i1, live, live_b);
        scatter_n2(a, g);
        if (live_b > 0) scatter_n2(b, g + r.width);
      });
    each_group(decomposition_.n1, decomposition_.lines1(), [&](int i1, int g, int live) {
      const int n = lines_[2].length();
      of::load(x_.data(), from_host(plane0(), i1, 0, 2, job_.from_stride[1], live), n, false);
      T* done = lines_[2].transform(x_.data(), y_.data());
      of::split(done, n, half_roots_.data());
      scatter_n2(done, g);
    });
  }
  void gather_n2(T* x, int g) {
    const i64 across = i64{2} * decomposition_.lines1();
    of::gather(
        x, {take_plane_.data() + g * 2, decomposition_.lines2(), across * decomposition_.lines2(), across},
        decomposition_.n2);
  }
  void scatter_n2(const T* x, int g) {
    const i64 across = i64{2} * decomposition_.lines2();
    of::scatter_transposed(
        {give_plane_.data() + g * across, decomposition_.lines2(), across * decomposition_.lines1(), across},
        x, decomposition_.n2);
  }

  // ---- lines of an odd number of real numbers, two groups of them as one complex group -----------

  /// Calls f for this PE's lines along n2: where they begin in the array and in the PE's part, and how many
  /// lines the first group and the second one have.
  template <class F>
  void each_two_groups(F f) {
    const range mine = decomposition::part(decomposition_.n1, decomposition_.lines1(), at_.x);
    const int step = r.width * decomposition_.together;
    for (int i = mine.from; i < mine.to; i += step) {
      const int live = std::min(step, mine.to - i);
      f(i, i - mine.from, std::min(live, r.width), std::max(live - r.width, 0));
    }
  }
  /// The spectra of lines i1, i1 + 1, and so on of the host: of the first group, and of the second one.
  std::pair<T*, T*> load_two(int i1, int live, int live_b) {
    const int n = lines_[2].length();
    const i64 across = job_.from_stride[1];
    const host_lines<const T> lines = from_host(batched_plane(), i1, 0, 2, across, live);
    of::load_real(x_.data(), false, lines, n);
    of::load_real(x_.data(), true, {live_b > 0 ? lines.first + r.width * across : nullptr, 1, across, live_b},
                  n);
    T* done = lines_[2].transform(x_.data(), y_.data());
    T* const other = done == x_.data() ? y_.data() : x_.data();
    of::unravel(done, other, n);
    return {other, done};
  }
  /// The way back, from spectra at x_ and y_, of which the second may have no lines.
  void store_two(int i1, int live, int live_b) {
    const int n = lines_[2].length();
    if (live_b == 0) std::fill_n(y_.data(), decomposition_.n2 * of::number, T{0});
    of::ravel(x_.data(), y_.data(), n);
    const T* done = lines_[2].transform(x_.data(), y_.data());
    const i64 across = job_.to_stride[1];
    const host_lines<T> lines = to_host(batched_plane(), i1, 0, 2, across, live);
    // real and imaginary parts are still exchanged
    of::store_real(lines, done, true, n, job_.factor);
    if (live_b > 0)
      of::store_real({lines.first + r.width * across, 1, across, live_b}, done, false, n, job_.factor);
  }
  int batched_plane() const { return decomposition_.batched == 2 ? 0 : plane0(); }

  // ---- lines of n2 alone, of a batch ------------------------------------------------------------

  void along_n2_only() {
    if (is_odd_)
      return each_two_groups([&](int i1, int, int live, int live_b) {
        if (job_.what == kind::to_real) {
          of::load(x_.data(), from_host(0, i1, 0, 2, job_.from_stride[1], live), decomposition_.n2, true);
          return store_two(i1, live, live_b);
        }
        store(load_two(i1, live, live_b).first, decomposition_.n2,
              to_host(0, i1, 0, 2, job_.to_stride[1], live));
      });
    each_group(decomposition_.n1, decomposition_.lines1(), [&](int i1, int, int live) {
      const int n = lines_[2].length();
      const int loaded = job_.what == kind::to_real ? n + 1 : n;
      of::load(x_.data(), from_host(0, i1, 0, 2, job_.from_stride[1], live), loaded, job_.inverse);
      if (job_.what == kind::to_real) of::join(x_.data(), n, half_roots_.data());
      T* done = lines_[2].transform(x_.data(), y_.data());
      if (job_.what == kind::from_real) of::split(done, n, half_roots_.data());
      store(done, job_.what == kind::from_real ? n + 1 : n, to_host(0, i1, 0, 2, job_.to_stride[1], live));
    });
  }

  // ---- what they share --------------------------------------------------------------------------

  /// Calls f for each of this PE's groups of lines along an axis of n elements: where it begins in the
  /// whole array and in the PE's part, and how many lines it has.
  template <class F>
  void each_group(int n, int share, F f) {
    const range mine = decomposition::part(n, share, at_.x);
    for (int i = mine.from; i < mine.to; i += r.width) f(i, i - mine.from, std::min(r.width, mine.to - i));
  }
  /// The time on a wafer of a PE's lines along an axis: they are gathered, transformed and put into blocks.
  void charge(pe& me, int axis, int lines) {
    if constexpr (r.volume > 0)
      me.spend(static_cast<u64>(lines) * phase_cycles(me.machine(), lines_[axis].length()));
  }
  int plane0() const { return decomposition_.plane_of(at_.y, plane_); }
  host_lines<const T> from_host(int i0, int i1, int i2, int axis, i64 across, int live) const {
    const i64* s = job_.from_stride;
    return {job_.from + i0 * s[0] + i1 * s[1] + i2 * s[2], s[axis], across, live};
  }
  host_lines<T> to_host(int i0, int i1, int i2, int axis, i64 across, int live) const {
    const i64* s = job_.to_stride;
    return {job_.to + i0 * s[0] + i1 * s[1] + i2 * s[2], s[axis], across, live};
  }
  void store(T* done, int n, const host_lines<T>& to) {
    of::finish(done, n, job_.factor, job_.inverse);
    of::store(to, done, n);
  }

  void prepare_half_roots(int h) {
    half_roots_.resize(static_cast<std::size_t>(2 * h + 2));
    for (int k = 0; k <= h; ++k) root_of_unity(k, 2 * i64{h}).put(half_roots_.data() + 2 * k);
  }
  void prepare_twiddles() {
    const i64 n = i64{decomposition_.n1} * decomposition_.n2;
    twiddles_of_lines_.resize(static_cast<std::size_t>(decomposition_.n1 * of::number)),
        twiddles_of_numbers_.resize(static_cast<std::size_t>(2 * decomposition_.n1));
    for (int k = 0; k < decomposition_.n1; ++k)
      for (int l = 0; l < r.width; ++l) {
        const root_of_unity w(i64{k} * l, n);
        T* at = twiddles_of_lines_.data() + k * of::number + l;
        at[0] = static_cast<T>(w.re), at[r.width] = static_cast<T>(w.im);
      }
  }
  const T* twiddles_of_group(int i2) {
    const i64 n = i64{decomposition_.n1} * decomposition_.n2;
    for (int k = 0; k < decomposition_.n1; ++k)
      root_of_unity(i64{k} * i2, n).put(twiddles_of_numbers_.data() + 2 * k);
    return twiddles_of_numbers_.data();
  }

  decomposition decomposition_{};
  coord at_{};
  job<T> job_{};
  int plane_ = 0;
  bool is_odd_ = false;  ///< lines along n2 have an odd number of real numbers
  line<r.width, r.group / (r.width ? r.width : 1), T> lines_[3];
  buffer<r.volume, T> give_, take_;
  buffer<r.plane, T> give_plane_, take_plane_;
  buffer<r.group, T> x_, y_;
  // roots that transforms of real numbers and of single lines need, which run on this computer only
  buffer<0, T> half_roots_, twiddles_of_lines_, twiddles_of_numbers_;
  endpoint<along_rows> to_row_;
  endpoint<along_columns> to_column_;

 public:
  using tasks = task_list<launch<&pencil::begin>,
                          long_running<local<&pencil::column_has_given>, local<&pencil::row_has_given>,
                                       local<&pencil::next_plane>>,
                          use<&pencil::to_row_>, use<&pencil::to_column_>>;
};

}  // namespace wsl::fft
