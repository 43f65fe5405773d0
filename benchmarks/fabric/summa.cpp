// SPDX-License-Identifier: MIT
// C = A B on 32 x 32 PEs with tiles of 14 x 14: in step k the PEs of column k send their tile of A along
// their rows, those of row k their tile of B along their columns, and every PE adds the product of the two to
// its tile of C, a column times a number at a time, in the order of the vendor's gemm-collectives_2d. Each
// step has colors of its own, so that no two senders meet.
#include <utility>
#include <vector>

#include "measure.hpp"

namespace {
using namespace wsl;

constexpr int P = 32, N = 14, size = P * N;

constexpr color<f32> along_row(int step) { return {step}; }
constexpr color<f32> along_column(int step) { return {P + step}; }

struct tile {
  f32 A[N * N]{}, B[N * N]{}, C[N * N]{};  // column-major: column j starts at j * N
  f32 a[N * N]{}, b[N * N]{};              // those of this step
  int step = 0;

  void start(pe& me) {
    mov(mem(C), 0);
    step = 0;
    exchange(me);
  }

  // `multiply` is activated by a and unblocked by b.
  void exchange(pe& me) {
    const color<f32> row = along_row(step), column = along_column(step);
    if (me.x() == step) {
      mov(mem(a), mem(A));
      me.async(mov(fabout(row), mem(A)));
      me.activate<&tile::multiply>();
    } else {
      me.async(mov(mem(a), fabin(row)), then<&tile::multiply>());
    }
    if (me.y() == step) {
      mov(mem(b), mem(B));
      me.async(mov(fabout(column), mem(B)));
      me.unblock<&tile::multiply>();
    } else {
      me.async(mov(mem(b), fabin(column)), unblocks<&tile::multiply>());
    }
  }

  void multiply(pe& me) {
    me.block<&tile::multiply>();
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j)
        fmac(mem(C).part(j * N, N), mem(C).part(j * N, N), mem(a).part(k * N, N), b[j * N + k]);
    if (++step < P) exchange(me);
  }

  template <int step>
  using broadcasts =
      task_list<sends<along_row(step), along_column(step)>, reads<along_row(step), along_column(step)>>;
  using tasks = task_list<launch<&tile::start>, local<&tile::multiply, blocked>, numbered<P, broadcasts>>;
};

layout grid() {
  layout l{host, P, P};
  l.place<tile>(all);
  for (int k = 0; k < P; ++k) {
    const bool from_start = k == 0, to_end = k == P - 1;
    l.path(along_row(k), column(k), ramp >> (from_start ? ports{east} : to_end ? ports{west} : east | west));
    l.path(along_row(k), columns(1, k), east >> (ramp | west))
        .path(along_row(k), columns(k + 1, P - 1), west >> (ramp | east));
    if (!from_start) l.path(along_row(k), column(0), east >> ramp);
    if (!to_end) l.path(along_row(k), column(P - 1), west >> ramp);
    l.path(along_column(k), row(k),
           ramp >> (from_start ? ports{south}
                    : to_end   ? ports{north}
                               : south | north));
    l.path(along_column(k), rows(1, k), south >> (ramp | north))
        .path(along_column(k), rows(k + 1, P - 1), north >> (ramp | south));
    if (!from_start) l.path(along_column(k), row(0), south >> ramp);
    if (!to_end) l.path(along_column(k), row(P - 1), north >> ramp);
  }
  return l;
}

// Small whole numbers: every sum is exact, in whatever order.
f32 a_at(int i, int j) { return static_cast<f32>((7 * i + 3 * j) % 11 - 5); }
f32 b_at(int i, int j) { return static_cast<f32>((5 * i + 2 * j) % 7 - 3); }

/// The same product with three loops; the innermost walks along rows, as a compiler likes it.
class serial {
 public:
  int run() {
    std::fill(C_.begin(), C_.end(), 0.f);
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < size; ++k) {
        const f32 a = A_[place(i, k)];
        for (int j = 0; j < size; ++j) C_[place(i, j)] += a * B_[place(k, j)];
      }
    return 1;
  }
  void check() const {}
  f32 at(int i, int j) const { return C_[place(i, j)]; }

 private:
  static std::size_t place(int i, int j) { return static_cast<std::size_t>(i * size + j); }
  static std::vector<f32> filled(f32 (*value)(int, int)) {
    std::vector<f32> m;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) m.push_back(value(i, j));
    return m;
  }
  std::vector<f32> A_ = filled(a_at), B_ = filled(b_at), C_ = std::vector<f32>(A_.size());
};

class on_the_fabric {
 public:
  on_the_fabric() {
    each([](tile& t, int i, int j, int k) {
      t.A[k] = a_at(i, j);
      t.B[k] = b_at(i, j);
    });
  }
  int run() {
    fabric_.launch();
    return 1;
  }
  void check() {
    serial reference;
    reference.run();
    each([&](const tile& t, int i, int j, int k) {
      bench::require(t.C[k] == reference.at(i, j), "SUMMA has a wrong element");
    });
  }

 private:
  /// Calls f with element k of each PE's tile, which is element (i, j) of the whole matrix.
  template <class F>
  void each(F f) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) f(fabric_.program_at<tile>({j / N, i / N}), i, j, j % N * N + i % N);
  }
  fabric fabric_{grid(), bench::on_threads(1)};
};

const bool added[] = {
    bench::add<on_the_fabric>("SUMMA 32x32, tiles 14x14", "wsl", bench::unit::milliseconds, 5),
    bench::add<serial>("SUMMA 32x32, tiles 14x14", "three loops", bench::unit::milliseconds, 5),
};

}  // namespace
