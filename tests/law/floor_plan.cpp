// SPDX-License-Identifier: MIT
// Law: a floor plan that is connected passes the checker and delivers every word to every input, and one that
// is refused has no solution: for all sets of PEs that a net could take and all colors, none fits.
#include <wsl/plan/floor_plan.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <wsl/engine/reference.hpp>
#include <wsl/wsl.hpp>

#include "seeds.hpp"

using namespace wsl;

namespace {

constexpr int most_outputs = 2, most_inputs = 2, words = 3;

template <int k>
inline constexpr color<i32> out = symbolic<i32>(k);
template <int k>
inline constexpr color<i32> in = symbolic<i32>(8 + k);

/// Sends `words` words on each output, and adds up what comes to each input.
template <int outputs, int inputs>
struct station {
  i32 first = 0, sum[most_inputs]{}, count[most_inputs]{};
  void start(pe& me, i32 from) {
    for (int i = 0; i < words; ++i) {
      if constexpr (outputs > 0) me.send(out<0>, from + i);
      if constexpr (outputs > 1) me.send(out<1>, from + 100 + i);
    }
  }
  template <int k>
  void hear(pe&, i32 x) {
    sum[k] += x, ++count[k];
  }
  using tasks =
      task_list<launch<&station::start>, when<(outputs > 0), sends<out<0>>>,
                when<(outputs > 1), sends<out<1>>>, when<(inputs > 0), on<in<0>, &station::template hear<0>>>,
                when<(inputs > 1), on<in<1>, &station::template hear<1>>>>;
};

struct station_case {
  int width = 1, height = 1;
  coord at;
  int outputs = 0, inputs = 0;
};
struct port_case {
  int station = 0, number = 0;
  coord inside;
  ports sides;
};
struct link_case {
  port_case from, to;
};
struct plan_case {
  int width = 0, height = 0, colors = 1;
  std::vector<station_case> stations;
  std::vector<link_case> links;
  bool by_turns = false;  // all links lead to the port of station 0
};

using random_source = std::mt19937_64;
int below(random_source& g, int n) { return static_cast<int>(g() % static_cast<u64>(n)); }

ports some_sides(random_source& g) {
  ports p;
  do
    for (const port side : every_side)
      if (below(g, 6) > 0) p = p | ports{side};
  while (p.empty());
  return p;
}

plan_case random_case(random_source& g) {
  plan_case c;
  c.width = 2 + below(g, 3), c.height = 2 + below(g, 2), c.colors = 1 + below(g, 3);
  std::set<std::pair<int, int>> taken;
  for (int n = 2 + below(g, 4), tries = 0; n > 0 && tries < 50; ++tries) {
    station_case s;
    if (below(g, 4) == 0) (below(g, 2) ? s.width : s.height) = 2;
    s.at = {below(g, c.width), below(g, c.height)};
    bool fits = s.at.x + s.width <= c.width && s.at.y + s.height <= c.height;
    for (int x = 0; x < s.width; ++x)
      for (int y = 0; y < s.height; ++y) fits = fits && !taken.contains({s.at.x + x, s.at.y + y});
    if (!fits) continue;
    for (int x = 0; x < s.width; ++x)
      for (int y = 0; y < s.height; ++y) taken.insert({s.at.x + x, s.at.y + y});
    c.stations.push_back(s), --n;
  }
  const auto a_port = [&](int station, int number) {
    const station_case& s = c.stations[static_cast<std::size_t>(station)];
    return port_case{station, number, {below(g, s.width), below(g, s.height)}, some_sides(g)};
  };
  const int count = static_cast<int>(c.stations.size());
  std::vector<port_case> outputs;
  for (int n = 1 + below(g, 4); n > 0; --n) {
    const int to = below(g, count);
    station_case& sink = c.stations[static_cast<std::size_t>(to)];
    if (sink.inputs == most_inputs) continue;
    if (!outputs.empty() && below(g, 3) == 0) {  // one more sink of an output
      const port_case from = outputs[static_cast<std::size_t>(below(g, static_cast<int>(outputs.size())))];
      bool hears_it = from.station == to;
      for (const link_case& l : c.links)
        hears_it = hears_it ||
                   (l.from.station == from.station && l.from.number == from.number && l.to.station == to);
      if (!hears_it) c.links.push_back({from, a_port(to, sink.inputs++)});
      continue;
    }
    const int k = below(g, count);
    station_case& source = c.stations[static_cast<std::size_t>(k)];
    if (k == to || source.outputs == most_outputs) continue;
    outputs.push_back(a_port(k, source.outputs++));
    c.links.push_back({outputs.back(), a_port(to, sink.inputs++)});
  }
  return c;
}

/// Whether some choice of PEs for every net, and of colors for every class, fits.
class oracle {
 public:
  explicit oracle(const plan_case& c) : case_(c) {
    owner_.assign(static_cast<std::size_t>(c.width * c.height), -1);
    for (std::size_t k = 0; k < c.stations.size(); ++k)
      for (int x = 0; x < c.stations[k].width; ++x)
        for (int y = 0; y < c.stations[k].height; ++y)
          owner_[static_cast<std::size_t>(cell(c.stations[k].at + coord{x, y}))] = static_cast<int>(k);
    for (const link_case& l : c.links) {
      tree* to = nullptr;
      for (tree& t : trees_)
        if (t.links[0].from.station == l.from.station && t.links[0].from.number == l.from.number) to = &t;
      if (!to) to = &trees_.emplace_back();
      to->links.push_back(l);
    }
    for (tree& t : trees_) find_sets(t);
  }
  bool has_solution() { return place(0); }

