// SPDX-License-Identifier: MIT
// Traces of the timed engine: what is in a file adds up to what the engine counts, and broken files are
// refused.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <wsl/engine/timed.hpp>
#include <wsl/engine/timed/engine.hpp>
#include <wsl/fabric/time_report.hpp>
#include <wsl/program/descriptor/ops.hpp>
#include <wsl/wsl.hpp>

#include "../trace_summary.hpp"

using namespace wsl;
using Catch::Contains;
using nlohmann::json;
using view::trace_options, view::trace_summary, view::trace_file;

namespace relays {

constexpr color<f32> red{0}, green{1};

/// Words go from the west end to the east end, which computes before it takes them.
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

struct partner {
  f32 x[4]{};
  void begin(pe& me) { me.activate<&partner::exchange>(); }
  task exchange(pe& me) {
    if (me.west_edge()) co_await mov(mem(x), fabin(green));
    else co_await mov(mem(x), fabin(red));
    me.send(me.west_edge() ? red : green, 1.f);
  }
  using tasks =
      task_list<launch<&partner::begin>, local<&partner::exchange>, sends<red, green>, reads<red, green>>;
};
constexpr layout pair = layout{wse2, 2, 1}
                            .place<partner>(all)
                            .path(red, column(0), ramp >> east)
                            .path(red, column(1), west >> ramp)
                            .path(green, column(1), ramp >> west)
                            .path(green, column(0), east >> ramp);

/// Throws after some cycles.
struct thrower {
  void start(pe& me) {
    me.spend(30);
    throw std::runtime_error("it will not");
  }
  using tasks = task_list<launch<&thrower::start>>;
};

}  // namespace relays

namespace {

/// A file that is gone with it.
struct scratch {
  std::string name = "view_unit_" + std::to_string(::getpid()) + ".wtrace";
  ~scratch() { std::remove(name.c_str()); }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(name, std::ios::binary).rdbuf();
    return all.str();
  }
  void write(const std::string& bytes) const { std::ofstream(name, std::ios::binary) << bytes; }
};

/// Sums up what a file has.
struct counter final : view::trace_visitor {
  struct sums {
    u64 busy = 0, starved = 0, held_up = 0;
  };
  std::map<view::rank, sums> of;
  std::map<std::size_t, u64> words_of;
  std::map<std::string, u64> tasks;
  const trace_file* file = nullptr;
  std::string sentence;
  std::vector<view::trace_wait> waits;
  std::vector<view::trace_link> chain;

  void event(const view::trace_event& e) override {
    using engines::trace_tag;
    if (e.what == trace_tag::busy) of[e.pe].busy += e.busy;
    if (e.what == trace_tag::starved) of[e.pe].starved += e.to - e.from;
    if (e.what == trace_tag::held_up) of[e.pe].held_up += e.to - e.from;
    if (e.what == trace_tag::task) ++tasks[file->names()[e.name]];
  }
  void words(const view::trace_words& w) override { words_of[w.pipe] += w.count; }
  void ending(const std::string& s) override { sentence = s; }
  void wait(view::trace_wait w) override { waits.push_back(std::move(w)); }
  void link(const view::trace_link& l) override { chain.push_back(l); }
};

counter counted_in(const std::string& name) {
  trace_file file(name);
  counter found;
  found.file = &file;
  const view::stored_layout l(file.layout_text(), name);
  file.read(l.plan().width(), l.plan().height(), found);
  found.file = nullptr;
  return found;
}

}  // namespace

TEST_CASE("the cycles of a trace are those that the engine counts") {
  const scratch file;
  std::map<view::rank, engines::pe_cycles> spent;
  u64 cycles = 0;
  {
    fabric f{relays::line, timed{.trace = file.name.c_str()}};
    cycles = f.launch().cycles;
    cycles += f.launch().cycles;
    const time_report r{f};
    for (const auto& p : r.pes()) spent[static_cast<view::rank>(p.at.x)] = p.spent;
  }
  counter found = counted_in(file.name);
  CHECK(spent.size() == 6);
  for (auto& [pe, s] : spent) {
    INFO("PE " << pe);
    CHECK(found.of[pe].busy == s.busy());
    CHECK(found.of[pe].starved == s.starved);
    CHECK(found.of[pe].held_up == s.held_up);
  }
  CHECK(found.tasks == std::map<std::string, u64>{{"start", 12}, {"take", 2}});
  CHECK(found.sentence.empty());
  CHECK(trace_file(file.name).end() == cycles);
}

TEST_CASE("each word of a trace is there at each ramp and link") {
  const scratch file;
  { fabric{relays::line, timed{.trace = file.name.c_str()}}.launch(); }
  trace_file read(file.name);
  counter found;
  found.file = &read;
  read.read(6, 1, found);
  std::map<std::pair<view::rank, int>, u64> links;
  for (const auto& [pipe, count] : found.words_of)
    for (const auto& [router, side] : read.pipes()[pipe].links) links[{router, index_of(side)}] += count;
  for (view::rank x = 0; x < 5; ++x) CHECK(links[{x, index_of(east)}] == 100);
  CHECK(links.size() == 5);
  u64 up = 0, down = 0;
  for (const auto& [pipe, count] : found.words_of) {
    const view::trace_pipe& p = read.pipes()[pipe];
    if (p.what == engines::trace_pipe::from_pe && p.from == 0) up += count;
    if (p.what == engines::trace_pipe::to_pe && p.from == 5) down += count;
  }
  CHECK(up == 100);
  CHECK(down == 100);
}

