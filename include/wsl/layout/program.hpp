// SPDX-License-Identifier: MIT
// The description of a PE program in a layout: its name, the bytes of its members, and its task list, the
// table of its bindings. The rules read the table, the engines call the functions that it points to. This
// header has only the data; program/tasks.hpp writes it.
#pragma once
#include "../core/symbolic.hpp"

namespace wsl {

class pe;
class storage_visitor;

namespace detail {

/// The kind of an entry in a program's task list. The roles that an engine runs come before `read`.
enum class role : u8 {
  launch,     ///< a function that the host calls
  data,       ///< a task that a data wavelet of a color triggers
  local,      ///< a task that software activates
  control,    ///< a task that a control wavelet with an id triggers
  torn_down,  ///< a task that runs when a command has torn down a color at its PE's router
  read,       ///< descriptors read this color
  send,       ///< tasks or descriptors send this color
  steer,      ///< tasks send control wavelets of this color that carry commands for routers
  /// this color leaves through one output queue with others, where a queue serves one color at a time
  share,
};

/// No machine has more local tasks than this; sets of them are 32-bit masks.
inline constexpr int max_local_tasks = 32;
constexpr u32 local_bit(int id) { return u32{1} << id; }

/// Runs a task for one PE. `input` is an array of `count` words for a data or control task, the host's
/// arguments for a launch, for a local task its bit (local_bit), where `count` is the number of times that it
/// may run if nothing else is ready. Returns the number of inputs taken, or of runs: a task that suspends or
/// blocks itself ends the batch.
using task_function = u32 (*)(void* state, pe& me, const void* input, u32 count);

/// The state of a task when its fabric starts.
enum class initially : u8 { ready, blocked, active };

struct binding {
  role what = role::launch;
  /// color of data, torn_down, read, send, steer and share; id of control; position among its kind of launch
  /// and local
  int id = -1;
  const payload_type* type = nullptr;  ///< payload of a color; none for the others
  const void* key = nullptr;           ///< identity of the bound function
  const char* name = "";               ///< name of the bound function
  task_function run = nullptr;
  initially start = initially::ready;
  /// send: colors that must have arrived before; share: all colors of the queue
  u64 after = 0;
  int arguments = 0;          ///< launch: the number of arguments that the host must give
  int arrivals = 0;           ///< local: activations that start it, which are counted; 0: they are one bit
  bool urgent = false;        ///< data, local: runs before tasks that are not
  bool long_running = false;  ///< local: runs after tasks that do not compute long
  u32 cycles = 0;             ///< data, local, control, launch: that each run takes for its scalar code
  u8 commands = 0;            ///< steer: the commands, as a set of command_bit

  constexpr bool names_a_color() const {
    return what != role::launch && what != role::local && what != role::control;
  }
  constexpr bool runs() const { return what < role::read; }
};

struct exported_member;  // exported_member.hpp

}  // namespace detail

struct program {
  const char* name = "";
  int bytes = 0;
  int alignment = 1;
  const detail::binding* table = nullptr;
  int entries = 0;
  void (*construct)(void* where) = nullptr;
  void (*destroy)(void* what) = nullptr;
  /// throws `what` as a pointer to the program's class, so that a handler can catch it as a base class
  void (*throw_pointer)(void* what) = nullptr;
  /// visits the storage that the program's members own outside themselves; null if they own none
  void (*storage)(const void* what, storage_visitor& to) = nullptr;
  int joins_at = 0;  ///< behind the members: the counters of the local tasks that count their activations
  const detail::exported_member* exports = nullptr;  ///< the members that dumps and debuggers show by name
  int exported = 0;

  constexpr const detail::binding* begin() const { return table; }
  constexpr const detail::binding* end() const { return table + entries; }

  /// The colors that the entries of one role name, as a mask.
  constexpr u64 colors_of(detail::role what) const {
    u64 mask = 0;
    for (int i = 0; i < entries; ++i)
      if (table[i].what == what) mask |= detail::color_bit(table[i].id);
    return mask;
  }
  /// The symbolic colors of all entries, as a mask.
  constexpr u64 symbolic() const {
    u64 mask = 0;
    for (int i = 0; i < entries; ++i)
      if (table[i].names_a_color()) mask |= detail::color_bit(table[i].id);
    return mask & detail::all_symbolic;
  }
};

namespace detail {

/// The description of a program that is a class, `program_of<part>::value`: see program/tasks.hpp.
template <class P>
struct program_of;

}  // namespace detail

}  // namespace wsl
