// SPDX-License-Identifier: MIT
// The race detector finds results that depend on the order of arrival, says where they are and between which
// wavelets, and is silent about all others.

#include <wsl/fabric/race.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

using namespace wsl;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr color<i32> add_it{2}, reset_it{7};

template <color<i32> c>
struct speaker {
  void say(pe& me, int n) {
    for (i32 i = 1; i <= n; ++i) me.send(c, 100 * me.x() + i);
  }
  using tasks = task_list<launch<&speaker::say>, sends<c>>;
};

/// The sum depends on when the reset comes.
struct register_file {
  char padding_follows = 'r';
  i32 sum = 0;
  void add(pe&, i32 x) { sum += x; }
  void reset(pe&, i32) { sum = 0; }
  using tasks = task_list<on<add_it, &register_file::add>, on<reset_it, &register_file::reset>>;
};

/// Keeps both apart, in memory and behind a pointer.
struct careful_file {
  i32 sum = 0;
  int resets = 0;
  std::unique_ptr<int> sink = std::make_unique<int>(0);
  std::vector<int> list;
  void add(pe&, i32 x) {
    sum += x;
    list.push_back(x);
  }
  void reset(pe&, i32) { ++resets, ++*sink; }
  using tasks = task_list<on<add_it, &careful_file::add>, on<reset_it, &careful_file::reset>>;
};

/// A file in the middle of the second of three rows, between its two speakers.
template <class File>
layout talk() {
  layout l{wse2, 5, 3};
  l.place<speaker<add_it>>(at(2, 1)).place<speaker<reset_it>>(at(4, 1)).place<File>(at(3, 1));
  return l.path(add_it, at(2, 1), ramp >> east)
      .path(add_it, at(3, 1), west >> ramp)
      .path(reset_it, at(4, 1), ramp >> west)
      .path(reset_it, at(3, 1), east >> ramp);
}

const auto both_speak = [](fabric& f) {
  f.start<&speaker<add_it>::say>(at(2, 1), 20);
  f.launch<&speaker<reset_it>::say>(at(4, 1), 1);
};

}  // namespace

TEST_CASE("a race is found and named: the PE, its program, the tasks and their colors") {
  const race_report r = find_race(talk<register_file>(), both_speak);
  REQUIRE(r);
  CHECK(r.at == coord{3, 1});
  CHECK_THAT(r.program, EndsWith("register_file"));
  CHECK_THAT(r.text(), StartsWith("PE(3, 1) of ") &&
                           Contains("register_file ends differently under seed " + std::to_string(r.seed)));
  CHECK_THAT(r.text(), Contains("add (color 2)") && Contains("reset (color 7)") &&
                           Contains("the order of ") && EndsWith("changed its memory"));
  const race_report again =
      find_race(talk<register_file>(), both_speak, 16, {.threads = 3, .pes_per_partition = 1});
  REQUIRE(again);
  CHECK(again.at == r.at);
}

TEST_CASE("a program without a race has none, wherever its memory lies") {
  const race_report r = find_race(talk<careful_file>(), both_speak, 30);
  CHECK_FALSE(r);
  CHECK(r.text() == "no race was found");
}

TEST_CASE("launches one after the other do not race") {
  const auto in_turn = [](fabric& f) {
    f.launch<&speaker<add_it>::say>(at(2, 1), 20);
    f.launch<&speaker<reset_it>::say>(at(4, 1), 1);
    f.launch<&speaker<add_it>::say>(at(2, 1), 3);
  };
  CHECK_FALSE(find_race(talk<register_file>(), in_turn));
}

namespace {

/// An order-sensitive sum over what several senders merge into one color.
struct merged {
  i32 sum = 0;
  void hear(pe&, i32 x) { sum = sum * 3 + x; }
  using tasks = task_list<on<add_it, &merged::hear>>;
};
struct merged_by_operation {
  std::array<i32, 8> x{};
  void go(pe& me) { me.async(mov(mem(x), fabin(add_it))); }
  using tasks = task_list<launch<&merged_by_operation::go>, reads<add_it>>;
};

template <class P>
layout from_both_sides() {
  layout l{wse2, 3, 1};
  l.place<speaker<add_it>>(columns(0, edge, 2));
  l.place<P>(column(1));
  return l.path(add_it, column(0), ramp >> east)
      .path(add_it, column(2), ramp >> west)
      .path(add_it, column(1), (west | east) >> ramp, merges);
}

}  // namespace

