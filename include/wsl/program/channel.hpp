// SPDX-License-Identifier: MIT
// A channel is one color of one PE as its tasks write it and its final receivers read it: routes are known
// before the run, so no router stands between. A task writes straight into the channel's buffer and never
// calls its engine: before a task runs, the engine has made room for all that one run may send. A loop around
// a data task then has no call in it, and compilers keep the task's sums and the channel's end in registers.
// For the same reason places are numbers of types that cannot alias the words.
#pragma once
#include <array>
#include <bit>

#include "../core/scalar.hpp"

namespace wsl {

/// Wavelets of one color that one run of a data task may send; of a host function or a local or control task.
/// Who sends more uses a descriptor.
inline constexpr int sends_of_a_data_task = 512, sends_of_a_task = 4096;

namespace engines {

/// Sizes of buffers, in words.
inline constexpr int small_buffer = 1024, large_buffer = 16384;
static_assert(2 * sends_of_a_data_task <= small_buffer && 2 * sends_of_a_task <= large_buffer);

/// From this many words on an engine looks for a receiver who waits, to hand them over without a buffer.
inline constexpr int rendezvous_words = 2048;

/// Where in a buffer: 32 bits, because processors forward a stored word to the next load faster than a half.
enum class place : u32 {};

struct channel {
  u32* words = nullptr;  ///< the buffer, lent while something is in it
  place end{};           ///< where in the buffer the next word goes
  /// once a word has gone here the engine must look before the PE starts another task; negative if closed
  place soft{closed};
  u32 origin = 0;     ///< words written before the buffer's first; positions count modulo 2^32
  i16 announced = 0;  ///< up to where the receivers know of the words
  /// that one word crosses on its way to all receivers; of a listed channel they stand in the list
  u16 links = 0;
  u32 first_reader = 0;  ///< the only cursor, or with `listed` where the list of cursors starts
  u32 writer : 27 = 0;   ///< the PE, or host stream, that writes
  bool listed : 1 = false;
  bool writer_waits : 1 = false;  ///< a receiver that makes room must wake the writer
  bool large : 1 = false;         ///< which size of buffer it is
  bool operated : 1 = false;      ///< an operation in flight writes here: tasks may not
  /// operations write here: what they left unread keeps no task from running, until all is read
  bool lenient : 1 = false;

  int size() const { return large ? large_buffer : small_buffer; }
  int next() const { return static_cast<int>(end); }
  void move_to(int next) { end = place{static_cast<u32>(next)}; }
  u32 tail() const { return origin + static_cast<u32>(end); }
  u32* room() const { return words + next(); }

  int limit() const { return static_cast<int>(soft); }
  void open(int limit) { soft = place{static_cast<u32>(limit)}; }
  /// No task may write until its engine has made room.
  void close() { soft = place{static_cast<u32>(soft) | closed}; }
  /// By an operation that has read a color, too, and counts as a reader of that.
  void close_behind_reader() { soft = place{static_cast<u32>(soft) | closed | behind_reader}; }
  bool is_closed() const { return limit() < 0; }
  bool is_closed_behind_reader() const { return (static_cast<u32>(soft) & behind_reader) != 0; }
  /// Takes back a close; says whether another run of a task has room.
  bool reopen() {
    soft = place{static_cast<u32>(soft) & ~(closed | behind_reader)};
    return next() <= limit();
  }

  /// Whether an operation may write n words in one piece, all at once.
  bool fits(int n) const { return n <= limit() - next(); }
  /// An operation has written n words, perhaps of a color that it has read. Until its task ends it counts as
  /// in flight.
  void wrote(int n, bool has_read) {
    move_to(next() + n);
    if (!lenient) lenient = true;
    has_read ? close_behind_reader() : close();
  }

 private:
  static constexpr u32 closed = 0x80000000, behind_reader = 0x40000000;
};
static_assert(sizeof(channel) == 32, "a wafer has a million of them");

/// The receiving end of a channel: how far one PE, or one host stream, has read it. Positions count modulo
/// 2^32.
struct cursor {
  u32 from = 0;    ///< the channel; of a remote cursor, its cut_edge
  u32 reader = 0;  ///< the PE, or host stream, that reads
  u32 head = 0;    ///< words read so far
  u8 color = 0;
  bool remote = false;  ///< writer and reader are run by different threads
  bool marked = false;  ///< control wavelets lie in the channel; the engine knows where
  u8 port = 0;          ///< of a junction: through which one its words come, as a place in every_port

  /// Whether it brings this color, and nothing but data, from a writer that the same thread runs: one
  /// comparison.
  bool is_plain(int of_color) const {
    constexpr u32 but_port = std::bit_cast<u32>(std::array<u8, 4>{255, 255, 255, 0});
    const auto all = std::bit_cast<std::array<u32, 4>>(*this);
    return (all[3] & but_port) == std::bit_cast<u32>(std::array<u8, 4>{static_cast<u8>(of_color), 0, 0, 0});
  }
};
static_assert(sizeof(cursor) == 16);

/// No engine has more PEs and host streams than channels can name.
inline constexpr u32 most_writers = u32{1} << 27;

/// The number of a channel: a type of its own, because a number that could alias the words would be read
/// again after each.
enum class channel_index : u32 {};

}  // namespace engines
}  // namespace wsl
