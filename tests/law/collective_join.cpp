// SPDX-License-Identifier: MIT
// Law: reduces and all-reduces give what the serial line gives in the order and with the brackets that their headers promise, bit for bit,
// on random rectangles, lengths, roots and types, on the reference engine, the timed one, and 1, 2, 3 and 8 threads.
#include "collective_arrays.hpp"

using namespace law;

namespace {

constexpr int most_words = 90;

template <class T>
using rows_of_words = std::vector<std::vector<T>>;

/// a joined with b, element by element.
template <class T, class Combine>
std::vector<T> joined(const std::vector<T>& a, const std::vector<T>& b, Combine join) {
  std::vector<T> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = join(a[i], b[i]);
  return c;
}

/// One arm of a line, nearest PE first: each entry is what the root hears, in its order.
template <class T, class Join>
rows_of_words<T> heard_from(rows_of_words<T> v, tactic how, std::size_t group, Join join) {
  if (how == tactic::star) return v;
  const std::size_t n = v.size();  // v[d - 1] is the PE at distance d
  rows_of_words<T> heard;
  if (n == 0) return heard;
  const auto meet = [&](std::size_t d, std::size_t far) { v[d - 1] = join(v[d - 1], v[far - 1]); };
  if (how == tactic::chain) {
    for (std::size_t d = n - 1; d >= 1; --d) meet(d, d + 1);
    return {v[0]};
  }
  if (how == tactic::two_phase) {
    for (std::size_t d = n - 1; d >= 1; --d)
      if ((d + 1) % group) meet(d, d + 1);
    if (n >= group)
      for (std::size_t leader = n / group * group - group; leader >= group; leader -= group) meet(leader, leader + group);
    if (group > 1) heard.push_back(v[0]);
    if (n >= group) heard.push_back(v[group - 1]);
    return heard;
  }
  for (std::size_t hop = 1; hop <= n; hop *= 2) {
    for (std::size_t d = 2 * hop; d + hop <= n; d += 2 * hop) meet(d, d + hop);
    heard.push_back(v[hop - 1]);
  }
  return heard;
}

/// The line's total at its root.
template <class T, class Combine>
std::vector<T> line_total(const rows_of_words<T>& parts, std::size_t root, tactic how, Combine join) {
  const std::size_t farthest = std::max(root, parts.size() - 1 - root);
  std::size_t group = 1;
  while (group * group < farthest + 1) ++group;
  const rows_of_words<T> before(parts.rend() - static_cast<std::ptrdiff_t>(root), parts.rend());
  const rows_of_words<T> behind(parts.begin() + static_cast<std::ptrdiff_t>(root) + 1, parts.end());
  auto total = parts[root];
  for (const auto& h : heard_from(before, how, group, [&](auto& near, auto& far) { return joined(far, near, join); })) total = joined(h, total, join);
  for (const auto& h : heard_from(behind, how, group, [&](auto& near, auto& far) { return joined(near, far, join); })) total = joined(total, h, join);
  return total;
}

/// Which tactic an automatic choice took; the law is about its result.
template <auto net>
tactic tactic_on(const region& r, collective::axis a) {
  return net.along(r, a).how();
}

template <auto net>
auto reduce_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  const typename decltype(net)::combine join;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = one.take = values<T>(words), one.compared = false;
  const coord root = collective::root_in(r, net.root, net.among, "a law");
  const auto part = [&](int x, int y) -> auto& { return s[static_cast<std::size_t>(y * r.columns() + x)]; };
  const auto row_total = [&](int y) {
    rows_of_words<T> parts;
    for (int x = 0; x < r.columns(); ++x) parts.push_back(part(x, y).give);
    return line_total(parts, static_cast<std::size_t>(root.x), tactic_on<net>(r, collective::axis::x), join);
  };
  rows_of_words<T> upright;
  for (int y = 0; y < r.rows() && net.among != each_column; ++y) upright.push_back(row_total(y));
  const auto settle = [&](int x, int y, const std::vector<T>& total) { part(x, y).take = total, part(x, y).compared = true; };
  if (net.among == each_row)
    for (int y = 0; y < r.rows(); ++y) settle(root.x, y, upright[static_cast<std::size_t>(y)]);
  if (net.among == everyone)
    settle(root.x, root.y, line_total(upright, static_cast<std::size_t>(root.y), tactic_on<net>(r, collective::axis::y), join));
  for (int x = 0; x < r.columns() && net.among == each_column; ++x) {
    rows_of_words<T> parts;
    for (int y = 0; y < r.rows(); ++y) parts.push_back(part(x, y).give);
    settle(x, root.y, line_total(parts, static_cast<std::size_t>(root.y), tactic_on<net>(r, collective::axis::y), join));
  }
  return s;
}

