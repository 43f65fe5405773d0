// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>
#include <wsl/linalg/sparse_pattern.hpp>
#include <wsl/linalg/sparse_products.hpp>

namespace {
using namespace wsl;

std::vector<f32> random_numbers(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<f32> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<f32>(random()) / 2147483648.f - 1.f);
  return x;
}
template <class To, class From>
std::vector<To> converted(const std::vector<From>& x) {
  std::vector<To> y;
  for (From v : x) y.push_back(static_cast<To>(v));
  return y;
}
std::vector<u8> random_mask(int n, f64 density, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<u8> m;
  for (int i = 0; i < n; ++i) m.push_back(static_cast<f64>(random()) < density * 4294967296.);
  return m;
}

/// The nonzeros of a pattern as the products take them.
struct tile {
  std::vector<u32> first;
  std::vector<u16> column;
  std::vector<f32> value;
  int columns;

  tile(const sparse_pattern& p, std::vector<f32> values) : value(std::move(values)), columns(p.columns()) {
    for (i64 n : p.first()) first.push_back(static_cast<u32>(n));
    for (i32 c : p.column()) column.push_back(static_cast<u16>(c));
  }
  sparse_rows rows() const {
    return {static_cast<int>(first.size()) - 1, columns, first.data(), column.data(), value.data()};
  }
};

struct shape {
  int tokens, outputs, inputs;
};
constexpr shape shapes[] = {{1, 1, 1},      {5, 3, 130}, {64, 16, 128}, {67, 33, 129},
                            {130, 40, 257}, {3, 0, 4},   {0, 4, 4}};

/// The three products one number after the other, in f64.
struct oracle {
  std::vector<f64> y, dx, dw;

  oracle(const shape& s, const std::vector<f32>& x, const std::vector<f32>& dy, const std::vector<f32>& w,
         const sparse_pattern& p)
      : y(static_cast<std::size_t>(s.tokens * s.outputs)), dx(static_cast<std::size_t>(s.tokens * s.inputs)) {
    const auto at = [](int i, int j, int columns) { return static_cast<std::size_t>(i * columns + j); };
    for (int o = 0; o < s.outputs; ++o)
      for (int i = 0; i < s.inputs; ++i) {
        if (!p.has(o, i)) continue;
        f64 of_place = 0;
        for (int t = 0; t < s.tokens; ++t) {
          const f64 weight = w[at(o, i, s.inputs)];
          y[at(t, o, s.outputs)] += weight * x[at(t, i, s.inputs)];
          dx[at(t, i, s.inputs)] += weight * dy[at(t, o, s.outputs)];
          of_place += f64{dy[at(t, o, s.outputs)]} * f64{x[at(t, i, s.inputs)]};
        }
        dw.push_back(of_place);
      }
  }
};
f64 error(const std::vector<f32>& x, const std::vector<f64>& right) {
  REQUIRE(x.size() == right.size());
  f64 off = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const f64 d = std::abs(f64{x[i]} - right[i]);
    off = d <= off ? off : d;
    largest = std::max(largest, std::abs(right[i]));
  }
  return off / largest;
}

template <class T>
void check_products() {
  for (const shape& s : shapes)
    for (f64 density : {0., 0.1, 0.5, 1.}) {
      INFO(s.tokens << " tokens, " << s.outputs << " x " << s.inputs << ", density " << density);
      const sparse_pattern p =
          sparse_pattern::of_mask(s.outputs, s.inputs, random_mask(s.outputs * s.inputs, density, 5));
      const std::vector<T> x = converted<T>(random_numbers(s.tokens * s.inputs, 1)),
                           dy = converted<T>(random_numbers(s.tokens * s.outputs, 2));
      const std::vector<f32> w = random_numbers(s.outputs * s.inputs, 3);
      const tile t(p, nonzeros_of(p, w));
      const oracle right(s, converted<f32>(x), converted<f32>(dy), w, p);
      const matrix<const T> in(x.data(), s.tokens, s.inputs), back(dy.data(), s.tokens, s.outputs);

      std::vector<f32> y(static_cast<std::size_t>(s.tokens * s.outputs), 7.f), dx(x.size(), 7.f),
          dw(t.value.size(), 7.f);
      const matrix<f32> out(y.data(), s.tokens, s.outputs), to(dx.data(), s.tokens, s.inputs);
      multiply_sparse(out, in, t.rows());
      multiply_add_sparse(to, back, t.rows(), true);
      sampled_product(dw.data(), back, in, t.rows());
      CHECK(error(y, right.y) < 2e-6);
      CHECK(error(dx, right.dx) < 2e-6);
      CHECK(error(dw, right.dw) < 2e-6);

      // Adding what is there.
      std::vector<f64> twice_y = right.y, twice_dx = right.dx;
      for (f64& v : twice_y) v += v;
      for (f64& v : twice_dx) v += v;
      multiply_sparse(out, in, t.rows(), true);
      multiply_add_sparse(to, back, t.rows());
      CHECK(error(y, twice_y) < 4e-6);
      CHECK(error(dx, twice_dx) < 4e-6);
    }
}
std::vector<f32> random_values(const sparse_pattern& p) {
  return random_numbers(static_cast<int>(p.count()), 9);
}

}  // namespace

