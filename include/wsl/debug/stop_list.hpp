// SPDX-License-Identifier: MIT
// What a debugger stops at: tasks, numbers of wavelets, cycles, and members that change.
#pragma once
#include <functional>
#include <utility>

#include "../core/area.hpp"
#include "../engine/diagnose/wait_text.hpp"
#include "stop.hpp"
#include "values.hpp"

namespace wsl::debug {

/// A condition under which a run stops: tasks of a region, arrivals of a color there, or a cycle.
struct stop_condition {
  region where{};
  const void* key = nullptr;  ///< of a task, or null
  std::string task{};
  int color = -1;
  u64 every = 0, since = 0, seen = 0;  ///< of a color: counts arrivals after step `since`
  u64 cycle = 0;

  bool is_before(coord c, const detail::binding& begins) const {
    if (color >= 0 || cycle || !where.has(c)) return false;
    return task.empty() || (key ? key == begins.key : task == begins.name);
  }
  std::string text() const {
    if (color >= 0)
      return fmt::format("when {} more of color {} have arrived on {}", engines::counted(every, "wavelet"),
                         color, wsl::text_of(where));
    if (cycle) return fmt::format("in cycle {}", cycle);
    return fmt::format("before {} on {}", task.empty() ? "every task" : task, wsl::text_of(where));
  }
};

/// A member of a PE; `value` gives its bytes now.
class watched_member {
 public:
  watched_member(coord at, member_info info, std::function<std::string()> value)
      : at_(at), info_(std::move(info)), value_(std::move(value)), last_(value_()) {}

  coord at() const { return at_; }
  std::string text() const { return fmt::format("when {} of {} changes", info_.name, wsl::text_of(at_)); }
  /// Takes the value as it is now for the last one.
  void renew() { last_ = value_(); }
  /// How the value differs from the last one, or nothing; then it is the last one.
  std::string change() {
    std::string now = value_();
    if (now == last_) return {};
    const std::string before = std::exchange(last_, std::move(now));
    return fmt::format("{} of {} changes {}", info_.name, wsl::text_of(at_), difference(before));
  }

 private:
  std::string difference(const std::string& before) const {
    const u32 size = info_.element_bytes;
    const auto element = [&](const std::string& of, std::size_t k) {
      return debug::text_of(info_, of.data() + k * size);
    };
    const std::size_t n = before.size() / size, m = last_.size() / size;
    if (n != m)
      return fmt::format("from {} to {}", engines::counted(n, "element"), engines::counted(m, "element"));
    if (n == 1) return fmt::format("from {} to {}", element(before, 0), element(last_, 0));
    for (std::size_t k = 0; k < n; ++k)
      if (before.compare(k * size, size, last_, k * size, size) != 0)
        return fmt::format("element {} from {} to {}", k, element(before, k), element(last_, k));
    return "";
  }

  coord at_;
  member_info info_;
  std::function<std::string()> value_;
  std::string last_;
};

class stop_list {
 public:
  void add(stop_condition c) { conditions_.push_back(std::move(c)); }
  void add(watched_member w) { watches_.push_back(std::move(w)); }
  void clear() { conditions_.clear(), watches_.clear(), reached_.clear(); }
  /// One a line.
  std::string text() const {
    std::string all;
    for (const stop_condition& c : conditions_) all += c.text() + "\n";
    for (const watched_member& w : watches_) all += w.text() + "\n";
    return all.empty() ? "none\n" : all;
  }

  /// A run begins anew.
  void restart() {
    for (stop_condition& c : conditions_) c.seen = 0;
    pass_over();
  }
  /// What has changed and arrived by now is no reason to stop.
  void pass_over() {
    for (watched_member& w : watches_) w.renew();
    reached_.clear();
  }
  /// A wavelet has arrived, in this step of the run.
  void count(const arrival& a, u64 step) {
    for (stop_condition& k : conditions_)
      if (k.color == a.word.color && k.where.has(a.at) && step > k.since && ++k.seen % k.every == 0)
        reached_.push_back({stop::reason::wavelets, a.at, a.cycle,
                            fmt::format("{} of color {} have arrived, the last at {}",
                                        engines::counted(k.seen, "wavelet"), k.color, wsl::text_of(a.at))});
  }
  /// The members that have changed since the last call, and the numbers of wavelets that have been reached.
  std::vector<stop> changes_and_arrivals(u64 cycle) {
    std::vector<stop> all;
    for (watched_member& w : watches_)
      if (std::string text = w.change(); !text.empty())
        all.push_back({stop::reason::value, w.at(), cycle, std::move(text)});
    for (stop& s : reached_) all.push_back(std::move(s));
    reached_.clear();
    return all;
  }
  bool has_task(coord c, const detail::binding& begins) const {
    for (const stop_condition& k : conditions_)
      if (k.is_before(c, begins)) return true;
    return false;
  }
  /// Whether a cycle after `before`, and up to `now`, is waited for.
  bool has_cycle(u64 before, u64 now) const {
    for (const stop_condition& k : conditions_)
      if (before < k.cycle && k.cycle <= now) return true;
    return false;
  }

 private:
  std::vector<stop_condition> conditions_;
  std::vector<watched_member> watches_;
  std::vector<stop> reached_;
};

}  // namespace wsl::debug
