// SPDX-License-Identifier: MIT
// A partition is a strip of the grid that one thread at a time runs. The strips are fixed by the layout,
// never by the number of threads. In a superstep a partition runs until nothing is left to do with the words
// that it had at the start. Words for other partitions go into its mailboxes, which the receivers empty at
// the start of the next superstep, in the order of the partitions; so results do not depend on threads.
// Long-running tasks wait until no partition has messages for another, and then run side by side in a
// superstep of their own.
#pragma once
#include <atomic>
#include <exception>
#include <new>

#include "../diagnose/run_limit.hpp"
#include "../outcome.hpp"
#include "channel.hpp"
#include "offloaded_jobs.hpp"

namespace wsl::engines {

/// A channel whose writer and reader are in two partitions, for one of its cursors. It holds each side's
/// knowledge of the other as of the last superstep, which only messages change.
struct cut_edge {
  u32 channel = 0;
  u32 writer = 0;  ///< the channel's writer, for threads other than the writer's
  u8 writers_partition = 0, readers_partition = 0;
  u32 credited = 0;  ///< words read, as far as the writer knows
  u32 visible = 0;   ///< words that the reader may read
  u32 origin = 0;    ///< the number of words sent before the first one in the channel's buffer `words`
  const u32* words = nullptr;
  /// words may go from memory to memory: a PE writes, and there is no other reader
  bool direct = false;
  bool has_request = false;  ///< the reader's operation waits for all words ...
  u32 requested = 0;         ///< ... up to this position, as far as the writer knows
  u32 asked = 0;             ///< the last such position that the reader has sent
};

/// The scheduling state of a PE, host stream or switched router, which is visited when it has work.
struct visited {
  /// the index of a PE's processor (calls and operations in flight) plus 1; 0 if it never had any
  u32 extras_index = 0;
  u8 partition : 6 = 0;
  u8 queued : 1 = 0;   ///< has work
  u8 touched : 1 = 0;  ///< it has had work since it was last found to wait for nothing
};

/// A set of partitions fits a 64-bit mask.
inline constexpr u32 max_partitions = 64;

/// A message to another partition, delivered at the start of its next superstep.
struct partition_message {
  enum class what : u8 { words, mark, credit, request, grant };
  what kind;
  u32 cursor;
  /// the tail of the channel, the position of a control wavelet, the head of the cursor, the end of an
  /// operation, or the first of the words granted
  u32 position;
  const u32* words = nullptr;  ///< with words: the buffer ...
  u32 origin = 0;              ///< ... and its origin; with a grant: the sender's memory, and how many words

  u32 granted() const { return origin; }
};

/// A source of buffers other than this process's own memory.
class buffer_source {
 public:
  /// A buffer of this many words, null if there is none left.
  virtual u32* take(int words) = 0;

 protected:
  ~buffer_source() = default;
};

/// Buffers of two sizes, lent to channels that have words; the buffer returned last is lent first, because it
/// is in cache.
class buffer_pool {
 public:
  buffer_source* source = nullptr;

  buffer_pool() = default;
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  ~buffer_pool() {
    for (u32* buffer : all_) ::operator delete[](buffer, line);
  }

  u32* take(int size) {
    support::flat_vector<u32*>& free = size == small_buffer ? small_ : large_;
    if (free.empty()) {
      u32* lent = source ? source->take(size) : nullptr;
      return lent ? lent : all_.push_back(new (line) u32[static_cast<std::size_t>(size + apart)]);
    }
    u32* buffer = free.back();
    free.pop_back();
    return buffer;
  }
  void give(u32* buffer, int size) { (size == small_buffer ? small_ : large_).push_back(buffer); }

  /// Keeps a buffer that a reader in another partition may still read until that partition has had the
  /// message.
  void retire(u32* buffer, int size, u64 superstep) { retired_.push_back({buffer, size, superstep}); }
  void release(u64 superstep) {
    for (std::size_t i = retired_.size(); i-- > 0;) {
      if (retired_[i].superstep + 2 > superstep) continue;
      give(retired_[i].buffer, retired_[i].size);
      retired_.erase(i);
    }
  }