 private:
  struct tree {
    std::vector<link_case> links;
    std::vector<u32> sets;  // of PEs, the smallest ones that connect all ends
    u32 set = 0;
    int color = -1;
  };
  int cell(coord c) const { return c.y * case_.width + c.x; }
  int cell_of(const port_case& p) const {
    return cell(case_.stations[static_cast<std::size_t>(p.station)].at + p.inside);
  }
  /// Whether words can go from the source to all sinks within a set.
  bool connects(const tree& t, u32 set) const {
    const int root = cell_of(t.links[0].from);
    std::vector<int> open{root};
    u32 seen = u32{1} << root;
    while (!open.empty()) {
      const int c = open.back();
      open.pop_back();
      bool is_sink = false;
      for (const link_case& l : t.links) is_sink = is_sink || cell_of(l.to) == c;
      if (is_sink && c != root) continue;
      for (const port side : every_side) {
        if (c == root && !t.links[0].from.sides.has(side)) continue;
        const coord next = coord{c % case_.width, c / case_.width} + step(side);
        if (next.x < 0 || next.y < 0 || next.x >= case_.width || next.y >= case_.height) continue;
        const u32 bit = u32{1} << cell(next);
        if (!(set & bit) || (seen & bit)) continue;
        bool allowed = true;
        for (const link_case& l : t.links)
          if (cell_of(l.to) == cell(next)) allowed = l.to.sides.has(opposite(side));
        if (!allowed) continue;
        seen |= bit, open.push_back(cell(next));
      }
    }
    return seen == set;
  }
  void find_sets(tree& t) const {
    u32 ends = u32{1} << cell_of(t.links[0].from), allowed = 0;
    for (const link_case& l : t.links) ends |= u32{1} << cell_of(l.to);
    for (int c = 0; c < case_.width * case_.height; ++c) {
      bool own = owner_[static_cast<std::size_t>(c)] < 0 ||
                 owner_[static_cast<std::size_t>(c)] == t.links[0].from.station;
      for (const link_case& l : t.links) own = own || owner_[static_cast<std::size_t>(c)] == l.to.station;
      if (own) allowed |= u32{1} << c;
    }
    const u32 free = allowed & ~ends;
    for (u32 more = free;; more = (more - 1) & free) {
      if (connects(t, ends | more)) t.sets.push_back(ends | more);
      if (more == 0) break;
    }
  }
  bool place(std::size_t k) {
    if (k == trees_.size()) return true;
    if (case_.by_turns) return takes_its_turn(k);
    tree& t = trees_[k];
    for (t.color = 0; t.color < case_.colors; ++t.color) {
      if (!may_have_color(k)) continue;
      for (const u32 set : t.sets) {
        bool fits = true;
        for (std::size_t i = 0; i < k; ++i)
          fits = fits && (trees_[i].color != t.color || !(trees_[i].set & set));
        t.set = set;
        if (fits && place(k + 1)) return true;
      }
    }
    t.color = -1;
    return false;
  }
  /// Ways with one color and one sink meet nowhere else.
  bool takes_its_turn(std::size_t k) {
    for (const u32 set : trees_[k].sets) {
      bool fits = true;
      for (std::size_t i = 0; i < k; ++i)
        fits = fits && (trees_[i].set & set) == u32{1} << cell_of(trees_[k].links[0].to);
      trees_[k].set = set;
      if (fits && place(k + 1)) return true;
    }
    return false;
  }
  /// All colors of one station are different.
  bool may_have_color(std::size_t k) const {
    for (std::size_t i = 0; i < k; ++i) {
      if (trees_[i].color != trees_[k].color) continue;
      for (const int a : stations_of(trees_[i]))
        for (const int b : stations_of(trees_[k]))
          if (a == b) return false;
    }
    return true;
  }
  static std::vector<int> stations_of(const tree& t) {
    std::vector<int> all{t.links[0].from.station};
    for (const link_case& l : t.links) all.push_back(l.to.station);
    return all;
  }

