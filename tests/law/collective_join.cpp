// SPDX-License-Identifier: MIT
// Law: reduces and all-reduces give the result of the serial line in the order and with the brackets that
// their headers promise, bit for bit, on random rectangles, lengths, roots and types, on the reference
// engine, the timed one, and 1, 2, 3 and 8 threads.
#include "collective_arrays.hpp"

using namespace law;

namespace {

constexpr seeds grids{"grids", 4, 18}, long_lines{"lines", 2, 6};
constexpr int most_words = 90;

using rows_of_words = std::vector<words>;
using join_bits = u32 (*)(u32, u32);

/// a joined with b, element by element.
words joined(const words& a, const words& b, join_bits join) {
  words c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = join(a[i], b[i]);
  return c;
}

/// One arm of a line, nearest PE first: each entry is one input of the root, in its order. Inputs from
/// further away are combined before or behind. The tactic is planned for so many words. In a tree chains of
/// `chain` PEs come before the levels.
rows_of_words heard_from(rows_of_words v, tactic how, int planned, join_bits join, bool farther_first,
                         std::size_t chain) {
  if (how == tactic::star) return v;
  const std::size_t n = v.size();  // v[d - 1] is the PE at distance d
  rows_of_words heard;
  if (n == 0) return heard;
  const auto meet = [&](std::size_t d, std::size_t far) {
    v[d - 1] = farther_first ? joined(v[far - 1], v[d - 1], join) : joined(v[d - 1], v[far - 1], join);
  };
  if (how == tactic::chain) {
    for (std::size_t d = n - 1; d >= 1; --d) meet(d, d + 1);
    return {v[0]};
  }
  // from the root on: chains of as many PEs as there are words, and one more
  if (how == tactic::grouped_star) {
    const std::size_t size = static_cast<std::size_t>(std::min(planned + 1, 16));
    for (std::size_t d = n - 1; d >= 1; --d)
      if (d % size) meet(d, d + 1);
    for (std::size_t d = 1; d <= n; d += size) heard.push_back(v[d - 1]);
    return heard;
  }
  if (how == tactic::two_phase) {
    // from the far end: groups of 4, 5, 7, 9, 11 ...; the last one is the root's
    std::vector<std::size_t> leaders;
    for (std::size_t size = 4, d = n + 1; d > size; size += size / 5 + 1) leaders.push_back(d -= size);
    const auto leads = [&](std::size_t d) { return std::ranges::find(leaders, d) != leaders.end(); };
    for (std::size_t d = n - 1; d >= 1; --d)
      if (!leads(d + 1)) meet(d, d + 1);
    for (std::size_t i = 1; i < leaders.size(); ++i) meet(leaders[i], leaders[i - 1]);
    if (!leads(1)) heard.push_back(v[0]);
    if (!leaders.empty()) heard.push_back(v[leaders.back() - 1]);
    return heard;
  }
  for (std::size_t d = n - 1; d >= 1; --d)
    if (d % chain && (d + 1) % chain) meet(d, d + 1);
  for (std::size_t d = chain; chain > 1 && d < n; d += chain) meet(d, d + 1);
  if (chain > 1) heard.push_back(v[0]);
  for (std::size_t hop = chain; hop <= n; hop *= 2) {
    for (std::size_t d = 2 * hop; d + hop <= n; d += 2 * hop) meet(d, d + hop);
    heard.push_back(v[hop - 1]);
  }
  return heard;
}

/// The PEs of a chain at the bottom of a tree: the fewest, so that the root receives from its two arms at
/// most eight inputs, one a level and one for the chains.
std::size_t chain_of_tree(std::size_t before, std::size_t behind) {
  const auto inputs = [](std::size_t reach, std::size_t chain) {
    std::size_t n = chain > 1 && reach > 0;
    for (std::size_t hop = chain; hop <= reach; hop *= 2) ++n;
    return n;
  };
  std::size_t chain = 1;
  while (inputs(before, chain) + inputs(behind, chain) > 8) chain *= 2;
  return chain;
}

/// The line's total at its root.
words line_total(const rows_of_words& parts, std::size_t root, tactic how, const contest& c) {
  const rows_of_words before(parts.rend() - static_cast<std::ptrdiff_t>(root), parts.rend());
  const rows_of_words behind(parts.begin() + static_cast<std::ptrdiff_t>(root) + 1, parts.end());
  words total = parts[root];
  const std::size_t chain = how == tactic::tree ? chain_of_tree(before.size(), behind.size()) : 1;
  for (const words& h : heard_from(before, how, c.planned, c.join, true, chain))
    total = joined(h, total, c.join);
  for (const words& h : heard_from(behind, how, c.planned, c.join, false, chain))
    total = joined(total, h, c.join);
  return total;
}

shares reduce_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n);
  for (share& one : s) one.take = one.give, one.compared = false;
  const coord root = collective::root_in(r, c.root, c.among, "a law");
  const auto part = [&](int x, int y) -> share& { return s[static_cast<std::size_t>(y * r.columns() + x)]; };
  const auto settle = [&](int x, int y, const words& total) {
    part(x, y).take = total, part(x, y).compared = true;
  };
  const auto row_total = [&](int y) {
    rows_of_words parts;
    for (int x = 0; x < r.columns(); ++x) parts.push_back(part(x, y).give);
    return line_total(parts, static_cast<std::size_t>(root.x), c.how(r, collective::axis::x), c);
  };
  const auto column_total = [&](const rows_of_words& parts) {
    return line_total(parts, static_cast<std::size_t>(root.y), c.how(r, collective::axis::y), c);
  };
  rows_of_words upright;
  for (int y = 0; y < r.rows() && c.among != each_column; ++y) upright.push_back(row_total(y));
  if (c.among == each_row)
    for (int y = 0; y < r.rows(); ++y) settle(root.x, y, upright[static_cast<std::size_t>(y)]);
  if (c.among == everyone) settle(root.x, root.y, column_total(upright));
  for (int x = 0; x < r.columns() && c.among == each_column; ++x) {
    rows_of_words parts;
    for (int y = 0; y < r.rows(); ++y) parts.push_back(part(x, y).give);
    settle(x, root.y, column_total(parts));
  }
  return s;
}

