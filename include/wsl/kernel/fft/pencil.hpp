// SPDX-License-Identifier: MIT
// A PE of a Fourier transform: it transforms whole lines of one axis, gives the others of its column or row
// their parts of them, and goes on with whole lines of the next axis. Backward the axes follow each other as
// n0, n1, n2, and so they do forward for complex numbers; real numbers forward begin with n2, where half of
// the spectrum is enough. After wsFFT (arXiv 2209.15040). The user's door is transform.hpp; see
// examples/85_fft.cpp.
#pragma once
#include "cut.hpp"
#include "groups.hpp"
#include "strands.hpp"

namespace wsl::fft {

enum class kind : u8 {
  complex,    ///< n0, then n1, then n2
  from_real,  ///< n2, then n1, then n0
  to_real,    ///< n0, then n1, then n2
  /// one line as (n1, n2): along n1, turned by roots of unity, along n2; the result is transposed
  turned,
};

/// What the host wants: where its arrays are, f32 by f32, and how many f32 the numbers are apart along their
/// axes.
struct job {
  kind what;
  bool inverse;  ///< real and imaginary parts are exchanged on the way in and on the way out
  f32 factor;    ///< of the result
  const f32* from;
  f32* to;
  i64 from_stride[3]{}, to_stride[3]{};
};

/// How much a PE can hold: `width` lines side by side, and room for so many f32. 0 is no limit.
struct room {
  int width = widest_lanes, strands = 4;
  int volume = 0, plane = 0, group = 0;
};

template <room r>
class pencil {
  static constexpr all_to_all<f32> along_rows{.first = 0, .among = each_row};
  static constexpr strands<r.strands> along_columns{.first = 4, .among = each_column};
  using of = group<r.width>;

 public:
  static constexpr layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<pencil>(all);
    along_rows.wire(l);
    along_columns.wire(l);
    return l;
  }

  /// The host says, once, what will be transformed. Of real numbers n2 counts the pairs plus one.
  void prepare(const cut& shape, kind what, coord at) {
    cut_ = shape, at_ = at;
    const bool real = what == kind::from_real || what == kind::to_real;
    const int n[3] = {shape.n0, shape.n1, real ? shape.n2 - 1 : shape.n2};
    for (int axis : {0, 1, 2}) lines_[axis].prepare(n[axis]);
    for (words<r.volume>* w : {&give_, &take_}) w->resize(static_cast<std::size_t>(shape.volume()));
    for (words<r.plane>* w : {&give_plane_, &take_plane_}) w->resize(static_cast<std::size_t>(shape.plane()));
    const int rounded = (shape.longest() + r.width - 1) / r.width * r.width;
    for (words<r.group>* w : {&x_, &y_}) w->resize(static_cast<std::size_t>(rounded * of::number));
    if (real) roots_of_halves(n[2]);
    if (what == kind::turned) roots_beside();
  }

  void begin(pe& me, const job& j) {
    job_ = j, plane_ = 0;
    if (j.what == kind::from_real || cut_.n0 == 1) return next_plane(me);
    along_n0_from_host();
    give_to_column(me);
  }

 private:
  // ---- one phase after the other ----------------------------------------------------------------

  void give_to_column(pe& me) {
    if (cut_.high > 1)
      return to_column_.start(me, give_.all(), take_.all(), cut_.strands(),
                              then<&pencil::column_has_given>());
    std::swap(give_, take_);
    me.activate<&pencil::column_has_given>();
  }
  void column_has_given(pe& me) {
    if (job_.what == kind::from_real) along_n0_to_host();
    else next_plane(me);
  }
  /// A plane is a number of n0: its lines of one axis, and when the row has exchanged them, its lines of the
  /// other one.
  void next_plane(pe& me) {
    if (plane_ == cut_.part0() || plane0() >= cut_.n0) return ended(me);
    if (job_.what == kind::from_real) along_n2_from_host();
    else along_n1_forth();
    if (cut_.wide > 1)
      return to_row_.start(me, mem(give_plane_.all()), mem(take_plane_.all()),
                           then<&pencil::row_has_given>());
    std::swap(give_plane_, take_plane_);
    me.activate<&pencil::row_has_given>();
  }
  void row_has_given(pe& me) {
    if (job_.what == kind::from_real) along_n1_back();
    else along_n2_to_host();
    ++plane_;
    me.activate<&pencil::next_plane>();
  }
  void ended(pe& me) {
    if (job_.what == kind::from_real && cut_.n0 > 1) give_to_column(me);
  }

