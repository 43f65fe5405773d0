// SPDX-License-Identifier: MIT
// What a debugger stops at, by number: tasks, numbers of wavelets, cycles, and members that change or of
// which a condition becomes true.
#pragma once
#include <algorithm>
#include <utility>
#include <variant>

#include "../engine/diagnose/wait_text.hpp"
#include "changing_pes.hpp"
#include "stop.hpp"
#include "watched_area.hpp"

namespace wsl::debug {

/// A condition under which a run stops: tasks of a region, arrivals of a color there, or a cycle.
struct stop_condition {
  region where{};
  const void* key = nullptr;  ///< of a task, or null
  std::string task{};
  int color = -1;
  u64 every = 0, seen = 0;  ///< of a color
  u64 cycle = 0;

  bool is_before(coord c, const detail::binding& begins) const {
    if (color >= 0 || cycle || !where.has(c)) return false;
    return task.empty() || (key ? key == begins.key : task == begins.name);
  }
  std::string text() const {
    if (color >= 0)
      return fmt::format("each time when {} more of color {} have arrived on {}",
                         engines::counted(every, "wavelet"), color, wsl::text_of(where));
    if (cycle) return fmt::format("in cycle {}", cycle);
    return fmt::format("before {} on {}", task.empty() ? "every task" : task, wsl::text_of(where));
  }
};

/// Steps of the run are numbered. Hits count from the step after the one at which a stop was set, and are
/// counted again where a run is made again, so that it stops where it has stopped before.
class stop_list {
 public:
  /// The stop's number, which no other one gets.
  int add(stop_condition c, u64 step) { return add_entry(std::move(c), step); }
  int add(watched_area w, u64 step) { return add_entry(std::move(w), step); }
  /// These throw command_error if there is no such stop.
  void remove(int number) {
    const entry& e = at(number);
    entries_.erase(entries_.begin() + (&e - entries_.data()));
  }
  /// Says whether it was on.
  bool switch_on(int number, bool on) { return std::exchange(at(number).is_on, on); }
  /// The next hits of a stop do not stop the run.
  void ignore(int number, u64 hits, u64 step) {
    entry& e = at(number);
    e.ignores = hits, e.ignored = 0, e.ignores_since = step;
  }
  void clear() { entries_.clear(); }
  std::vector<int> numbers() const {
    std::vector<int> all;
    for (const entry& e : entries_) all.push_back(e.number);
    return all;
  }
  std::string text(int number) const { return at(number).text(); }
  /// One a line, with its number, its hits, and whether it is off.
  std::string text() const {
    std::string all;
    for (const entry& e : entries_) {
      all += fmt::format("{}  {}", e.number, e.text());
      if (e.hits) all += "; " + engines::counted(e.hits, "hit");
      if (e.ignored < e.ignores) all += fmt::format(", ignores {} more", e.ignores - e.ignored);
      all += e.is_on ? "\n" : "; off\n";
    }
    return all.empty() ? "none\n" : all;
  }

  // ---- of a run ---------------------------------------------------------------------------------

  /// A run is made again, from its first step.
  void restart() {
    for (entry& e : entries_) {
      e.hits = e.ignored = 0;
      e.found.clear();
      if (auto* const c = std::get_if<stop_condition>(&e.what)) c->seen = 0;
    }
  }
  /// The run that was made again stands at this step; what was set later counts from here.
  void stands_at(u64 step) {
    for (entry& e : entries_)
      e.since = std::min(e.since, step), e.ignores_since = std::min(e.ignores_since, step);
  }
  /// Whether members are watched.
  bool watches() const {
    for (const entry& e : entries_)
      if (e.is_on && std::holds_alternative<watched_area>(e.what)) return true;
    return false;
  }
  /// Takes the values of watched members as they are now for the last ones: those of all watches, or of one.
  /// state_of(coord) is the state of a PE, or null.
  template <class StateOf>
  void renew(StateOf state_of) {
    for (entry& e : entries_)
      if (e.is_on) renew(e, state_of);
  }
  template <class StateOf>
  void renew(int number, StateOf state_of) {
    renew(at(number), state_of);
  }
  /// The PEs where the condition of a watch holds now.
  template <class StateOf>
  std::vector<coord> holding(int number, StateOf state_of) const {
    std::vector<coord> all;
    each_pe(at(number), state_of, [&](const watched_area& w, coord c, engines::pe_state& s) {
      if (w.holds(s)) all.push_back(c);
    });
    return all;
  }

