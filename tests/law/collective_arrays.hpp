// SPDX-License-Identifier: MIT
// One collective of arrays on a random case: the rectangle, the number of words, the order in which the PEs
// begin, and the arrays that each of them must have at the end.
#pragma once
#include "collective_cases.hpp"

namespace law {

/// The results of a PE that takes part.
struct seat {
  void* give;
  void* take;
  int& given;
  int& taken;
  int& done;
};

/// A PE that takes part: its contribution, its result, and how often its completion happened.
template <auto net, int most>
struct member {
  using T = typename decltype(net)::element;
  static constexpr bool in_place =
      !requires(endpoint<net> e, pe& me, memory<T> words) { e.start(me, words, words, completion{}); };
  T give[static_cast<std::size_t>(most)]{}, take[static_cast<std::size_t>(most)]{};
  int given = 0, taken = 0, done = 0;
  endpoint<net> here;

  memory<T> out() { return mem(give).part(0, given); }
  memory<T> in() { return mem(take).part(0, taken); }
  void begin(pe& me) {
    const auto then_end = then<&member::end>();
    if constexpr (in_place) here.start(me, in(), then_end);
    // a collective with a root, which has two arrays
    else if constexpr (requires { here.start(me, in(), then_end); }) {
      if (given && taken) here.start(me, out(), in(), then_end);
      else here.start(me, given ? out() : in(), then_end);
    } else here.start(me, out(), in(), then_end);
  }
  void end(pe&) { ++done; }

  using tasks = task_list<launch<&member::begin>, use<&member::here>, local<&member::end>>;
};

/// A collective and the program that takes part in it, type-erased. Fields that the collective does not
/// have keep these values.
struct contest {
  std::string name;
  area where;
  collective::team among = everyone;
  collective::root_position root{edge - 1, edge - 1};  ///< all_reduces have theirs there
  int by = 1;
  bool cyclic = false;
  int planned = 1;  ///< for how many words its tactic is
  int rows = 0, columns = 0, width = 0;
  bool in_place;      ///< its words are given where it takes them
  std::size_t bytes;  ///< of an element
  u32 (*value)();
  u32 (*join)(u32, u32) = nullptr;
  /// which an automatic choice took; the law is about its result
  tactic (*how)(const region&, collective::axis) = nullptr;
  void (*wire)(layout&);
  seat (*at)(fabric&, coord);

