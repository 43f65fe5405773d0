// SPDX-License-Identifier: MIT
// A fabric is a layout that runs: it checks the layout with the rules that a constant layout is checked with,
// builds the PEs' memories, launches host functions and runs until nothing can happen any more.
//   fabric f{chain};
//   f.launch(0, 0);
//   f.read(7, 0, &runner::seen)
#pragma once
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "../engine/diagnose/deadlock.hpp"
#include "../engine/rules.hpp"
#include "../engine/threaded.hpp"
#include "../layout/explain.hpp"
#include "../program/declarations.hpp"
#include "../support/always_false.hpp"
#include "memory_limits.hpp"
#include "program_memory.hpp"

namespace wsl {

namespace detail {

/// Warns once in a process that an engine without traces does not write the file that WSL_TRACE names.
inline void tell_that_nothing_is_traced() {
  const char* file = std::getenv("WSL_TRACE");
  if (!file || !*file) return;
  static const int told = std::fprintf(
      stderr, "wsl: WSL_TRACE=%s: this engine writes no trace; fabric f{plan, timed{}} writes one\n", file);
  static_cast<void>(told);
}

/// The engine that the program has chosen.
template <class Choice>
auto made_by(const Choice& choice, const layout& plan) {
  if constexpr (requires { choice.make(plan); }) return choice.make(plan);
  else {
    static_assert(
        support::always_false<Choice>,
        "wsl: behind the layout stands the choice of an engine: fabric f{plan, threaded{.threads = 4}}, "
        "reference{} or timed{}");
    return static_cast<engines::engine*>(nullptr);
  }
}

/// The processes over which a choice of an engine spreads the PEs.
template <class Choice>
int processes_of(const Choice& choice) {
  if constexpr (requires { choice.size(); }) return choice.size();
  else return 1;
}

/// The note in reports whose cycles are communication only.
inline constexpr const char* exchange_only_text =
    "exchange only: the programs' own arithmetic is not charged (me.spend charges it)";

/// Explains a launch of a named task with coordinates; `f.launch(x, y)` takes them.
template <auto Task>
consteval void a_named_launch_takes_an_area() {
  static_assert(support::always_false_for<Task>,
                "wsl: the launch of a named task takes an area, then the task's arguments: "
                "f.launch<&part::start>(at(x, y), arguments...)");
}

}  // namespace detail

class fabric;

namespace detail {

/// Writes the dump of a run that has stopped into a file; debug/dump.hpp sets it.
inline void (*when_stopped)(fabric& f, const char* sentence, bool is_deadlock, const char* file) = nullptr;

/// A run has ended with a deadlock or a fault: if WSL_DUMP asks for a dump, it is written.
[[gnu::cold, gnu::noinline]] inline void has_stopped(fabric& f, const char* sentence, bool is_deadlock) {
  const char* file = std::getenv("WSL_DUMP");
  if (!file || !*file) return;
  if (when_stopped) return when_stopped(f, sentence, is_deadlock, file);
  std::fprintf(
      stderr,
      "wsl: WSL_DUMP=%s: this program writes no dumps: let it include <wsl/debug/dump.hpp>, and link it "
      "with -lz\n",
      file);
}

/// A class that uses a fabric, such as a device, and that notices when the fabric is gone.
class fabric_user {
 public:
  fabric_user(const fabric_user&) = delete;
  fabric_user& operator=(const fabric_user&) = delete;

 protected:
  explicit fabric_user(fabric& of);
  ~fabric_user();

  /// The fabric is about to be destroyed, or has been moved away; its engine is still there.
  virtual void fabric_goes() {}

  /// Throws fault if the fabric was destroyed, or moved away.
  void must_have_fabric() const {
    if (!of_)
      throw fault(
          "wsl: the fabric of this device is gone, destroyed or moved: declare the device after the fabric, "
          "so that the fabric outlives it");
  }

 private:
  friend wsl::fabric;
  fabric* of_;
  fabric_user* next_ = nullptr;  ///< of the same fabric
};

}  // namespace detail

class fabric {
 public:
  /// Throws fault, with the sentence the compiler would print, if the layout has a fault.
  explicit fabric(const layout& plan) : fabric(plan, threaded{}) {}
  template <class Choice>
  fabric(const layout& plan, const Choice& choice)
      : engine_((require(plan), detail::made_on_this_computer(plan, detail::processes_of(choice), [&] {
                   return detail::made_by(choice, plan);
                 }))) {
    if constexpr (!requires { choice.trace; }) detail::tell_that_nothing_is_traced();
  }

