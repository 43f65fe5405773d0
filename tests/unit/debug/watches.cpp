// SPDX-License-Identifier: MIT
// Watches of a debugger: that a run stops at all changes of members and no later, that it stops when a
// condition becomes true, with the PE, the task and the values; and the numbers of stops.
#include <wsl/debug/debugger.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/program/descriptor/ops.hpp>

using namespace wsl;
using Catch::Contains;
using stepped = std::tuple<reference, timed>;

namespace {

constexpr color<f32> values{2}, answers{3};

/// Changes its members in all ways: in tasks, in those that have waited, and by operations beside them.
struct worker {
  f32 sum = 0;
  int level = 0, rounds = 0;
  f32 got[4]{}, doubled[4]{};
  std::vector<i32> seen;
  u8 small = 0;
  bool late = false;
  f16 half{0.f};
  u64 large = 0;
  struct pair {
    i16 a, b;
  } both{};
  int hidden = 0;

  void begin(pe& me, int n) {
    if (me.west_edge())
      for (int i = 1; i <= n; ++i) me.send(values, static_cast<f32>(i));
    if (me.east_edge()) me.activate<&worker::turn>();
  }
  void add(pe& me, f32 x) {
    sum += x;
    seen.push_back(static_cast<i32>(x));
    small = static_cast<u8>(small + 1);
    half = f16(x / 4);
    large = u64{1} << static_cast<int>(x);
    both = {static_cast<i16>(x), 0};
    ++hidden;
    if (me.x() == 1) me.send(answers, x);
  }
  void turn(pe& me) {
    level = rounds % 3;
    if (++rounds < 9) me.activate<&worker::turn>();
  }
  task hear(pe& me) {
    co_await mov(mem(got), fabin(answers));
    late = true;
    wsl::add(mem(doubled), mem(got), mem(got));
    me.activate<&worker::done>();
  }
  void done(pe&) { large = 7; }
  void spoil(pe&) { sum = std::numeric_limits<f32>::quiet_NaN(); }
  void break_off(pe&) {
    level = 77;
    throw std::out_of_range("the table has no such row");
  }
  using tasks = task_list<launch<&worker::begin>, launch<&worker::hear>, launch<&worker::spoil>,
                          launch<&worker::break_off>, on<values, &worker::add>, local<&worker::turn>,
                          local<&worker::done>, sends<values, answers>, reads<answers>>;
  using exports = export_list<&worker::sum, &worker::level, &worker::got, &worker::doubled, &worker::seen,
                              &worker::small, &worker::late, &worker::half, &worker::large, &worker::both>;
};
struct bystander {
  f32 sum = 100;
  i32 other = 0;
  void begin(pe&) { other = 5; }
  using tasks = task_list<launch<&bystander::begin>>;
  using exports = export_list<&bystander::sum, &bystander::other>;
};

constexpr layout workers = layout{wse2, 3, 2}
                               .place<worker>(row(0))
                               .place<bystander>(row(1).columns(0, 2))
                               .path(values, at(0, 0), ramp >> (ramp | east))
                               .path(values, at(1, 0), west >> (ramp | east))
                               .path(values, at(2, 0), west >> ramp)
                               .path(answers, at(1, 0), ramp >> west)
                               .path(answers, at(0, 0), east >> ramp);
static_assert(routed<workers>());

template <class Engine>
fabric loaded() {
  fabric f{workers, Engine{}};
  f.start<&worker::begin>(row(0), 4);
  f.start<&worker::hear>(at(0, 0));
  f.start<&bystander::begin>(at(1, 1));
  return f;
}

/// The values that a member of a PE has had, at the moments at which it was looked at.
class history {
 public:
  history(coord c, std::string member) : at_(c), member_(std::move(member)) {}