  /// The rank of the root in each team.
  int root_rank(const region& r) const {
    return collective::rank_in(r, collective::root_in(r, root, among, "a law"), among);
  }
};

template <auto net, int most>
contest of() {
  using Net = std::remove_const_t<decltype(net)>;
  using program = member<net, most>;
  using T = typename Net::element;
  contest c{.name = std::string(wsl::support::type_name<Net>()),
            .where = net.where,
            .in_place = program::in_place,
            .bytes = sizeof(T),
            .value = bits_of_value<T>,
            .wire = [](layout& l) { l.place<program>(net.where), net.wire(l); },
            .at = [](fabric& f, coord x) -> seat {
              program& p = f.program_at<program>(x);
              return {p.give, p.take, p.given, p.taken, p.done};
            }};
  if constexpr (requires { net.among; }) c.among = net.among;
  if constexpr (requires { c.root = net.root; }) c.root = net.root;
  else if constexpr (requires { net.reduce_part(); }) c.root = net.reduce_part().root;
  if constexpr (requires { net.words; }) c.planned = net.words;
  if constexpr (requires { net.by; }) c.by = net.by, c.cyclic = net.cyclic;
  if constexpr (requires { net.width; }) c.rows = net.rows, c.columns = net.columns, c.width = net.width;
  if constexpr (requires { typename Net::combine; }) c.join = joined_bits<T, typename Net::combine>;
  if constexpr (requires(region r) { net.along(r, collective::axis::x); })
    c.how = [](const region& r, collective::axis a) { return net.along(r, a).how(); };
  else if constexpr (requires { net.reduce_part(); })
    c.how = [](const region& r, collective::axis a) { return net.reduce_part().along(r, a).how(); };
  return c;
}

/// The contribution and the expected result of a PE; `compared` leaves out words that are not defined.
struct share {
  words give, take;
  bool compared = true;
};
using shares = std::vector<share>;  ///< of a rectangle's PEs, row by row

/// Each PE gives so many words.
inline shares given_by_all(const contest& c, const region& r, int n) {
  shares s(static_cast<std::size_t>(r.count()));
  for (share& one : s) one.give = drawn(n, c.value);
  return s;
}

inline void begin_all(fabric& f, const contest& c, const region& r, bool scattered) {
  if (!scattered) return void(f.launch(c.where));
  for (int i : shuffled(r)) f.start(at(r.nth(i).x, r.nth(i).y));
  f.run();
}

/// Runs the case twice on every engine: all PEs together, and one after the other.
inline void agrees(const contest& c, const layout& l, const region& r, const shares& all_shares) {
  for (int n : {-1, 0, 1, 2, 3, 8}) {
    fabric f{l, engine_choice{n}};
    for (int round = 1; round <= 2; ++round) {
      for (int i = 0; i < r.count(); ++i) {
        const share& s = all_shares[static_cast<std::size_t>(i)];
        const seat p = c.at(f, r.nth(i));
        if (!c.in_place) put(p.give, s.give, c.bytes);
        put(p.take, c.in_place ? s.give : words(s.take.size()), c.bytes);
        p.given = static_cast<int>(s.give.size()),
        p.taken = static_cast<int>(c.in_place ? s.give.size() : s.take.size());
      }
      begin_all(f, c, r, round == 2);
      const auto is_wrong = [&](int i) {
        const share& s = all_shares[static_cast<std::size_t>(i)];
        const seat p = c.at(f, r.nth(i));
        return p.done != round || (s.compared && !holds(p.take, s.take, c.bytes));
      };
      int i = 0;
      while (i < r.count() && !is_wrong(i)) ++i;
      INFO(c.name << " on PE " << i << " of " << r.columns() << " x " << r.rows() << ", engine " << n
                  << ", round " << round);
      REQUIRE(i == r.count());
    }
  }
}

/// Short arrays that fit the queues, or long ones that do not.
inline int length_up_to(int most) { return between(0, 2) ? between(1, 9) : between(10, most); }

/// Random grids and lengths for one collective; `expected` makes what everyone gives and must have.
inline void law_of(const contest& c, const rectangle& where, const seeds& grids, int most,
                   shares (*expected)(const contest&, const region&, int)) {
  each_drawn(grids, [&](unsigned) {
    layout l = grid_for(where);
    c.wire(l);
    const region r = l.inside(c.where);
    agrees(c, l, r, expected(c, r, length_up_to(most)));
  });
}

/// The PEs of the team to which PE i of a rectangle belongs, in their order, and where i stands among them.
struct crowd {
  std::vector<int> members;
  int rank = 0;
};
inline crowd crowd_of(const region& r, int i, collective::team among) {
  crowd c;
  for (int k = 0; k < r.count(); ++k) {
    const coord a = r.nth(k), b = r.nth(i);
    if ((among == each_row && a.y != b.y) || (among == each_column && a.x != b.x)) continue;
    if (k == i) c.rank = static_cast<int>(c.members.size());
    c.members.push_back(k);
  }
  return c;
}

/// Cycles of a row on the timed engine against the formula, which counts from the first operation to the end
/// of the last: the launched task begins and issues the first, and the completion of the last begins a task
/// that knows of it. `blocks`: one for each PE, to give and to take.
template <auto net, int most>
void costs_what_it_says(std::initializer_list<int> widths, bool blocks) {
  const contest c = of<net, most>();
  for (int width : widths)
    for (int n : {1, 5, 40}) {
      layout l{wse2, width, 1};
      c.wire(l);
      fabric f{l, timed{}};
      for (int x = 0; x < width; ++x) {
        const seat p = c.at(f, {x, 0});
        p.given = p.taken = blocks ? n * width : n;
      }
      INFO(c.name << " of " << n << " words on " << width << " PEs");
      const double cycles = static_cast<double>(f.launch().cycles);
      CHECK(cycles == Approx(net.cycles(l, n) + collective::restart + collective::begin).epsilon(0.1));
    }
}

}  // namespace law