  fabric(fabric&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)),
        kept_(std::move(other.kept_)),
        stopped_by_(std::move(other.stopped_by_)),
        waiting_calls_(std::exchange(other.waiting_calls_, 0)),
        runs_(other.runs_),
        has_memory_limit_(other.has_memory_limit_) {
    other.leave_users();
  }
  fabric& operator=(fabric&&) = delete;
  ~fabric() {
    leave_users();
    release();
    delete engine_;
  }

  /// Runs the only host function of the programs in an area, on each of their PEs, and then the fabric until
  /// it is quiet.
  outcome launch(const area& where = all) {
    start(where);
    return run();
  }
  outcome launch(int x, int y) { return launch(wsl::at(x, y)); }
  /// Runs a named host function with arguments: `f.launch<&part::begin>(all, 0.5f)`.
  template <auto Task, class... Arguments>
  outcome launch(const area& where, const Arguments&... arguments) {
    start<Task>(where, arguments...);
    return run();
  }
  template <auto Task, class... Arguments>
  outcome launch(int, const Arguments&...) {
    detail::a_named_launch_takes_an_area<Task>();
    return {};
  }

  /// As launch, but only queues the calls; `run` runs them.
  void start(const area& where = all) {
    static constexpr std::tuple<> none;
    queue_calls(where, &none, only_launch);
  }
  template <auto Task, class... Arguments>
  void start(const area& where, Arguments&&... arguments) {
    if constexpr (detail::fits_queued_launch<Task, Arguments...>()) start_with<Task>(where, arguments...);
  }

  /// Runs until nothing can happen any more; throws `deadlock` if something still waits then, and fault if a
  /// task makes a mistake, or if a program's containers outgrow the memory of its PE. An exception of the
  /// program's own in a task is thrown as well (engine/task_exception.hpp). After a deadlock the host may
  /// give what is missing and run again; after a fault of a task the fabric has stopped and can only be read.
  outcome run() {
    const engines::engine::single_run now(*engine_);
    must_not_have_stopped();
    engines::rule::nothing_was_sent_outside_of_a_task();
    waiting_calls_ = 0;
    const outcome done = run_engine();
    release();
    if (has_memory_limit_ && std::has_single_bit(++runs_)) detail::containers_fit_memory(*engine_);
    return done;
  }

  /// The containers of the programs may have more elements than fit into a PE's memory. Otherwise a run
  /// throws fault when they have; it looks after the first, second, fourth, eighth ... run of the fabric.
  void ignore_memory_limit() { has_memory_limit_ = false; }

  /// A member of the program on one PE: `f.read(7, 0, &part::sum)`.
  template <class P, class T>
  const T& read(int x, int y, T P::* member) {
    T& value = program_at<P>({x, y}).*member;
    if constexpr (std::is_trivially_copyable_v<T>) fetch({x, y}, &value, &value, sizeof value);
    return value;
  }
  /// The program on one PE; its type must be the one that was placed there, or a public base class of it. If
  /// several processes share the PEs, each has the programs of its own. That of a PE of another process is
  /// built here when it is asked for first, and is as this host has left it; `here` tells whose a PE is, and
  /// `read`, `bring` and host_gather bring what it has.
  template <class P>
  P& program_at(coord c) {
    if (engine_->is_running())
      throw fault(
          "wsl: the fabric is running: read and program_at are for the host, between runs; a task learns "
          "what another PE has from that PE's wavelets");
    pe& p = existing(c);
    if (P* found = detail::memory_as<P>(program_of(p), engine_->host_memory(p))) return *found;
    throw another_program(p, support::type_name<P>());
  }
  /// Calls f(program, place) for the programs on the PEs of an area, each on the thread that runs its PE, and
  /// several at the same time: `f.prepare<part>(all, [&](part& p, coord at) { p.shape(...); })`. On a
  /// computer with several nodes, memory that a program allocates and first touches there lies near that
  /// thread. If several processes share the PEs, each visits its own. Throws what f throws; then some
  /// programs may not have been visited.
  template <class P, class F>
  void prepare(const area& where, F f) {
    const engines::engine::single_run now(*engine_);
    struct visits {
      fabric& of;
      F& f;
      region where;
    } job{*this, f, plan().inside(where)};
    engine_->visit_pes(
        [](void* what, pe& p) {
          visits& v = *static_cast<visits*>(what);
          const coord c{engines::state_of(p).x, engines::state_of(p).y};
          if (!v.where.has(c)) return;
          P* const found = detail::memory_as<P>(program_of(p), v.of.engine_->host_memory(p));
          if (!found) throw another_program(p, support::type_name<P>());
          v.f(*found, c);
        },
        &job);
  }

