// SPDX-License-Identifier: MIT
// Law: what broadcasts, scatters, gathers, all-to-alls, shifts and halo exchanges leave on every PE is what the serial line says, on
// random rectangles, lengths, roots and types, on the reference engine, the timed one, and 1, 2, 3 and 8 threads.
#include "collective_arrays.hpp"

using namespace law;

namespace {

constexpr int most_block = 40, most_team = 8 * 8;

template <auto net>
int root_rank(const region& r) {
  return collective::rank_in(r, collective::root_in(r, net.root, net.among, "a law"), net.among);
}

template <auto net>
auto broadcast_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = values<T>(words);
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    s[static_cast<std::size_t>(i)].take = s[static_cast<std::size_t>(c.members[static_cast<std::size_t>(root_rank<net>(r))])].give;
  }
  return s;
}

template <auto net>
auto scatter_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (int i = 0; i < r.count(); ++i)
    if (const crowd c = crowd_of(r, i, net.among); c.rank == root_rank<net>(r))
      s[static_cast<std::size_t>(i)].give = values<T>(words * static_cast<int>(c.members.size()));
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    const auto& blocks = s[static_cast<std::size_t>(c.members[static_cast<std::size_t>(root_rank<net>(r))])].give;
    s[static_cast<std::size_t>(i)].take.assign(blocks.begin() + c.rank * words, blocks.begin() + (c.rank + 1) * words);
  }
  return s;
}

template <auto net>
auto gather_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = values<T>(words);
  for (int i = 0; i < r.count(); ++i)
    if (const crowd c = crowd_of(r, i, net.among); c.rank == root_rank<net>(r))
      for (int k : c.members) {
        auto& blocks = s[static_cast<std::size_t>(i)].take;
        blocks.insert(blocks.end(), s[static_cast<std::size_t>(k)].give.begin(), s[static_cast<std::size_t>(k)].give.end());
      }
  return s;
}

template <auto net>
auto all_to_all_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  const int size = collective::team_size(r, net.among);
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = values<T>(words * size);
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    for (int k : c.members) {
      const auto from = s[static_cast<std::size_t>(k)].give.begin() + c.rank * words;
      s[static_cast<std::size_t>(i)].take.insert(s[static_cast<std::size_t>(i)].take.end(), from, from + words);
    }
  }
  return s;
}

template <auto net>
auto shift_shares(const region& r, int words) {
  using T = typename decltype(net)::element;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = values<T>(words);
  for (int i = 0; i < r.count(); ++i) {
    const crowd c = crowd_of(r, i, net.among);
    const int size = static_cast<int>(c.members.size()), from = c.rank - net.by;
    auto& take = s[static_cast<std::size_t>(i)].take;
    take.resize(static_cast<std::size_t>(words));  // what a PE without a source keeps
    if (net.cyclic || (from >= 0 && from < size))
      take = s[static_cast<std::size_t>(c.members[static_cast<std::size_t>(((from % size) + size) % size)])].give;
  }
  return s;
}

/// The field of the whole rectangle; what is outside stays what each PE had in its rim, but north and south neighbours hand on theirs.
template <auto net>
auto halo_shares(const region& r, int) {
  using T = typename decltype(net)::element;
  std::vector<share<T>> s(static_cast<std::size_t>(r.count()));
  for (auto& one : s) one.give = values<T>(net.cells());
  for (int i = 0; i < r.count(); ++i) {
    auto& mine = s[static_cast<std::size_t>(i)];
    mine.take = mine.give;
    for (int y = -net.width; y < net.rows + net.width; ++y)
      for (int x = -net.width; x < net.columns + net.width; ++x) {
        coord away{x < 0 ? -1 : x >= net.columns, y < 0 ? -1 : y >= net.rows};
        if (!r.has(r.nth(i) + away)) away.x = 0;
        const coord there = r.nth(i) + away;
        if (away == coord{} || !r.has(there)) continue;
        const int from = (y - away.y * net.rows + net.width) * net.pitch() + x - away.x * net.columns + net.width;
        mine.take[static_cast<std::size_t>((y + net.width) * net.pitch() + x + net.width)] =
            s[static_cast<std::size_t>(r.rank(there))].give[static_cast<std::size_t>(from)];
      }
  }
  return s;
}

