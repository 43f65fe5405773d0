// SPDX-License-Identifier: MIT
// A debugger stops a run at tasks, words, cycles and values of members, and goes on step by step; it belongs
// to the program that it looks at, because PE programs are C++. It works on the reference and the timed
// engine, whose runs are repeatable: to go back, it makes the fabric again and runs to the step before.
//   debugger d{[&] { fabric f{plan, reference{}}; f.start<&part::begin>(all); return f; }};
//   d.stop_at<&part::add>(at(1, 2));
//   d.run();
// docs/guide/debug.md shows a session, and examples/38_debugger.cpp is one.
#pragma once
#include <algorithm>
#include <chrono>
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

  // Each of these returns the number of the stop, which texts name, and which no other stop gets.

  /// Before each task of these PEs.
  int stop_at(const area& where) { return add({.where = region_of(where)}); }
  /// Before each run of a task on these PEs.
  template <auto Task>
  int stop_at(const area& where = all) {
    static_assert(detail::task_like<Task>,
                  "wsl: a debugger stops at a task of a program: d.stop_at<&part::add>()");
    return add_task(
        {.where = region_of(where), .key = &detail::task_key<Task>, .task = support::function_name<Task>()});
  }
  /// Before each run of the tasks with this name.
  int stop_at_task(const std::string& name, const area& where = all) {
    return add_task({.where = region_of(where), .task = name});
  }
  /// Each time when so many more wavelets of a color have reached these PEs; after the cycle of the last, or
  /// before the next task. Those count that come after the step at which this is said.
  template <payload T>
  int stop_at(color<T> c, i64 wavelets = 1, const area& where = all) {
    return stop_at_color(c.id, wavelets, where);
  }
  int stop_at_color(int color, i64 wavelets = 1, const area& where = all) {
    const layout& plan = on().plan();
    if (color < 0 || color >= plan.machine().colors || wavelets < 1)
      throw debug::command_error(
          fmt::format("a stop at a color needs one of the {} colors, and a number of wavelets above 0",
                      plan.machine().colors));
    bool has_path = false;
    for (const path_record& p : plan.paths()) has_path |= p.color == color;
    if (!has_path)
      throw debug::command_error(fmt::format("no path has color {}, so its wavelets never come", color));
    return add({.where = region_of(where), .color = color, .every = static_cast<u64>(wavelets)});
  }
  /// When this cycle has come.
  int stop_at_cycle(u64 cycle) {
    if (cycle <= cycle_)
      throw debug::command_error(
          fmt::format("cycle {} has come already: the run stands in cycle {}", cycle, cycle_));
    return add({.where = region_of(all), .cycle = cycle});
  }
  /// When a member changes on one of these PEs, or, with a comparison as "> 5" or "== nan", when it becomes
  /// true there for an element of it: after the task or the cycle that has done it. A comparison that holds
  /// already stops the run when it has become false and true again. PEs whose program has no such member do
  /// not count; at least one has it.
  template <class P, class T>
  int watch(const area& where, T P::* member, const std::string& compared = "") {
    const region pes = region_of(where);
    const P* first = nullptr;
    coord c;
    for (int k = 0; k < pes.count() && !first; ++k) first = program_on<P>(c = pes.nth(k));
    if (!first)
      throw debug::command_error(
          fmt::format("no PE of {} runs {}", wsl::text_of(pes), support::type_name<P>()));
    debug::member_info info = debug::info_of_member<T>(name_of(c, &(first->*member)));
    debug::member_condition wanted{.member = info.name, .compared = {}};
    if (!compared.empty()) wanted.compared.emplace(compared);
    return watch(pes, std::move(wanted), [member, info](engines::pe_state& s) -> debug::watched_elements {
      const P* const found = detail::memory_as<P>(*s.image->source, s.memory());
      if (!found) return {};
      return {&info, debug::values_of_member(found->*member)};
    });
  }
  template <class P, class T>
  int watch(int x, int y, T P::* member, const std::string& compared = "") {
    read(x, y, member);
    return watch(at(x, y), member, compared);
  }
  /// The same for an exported member by its name: "sum", or "sum > 5".
  int watch_member(const std::string& wanted, const area& where = all) {
    debug::member_condition condition = debug::condition_of(wanted);
    const region pes = region_of(where);
    return watch(pes, condition, exported(pes, condition.member));
  }

  /// The stops and watches, one a line, with their numbers, hits, and whether they are off.
  std::string stops() const { return stops_.text(); }
  std::vector<int> stop_numbers() const { return stops_.numbers(); }
  /// One of them; of a watch with a comparison also where it holds now.
  std::string stop_text(int number) {
    std::string text = debug::stops_text({number}) + ": " + stops_.text(number);
    const std::vector<coord> holds = stops_.holding(number, state_at());
    if (!holds.empty())
      text += fmt::format("; it is true already on {}{}, which count when it becomes true again",
                          wsl::text_of(holds.front()),
                          holds.size() > 1 ? fmt::format(" and {} more", holds.size() - 1) : "");
    return text;
  }
  // These throw std::invalid_argument if there is no such stop.
  void delete_stop(int number) { stops_.remove(number); }
  void delete_stops() { stops_.clear(); }
  /// A stop that is off is there, and neither stops a run nor counts hits.
  void disable_stop(int number) { stops_.switch_on(number, false); }
  void enable_stop(int number) {
    if (!stops_.switch_on(number, true)) stops_.renew(number, state_at());
  }
  /// The next so many hits of a stop do not stop the run; 0 for none. Throws std::invalid_argument for a
  /// number below 0.
  void ignore_hits(int number, i64 hits) {
    if (hits < 0) throw debug::command_error(fmt::format("{} hits: a number of hits is 0 or more", hits));
    stops_.ignore(number, static_cast<u64>(hits), step_);
  }

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
    stops_.stands_at(step_);
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
    if (const P* found = program_on<P>({x, y})) return found->*member;
    throw fault(support::joined({"wsl: ", wsl::text_of(coord{x, y}), " runs ",
                                 state_of({x, y}).image->source->name, ", not ", support::type_name<P>()}));
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
  /// Reads commands until `quit`, or until the input ends. An empty line takes the last step again.
  void prompt(std::istream& from = std::cin, std::ostream& to = std::cout) {
    to << where().text << "\n";
    std::string step;
    for (std::string line; to << "(wsl) " << std::flush, std::getline(from, line);) {
      const auto words = debug::commands::words_of(line);
      if (!words.empty() && debug::commands::is_quit(words[0])) return;
      if (words.empty()) line = step;
      else step = debug::commands::is_step(words[0]) ? line : "";
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
    changing_.open(f.plan().grid());
  }
  fabric& on() const {
    watch_->must_be_there();
    return *fabric_;
  }
  /// Gives the state of a PE, or null where no program is placed.
  struct state_finder {
    engines::engine& from;
    engines::pe_state* operator()(coord c) const {
      pe* const p = from.find(c);
      return p ? &engines::state_of(*p) : nullptr;
    }
  };
  state_finder state_at() const { return {on().engine_in_use()}; }
  /// The program on a PE, null if there is none or another one.
  template <class P>
  const P* program_on(coord c) const {
    engines::pe_state* const s = state_at()(c);
    return s ? detail::memory_as<P>(*s->image->source, s->memory()) : nullptr;
  }
  engines::pe_state& state_of(coord c) {
    if (engines::pe_state* const s = state_at()(c)) return *s;
    throw fault(support::joined({"wsl: there is no program at ", wsl::text_of(c), " of a grid of ",
                                 on().plan().width(), " x ", on().plan().height()}));
  }
  region region_of(const area& where) const {
    const region r = on().plan().inside(where);
    if (r.empty() || r.x0 < 0 || r.y0 < 0 || r.x1 > on().plan().width() || r.y1 > on().plan().height())
      throw debug::command_error(fmt::format("a stop is on the grid of {} x {} PEs, not on {}",
                                             on().plan().width(), on().plan().height(), wsl::text_of(r)));
    return r;
  }
  /// A stop at a task that some PE of its region runs.
  int add_task(debug::stop_condition c) {
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
  int add(debug::stop_condition c) { return stops_.add(std::move(c), step_); }
  int watch(const region& where, debug::member_condition wanted, debug::watched_area::source elements) {
    const state_finder state = state_at();
    for (int k = 0; wanted.compared && k < where.count(); ++k)
      if (engines::pe_state* const s = state(where.nth(k)))
        if (const debug::watched_elements e = elements(*s); e.what)
          debug::comparison::must_have_numbers(*e.what);
    const int number = stops_.add({where, std::move(wanted), std::move(elements)}, step_);
    stops_.renew(number, state);
    return number;
  }
  /// Finds an exported member on PEs of a region, whose programs may be several.
  debug::watched_area::source exported(const region& where, const std::string& member) {
    // A program is known by its list: where its colors are symbolic, each place has a copy of the rest.
    struct of_program {
      const detail::exported_member *all, *entry;
      debug::member_info info;
    };
    std::vector<of_program> found;
    std::vector<const detail::exported_member*> lists;
    std::string known;
    for (const placement& p : on().plan().placements()) {
      bool meets = false;
      for (int k = 0; k < where.count() && !meets; ++k) meets = p.where.has(where.nth(k));
      if (!meets || std::find(lists.begin(), lists.end(), p.what->exports) != lists.end()) continue;
      lists.push_back(p.what->exports);
      for (int i = 0; i < p.what->exported; ++i) {
        const detail::exported_member& e = p.what->exports[i];
        if (e.name == member) found.push_back({p.what->exports, &e, debug::capturing::info_of(e)});
        known += fmt::format("{}{} of {}", known.empty() ? "" : ", ", e.name, p.what->name);
      }
    }
    if (found.empty())
      throw debug::command_error(fmt::format("no program on {} exports {}{}", wsl::text_of(where), member,
                                             known.empty()
                                                 ? ": using exports = export_list<&part::x>; exports members"
                                                 : "; there are " + known));
    return [found](engines::pe_state& s) -> debug::watched_elements {
      for (const of_program& f : found)
        if (f.all == s.image->source->exports) {
          const detail::exported_elements now = f.entry->elements(s.memory());
          return {&f.info, {static_cast<const char*>(now.first), now.count}};
        }
      return {};
    };
  }

  /// The name of the member at this place in the memory of a PE, if its program exports it.
  std::string name_of(coord c, const void* member) {
    const engines::pe_state& s = state_of(c);
    const program& what = *s.image->source;
    for (int i = 0; i < what.exported; ++i)
      if (what.exports[i].place ? what.exports[i].place(s.memory()) == member
                                : what.exports[i].elements(s.memory()).first == member)
        return what.exports[i].name;
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
    if (!turns_.under_way()) {
      stops_.renew(state_at());
      changing_.open(f.plan().grid());
    }
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
      return ending(r::quiet, fmt::format("the run has ended: {}", engines::counted(done.tasks, "task")));
    } catch (const deadlock& e) {
      return ending(r::deadlock, e.what());
    } catch (const engines::abandoned_run& e) {
      return {r::fault, {}, cycle_, e.what()};
    } catch (const std::exception& e) { return ending(r::fault, e.what()); } catch (...) {
      return ending(r::fault, fabric_->stopped_by());
    }
  }
  /// The end of a run. What is watched may have changed in its last task, which a fault ends in its middle.
  stop ending(stop::reason why, const std::string& text) {
    stop end{why, {}, cycle_, text};
    if (!stops_.watches()) return end;
    look_at_changing();
    for (const stop& s : stops_.found(step_ + 1)) {
      end.text += fmt::format("\n{}: {}", debug::stops_text(s.numbers), s.text);
      end.numbers.insert(end.numbers.end(), s.numbers.begin(), s.numbers.end());
    }
    return end;
  }
  /// Called by the run: waits until the user goes on.
  void stop_here(stop where) {
    if (!turns_.is_work())
      throw fault(
          "wsl: a debugger with a stop steps this fabric, and f.run() or f.launch() cannot stop: run it with "
          "d.run(), d.step_task() or d.step_cycle()");
    stopped_ = std::move(where);
    using clock = std::chrono::steady_clock;
    const clock::time_point since = clock::now();
    turns_.pause();
    engine_->stood_still(std::chrono::duration<f64>(clock::now() - since).count());
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
    debug::begun_task begun{.what = &task};
    if (input && (task.what == detail::role::data || task.what == detail::role::control))
      begun.has_word = true, std::memcpy(&begun.bits, input, sizeof begun.bits);
    if (stops_.watches())
      for (coord changed : {begins_, c}) look_at(changed);
    std::vector<stop> reasons = stops_.found(step_);
    const std::vector<int> numbers = stops_.at_task(c, task, step_);
    if (!numbers.empty() || order_.task || order_.to == step_)
      reasons.push_back({numbers.empty() ? stop::reason::step : stop::reason::task, c, cycle,
                         fmt::format("{} begins {}", wsl::text_of(c), text_of(begun)), numbers});
    stop_because(std::move(reasons));
    begins_ = c;
    changing_.begins(c, begun);
  }
  // The timed engine tells of a wavelet when its time of arrival is known.
  void arrived(coord c, const wavelet& w, u64 cycle) override { arrivals_.expect({cycle, c, w}); }
  void cycle_ended(u64 cycle) override {
    turns_.must_go_on();
    ++step_;
    count_arrivals(cycle);
    if (cycle != at_the_end) cycle_ = cycle;
    const u64 before = std::exchange(last_cycle_, cycle_);
    if (stops_.watches()) look_at_changing();
    std::vector<stop> reasons = stops_.found(step_);
    for (stop& s : stops_.at_cycle(before, cycle_, step_)) reasons.push_back(std::move(s));
    if ((reasons.empty() && order_.cycle && cycle != at_the_end) || order_.to == step_)
      reasons.push_back({stop::reason::step, {}, cycle_, ""});
    stop_because(std::move(reasons));
  }
  void hear(std::initializer_list<i64> numbers, std::string_view name = "") {
    for (i64 n : numbers) heard_.add(&n, sizeof n);
    heard_.add(name.data(), name.size());
  }
  /// Stops if there is a reason; on the way back only at the step to which it leads.
  void stop_because(std::vector<stop> reasons) {
    if (reasons.empty() || (order_.to && step_ != order_.to)) return;
    stop_here(debug::joined(std::move(reasons)));
  }
  void look_at(coord c) {
    changing_.look_at(c, [this](coord at, const debug::changing_pes::entry& e) { look(at, e); });
  }
  void look_at_changing() {
    changing_.look_at_all(*engine_, [this](coord at, const debug::changing_pes::entry& e) { look(at, e); });
  }
  /// Whether the task that began last has changed it, or an operation or another part of a task since.
  void look(coord c, const debug::changing_pes::entry& e) {
    pe* const p = engine_->find(c);
    if (!p) return;
    stops_.look(c, engines::state_of(*p), cycle_, [&] {
      return e.last.what ? fmt::format(" {} {}", e.is_new ? "in" : "after", text_of(e.last)) : "";
    });
  }
  void count_arrivals(u64 now) {
    arrivals_.take(now, [&](const arrival& a) {
      hear({a.at.x, a.at.y, static_cast<i64>(a.cycle), a.word.bits, a.word.color, a.word.control});
      stops_.count(a, step_);
    });
  }
  static std::string text_of(const debug::begun_task& t) {
    if (!t.has_word) return t.what->name;
    return fmt::format("{}({})", t.what->name,
                       debug::text_of(wavelet{t.bits, 0, t.what->what == detail::role::control},
                                      t.what->type ? debug::capturing::short_name(t.what->type) : ""));
  }

  std::function<fabric()> make_;
  std::optional<fabric> own_;
  fabric* fabric_ = nullptr;
  engines::engine* engine_ = nullptr;  // while it is observed
  std::optional<fabric_watch> watch_;
  debug::stop_list stops_;
  debug::changing_pes changing_;
  coord begins_;                     // where a task has begun last
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