  void look(debugger& d) {
    std::string now = debug::state_view(d.state_here()).print({at_.x, at_.x + 1, at_.y, at_.y + 1}, member_);
    if (values_.empty() || values_.back() != now) values_.push_back(std::move(now));
  }
  coord at() const { return at_; }
  const std::string& member() const { return member_; }
  std::size_t changes() const { return values_.size() - 1; }
  /// Whether it has seen what the other one has, and perhaps more.
  bool has_all_of(const history& other) const {
    std::size_t found = 0;
    for (const std::string& value : values_)
      if (found < other.values_.size() && other.values_[found] == value) ++found;
    return found == other.values_.size();
  }

 private:
  coord at_;
  std::string member_;
  std::vector<std::string> values_;
};

constexpr const char* exported[] = {"sum",   "level", "got",  "doubled", "seen",
                                    "small", "late",  "half", "large",   "both"};

std::string contents(debugger& d) {
  debug::machine_state s = d.state();
  return debug::contents_of(s);
}
/// The texts of all stops to the end of the run.
std::vector<std::string> texts_of(debugger& d) {
  std::vector<std::string> all;
  while (!d.run().has_ended()) all.push_back(d.where().text);
  return all;
}
std::string text_behind(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& l : lines) text += l.substr(l.find(": ") + 2) + "\n";
  return text;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("watches see every change that there is at the end of a cycle", "", stepped) {
  std::vector<history> by_cycle;
  for (int x = 0; x < 3; ++x)
    for (const char* member : exported) by_cycle.push_back({{x, 0}, member});
  by_cycle.push_back({{1, 1}, "other"});
  debugger each{loaded<TestType>};
  std::size_t changes = 0;
  do
    for (history& h : by_cycle) h.look(each);
  while (!each.step_cycle().has_ended());
  for (history& h : by_cycle) h.look(each), changes += h.changes();
  REQUIRE(changes > 60);

  // Each by itself, so that no other stop shows it.
  for (const history& wanted : by_cycle) {
    history watched(wanted.at(), wanted.member());
    debugger d{loaded<TestType>};
    d.watch_member(wanted.member(), at(wanted.at().x, wanted.at().y));
    watched.look(d);
    while (!d.run().has_ended()) {
      CHECK(d.where().why == stop::reason::value);
      CHECK(d.where().at == wanted.at());
      watched.look(d);
    }
    const std::size_t seen = watched.changes();
    watched.look(d);
    CHECK(watched.changes() == seen);  // nothing has changed behind the last stop
    INFO(wanted.member() << " of " << wsl::text_of(wanted.at()));
    CHECK(watched.has_all_of(wanted));
  }

  debugger d{loaded<TestType>};
  d.watch_member("sum");
  while (!d.run().has_ended()) {}
  fabric plain = loaded<TestType>();
  const outcome undisturbed = plain.run();
  CHECK_THAT(d.where().text, Contains(std::to_string(undisturbed.tasks) + " tasks"));
  const debug::machine_state end = debug::capture(plain);
  CHECK(debug::state_view(d.state_here()).diff(end) == "no difference\n");
}

TEMPLATE_LIST_TEST_CASE("a run stops when a condition becomes true on a PE", "", stepped) {
  debugger d{loaded<TestType>};
  const int number = d.watch_member("sum > 5");
  std::map<int, u64> when;
  while (!d.run().has_ended()) {
    const stop& s = d.where();
    CHECK(s.why == stop::reason::value);
    CHECK(s.numbers == std::vector<int>{number});
    REQUIRE(s.at.y == 0);  // the bystanders' sum was above 5 before
    CHECK(d.read(s.at.x, 0, &worker::sum) == 6);
    CHECK_THAT(s.text, Contains(", stop 1: sum of " + wsl::text_of(s.at) +
                                " changes from 3 to 6 in add(3): sum > 5"));
    CHECK(s.text.starts_with("cycle " + std::to_string(s.cycle)));
    when[s.at.x] = s.cycle;
  }
  CHECK(when.size() == 3);
  CHECK(when.at(2) > when.at(1));

  // In the step before, no task has made it true: the stop is not too late.
  debugger e{loaded<TestType>};
  e.stop_at<&worker::add>(at(0, 0));
  e.watch(at(0, 0), &worker::sum, ">5");
  while (e.read(0, 0, &worker::sum) < 6) REQUIRE(!e.run().has_ended());
  CHECK_THAT(e.where().text, Contains("stop 2: sum of PE(0, 0) changes from 3 to 6"));
  e.back();
  CHECK_THAT(e.where().text, Contains("stop 1: PE(0, 0) begins add(3)"));
  CHECK(e.read(0, 0, &worker::sum) == 3);
}

TEMPLATE_LIST_TEST_CASE("a condition stops a run each time when it becomes true anew", "", stepped) {
  const auto level = [](const char* compared) {
    debugger d{loaded<TestType>};
    d.watch_member(std::string("level") + compared, row(0));
    return text_behind(texts_of(d));
  };
  const std::string up = "level of PE(2, 0) changes from 1 to 2 in turn: level == 2\n";
  CHECK(level(" == 2") == up + up + up);
  CHECK(level(" < 1") ==
        "level of PE(2, 0) changes from 2 to 0 in turn: level < 1\n"
        "level of PE(2, 0) changes from 2 to 0 in turn: level < 1\n");
  const std::string one = "level of PE(2, 0) changes from 0 to 1 in turn: level >= 1\n";
  CHECK(level(" >= 1") == one + one + one);
  CHECK(level("!=0") ==
        "level of PE(2, 0) changes from 0 to 1 in turn: level != 0\n"
        "level of PE(2, 0) changes from 0 to 1 in turn: level != 0\n"
        "level of PE(2, 0) changes from 0 to 1 in turn: level != 0\n");
  CHECK(level(" <= 2").empty());
  CHECK(level(" > 2").empty());
}

TEMPLATE_LIST_TEST_CASE("conditions are on members of all types", "", stepped) {
  const auto first = [](const std::string& wanted, const area& where = all) {
    debugger d{loaded<TestType>};
    d.watch_member(wanted, where);
    return d.run().has_ended() ? "never" : d.where().text.substr(d.where().text.find(": ") + 2);
  };
  CHECK(first("small == 3", at(2, 0)) == "small of PE(2, 0) changes from 2 to 3 in add(3): small == 3");
  CHECK(first("half > 0.5", at(1, 0)) == "half of PE(1, 0) changes from 0.5 to 0.75 in add(3): half > 0.5");
  CHECK(first("large >= 8", at(2, 0)) == "large of PE(2, 0) changes from 4 to 8 in add(3): large >= 8");
  CHECK(first("seen == 4", at(1, 0)) == "seen[3] of PE(1, 0) is added as 4 in add(4): seen == 4");
  CHECK(first("late == true") == "late of PE(0, 0) changes from false to true after hear: late == true");
  CHECK(first("other > 4") == "other of PE(1, 1) changes from 0 to 5 in begin: other > 4");
  CHECK(first("other > 5") == "never");
  CHECK(first("seen > 1e9") == "never");
  // Operations beside tasks, and tasks that go on, change members after the task that has begun last.
  CHECK_THAT(first("got >= 2"), Contains("got[1] of PE(0, 0) changes from 0 to 2 after hear: got >= 2"));
  CHECK_THAT(first("doubled == 8"),
             Contains("doubled[3] of PE(0, 0) changes from 0 to 8 after ") && Contains(": doubled == 8"));
  CHECK_THROWS_WITH(first("both > 0"), Contains("both has no numbers"));
}

TEMPLATE_LIST_TEST_CASE("a condition finds what is no number", "", stepped) {
  debugger d{[] {
    fabric f{workers, TestType{}};
    f.start<&worker::spoil>(at(1, 0));
    return f;
  }};
  d.watch_member("sum == nan");
  CHECK_THAT(d.run().text, Contains("sum of PE(1, 0) changes from 0 to nan in spoil: sum == nan"));
  CHECK(d.where().at == coord{1, 0});
  CHECK(d.run().why == stop::reason::quiet);
}

TEMPLATE_LIST_TEST_CASE("one task on many PEs is one stop of a watch", "", stepped) {
  const auto text = [](int pes) {
    debugger d{[=] {
      fabric f{layout{wse2, 8, 1}.place<bystander>(columns(0, pes)), TestType{}};
      f.start<&bystander::begin>(columns(0, pes));
      return f;
    }};
    d.watch_member("other > 0");
    std::set<std::string> texts;
    for (const std::string& t : texts_of(d)) texts.insert(t);
    int changes = 0;
    for (const std::string& t : texts)
      for (std::size_t k = t.find("changes"); k != std::string::npos; k = t.find("changes", k + 1)) ++changes;
    return changes;
  };
  CHECK(text(1) == 1);
  CHECK(text(3) == 3);
}

TEMPLATE_LIST_TEST_CASE("what the last task has changed stands behind its fault", "", stepped) {
  debugger d{[] {
    fabric f{workers, TestType{}};
    f.start<&worker::break_off>(at(2, 0));
    return f;
  }};
  d.watch_member("level > 70");
  std::string said;
  while (!d.run().has_ended()) said += d.where().text + "\n";
  said += d.where().text;
  CHECK(d.where().why == stop::reason::fault);
  CHECK_THAT(said, Contains("stop 1: level of PE(2, 0) changes from 0 to 77 in break_off: level > 70"));
  CHECK_THAT(d.where().text, Contains("the table has no such row"));
}

TEMPLATE_LIST_TEST_CASE("members that are not exported are watched by their address", "", stepped) {
  debugger d{loaded<TestType>};
  d.watch(row(0), &worker::hidden, "== 4");
  CHECK_THAT(d.run().text, Contains("a member of ") && Contains("worker of PE(") &&
                               Contains("changes from 3 to 4 in add(4): a member of "));
  d.delete_stops();
  d.watch(all, &worker::seen);  // a container, which the program exports
  CHECK_THAT(d.run().text, Contains("seen of PE(") && Contains(" elements to ") && Contains(" in add("));
  CHECK_THROWS_WITH(d.watch(row(1), &worker::sum), Contains("no PE of columns 0 to 2 and row 1 runs"));
  CHECK_THROWS_WITH(d.watch(0, 1, &worker::sum), Contains("PE(0, 1) runs") && Contains("bystander, not"));
  CHECK_THROWS_WITH(d.watch(2, 1, &worker::sum), Contains("there is no program at PE(2, 1)"));
}

TEMPLATE_LIST_TEST_CASE("conditions, hits and what they let pass are the same on the way back", "", stepped) {
  debugger d{loaded<TestType>};
  d.watch_member("sum > 2");
  const int adds = d.stop_at<&worker::add>(at(1, 0));
  d.watch_member("got > 1");
  const int turns = d.stop_at_task("turn");
  d.ignore_hits(adds, 2);
  d.ignore_hits(turns, 3);
  std::vector<std::string> texts{d.where().text}, states{contents(d)}, lists{d.stops()};
  while (!d.run().has_ended())
    texts.push_back(d.where().text), states.push_back(contents(d)), lists.push_back(d.stops());
  REQUIRE(texts.size() > 8);
  for (const int direction : {-1, 1, -1}) {
    for (std::size_t k = 0; k < texts.size(); ++k) {
      const std::size_t i = direction < 0 ? texts.size() - 1 - k : k;
      if (direction < 0) d.back();
      else if (i > 0) d.run();
      CHECK(d.where().text == texts[i]);
      CHECK(contents(d) == states[i]);
      CHECK(d.stops() == lists[i]);
    }
    if (direction > 0) d.run();
  }
  // A stop that is set later than the place to which one goes back counts from there.
  while (d.where().text != texts[4]) d.run();
  const int later = d.watch_member("small == 1", at(0, 0));
  while (d.where().why != stop::reason::begin) d.back();
  bool stopped = false;
  while (!d.run().has_ended())
    for (int n : d.where().numbers) stopped |= n == later;
  CHECK(stopped);
}

TEMPLATE_LIST_TEST_CASE("stops have numbers, by which they go, pause and let hits pass", "", stepped) {
  debugger d{loaded<TestType>};
  CHECK(d.stop_at<&worker::add>(at(0, 0)) == 1);
  CHECK(d.stop_at_cycle(1000000) == 2);
  CHECK(d.watch(0, 0, &worker::small) == 3);
  CHECK(d.stop_at(values, 2, at(2, 0)) == 4);
  d.delete_stop(2);
  CHECK(d.stop_numbers() == std::vector<int>{1, 3, 4});
  CHECK(d.stop_at_task("turn") == 5);
  CHECK_THROWS_WITH(d.delete_stop(2), "there is no stop 2; there are stops 1, 3, 4 and 5");
  CHECK_THROWS_WITH(d.ignore_hits(6, 1), Contains("there is no stop 6"));

  d.disable_stop(4), d.disable_stop(5), d.disable_stop(3);
  d.ignore_hits(1, 2);
  CHECK_THAT(d.run().text, Contains(", stop 1: PE(0, 0) begins add(3)"));
  CHECK_THAT(d.stops(),
             Contains("1  before add on PE(0, 0); 3 hits\n3  when small of PE(0, 0) changes; off\n"
                      "4  each time when 2 wavelets more of color 2 have arrived on PE(2, 0); off\n"));
  // Changes while a watch was off are none when it is on again.
  d.disable_stop(1), d.enable_stop(3);
  CHECK_THAT(d.run().text, Contains(", stop 3: small of PE(0, 0) changes from 2 to 3 in add(3)"));
  CHECK_THAT(d.run().text, Contains("changes from 3 to 4 in add(4)"));
  d.delete_stops();
  CHECK(d.stops() == "none\n");
  CHECK_THROWS_WITH(d.enable_stop(3), "there is no stop 3, nor any other");
  CHECK(d.stop_at(row(0)) == 6);
  CHECK(d.where().numbers == std::vector<int>{3});
}

TEMPLATE_LIST_TEST_CASE("stops for the same reason are named together", "", stepped) {
  debugger d{loaded<TestType>};
  d.stop_at<&worker::add>(at(1, 0));
  d.stop_at_task("add");
  d.stop_at(at(1, 0));
  while (d.run().at != coord{1, 0} || d.where().text.find("add(") == std::string::npos)
    REQUIRE(!d.where().has_ended());
  CHECK_THAT(d.where().text, Contains(", stops 1, 2 and 3: PE(1, 0) begins add(1)"));
  CHECK(d.where().numbers == std::vector<int>{1, 2, 3});
  // A single step onto a stop names it, too.
  debugger e{loaded<TestType>};
  e.stop_at_task("turn");
  while (e.step_task().text.find("begins turn") == std::string::npos) REQUIRE(!e.where().has_ended());
  CHECK(e.where().why == stop::reason::task);
  CHECK_THAT(e.where().text, Contains(", stop 1: PE(2, 0) begins turn"));
}

TEST_CASE("mistakes in watches and numbers are named") {
  debugger d{loaded<reference>};
  const auto says = [&](const char* line) {
    try {
      return d.command(line);
    } catch (const std::invalid_argument& e) { return std::string("! ") + e.what(); }
  };
  CHECK_THAT(says("watch"),
             Contains("! watch is used as: watch 1,2 sum, watch all sum or watch all sum > 5"));
  CHECK_THAT(says("watch sum > 5"), Contains("! 'sum' is no area"));
  CHECK_THAT(says("watch sum"), Contains("! watch is used as"));
  CHECK_THAT(says("watch 9,9 sum"), Contains("! '9' is no part of 0-2"));
  CHECK_THAT(says("watch all some > 5"),
             Contains("! no program on columns 0 to 2 and rows 0 to 1 exports some; there are sum of "));
  CHECK_THAT(says("watch all sum = 5"), Contains("! = is no comparison: those are <, <=, >, >=, == and !="));
  CHECK_THAT(says("watch all sum > many"), Contains("! 'many' is no number to compare with"));
  CHECK_THAT(says("watch all sum > 5 6"), Contains("! '5 6' is no number to compare with"));
  CHECK_THAT(says("watch all sum >"), Contains("! '' is no number to compare with"));
  CHECK_THAT(says("watch all sum level > 3"), Contains("! 'sum level > 3' names no member"));
  CHECK_THAT(says("watch all sum > nan"), Contains("! no number is above or below nan"));
  CHECK_THAT(says("watch all both == 1"), Contains("! both has no numbers: its elements are of type "));
  CHECK_THAT(says("watch all got[2] > 1"), Contains("! a member is taken whole, got and not got[2]"));
  CHECK_THAT(says("watch 2,1 sum"), Contains("! no program on PE(2, 1) exports sum"));
  CHECK_THAT(says("stops"), Contains("none"));
  CHECK_THAT(says("delete 1"), Contains("! there is no stop 1, nor any other"));
  CHECK(says("delete").empty());

  CHECK(says("watch all sum>50") ==
        "stop 1: when sum > 50 becomes true on columns 0 to 2 and rows 0 to 1; it "
        "is true already on PE(0, 1) and 1 more, which count when it becomes true "
        "again\n");
  CHECK(says("stop task turn") == "stop 2: before turn on columns 0 to 2 and rows 0 to 1\n");
  CHECK_THAT(says("delete 1 7"), Contains("! there is no stop 7; there are stops 1 and 2"));
  CHECK_THAT(says("stops"), Contains("1  when sum > 50"));  // a mistake removes nothing
  CHECK_THAT(says("delete sum"), Contains("! 'sum' is no number of a stop"));
  CHECK_THAT(says("ignore 2"), Contains("! ignore is used as: ignore 2 10"));
  CHECK_THAT(says("ignore 2 -1"), Contains("! '-1' is no number of hits"));
  CHECK_THAT(says("ignore 3 1"), Contains("! there is no stop 3"));
  CHECK(says("ignore 2 4") == "stop 2 does not stop the run at its next 4 hits\n");
  CHECK_THAT(says("stops"), Contains("2  before turn on columns 0 to 2 and rows 0 to 1, ignores 4 more"));
  CHECK(says("disable").empty());
  CHECK_THAT(says("stops"), Contains("; off\n2  ") && Contains("ignores 4 more; off\n"));
  CHECK(says("enable 2").empty());
  CHECK_THAT(says("run"), Contains(", stop 2: PE(2, 0) begins turn"));
  CHECK(d.read(2, 0, &worker::rounds) == 4);
  CHECK(says("delete 2 1 2").empty());
  CHECK(says("stops") == "none\n");
  CHECK_THAT(says("continue"), Contains("! there is no command continue: here it is run; help lists all"));
  CHECK_THAT(says("forget"), Contains("here it is delete"));
  CHECK_THAT(says("info breakpoints"), Contains("here it is stops"));
  CHECK_THAT(says("help"), Contains("watch all u == nan") && Contains("ignore 2 10"));
  CHECK_THROWS_WITH(d.watch(row(0), &worker::sum, "5"), Contains("is no comparison"));
}

namespace {

/// Activates itself so often.
struct counter {
  int left = 0;
  void go(pe& me, int times) {
    left = times;
    me.activate<&counter::again>();
  }
  void again(pe& me) {
    if (--left) me.activate<&counter::again>();
  }
  using tasks = task_list<launch<&counter::go>, local<&counter::again>>;
  using exports = export_list<&counter::left>;
};

/// The environment variable WSL_LIMIT, for as long as this lives.
struct limit_is {
  explicit limit_is(const char* text) { ::setenv("WSL_LIMIT", text, 1); }
  ~limit_is() { ::unsetenv("WSL_LIMIT"); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("the time in which a run stands does not count for its limit", "", stepped) {
  const limit_is limit("2s");
  fabric f{layout{wse2, 1, 1}.place<counter>(all), TestType{}};
  f.start<&counter::go>(all, 1000);
  debugger d{f};
  d.watch_member("left < 900");
  REQUIRE(!d.run().has_ended());
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
  CHECK(d.run().why == stop::reason::quiet);
  CHECK(d.read(0, 0, &counter::left) == 0);
}

TEMPLATE_LIST_TEST_CASE("a run that a debugger goes on with ends at its limit", "", stepped) {
  const limit_is limit("0.2s");
  fabric f{layout{wse2, 1, 1}.place<counter>(all), TestType{}};
  f.start<&counter::go>(all, 0);  // counts down from 0, and never ends
  debugger d{f};
  d.stop_at_cycle(20);
  REQUIRE(!d.run().has_ended());
  CHECK(d.run().why == stop::reason::fault);
  CHECK_THAT(d.where().text, Contains("the run has not become quiet in 0.2s (WSL_LIMIT=0.2s)"));
}

namespace {

struct summer {
  static constexpr auto in = symbolic<f32>(0);
  f32 sum = 0;
  void add(pe&, f32 x) { sum += x; }
  using tasks = task_list<on<in, &summer::add>>;
  using exports = export_list<&summer::sum>;
};
struct sender {
  static constexpr auto out = symbolic<f32>(0);
  void start(pe& me, f32 x) { me.send(out, x); }
  using tasks = task_list<launch<&sender::start>, sends<out>>;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a program of symbolic colors is watched at all its places", "", stepped) {
  debugger d{[] {
    layout l{wse2, 2, 2};
    for (int y : {0, 1}) {
      const color<f32> own{3 + y};
      l.place<sender>(at(0, y), given_colors(sender::out, own));
      l.place<summer>(at(1, y), given_colors(summer::in, own));
      l.path(own, at(0, y), ramp >> east).path(own, at(1, y), west >> ramp);
    }
    fabric f{l, TestType{}};
    for (int y : {0, 1}) f.start<&sender::start>(at(0, y), static_cast<f32>(y + 1));
    return f;
  }};
  d.watch_member("sum > 0", all);
  std::string seen;
  while (!d.run().has_ended()) seen += d.where().text + "\n";
  CHECK_THAT(seen, Contains("sum of PE(1, 0) changes from 0 to 1") &&
                       Contains("sum of PE(1, 1) changes from 0 to 2"));
  const int first = d.stop_at_task("add");
  CHECK_THROWS_WITH(d.ignore_hits(first, -1), Contains("-1 hits: a number of hits is 0 or more"));
  CHECK_THROWS_WITH(d.stop_at_color(3, -1), Contains("a number of wavelets above 0"));
  CHECK_THROWS_WITH(d.watch_member("total", all),
                    Contains("exports total; there are sum of") && !Contains(", sum of"));
}

TEST_CASE("comparisons take whole numbers exactly, and numbers of hits and words are above 0") {
  using debug::comparison;
  const auto holds = [](const char* text, auto x) {
    return comparison(text).holds(static_cast<debug::exact_number>(x));
  };
  CHECK(holds("== 9007199254740993", i64{9007199254740993}));
  CHECK_FALSE(holds("== 9007199254740992", i64{9007199254740993}));
  CHECK(holds("== 18446744073709551615", ~u64{0}));
  CHECK_FALSE(holds("> 18446744073709551614", u64{18446744073709551614u}));
  CHECK(holds("== 0.1", 0.1));
  CHECK(holds("== -3", i32{-3}));
  CHECK_THROWS_WITH(comparison("u == 3"), Contains("without a sign at its beginning this is no comparison"));
}
