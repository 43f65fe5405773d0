// SPDX-License-Identifier: MIT
// The port between a PE's program and the engine that runs it: all that a program sees of its engine.
//
//   fast, inlined into the task           slow, a virtual call
//   me.send       -> send_window          me.send_control  -> send_control
//   me.async(op)  -> receive_window,      me.async(op)     -> take, start
//                    send_window          co_await op      -> start
//   ++run         -> pe_state::try_rerun  me.async_compute -> async_compute
//                                         me.reopen, now   -> reopen, now
//
// A task writes straight into the window of a color and never calls its engine: before a task runs, the
// engine has made room for everything that one run may send. The loop around a data task then contains no
// call, and compilers keep the task's sums and the window's end in registers. For the same reason positions
// are numbers of types that cannot alias the words. An operation whose words lie in a receive window takes
// them without calling the engine, too. The windows are all that the port prescribes; each engine chooses the
// buffers behind them (engine/threaded/channel.hpp has the most elaborate ones).
#pragma once
#include <bit>
#include <cstddef>

#include "../core/area.hpp"
#include "../core/machine.hpp"
#include "../layout/program.hpp"
#include "offloaded_job.hpp"

namespace wsl {

struct pe_state;

/// The number of wavelets of one color that one run of a data task may send, and one run of any other task
/// (launched, local or control). A program that sends more uses a descriptor.
inline constexpr int sends_of_a_data_task = 512, sends_of_a_task = 4096;

namespace engines {

/// An operation of at least this many words goes through its engine, which looks for a waiting receiver in
/// order to hand the words over without a buffer (a rendezvous).
inline constexpr int rendezvous_words = 2048;

/// A position in a window. It has 32 bits because processors forward a stored word to the next load faster
/// than a half-word.
enum class place : u32 {};

/// The buffer into which a PE sends the words of one color. Windows are 32 bytes apart, so that an engine can
/// keep its own state of the color beside the window, in the bytes that are left.
struct alignas(32) send_window {
  u32* words = nullptr;  ///< null until the engine has made room
  place end{};           ///< where the next word goes
  /// once a word has gone here the engine must look before the PE starts another task; negative if closed
  place soft{closed};
  u32 origin = 0;  ///< words sent before the window's first; positions count modulo 2^32

  int next() const { return static_cast<int>(end); }
  void move_to(int next) { end = place{static_cast<u32>(next)}; }
  u32 tail() const { return origin + static_cast<u32>(end); }
  u32* room() const { return words + next(); }

  int limit() const { return static_cast<int>(soft); }
  void open(int limit) { soft = place{static_cast<u32>(limit)}; }
  /// No task may write until its engine has made room.
  void close() { soft = place{static_cast<u32>(soft) | closed}; }
  /// Closes it after an operation that has also read a color, and so counts as a reader of that color.
  void close_behind_reader() { soft = place{static_cast<u32>(soft) | closed | behind_reader}; }
  bool is_closed() const { return limit() < 0; }
  bool is_closed_behind_reader() const { return (static_cast<u32>(soft) & behind_reader) != 0; }
  /// Undoes a close if there is room for another run of a task; says whether there is.
  bool reopen() {
    const place open_limit{static_cast<u32>(soft) & ~(closed | behind_reader)};
    if (static_cast<u32>(end) > static_cast<u32>(open_limit)) return false;
    soft = open_limit;
    return true;
  }

  /// Whether an operation may write n words in one piece, all at once.
  bool fits(int n) const { return n <= limit() - next(); }
  /// Records that an operation has written n words; `has_read`: words that it has read from a color. Until
  /// its task ends the operation counts as in flight.
  void wrote(int n, bool has_read) {
    move_to(next() + n);
    has_read ? close_behind_reader() : close();
  }

 private:
  static constexpr u32 closed = 0x80000000, behind_reader = 0x40000000;
};
static_assert(sizeof(send_window) == 32, "a wafer has a million of them");

/// The place where an operation finds the words of one color from one sender. Windows are 16 bytes apart; the
/// last four bytes belong to the engine.
struct alignas(16) receive_window {
  u32 from = 0;  ///< the index of the sender's window; free for the engine's use if `asks` is not 0
  u32 head = 0;  ///< words read so far, modulo 2^32
  u8 color = 0;
  u8 asks = 0;  ///< why an operation must ask its engine for the words; 0 if it need not

  /// Whether the window holds this color and the engine need not be asked: one comparison.
  bool is_plain(int of_color) const {
    return std::bit_cast<u16>(two_bytes{color, asks}) ==
           std::bit_cast<u16>(two_bytes{static_cast<u8>(of_color), 0});
  }

 private:
  struct two_bytes {
    u8 first, second;
  };
};
static_assert(sizeof(receive_window) == 16);

/// The index of a window. It is a type of its own because a plain u32 could alias the words, and would be
/// loaded again after each of them.
enum class window_index : u32 {};

}  // namespace engines

/// The virtual calls.
class engine_port {
 public:
  /// A control wavelet leaves a task of this PE.
  virtual void send_control(pe_state& from, int color, const payload_type* type, u32 bits) = 0;
  /// The router of this PE lets wavelets of a color in again, on the path of a phase.
  virtual void reopen(pe_state& on, int color, int phase) = 0;
  /// A descriptor operation with a fabric operand starts on this PE. Says whether it completed at once: then
  /// a waiting task goes on without suspending.
  virtual bool start(pe_state& on, transfer& operation) = 0;

  /// This PE offloads a computation that runs beside its tasks.
  virtual void async_compute(pe_state& on, const offloaded_job& what) = 0;

  /// Takes the next n words of a color if they have arrived and lie in one piece, and returns their address;
  /// null otherwise. Most operations find their words so, and move without becoming a microthread. The words
  /// stay in place until the running task calls the engine again.
  virtual const u32* take(pe_state&, int, const payload_type*, u32) { return nullptr; }

  /// The time on this PE in cycles, as `pe::now` gives it; 0 on an engine without a clock.
  virtual u64 now(const pe_state&) const { return 0; }

  const region& grid() const { return grid_; }
  const machine& target() const { return machine_; }

  u32* journal = nullptr;  ///< the colors of a task's sends in their order, for an engine that needs it

 protected:
  engine_port(const machine& target, const region& grid) : machine_(target), grid_(grid) {}
  ~engine_port() = default;

 private:
  machine machine_;
  region grid_;
};

}  // namespace wsl
