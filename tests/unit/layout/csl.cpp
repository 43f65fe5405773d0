// SPDX-License-Identifier: MIT
// The skeleton of a layout in CSL, read back: every PE has the code and, for every color, the route, the
// switch and the filter that it has in the layout.
#include <wsl/layout/draw/csl.hpp>

#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <sstream>
#include <tuple>
#include <wsl/collective/neighbours.hpp>
#include <wsl/layout/explain.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/plan/mux.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

namespace {

/// Reads what csl_skeleton writes: loops over x and y, and in each one call.
class csl_reader {
 public:
  explicit csl_reader(const std::string& text) {
    static const std::regex rectangle(R"(@set_rectangle\((\d+), (\d+)\);)"),
        loop(R"(for \(@range\(i16, (\d+), (\d+), (\d+)\)\) \|([xy])\| \{)"),
        code(R"re(@set_tile_code\(x, y, "([A-Za-z0-9_]+\.csl)", \.\{(.*)\}\);)re"),
        config(R"(^ *@set_color_config\(x, y, @get_color\((\d+)\), \.\{ (.*) \}\);)");
    std::istringstream in(text);
    int from[2]{}, to[2]{}, by[2]{1, 1};
    for (std::string line; std::getline(in, line);) {
      std::smatch m;
      if (line.find("//") != line.npos) continue;
      if (std::regex_search(line, m, rectangle)) width = std::stoi(m[1]), height = std::stoi(m[2]);
      if (std::regex_search(line, m, loop)) {
        const int k = m[4] == "x" ? 0 : 1;
        from[k] = std::stoi(m[1]), to[k] = std::stoi(m[2]), by[k] = std::stoi(m[3]);
      }
      const bool is_code = std::regex_search(line, m, code),
                 is_config = !is_code && std::regex_search(line, m, config);
      if (!is_code && !is_config) continue;
      for (int y = from[1]; y < to[1]; y += by[1])
        for (int x = from[0]; x < to[0]; x += by[0]) {
          if (is_code) {
            REQUIRE(codes.emplace(std::pair{x, y}, m[1].str() + " " + m[2].str()).second);
          } else {
            REQUIRE(configs.emplace(std::tuple{x, y, std::stoi(m[1])}, with(m[2], x, y)).second);
          }
        }
    }
  }
  int width = 0, height = 0;
  std::map<std::pair<int, int>, std::string> codes;
  std::map<std::tuple<int, int, int>, std::string> configs;

