// SPDX-License-Identifier: MIT
// Law: on every rectangle, type and engine, an all_reduce gives every PE what the serial line in the module's order gives, bit for
// bit, and neighbours hear exactly what their neighbours said.
#include "collective_cases.hpp"

using namespace law;

namespace {

constexpr int rounds = 3;

template <auto net>
struct worker {
  using T = typename decltype(net)::element;
  T part[rounds]{}, total[rounds]{};
  int goal = 0, done = 0;
  reducer<net> reduce;

  void begin(pe& me, int more) {
    goal = done + more;
    reduce.contribute(me, part[done]);
  }
  void next(pe& me, T t) {
    total[done++] = t;
    if (done < goal) reduce.contribute(me, part[done]);
  }
  static consteval auto tasks() { return table(launch<&worker::begin>(), use<&worker::reduce>(), on<net.total(), &worker::next>()); }
};

/// Rows from the west, then their results from the north.
template <auto net, class Part>
auto serial(const region& r, Part part) {
  typename decltype(net)::combine join;
  const auto line = [&](int y) {
    auto sum = part(r.x0, y);
    for (int x = r.x0 + 1; x < r.x1; ++x) sum = join(sum, part(x, y));
    return sum;
  };
  auto sum = line(r.y0);
  for (int y = r.y0 + 1; y < r.y1; ++y) sum = join(sum, line(y));
  return sum;
}

/// How the PEs begin: all at once and round by round; all rounds without the host; or some PEs long before the others.
enum class beginning { together, alone, scattered };

template <auto net>
void begin(fabric& f, const region& r, beginning how) {
  using program = worker<net>;
  if (how == beginning::alone) f.launch<&program::begin>(net.where, rounds);
  for (int k = 0; how != beginning::alone && k < rounds; ++k) {
    if (how == beginning::scattered) {
      std::vector<int> order(static_cast<std::size_t>(r.count()));
      for (int i = 0; i < r.count(); ++i) order[static_cast<std::size_t>(i)] = i;
      std::ranges::shuffle(order, any);
      for (int i : order) f.launch<&program::begin>(at(r.nth(i).x, r.nth(i).y), 1);
    } else f.launch<&program::begin>(net.where, 1);
  }
}

template <auto net, class Engine>
void reduces(const layout& l, const region& r, const std::vector<typename decltype(net)::element>& parts, beginning how, const Engine& engine) {
  using program = worker<net>;
  fabric f{l, engine};
  const auto part = [&](int k) { return [&, k](int x, int y) { return parts[static_cast<std::size_t>(r.rank({x, y}) * rounds + k)]; }; };
  for (int i = 0; i < r.count(); ++i)
    for (int k = 0; k < rounds; ++k) f.program_at<program>(r.nth(i)).part[k] = part(k)(r.nth(i).x, r.nth(i).y);
  begin<net>(f, r, how);
  for (int k = 0; k < rounds; ++k) {
    const u32 expected = to_bits(serial<net>(r, part(k)));
    for (int i = 0; i < r.count(); ++i) {
      INFO("PE " << i << " of " << r.columns() << " x " << r.rows() << ", round " << k);
      const program& p = f.program_at<program>(r.nth(i));
      REQUIRE(p.done == rounds);
      REQUIRE(to_bits(p.total[k]) == expected);
    }
  }
}

template <class F>
void on_every_engine(F check) {
  check(reference{});
  check(timed{});
  for (int threads : {1, 3, 8}) check(threaded{.threads = threads, .pes_per_band = 4});
}

template <class T, class Combine, rectangle where>
void all_reduce_law() {
  constexpr all_reduce<T, Combine> net{2, where.words};
  for (int n = 0; n < 12; ++n) {
    layout l = grid_for(where);
    const region r = l.inside(where.words);
    l.place(where.words, program_v<worker<net>>);
    net.wire(l);
    std::vector<T> parts(static_cast<std::size_t>(r.count() * rounds));
    std::ranges::generate(parts, value<T>);
    on_every_engine([&](const auto& engine) { reduces<net>(l, r, parts, beginning{n % 3}, engine); });
  }
}

template <class Combine>
void all_reduce_laws() {
  all_reduce_law<f32, Combine, whole>(), all_reduce_law<f16, Combine, whole>(), all_reduce_law<i32, Combine, whole>();
  all_reduce_law<u32, Combine, whole>(), all_reduce_law<bf16, Combine, whole>(), all_reduce_law<i16, Combine, whole>();
  all_reduce_law<f32, Combine, inner>(), all_reduce_law<i32, Combine, inner>();
  all_reduce_law<f32, Combine, low>(), all_reduce_law<f16, Combine, strip>(), all_reduce_law<u32, Combine, post>();
}

constexpr int most_words = 6;

template <auto halo, class T>
struct cell {
  T said[most_words]{};
  T heard[4][most_words]{};
  int count[4]{}, degree = 0;