template <auto net>
auto all_reduce_shares(const region& r, int words) {
  auto s = reduce_shares<net.gathering()>(r, words);
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    s[static_cast<std::size_t>(i)].take = s[static_cast<std::size_t>(c.members.back())].take, s[static_cast<std::size_t>(i)].compared = true;
  }
  return s;
}

/// Chunk k of a ring is joined from PE k on around the line.
template <auto net>
auto ring_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  const typename decltype(net)::combine join;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = one.take = values<T>(words);
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    const std::size_t size = c.members.size();
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t w = k * static_cast<std::size_t>(words) / size; w < (k + 1) * static_cast<std::size_t>(words) / size; ++w) {
        const auto part = [&](std::size_t n) { return s[static_cast<std::size_t>(c.members[(k + n) % size])].give[w]; };
        T total = part(0);
        for (std::size_t n = 1; n < size; ++n) total = join(total, part(n));
        s[static_cast<std::size_t>(i)].take[w] = total;
      }
  }
  return s;
}

template <auto net, class Shares>
void law_of(const rectangle& where, int times, Shares shares) {
  for (int n = 0; n < times; ++n) {
    const layout l = wired<net, most_words>(where);
    const region r = l.inside(net.where);
    const auto s = shares(r, length_up_to(most_words));
    agrees<net, most_words>(l, r, s);
  }
}

template <class T, class Combine, rectangle where, collective::team among>
void reduces(int times) {
  constexpr reduce<T, Combine> chain{.first = 1, .where = where.words, .among = among, .root = {0, end - 1}, .how = tactic::chain, .colors = 2};
  constexpr reduce<T, Combine> groups{.first = 1, .where = where.words, .among = among, .root = {end - 1, 0}, .how = tactic::two_phase};
  constexpr reduce<T, Combine> tree{.first = 1, .where = where.words, .among = among, .root = {0, end - 1}, .how = tactic::tree};
  constexpr reduce<T, Combine> quick{.first = 1, .where = where.words, .among = among, .words = 5};
  constexpr reduce<T, Combine> single{.first = 1, .where = where.words, .among = among, .root = {end - 1, 0}};
  law_of<chain>(where, times, reduce_shares<chain>);
  law_of<groups>(where, times, reduce_shares<groups>);
  law_of<tree>(where, times, reduce_shares<tree>);
  law_of<quick>(where, times, reduce_shares<quick>);
  law_of<single>(where, times, reduce_shares<single>);
}

// Roots inside hear both arms; the line is long enough for groups of three and trees of three levels on each side.
template <class T, class Combine, collective::team among>
void reduces_inside(int times) {
  constexpr rectangle where{columns(1).rows(0, end - 1), 9, 4};
  constexpr area words = where.words;
  constexpr reduce<T, Combine> chain{.first = 0, .where = words, .among = among, .root = {2, 1}, .how = tactic::chain, .colors = 2};
  constexpr reduce<T, Combine> groups{.first = 0, .where = words, .among = among, .root = {end - 2, 1}, .how = tactic::two_phase};
  [[maybe_unused]] constexpr reduce<T, Combine> tree{.first = 0, .where = words, .among = among, .root = {4, end - 2}, .how = tactic::tree, .colors = 8};
  law_of<chain>(where, times, reduce_shares<chain>);
  law_of<groups>(where, times, reduce_shares<groups>);
  if constexpr (among != everyone) law_of<tree>(where, times, reduce_shares<tree>);  // on two axes it reads more colors than a PE has queues
}