 private:
  /// The numbers of filters that depend on x and y, as numbers.
  static std::string with(const std::string& config, int x, int y) {
    static const std::regex sum(
        R"(\(?(-?\d+)((?: \+ -?\d+ \* \(\([xy] - \d+\) / \d+\))*)\)?(?: % (\d+))?(?=,| \}))"),
        term(R"( \+ (-?\d+) \* \(\(([xy]) - (\d+)\) / (\d+)\))");
    std::string out;
    auto at = config.cbegin();
    for (std::sregex_iterator m(config.begin(), config.end(), sum), end; m != end; ++m) {
      out.append(at, (*m)[0].first);
      int n = std::stoi((*m)[1]);
      const std::string terms = (*m)[2];
      for (std::sregex_iterator t(terms.begin(), terms.end(), term); t != end; ++t)
        n += std::stoi((*t)[1]) * (((*t)[2] == "x" ? x : y) - std::stoi((*t)[3])) / std::stoi((*t)[4]);
      if ((*m)[3].matched) n %= std::stoi((*m)[3]);
      out += std::to_string(n);
      at = (*m)[0].second;
    }
    return out.append(at, config.cend());
  }
};

std::string directions(ports p) {
  std::string t;
  for (const auto& [side, name] :
       {std::pair{ramp, "RAMP"}, {east, "EAST"}, {west, "WEST"}, {north, "NORTH"}, {south, "SOUTH"}})
    if (p.has(side)) t += (t.empty() ? "" : ", ") + std::string(name);
  return t;
}

/// What the layout says of one PE and color, in the words of the skeleton.
std::string expected(const layout& l, const path_record& p, coord c) {
  std::string t =
      ".routes = .{ .rx = .{ " + directions(p.how.from) + " }, .tx = .{ " + directions(p.how.to) + " } }";
  if (const auto* s = l.switch_of(p)) {
    t += ", .switches = .{";
    for (int i = 1; i < s->count; ++i) {
      const route now = s->position(i), before = s->position(i - 1);
      t += std::string(i == 1 ? " " : ", ") + ".pos" + std::to_string(i) + " = .{";
      if (now.from != before.from) t += " .rx = " + directions(now.from);
      if (now.to != before.to)
        t += std::string(now.from != before.from ? "," : "") + " .tx = " + directions(now.to);
      t += " }";
    }
    const char* pops[] = {"no_pop", "always_pop", "pop_on_advance", "pop_on_advance_nop"};
    t += ", .current_switch_pos = " + std::to_string(s->start) +
         ", .ring_mode = " + (s->ring ? "true" : "false") + ", .pop_mode = .{ ." +
         pops[static_cast<int>(s->pop)] + " = true } }";
  }
  if (const auto* f = l.filter_of(p)) {
    const int columns = (c.x - p.where.x0) / p.where.sx, rows = (c.y - p.where.y0) / p.where.sy,
              moved = f->per_column * columns + f->per_row * rows;
    if (f->by_index) {
      t += ", .filter = .{ .kind = .{ .range = true }, .min_idx = " + std::to_string(f->first + moved) +
           ", .max_idx = " + std::to_string(f->last + moved) + " }";
    } else {
      const int start = ((f->start + moved) % f->period + f->period) % f->period;
      t += std::string(", .filter = .{ .kind = .{ .counter = true }, .count_data = ") +
           (f->counts_data ? "true" : "false") +
           ", .count_control = " + (f->counts_control ? "true" : "false") +
           ", .init_counter = " + std::to_string(start) + ", .max_counter = " + std::to_string(f->last) +
           ", .limit1 = " + std::to_string(f->period - 1) +
           ", .filter_control = " + (f->holds_control ? "true" : "false") + " }";
    }
  }
  return t;
}

void reads_back(const layout& l) {
  require(l);
  const std::vector<csl_file> files = csl_skeleton(l);
  REQUIRE(files[0].name == "layout.csl");
  const csl_reader read(files[0].text);
  CHECK(read.width == l.width());
  CHECK(read.height == l.height());
  std::size_t codes = 0, configs = 0;
  for (int y = 0; y < l.height(); ++y)
    for (int x = 0; x < l.width(); ++x) {
      for (const placement& p : l.placements()) {
        if (!p.where.has({x, y})) continue;
        ++codes;
        const auto found = read.codes.find({x, y});
        REQUIRE(found != read.codes.end());
        // the parameters are the colors that the program has here
        const std::string text = found->second, file = text.substr(0, text.find(' '));
        u64 named = 0;
        static const std::regex parameter(R"(\.([cs])(\d+) = @get_color\((\d+)\))");
        for (std::sregex_iterator m(text.begin(), text.end(), parameter), end; m != end; ++m) {
          const int id = std::stoi((*m)[2]) + ((*m)[1] == "s" ? detail::first_symbolic : 0);
          CHECK(p.colors(id) == std::stoi((*m)[3]));
          named |= detail::color_bit(id);
        }
        for (const detail::binding& b : *p.what)
          if (b.names_a_color()) CHECK((named >> b.id & 1) == 1);
        bool has_file = false;
        for (const csl_file& f : files) has_file = has_file || f.name == file;
        CHECK(has_file);
      }
      for (int c = 0; c < l.machine().colors; ++c) {
        const path_record* p = l.path_at({x, y}, c);
        const auto found = read.configs.find({x, y, c});
        REQUIRE((p != nullptr) == (found != read.configs.end()));
        if (!p) continue;
        ++configs;
        CHECK(found->second == expected(l, *p, {x, y}));
      }
    }
  CHECK(codes == read.codes.size());
  CHECK(configs == read.configs.size());
}

constexpr color<f32> red{0};
struct giver {
  f32 x[4]{};
  void start(pe& me) { me.async(mov(fabout(red), mem(x)), then_advance(red), then<&giver::sent>()); }
  void sent(pe&) {}
  using tasks = task_list<launch<&giver::start>, local<&giver::sent, blocked>, sends<red>, advances<red>>;
};
struct plain_giver {
  void start(pe& me) { me.send(red, 1.f); }
  using tasks = task_list<launch<&plain_giver::start>, sends<red>>;
};
template <int n>
struct taker {
  void take(pe&, f32) {}
  void stop(pe&, u16) {}
  using tasks = task_list<on<red, &taker::take, blocked>, control<7, &taker::stop>>;
};
constexpr neighbours<f32> four{.first = 6};
struct cell {
  void go(pe& me) { four.send(me, 1.f); }
  void take(pe&, f32, port) {}
  using tasks = task_list<launch<&cell::go>, on<four, &cell::take>, sends<four>>;
};
struct doubler {
  static constexpr auto in = symbolic<f32>(0), out = symbolic<f32>(1);
  void take(pe& me, f32 x) { me.send(out, 2 * x); }
  using tasks = task_list<on<in, &doubler::take>, sends<out>>;
};

}  // namespace

