// SPDX-License-Identifier: MIT
// y = A x with a hypersparse matrix, which has few elements a row. It lies in blocks on all PEs, and so do x
// and y, in pieces. The pieces of x go around each column, like trains on a circle; while one travels, a PE
// multiplies with the one that it holds. Then the partial sums go around each row and collect what the PEs
// have for them, until each arrives at the PE to which it belongs.
#include <wsl/collective/shift.hpp>
#include <wsl/host/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
using namespace wsl;

constexpr shift<f32> down{.first = 0, .among = each_column, .by = 1, .cyclic = true};
constexpr shift<f32> right{.first = 3, .among = each_row, .by = 1, .cyclic = true};

struct element {
  u16 row, column;  // in the block; in the piece of x
  f32 value;
};

template <class T, int n>
using row_of = T[static_cast<std::size_t>(n)];

// On a grid of (height, width) PEs a block has width * piece rows and height * piece columns, and at most
// `most` elements.
template <int width, int height, int piece, int most>
struct block {
  using numbers = row_of<f32, piece>;

  row_of<element, most> a{};         // piece by piece of x
  row_of<u16, height + 1> first{};   // where a piece's elements begin
  numbers x[2]{}, arriving{}, y{};
  row_of<f32, width * piece> sums{};
  int round = 0;
  endpoint<down> x_train;
  endpoint<right> y_train;

  void start(pe& me) {
    round = 0;
    mov(mem(sums), 0);
    multiply(me);
  }
  // Multiplies with the piece of the PE that is `round` places up; meanwhile the next piece arrives.
  void multiply(pe& me) {
    numbers &here = x[round % 2], &next = x[1 - round % 2];
    const int from = (me.y() - round + height) % height;
    if (++round < height) x_train.start(me, mem(here), mem(next), then<&block::multiply>());
    for (int k = first[from]; k < first[from + 1]; ++k) sums[a[k].row] += a[k].value * here[a[k].column];
    if (round < height) return;
    round = 0;
    collect(me);
  }
  void collect(pe& me) {  // the sums travel until they are at home
    if (round > 0) add(of(me, round), of(me, round), mem(arriving));
    if (++round < width) y_train.start(me, of(me, round - 1), mem(arriving), then<&block::collect>());
    else mov(mem(y), of(me, round - 1));
  }

  using tasks = task_list<launch<&block::start>, local<&block::multiply>, local<&block::collect>,
                          use<&block::x_train>, use<&block::y_train>>;

 private:
  auto of(const pe& me, int step) {
    return mem(sums).part((me.x() - step - 1 + 2 * width) % width * piece, piece);
  }
};

/// The largest error of an element of y, relative to the sum of its terms without their signs.
template <int width, int height, int piece, int most>
f64 largest_error(int elements) {
  using program = block<width, height, piece, most>;
  constexpr int n = width * height * piece, rows = width * piece, columns = height * piece;
  layout l{wse2, width, height};
  l.place<program>(all).wire(down, right);
  fabric f{l};
  device d{f};

  std::mt19937 engine{1};
  std::vector<f64> y(n), size(n);
  const auto x = [](int j) { return static_cast<f32>(std::cos(j)); };
  struct triple { int row, column; f32 value; };
  // PE by PE along the rows, and in each block by piece of x.
  row_of<std::vector<triple>, width * height * height> blocks;
  const auto block_at = [&](int r, int c, int from) -> auto& {
    return blocks[(r * width + c) * height + from];
  };
  for (int k = 0; k < elements; ++k) {
    const int i = static_cast<int>(engine() % n), j = static_cast<int>(std::min(engine(), engine()) % n);
    const triple t{i, j, static_cast<f32>(std::sin(k))};
    block_at(i / rows, j / columns, j % columns / piece).push_back(t);
    y[static_cast<std::size_t>(i)] += f64{t.value} * x(j);
    size[static_cast<std::size_t>(i)] += std::abs(f64{t.value} * x(j));
  }
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      program& p = f.template program_at<program>({c, r});
      u16 k = 0;
      for (int from = 0; from < height; p.first[++from] = k)
        for (const triple& t : block_at(r, c, from))
          p.a[k++] = {static_cast<u16>(t.row % rows), static_cast<u16>(t.column % piece), t.value};
      for (int i = 0; i < piece; ++i) p.x[0][i] = x(c * columns + r * piece + i);
    }
  d.launch();

  f64 worst = 0;
  std::size_t i = 0;
  for (f32 found : d.copy_out(&program::y, all)) {
    if (size[i] > 0) worst = std::max(worst, std::abs(found - y[i]) / size[i]);
    ++i;
  }
  return worst;
}

int main() {
  const bool good = largest_error<4, 3, 32, 200>(1000) < 1e-6 && largest_error<3, 5, 7, 90>(300) < 1e-6;
  std::printf("A x for 1000 elements on 4 x 3 PEs and 300 on 3 x 5: %s a serial product\n",
              good ? "as" : "not as");
  return good ? 0 : 1;
}
