// SPDX-License-Identifier: MIT
#include "scheduler.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace cluster {
namespace {

constexpr std::size_t index_of(role r) { return static_cast<std::size_t>(r); }

/// What a process takes of a node by default. A wafer computes while the others have little to do, so that it
/// has four times as many cores as each of them.
placed_rank share_of(const capacity& node, bool roles, role what, int number) {
  constexpr int of_wafer = 4;
  const int wafers = node.slots[index_of(role::wafer)];
  const int others = roles ? std::accumulate(node.slots.begin(), node.slots.end(), 0) - wafers : 0;
  const int parts = std::max(1, of_wafer * wafers + others);
  return {what, number, node.millicores * (what == role::wafer ? of_wafer : 1) / parts,
          node.memory / std::max(1, wafers + others)};
}

bool fits(const capacity& left, const placed_rank& r) {
  return left.slots[index_of(r.what)] > 0 && left.millicores >= r.millicores && left.memory >= r.memory;
}

void take(capacity& left, const placed_rank& r) {
  --left.slots[index_of(r.what)];
  left.millicores -= r.millicores;
  left.memory -= r.memory;
}

/// Puts a process on the first of these nodes that has room for it.
bool put(const std::vector<capacity>& nodes, std::vector<capacity>& left, bool roles, role what,
         const std::vector<std::size_t>& order, std::vector<placed_rank>& ranks) {
  for (const std::size_t k : order) {
    const placed_rank r = share_of(nodes[k], roles, what, static_cast<int>(k));
    if (!fits(left[k], r)) continue;
    take(left[k], r);
    ranks.push_back(r);
    return true;
  }
  return false;
}

bool has(const std::vector<capacity>& nodes, role what) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const capacity& n) { return n.slots[index_of(what)] > 0; });
}

/// How many of these processes a node has room for.
int room_for(const capacity& left, const placed_rank& r) {
  i64 count = left.slots[index_of(r.what)];
  if (r.millicores > 0) count = std::min<i64>(count, left.millicores / r.millicores);
  if (r.memory > 0) count = std::min<i64>(count, left.memory / r.memory);
  return static_cast<int>(std::max<i64>(0, count));
}

}  // namespace

std::vector<capacity> left_of(std::vector<capacity> nodes,
                              const std::vector<std::vector<placed_rank>>& running) {
  for (const auto& ranks : running)
    for (const placed_rank& r : ranks)
      if (r.node >= 0 && static_cast<std::size_t>(r.node) < nodes.size())
        take(nodes[static_cast<std::size_t>(r.node)], r);
  return nodes;
}

std::optional<std::vector<placed_rank>> place(const std::vector<capacity>& nodes,
                                              const std::vector<capacity>& left_before, bool roles,
                                              const demand& asks) {
  std::vector<capacity> left = left_before;
  // The wafers come first, for they decide which nodes the job is on.
  struct candidate {
    std::size_t node;
    placed_rank each;
    int room;
  };
  std::vector<candidate> candidates;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    placed_rank each = share_of(nodes[k], roles, role::wafer, static_cast<int>(k));
    if (asks.cores > 0) each.millicores = 1000 * asks.cores;
    if (asks.memory > 0) each.memory = asks.memory;
    if (const int room = room_for(left[k], each); room > 0) candidates.push_back({k, each, room});
  }
  // The smallest node that has room for all, or else those with most room; the first in the file of those
  // that are alike.
  std::sort(candidates.begin(), candidates.end(), [&](const candidate& a, const candidate& b) {
    const bool a_all = a.room >= asks.num_csx, b_all = b.room >= asks.num_csx;
    if (a_all != b_all) return a_all;
    if (a.room != b.room) return a_all ? a.room < b.room : a.room > b.room;
    return a.node < b.node;
  });
  std::vector<placed_rank> wafers;
  std::vector<std::size_t> order;
  for (const candidate& c : candidates) {
    const int missing = asks.num_csx - static_cast<int>(wafers.size());
    if (missing == 0) break;
    order.push_back(c.node);
    for (int n = 0; n < std::min(c.room, missing); ++n) take(left[c.node], c.each), wafers.push_back(c.each);
  }
  if (static_cast<int>(wafers.size()) < asks.num_csx) return {};
  if (!roles || asks.alone) return wafers;

  for (std::size_t k = 0; k < nodes.size(); ++k)
    if (std::find(order.begin(), order.end(), k) == order.end()) order.push_back(k);
  std::vector<placed_rank> ranks;
  for (const role what : {role::memoryx, role::swarmx})
    // A single wafer's gradients are not added to others.
    if ((what != role::swarmx || asks.num_csx > 1) && has(nodes, what) &&
        !put(nodes, left, roles, what, order, ranks))
      return {};
  ranks.insert(ranks.end(), wafers.begin(), wafers.end());
  if (has(nodes, role::input) && !put(nodes, left, roles, role::input, order, ranks)) return {};
  return ranks;
}

std::vector<waiting_job> in_order(const queue_state& s) {
  std::vector<waiting_job> all = s.waiting, ordered;
  auto last = s.last_turn;
  i64 turn = s.turns;
  const auto turn_of = [&](const std::string& user) {
    const auto found = last.find(user);
    return found == last.end() ? 0 : found->second;
  };
  std::sort(all.begin(), all.end(), [](const waiting_job& a, const waiting_job& b) {
    return std::tie(a.priority, a.id) < std::tie(b.priority, b.id);
  });
  // Every start changes whose turn it is.
  for (auto first = all.begin(); first != all.end();) {
    const auto end =
        std::find_if(first, all.end(), [&](const waiting_job& j) { return j.priority != first->priority; });
    std::map<std::string, std::vector<const waiting_job*>> of_user;  // in reverse: the next is at the back
    for (auto j = end; j != first;) of_user[(--j)->user].push_back(&*j);
    while (!of_user.empty()) {
      const auto next = std::min_element(of_user.begin(), of_user.end(), [&](const auto& a, const auto& b) {
        return std::pair(turn_of(a.first), a.second.back()->id) <
               std::pair(turn_of(b.first), b.second.back()->id);
      });
      ordered.push_back(*next->second.back());
      last[next->first] = ++turn;
      next->second.pop_back();
      if (next->second.empty()) of_user.erase(next);
    }
    first = end;
  }
  return ordered;
}

std::vector<decision> decide(queue_state s) {
  std::vector<decision> starts;
  std::vector<capacity> left = left_of(s.nodes, s.running);
  for (const waiting_job& j : in_order(s)) {
    auto ranks = place(s.nodes, left, s.roles, j.asks);
    if (!ranks) break;
    for (const placed_rank& r : *ranks) take(left[static_cast<std::size_t>(r.node)], r);
    starts.push_back({j.id, std::move(*ranks)});
  }
  return starts;
}

}  // namespace cluster