TEST_CASE("a skeleton in CSL has the routes, switches and filters of its layout") {
  layout l{wse2, 3, 3};
  l.place<giver>(at(1, 1))
      .place<taker<0>>(row(1).columns(0, edge, 2))
      .place<taker<1>>(column(1).rows(0, edge, 2));
  l.path(red, at(1, 1), ramp >> west,
         switches{.pos1 = {.to = north},
                  .pos2 = {.to = east},
                  .pos3 = {.to = south},
                  .start = 1,
                  .ring = true,
                  .pop = pop::always});
  l.path(red, at(0, 1), east >> ramp)
      .path(red, at(1, 0), south >> ramp)
      .path(red, at(2, 1), west >> ramp)
      .path(red, at(1, 2), north >> ramp);
  reads_back(l);

  layout filtered{wse2, 7, 2};
  filtered.place<plain_giver>(column(0)).place<taker<2>>(columns(1, edge));
  filtered.path(red, column(0), ramp >> east)
      .path(red, columns(1, edge - 1), west >> (ramp | east),
            sparse_counter_filter{.first = 2, .last = 3, .period = 12, .per_column = 2, .per_row = 1});
  filtered.path(red, column(edge - 1), west >> ramp, range_filter{.first = 3, .last = 4, .per_row = 5});
  reads_back(filtered);

  for (const machine& m : {wse2, wse3}) reads_back(layout{m, 5, 4}.place<cell>(all).wire(four));

  floor_plan p{wse2, 14, 9};
  const auto s = p.region<doubler>("s", 1, 3), again = p.region<doubler>("again", 1, 3);
  const mux<f32, 3, 4> y(p, "y", south);
  p.place(s, {3, 2}).place(again, {6, 2}).place(y, {9, 2});
  p.stream_in(s.input(doubler::in, west), west, deals{.words = 4});
  p.connect(s.output(doubler::out, east), again.input(doubler::in, west));
  p.connect(again.output(doubler::out, east), y.input()).stream_out(y.output(), east);
  reads_back(p.connected());
}

TEST_CASE("a stub in CSL binds the tasks of its program") {
  layout l{wse2, 3, 1};
  l.place<giver>(column(0)).place<taker<0>>(column(1)).place<taker<1>>(column(2));
  l.path(red, column(0), ramp >> east)
      .path(red, column(1), west >> (ramp | east))
      .path(red, column(2), west >> ramp);
  const std::vector<csl_file> files = csl_skeleton(l);
  REQUIRE(files.size() == 4);
  std::string stub, other;
  for (const csl_file& f : files) (f.text.find("fn start") != f.text.npos ? stub : other) = f.text;
  using Catch::Contains;
  CHECK_THAT(stub, Contains("param c0: color;") && Contains("var members = @zeros([4]u32);") &&
                       Contains("@export_symbol(start);") && Contains("@bind_local_task(sent, sent_id);") &&
                       Contains("@block(sent_id);") && Contains("fabout_dsd, .{ .fabric_color = c0") &&
                       !Contains("then_advance"));
  CHECK_THAT(other, Contains("task take(data: f32) void {") && Contains("@bind_data_task(take, take_id);") &&
                        Contains("@block(take_id);") && Contains("@get_control_task_id(7)"));
  // on a WSE-3 a data task has the id of a queue
  layout three{wse3, 2, 1};
  three.place<giver>(column(0))
      .place<taker<0>>(column(1))
      .path(red, column(0), ramp >> east)
      .path(red, column(1), west >> ramp);
  std::string text;
  for (const csl_file& f : csl_skeleton(three)) text += f.text;
  CHECK_THAT(text, Contains("@initialize_queue(take_queue, .{ .color = c0 });") &&
                       Contains("@get_data_task_id(take_queue)"));
  // names of files are different, whatever the names of programs
  std::map<std::string, int> names;
  for (const csl_file& f : files) ++names[f.name];
  CHECK(names.size() == files.size());
}
