// SPDX-License-Identifier: MIT
// The law of the queue, on random clusters and jobs: no node ever holds more than it offers, no job starts
// before one that is ahead of it, and none waits for ever. The oracle counts and compares by itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "../scheduler.hpp"

using namespace cluster;

namespace {

class drawn {
 public:
  explicit drawn(unsigned seed) : random_(seed) {}
  int from(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

 private:
  std::mt19937 random_;
};

std::vector<capacity> drawn_nodes(drawn& d, bool roles) {
  std::vector<capacity> nodes(static_cast<std::size_t>(d.from(1, 5)));
  for (capacity& n : nodes) {
    n.slots = {d.from(0, 2), d.from(0, 1), d.from(0, 4), d.from(0, 2)};
    n.millicores = 1000 * d.from(1, 16), n.memory = d.from(1, 64) * 1'000'000'000LL;
  }
  nodes[0].slots[2] = std::max(1, nodes[0].slots[2]);
  if (roles) nodes.back().slots[0] = std::max(1, nodes.back().slots[0]);
  return nodes;
}

/// What all processes take of the nodes, counted anew.
void require_within(const std::vector<capacity>& nodes,
                    const std::vector<std::vector<placed_rank>>& running) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    std::array<int, 4> slots{};
    i64 millicores = 0, memory = 0;
    for (const auto& ranks : running)
      for (const placed_rank& r : ranks)
        if (r.node == static_cast<int>(k))
          ++slots[static_cast<std::size_t>(r.what)], millicores += r.millicores, memory += r.memory;
    for (std::size_t r = 0; r < 4; ++r) REQUIRE(slots[r] <= nodes[k].slots[r]);
    REQUIRE(millicores <= nodes[k].millicores);
    REQUIRE(memory <= nodes[k].memory);
  }
}

int wafers_in(const std::vector<placed_rank>& ranks) {
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.end(), [](auto& r) { return r.what == role::wafer; }));
}

}  // namespace

TEST_CASE("no node holds more than it offers, the queue keeps its order, and no job waits for ever") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    drawn d(seed);
    queue_state s;
    s.roles = d.from(0, 1) == 1;
    s.nodes = drawn_nodes(d, s.roles);
    struct running_job {
      i64 id;
      int left;
      std::vector<placed_rank> ranks;
    };
    std::vector<running_job> running;
    std::map<i64, int> passed_by;  // how many jobs of the same priority have started while a job waited
    std::map<i64, int> bound;      // how many may
    std::vector<i64> started;
    i64 next = 1;
    const int users = d.from(1, 4);
    const bool one_priority = d.from(0, 1) == 1;
    for (int round = 0; round < 60; ++round) {
      for (int k = d.from(0, round < 40 ? 3 : 0); k > 0; --k) {
        waiting_job j{next++,
                      "user" + std::to_string(d.from(1, users)),
                      one_priority ? 299 : 100 * d.from(1, 3) + 99,
                      {}};
        j.asks = {d.from(1, 5), d.from(0, 3), d.from(0, 3) * 1'000'000'000LL};
        if (!place(s.nodes, s.nodes, s.roles, j.asks)) continue;  // refused when it is submitted
        const auto own =
            std::count_if(s.waiting.begin(), s.waiting.end(), [&](auto& w) { return w.user == j.user; });
        bound[j.id] = (static_cast<int>(own) + 1) * users;
        s.waiting.push_back(j);
      }
      s.running.clear();
      for (const running_job& r : running) s.running.push_back(r.ranks);
      const std::vector<decision> starts = decide(s);
      const auto place_of = [&](i64 id) {
        return std::find_if(s.waiting.begin(), s.waiting.end(), [&](auto& w) { return w.id == id; });
      };
      for (const decision& start : starts) {
        const auto j = place_of(start.id);
        REQUIRE(j != s.waiting.end());
        REQUIRE(wafers_in(start.ranks) == j->asks.num_csx);
        for (const placed_rank& r : start.ranks)
          if (r.what == role::wafer) {
            if (j->asks.cores > 0) REQUIRE(r.millicores == 1000 * j->asks.cores);
            if (j->asks.memory > 0) REQUIRE(r.memory == j->asks.memory);
          }
        for (const waiting_job& w : s.waiting) {
          if (w.id == j->id) continue;
          // Nothing that starts leaves behind what should have started before it.
          REQUIRE(j->priority <= w.priority);
          if (w.priority == j->priority) {
            if (w.user == j->user) REQUIRE(j->id < w.id);
            else REQUIRE(s.last_turn[j->user] <= s.last_turn[w.user]);
            ++passed_by[w.id];
          }
        }
        s.last_turn[j->user] = ++s.turns;
        s.running.push_back(start.ranks);
        running.push_back({j->id, d.from(1, 4), start.ranks});
        started.push_back(j->id);
        s.waiting.erase(j);
      }
      require_within(s.nodes, s.running);
      // The next in the queue did not fit.
      if (!s.waiting.empty())
        REQUIRE(!place(s.nodes, left_of(s.nodes, s.running), s.roles, in_order(s).front().asks));
      for (running_job& r : running) --r.left;
      std::erase_if(running, [](const running_job& r) { return r.left == 0; });
    }
    for (int round = 0; round < 2000 && !s.waiting.empty(); ++round) {
      s.running.clear();
      const auto starts = decide(s);
      REQUIRE(!starts.empty());  // on a cluster that is free the first one always starts
      for (const decision& start : starts) {
        const auto user =
            std::find_if(s.waiting.begin(), s.waiting.end(), [&](auto& w) { return w.id == start.id; })->user;
        s.last_turn[user] = ++s.turns;
        started.push_back(start.id);
        std::erase_if(s.waiting, [&](auto& w) { return w.id == start.id; });
      }
    }
    REQUIRE(s.waiting.empty());
    std::sort(started.begin(), started.end());
    REQUIRE(std::adjacent_find(started.begin(), started.end()) == started.end());
    // With one priority, a job waits at most until each user has had as many turns as it has jobs ahead of
    // it.
    if (one_priority)
      for (const auto& [id, count] : passed_by) REQUIRE(count <= bound[id]);
  }
}