TEST_CASE("the order of two senders of one color is named by the senders") {
  for (const race_report& r :
       {find_race(from_both_sides<merged>(),
                  [](fabric& f) { f.launch<&speaker<add_it>::say>(columns(0, edge, 2), 4); }),
        find_race(from_both_sides<merged_by_operation>(), [](fabric& f) {
          f.start<&merged_by_operation::go>(at(1, 0));
          f.launch<&speaker<add_it>::say>(columns(0, edge, 2), 4);
        })}) {
    REQUIRE(r);
    CHECK(r.at == coord{1, 0});
    CHECK_THAT(r.text(), Contains("(color 2 from PE(0, 0))") && Contains("(color 2 from PE(2, 0))"));
  }
}

namespace {

/// The first of two wavelets decides whether the PE ever takes the third.
struct picky {
  bool open = false;
  int got = 0;
  void add(pe& me, i32) {
    ++got;
    if (!open) me.block<add_it>();
  }
  void reset(pe&, i32) { open = true; }
  using tasks = task_list<on<add_it, &picky::add>, on<reset_it, &picky::reset>>;
};

}  // namespace

TEST_CASE("an order in which the program waits for ever is a race, too") {
  const race_report r = find_race(talk<picky>(), both_speak);
  REQUIRE(r);
  CHECK_THAT(r.text(), StartsWith("the run ends differently under seed ") && Contains("wsl: deadlock") &&
                           Contains("an end without a fault"));
}

namespace {

/// Receives what a racing PE sends on.
struct witness {
  i32 last = 0;
  void hear(pe&, i32 x) { last = x; }
  using tasks = task_list<on<color<i32>{3}, &witness::hear>>;
};
struct forwarder {
  void add(pe& me, i32 x) { me.send(color<i32>{3}, x); }
  void reset(pe& me, i32) { me.send(color<i32>{3}, 100); }
  using tasks = task_list<on<add_it, &forwarder::add>, on<reset_it, &forwarder::reset>, sends<color<i32>{3}>>;
};

}  // namespace

TEST_CASE("a PE that only received the race says so") {
  layout l = talk<forwarder>();
  l.place<witness>(at(3, 2))
      .path(color<i32>{3}, at(3, 1), ramp >> south)
      .path(color<i32>{3}, at(3, 2), north >> ramp);
  const race_report r = find_race(l, both_speak);
  REQUIRE(r);
  CHECK(r.at == coord{3, 2});
  CHECK_THAT(r.text(), Contains("what it received differs"));
}

namespace {

/// Uses what an operation brings without waiting for it.
struct hasty {
  std::array<i32, 8> x{};
  i32 sum = 0;
  void go(pe& me) {
    me.async(mov(mem(x), fabin(add_it)));
    me.activate<&hasty::use>();
  }
  void use(pe&) {
    for (i32 v : x) sum += v;
  }
  using tasks = task_list<launch<&hasty::go>, local<&hasty::use>, reads<add_it>>;
};
/// The same, in the right way.
struct patient {
  std::array<i32, 8> x{};
  i32 sum = 0;
  void go(pe& me) { me.async(mov(mem(x), fabin(add_it)), then<&patient::use>()); }
  void use(pe&) {
    for (i32 v : x) sum += v;
  }
  using tasks = task_list<launch<&patient::go>, local<&patient::use>, reads<add_it>>;
};
template <class P>
race_report after_the_words_have_come() {
  layout l{wse2, 2, 1};
  l.place<speaker<add_it>>(column(0))
      .place<P>(column(1))
      .path(add_it, column(0), ramp >> east)
      .path(add_it, column(1), west >> ramp);
  return find_race(l, [](fabric& f) {
    f.start<&speaker<add_it>::say>(at(0, 0), 8);
    f.launch<&P::go>(at(1, 0));
  });
}

}  // namespace