shares all_reduce_shares(const contest& c, const region& r, int n) {
  shares s = reduce_shares(c, r, n);
  for (int i = 0; i < r.count(); ++i) {
    share& mine = s[static_cast<std::size_t>(i)];
    mine.take =
        s[static_cast<std::size_t>(crowd_of(r, i, c.among).members[static_cast<std::size_t>(c.root_rank(r))])]
            .take,
    mine.compared = true;
  }
  return s;
}

/// The owner of a chunk joins the sum from before it, which began at the first PE of the line, its own words
/// and the sum from beyond it, which began at the last.
shares scattered_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n);
  const auto count = static_cast<std::size_t>(n);
  for (int i = 0; i < r.count(); ++i) {
    const crowd t = crowd_of(r, i, c.among);
    const std::size_t size = t.members.size();
    words& take = s[static_cast<std::size_t>(i)].take;
    take.resize(count);
    const auto part = [&](std::size_t m, std::size_t w) {
      return s[static_cast<std::size_t>(t.members[m])].give[w];
    };
    const auto total = [&](std::size_t owner, std::size_t w) {
      u32 sum = part(0, w);
      for (std::size_t m = 1; m <= owner; ++m) sum = c.join(sum, part(m, w));
      if (owner + 1 == size) return sum;
      u32 beyond = part(size - 1, w);
      for (std::size_t m = size - 1; m-- > owner + 1;) beyond = c.join(part(m, w), beyond);
      return c.join(sum, beyond);
    };
    // A long line sums slices with chunks of at most 8 words, one after the other.
    const std::size_t slices = size < 8 ? 1 : (count + 8 * size - 1) / (8 * size);
    for (std::size_t k = 0; k < slices; ++k) {
      const std::size_t from = k * count / slices, length = (k + 1) * count / slices - from;
      for (std::size_t owner = 0; owner < size; ++owner)
        for (std::size_t w = owner * length / size; w < (owner + 1) * length / size; ++w)
          take[from + w] = total(owner, from + w);
    }
  }
  return s;
}

template <auto net>
void law_of(const rectangle& where, const seeds& inputs,
            shares (*expected)(const contest&, const region&, int)) {
  law_of(of<net, most_words>(), where, inputs, most_words, expected);
}

