// SPDX-License-Identifier: MIT
// One collective of arrays on one random case: the rectangle, how many words, in what order the PEs begin, and what each of them must have
// at the end.
#pragma once
#include <cstring>

#include "collective_cases.hpp"

namespace law {

/// The engine: -1 is the timed one, 0 the reference, others are numbers of threads on bands of one PE.
struct engine_choice {
  int threads;
  engine* make(const layout& plan) const {
    if (threads < 0) return timed{}.make(plan);
    if (threads == 0) return reference{}.make(plan);
    return threaded{.threads = threads, .pes_per_band = 1}.make(plan);
  }
};

/// A PE that takes part: what it gives, what it has then, and how often it was told that all is done.
template <auto net, int most>
struct member {
  using T = typename decltype(net)::element;
  T give[static_cast<std::size_t>(most)]{}, take[static_cast<std::size_t>(most)]{};
  int given = 0, taken = 0, done = 0;
  endpoint<net> here;

  memory<T> out() { return mem(give).part(0, given); }
  memory<T> in() { return mem(take).part(0, taken); }
  void begin(pe& me) {
    const auto then_end = then<&member::end>();
    if constexpr (requires { here.start(me, out(), in(), then_end); }) {
      if constexpr (requires { here.start(me, in(), then_end); }) {  // a collective with a root, which has two arrays
        if (given && taken) here.start(me, out(), in(), then_end);
        else here.start(me, given ? out() : in(), then_end);
      } else here.start(me, out(), in(), then_end);
    } else {
      mov(in(), out());
      here.start(me, in(), then_end);
    }
  }
  void end(pe&) { ++done; }

  static consteval auto tasks() { return table(launch<&member::begin>(), use<&member::here>(), local<&member::end>()); }
};

/// What a PE gives and must have; what is not compared is left out by `compared`.
template <class T>
struct share {
  std::vector<T> give, take;
  bool compared = true;
};

template <auto net, int most>
void begin_all(fabric& f, const region& r, bool scattered) {
  using program = member<net, most>;
  if (!scattered) return void(f.launch<&program::begin>(net.where));
  std::vector<int> order(static_cast<std::size_t>(r.count()));
  for (int i = 0; i < r.count(); ++i) order[static_cast<std::size_t>(i)] = i;
  std::ranges::shuffle(order, any);
  for (int i : order) f.start<&program::begin>(at(r.nth(i).x, r.nth(i).y));
  f.run();
}

/// Runs it twice on every engine, together and scattered; the shares are those of the rectangle's PEs, row by row.
template <auto net, int most>
void agrees(const layout& l, const region& r, const std::vector<share<typename decltype(net)::element>>& shares) {
  using program = member<net, most>;
  for (int n : {-1, 0, 1, 2, 3, 8}) {
    fabric f{l, engine_choice{n}};
    for (int round = 1; round <= 2; ++round) {
      for (int i = 0; i < r.count(); ++i) {
        program& p = f.program_at<program>(r.nth(i));
        const auto& s = shares[static_cast<std::size_t>(i)];
        std::ranges::copy(s.give, p.give);
        std::ranges::fill(p.take, typename program::T{});
        p.given = static_cast<int>(s.give.size()), p.taken = static_cast<int>(s.take.size());
      }
      begin_all<net, most>(f, r, round == 2);
      for (int i = 0; i < r.count(); ++i) {
        const program& p = f.program_at<program>(r.nth(i));
        const auto& s = shares[static_cast<std::size_t>(i)];
        INFO(wsl::type_name<decltype(net)>() << " on PE " << i << " of " << r.columns() << " x " << r.rows() << ", " << s.take.size() << " words, engine " << n << ", round " << round);
        REQUIRE(p.done == round);
        if (s.compared && !s.take.empty()) REQUIRE(std::memcmp(p.take, s.take.data(), s.take.size() * sizeof(typename program::T)) == 0);
      }
    }
  }
}

/// Short arrays that fit the queues, or long ones that do not.
inline int length_up_to(int most) { return between(0, 2) ? between(1, 9) : between(10, most); }

/// A layout with the module on a random grid.
template <auto net, int most>
layout wired(const rectangle& where) {
  layout l = grid_for(where);
  l.place(net.where, program_v<member<net, most>>);
  net.wire(l);
  return l;
}

template <class T>
std::vector<T> values(int n) {
  std::vector<T> all_values(static_cast<std::size_t>(n));
  std::ranges::generate(all_values, value<T>);
  return all_values;
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

}  // namespace law