/// `times` random grids and lengths for one module; `shares` makes what everyone gives and must have.
template <auto net, rectangle where, int most, class Shares>
void law_of(int times, Shares shares) {
  for (int n = 0; n < times; ++n) {
    const layout l = wired<net, most>(where);
    const region r = l.inside(net.where);
    const auto s = shares(r, length_up_to(most_block));
    agrees<net, most>(l, r, s);
  }
}

template <class T, rectangle where, collective::team among>
void rooted(int times) {
  constexpr int blocks = most_block * most_team;
  constexpr broadcast<T> spread{.first = 3, .where = where.words, .among = among, .root = {end - 1, 0}};
  constexpr broadcast<T> echoed{.first = 0, .where = where.words, .among = among, .root = {0, end - 1}, .echo = true};
  constexpr scatter<T> deal{.first = 1, .where = where.words, .among = among, .root = {0, end - 1}};
  constexpr gather<T> collect{.first = 5, .where = where.words, .among = among, .root = {end - 1, 0}};
  law_of<spread, where, most_block>(times, broadcast_shares<spread>);
  law_of<echoed, where, most_block>(times, broadcast_shares<echoed>);
  law_of<deal, where, blocks>(times, scatter_shares<deal>);
  law_of<collect, where, blocks>(times, gather_shares<collect>);
}

// Roots inside need rectangles that have an inside.
template <class T, collective::team among>
void rooted_inside(int times) {
  constexpr rectangle where{rows(1).columns(0, end - 1), 5, 4};
  constexpr int blocks = most_block * most_team;
  constexpr broadcast<T> spread{.first = 3, .where = where.words, .among = among, .root = {2, 1}};
  constexpr scatter<T> deal{.first = 1, .where = where.words, .among = among, .root = {1, end - 2}};
  constexpr gather<T> collect{.first = 5, .where = where.words, .among = among, .root = {end - 2, 1}};
  law_of<spread, where, most_block>(times, broadcast_shares<spread>);
  law_of<deal, where, blocks>(times, scatter_shares<deal>);
  law_of<collect, where, blocks>(times, gather_shares<collect>);
}

template <class T, rectangle where, collective::team among>
void lined(int times) {
  constexpr all_to_all<T> turn{.first = 2, .where = where.words, .among = among};
  constexpr shift<T> next{.first = 4, .where = where.words, .among = among}, back{.first = 4, .where = where.words, .among = among, .by = -3};
  constexpr shift<T> around{.first = 4, .where = where.words, .among = among, .by = 2, .cyclic = true};
  constexpr shift<T> round_back{.first = 4, .where = where.words, .among = among, .by = -1, .cyclic = true};
  law_of<turn, where, most_block * 10>(times, all_to_all_shares<turn>);
  law_of<next, where, most_block>(times, shift_shares<next>);
  law_of<back, where, most_block>(times, shift_shares<back>);
  law_of<around, where, most_block>(times, shift_shares<around>);
  law_of<round_back, where, most_block>(times, shift_shares<round_back>);
}

template <class T, rectangle where, int rows, int columns, int width>
void rimmed(int times) {
  constexpr halo_exchange<T> rim{.first = 1, .where = where.words, .rows = rows, .columns = columns, .width = width};
  law_of<rim, where, rim.cells()>(times, halo_shares<rim>);
}

void moves(int times) {
  rooted<f32, whole, everyone>(times), rooted<i16, whole, each_row>(times), rooted<u32, whole, each_column>(times);
  rooted<f16, inner, everyone>(times), rooted<u32, strip, everyone>(times), rooted<bf16, post, each_column>(times);
  rooted_inside<f32, everyone>(times), rooted_inside<u16, each_row>(times), rooted_inside<i32, each_column>(times);
  lined<f32, whole, each_row>(times), lined<i16, whole, each_column>(times), lined<u32, inner, each_row>(times), lined<f16, low, each_column>(times);
  rimmed<f32, whole, 1, 1, 1>(times), rimmed<f32, whole, 3, 2, 2>(times), rimmed<i16, inner, 4, 5, 1>(times), rimmed<u32, strip, 3, 4, 3>(times);
}

}  // namespace

TEST_CASE("collectives that move words leave them where the serial line says") { moves(22); }
TEST_CASE("many collectives that move words", "[.long]") { moves(400); }