template <class T, class Combine, rectangle where, collective::team among>
void reduces() {
  constexpr collective::reduce<T, Combine> chain{.first = 1,
                                                 .where = where.words,
                                                 .among = among,
                                                 .root = {0, edge - 1},
                                                 .how = tactic::chain,
                                                 .colors = 2};
  constexpr collective::reduce<T, Combine> groups{
      .first = 1, .where = where.words, .among = among, .root = {edge - 1, 0}, .how = tactic::two_phase};
  constexpr collective::reduce<T, Combine> tree{.first = 1,
                                                .where = where.words,
                                                .among = among,
                                                .root = {0, edge - 1},
                                                .how = tactic::tree,
                                                .colors = 4};
  constexpr collective::reduce<T, Combine> quick{
      .first = 1, .where = where.words, .among = among, .words = 5};
  constexpr collective::reduce<T, Combine> single{
      .first = 1, .where = where.words, .among = among, .root = {edge - 1, 0}};
  law_of<chain>(where, grids, reduce_shares);
  law_of<groups>(where, grids, reduce_shares);
  law_of<tree>(where, grids, reduce_shares);
  law_of<quick>(where, grids, reduce_shares);
  law_of<single>(where, grids, reduce_shares);
}

// Roots inside the line receive both arms; the line is long enough for three groups and trees of three
// levels.
template <class T, class Combine, collective::team among>
void reduces_inside() {
  constexpr rectangle where{columns(1).rows(0, edge - 1), 9, 4};
  constexpr area words = where.words;
  constexpr collective::reduce<T, Combine> chain{
      .first = 0, .where = words, .among = among, .root = {2, 1}, .how = tactic::chain, .colors = 2};
  constexpr collective::reduce<T, Combine> groups{
      .first = 0, .where = words, .among = among, .root = {edge - 2, 1}, .how = tactic::two_phase};
  [[maybe_unused]] constexpr collective::reduce<T, Combine> tree{
      .first = 0, .where = words, .among = among, .root = {4, edge - 2}, .how = tactic::tree, .colors = 8};
  law_of<chain>(where, grids, reduce_shares);
  law_of<groups>(where, grids, reduce_shares);
  // on two axes it reads more colors than a PE has queues
  if constexpr (among != everyone) law_of<tree>(where, grids, reduce_shares);
}

template <class T, class Combine, rectangle where, collective::team among>
void all_reduces() {
  constexpr all_reduce<T, Combine> total{.first = 2, .where = where.words, .among = among};
  constexpr all_reduce<T, Combine> frugal{
      .first = 2, .where = where.words, .among = among, .words = 3, .colors = 1};
  constexpr all_reduce<T, Combine> central{
      .first = 2, .where = where.words, .among = among, .words = 2, .place = total_at::centre};
  constexpr all_reduce<T, Combine> cheaper{.first = 2,
                                           .where = where.words,
                                           .among = among,
                                           .words = 3,
                                           .how = tactic::automatic,
                                           .place = total_at::cheaper};
  law_of<total>(where, grids, all_reduce_shares);
  law_of<frugal>(where, grids, all_reduce_shares);
  law_of<central>(where, grids, all_reduce_shares);
  law_of<cheaper>(where, grids, all_reduce_shares);
}
// Long enough for seven groups on one side and three on the other; and, of a star, for many with a smaller
// one at the end: of two PEs, of five or, for more words than fit, of sixteen.
template <class T, class Combine>
void many_groups() {
  constexpr rectangle where{columns(1), 70, 1};
  constexpr collective::reduce<T, Combine> groups{
      .first = 6, .where = where.words, .among = each_row, .root = {50}, .how = tactic::two_phase};
  constexpr collective::reduce<T, Combine> pairs{
      .first = 6, .where = where.words, .among = each_row, .root = {51}, .how = tactic::grouped_star};
  constexpr collective::reduce<T, Combine> fives{.first = 6,
                                                 .where = where.words,
                                                 .among = each_row,
                                                 .root = {50},
                                                 .words = 4,
                                                 .how = tactic::grouped_star};
  constexpr collective::reduce<T, Combine> tree{
      .first = 6, .where = where.words, .among = each_row, .root = {50}, .how = tactic::tree, .colors = 9};
  constexpr collective::reduce<T, Combine> large{
      .first = 6, .where = where.words, .among = each_row, .words = 40, .how = tactic::grouped_star};
  law_of<groups>(where, long_lines, reduce_shares);
  law_of<pairs>(where, long_lines, reduce_shares);
  law_of<fives>(where, long_lines, reduce_shares);
  law_of<large>(where, long_lines, reduce_shares);
  law_of<tree>(where, long_lines, reduce_shares);
  constexpr all_reduce<T, Combine> total{
      .first = 5, .where = where.words, .among = each_row, .words = 2, .how = tactic::automatic};
  constexpr all_reduce<T, Combine> cheaper{.first = 5,
                                           .where = where.words,
                                           .among = each_row,
                                           .words = 2,
                                           .how = tactic::automatic,
                                           .place = total_at::cheaper};
  law_of<total>(where, long_lines, all_reduce_shares);
  law_of<cheaper>(where, long_lines, all_reduce_shares);
}