TEST_CASE("A pattern has the places of its mask, in rows") {
  const sparse_pattern p = sparse_pattern::of_mask(3, 4, {1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(p.count() == 5);
  CHECK(p.density() == Approx(5. / 12));
  CHECK(std::vector<i32>(p.row(0).begin(), p.row(0).end()) == std::vector<i32>{0, 3});
  CHECK(p.row(1).empty());
  CHECK(p.find(2, 2) == 3);
  CHECK(p.find(2, 0) == -1);
  CHECK((p.has(0, 3) && !p.has(1, 3)));
  CHECK(p.mask() == std::vector<u8>{1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(p == sparse_pattern(3, 4, {0, 2, 2, 5}, {0, 3, 1, 2, 3}));
  CHECK(p.part(1, 2) == sparse_pattern::of_mask(2, 4, {0, 0, 0, 0, 0, 1, 1, 1}));
  CHECK(sparse_pattern::all(2, 3).has_all());
  CHECK(sparse_pattern(2, 3).count() == 0);
}

TEST_CASE("The transposed pattern says where its places come from") {
  const sparse_pattern p = sparse_pattern::of_mask(17, 29, random_mask(17 * 29, 0.3, 4));
  std::vector<i64> from;
  const sparse_pattern t = p.transposed(&from);
  t.each([&](int r, int c, i64, i64 k) { CHECK(p.find(c, r) == from[static_cast<std::size_t>(k)]); });
  CHECK(t.count() == p.count());
  CHECK(t.transposed() == p);
}

TEST_CASE("Numbers come out of whole arrays by a pattern, and go back beside zeros") {
  const sparse_pattern p = sparse_pattern::of_mask(9, 31, random_mask(9 * 31, 0.4, 6));
  std::vector<f32> dense = random_numbers(9 * 31, 7), back(dense.size(), 3.f);
  set_dense(back, p, nonzeros_of(p, dense));
  clear_elsewhere(dense, p);
  CHECK(back == dense);
  CHECK(sparse_pattern::of_nonzeros(9, 31, dense) == p);
}

TEST_CASE("What is no pattern is refused") {
  CHECK_THROWS_WITH(sparse_pattern(2, 3, {0, 1}, {0}), Catch::Contains("3 ascending numbers"));
  CHECK_THROWS_WITH(sparse_pattern(1, 3, {0, 2}, {1, 1}), Catch::Contains("its columns ascend"));
  CHECK_THROWS_WITH(sparse_pattern(1, 3, {0, 1}, {3}), Catch::Contains("its columns ascend"));
  CHECK_THROWS_WITH(sparse_pattern::of_mask(2, 2, {1, 0, 1}), Catch::Contains("as many numbers, not of 3"));
  CHECK_THROWS_WITH(sparse_pattern(2, 2).part(1, 2), Catch::Contains("leave a pattern of 2 rows"));
}

TEST_CASE("Products with nonzeros are those with the zeros between them") {
  check_products<f32>();
  check_products<bf16>();
  check_products<f16>();
}

TEST_CASE("How sparse weights are cut into tiles, and tokens into blocks, changes no bit") {
  const int tokens = 150, outputs = 50, inputs = 300;
  const sparse_pattern p = sparse_pattern::of_mask(outputs, inputs, random_mask(outputs * inputs, 0.2, 8));
  const tile whole(p, random_values(p));
  const std::vector<f32> x = random_numbers(tokens * inputs, 1), dy = random_numbers(tokens * outputs, 2);
  const matrix<const f32> in(x.data(), tokens, inputs), back(dy.data(), tokens, outputs);
  const auto results = [&](std::vector<int> rows, std::vector<int> of_tokens) {
    std::vector<f32> y(dy.size()), dx(x.size()), dw(whole.value.size());
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
      const int n = rows[k + 1] - rows[k];
      const i64 first = p.first(rows[k]);
      const tile part(p.part(rows[k], n),
                      {whole.value.begin() + first, whole.value.begin() + p.first(rows[k + 1])});
      sampled_product(dw.data() + first, back.part(0, rows[k], tokens, n), in, part.rows());
      for (std::size_t t = 0; t + 1 < of_tokens.size(); ++t) {
        const int from = of_tokens[t], count = of_tokens[t + 1] - from;
        multiply_sparse(matrix(y.data(), tokens, outputs).part(from, rows[k], count, n),
                        in.part(from, 0, count, inputs), part.rows());
        multiply_add_sparse(matrix(dx.data(), tokens, inputs).part(from, 0, count, inputs),
                            back.part(from, rows[k], count, n), part.rows());
      }
    }
    y.insert(y.end(), dx.begin(), dx.end()), y.insert(y.end(), dw.begin(), dw.end());
    return y;
  };
  const std::vector<f32> at_once = results({0, outputs}, {0, tokens});
  CHECK(results({0, 1, 17, 49, 50}, {0, tokens}) == at_once);
  CHECK(results({0, 20, 50}, {0, 3, 70, 139, 150}) == at_once);
}

TEST_CASE("Products of shapes that do not fit are refused") {
  const sparse_pattern p(2, 3);
  const tile t(p, {});
  std::vector<f32> x(12);
  const matrix<f32> three(x.data(), 2, 3), two(x.data(), 2, 2);
  CHECK_THROWS_WITH(multiply_sparse(two, matrix<const f32>(two), t.rows()), Catch::Contains("y = x W^T"));
  CHECK_THROWS_WITH(multiply_add_sparse(two, matrix<const f32>(two), t.rows()), Catch::Contains("dx = dy W"));
  CHECK_THROWS_WITH(sampled_product(x.data(), matrix<const f32>(three), matrix<const f32>(three), t.rows()),
                    Catch::Contains("dW = dy^T x"));
}
