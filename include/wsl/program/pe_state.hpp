// SPDX-License-Identifier: MIT
// The two data structures that tasks share with their engine: program_image, the program's table indexed for
// execution, and pe_state, the state of one PE (the tasks see it as a `pe`). Everything else between a task
// and its engine goes through engine_port.hpp.
#pragma once
#include <bit>

#include "../support/min_max.hpp"
#include "engine_port.hpp"

namespace wsl {

/// A program's table indexed for execution, with the entry that each color, local task or control wavelet
/// starts; and everything that the PEs of one placement whose ramps send the same colors have in common.
struct program_image {
  const program* source = nullptr;
  engine_port* engine = nullptr;
  engines::send_window* send_windows = nullptr;  ///< of the whole engine
  engines::receive_window* receive_windows = nullptr;
  void* memories = nullptr;  ///< of the placement's PEs, one after the other
  std::size_t stride = 0;    ///< bytes from one of them to the next
  u32 first = 0;             ///< the placement's first PE
  const binding* data[max_colors] = {};
  const binding* local[max_local_tasks] = {};
  const void* local_key[max_local_tasks + 1] = {};  ///< their identities; none for the last
  const binding* control[max_colors] = {};
  const binding* torn_down[max_colors] = {};
  int locals = 0;
  /// colors of data tasks; colors that descriptors read; colors that are sent
  u64 takes = 0, reads = 0, sends = 0;
  u64 tears = 0;           ///< colors whose teardown starts a task
  bool reacts = false;     ///< to words: has data or control tasks
  u64 blocked_colors = 0;  ///< how tasks are when the fabric starts
  u32 blocked_locals = 0, active_locals = 0;
  u64 sharing_queue = 0;  ///< colors that share an output queue with others
  u64 urgent_colors = 0;  ///< whose data tasks go before local tasks ...
  /// ... that are not urgent themselves; they have the lowest numbers
  u32 urgent_locals = 0;
  u32 long_running_locals = 0;  ///< that compute long; they have the highest numbers
  u32 joined_locals = 0;        ///< that count their activations
  u64 present = 0;              ///< colors that a path takes from this PE's ramp
  u16 slot[max_colors] = {};    ///< which of a PE's send windows a present color has
  u16 slots = 0;                ///< how many there are
  /// more than the machine has output queues, or microthreads besides one for a reader
  bool sends_many = false;
  i16 width = 0, height = 0;                       ///< of the grid
  const payload_type* sent_type[max_colors] = {};  ///< what a present color carries; none for the others
  const payload_type* read_type[max_colors] = {};  ///< what descriptors read from a color
  u8 steers[max_colors] = {};                      ///< commands that control wavelets of a color carry

  explicit program_image(const program& p) : source(&p) {
    for (const binding& b : p) switch (b.what) {
        case role::data:
          data[b.id] = &b;
          takes |= color_bit(b.id), reacts = true;
          blocked_colors |= b.start == initially::blocked ? color_bit(b.id) : 0;
          urgent_colors |= b.urgent ? color_bit(b.id) : 0;
          break;
        case role::local:
          local[b.id] = &b, local_key[b.id] = b.key, ++locals;
          blocked_locals |= b.start == initially::blocked ? local_bit(b.id) : 0;
          active_locals |= b.start == initially::active ? local_bit(b.id) : 0;
          urgent_locals |= b.urgent ? local_bit(b.id) : 0;
          long_running_locals |= b.long_running ? local_bit(b.id) : 0;
          joined_locals |= b.arrivals > 0 ? local_bit(b.id) : 0;
          break;
        case role::control: control[b.id] = &b, reacts = true; break;
        case role::torn_down: torn_down[b.id] = &b, tears |= color_bit(b.id); break;
        case role::read:
          reads |= color_bit(b.id);
          read_type[b.id] = b.type;
          break;
        case role::send: sends |= color_bit(b.id); break;
        case role::steer: steers[b.id] = static_cast<u8>(steers[b.id] | b.commands); break;
        case role::share: sharing_queue |= b.after; break;
        case role::launch: break;
      }
  }

  /// Sets which of the declared sends have a path on the PEs that share this image, and numbers their windows
  /// in this order. `target` is the machine.
  void set_present(u64 colors, const machine& target) {
    present = colors & sends;
    for (int c = 0; c < max_colors; ++c) {
      const bool here = (present & color_bit(c)) != 0;
      slot[c] = here ? slots++ : u16{0};
      sent_type[c] = here ? entry(role::send, c)->type : nullptr;
    }
    sends_many = slots > support::min(target.output_queues, target.microthreads - 1);
  }

  /// The entry that declares a color for a role, null if there is none.
  const binding* entry(role what, int color) const {
    for (const binding& b : *source)
      if (b.what == what && b.id == color) return &b;
    return nullptr;
  }

  /// The other colors that take turns with this color in its output queue.
  u64 sharing_queue_with(int color) const {
    if (!(sharing_queue & color_bit(color)) || !engine->target().color_owns_queue) return 0;
    return entry(role::share, color)->after & ~color_bit(color);
  }

  /// The task of control wavelets with this id, null if the program binds none.
  const binding* control_with(int id) const { return id < max_colors ? control[id] : nullptr; }

