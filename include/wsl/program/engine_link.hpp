// SPDX-License-Identifier: MIT
// What a PE asks of the engine that runs it, and what the engine keeps for a PE. Programs see neither: they see `pe`.
#pragma once
#include "../core/area.hpp"
#include "../core/machine.hpp"
#include "../layout/program.hpp"
#include "channel.hpp"
#include "transfer.hpp"

namespace wsl {

struct pe_state;

class engine_link {
 public:
  /// A control wavelet leaves a task of this PE.
  virtual void send_control(pe_state& from, int color, const payload_type* type, u32 bits) = 0;
  /// A descriptor operation with a fabric operand starts on this PE. Says whether it completed at once: then a waiting task goes
  /// on without suspending.
  virtual bool start(pe_state& on, transfer& operation) = 0;

  /// Most operations find their words and their room there. An engine may let them move without becoming a microthread: between
  /// begin and end the operation moves its words.
  virtual whole_move_place begin_whole_move(pe_state&, const whole_move&) { return {}; }
  virtual void end_whole_move(pe_state&, const whole_move&) {}

  const region& grid() const { return grid_; }
  const machine& target() const { return machine_; }

 protected:
  engine_link(const machine& target, const region& grid) : machine_(target), grid_(grid) {}
  ~engine_link() = default;

 private:
  machine machine_;
  region grid_;
};

/// A program's table sorted for running: which entry a color, a local task or a control wavelet calls.
struct program_image {
  const program* source = nullptr;
  const binding* data[max_colors] = {};
  const binding* local[max_colors] = {};
  const binding* control[max_colors] = {};
  int locals = 0;
  u64 takes = 0, reads = 0, sends = 0;      ///< colors of data tasks; colors that descriptors read; colors that are sent
  u64 blocked_colors = 0;                   ///< how tasks are when the fabric starts
  u64 blocked_locals = 0, active_locals = 0;
  u64 present = 0;                          ///< colors that a path takes from this PE's ramp
  u16 slot[max_colors] = {};                ///< which of a PE's channels a present color is
  i16 width = 0, height = 0;                ///< of the grid
  const payload_type* sent_type[max_colors] = {};  ///< what a present color carries; none for the others
  const payload_type* read_type[max_colors] = {};  ///< what descriptors read from a color

  explicit program_image(const program& p) : source(&p) {
    for (const binding& b : p) switch (b.what) {
        case role::data:
          data[b.id] = &b;
          takes |= color_bit(b.id);
          blocked_colors |= b.start == initially::blocked ? color_bit(b.id) : 0;
          break;
        case role::local:
          local[b.id] = &b, ++locals;
          blocked_locals |= b.start == initially::blocked ? color_bit(b.id) : 0;
          active_locals |= b.start == initially::active ? color_bit(b.id) : 0;
          break;
        case role::control: control[b.id] = &b; break;
        case role::read:
          reads |= color_bit(b.id);
          read_type[b.id] = b.type;
          break;
        case role::send: sends |= color_bit(b.id); break;
        case role::launch: break;
      }
  }

  /// Which of the declared sends have a path on the PEs that share this image, in the order of their channels.
  void set_present(u64 colors) {
    present = colors & sends;
    u16 n = 0;
    for (int c = 0; c < max_colors; ++c) {
      const bool here = (present & color_bit(c)) != 0;
      slot[c] = here ? n++ : u16{0};
      sent_type[c] = here ? entry(role::send, c)->type : nullptr;
    }
  }

  /// The entry that declares a color for a role, null if there is none.
  const binding* entry(role what, int color) const {
    for (const binding& b : *source)
      if (b.what == what && b.id == color) return &b;
    return nullptr;
  }

  /// The task of control wavelets with this id, null if the program binds none.
  const binding* control_with(u32 id) const { return id < max_colors ? control[id] : nullptr; }

  /// The local task with this identity, -1 if the program does not bind it. `guess` is where its own module's table has it.
  int local_with(const void* key, int guess) const {
    if (guess < locals && local[guess]->key == key) return guess;
    for (int i = 0; i < max_colors && local[i]; ++i)
      if (local[i]->key == key) return i;
    return -1;
  }
};

struct pe_state {
  engine_link* engine = nullptr;
  const program_image* image = nullptr;
  void* memory = nullptr;      ///< the program's members
  engines::channel* channels = nullptr; ///< what the PE writes, one for each color present in the image
  u16* journal = nullptr;      ///< the colors of a task's sends in their order, for an engine that needs it
  void* suspended = nullptr;   ///< the task that waits in co_await, as a coroutine's address
  u64 blocked_colors = 0;      ///< data tasks that may not run
  u64 active = 0, blocked = 0; ///< local tasks: activated; may not run
  u32 index = 0;               ///< position among the engine's PEs
  i16 x = 0, y = 0;
  i16 refused = -1;            ///< the color that the running task could not send, and what it would have carried
  const payload_type* refused_type = nullptr;
  bool interrupted = false;    ///< the running task did something after which the engine must choose anew
};

}  // namespace wsl