TEST_CASE("a task that does not wait for an operation races with it") {
  const race_report r = after_the_words_have_come<hasty>();
  REQUIRE(r);
  CHECK_THAT(r.text(), Contains("mov (color 2)") && Contains("use"));
  CHECK_FALSE(after_the_words_have_come<patient>());
}

namespace {

/// Takes from two senders on two colors, and keeps the order in some storage.
template <class Storage>
struct order_keeper {
  Storage order{};
  void add(pe&, i32 x) { order.push_back(static_cast<typename Storage::value_type>(x)); }
  void reset(pe&, i32 x) { order.push_back(static_cast<typename Storage::value_type>(x)); }
  using tasks = task_list<on<add_it, &order_keeper::add>, on<reset_it, &order_keeper::reset>>;
};

/// The same list, where private members hide it and where it is two levels down.
class private_keeper {
 public:
  void add(pe&, i32 x) { order_.push_back(x); }
  void reset(pe&, i32 x) { order_.push_back(x); }
  auto members() const { return std::tie(order_); }
  using tasks = task_list<on<add_it, &private_keeper::add>, on<reset_it, &private_keeper::reset>>;

 private:
  std::vector<i32> order_;
};
struct nested_keeper {
  struct box {
    int name[3]{};
    std::map<int, std::vector<i32>> lists;
  };
  std::array<box, 2> boxes;
  void add(pe&, i32 x) { boxes[1].lists[7].push_back(x); }
  void reset(pe&, i32 x) { boxes[1].lists[7].push_back(x); }
  using tasks = task_list<on<add_it, &nested_keeper::add>, on<reset_it, &nested_keeper::reset>>;
};

/// Keeps what does not depend on the order: padding, addresses, capacities and former characters do.
struct tidy_keeper {
  struct padded {
    char kind;
    f64 value;
    const tidy_keeper* owner;
  };
  std::vector<padded> sums;
  std::deque<std::pair<char, i32>> pairs;
  std::string name;
  std::unique_ptr<padded> single;
  void start() {
    for (int i = 0; i < 3; ++i) {
      padded p;
      std::memset(static_cast<void*>(&p), static_cast<int>(++noise), sizeof p);
      p.kind = 'x', p.value = 0, p.owner = this;
      if (i < 2) sums.push_back(p);
      else single = std::make_unique<padded>(p);
    }
    pairs.assign(2, {'y', 0});
  }
  void add(pe&, i32 x) { hear(0, x); }
  void reset(pe&, i32 x) { hear(1, x); }
  void hear(std::size_t k, i32 x) {
    if (sums.empty()) start();
    sums[k].value += x, pairs[k].second += x, single->value += x;
    name = std::string(k + 3, 'n');
    name = "n";
  }
  static inline unsigned noise = 0;
  using tasks = task_list<on<add_it, &tidy_keeper::add>, on<reset_it, &tidy_keeper::reset>>;
};

/// Keeps the order where nothing can look.
struct secretive_keeper {
  std::shared_ptr<std::vector<i32>> order = std::make_shared<std::vector<i32>>();
  void add(pe&, i32 x) { order->push_back(x); }
  void reset(pe&, i32 x) { order->push_back(x); }
  using tasks = task_list<on<add_it, &secretive_keeper::add>, on<reset_it, &secretive_keeper::reset>>;
};

/// Both senders say the same.
template <class File>
race_report talked() {
  return find_race(
      talk<File>(),
      [](fabric& f) {
        f.start<&speaker<add_it>::say>(at(2, 1), 5);
        f.launch<&speaker<reset_it>::say>(at(4, 1), 5);
      },
      30);
}

}  // namespace

