// SPDX-License-Identifier: MIT
#include "cycles.hpp"

#include <wsl/collective.hpp>
#include <wsl/engine/timed.hpp>

#include <set>

namespace bench {
namespace {
using namespace wsl;

/// A PE that takes part once, with arrays of `most` words.
template <auto net, int most>
struct member {
  f32 give[static_cast<std::size_t>(most)]{}, take[static_cast<std::size_t>(most)]{};
  int given = 0, taken = 0;
  endpoint<net> here;

  void begin(pe& me) {
    const auto out = mem(give).part(0, given), in = mem(take).part(0, taken);
    if constexpr (!requires { here.start(me, out, in, then<&member::end>()); })
      here.start(me, in, then<&member::end>());
    else if constexpr (!requires { here.start(me, in, then<&member::end>()); })
      here.start(me, out, in, then<&member::end>());
    else if (given && taken) here.start(me, out, in, then<&member::end>());
    else here.start(me, given ? out : in, then<&member::end>());
  }
  void end(pe&) {}

  using tasks = task_list<launch<&member::begin>, use<&member::here>, local<&member::end>>;
};

/// The number of words that the root and the others send and receive.
struct lengths {
  int root_gives, root_takes, others_give, others_take;
};

template <auto net, int most>
double run(const layout& l, const lengths& n) {
  using program = member<net, most>;
  fabric f{l, timed{}};
  for (int i = 0; i < l.grid().count(); ++i) {
    program& p = f.program_at<program>(l.grid().nth(i));
    p.given = i ? n.others_give : n.root_gives, p.taken = i ? n.others_take : n.root_takes;
  }
  return static_cast<double>(f.launch().cycles);
}

class table_of_cycles {
 public:
  std::vector<cycles_of_case> rows;

  template <auto net, int most>
  void add(const char* name, int pes, int words, const lengths& n) {
    layout l{wse2, pes, 1};
    l.place<member<net, most>>(all);
    try {
      net.wire(l);
      require(l);
    } catch (const fault&) {
      return;  // more colors than its block or its queues have
    }
    rows.push_back({name, pes, words, colors<net>(l), net.cycles(l, words) + calling, run<net, most>(l, n)});
  }

