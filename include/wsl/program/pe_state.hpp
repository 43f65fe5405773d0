// SPDX-License-Identifier: MIT
// The data that a task shares with its engine: the windows through which it sends and receives words, and the
// state of its PE, which the task sees as a `pe`. A task writes and reads here without calling the engine;
// what needs a call goes through engine_port.hpp.
#pragma once
#include <bit>

#include "program_image.hpp"

namespace wsl::engines {

/// The number of wavelets of one color that one run of a data task may send, and one run of any other task
/// (launched, local or control). A program that sends more uses a descriptor.
inline constexpr int sends_of_a_data_task = 512, sends_of_a_task = 4096;

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
  /// The color of the fabric that a color of the program stands for. Mostly it is known while compiling that
  /// a color is not symbolic, and nothing is left of this.
  [[gnu::always_inline]] int color(int named) const {
    return is_symbolic(named) ? image->colors(named) : named;
  }
  /// Gives an operation the colors of the fabric.
  [[gnu::always_inline]] void resolve_colors(transfer& t) const {
    if (image->colors.empty()) [[likely]]
      return;
    t.output = static_cast<i8>(color(t.output));
    for (i8& c : t.input) c = static_cast<i8>(color(c));
  }
  /// Where the PEs that run on a thread share windows, one for each color: the number of these windows.
  u32 sender() const { return static_cast<u32>(first_send_window) / max_colors; }
  void send_by(u32 sender) { first_send_window = engines::window_index{sender * max_colors}; }
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
  void complete(const operation_in_flight& t) {
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

}  // namespace wsl::engines
