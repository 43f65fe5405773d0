// SPDX-License-Identifier: MIT
// A debugger stops a run at tasks, words, cycles and changes of members, and goes on step by step; it belongs
// to the program that it looks at, because PE programs are C++. It works on the reference and the timed
// engine, whose runs are repeatable: to go back, it makes the fabric again and runs to the step before.
//   debugger d{[&] { fabric f{plan, reference{}}; f.start<&part::begin>(all); return f; }};
//   d.stop_at<&part::add>(at(1, 2));
//   d.run();
// docs/guide/debug.md shows a session, and examples/38_debugger.cpp is one.
#pragma once
#include <functional>
#include <iostream>
#include <optional>

#include "../support/fingerprint.hpp"
#include "arrival_log.hpp"
#include "capture.hpp"
#include "commands.hpp"
#include "dump.hpp"
#include "stop_list.hpp"
#include "turns.hpp"

namespace wsl {

class debugger;
namespace debug {
std::string carry_out(debugger& d, const std::string& line);
}

class debugger : engines::step_observer {
 public:
  /// Steps the next runs of a fabric, which must outlive the debugger. It cannot go back.
  explicit debugger(fabric& f) { take(f); }
  /// `make` makes a fabric, with all that its run needs: calls by f.start(...), members, words of streams. It
  /// is called again to go back, and must make the same each time.
  template <class Make>
    requires std::same_as<std::invoke_result_t<Make&>, fabric>
  explicit debugger(Make make) : make_(std::move(make)) {
    begin_with(make_());
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
    return add_task(
        {.where = region_of(where), .key = &detail::task_key<Task>, .task = support::function_name<Task>()});
  }
  /// Before each run of the tasks with this name.
  debugger& stop_at_task(const std::string& name, const area& where = all) {
    return add_task({.where = region_of(where), .task = name});
  }
  /// Each time when so many more wavelets of a color have reached these PEs; after the cycle of the last, or
  /// before the next task. Those count that come after the step at which this is said.
  template <payload T>
  debugger& stop_at(color<T> c, u64 wavelets = 1, const area& where = all) {
    return stop_at_color(c.id, wavelets, where);
  }
  debugger& stop_at_color(int color, u64 wavelets = 1, const area& where = all) {
    const layout& plan = on().plan();
    if (color < 0 || color >= plan.machine().colors || wavelets == 0)
      throw debug::command_error(
          fmt::format("a stop at a color needs one of the {} colors, and a number of wavelets above 0",
                      plan.machine().colors));
    bool has_path = false;
    for (const path_record& p : plan.paths()) has_path |= p.color == color;
    if (!has_path)
      throw debug::command_error(fmt::format("no path has color {}, so its wavelets never come", color));
    return add({.where = region_of(where), .color = color, .every = wavelets});
  }
  /// When this cycle has come.
  debugger& stop_at_cycle(u64 cycle) {
    if (cycle <= cycle_)
      throw debug::command_error(
          fmt::format("cycle {} has come already: the run stands in cycle {}", cycle, cycle_));
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
  std::string stops() const { return stops_.text(); }
  void forget_stops() { stops_.clear(); }

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
    fabric again = make_();  // if that throws, the debugger stands where it stood
    trail_.pop_back();
    const place before = trail_.back();
    begin_with(std::move(again));
    if (before.step > 0) {
      go({.to = before.step});
      if (step_ != before.step || heard_.value() != before.heard) {
        trail_.resize(1);
        begin_with(make_());
        throw fault(
            "wsl: the run went another way than before: what makes the fabric must make the same each time; "
            "the debugger stands at the beginning");
      }
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
    return arrivals_.of(color);
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
    return debug::capture(on(),
                          where().why == r::deadlock ? debug::dump_reason::deadlock
                          : where().why == r::fault  ? debug::dump_reason::fault
                                                     : debug::dump_reason::asked,
                          ended ? where().text : "");
  }
  /// The same, taken once for each stop.
  const debug::machine_state& state_here() {
    if (!seen_) seen_.emplace(state());
    return *seen_;
  }
  void dump(const std::string& file) {
    debug::machine_state now = state();
    debug::write_dump(now, file);
  }
  /// The fabric; between runs, calls may be started on it.
  fabric& stepped() { return on(); }

  // ---- by words ---------------------------------------------------------------------------------

  /// Carries out a command of the prompt, and returns what it shows. Throws std::invalid_argument for a
  /// mistake in it.
  std::string command(const std::string& line) { return debug::carry_out(*this, line); }
  /// Reads commands until `quit`, or until the input ends.
  void prompt(std::istream& from = std::cin, std::ostream& to = std::cout) {
    to << where().text << "\n";
    for (std::string line; to << "(wsl) " << std::flush, std::getline(from, line);) {
      const auto words = debug::commands::words_of(line);
      if (!words.empty() && debug::commands::is_quit(words[0])) return;
      try {
        to << command(line);
      } catch (const std::invalid_argument& e) { to << e.what() << "\n"; } catch (const fault& e) {
        to << e.what() << "\n";
      }
    }
    to << "\n";
  }

 private:
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

  /// Notices when the fabric is gone.
  struct fabric_watch final : detail::fabric_user {
    fabric_watch(fabric& f, debugger& by) : fabric_user(f), by_(by) {}
    void must_be_there() const {
      if (gone_)
        throw fault(
            "wsl: the fabric of this debugger is gone, destroyed or moved: declare the debugger after it");
    }

   private:
    void fabric_goes() override {
      by_.end_run();
      gone_ = true;
    }
    debugger& by_;
    bool gone_ = false;
  };
  void take(fabric& f) {
    f.engine_in_use().observe(this);
    fabric_ = &f, engine_ = &f.engine_in_use();
    watch_.emplace(f, *this);
  }
  fabric& on() const {
    watch_->must_be_there();
    return *fabric_;
  }
  engines::pe_state& state_of(coord c) {
    pe* p = on().engine_in_use().find(c);
    if (!p)
      throw fault(support::joined({"wsl: there is no program at ", wsl::text_of(c), " of a grid of ",
                                   on().plan().width(), " x ", on().plan().height()}));
    return engines::state_of(*p);
  }
  region region_of(const area& where) const {
    const region r = on().plan().inside(where);
    if (r.empty() || r.x0 < 0 || r.y0 < 0 || r.x1 > on().plan().width() || r.y1 > on().plan().height())
      throw debug::command_error(fmt::format("a stop is on the grid of {} x {} PEs, not on {}",
                                             on().plan().width(), on().plan().height(), wsl::text_of(r)));
    return r;
  }
  /// A stop at a task that some PE of its region runs.
  debugger& add_task(debug::stop_condition c) {
    std::string known;
    for (const placement& p : on().plan().placements()) {
      const region& r = p.where;
      const bool meets = r.x0 < c.where.x1 && c.where.x0 < r.x1 && r.y0 < c.where.y1 && c.where.y0 < r.y1;
      for (const detail::binding& b : *p.what) {
        if (!b.runs()) continue;
        if (meets && (c.key ? c.key == b.key : c.task == b.name)) return add(std::move(c));
        if (meets && known.find(b.name) == std::string::npos)
          known += (known.empty() ? "" : ", ") + std::string(b.name);
      }
    }
    throw debug::command_error(fmt::format("no program on {} has a task {}{}", wsl::text_of(c.where), c.task,
                                           known.empty() ? "" : "; there are " + known));
  }
  debugger& add(debug::stop_condition c) {
    c.since = step_;
    stops_.add(std::move(c));
    return *this;
  }
  debugger& watch(coord c, debug::member_info info, std::function<std::string()> value) {
    stops_.add(debug::watched_member(c, std::move(info), std::move(value)));
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

  /// Stands at the beginning of a run of a fabric that `make` has made.
  void begin_with(fabric made) {
    end_run();
    watch_.reset();
    own_.reset();
    own_.emplace(std::move(made));
    take(*own_);
    step_ = cycle_ = last_cycle_ = 0;
    heard_ = {};
    arrivals_.clear();
    stops_.restart();
    seen_.reset();
  }

  // ---- the run, on a thread of its own, which sleeps while the debugger's user looks --------------

  const stop& go(const order& what) {
    seen_.reset();
    order_ = what;
    fabric& f = on();
    if (!turns_.under_way() && where().why == stop::reason::fault) f.must_not_have_stopped();
    const bool had_ended = where().has_ended();
    const u64 before = step_;
    turns_.go([this] { stopped_ = run_all(); });
    const place now{turns_.under_way() ? step_ : at_the_end, stopped_, heard_.value()};
    // A run that ends at once, behind one that has ended, is no place to come back to.
    if (had_ended && now.at.has_ended() && step_ <= before + 1) trail_.back().at = now.at;
    else trail_.push_back(now);
    return where();
  }
  stop run_all() {
    using r = stop::reason;
    try {
      const outcome done = fabric_->run();
      return {
          r::quiet, {}, cycle_, fmt::format("the run has ended: {}", engines::counted(done.tasks, "task"))};
    } catch (const deadlock& e) {
      return {r::deadlock, {}, cycle_, e.what()};
    } catch (const std::exception& e) { return {r::fault, {}, cycle_, e.what()}; } catch (...) {
      return {r::fault, {}, cycle_, fabric_->stopped_by()};
    }
  }
  /// Called by the run: waits until the user goes on.
  void stop_here(stop where) {
    if (!turns_.is_work())
      throw fault(
          "wsl: a debugger with a stop steps this fabric, and f.run() or f.launch() cannot stop: run it with "
          "d.run(), d.step_task() or d.step_cycle()");
    stopped_ = std::move(where);
    turns_.pause();
  }
  void end_run() {
    turns_.leave();
    if (engine_) engine_->observe(nullptr);
    engine_ = nullptr;
  }

  // ---- what the engine tells --------------------------------------------------------------------

  void before_task(const engines::pe_state& on, const detail::binding& task, const void* input,
                   u64 cycle) override {
    turns_.must_go_on();
    ++step_, cycle_ = cycle;
    count_arrivals(cycle);
    const coord c{on.x, on.y};
    hear({c.x, c.y, static_cast<i64>(cycle)}, task.name);
    const auto here = [&](stop::reason why) {
      return stop{why, c, cycle, fmt::format("{} begins {}", wsl::text_of(c), call_text(task, input))};
    };
    if (order_.to) return stop_on_the_way_back(here(stop::reason::task));
    std::vector<stop> reasons = stops_.changes_and_arrivals(cycle);
    if (order_.task) reasons.push_back(here(stop::reason::step));
    else if (stops_.has_task(c, task)) reasons.push_back(here(stop::reason::task));
    if (!reasons.empty()) stop_here(debug::joined(std::move(reasons)));
  }
  // The timed engine tells of a wavelet when its time of arrival is known.
  void arrived(coord c, const wavelet& w, u64 cycle) override { arrivals_.expect({cycle, c, w}); }
  void cycle_ended(u64 cycle) override {
    turns_.must_go_on();
    ++step_;
    count_arrivals(cycle);
    if (cycle != at_the_end) cycle_ = cycle;
    const u64 before = std::exchange(last_cycle_, cycle_);
    const auto here = [&](stop::reason why) { return stop{why, {}, cycle_, ""}; };
    if (order_.to) return stop_on_the_way_back(here(stop::reason::step));
    std::vector<stop> reasons = stops_.changes_and_arrivals(cycle_);
    if (stops_.has_cycle(before, cycle_)) reasons.push_back(here(stop::reason::cycle));
    else if (order_.cycle && cycle != at_the_end) reasons.push_back(here(stop::reason::step));
    if (!reasons.empty()) stop_here(debug::joined(std::move(reasons)));
  }
  void hear(std::initializer_list<i64> numbers, std::string_view name = "") {
    for (i64 n : numbers) heard_.add(&n, sizeof n);
    heard_.add(name.data(), name.size());
  }
  void stop_on_the_way_back(const stop& here) {
    stops_.pass_over();
    if (step_ == order_.to) stop_here(debug::joined({here}));
  }
  void count_arrivals(u64 now) {
    arrivals_.take(now, [&](const arrival& a) {
      hear({a.at.x, a.at.y, static_cast<i64>(a.cycle), a.word.bits, a.word.color, a.word.control});
      stops_.count(a, step_);
    });
  }
  static std::string call_text(const detail::binding& task, const void* input) {
    if (!input || (task.what != detail::role::data && task.what != detail::role::control)) return task.name;
    u32 bits = 0;
    std::memcpy(&bits, input, sizeof bits);
    return fmt::format("{}({})", task.name,
                       debug::text_of(wavelet{bits, 0, task.what == detail::role::control},
                                      task.type ? debug::capturing::short_name(task.type) : ""));
  }

  std::function<fabric()> make_;
  std::optional<fabric> own_;
  fabric* fabric_ = nullptr;
  engines::engine* engine_ = nullptr;  // while it is observed
  std::optional<fabric_watch> watch_;
  debug::stop_list stops_;
  std::vector<place> trail_ = {{}};  // the stops so far, to which `back` goes
  debug::arrival_log arrivals_;
  std::optional<debug::machine_state> seen_;  // since the last step

  // Of the run, and of its user in turn.
  u64 step_ = 0, cycle_ = 0, last_cycle_ = 0;
  support::fingerprint heard_;
  order order_;
  stop stopped_;
  debug::turns turns_;  // goes before all that its work uses
};

}  // namespace wsl

#include "debugger_commands.hpp"