  template <int words>
  void add_arrays(int pes) {
    constexpr broadcast<f32> spread{.first = 0, .among = each_row};
    constexpr collective::reduce<f32> chain{.first = 0, .among = each_row, .how = tactic::chain, .colors = 2};
    constexpr collective::reduce<f32> two_phase{.first = 0, .among = each_row, .how = tactic::two_phase};
    constexpr collective::reduce<f32> tree{.first = 0, .among = each_row, .how = tactic::tree, .colors = 9};
    constexpr collective::reduce<f32> automatic{.first = 0, .among = each_row, .words = words};
    constexpr collective::reduce<f32> of_eight{.first = 0, .among = each_row, .words = words, .colors = 8};
    constexpr collective::reduce<f32> star{.first = 0, .among = each_row, .how = tactic::star, .colors = 2};
    constexpr collective::reduce<f32> grouped{
        .first = 0, .among = each_row, .words = words, .how = tactic::grouped_star};
    constexpr all_reduce<f32> total{.first = 0, .among = each_row, .words = words < 2 ? 2 : words};
    constexpr all_reduce<f32> quick{
        .first = 0, .among = each_row, .words = words, .how = tactic::automatic, .place = total_at::corner};
    constexpr all_reduce<f32> centre{
        .first = 0, .among = each_row, .words = words, .how = tactic::automatic, .place = total_at::centre};
    constexpr all_reduce<f32> cheaper{
        .first = 0, .among = each_row, .words = words, .how = tactic::automatic, .place = total_at::cheaper};
    constexpr scattered_all_reduce<f32> scattered{.first = 0};
    constexpr shift<f32> next{.first = 0};
    constexpr lengths in_place{0, words, 0, words}, exchange{words, words, words, words};
    add<spread, words>("broadcast", pes, words, in_place);
    add<chain, words>("reduce, chain", pes, words, in_place);
    add<two_phase, words>("reduce, two phases", pes, words, in_place);
    add<tree, words>("reduce, tree", pes, words, in_place);
    add<star, words>("reduce, star", pes, words, in_place);
    add<grouped, words>("reduce, grouped star", pes, words, in_place);
    add<automatic, words>("reduce, automatic", pes, words, in_place);
    add<of_eight, words>("reduce, automatic", pes, words, in_place);
    add<total, words>("all-reduce, chain", pes, words, in_place);
    add<quick, words>("all-reduce, at the end", pes, words, in_place);
    add<centre, words>("all-reduce, centre", pes, words, in_place);
    add<cheaper, words>("all-reduce, automatic", pes, words, in_place);
    add<scattered, words>("scattered all-reduce", pes, words, in_place);
    add<next, words>("shift by one", pes, words, exchange);
  }
  template <int words, int most>
  void add_blocks(int pes) {
    constexpr scatter<f32> deal{.first = 0, .among = each_row};
    constexpr gather<f32> collect{.first = 0, .among = each_row};
    if (pes * words > most) return;
    constexpr all_to_all<f32> turn{.first = 0, .among = each_row};
    add<deal, most>("scatter", pes, words, {pes * words, words, 0, words});
    add<turn, most>("all-to-all", pes, words, {pes * words, pes * words, pes * words, pes * words});
    add<collect, most>("gather", pes, words, {words, pes * words, words, 0});
  }
  template <int words>
  void add_rectangles(int columns, int lines) {
    constexpr broadcast<f32> spread{.first = 0, .root = {1, 1}};
    constexpr collective::reduce<f32> chain{.first = 0, .how = tactic::chain, .colors = 2};
    constexpr collective::reduce<f32> star{.first = 0, .how = tactic::star, .colors = 2};
    constexpr all_reduce<f32> total{.first = 0, .words = words < 2 ? 2 : words};
    constexpr all_reduce<f32> quick{.first = 0, .words = words, .how = tactic::automatic};
    constexpr all_reduce<f32> centre{
        .first = 0, .words = words, .how = tactic::automatic, .place = total_at::centre};
    constexpr all_reduce<f32> cheaper{
        .first = 0, .words = words, .how = tactic::automatic, .place = total_at::cheaper};
    constexpr all_reduce<f32> frugal{.first = 0, .words = words, .colors = 1};
    add_rectangle<spread, words>("broadcast", columns, lines);
    add_rectangle<chain, words>("reduce, chain", columns, lines);
    add_rectangle<star, words>("reduce, star", columns, lines);
    add_rectangle<total, words>("all-reduce, chain", columns, lines);
    add_rectangle<quick, words>("all-reduce, corner", columns, lines);
    add_rectangle<centre, words>("all-reduce, centre", columns, lines);
    add_rectangle<cheaper, words>("all-reduce, automatic", columns, lines);
    add_rectangle<frugal, words>("all-reduce, 1 color", columns, lines);
  }
  /// Square tiles.
  template <int side, int width>
  void add_tiles(int columns, int lines) {
    constexpr halo_exchange<f32> rim{.first = 0, .rows = side, .columns = side, .width = width};
    constexpr int cells = rim.cells();
    layout l{wse2, columns, lines};
    l.place<member<rim, cells>>(all);
    rim.wire(l);
    rows.push_back({"halo exchange", columns * lines, cells, colors<rim>(l), rim.cycles(l) + calling,
                    run<rim, cells>(l, {0, cells, 0, cells})});
  }

 private:
  template <auto net>
  static int colors(const layout& l) {
    if constexpr (requires { net.how; })
      if (net.how == tactic::automatic) return net.colors;
    std::set<int> taken;
    for (const path_record& p : l.paths()) taken.insert(p.color);
    return static_cast<int>(taken.size());
  }
  template <auto net, int words>
  void add_rectangle(const char* name, int columns, int lines) {
    layout l{wse2, columns, lines};
    l.place<member<net, words>>(all);
    net.wire(l);
    rows.push_back({std::string("2-D ") + name, columns * lines, words, colors<net>(l),
                    net.cycles(l, words) + calling, run<net, words>(l, {0, words, 0, words})});
  }
  /// The launched task begins and issues the first operation; the last one's completion begins a task that
  /// knows of it.
  static constexpr double calling = collective::restart + collective::begin;
};

}  // namespace

std::vector<cycles_of_case> measure_cycles() {
  table_of_cycles t;
  for (int pes : {4, 16, 64, 256, 512}) {
    t.add_arrays<1>(pes), t.add_blocks<1, 512>(pes);
    t.add_arrays<16>(pes), t.add_blocks<16, 4096>(pes);
    t.add_arrays<256>(pes), t.add_blocks<256, 4096>(pes);
    t.add_arrays<4096>(pes);
  }
  for (auto [columns, lines] : {coord{3, 2}, {8, 8}, {16, 32}})
    t.add_rectangles<1>(columns, lines), t.add_rectangles<256>(columns, lines);
  for (auto [columns, lines] : {coord{2, 2}, {16, 1}, {8, 8}, {32, 16}})
    t.add_tiles<1, 1>(columns, lines), t.add_tiles<16, 1>(columns, lines), t.add_tiles<40, 3>(columns, lines);
  return t.rows;
}

}  // namespace bench
