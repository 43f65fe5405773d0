// SPDX-License-Identifier: MIT
// Compiling is passing: what a table holds, how modules join it, and what a layout knows of a program.
#include <wsl/program/declarations.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include <string_view>

using namespace wsl;
using namespace wsl::detail;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};
constexpr color<halves<i16>> pairs{3};

/// A library module as a task list sees it: a set of colors, and where they come from.
struct two_colors {
  int first;
  constexpr std::array<color<f32>, 2> colors() const { return {color<f32>{first}, color<f32>{first + 1}}; }
  constexpr port arrives_from(int i) const { return i ? north : west; }
};
constexpr two_colors both{4};

struct part {
  f32 x[8]{};
  void start(pe&) {}
  void begin(pe&, f32, int) {}
  void hear(pe&, f32) {}
  void pair(pe&, i16, u16) {}
  void whole(pe&, const halves<i16>&) {}
  void step(pe&) {}
  void last(pe&) {}
  void stop(pe&, u16) {}
  void from_module(pe&, f32, port) {}
  task wait(pe&, f32) { co_return; }
  using tasks =
      task_list<launch<&part::start>, on<red, &part::hear>, local<&part::step, blocked>, launch<&part::begin>,
                on<pairs, &part::pair, blocked>, local<&part::last, active>, control<7, &part::stop>,
                control<9, &part::step>, reads<blue>, sends_after<green, red, blue>, sends<red>,
                on<both, &part::from_module, blocked>, sends<both>, on<blue, &part::wait>>;
};
constexpr const auto& entries = table_of<part>.entries;

constexpr const binding* find(role what, int id) {
  for (const binding& b : entries)
    if (b.what == what && b.id == id) return &b;
  return nullptr;
}
constexpr bool has(role what, int id) { return find(what, id) != nullptr; }
constexpr bool named(const binding* b, std::string_view name) { return b && b->name == name; }
template <class F>
constexpr bool is_null(F* f) {
  return f == nullptr;
}

static_assert(std::size(entries) == 16, "an entry each, and one for each color of a module");

// Launches and local tasks are numbered in the order of the table.
static_assert(named(find(role::launch, 0), "start") && named(find(role::launch, 1), "begin") &&
              !has(role::launch, 2));
static_assert(named(find(role::local, 0), "step") && named(find(role::local, 1), "last") &&
              !has(role::local, 2));
static_assert(local_position<&part::step>() == 0 && local_position<&part::last>() == 1 &&
              local_position<&part::start>() == max_colors);
static_assert(find(role::launch, 0)->arguments == 0 && find(role::launch, 1)->arguments == 2 &&
              find(role::data, 0)->arguments == 0);
static_assert(find(role::local, 0)->start == initially::blocked &&
              find(role::local, 1)->start == initially::active);

// Urgent local tasks have the lowest numbers; modules are read as they are sent.
struct hurried {
  void step(pe&) {}
  void alarm(pe&) {}
  void hear(pe&, f32) {}
  using tasks = task_list<local<&hurried::step>, urgent<local<&hurried::alarm>>,
                          urgent<on<red, &hurried::hear>>, reads<both>>;
};
static_assert(local_position<&hurried::alarm>() == 0 && local_position<&hurried::step>() == 1);
static_assert(program_v<hurried>.colors_of(role::read) == (color_bit(4) | color_bit(5)));
static_assert(table_of<hurried>.entries[2].urgent && !table_of<hurried>.entries[0].urgent);

// Data tasks know their color and its payload; control tasks their id.
static_assert(named(find(role::data, 0), "hear") && find(role::data, 0)->type == &payload_type_of<f32>);
static_assert(named(find(role::data, 3), "pair") &&
              find(role::data, 3)->type == &payload_type_of<halves<i16>>);
static_assert(find(role::data, 3)->start == initially::blocked &&
              find(role::data, 0)->start == initially::ready);
static_assert(named(find(role::control, 7), "stop") && named(find(role::control, 9), "step"));
static_assert(find(role::data, 0)->key == &task_key<&part::hear> &&
              find(role::control, 9)->key == find(role::local, 0)->key);

