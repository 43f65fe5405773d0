// SPDX-License-Identifier: MIT
// A channel is one color of one PE, between the tasks that write it and its final receivers: routes are known
// before the run, so there is no router in between. It is the PE's send window (program/pe_state.hpp) over
// a buffer, with the engine's state of the words and their readers. A cursor is the receive window of one
// reader of a channel.
#pragma once
#include "../../program/pe_state.hpp"
#include "buffers.hpp"

namespace wsl::engines {

/// The number of PEs and host streams that a channel's field `writer` can name.
inline constexpr u32 most_writers = u32{1} << 25;

struct channel : send_window {
  i16 announced = 0;  ///< the position up to which the receivers have been told of words
  /// links that one word crosses on its way to all receivers; for a listed channel the list has this number
  u16 links = 0;
  u32 first_reader = 0;       ///< the only cursor, or with `listed` the start of the list of cursors
  u32 writer : 25 = 0;        ///< the PE, or host stream, that writes
  u32 class_of_size : 3 = 0;  ///< of the buffer or block
  bool listed : 1 = false;
  bool writer_waits : 1 = false;  ///< a receiver that makes room must wake the writer
  bool operated : 1 = false;      ///< an operation in flight writes here: tasks may not
  /// operations write here: until all words are read, unread ones keep no task from running
  bool lenient : 1 = false;

  size_class size() const { return size_class{static_cast<u8>(class_of_size)}; }
  int capacity() const { return words_of(size()); }
  /// Whether it is a buffer, which a visit has brought; not a block, and not nothing.
  bool in_buffer() const { return size() >= small; }
};
static_assert(sizeof(channel) == sizeof(send_window), "channels are the windows of their writers");

/// The position up to which one PE, host stream or switched router has read a channel.
struct cursor : receive_window {
  /// The reasons for which operations ask the engine, bits of `asks`.
  static constexpr u8 remote = 1;   ///< writer and reader are in two partitions; `from` is the cut edge
  static constexpr u8 marked = 2;   ///< control wavelets lie in the channel; the engine knows where
  static constexpr u8 watched = 4;  ///< the writer waits for room

  /// for a switched router: the port by which its words come, as an index of every_port
  u8 port : 7 = 0;
  bool crosses : 1 = false;  ///< the same as `remote`, for the writer's thread, which must not read `asks`
  u32 reader = 0;            ///< the PE, host stream or switched router that reads

  bool is_remote() const { return crosses; }
  bool is_marked() const { return asks & marked; }
  void set(u8 why, bool on) { asks = static_cast<u8>(on ? asks | why : asks & ~why); }
};
static_assert(sizeof(cursor) == sizeof(receive_window), "cursors are the windows of their readers");

}  // namespace wsl::engines
