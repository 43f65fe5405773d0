// SPDX-License-Identifier: MIT
// A debugger stops a run at tasks, words, cycles and changes of members, and goes on step by step; it belongs
// to the program that it looks at, because PE programs are C++. It works on the reference and the timed
// engine, whose runs are repeatable: to go back, it makes the fabric again and runs to the step before.
//   debugger d{[&] { fabric f{plan, reference{}}; f.start<&part::begin>(all); return f; }};
//   d.stop_at<&part::add>(at(1, 2));
//   d.run();
// docs/guide/debug.md shows a session, and examples/38_debugger.cpp is one.
#pragma once
#include <condition_variable>
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>

#include "../support/fingerprint.hpp"
#include "capture.hpp"
#include "commands.hpp"
#include "dump.hpp"

namespace wsl {

/// Where a debugger stands, and why.
struct stop {
  enum class reason {
    begin,     ///< nothing has run yet
    task,      ///< a task is about to run on the PE `at`
    wavelets,  ///< the number of wavelets that was waited for has arrived; the last one at `at`
    value,     ///< a watched member of the PE `at` has another value
    cycle,     ///< the cycle that was waited for has come
    step,      ///< the step that was asked for
    quiet,     ///< the run has ended
    deadlock,  ///< the run has ended, and something waits
    fault,     ///< the run has ended with an exception
  };
  reason why = reason::begin;
  coord at;
  u64 cycle = 0;
  std::string text = "nothing has run yet";

  bool has_ended() const { return why >= reason::quiet; }
};

/// A wavelet that has reached a PE.
struct arrival {
  u64 cycle = 0;
  coord at;
  wavelet word;
};

class debugger : engines::step_observer {
 public:
  /// Steps the next runs of a fabric, which must outlive the debugger. It cannot go back.
  explicit debugger(fabric& f) : fabric_(&f) { engine(); }
  /// `make` makes a fabric, with all that its run needs: calls by f.start(...), members, words of streams. It
  /// is called again to go back, and must make the same each time.
  template <class Make>
    requires std::same_as<std::invoke_result_t<Make&>, fabric>
  explicit debugger(Make make) : make_(std::move(make)) {
    make_again();
  }
  debugger(const debugger&) = delete;
  debugger& operator=(const debugger&) = delete;
  /// A run that has stopped in its middle ends; its fabric can then only be read.
  ~debugger() { end_run(); }

  // ---- where to stop ----------------------------------------------------------------------------

  /// Before each task of these PEs.
  debugger& stop_at(const area& where) { return add({.where = region_of(where)}); }
  /// Before each run of a task on these PEs.
  template <auto Task>
  debugger& stop_at(const area& where = all) {
    static_assert(detail::task_like<Task>,
                  "wsl: a debugger stops at a task of a program: d.stop_at<&part::add>()");
    return add(
        {.where = region_of(where), .key = &detail::task_key<Task>, .task = support::function_name<Task>()});
  }
  /// Before each run of the tasks with this name.
  debugger& stop_at_task(const std::string& name, const area& where = all) {
    bool is_known = false;
    for (const placement& p : fabric_->plan().placements())
      for (const detail::binding& b : *p.what) is_known |= b.runs() && name == b.name;
    if (!is_known)
      throw debug::command_error(fmt::format("no program of this layout has a task {}: see list, and pe", name));
    return add({.where = region_of(where), .task = name});
  }
  /// Each time when so many more wavelets of a color have reached these PEs; after the cycle of the last, or
  /// before the next task. Those count that come after the step at which this is said.
  template <payload T>
  debugger& stop_at(color<T> c, u64 wavelets = 1, const area& where = all) {
    return stop_at_color(c.id, wavelets, where);
  }
  debugger& stop_at_color(int color, u64 wavelets = 1, const area& where = all) {
    if (color < 0 || color >= fabric_->plan().machine().colors || wavelets == 0)
      throw debug::command_error(
          fmt::format("a stop at a color needs one of the {} colors, and a number of wavelets above 0",
                      fabric_->plan().machine().colors));
    return add({.where = region_of(where), .color = color, .every = wavelets});
  }
  /// When this cycle has come.
  debugger& stop_at_cycle(u64 cycle) {
    if (cycle == 0) throw debug::command_error("cycle 0 has come before any stop: name a later one");
    return add({.where = region_of(all), .cycle = cycle});
  }
  /// When a member of a PE changes: after the task or the cycle that has changed it.
  template <class P, class T>
  debugger& watch(int x, int y, T P::* member) {
    static_assert(std::is_trivially_copyable_v<T>, "wsl: a debugger watches members that are plain values");
    using shape = detail::array_shape<T>;
    using element = typename shape::element;
    debug::member_info info{.name = name_of(x, y, read(x, y, member)),
                            .type = detail::name_of_element<element>(),
                            .kind = detail::kind_of_element<element>(),
                            .element_bytes = sizeof(element)};
    return watch({x, y}, std::move(info), [this, x, y, member] {
      const T& value = read(x, y, member);
      return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    });
  }
  /// The same for an exported member, by name.
  debugger& watch(coord c, const std::string& member) {
    const detail::exported_member& e = exported(c, member);
    debug::member_info info{.name = member, .type = e.type, .kind = e.kind, .element_bytes = e.element_bytes};
    return watch(c, std::move(info), [this, c, &e] {
      const detail::exported_elements now = e.elements(state_of(c).memory());
      return std::string(static_cast<const char*>(now.first), now.count * e.element_bytes);
    });
  }
  /// The stops and watches, one a line.
  std::string stops() const {
    std::string text;
    for (const condition& c : conditions_) text += text_of(c) + "\n";
    for (const watched& w : watches_)
      text += fmt::format("when {} of {} changes\n", w.info.name, wsl::text_of(w.at));
    return text.empty() ? "none\n" : text;
  }
  void forget_stops() { conditions_.clear(), watches_.clear(); }