  // ---- lines of n0: a part of n1, and groups along n2 -------------------------------------------

  void along_n0_from_host() {
    each_line_of_n0(
        [&](int i1, int i2, int live, const places& here) {
          of::load(x_.data(), from_host(0, i1, i2, 0, 2, live), cut_.n0, job_.inverse);
          of::deal(here, lines_[0].transform(x_.data(), y_.data()), cut_.n0);
        },
        give_.data());
  }
  void along_n0_to_host() {
    each_line_of_n0(
        [&](int i1, int i2, int live, const places& here) {
          of::gather(x_.data(), here, cut_.n0);
          store(lines_[0].transform(x_.data(), y_.data()), cut_.n0, to_host(0, i1, i2, 0, 2, live));
        },
        take_.data());
  }
  template <class F>
  void each_line_of_n0(F f, f32* box) {
    const range mine = cut::part(cut_.n1, cut_.part1(), at_.y);
    for (int i1 = mine.from; i1 < mine.to; ++i1)
      each_group(cut_.n2, cut_.lines2(), [&](int i2, int g, int live) {
        f32* first = box + (i64{i1 - mine.from} * cut_.lines2() + g) * 2;
        f(i1, i2, live, places{first, cut_.n0, 0, cut_.row0() * 2});
      });
  }

  // ---- lines of n1 in a plane: groups along n2 --------------------------------------------------

  void along_n1_forth() {
    each_group(cut_.n2, cut_.lines2(), [&](int i2, int g, int live) {
      if (cut_.n0 == 1) of::load(x_.data(), from_host(0, 0, i2, 1, 2, live), cut_.n1, job_.inverse);
      else of::gather(x_.data(), line_of_n1(take_.data(), g), cut_.n1);
      f32* done = lines_[1].transform(x_.data(), y_.data());
      if (job_.what == kind::turned) of::turn(done, cut_.n1, roots_of_group(i2), beside_.data());
      const i64 across = i64{2} * cut_.lines1();
      of::deal_turned({give_plane_.data() + g * across, cut_.lines1(), across * cut_.lines2(), across}, done,
                      cut_.n1);
    });
  }
  void along_n1_back() {
    each_group(cut_.n2, cut_.lines2(), [&](int i2, int g, int live) {
      const i64 across = i64{2} * cut_.lines2();
      of::gather(x_.data(), {take_plane_.data() + g * 2, cut_.lines1(), across * cut_.lines1(), across},
                 cut_.n1);
      f32* done = lines_[1].transform(x_.data(), y_.data());
      if (cut_.n0 == 1) store(done, cut_.n1, to_host(0, 0, i2, 1, 2, live));
      else of::deal(line_of_n1(give_.data(), g), done, cut_.n1);
    });
  }
  places line_of_n1(f32* box, int g) {
    const int round = plane_ / cut_.turn(), nth = plane_ % cut_.turn();
    const i64 block = cut_.row0() * 2 * cut_.turn();
    return {box + round * cut_.high * block + nth * cut_.row0() * 2 + g * 2, cut_.part1(), block,
            i64{2} * cut_.lines2()};
  }

  // ---- lines of n2 in a plane: groups along n1 --------------------------------------------------

