// SPDX-License-Identifier: MIT
// Law: on every rectangle, type and engine, an all_reduce gives every PE the result of the serial line in
// the module's order, bit for bit, and neighbours receive exactly the words that their neighbours sent.
#include "collective_cases.hpp"

using namespace law;

namespace {

constexpr int rounds = 3;  // of each run
constexpr seeds rectangles{"rectangles", 3, 12}, rectangles_of_neighbours{"rectangles", 5, 15};

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
  using tasks = task_list<launch<&worker::begin>, use<&worker::reduce>, on<net.total(), &worker::next>>;
};

/// The results of a worker.
struct seat {
  void* part;
  const void* total;
  const int& done;
};

/// An all_reduce and its program, without their types.
struct contest {
  area where;
  std::size_t bytes;  ///< of an element
  u32 (*value)();
  u32 (*join)(u32, u32);
  void (*wire)(layout&);
  seat (*at)(fabric&, coord);
  void (*start)(fabric&, const area&, int);
};

template <auto net>
contest of() {
  using program = worker<net>;
  using T = typename program::T;
  return {.where = net.where,
          .bytes = sizeof(T),
          .value = bits_of_value<T>,
          .join = joined_bits<T, typename decltype(net)::combine>,
          .wire = [](layout& l) { l.place<program>(net.where), net.wire(l); },
          .at = [](fabric& f, coord c) -> seat {
            program& p = f.program_at<program>(c);
            return {p.part, p.total, p.done};
          },
          .start = [](fabric& f, const area& where, int more) { f.start<&program::begin>(where, more); }};
}

/// Rows from the west, then their results from the north; `parts` are those of a rectangle's PEs.
u32 serial(const region& r, const words& parts, u32 (*join)(u32, u32)) {
  const auto line = [&](int y) {
    const auto first = parts.begin() + y * r.columns();
    return std::accumulate(first + 1, first + r.columns(), *first, join);
  };
  u32 sum = line(0);
  for (int y = 1; y < r.rows(); ++y) sum = join(sum, line(y));
  return sum;
}

/// The ways in which PEs begin: all at once and round by round; all rounds without the host; or some PEs
/// long before the others.
enum class beginning : unsigned { together, alone, scattered };

void begin(fabric& f, const contest& c, const region& r, beginning how) {
  if (how == beginning::alone) c.start(f, c.where, rounds), f.run();
  for (int k = 0; how != beginning::alone && k < rounds; ++k) {
    if (how == beginning::together) c.start(f, c.where, 1);
    else
      for (int i : shuffled(r)) c.start(f, at(r.nth(i).x, r.nth(i).y), 1), f.run();
    f.run();
  }
}

constexpr engine_choice every_engine[]{{0}, {-1}, {1, 4}, {3, 4}, {8, 4}};

/// `parts` of each round.
void reduces(const contest& c, const layout& l, const region& r, const std::vector<words>& parts,
             beginning how) {
  for (const engine_choice& engine : every_engine) {
    fabric f{l, engine};
    for (int i = 0; i < r.count(); ++i) {
      words mine;
      for (const words& round : parts) mine.push_back(round[static_cast<std::size_t>(i)]);
      put(c.at(f, r.nth(i)).part, mine, c.bytes);
    }
    begin(f, c, r, how);
    words expected;
    for (const words& round : parts) expected.push_back(serial(r, round, c.join));
    const auto is_wrong = [&](int i) {
      const seat p = c.at(f, r.nth(i));
      return p.done != rounds || !holds(p.total, expected, c.bytes);
    };
    int i = 0;
    while (i < r.count() && !is_wrong(i)) ++i;
    INFO("PE " << i << " of " << r.columns() << " x " << r.rows() << ", engine " << engine.threads);
    REQUIRE(i == r.count());
  }
}

void law_of(const contest& c, const rectangle& where) {
  each_drawn(rectangles, [&](unsigned seed) {
    layout l = grid_for(where);
    c.wire(l);
    const region r = l.inside(where.words);
    std::vector<words> parts;
    for (int k = 0; k < rounds; ++k) parts.push_back(drawn(r.count(), c.value));
    reduces(c, l, r, parts, beginning{seed % 3});
  });
}

template <class T, class Combine, rectangle where>
void all_reduce_law() {
  law_of(of<all_reduce<T, Combine>{2, where.words}>(), where);
}

template <class Combine>
void all_reduce_laws() {
  all_reduce_law<f32, Combine, whole>(), all_reduce_law<f16, Combine, whole>(),
      all_reduce_law<i32, Combine, whole>();
  all_reduce_law<u32, Combine, whole>(), all_reduce_law<bf16, Combine, whole>(),
      all_reduce_law<i16, Combine, whole>();
  all_reduce_law<f32, Combine, inner>(), all_reduce_law<i32, Combine, inner>();
  all_reduce_law<f32, Combine, low>(), all_reduce_law<f16, Combine, strip>(),
      all_reduce_law<u32, Combine, post>();
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
  using tasks = task_list<launch<&cell::speak>, on<halo, &cell::hear>, sends<halo>>;
};

/// Every PE of r has received n words of each of its neighbours, in order, and no other.
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
      for (int k = 0; k < p.count[s]; ++k)
        REQUIRE(to_bits(p.heard[s][k]) == to_bits(f.program_at<P>(there).said[k]));
    }
    REQUIRE(p.degree == neighbours_of_p);
  }
}

template <class T, rectangle where>
void neighbours_law() {
  constexpr neighbours<T> halo{3, where.words};
  using program = cell<halo, T>;
  each_drawn(rectangles_of_neighbours, [&](unsigned) {
    layout l = grid_for(where);
    const region r = l.inside(where.words);
    l.place<program>(where.words);
    halo.wire(l);
    const int words = between(1, most_words);
    for (const engine_choice& engine : every_engine) {
      fabric f{l, engine};
      for (int i = 0; i < r.count(); ++i)
        std::ranges::generate(f.program_at<program>(r.nth(i)).said, value<T>);
      f.launch<&program::speak>(where.words, words);
      heard_its_neighbours<program>(f, r, words);
    }
  });
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
  neighbours_law<f32, inner>(), neighbours_law<i16, low>(), neighbours_law<i32, strip>(),
      neighbours_law<bf16, post>();
}