  // ---- going on ---------------------------------------------------------------------------------

  /// Runs to the next stop, or to the end.
  const stop& run() { return go({}); }
  /// Runs to the beginning of the next task of any PE.
  const stop& step_task() { return go({.task = true}); }
  /// Runs to the end of this cycle: on the timed engine, of the next one in which anything happens.
  const stop& step_cycle() { return go({.cycle = true}); }
  /// Goes back to the stop before this one, or to the beginning: runs a fabric that is made again up to
  /// there.
  const stop& back() {
    if (!make_)
      throw debug::command_error(
          "this debugger cannot go back, because it cannot make the fabric again: debugger d{[&] { fabric "
          "f{plan, "
          "reference{}}; f.start<...>(...); return f; }}");
    if (trail_.size() == 1) throw debug::command_error("there is no stop before this one");
    for (std::size_t i = 0; i + 1 < trail_.size(); ++i)
      if (trail_[i].step == at_the_end)
        throw debug::command_error(
            "a debugger goes back within the run for which the fabric was made, and this is a later one");
    trail_.pop_back();
    const place before = trail_.back();
    make_again();
    if (before.step > 0) {
      go({.to = before.step});
      if (step_ != before.step || heard_.value() != before.heard)
        throw fault(
            "wsl: the run went another way than before: what makes the fabric must make the same each time");
      trail_.pop_back();
    }
    return where();
  }
  const stop& where() const { return trail_.back().at; }

  // ---- looking ----------------------------------------------------------------------------------

  /// The newest wavelets of a color that have reached PEs, oldest first; the last 4096 are kept.
  template <payload T>
  std::vector<arrival> history(color<T> c) const {
    return history(c.id);
  }
  std::vector<arrival> history(int color) const {
    if (color < 0 || color >= detail::max_colors) throw debug::command_error("there is no such color");
    const std::deque<arrival>& all_of_color = history_[color];
    return {all_of_color.begin(), all_of_color.end()};
  }
  /// A member of a program. Throws fault if another program runs there.
  template <class P, class T>
  const T& read(int x, int y, T P::* member) {
    engines::pe_state& s = state_of({x, y});
    if (const P* found = detail::memory_as<P>(*s.image->source, s.memory())) return found->*member;
    throw fault(support::joined({"wsl: ", wsl::text_of(coord{x, y}), " runs ", s.image->source->name,
                                 ", not ", support::type_name<P>()}));
  }
  /// The state of the machine, as a dump has it.
  debug::machine_state state() {
    using r = stop::reason;
    const bool ended = where().has_ended() && where().why != r::quiet;
    return debug::capture(*fabric_,
                          where().why == r::deadlock ? debug::dump_reason::deadlock
                          : where().why == r::fault  ? debug::dump_reason::fault
                                                     : debug::dump_reason::asked,
                          ended ? where().text : "");
  }
  void dump(const std::string& file) {
    debug::machine_state now = state();
    debug::write_dump(now, file);
  }
  /// The fabric; between runs, calls may be started on it.
  fabric& stepped() { return *fabric_; }