// Colors that are only read or sent run nothing.
static_assert(!find(role::read, 1)->runs() && !find(role::send, 2)->runs() && find(role::data, 0)->runs());
static_assert(is_null(find(role::read, 1)->run) && !is_null(find(role::data, 0)->run));
static_assert(find(role::send, 2)->after == (color_bit(0) | color_bit(1)) && find(role::send, 0)->after == 0);

// The colors of a module.
static_assert(named(find(role::data, 4), "from_module") && named(find(role::data, 5), "from_module"));
static_assert(find(role::data, 4)->start == initially::blocked);
static_assert(find(role::data, 4)->key == find(role::data, 5)->key);
static_assert(has(role::send, 4) && has(role::send, 5) && !has(role::send, 6));

// Modules bring their entries to any depth, numbered behind what came before.
struct leaf {
  int state = 0;
  void grow(pe&) {}
  void fall(pe&, f32) {}
  using tasks = task_list<local<&leaf::grow, active>, on<red, &leaf::fall>>;
};
struct branch {
  leaf left;
  int twigs = 0;
  void sway(pe&) {}
  using tasks = task_list<local<&branch::sway>, use<&branch::left>, sends<green>>;
};
struct tree {
  branch main;
  void stand(pe&) {}
  using tasks = task_list<launch<&tree::stand>, local<&tree::stand>, use<&tree::main>>;
};
constexpr const auto& all_of = table_of<tree>.entries;
static_assert(std::size(all_of) == 6);
static_assert(all_of[1].id == 0 && all_of[2].id == 1 && all_of[3].id == 2 && all_of[2].what == role::local &&
              all_of[3].what == role::local);
static_assert(all_of[3].start == initially::active && all_of[3].key == &task_key<&leaf::grow>);
static_assert(all_of[4].run != table_of<leaf>.entries[1].run && is_null(all_of[5].run),
              "what runs is called on the member");
static_assert(local_position<&leaf::grow>() == 0 && local_position<&branch::sway>() == 0,
              "positions in the module's own table");

// A layout sees a program as data.
constexpr program described = program_v<part>;
static_assert(std::string_view{described.name}.ends_with("part") && described.bytes == sizeof(part) &&
              described.alignment == alignof(part));
static_assert(described.table == table_of<part>.entries && described.entries == 16 &&
              described.end() - described.begin() == 16);
static_assert(!is_null(described.construct) && !is_null(described.destroy));
static_assert(described.colors_of(role::data) ==
              (color_bit(0) | color_bit(1) | color_bit(3) | color_bit(4) | color_bit(5)));
static_assert(described.colors_of(role::send) == (color_bit(0) | color_bit(2) | color_bit(4) | color_bit(5)));
static_assert(described.colors_of(role::read) == color_bit(1));

// Programs, tasks, and what is neither.
struct untabled {};
struct without_default {
  int x;
  explicit without_default(int n) : x(n) {}
  using tasks = task_list<reads<red>>;
};
struct odd_functions {
  void no_pe(f32) {}
  int answer(pe&) { return 42; }
  static void loose(pe&) {}
  void fine(pe&, f32 const&, int*) {}
  task waits(pe&) { co_return; }
};
static_assert(pe_program<part> && pe_program<tree> && !pe_program<untabled> && !pe_program<without_default> &&
              !pe_program<int>);
static_assert(task_like<&odd_functions::fine> && task_like<&odd_functions::waits> && task_like<&part::hear>);
static_assert(!task_like<&odd_functions::no_pe> && !task_like<&odd_functions::answer> &&
              !task_like<&odd_functions::loose>);

// A launch takes as many arguments as the task, of types that convert.
static_assert(detail::accepts<&part::begin, f32, int> && detail::accepts<&part::begin, int, int> &&
              detail::accepts<&part::start>);
static_assert(!detail::accepts<&part::begin> && !detail::accepts<&part::begin, f32> &&
              !detail::accepts<&part::start, int>);
static_assert(!detail::accepts<&part::begin, const char*, int>);

// Only operations with a fabric operand wait to be started.
static_assert(decltype(mov(fabout(red), 1.f))::uses_fabric &&
              decltype(mov(mem(std::declval<f32 (&)[2]>()), fabin(red)))::uses_fabric);
static_assert(std::is_same_v<decltype(mov(mem(std::declval<f32 (&)[2]>()), 1)), detail::done_at_once>);

}  // namespace