template <class T, class Combine, rectangle where, collective::team among>
void all_reduces(int times) {
  constexpr all_reduce<T, Combine> total{.first = 2, .where = where.words, .among = among};
  law_of<total>(where, times, all_reduce_shares<total>);
}
template <class T, class Combine, rectangle where, collective::team among>
void rings(int times) {
  constexpr ring_all_reduce<T, Combine> total{.first = 2, .where = where.words, .among = among};
  law_of<total>(where, times, ring_shares<total>);
}

template <class T, class Combine, rectangle where, collective::team among>
void stars(int times) {
  constexpr reduce<T, Combine> at_the_end{.first = 3, .where = where.words, .among = among, .root = {end - 1, 0}, .how = tactic::star, .colors = 2};
  law_of<at_the_end>(where, times, reduce_shares<at_the_end>);
}
template <class T, class Combine, collective::team among>
void stars_inside(int times) {
  constexpr rectangle where{columns(1).rows(0, end - 1), 5, 4};
  constexpr reduce<T, Combine> middle{.first = 0, .where = where.words, .among = among, .root = {2, 1}, .how = tactic::star, .colors = 2};
  law_of<middle>(where, times, reduce_shares<middle>);
}

void joins(int times) {
  reduces<f32, plus, whole, everyone>(times), reduces<f16, plus, whole, each_row>(times), reduces<i32, larger, whole, each_column>(times);
  reduces<u32, digits, inner, everyone>(times), reduces<bf16, smaller, strip, each_row>(times), reduces<i16, plus, post, everyone>(times);
  reduces_inside<f32, plus, each_row>(times), reduces_inside<u32, digits, everyone>(times), reduces_inside<f32, smaller, each_column>(times);
  all_reduces<f32, plus, whole, everyone>(times), all_reduces<u32, digits, whole, each_column>(times), all_reduces<f16, larger, low, each_row>(times);
  stars<f32, plus, whole, each_row>(times), stars_inside<u32, digits, everyone>(times);
  rings<f32, plus, whole, each_row>(times), rings<u32, digits, whole, each_column>(times), rings<i32, larger, inner, each_row>(times);
}

}  // namespace

TEST_CASE("arrays are joined as the serial line joins them") { joins(18); }
TEST_CASE("many arrays are joined as the serial line joins them", "[.long]") { joins(400); }

namespace {

template <auto net>
struct timed_member {
  f32 x[40]{};
  int words = 0;
  endpoint<net> here;
  void begin(pe& me) { here.start(me, mem(x).part(0, words), then<&timed_member::end>()); }
  void end(pe&) {}
  static consteval auto tasks() { return table(launch<&timed_member::begin>(), use<&timed_member::here>(), local<&timed_member::end>()); }
};

/// Cycles of a row on the timed engine against the formula, which counts from the first operation to the end of the last.
template <auto net>
void costs_what_it_says() {
  constexpr double calling = collective::restart + collective::begin;
  for (int width : {1, 2, 3, 7, 20, 33})
    for (int words : {1, 5, 40}) {
      layout l{wse2, width, 1};
      l.place(all, program_v<timed_member<net>>);
      net.wire(l);
      fabric f{l, timed{}};
      for (int x = 0; x < width; ++x) f.program_at<timed_member<net>>({x, 0}).words = words;
      INFO(net.name << " of " << words << " words on " << width << " PEs");
      const double cycles = static_cast<double>(f.launch().cycles);
      CHECK(cycles == Approx(net.cycles(l, words) + calling).epsilon(0.05));
    }
}

}  // namespace

TEST_CASE("reductions take the cycles that their formulas say") {
  costs_what_it_says<reduce<f32>{.first = 0, .among = each_row, .how = tactic::chain, .colors = 2}>();
  costs_what_it_says<reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}>();
  costs_what_it_says<reduce<f32>{.first = 0, .among = each_row, .how = tactic::tree, .colors = 6}>();
  costs_what_it_says<reduce<f32>{.first = 0, .among = each_row, .root = {end - 1}, .how = tactic::star, .colors = 2}>();
}