  // ---- by words ---------------------------------------------------------------------------------

  static constexpr const char* help_text =
      "run                   to the next stop, or to the end\n"
      "task                  to the next task\n"
      "cycle                 to the end of the cycle\n"
      "back                  to the stop before\n"
      "where                 where the run stands\n"
      "stop 1,2              before the tasks of a PE, or of an area\n"
      "stop task add         before a task; stop task add 0-3,* in an area\n"
      "stop color 3 100      when 100 more wavelets of a color have arrived\n"
      "stop cycle 500        when a cycle has come\n"
      "watch 1,2 sum         when an exported member changes\n"
      "stops                 what there are; forget removes all\n"
      "history 3             the newest wavelets of a color\n";

  /// Carries out a command of the prompt, and returns what it shows. Throws std::invalid_argument for a
  /// mistake in it.
  std::string command(const std::string& line) {
    const std::vector<std::string> words = debug::commands::words_of(line);
    const auto is = [&](const char* what, std::size_t n) {
      return words.size() == n + 1 && words[0] == what;
    };
    if (is("run", 0)) return run().text + "\n";
    if (is("task", 0)) return step_task().text + "\n";
    if (is("cycle", 0)) return step_cycle().text + "\n";
    if (is("back", 0)) return back().text + "\n";
    if (is("where", 0)) return where().text + "\n";
    if (is("stops", 0)) return stops();
    if (is("forget", 0)) return forget_stops(), "";
    if (is("history", 1)) return history_text(debug::commands::number(words[1], "color"));
    if (is("watch", 2)) return watch(debug::commands::place(words[1]), words[2]), "";
    if (!words.empty() && words[0] == "stop") return stop_by_words(words);
    if (is("help", 0)) return std::string(help_text) + debug::help_text;
    if (!seen_) seen_.emplace(state());
    debug::state_view view(*seen_);
    return debug::carry_out(view, line);
  }
  /// Reads commands until `quit`, or until the input ends.
  void prompt(std::istream& from = std::cin, std::ostream& to = std::cout) {
    to << where().text << "\n";
    for (std::string line; to << "(wsl) " << std::flush, std::getline(from, line);) {
      const auto words = debug::commands::words_of(line);
      if (!words.empty() && (words[0] == "quit" || words[0] == "q")) return;
      try {
        to << command(line);
      } catch (const std::invalid_argument& e) { to << e.what() << "\n"; } catch (const fault& e) {
        to << e.what() << "\n";
      }
    }
    to << "\n";
  }

 private:
  /// The exception with which a run ends whose debugger goes away.
  struct left : fault {
    left() : fault("wsl: the debugger has ended this run in its middle") {}
  };

  struct condition {
    region where{};
    const void* key = nullptr;  ///< of a task, or null
    std::string task{};
    int color = -1;
    u64 every = 0, since = 0, seen = 0;  ///< of a color: counts arrivals after step `since`
    u64 cycle = 0;

    bool is_for(coord c, const detail::binding& begins) const {
      if (color >= 0 || cycle || !where.has(c)) return false;
      return task.empty() || (key ? key == begins.key : task == begins.name);
    }
  };
  struct watched {
    coord at;
    debug::member_info info;
    std::function<std::string()> value;
    std::string last;
  };
  /// What a run is to do; by default it stops where a condition says.
  struct order {
    bool task = false, cycle = false;
    u64 to = 0;  ///< the step at which to stop, whatever the conditions say
  };
  struct place {
    u64 step = 0;
    stop at;
    u64 heard = 0;  ///< the fingerprint of all steps up to here
  };

  static constexpr u64 at_the_end = ~u64{0};
  static constexpr std::size_t most_kept = 4096;

