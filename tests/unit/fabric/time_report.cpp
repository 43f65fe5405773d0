// SPDX-License-Identifier: MIT
// Reports, heat maps and traces of the timed engine, on a run that is small enough to know.
#include <wsl/fabric/time_report.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace wsl;
using Catch::Contains;

namespace {

constexpr color<f32> red{0};

/// Words go from the west end over all others to the east end, which computes before it takes them.
struct relay {
  f32 x[100]{};
  void start(pe& me) {
    if (me.west_edge()) me.async(mov(fabout(red), mem(x)));
    if (!me.east_edge()) return;
    me.spend(500);
    me.activate<&relay::take>();
  }
  task take(pe&) { co_await mov(mem(x), fabin(red)); }
  using tasks = task_list<launch<&relay::start>, local<&relay::take>, sends<red>, reads<red>>;
};

constexpr layout line = layout{wse2, 6, 1}
                            .place<relay>(all)
                            .path(red, column(0), ramp >> east)
                            .path(red, columns(1, edge - 1), west >> east)
                            .path(red, column(edge - 1), west >> ramp);

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

int occurrences(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

/// Quotes close, and so do brackets outside of them.
bool balanced(const std::string& json) {
  std::string open;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c == '{' || c == '[') open += c == '{' ? '}' : ']';
    else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && !quoted;
}

}  // namespace

TEST_CASE("a report says where the cycles went") {
  fabric f{line, timed{}};
  const outcome o = f.launch();
  const time_report r{f};
  CHECK(r.cycles() == o.cycles);
  CHECK(r.seconds() == Approx(static_cast<f64>(o.cycles) / 850e6));
  CHECK(r.pes().size() == 6);
  CHECK(r.pes()[0].at == coord{5, 0});
  CHECK(r.pes()[0].spent.tasks == 4 + 500 + 2 + 4);
  CHECK(r.pes()[0].spent.operations == 100);
  CHECK(r.sum().held_up > 400);  // the west end cannot send while the east end computes
  CHECK(r.links().size() == 5);
  for (const link_times& l : r.links()) CHECK((l.words == 100 && l.side == east));
  CHECK(r.link_stalls() == 0);
  CHECK_THAT(r.text(), Contains("wse2, " + std::to_string(o.cycles) + " cycles") && Contains("PE(5, 0)") &&
                           Contains("PE(4, 0) east: 100 words"));

  f.launch();
  CHECK(time_report{f}.links()[0].words == 200);
}

TEST_CASE("a heat map has a square for each PE and a bar for each link") {
  fabric f{line, timed{}};
  f.launch();
  const std::string svg = time_report{f}.heat_map();
  CHECK(occurrences(svg, "<rect") == 1 + 6 + 5);
  CHECK_THAT(svg, Contains("PE(0, 0) east: ") && Catch::EndsWith("</svg>\n"));
}

TEST_CASE("a heat map of a large fabric shows blocks of PEs") {
  layout square{wse2, 300, 200};
  square.place<relay>(all)
      .path(red, column(0), ramp >> east)
      .path(red, columns(1, edge - 1), west >> east)
      .path(red, column(edge - 1), west >> ramp);
  fabric f{square, timed{}};
  f.launch();
  CHECK(occurrences(time_report{f}.heat_map(), "<rect") == 1 + 100 * 67);
}

TEST_CASE("a report needs the timed engine") {
  fabric f{line};
  CHECK_THROWS_WITH(time_report{f},
                    Contains("a time report needs the timed engine: fabric f{plan, timed{}}"));
}

TEST_CASE("a trace has the tasks, operations and stalls of each PE, and counts the words on links") {
  const std::string file = "trace_of_a_relay.json";
  outcome o;
  {
    fabric f{line, timed{.trace = file.c_str()}};
    o = f.launch();
  }
  const std::string trace = text_of(file);
  std::remove(file.c_str());
  CHECK(balanced(trace));
  CHECK(occurrences(trace, "\"cat\":\"task\"") == 7);
  CHECK(occurrences(trace, "\"cat\":\"operation\"") == 1);
  CHECK_THAT(trace, Contains("PE(5, 0)") && Contains("waits for room") && Contains("\"name\":\"take\""));
  u64 words = 0;
  const std::string link = "\"PE(2, 0) east color 0\"", count = "\"words\":";
  for (std::size_t at = 0; (at = trace.find(link, at)) != std::string::npos; ++at)
    words += std::stoull(trace.substr(trace.find(count, at) + count.size()));
  CHECK(words == 100);
}

namespace {

constexpr color<f32> blue{1};

/// Each PE adds its own to what it hears, and sends it on; the last one is slow.
struct adder {
  f32 x[300]{};
  void start(pe& me) {
    const color<f32> in = me.x() % 2 ? red : blue, out = me.x() % 2 ? blue : red;
    if (me.west_edge()) me.async(mov(fabout(out), mem(x)));
    else if (!me.east_edge()) me.async(add(fabout(out), fabin(in), mem(x)));
    else
      me.async(map_each([](f32 a, f32 b) { return a + b; }, mem(x), mem(x), fabin(in)), then<&adder::done>());
  }
  void done(pe& me) { x[0] = static_cast<f32>(me.now()); }
  using tasks = task_list<launch<&adder::start>, local<&adder::done>, sends<red, blue>, reads<red, blue>>;
};

}  // namespace