  /// A wavelet has arrived.
  void count(const arrival& a, u64 step) {
    for (entry& e : entries_) {
      auto* const c = std::get_if<stop_condition>(&e.what);
      if (!c || c->color != a.word.color || !c->where.has(a.at) || !e.counts(step)) continue;
      if (++c->seen % c->every) continue;
      e.found.push_back({stop::reason::wavelets,
                         a.at,
                         a.cycle,
                         fmt::format("{} of color {} have arrived, the last at {}",
                                     engines::counted(c->seen, "wavelet"), c->color, wsl::text_of(a.at)),
                         {e.number}});
    }
  }
  /// Looks at what is watched on a PE; cause() is the text of what may have changed it.
  template <class Cause>
  void look(coord c, engines::pe_state& s, u64 cycle, Cause cause) {
    for (entry& e : entries_) {
      auto* const w = std::get_if<watched_area>(&e.what);
      if (!w || !e.is_on || !w->where().has(c)) continue;
      if (std::string text = w->look(c, s, cause); !text.empty())
        e.found.push_back({stop::reason::value, c, cycle, std::move(text), {e.number}});
    }
  }
  /// The reasons to stop that were found since the last call.
  std::vector<stop> found(u64 step) {
    std::vector<stop> all;
    for (entry& e : entries_) {
      const std::vector<stop> here = std::exchange(e.found, {});
      if (here.empty()) continue;
      if (std::holds_alternative<watched_area>(e.what)) {
        if (e.hit(step)) all.push_back(one_of(here));
        continue;
      }
      for (const stop& s : here)
        if (e.hit(step)) all.push_back(s);
    }
    return all;
  }
  /// The stops before this task.
  std::vector<int> at_task(coord c, const detail::binding& begins, u64 step) {
    return hits(step, [&](const stop_condition& k) { return k.is_before(c, begins); });
  }
  /// The stops at a cycle after `before`, and up to `now`, with their texts.
  std::vector<stop> at_cycle(u64 before, u64 now, u64 step) {
    std::vector<stop> all;
    for (int n : hits(step, [&](const stop_condition& k) { return before < k.cycle && k.cycle <= now; }))
      all.push_back({stop::reason::cycle,
                     {},
                     now,
                     fmt::format("cycle {} has come", std::get<stop_condition>(at(n).what).cycle),
                     {n}});
    return all;
  }

 private:
  struct entry {
    int number = 0;
    std::variant<stop_condition, watched_area> what;
    u64 since = 0;
    bool is_on = true;
    u64 hits = 0, ignores = 0, ignored = 0, ignores_since = 0;
    std::vector<stop> found{};  // in this step

    std::string text() const {
      return std::visit([](const auto& w) { return w.text(); }, what);
    }
    bool counts(u64 step) const { return is_on && step > since; }
    /// Counts a hit; whether the run is to stop.
    bool hit(u64 step) {
      if (!counts(step)) return false;
      ++hits;
      if (step <= ignores_since || ignored == ignores) return true;
      ++ignored;
      return false;
    }
  };

  template <class What>
  int add_entry(What what, u64 step) {
    entries_.push_back({.number = ++newest_, .what = std::move(what), .since = step});
    return newest_;
  }
  const entry& at(int number) const {
    std::vector<int> there;
    for (const entry& e : entries_) {
      if (e.number == number) return e;
      there.push_back(e.number);
    }
    throw command_error(there.empty() ? fmt::format("there is no stop {}, nor any other", number)
                                      : fmt::format("there is no stop {}; there {} {}", number,
                                                    there.size() == 1 ? "is" : "are", stops_text(there)));
  }
  entry& at(int number) {
    return entries_[static_cast<std::size_t>(&std::as_const(*this).at(number) - entries_.data())];
  }

  template <class StateOf>
  static void renew(entry& e, StateOf state_of) {
    each_pe(e, state_of, [](watched_area& w, coord c, engines::pe_state& s) { w.renew(c, s); });
  }
  /// Calls use(watch, coord, state) for the PEs of a watch that have a program.
  template <class Entry, class StateOf, class Use>
  static void each_pe(Entry& e, StateOf state_of, Use use) {
    auto* const w = std::get_if<watched_area>(&e.what);
    for (int k = 0; w && k < w->where().count(); ++k) {
      const coord c = w->where().nth(k);
      if (engines::pe_state* const s = state_of(c)) use(*w, c, *s);
    }
  }
  template <class Is>
  std::vector<int> hits(u64 step, Is is) {
    std::vector<int> all;
    for (entry& e : entries_)
      if (auto* const c = std::get_if<stop_condition>(&e.what); c && e.counts(step) && is(*c) && e.hit(step))
        all.push_back(e.number);
    return all;
  }
  /// One reason for all PEs of a watch.
  static stop one_of(std::vector<stop> reasons) {
    constexpr std::size_t most = 4;
    std::sort(reasons.begin(), reasons.end(), [](const stop& a, const stop& b) {
      return std::pair(a.at.y, a.at.x) < std::pair(b.at.y, b.at.x);
    });
    stop all = reasons.front();
    for (std::size_t i = 1; i < reasons.size() && i < most; ++i) all.text += "; " + reasons[i].text;
    if (reasons.size() > most) all.text += fmt::format("; and on {} more PEs", reasons.size() - most);
    return all;
  }

  std::vector<entry> entries_;  // by number
  int newest_ = 0;
};

}  // namespace wsl::debug