  const plan_case& case_;
  std::vector<int> owner_;
  std::vector<tree> trees_;
};

template <int k = 0>
void place_station(floor_plan& p, const code_region& r, const station_case& s) {
  if (s.outputs * 3 + s.inputs == k) p.place<station<k / 3, k % 3>>(r, all);
  else if constexpr (k < 8) place_station<k + 1>(p, r, s);
}
color<i32> output_color(int k) { return k == 0 ? out<0> : out<1>; }
color<i32> input_color(int k) { return k == 0 ? in<0> : in<1>; }

layout connected(const plan_case& c) {
  machine m = wse2;
  m.colors = c.colors;
  floor_plan p{m, c.width, c.height};
  std::vector<code_region> regions;
  for (const station_case& s : c.stations) {
    regions.push_back(p.region("station", s.width, s.height));
    place_station(p, regions.back(), s);
    p.place(regions.back(), s.at);
  }
  for (const link_case& l : c.links)
    p.connect(regions[static_cast<std::size_t>(l.from.station)].output(
                  output_color(l.from.number), at(l.from.inside.x, l.from.inside.y), l.from.sides),
              regions[static_cast<std::size_t>(l.to.station)].input(
                  input_color(l.to.number), at(l.to.inside.x, l.to.inside.y), l.to.sides));
  return p.connected();
}

template <int k = 0>
void start_station(fabric& f, const station_case& s, coord c, i32 from) {
  if (s.outputs * 3 + s.inputs == k) f.start<&station<k / 3, k % 3>::start>(at(c.x, c.y), from);
  else if constexpr (k < 8) start_station<k + 1>(f, s, c, from);
}
template <int k = 0>
std::pair<i32, i32> heard_by(fabric& f, const station_case& s, coord c, int input) {
  if (s.outputs * 3 + s.inputs == k) {
    const auto& p = f.program_at<station<k / 3, k % 3>>(c);
    return {p.sum[input], p.count[input]};
  }
  if constexpr (k < 8) return heard_by<k + 1>(f, s, c, input);
  else return {};
}

/// Every input gets the words of its output, and no other PE any.
void delivers(const plan_case& c, const layout& l) {
  fabric f{l, reference{}};
  const auto base = [](int station) { return 1000 * (station + 1); };
  for (const link_case& k : c.links) {
    const station_case& s = c.stations[static_cast<std::size_t>(k.from.station)];
    bool first = true;
    for (const link_case& other : c.links) {
      if (&other == &k) break;
      first = first && !(other.from.station == k.from.station);
    }
    if (first) {
      // the PEs of its outputs differ: those that send nothing have no path, so each is started by itself
      std::set<std::pair<int, int>> pes;
      for (const link_case& other : c.links)
        if (other.from.station == k.from.station) pes.insert({other.from.inside.x, other.from.inside.y});
      if (pes.size() > 1) return;  // a PE would send where only the other one has a path
      start_station(f, s, s.at + k.from.inside, base(k.from.station));
    }
  }
  f.run();
  for (const link_case& k : c.links) {
    const station_case& s = c.stations[static_cast<std::size_t>(k.to.station)];
    const auto [sum, count] = heard_by(f, s, s.at + k.to.inside, k.to.number);
    const i32 from = base(k.from.station) + 100 * k.from.number;
    CHECK(count == words);
    CHECK(sum == words * from + words * (words - 1) / 2);
  }
}

}  // namespace