TEMPLATE_TEST_CASE("an order that is kept outside the program's bytes is found", "",
                   order_keeper<std::vector<i32>>, order_keeper<std::deque<i32>>, order_keeper<std::string>,
                   private_keeper, nested_keeper) {
  const race_report r = talked<TestType>();
  CHECK(r.not_compared.empty());
  REQUIRE(r);
  CHECK(r.at == coord{3, 1});
}

TEST_CASE("padding, addresses and what a container held before are no race") {
  const race_report r = talked<tidy_keeper>();
  CHECK_FALSE(r);
  CHECK(r.text() == "no race was found");
}

TEST_CASE("a report says what was not compared") {
  const race_report r = talked<secretive_keeper>();
  CHECK_FALSE(r);
  REQUIRE(r.not_compared.size() == 1);
  CHECK_THAT(r.text(), StartsWith("no race was found; not compared: what is behind std::shared_ptr<") &&
                           Contains("secretive_keeper; let the program list its members with members()"));
}

namespace {

/// Keeps the order in memory of the host.
struct borrowing_keeper {
  i32 heard = 0;
  std::span<u32> order;
  void add(pe&, i32 x) { order[0] = 3 * order[0] + static_cast<u32>(x); }
  void reset(pe&, i32 x) { order[0] = 3 * order[0] - static_cast<u32>(x); }
  using tasks = task_list<on<add_it, &borrowing_keeper::add>, on<reset_it, &borrowing_keeper::reset>>;
};
struct without_list {
  std::span<u32> order;
};
struct inheriting_keeper : without_list {
  void add(pe&, i32 x) { order[0] = 3 * order[0] + static_cast<u32>(x); }
  void reset(pe&, i32 x) { order[0] = 3 * order[0] - static_cast<u32>(x); }
  using tasks = task_list<on<add_it, &inheriting_keeper::add>, on<reset_it, &inheriting_keeper::reset>>;
};
/// Its addresses lead to itself and to its own storage.
struct introspective_keeper {
  i32 sum = 0;
  i32* where = &sum;
  std::vector<i32> list = std::vector<i32>(4);
  i32* last = &list[3];
  void add(pe&, i32 x) { *where += x; }
  void reset(pe&, i32 x) { *where -= x; }
  using tasks = task_list<on<add_it, &introspective_keeper::add>, on<reset_it, &introspective_keeper::reset>>;
};

}  // namespace

TEMPLATE_TEST_CASE("a report says that what is behind an address was not compared", "", borrowing_keeper,
                   inheriting_keeper) {
  std::deque<u32> behind;
  const race_report r = find_race(talk<TestType>(), [&](fabric& f) {
    f.program_at<TestType>({3, 1}).order = std::span(&behind.emplace_back(), 1);
    both_speak(f);
  });
  CHECK_FALSE(r);
  REQUIRE(r.not_compared.size() == 1);
  CHECK_THAT(r.not_compared[0], StartsWith("an address at byte ") && EndsWith("_keeper"));
}

TEST_CASE("an address of what is compared is none that leads outside") {
  CHECK(find_race(talk<introspective_keeper>(), both_speak).text() == "no race was found");
}

TEST_CASE("a report says that calls were queued and not run") {
  const race_report r = find_race(talk<register_file>(), [](fabric& f) {
    f.start<&speaker<add_it>::say>(at(2, 1), 20);
    f.start<&speaker<reset_it>::say>(at(4, 1), 1);
  });
  CHECK_FALSE(r);
  CHECK(r.never_run == 2);
  CHECK(r.text() ==
        "no race was found; not looked at: 2 calls that start has queued and nobody has run: let the "
        "function end with f.run()");
}

TEST_CASE("a report says that every order ended in the same way") {
  const race_report r =
      find_race(talk<register_file>(), [](fabric& f) { f.launch<&speaker<add_it>::say>(at(0, 0), 1); });
  CHECK_FALSE(r);
  CHECK_THAT(r.text(),
             StartsWith("no race was found; but every order ended with the same exception, and what "
                        "would come after it was not looked at:\nwsl: there is no program at PE(0, 0)"));
}
