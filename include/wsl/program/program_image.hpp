// SPDX-License-Identifier: MIT
// A program as its engine runs it: the entries of its task list, found by color, local task or control
// wavelet, and everything that PEs of one placement have in common.
#pragma once
#include "../support/min_max.hpp"
#include "engine_port.hpp"

namespace wsl::engines {

struct send_window;
struct receive_window;

/// A program's task list indexed for execution, with the entry that each color, local task or control wavelet
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
  bool reacts = false;     ///< whether words start tasks of it: it has data or control tasks
  u64 blocked_colors = 0;  ///< the state of its tasks when the fabric starts
  u32 blocked_locals = 0, active_locals = 0;
  u64 sharing_queue = 0;        ///< colors that share an output queue with others
  u64 urgent_colors = 0;        ///< colors whose data tasks go before local tasks that are not urgent
  u32 urgent_locals = 0;        ///< urgent local tasks, which have the lowest numbers
  u32 long_running_locals = 0;  ///< local tasks that compute long, which have the highest numbers
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
  color_map colors;                                ///< of the program's symbolic colors

  /// `p` has colors of the fabric only; `colors` are those that its tasks know by symbolic ones.
  explicit program_image(const program& p, const color_map& colors_of_symbols = {})
      : source(&p), colors(colors_of_symbols) {
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
  void set_present(u64 on_paths, const machine& target) {
    present = on_paths & sends;
    for (int c = 0; c < max_colors; ++c) {
      const bool here = (present & color_bit(c)) != 0;
      slot[c] = here ? slots++ : u16{0};
      sent_type[c] = here ? entry(role::send, c)->type : nullptr;
    }
    // A task that sends finds the window by the color as it knows it.
    for (int c = first_symbolic; c < max_colors; ++c)
      if (const int real = colors(c); real != c) slot[c] = slot[real], sent_type[c] = sent_type[real];
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

}  // namespace wsl::engines