  void speak(pe& me, int n) {
    degree = halo.degree(me);
    for (int i = 0; i < n; ++i) halo.send(me, said[i]);
  }
  void hear(pe&, T x, port from) {
    const int side = index_of(from) - 1;
    heard[side][count[side]++] = x;
  }
  static consteval auto tasks() { return table(launch<&cell::speak>(), on<halo, &cell::hear>(), sends<halo>()); }
};

/// Every PE of r has heard n words of each of its neighbours, in order, and no other.
template <class P>
void heard_its_neighbours(fabric& f, const region& r, int n) {
  for (int i = 0; i < r.count(); ++i) {
    const P& p = f.program_at<P>(r.nth(i));
    int neighbours_of_p = 0;
    for (port side : every_side) {
      const coord there = r.nth(i) + step(side);
      const int s = index_of(side) - 1;
      neighbours_of_p += r.has(there);
      INFO("PE " << i << " of " << r.columns() << " x " << r.rows() << ", " << name_of(side));
      REQUIRE(p.count[s] == (r.has(there) ? n : 0));
      for (int k = 0; k < p.count[s]; ++k) REQUIRE(to_bits(p.heard[s][k]) == to_bits(f.program_at<P>(there).said[k]));
    }
    REQUIRE(p.degree == neighbours_of_p);
  }
}

template <class T, rectangle where>
void neighbours_law() {
  constexpr neighbours<T> halo{3, where.words};
  using program = cell<halo, T>;
  for (int n = 0; n < 15; ++n) {
    layout l = grid_for(where);
    const region r = l.inside(where.words);
    l.place(where.words, program_v<program>);
    halo.wire(l);
    const int words = between(1, most_words);
    on_every_engine([&](const auto& engine) {
      fabric f{l, engine};
      for (int i = 0; i < r.count(); ++i) std::ranges::generate(f.program_at<program>(r.nth(i)).said, value<T>);
      f.launch<&program::speak>(where.words, words);
      heard_its_neighbours<program>(f, r, words);
    });
  }
}

}  // namespace

TEST_CASE("an all_reduce adds as the serial line does") { all_reduce_laws<plus>(); }
TEST_CASE("an all_reduce finds the largest as the serial line does") { all_reduce_laws<larger>(); }
TEST_CASE("an all_reduce finds the smallest as the serial line does") { all_reduce_laws<smaller>(); }

TEST_CASE("contributions are joined in the order of the line, whatever their combination") {
  all_reduce_law<u32, digits, whole>();
  all_reduce_law<u32, digits, inner>();
}

TEST_CASE("neighbours hear what was said, side by side and in order") {
  neighbours_law<f32, whole>(), neighbours_law<f16, whole>(), neighbours_law<u32, whole>();
  neighbours_law<f32, inner>(), neighbours_law<i16, low>(), neighbours_law<i32, strip>(), neighbours_law<bf16, post>();
}