 private:
  struct retired {
    u32* buffer;
    int size;
    u64 superstep;
  };
  // of a cache: storing a vector across two lines takes twice as long
  static constexpr std::align_val_t line{64};
  // words between buffers: a load waits for an earlier store with the same offset in a page (4 KiB aliasing)
  static constexpr int apart = 256;
  support::flat_vector<u32*> small_, large_, all_;
  support::flat_vector<retired> retired_;
};

/// The PEs that have work, each once. The newest goes first: its words are still in cache, and its sender's
/// buffer is soon free for the next. At regular intervals the oldest goes first, so that PEs that keep each
/// other busy cannot hold up the rest.
class work_list {
 public:
  bool empty() const { return count_ == 0; }
  void push(u32 who) {
    if (count_ == ring_.size()) grow();
    ring_[(head_ + count_++) & (ring_.size() - 1)] = who;
  }
  u32 pop() {
    if (++pops_ % oldest_every == 0) return pop_oldest();
    return ring_[(head_ + --count_) & (ring_.size() - 1)];
  }
  /// Takes the n-th of them, for a shuffled schedule.
  u32 pop(std::size_t n) {
    std::swap(ring_[head_], ring_[(head_ + n) & (ring_.size() - 1)]);
    return pop_oldest();
  }
  std::size_t size() const { return count_; }

 private:
  static constexpr u32 oldest_every = 64;

  u32 pop_oldest() {
    const u32 who = ring_[head_];
    head_ = (head_ + 1) & (ring_.size() - 1);
    --count_;
    return who;
  }
  void grow() {
    support::flat_vector<u32> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    head_ = 0;
  }
  support::flat_vector<u32> ring_{64};
  std::size_t head_ = 0, count_ = 0;
  u32 pops_ = 0;
};

/// The positions of control wavelets in channels; there are seldom more than a few.
class control_marks {
 public:
  void push(u32 cursor, u32 position) { list_.push_back({cursor, position}); }
  bool has(u32 cursor) const { return first(cursor) < list_.size(); }
  u32 front(u32 cursor) const { return list_[first(cursor)].position; }
  void pop(u32 cursor) { list_.erase(first(cursor)); }

 private:
  struct mark {
    u32 cursor;
    u32 position;
  };
  std::size_t first(u32 cursor) const {
    std::size_t i = 0;
    while (i < list_.size() && list_[i].cursor != cursor) ++i;
    return i;
  }
  support::flat_vector<mark> list_;
};

struct alignas(128) partition {
  partition() = default;
  partition(const partition&) = delete;
  partition& operator=(const partition&) = delete;
  ~partition() {
    for (processor* p : processors) delete p;
    for (open_job* e : offloaded_jobs) delete e;
  }

  work_list work;
  /// processors of the PEs that have, or once had, calls or operations in flight
  support::flat_vector<processor*> processors;
  /// PEs and others that have had work since they were last found to wait for nothing
  support::flat_vector<u32> touched;
  /// PEs that may write more for another partition in the next superstep, or are not visited in this one
  /// because their memory is granted
  support::flat_vector<u32> later;
  /// grants to PEs of this partition, in the current superstep
  support::flat_vector<partition_message> grants;
  /// PEs whose long-running tasks wait until no partition has anything else to do
  support::flat_vector<u32> postponed;
  bool computes = false;  ///< in the current superstep they run
  /// jobs that PEs have offloaded; they complete in the next such superstep
  support::flat_vector<open_job*> offloaded_jobs;
  buffer_pool buffers;
  /// messages by the superstep's parity and the receiving partition
  support::flat_vector<support::flat_vector<partition_message>> mailboxes[2];
  /// partitions whose messages wait for this one, by the superstep's parity
  std::atomic<u64> senders[2] = {};
  u64 addressed = 0;  ///< partitions that this one has written to in this superstep
  u64 superstep = 0;  ///< the current superstep
  control_marks marks;
  outcome done;
  task_census* census = nullptr;  ///< counts the tasks that run here, near the limit of a run
  std::exception_ptr failure;
  u64 read_now = 0;               ///< colors that operations of the running task read ...
  int read_in_pairs = 0;          ///< ... and how many of those read two of them
  i16 run_from[max_colors] = {};  ///< the ends of its windows when it began
  /// PEs whose operations have received words from memory to memory in the current visit
  support::flat_vector<u32> rendezvous_receivers;
  /// the number of wavelets for which the visited PE has room on each of its colors
  int prepared = 0;
  bool will_compute() const { return !postponed.empty() || !offloaded_jobs.empty(); }
  bool has_mail() const {
    return (senders[0].load(std::memory_order_relaxed) | senders[1].load(std::memory_order_relaxed)) != 0;
  }

  u64 random = 0;  ///< state of a shuffled schedule's generator
  u64 draw(u64 below) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return random % below;
  }
};

}  // namespace wsl::engines