  engines::engine& engine() {
    fabric_->engine_in_use().observe(this);
    return fabric_->engine_in_use();
  }
  engines::pe_state& state_of(coord c) {
    pe* p = fabric_->engine_in_use().find(c);
    if (!p)
      throw fault(support::joined({"wsl: there is no program at ", wsl::text_of(c), " of a grid of ",
                                   fabric_->plan().width(), " x ", fabric_->plan().height()}));
    return engines::state_of(*p);
  }
  region region_of(const area& where) const {
    const region r = fabric_->plan().inside(where);
    if (r.empty() || r.x0 < 0 || r.y0 < 0 || r.x1 > fabric_->plan().width() ||
        r.y1 > fabric_->plan().height())
      throw debug::command_error(fmt::format("a stop is on the grid of {} x {} PEs, not on {}",
                                             fabric_->plan().width(), fabric_->plan().height(),
                                             wsl::text_of(r)));
    return r;
  }
  debugger& add(condition c) {
    c.since = step_;
    conditions_.push_back(std::move(c));
    return *this;
  }
  debugger& watch(coord c, debug::member_info info, std::function<std::string()> value) {
    std::string now = value();
    watches_.push_back({c, std::move(info), std::move(value), std::move(now)});
    return *this;
  }
  const detail::exported_member& exported(coord c, const std::string& member) {
    const program& what = *state_of(c).image->source;
    for (int i = 0; i < what.exported; ++i)
      if (what.exports[i].name == member) return what.exports[i];
    throw debug::command_error(fmt::format("{} on {} exports no {}", what.name, wsl::text_of(c), member));
  }

  /// The name of a value on a PE, if its program exports it.
  std::string name_of(int x, int y, const auto& value) {
    const engines::pe_state& s = state_of({x, y});
    const program& what = *s.image->source;
    for (int i = 0; i < what.exported; ++i)
      if (what.exports[i].elements(s.memory()).first == &value) return what.exports[i].name;
    return std::string("a member of ") + what.name;
  }

  void make_again() {
    end_run();
    if (fabric_) fabric_->engine_in_use().observe(nullptr);
    own_.reset();
    own_.emplace(make_());
    fabric_ = &*own_;
    engine();
    step_ = cycle_ = last_cycle_ = 0;
    coming_.clear(), reached_.reset();
    heard_ = {};
    for (std::deque<arrival>& h : history_) h.clear();
    for (condition& c : conditions_) c.seen = 0;
    for (watched& w : watches_) w.last = w.value();
    seen_.reset();
  }

  // ---- the run, on a thread of its own, which sleeps while the debugger's user looks --------------