  /// Fetches elements of the program on a PE, members or storage that they own, from the process that runs
  /// it. Every process must ask for the same elements; a process that does not share the work has them
  /// already.
  template <class T>
  void bring(coord c, std::span<T> elements) {
    static_assert(std::is_trivially_copyable_v<T>);
    fetch(c, elements.data(), elements.data(), elements.size_bytes());
  }
  /// The same for the PEs of an area, each with an equal part of the elements, along the rows.
  template <class T>
  void bring_each(const area& where, std::span<T> elements) {
    static_assert(std::is_trivially_copyable_v<T>);
    const region r = plan().inside(where);
    if (!spread() || r.empty()) return;
    const std::size_t size = elements.size() / static_cast<std::size_t>(r.count());
    support::flat_vector<engines::memory_part> parts;
    for (int i = 0; i < r.count(); ++i) {
      T* const first = elements.data() + static_cast<std::size_t>(i) * size;
      parts.push_back({&existing(r.nth(i)), first, first, size * sizeof(T)});
    }
    engine_->fetch(parts.data(), parts.size());
  }

  /// Whether this process runs the PE, as one that does not share the work always does.
  bool here(coord c) { return engine_->here(existing(c)); }
  /// Whether other processes run a part of the PEs.
  bool spread() const { return engine_->spread(); }
  /// The name of this process in messages, such as "rank 1 (wafer)"; empty if it is alone.
  std::string process_name() const { return engine_->process_name(); }

  /// Host calls that `start` has queued since the last run began, one for each PE.
  u64 waiting_calls() const { return waiting_calls_; }
  /// The text of the fault, or other exception of a task, that has stopped this fabric, with its place; empty
  /// if there was none.
  const std::string& stopped_by() const { return stopped_by_; }
  /// Throws fault if there was one.
  void must_not_have_stopped() const {
    if (stopped_by_.empty()) return;
    throw fault(
        "wsl: this fabric has stopped: an earlier run of it ended in the middle of its tasks. What it holds "
        "can be read; to go on, mend the first fault and make a new fabric. The first fault was:\n" +
        stopped_by_);
  }
  /// Words that left the grid through host streams and that the host has not read.
  u64 unread_words() const { return engine_->unread_words(); }

  /// Whether the cycles of its runs are those of the exchange only: no task has charged arithmetic.
  bool exchange_only() const { return engine_->exchange_only(); }

  /// The probe of type T that the PEs share, as me.probe<T>() in a task.
  template <class T>
  T& probe() {
    return engine_->probes.get<T>();
  }

  /// Writes the state of all PEs into a file, for wsl-debug. Needs <wsl/debug/dump.hpp>, and zlib: -lz.
  template <class Name>
  void dump(const Name& file) {
    if constexpr (requires { write_dump(*this, file); }) write_dump(*this, file);
    else
      static_assert(support::always_false<Name>,
                    "wsl: f.dump(file) needs #include <wsl/debug/dump.hpp>, and zlib: link with -lz");
  }

  const layout& plan() const { return engine_->plan(); }
  engines::engine& engine_in_use() { return *engine_; }
  /// The same for what may only be done between runs: throws fault if a task asks.
  engines::engine& resting_engine() {
    if (engine_->is_running()) engines::engine::the_fabric_is_running();
    return *engine_;
  }

 private:
  static const program& program_of(pe& p) { return *engines::state_of(p).image->source; }
  static fault another_program(pe& p, const char* asked_for) {
    const coord c{engines::state_of(p).x, engines::state_of(p).y};
    return fault(support::joined({"wsl: ", text_of(c), " runs ", program_of(p).name, ", not ", asked_for}));
  }

  outcome run_engine() {
    try {
      return engine_->run();
    } catch (const deadlock& e) {
      detail::has_stopped(*this, e.what(), true);
      throw;
    } catch (const engines::abandoned_run& e) {
      stopped_by_ = e.what();
      throw;
    } catch (const engines::task_exception& e) {
      stopped_by_ = e.what();
      detail::has_stopped(*this, e.what(), false);
      e.rethrow_original();
    } catch (const std::exception& e) {
      stopped_by_ = e.what();
      detail::has_stopped(*this, e.what(), false);
      throw;
    }
  }