TEST_CASE("a floor plan that is connected is right, and one that is refused has no solution") {
  long done = 0, refused = 0;
  const law::seeds cases("a floor plan", 2'000, 6'000);
  cases.each([&](unsigned seed) {
    random_source g(seed);
    const plan_case c = random_case(g);
    if (c.links.empty()) return;
    try {
      const layout l = connected(c);
      if (const diagnostic d = check(l); d.found()) FAIL(sentence(d));
      delivers(c, l);
      ++done;
    } catch (const fault& e) {
      ++refused;
      const std::string why = e.what();
      if (why.find("finds no way") == why.npos && why.find("no color is left") == why.npos) FAIL(why);
      if (oracle(c).has_solution()) FAIL("refused, but there is a solution: " << why);
    }
  });
  std::printf("%ld floor plans connected, %ld refused\n", done, refused);
  if (cases.are_a_sample()) CHECK((done > cases.count() / 4 && refused > cases.count() / 20));
}

namespace {

/// Sends `words` words and gives the turn to the next one.
struct giver {
  void start(pe& me, i32 from) {
    for (int i = 0; i < words; ++i) me.send(out<0>, from + i);
    me.send_control(out<0>, switch_adv);
  }
  using tasks = task_list<launch<&giver::start>, sends<out<0>>, steers<out<0>, switch_adv>>;
};
struct listener {
  std::vector<i32> heard;
  void hear(pe&, i32 x) { heard.push_back(x); }
  using tasks = task_list<on<in<0>, &listener::hear>>;
};

plan_case random_turns(random_source& g) {
  plan_case c;
  c.by_turns = true, c.width = 3 + below(g, 3), c.height = 2 + below(g, 2);
  std::vector<coord> free;
  for (int k = 0; k < c.width * c.height; ++k) free.push_back({k % c.width, k / c.width});
  std::shuffle(free.begin(), free.end(), g);
  const int stations = std::min(3 + below(g, 3), static_cast<int>(free.size()));
  for (int k = 0; k < stations; ++k)
    c.stations.push_back({.at = free[static_cast<std::size_t>(k)], .outputs = k > 0, .inputs = k == 0});
  const port_case sink{0, 0, {}, some_sides(g)};
  for (int k = 1; k < stations; ++k) c.links.push_back({{k, 0, {}, some_sides(g)}, sink});
  return c;
}

layout connected_by_turns(const plan_case& c) {
  floor_plan p{wse2, c.width, c.height};
  std::vector<code_region> regions;
  for (const station_case& s : c.stations) {
    regions.push_back(s.inputs ? p.region<listener>("listener", 1, 1) : p.region<giver>("giver", 1, 1));
    p.place(regions.back(), s.at);
  }
  for (const link_case& l : c.links)
    p.connect(regions[static_cast<std::size_t>(l.from.station)].output(out<0>, all, l.from.sides),
              regions[0].input(in<0>, all, l.to.sides), by_turns);
  return p.connected();
}

}  // namespace

TEST_CASE("outputs that take turns deliver in that order, or there is no way for all of them") {
  long done = 0, refused = 0;
  const law::seeds cases("turns of a floor plan", 1'000, 3'000);
  cases.each([&](unsigned seed) {
    random_source g(seed);
    const plan_case c = random_turns(g);
    try {
      const layout l = connected_by_turns(c);
      if (const diagnostic d = check(l); d.found()) FAIL(sentence(d));
      fabric f{l, reference{}};
      std::vector<i32> expected;
      for (const link_case& k : c.links) {
        const coord from = c.stations[static_cast<std::size_t>(k.from.station)].at;
        f.start<&giver::start>(at(from.x, from.y), 100 * k.from.station);
        for (int i = 0; i < words; ++i) expected.push_back(100 * k.from.station + i);
      }
      f.run();
      CHECK(f.program_at<listener>(c.stations[0].at).heard == expected);
      ++done;
    } catch (const fault& e) {
      ++refused;
      const std::string why = e.what();
      if (why.find("finds no way") == why.npos && why.find("connections take turns") == why.npos) FAIL(why);
      if (oracle(c).has_solution()) FAIL("refused, but there is a solution: " << why);
    }
  });
  std::printf("%ld floor plans with turns connected, %ld refused\n", done, refused);
  if (cases.are_a_sample()) CHECK((done > cases.count() / 4 && refused > cases.count() / 20));
}