  const stop& go(const order& what) {
    seen_.reset();
    order_ = what;
    if (!thread_.joinable()) {
      if (where().why == stop::reason::fault) fabric_->must_not_have_stopped();
      ended_ = users_turn_ = false;
      thread_ = std::thread([this] { run_all(); });
    } else {
      pass_turn(false);
    }
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return users_turn_; });
    }
    if (ended_) thread_.join();
    trail_.push_back({ended_ ? at_the_end : step_, stopped_, heard_.value()});
    return where();
  }
  void run_all() {
    using r = stop::reason;
    runner_ = std::this_thread::get_id();
    try {
      const outcome done = fabric_->run();
      stopped_ = {
          r::quiet, {}, cycle_, fmt::format("the run has ended: {}", engines::counted(done.tasks, "task"))};
    } catch (const deadlock& e) {
      stopped_ = {r::deadlock, {}, cycle_, e.what()};
    } catch (const std::exception& e) { stopped_ = {r::fault, {}, cycle_, e.what()}; } catch (...) {
      stopped_ = {r::fault, {}, cycle_, fabric_->stopped_by()};
    }
    ended_ = true;
    runner_ = {};
    pass_turn(true);
  }
  void pass_turn(bool to_user) {
    const std::lock_guard lock(mutex_);
    users_turn_ = to_user;
    changed_.notify_all();
  }
  /// Called by the run: waits until the user goes on.
  void stop_here(stop where) {
    if (runner_ != std::this_thread::get_id())
      throw fault(
          "wsl: a debugger with a stop steps this fabric, and f.run() or f.launch() cannot stop: run it with "
          "d.run(), d.step_task() or d.step_cycle()");
    stopped_ = std::move(where);
    pass_turn(true);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !users_turn_; });
    lock.unlock();
    if (leaving_) throw left();
  }
  void end_run() {
    if (thread_.joinable()) {
      leaving_ = true;
      pass_turn(false);
      thread_.join();
      leaving_ = false;
    }
    users_turn_ = false;
    if (fabric_) fabric_->engine_in_use().observe(nullptr);
  }

  // ---- what the engine tells --------------------------------------------------------------------

  void before_task(const engines::pe_state& on, const detail::binding& task, const void* input,
                   u64 cycle) override {
    if (leaving_) throw left();
    ++step_, cycle_ = cycle;
    count_arrivals(cycle);
    const coord c{on.x, on.y};
    hear({c.x, c.y, static_cast<i64>(cycle)}, task.name);
    const auto here = [&](stop::reason why) {
      return stop{why, c, cycle,
                  fmt::format("cycle {}: {} begins {}", cycle, wsl::text_of(c), call_text(task, input))};
    };
    if (order_.to) return stop_on_the_way_back(here(stop::reason::task));
    if (std::optional<stop> s = change_or_arrivals()) return stop_here(*s);
    if (order_.task) return stop_here(here(stop::reason::step));
    for (const condition& k : conditions_)
      if (k.is_for(c, task)) return stop_here(here(stop::reason::task));
  }
  // The timed engine tells of a wavelet when its time of arrival is known.
  void arrived(coord c, const wavelet& w, u64 cycle) override { coming_.insert({cycle, {cycle, c, w}}); }
  void cycle_ended(u64 cycle) override {
    if (leaving_) throw left();
    ++step_;
    count_arrivals(cycle);
    if (cycle != at_the_end) cycle_ = cycle;
    const u64 before = std::exchange(last_cycle_, cycle_);
    const auto here = [&](stop::reason why) {
      return stop{why, {}, cycle_, fmt::format("cycle {}", cycle_)};
    };
    if (order_.to) return stop_on_the_way_back(here(stop::reason::step));
    if (std::optional<stop> s = change_or_arrivals()) return stop_here(*s);
    for (const condition& k : conditions_)
      if (before < k.cycle && k.cycle <= cycle_) return stop_here(here(stop::reason::cycle));
    if (order_.cycle && cycle != at_the_end) stop_here(here(stop::reason::step));
  }
  void hear(std::initializer_list<i64> numbers, std::string_view name = "") {
    for (i64 n : numbers) heard_.add(&n, sizeof n);
    heard_.add(name.data(), name.size());
  }
  void stop_on_the_way_back(const stop& here) {
    for (watched& w : watches_) w.last = w.value();
    reached_.reset();
    if (step_ == order_.to) stop_here(here);
  }
  void count_arrivals(u64 now) {
    while (!coming_.empty() && coming_.begin()->first <= now) {
      const arrival a = coming_.begin()->second;
      coming_.erase(coming_.begin());
      hear({a.at.x, a.at.y, static_cast<i64>(a.cycle), a.word.bits, a.word.color, a.word.control});
      std::deque<arrival>& kept = history_[a.word.color];
      if (kept.size() == most_kept) kept.pop_front();
      kept.push_back(a);
      for (condition& k : conditions_)
        if (k.color == a.word.color && k.where.has(a.at) && step_ > k.since && ++k.seen % k.every == 0)
          reached_ = stop{stop::reason::wavelets, a.at, a.cycle,
                          fmt::format("cycle {}: {} of color {} have arrived, the last at {}", a.cycle,
                                      engines::counted(k.seen, "wavelet"), k.color, wsl::text_of(a.at))};
    }
  }
  std::optional<stop> change_or_arrivals() {
    if (std::optional<stop> s = change()) return s;
    return std::exchange(reached_, {});
  }
  /// The first watched member that has changed.
  std::optional<stop> change() {
    for (watched& w : watches_) {
      std::string now = w.value();
      if (now == w.last) continue;
      const std::string before = std::exchange(w.last, std::move(now));
      return stop{stop::reason::value, w.at, cycle_,
                  fmt::format("cycle {}: {} of {} changes {}", cycle_, w.info.name, wsl::text_of(w.at),
                              change_text(w, before))};
    }
    return {};
  }
  static std::string change_text(const watched& w, const std::string& before) {
    const u32 size = w.info.element_bytes;
    const auto element = [&](const std::string& of, std::size_t k) {
      return debug::text_of(w.info, of.data() + k * size);
    };
    const std::size_t n = before.size() / size, m = w.last.size() / size;
    if (n != m)
      return fmt::format("from {} to {}", engines::counted(n, "element"), engines::counted(m, "element"));
    if (n == 1) return fmt::format("from {} to {}", element(before, 0), element(w.last, 0));
    for (std::size_t k = 0; k < n; ++k)
      if (before.compare(k * size, size, w.last, k * size, size) != 0)
        return fmt::format("element {} from {} to {}", k, element(before, k), element(w.last, k));
    return "";
  }
  static std::string call_text(const detail::binding& task, const void* input) {
    if (!input || (task.what != detail::role::data && task.what != detail::role::control)) return task.name;
    u32 bits = 0;
    std::memcpy(&bits, input, sizeof bits);
    return fmt::format("{}({})", task.name,
                       debug::text_of(wavelet{bits, 0, task.what == detail::role::control},
                                      task.type ? debug::capturing::short_name(task.type) : ""));
  }

  // ---- words ------------------------------------------------------------------------------------

  static std::string text_of(const condition& c) {
    if (c.color >= 0)
      return fmt::format("when {} more of color {} have arrived on {}", engines::counted(c.every, "wavelet"),
                         c.color, wsl::text_of(c.where));
    if (c.cycle) return fmt::format("in cycle {}", c.cycle);
    return fmt::format("before {} on {}", c.task.empty() ? "every task" : c.task, wsl::text_of(c.where));
  }
  area area_of(const std::string& text) const {
    const region r = debug::commands::area(text, fabric_->plan().grid());
    return {r.x0, r.x1, r.y0, r.y1, r.sx, r.sy};
  }
  std::string stop_by_words(const std::vector<std::string>& words) {
    const auto number = [&](std::size_t k, const char* what) {
      return debug::commands::number(words[k], what);
    };
    const std::size_t n = words.size();
    if (n == 2) stop_at(area_of(words[1]));
    else if ((n == 3 || n == 4) && words[1] == "task")
      stop_at_task(words[2], n == 4 ? area_of(words[3]) : all);
    else if ((n == 3 || n == 4) && words[1] == "color")
      stop_at_color(number(2, "color"), n == 4 ? static_cast<u64>(number(3, "number of wavelets")) : 1);
    else if (n == 3 && words[1] == "cycle") stop_at_cycle(static_cast<u64>(number(2, "cycle")));
    else
      throw debug::command_error(
          "stop is used as: stop 1,2, stop task add, stop color 3 100 or stop cycle 500");
    return "";
  }
  std::string history_text(int color) {
    const std::vector<arrival> newest = history(color);
    constexpr std::size_t most = 40;
    std::string text, type;
    for (const path_record& p : fabric_->plan().paths())
      if (p.color == color) type = debug::capturing::short_name(p.type);
    for (std::size_t i = newest.size() - std::min(newest.size(), most); i < newest.size(); ++i)
      text += fmt::format("cycle {}  {}  {}\n", newest[i].cycle, wsl::text_of(newest[i].at),
                          debug::text_of(newest[i].word, type));
    return text.empty() ? "none\n" : text;
  }

  std::function<fabric()> make_;
  std::optional<fabric> own_;
  fabric* fabric_ = nullptr;
  std::vector<condition> conditions_;
  std::vector<watched> watches_;
  std::vector<place> trail_ = {{}};  // the stops so far, to which `back` goes
  std::deque<arrival> history_[detail::max_colors];
  std::optional<debug::machine_state> seen_;  // by the words of the prompt, since the last step

  // Of the run. Its thread and the user's take turns, and only the one whose turn it is touches anything
  // here.
  u64 step_ = 0, cycle_ = 0, last_cycle_ = 0;
  support::fingerprint heard_;
  order order_;
  std::multimap<u64, arrival> coming_;  // wavelets by the cycle of their arrival
  std::optional<stop> reached_;         // a number of them that was waited for
  stop stopped_;
  bool ended_ = false, leaving_ = false;
  std::thread thread_;
  std::thread::id runner_;  // of the thread that runs, while one does
  std::mutex mutex_;
  std::condition_variable changed_;
  bool users_turn_ = false;
};

}  // namespace wsl