template <class T, class Combine, rectangle where, collective::team among>
void scattered() {
  constexpr scattered_all_reduce<T, Combine> total{.first = 2, .where = where.words, .among = among};
  law_of<total>(where, grids, scattered_shares);
}
// Long enough for slices.
void scattered_slices() {
  constexpr rectangle where{columns(1).rows(0, edge - 1), 9, 4};
  constexpr scattered_all_reduce<u32, digits> total{.first = 2, .where = where.words, .among = each_row};
  law_of<total>(where, grids, scattered_shares);
}

template <class T, class Combine, rectangle where, collective::team among>
void stars() {
  constexpr collective::reduce<T, Combine> at_the_end{.first = 3,
                                                      .where = where.words,
                                                      .among = among,
                                                      .root = {edge - 1, 0},
                                                      .how = tactic::star,
                                                      .colors = 2};
  law_of<at_the_end>(where, grids, reduce_shares);
}
template <class T, class Combine, collective::team among>
void stars_inside() {
  constexpr rectangle where{columns(1).rows(0, edge - 1), 5, 4};
  constexpr collective::reduce<T, Combine> middle{
      .first = 0, .where = where.words, .among = among, .root = {2, 1}, .how = tactic::star, .colors = 2};
  law_of<middle>(where, grids, reduce_shares);
}

void joining_laws() {
  reduces<f32, plus, whole, everyone>(), reduces<f16, plus, whole, each_row>(),
      reduces<i32, larger, whole, each_column>();
  reduces<u32, digits, inner, everyone>(), reduces<bf16, smaller, strip, each_row>(),
      reduces<i16, plus, post, everyone>();
  reduces_inside<f32, plus, each_row>(), reduces_inside<u32, digits, everyone>(),
      reduces_inside<f32, smaller, each_column>();
  all_reduces<f32, plus, whole, everyone>(), all_reduces<u32, digits, whole, each_column>(),
      all_reduces<f16, larger, low, each_row>();
  stars<f32, plus, whole, each_row>(), stars_inside<u32, digits, everyone>(), many_groups<u32, digits>();
  scattered<f32, plus, whole, each_row>(), scattered<u32, digits, whole, each_column>(),
      scattered<i32, larger, inner, each_row>(), scattered_slices();
}

}  // namespace

TEST_CASE("arrays are joined as the serial line joins them") { joining_laws(); }

TEST_CASE("reductions take the cycles that their formulas say") {
  const std::initializer_list<int> widths{1, 2, 3, 7, 20, 33};
  costs_what_it_says<
      collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::chain, .colors = 2}, 40>(widths,
                                                                                                     false);
  costs_what_it_says<collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}, 40>(
      widths, false);
  costs_what_it_says<collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::tree, .colors = 6},
                     40>(widths, false);
  costs_what_it_says<all_reduce<f32>{.first = 0, .words = 40, .colors = 1}, 40>(widths, false);
  costs_what_it_says<
      all_reduce<f32>{
          .first = 0, .among = each_row, .words = 5, .how = tactic::automatic, .place = total_at::centre},
      40>(widths, false);
  costs_what_it_says<scattered_all_reduce<f32>{.first = 0}, 40>({1, 4, 20, 33}, false);
  costs_what_it_says<collective::reduce<f32>{
                         .first = 0, .among = each_row, .root = {edge - 1}, .how = tactic::star, .colors = 2},
                     40>(widths, false);
  costs_what_it_says<
      collective::reduce<f32>{
          .first = 0, .among = each_row, .root = {edge - 1}, .words = 5, .how = tactic::grouped_star},
      40>(widths, false);
}