TEST_CASE("a trace changes nothing, although PEs that rest are not looked at in every cycle without one") {
  layout chain{GENERATE(false, true) ? wse3 : wse2, 6, 1};
  chain.place<adder>(all)
      .path(red, columns(0, edge - 1, 2), ramp >> east)
      .path(red, columns(1, edge, 2), west >> ramp)
      .path(blue, columns(1, edge - 1, 2), ramp >> east)
      .path(blue, columns(2, edge, 2), west >> ramp);
  const std::string file = GENERATE("trace_of_adders.json", "trace_of_adders.wtrace");
  fabric plain{chain, timed{}};
  const outcome o = plain.launch();
  {
    fabric traced{chain, timed{.trace = file.c_str()}};
    CHECK(traced.launch() == o);
    const time_report a{plain}, b{traced};
    for (std::size_t i = 0; i < a.pes().size(); ++i)
      CHECK((a.pes()[i].at == b.pes()[i].at && a.pes()[i].spent == b.pes()[i].spent));
    CHECK(a.queued() == b.queued());
    CHECK(plain.program_at<adder>({5, 0}).x[0] == traced.program_at<adder>({5, 0}).x[0]);
  }
  std::remove(file.c_str());
}

TEST_CASE("a trace for wsl-view that cannot be written is refused before the run") {
  CHECK_THROWS_WITH((fabric{line, timed{.trace = "no_such_folder/run.wtrace"}}),
                    Contains("cannot write no_such_folder/run.wtrace"));
}

TEST_CASE("a heat map that cannot be written says so") {
  fabric f{line, timed{}};
  CHECK_THROWS_WITH(time_report{f}.write_heat_map("no such folder/heat.svg"),
                    Contains("cannot write no such folder/heat.svg"));
}

namespace {

/// Sums up 20 numbers in C++, and moves them to its neighbor before; `charge` says how a task charges
/// arithmetic.
enum class charge { nothing, by_spending, over_memory, while_receiving, by_a_call };
template <charge how>
struct summer {
  f32 x[20]{}, sum = 0;
  void start(pe& me) {
    if (me.west_edge()) return me.async(mov(fabout(red), mem(x)));
    if constexpr (how == charge::while_receiving) me.async(add(&sum, 0.f, fabin(red, 20)));
    else if constexpr (how == charge::by_a_call)
      me.async(map_each([](f32 a, f32 b) { return a + b; }, &sum, 0.f, fabin(red, 20)));
    else me.async(mov(mem(x), fabin(red)), then<&summer::compute>());
  }
  void compute(pe& me) {
    if constexpr (how == charge::over_memory) {
      add(mem(x), mem(x), mem(x));
      return;
    }
    for (f32 v : x) sum += v;
    if constexpr (how == charge::by_spending) me.spend(20);
    mov(mem(x), 0.f);
  }
  using tasks = task_list<launch<&summer::start>, local<&summer::compute>, sends<red>, reads<red>>;
};
template <charge how>
fabric summed_up() {
  layout l{wse2, 2, 1};
  l.place<summer<how>>(all).path(red, column(0), ramp >> east).path(red, column(1), west >> ramp);
  fabric f{l, timed{}};
  f.launch();
  return f;
}

}  // namespace

TEST_CASE("cycles of programs that charge no arithmetic are said to be the exchange's only") {
  fabric f = summed_up<charge::nothing>();
  CHECK(time_report{f}.exchange_only());
  CHECK_THAT(time_report{f}.text(), Contains("\nexchange only: the programs' own arithmetic is not charged"));
  const auto charges = [](fabric g) {
    return to_text(time_report{g}).find("exchange only") == std::string::npos;
  };
  CHECK(charges(summed_up<charge::by_spending>()));
  CHECK(charges(summed_up<charge::over_memory>()));
  CHECK(charges(summed_up<charge::while_receiving>()));
  CHECK(charges(summed_up<charge::by_a_call>()));
}

namespace {

/// The text that a call writes to the standard error.
template <class Call>
std::string errors_of(Call call) {
  std::fflush(stderr);
  const int kept = dup(2);
  std::FILE* const into = std::tmpfile();
  dup2(fileno(into), 2);
  call();
  std::fflush(stderr);
  dup2(kept, 2);
  close(kept);
  std::rewind(into);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), into));
  std::fclose(into);
  return text;
}

}  // namespace

TEST_CASE("an engine that writes no trace says so once where WSL_TRACE asks for one") {
  CHECK(errors_of([] { fabric{line}; }) == "");
  setenv("WSL_TRACE", "asked_for.json", 1);
  const std::string text = errors_of([] {
    fabric{line};
    fabric{line, threaded{.threads = 2}};
  });
  unsetenv("WSL_TRACE");
  CHECK_THAT(text, Catch::StartsWith("wsl: WSL_TRACE=asked_for.json: this engine writes no trace"));
  CHECK(occurrences(text, "WSL_TRACE") == 1);
}
