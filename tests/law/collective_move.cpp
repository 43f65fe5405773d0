// SPDX-License-Identifier: MIT
// Law: what broadcasts, scatters, gathers, all-to-alls, shifts and halo exchanges leave on every PE is what
// the serial line says, on random rectangles, lengths, roots and types, on the reference engine, the timed
// one, and 1, 2, 3 and 8 threads.
#include "collective_arrays.hpp"

using namespace law;

namespace {

constexpr int most_block = 40, most_team = 8 * 8;

share& at(shares& s, int i) { return s[static_cast<std::size_t>(i)]; }
share& root_of(const contest& c, const region& r, shares& s, const crowd& team) {
  return at(s, team.members[static_cast<std::size_t>(c.root_rank(r))]);
}

shares broadcast_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n);
  for (int i = 0; i < r.count(); ++i) at(s, i).take = root_of(c, r, s, crowd_of(r, i, c.among)).give;
  return s;
}

shares scatter_shares(const contest& c, const region& r, int n) {
  shares s(static_cast<std::size_t>(r.count()));
  for (int i = 0; i < r.count(); ++i)
    if (const crowd t = crowd_of(r, i, c.among); t.rank == c.root_rank(r))
      at(s, i).give = drawn(n * static_cast<int>(t.members.size()), c.value);
  for (int i = 0; i < r.count(); ++i) {
    const crowd t = crowd_of(r, i, c.among);
    const words& blocks = root_of(c, r, s, t).give;
    at(s, i).take.assign(blocks.begin() + t.rank * n, blocks.begin() + (t.rank + 1) * n);
  }
  return s;
}

shares gather_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n);
  for (int i = 0; i < r.count(); ++i)
    if (const crowd t = crowd_of(r, i, c.among); t.rank == c.root_rank(r))
      for (int k : t.members)
        at(s, i).take.insert(at(s, i).take.end(), at(s, k).give.begin(), at(s, k).give.end());
  return s;
}

shares all_to_all_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n * collective::team_size(r, c.among));
  for (int i = 0; i < r.count(); ++i) {
    const crowd t = crowd_of(r, i, c.among);
    for (int k : t.members) {
      const auto from = at(s, k).give.begin() + t.rank * n;
      at(s, i).take.insert(at(s, i).take.end(), from, from + n);
    }
  }
  return s;
}

shares shift_shares(const contest& c, const region& r, int n) {
  shares s = given_by_all(c, r, n);
  for (int i = 0; i < r.count(); ++i) {
    const crowd t = crowd_of(r, i, c.among);
    const int size = static_cast<int>(t.members.size()), from = t.rank - c.by;
    if (c.cyclic || (from >= 0 && from < size))
      at(s, i).take = at(s, t.members[static_cast<std::size_t>(((from % size) + size) % size)]).give;
    else at(s, i).take.resize(static_cast<std::size_t>(n));  // what a PE without a source keeps
  }
  return s;
}

/// The field of the whole rectangle; what is outside stays what each PE had in its rim, but north and south
/// neighbours hand on theirs.
shares halo_shares(const contest& c, const region& r, int) {
  const int pitch = c.columns + 2 * c.width;
  shares s = given_by_all(c, r, (c.rows + 2 * c.width) * pitch);
  for (int i = 0; i < r.count(); ++i) {
    share& mine = at(s, i);
    mine.take = mine.give;
    for (int y = -c.width; y < c.rows + c.width; ++y)
      for (int x = -c.width; x < c.columns + c.width; ++x) {
        coord away{x < 0 ? -1 : x >= c.columns, y < 0 ? -1 : y >= c.rows};
        if (!r.has(r.nth(i) + away)) away.x = 0;
        const coord there = r.nth(i) + away;
        if (away == coord{} || !r.has(there)) continue;
        const int from = (y - away.y * c.rows + c.width) * pitch + x - away.x * c.columns + c.width;
        mine.take[static_cast<std::size_t>((y + c.width) * pitch + x + c.width)] =
            at(s, r.rank(there)).give[static_cast<std::size_t>(from)];
      }
  }
  return s;
}