  /// The local task with this identity, -1 if the program does not bind it.
  int local_with(const void* key) const {
    for (int i = 0; i < locals; ++i)
      if (local[i]->key == key) return i;
    return -1;
  }
};

namespace engines {

/// A send of the task that runs on this thread that was not possible. The engine looks at it as soon as the
/// task has ended.
struct rejected_send {
  int color = -1;
  const payload_type* type = nullptr;
  int x = 0, y = 0;  ///< the PE
};
inline constinit thread_local rejected_send rejected;

/// The color that an operation of the running task has read at once, plus 1. It is `several` if there is more
/// than one (the engine knows which), and whenever the task may not run again without its engine. It is a
/// type of its own for the same reason as window_index.
enum class taken_color : u8 { none, several = 255 };
constexpr taken_color taken(int color) { return taken_color(color + 1); }

}  // namespace engines

/// The counters of a task that several completions start together (joins<n, &part::next>). They lie in the
/// PE's memory, behind the members of its program.
struct join_state {
  u32 came = 0;     ///< arrivals that have been counted
  u32 waiting = 0;  ///< arrivals that wait for the one that is active to be counted
};

/// The state of one PE between and during its tasks. A wafer has a million of them, so each byte counts.
struct pe_state {
  const program_image* image = nullptr;
  u64 blocked_colors = 0;                     ///< data tasks that may not run
  u32 active = 0, blocked = 0;                ///< local tasks: activated; may not run
  u32 index = 0;                              ///< position among the engine's PEs
  engines::window_index first_send_window{};  ///< of one for each color present in the image
  u32 first_receive_window = 0;
  i16 x = 0, y = 0;
  engines::taken_color taken{};  ///< of the running task
  bool interrupted = false;      ///< set by the running task when the engine must choose the next task anew
  bool defers : 1 = false;       ///< operations start as microthreads, even those that could move at once
  /// the newest local task that a completion activated while it was active, so that one activation was lost,
  /// counted from 1
  u8 lost_activation : 6 = 0;
  u16 sends_at_most = 0;  ///< wavelets of a color, in one run of the running task

  void* memory() const {
    return static_cast<unsigned char*>(image->memories) +
           static_cast<std::size_t>(index - image->first) * image->stride;
  }
  /// The windows of the colors present in the image, in order.
  engines::send_window* send_windows() const {
    return image->send_windows + static_cast<u32>(first_send_window);
  }
  engines::send_window& window_of(int color) const { return send_windows()[image->slot[color]]; }
  /// The windows ordered by color and sender; they end where those of the next PE begin.
  engines::receive_window* receive_windows() const { return image->receive_windows + first_receive_window; }
  engines::receive_window* end_of_receive_windows() const {
    return image->receive_windows + this[1].first_receive_window;
  }

  /// Whether urgent data tasks go before the local tasks that are ready.
  bool hurries(u32 ready) const { return image->urgent_colors && !(ready & image->urgent_locals); }

  /// Stores only a change: a processor stores one word a cycle, and a task may start many operations in a
  /// row.
  [[gnu::always_inline]] void interrupt() {
    if (!interrupted) interrupted = true;
  }

  /// A completion activates a local task.
  [[gnu::always_inline]] void activate(int id) {
    if (active & local_bit(id)) [[unlikely]]
      activate_again(id);
    active |= local_bit(id);
  }
  [[gnu::cold]] void activate_again(int id) {
    if (image->joined_locals & local_bit(id)) ++join_of(local_bit(id)).waiting;
    else lost_activation = static_cast<u8>((id + 1) & 63);
  }
  /// A task activates a local task: one that does not count loses nothing.
  void arrive(int id) {
    if (active & image->joined_locals & local_bit(id)) activate_again(id);
    active |= local_bit(id);
  }

  join_state& join_of(u32 own_bit) const {
    unsigned char* first = static_cast<unsigned char*>(memory()) + image->source->joins_at;
    return reinterpret_cast<join_state*>(first)[std::popcount(image->joined_locals & (own_bit - 1))];
  }
  /// Counts an arrival at a task that is started by n of them; says whether it was the last.
  bool count_arrival(u32 own_bit, int n) {
    join_state& j = join_of(own_bit);
    if (j.waiting > 0) {
      --j.waiting;
      active |= own_bit;
      interrupted = true;
    }
    if (++j.came < static_cast<u32>(n)) return false;
    j.came = 0;
    return true;
  }
  /// Applies the completion of an operation to the tasks.
  void complete(const transfer& t) {
    if (t.activates >= 0) activate(t.activates);
    if (t.unblocks >= 0) blocked &= ~local_bit(t.unblocks);
    if (t.unblocks_color >= 0) blocked_colors &= ~color_bit(t.unblocks_color);
    if (t.signals) ++t.signals->size;
  }

  /// Whether the local task that has just run may run again at once: it is the only active task, nothing may
  /// come before it, and there is room for all that it may send. If so, it counts as begun.
  [[gnu::always_inline]] bool try_rerun(u32 own_bit) {
    if (active != own_bit || (blocked & own_bit) || taken == engines::taken_color::several) return false;
    if (u32 left = image->slots)
      for (engines::send_window* w = send_windows(); left; --left, ++w)
        if (!w->reopen()) return false;
    active = 0;
    taken = engines::taken_color::none;
    return true;
  }
};
static_assert(sizeof(pe_state) == 48);

}  // namespace wsl