TEST_CASE("a summary has the sums of the events, whatever the bins") {
  const scratch file;
  { fabric{relays::line, timed{.trace = file.name.c_str()}}.launch(); }
  const trace_summary whole(file.name, {});
  const json meta = json::parse(whole.meta());
  CHECK(meta["details"] == true);
  CHECK(meta["wide"] == 6);
  CHECK(meta["slowest"][0]["x"] == 5);
  CHECK(meta["slowest"][0]["computing"] == 4 + 500 + 2 + 4 + 100);
  std::size_t size = 0;
  for (const json& p : meta["parts"]) {
    CHECK(p["at"] == size);
    size += (p["size"].get<std::size_t>() + 3) / 4 * 4;
  }
  CHECK(whole.bytes().size() == size);

  trace_options part;
  part.only("0:4");
  const json first = json::parse(trace_summary(file.name, part).meta());
  CHECK(first["bins"] == 4);
  CHECK(first["slowest"][0]["computing"] == 4);
  // 100 words cross a ramp, five links in a row and another ramp; whatever the cuts, none is lost or counted
  // twice
  const auto words_of = [](const trace_summary& s) {
    const std::string t = s.sentence();
    const std::size_t end = t.find(" words"), from = t.rfind(' ', end - 1) + 1;
    return std::stoi(t.substr(from, end - from));
  };
  CHECK(words_of(whole) == 300);
  int sum = 0;
  for (const char* cycles : {"0:50", "50:51", "51:90", "90:100000"}) {
    part.only(cycles);
    sum += words_of(trace_summary(file.name, part));
  }
  CHECK(sum == 300);
  trace_options few;
  few.most_details = 3;
  const trace_summary summed(file.name, few);
  CHECK(json::parse(summed.meta())["details"] == false);
  CHECK_THAT(summed.sentence(), Contains("more than 3: choose fewer cycles with --cycles FROM:TO"));
}

TEST_CASE("a deadlock ends a trace, with who waits for whom") {
  const scratch file;
  std::string said;
  fabric f{relays::pair, timed{.trace = file.name.c_str()}};
  try {
    f.launch();
  } catch (const deadlock& d) { said = d.what(); }
  const counter found = counted_in(file.name);  // although the fabric is still there
  CHECK_FALSE(said.empty());
  CHECK(found.sentence == said);
  REQUIRE(found.waits.size() == 2);
  CHECK(found.waits[0].color == 1);
  CHECK(found.waits[0].count == 4);
  REQUIRE(found.chain.size() == 2);
  CHECK((found.chain[0].from == 0 && found.chain[0].to == 1));
  const json meta = json::parse(trace_summary(file.name, {}).meta());
  CHECK(meta["waits"][0]["says"] == "mov waits for 4 wavelets of color 1; the input queue is empty");
  CHECK(meta["chain"][0]["says"] == "waits for color 1 from");
}

TEST_CASE("the exception of a task ends a trace") {
  const scratch file;
  layout l{wse2, 1, 1};
  l.place<relays::thrower>(all);
  fabric f{l, timed{.trace = file.name.c_str()}};
  CHECK_THROWS(f.launch());
  CHECK_THAT(counted_in(file.name).sentence, Contains("it will not"));
}

TEST_CASE("the name of a trace says for which viewer it is") {
  using engines::trace_recorder;
  CHECK(trace_recorder::is_for_viewer("run.wtrace"));
  CHECK(trace_recorder::is_for_viewer("run.wtrace.12"));
  CHECK_FALSE(trace_recorder::is_for_viewer("run.json"));
  CHECK_FALSE(trace_recorder::is_for_viewer("wtrace.json.2"));
}

TEST_CASE("a broken trace is refused") {
  const scratch file;
  { fabric{relays::line, timed{.trace = file.name.c_str()}}.launch(); }
  const std::string whole = file.text();
  const auto refuses = [&](const std::string& bytes, const std::string& sentence) {
    file.write(bytes);
    CHECK_THROWS_WITH(trace_summary(file.name, {}), Contains(sentence) && Contains(file.name));
  };
  refuses("", "it is no trace");
  refuses("{\"traceEvents\":[]}", "for Perfetto");
  refuses(whole.substr(0, 12), "it ends in the middle");
  refuses(whole.substr(0, whole.size() / 2), "it ends in the middle");
  std::string other = whole;
  other[8] = 7;
  refuses(other, "it has version 7, and this wsl-view reads version 1");
  other = whole;
  other[15] = '\x7f';
  refuses(other, "it ends in the middle");
  // a byte less between the records and the sums
  other = whole;
  other.erase(whole.size() - 60, 1);
  refuses(other, "");
  CHECK_THROWS_WITH(trace_summary("none.wtrace", {}), Contains("there is no such file"));
  trace_options how;
  for (const char* wrong : {"", "3", "3:", ":3", "5:5", "9:3", "1:2:3", "-1:4"})
    CHECK_THROWS_WITH(how.only(wrong), Contains("--cycles is"));
  file.write(whole);
  how.only("100000000:200000000");
  CHECK_THROWS_WITH(trace_summary(file.name, how), Contains("--cycles begins after the trace"));
  // Whatever a byte becomes, the file is read or refused.
  for (std::size_t k = 0; k < whole.size(); k += 5) {
    other = whole;
    other[k] = static_cast<char>(other[k] ^ 0x5a);
    file.write(other);
    try {
      const trace_summary read(file.name, {});
      CHECK_FALSE(read.meta().empty());
      CHECK_FALSE(read.bytes().empty());
    } catch (const std::invalid_argument&) {}
  }
}