template <class T, rectangle where, collective::team among>
void rooted(int times) {
  constexpr int blocks = most_block * most_team;
  constexpr broadcast<T> spread{.first = 3, .where = where.words, .among = among, .root = {edge - 1, 0}};
  constexpr broadcast<T> echoed{
      .first = 0, .where = where.words, .among = among, .root = {0, edge - 1}, .echo = true};
  constexpr scatter<T> deal{.first = 1, .where = where.words, .among = among, .root = {0, edge - 1}};
  constexpr gather<T> collect{.first = 5, .where = where.words, .among = among, .root = {edge - 1, 0}};
  law_of(of<spread, most_block>(), where, times, most_block, broadcast_shares);
  law_of(of<echoed, most_block>(), where, times, most_block, broadcast_shares);
  law_of(of<deal, blocks>(), where, times, most_block, scatter_shares);
  law_of(of<collect, blocks>(), where, times, most_block, gather_shares);
}

// Roots inside need rectangles that have an inside.
template <class T, collective::team among>
void rooted_inside(int times) {
  constexpr rectangle where{rows(1).columns(0, edge - 1), 5, 4};
  constexpr int blocks = most_block * most_team;
  constexpr broadcast<T> spread{.first = 3, .where = where.words, .among = among, .root = {2, 1}};
  constexpr scatter<T> deal{.first = 1, .where = where.words, .among = among, .root = {1, edge - 2}};
  constexpr gather<T> collect{.first = 5, .where = where.words, .among = among, .root = {edge - 2, 1}};
  law_of(of<spread, most_block>(), where, times, most_block, broadcast_shares);
  law_of(of<deal, blocks>(), where, times, most_block, scatter_shares);
  law_of(of<collect, blocks>(), where, times, most_block, gather_shares);
}

template <class T, rectangle where, collective::team among>
void lined(int times) {
  constexpr all_to_all<T> turn{.first = 2, .where = where.words, .among = among};
  constexpr shift<T> next{.first = 4, .where = where.words, .among = among},
      back{.first = 4, .where = where.words, .among = among, .by = -3};
  constexpr shift<T> around{.first = 4, .where = where.words, .among = among, .by = 2, .cyclic = true};
  constexpr shift<T> round_back{.first = 4, .where = where.words, .among = among, .by = -1, .cyclic = true};
  law_of(of<turn, most_block * 10>(), where, times, most_block, all_to_all_shares);
  law_of(of<next, most_block>(), where, times, most_block, shift_shares);
  law_of(of<back, most_block>(), where, times, most_block, shift_shares);
  law_of(of<around, most_block>(), where, times, most_block, shift_shares);
  law_of(of<round_back, most_block>(), where, times, most_block, shift_shares);
}

template <class T, rectangle where, int rows, int columns, int width>
void rimmed(int times) {
  constexpr halo_exchange<T> rim{
      .first = 1, .where = where.words, .rows = rows, .columns = columns, .width = width};
  law_of(of<rim, rim.cells()>(), where, times, most_block, halo_shares);
}

void moves(int times) {
  rooted<f32, whole, everyone>(times), rooted<i16, whole, each_row>(times),
      rooted<u32, whole, each_column>(times);
  rooted<f16, inner, everyone>(times), rooted<u32, strip, everyone>(times),
      rooted<bf16, post, each_column>(times);
  rooted_inside<f32, everyone>(times), rooted_inside<u16, each_row>(times),
      rooted_inside<i32, each_column>(times);
  lined<f32, whole, each_row>(times), lined<i16, whole, each_column>(times),
      lined<u32, inner, each_row>(times), lined<f16, low, each_column>(times);
  rimmed<f32, whole, 1, 1, 1>(times), rimmed<f32, whole, 3, 2, 2>(times), rimmed<i16, inner, 4, 5, 1>(times),
      rimmed<u32, strip, 3, 4, 3>(times);
}

}  // namespace

TEST_CASE("collectives that move words leave them where the serial line says") { moves(22); }
TEST_CASE("many collectives that move words", "[.long]") { moves(400); }

TEST_CASE("an all-to-all takes the cycles that its formula says") {
  costs_what_it_says<all_to_all<f32>{.first = 0}, 33 * 40>({1, 2, 3, 4, 7, 20, 33}, true);
}