TEST_CASE("a job takes few nodes, and the smallest that holds it") {
  const std::vector<capacity> nodes{
      {{0, 0, 4, 0}, 8000, 64}, {{0, 0, 2, 0}, 4000, 32}, {{1, 1, 0, 1}, 4000, 32}};
  const auto two = place(nodes, nodes, false, {.num_csx = 2});
  REQUIRE(two);
  CHECK(*two == std::vector<placed_rank>{{role::wafer, 1, 2000, 16}, {role::wafer, 1, 2000, 16}});
  const auto five = place(nodes, nodes, true, {.num_csx = 5});
  REQUIRE(five);
  REQUIRE(five->size() == 8);
  CHECK((*five)[0].what == role::memoryx);
  CHECK((*five)[0].node == 2);
  CHECK((*five)[1].what == role::swarmx);
  for (std::size_t k = 2; k < 6; ++k) CHECK((*five)[k].node == 0);
  CHECK((*five)[6].node == 1);
  CHECK((*five)[7].what == role::input);
  CHECK(!place(nodes, nodes, true, {.num_csx = 7}));
  CHECK(!place(nodes, nodes, false, {.num_csx = 1, .cores = 9}));
  CHECK(!place(nodes, nodes, false, {.num_csx = 4, .memory = 33}));
  CHECK(place(nodes, nodes, false, {.num_csx = 3, .memory = 32}));
}

TEST_CASE("priority comes first, then the user whose last start is longest ago, then age") {
  queue_state s;
  s.nodes = {{{0, 0, 1, 0}, 1000, 1}};
  s.waiting = {{1, "a", 299, {}}, {2, "a", 299, {}}, {3, "b", 299, {}}, {4, "c", 199, {}}, {5, "b", 399, {}}};
  s.last_turn = {{"a", 7}, {"b", 3}};
  s.turns = 7;
  std::vector<i64> order;
  for (const waiting_job& j : in_order(s)) order.push_back(j.id);
  CHECK(order == std::vector<i64>{4, 3, 1, 2, 5});
  const auto starts = decide(s);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].id == 4);
}
