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
  /// One wavelet leaves a task of this PE; `type` is what the task says its color carries.
  virtual void send(pe_state& from, wavelet w, const payload_type* type) = 0;
  /// A descriptor operation with a fabric operand starts on this PE. Says whether it completed at once: then a waiting task goes
  /// on without suspending.
  virtual bool start(pe_state& on, const transfer& operation) = 0;

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
  u64 present = 0;                          ///< colors that a path takes from this PE's ramp, where its engine has channels
  static constexpr u8 no_slot = 0xff;
  u8 slot[max_colors];                      ///< which of a PE's channels a color is

  explicit program_image(const program& p) : source(&p) {
    for (u8& s : slot) s = no_slot;
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
        case role::read: reads |= color_bit(b.id); break;
        case role::send: sends |= color_bit(b.id); break;
        case role::launch: break;
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
    for (int i = 0; i < locals; ++i)
      if (local[i]->key == key) return i;
    return -1;
  }
};

struct pe_state {
  engine_link* engine = nullptr;
  const program_image* image = nullptr;
  void* memory = nullptr;      ///< the program's members
  channel* channels = nullptr; ///< what the PE writes, if its engine has channels
  void* suspended = nullptr;   ///< the task that waits in co_await, as a coroutine's address
  u64 blocked_colors = 0;      ///< data tasks that may not run
  u64 active = 0, blocked = 0; ///< local tasks: activated; may not run
  u32 index = 0;               ///< position among the engine's PEs
  i16 x = 0, y = 0;
  bool interrupted = false;    ///< the running task did something after which the engine must choose anew
};

}  // namespace wsl