  void along_n2_to_host() {
    each_group(cut_.n1, cut_.lines1(), [&](int i1, int g, int live) {
      const i64 across = i64{2} * cut_.lines1();
      of::gather(x_.data(), {take_plane_.data() + g * 2, cut_.lines2(), across * cut_.lines2(), across},
                 cut_.n2);
      const int n = lines_[2].length();
      if (job_.what == kind::to_real) of::join(x_.data(), n, halves_.data());
      store(lines_[2].transform(x_.data(), y_.data()), n,
            to_host(plane0(), i1, 0, 2, job_.to_stride[1], live));
    });
  }
  void along_n2_from_host() {
    each_group(cut_.n1, cut_.lines1(), [&](int i1, int g, int live) {
      const int n = lines_[2].length();
      of::load(x_.data(), from_host(plane0(), i1, 0, 2, job_.from_stride[1], live), n, false);
      f32* done = lines_[2].transform(x_.data(), y_.data());
      of::split(done, n, halves_.data());
      const i64 across = i64{2} * cut_.lines2();
      of::deal_turned({give_plane_.data() + g * across, cut_.lines2(), across * cut_.lines1(), across}, done,
                      cut_.n2);
    });
  }

  // ---- what they share --------------------------------------------------------------------------

  /// This PE's groups of lines side by side along an axis of n numbers: where one begins in the whole array
  /// and in the PE's part, and how many of its lines there are.
  template <class F>
  void each_group(int n, int share, F f) {
    const range mine = cut::part(n, share, at_.x);
    for (int i = mine.from; i < mine.to; i += r.width) f(i, i - mine.from, std::min(r.width, mine.to - i));
  }
  int plane0() const { return cut_.plane_of(at_.y, plane_); }
  host_lines<const f32> from_host(int i0, int i1, int i2, int axis, i64 across, int live) const {
    const i64* s = job_.from_stride;
    return {job_.from + i0 * s[0] + i1 * s[1] + i2 * s[2], s[axis], across, live};
  }
  host_lines<f32> to_host(int i0, int i1, int i2, int axis, i64 across, int live) const {
    const i64* s = job_.to_stride;
    return {job_.to + i0 * s[0] + i1 * s[1] + i2 * s[2], s[axis], across, live};
  }
  void store(f32* done, int n, const host_lines<f32>& to) {
    of::finish(done, n, job_.factor, job_.inverse);
    of::store(to, done, n);
  }

  void roots_of_halves(int h) {
    halves_.resize(static_cast<std::size_t>(2 * h + 2));
    for (int k = 0; k <= h; ++k) put_root(halves_.data() + 2 * k, k, 2 * h);
  }
  void roots_beside() {
    const i64 n = i64{cut_.n1} * cut_.n2;
    beside_.resize(static_cast<std::size_t>(cut_.n1 * of::number)),
        each_.resize(static_cast<std::size_t>(2 * cut_.n1));
    for (int k = 0; k < cut_.n1; ++k)
      for (int l = 0; l < r.width; ++l) {
        const root_of_unity w(i64{k} * l, n);
        beside_.data()[k * of::number + l] = static_cast<f32>(w.re),
                                        beside_.data()[k * of::number + r.width + l] = static_cast<f32>(w.im);
      }
  }
  const f32* roots_of_group(int i2) {
    for (int k = 0; k < cut_.n1; ++k) put_root(each_.data() + 2 * k, i64{k} * i2, i64{cut_.n1} * cut_.n2);
    return each_.data();
  }
  static void put_root(f32* to, i64 k, i64 n) {
    const root_of_unity w(k, n);
    to[0] = static_cast<f32>(w.re), to[1] = static_cast<f32>(w.im);
  }

  cut cut_{};
  coord at_{};
  job job_{};
  int plane_ = 0;
  line<r.width, r.group / (r.width ? r.width : 1)> lines_[3];
  words<r.volume> give_, take_;
  words<r.plane> give_plane_, take_plane_;
  words<r.group> x_, y_;
  // roots that transforms of real numbers and of single lines need, which run on this computer only
  words<0> halves_, beside_, each_;
  endpoint<along_rows> to_row_;
  endpoint<along_columns> to_column_;

 public:
  using tasks = task_list<launch<&pencil::begin>,
                          long_running<local<&pencil::column_has_given>, local<&pencil::row_has_given>,
                                       local<&pencil::next_plane>>,
                          use<&pencil::to_row_>, use<&pencil::to_column_>>;
};

}  // namespace wsl::fft
