// SPDX-License-Identifier: MIT
// Moves the words of a PE's operations and tasks onto its ramp, in the timed engine: an operation with a
// fabric operand moves its words turn by turn, and the ramp carries one word a cycle.
#pragma once
#include <bit>

#include "costs.hpp"
#include "mesh.hpp"
#include "processor.hpp"

namespace wsl::engines {

class timed_moves {
 public:
  timed_moves(mesh& m, const machine& target) : mesh_(m), target_(target) {}

  u64 wavelets = 0;  ///< the number of wavelets sent in a run
  u64 end = 0;       ///< the end of the last cycle in which anything moved

  flight& flight_of(timed_processor& p, const pe_state& s, const transfer& t, flight_store& store) {
    flight* const reused = p.spare.take(t.operand_bytes);
    flight& f = reused ? *reused : store.make(t.operand_bytes);
    f.op = t;
    std::memcpy(&f + 1, t.operands, t.operand_bytes);
    f.width = static_cast<u8>(std::min(timing::fabric_width(target_, t.cost), most_width));
    f.hold = static_cast<u32>(timing::fabric_cycles(target_, t.cost));
    f.level = timing::priority_of(target_, t);
    f.sharing_queue = 0;
    for (int k = 0; k < 2; ++k)
      if (t.input[k] >= 0) f.in[k] = mesh_.down_pipe(p.router, t.input[k]);
    if (t.output >= 0)
      f.out = mesh_.node_of(p.router, t.output)->up, f.sharing_queue = s.image->sharing_queue_with(t.output);
    return f;
  }

  /// The time from which the output queue that these colors share holds no word of theirs.
  u64 queue_free_of(const timed_processor& p, u64 colors) {
    u64 at = 0;
    for (; colors; colors &= colors - 1)
      if (const channel_node* n = mesh_.node_of(p.router, std::countr_zero(colors)); n && n->up != mesh::none)
        at = std::max(at, mesh_.through.empty_from(mesh_.through[n->up]));
    return at;
  }

  /// Puts a word onto the ramp, which takes one a cycle.
  void put(timed_processor& p, u32 into, u32 bits, bool control, u64 now) {
    const pipe& up = mesh_.through[into];
    const u64 ready = std::max(now + up.latency, p.ramp_free);
    p.ramp_free = ready + 1;
    mesh_.send(into, {bits, up.color, control}, ready);
    ++wavelets;
  }

  /// One turn of an operation that can move and has a plain gate; the caller notes the end.
  [[gnu::always_inline]] void move_plainly(timed_processor& p, flight& f, const flight_gate& g, u64 now) {
    if (f.width > 1 || g.in[1] != flight_gate::none) return move(p, f, now);
    u32 in = 0, out = 0;
    if (g.in[0] != flight_gate::none) in = mesh_.through.first_bits(mesh_.through[g.in[0]]);
    const u32* const inputs[2] = {&in, nullptr};
    f.move(inputs, &out, 1);
    if (g.in[0] != flight_gate::none) mesh_.through.take(mesh_.through[g.in[0]], now);
    if (g.output >= 0) put(p, g.out, out, false, now);
    p.spent.operations += f.hold;
    p.kept_until = now + f.hold;
  }

  /// One turn of an operation that can move.
  void move(timed_processor& p, flight& f, u64 now) {
    u32 in[2][most_width], out[most_width];
    const u64 left = f.op.length - f.op.done;
    u32 n = left < f.width ? static_cast<u32>(left) : f.width;
    for (int k = 0; k < 2; ++k)
      if (f.op.input[k] >= 0) n = mesh_.through.peek(mesh_.through[f.in[k]], now, n, in[k]);
    if (f.op.output >= 0) n = mesh_.through.room(mesh_.through[f.out], now, n);
    if (f.op.uses_fifo()) n = std::min(n, f.op.allowed());
    const u32* inputs[2] = {in[0], in[1]};
    f.move(inputs, out, n);
    for (int k = 0; k < 2; ++k)
      for (u32 j = 0; f.op.input[k] >= 0 && j < n; ++j) mesh_.through.take(mesh_.through[f.in[k]], now);
    for (u32 j = 0; f.op.output >= 0 && j < n; ++j) put(p, f.out, out[j], false, now);
    p.spent.operations += f.hold;
    p.kept_until = now + f.hold;
  }

 private:
  static constexpr int most_width = 8;

  mesh& mesh_;
  const machine& target_;
};

}  // namespace wsl::engines