  pe& existing(coord c) {
    pe* p = engine_->find(c);
    if (!p)
      throw fault(support::joined({"wsl: there is no program at ", text_of(c), " of a grid of ",
                                   plan().width(), " x ", plan().height()}));
    return *p;
  }

  void fetch(coord c, const void* from, void* to, std::size_t size) {
    const engines::memory_part part{engine_->find(c), from, to, size};
    engine_->fetch(&part, 1);
  }

  // Queues a call on each PE of an area, or on none if one of them has no such function.
  void queue_calls(const area& where, const void* arguments, const detail::binding& (*function_of)(pe&)) {
    resting_engine();
    must_not_have_stopped();
    const region r = plan().inside(where);
    if (r.empty()) throw fault("wsl: there is no PE in the area of this launch");
    if (r.x0 < 0 || r.y0 < 0 || r.x1 > plan().width() || r.y1 > plan().height())
      faults::the_area_leaves_the_grid(r.x0, r.x1, r.y0, r.y1, plan().width(), plan().height());
    support::flat_vector<queued_call> calls;
    calls.reserve(static_cast<std::size_t>(r.count()));
    for (int i = 0; i < r.count(); ++i) {
      pe& p = existing(r.nth(i));
      calls.push_within({&p, &function_of(p)});
    }
    for (const queued_call& c : calls) engine_->call(*c.on, {c.function, arguments});
    waiting_calls_ += calls.size();
  }
  struct queued_call {
    pe* on = nullptr;
    const detail::binding* function = nullptr;
  };

  template <auto Task, class... Arguments>
  void start_with(const area& where, const Arguments&... arguments) {
    using tuple = detail::launch_arguments<Task>;
    const tuple* kept = nullptr;
    try {
      kept = detail::new_arguments<Task>(arguments...);
    } catch (const fault& e) {
      throw fault(
          support::joined({e.what(), "\n  as an argument of launch<&", support::function_name<Task>(), ">"}));
    }
    kept_.push_back({kept, [](const void* what) { delete static_cast<const tuple*>(what); }});
    queue_calls(where, kept, launch_named<Task>);
  }

  static const detail::binding& only_launch(pe& p) {
    const program& what = *engines::state_of(p).image->source;
    const detail::binding* found = nullptr;
    for (const detail::binding& b : what)
      if (b.what == detail::role::launch) {
        if (found)
          throw fault(std::string("wsl: ") + what.name +
                      " has several host functions; name one: f.launch<&...>(area)");
        found = &b;
      }
    if (!found)
      throw fault(std::string("wsl: ") + what.name + " has no host function; bind one with launch<&...>");
    if (found->arguments)
      throw fault(std::string("wsl: ") + what.name + "'s host function " + found->name +
                  " takes arguments: f.launch<&...>(area, ...)");
    return *found;
  }

  template <auto Task>
  static const detail::binding& launch_named(pe& p) {
    const program& what = *engines::state_of(p).image->source;
    for (const detail::binding& b : what)
      if (b.what == detail::role::launch && b.key == &detail::task_key<Task>) return b;
    throw fault(support::joined(
        {"wsl: ", what.name, " at ", text_of(coord{engines::state_of(p).x, engines::state_of(p).y}),
         " does not bind launch<", detail::reference_to(detail::task_key<Task>), ">"}));
  }

  // Arguments of launches, until the run that uses them has ended.
  struct argument {
    const void* what = nullptr;
    void (*destroy)(const void*) = nullptr;
  };
  void release() {
    for (const argument& a : kept_) a.destroy(a.what);
    kept_.clear();
  }

  friend detail::fabric_user;
  void leave_users() {
    for (detail::fabric_user* u = std::exchange(users_, nullptr); u; u = std::exchange(u->next_, nullptr)) {
      u->fabric_goes();
      u->of_ = nullptr;
    }
  }

  detail::fabric_user* users_ = nullptr;  // in a list
  // owned; std::unique_ptr would bring all of <memory> into every program
  engines::engine* engine_;
  support::flat_vector<argument> kept_;
  std::string stopped_by_;
  u64 waiting_calls_ = 0, runs_ = 0;
  bool has_memory_limit_ = true;
};

namespace detail {

inline fabric_user::fabric_user(fabric& of) : of_(&of), next_(std::exchange(of.users_, this)) {}
inline fabric_user::~fabric_user() {
  if (!of_) return;
  fabric_user** link = &of_->users_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

}  // namespace detail

}  // namespace wsl
