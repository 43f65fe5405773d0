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
#include <span>

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
  /// words may go from memory to memory: a PE writes, and all readers are in other partitions
  bool direct = false;
  bool has_request = false;  ///< the reader's operation waits for all words ...
  u32 requested = 0;         ///< ... up to this position, as far as the writer knows
  u32 asked = 0;             ///< the last such position that the reader has sent
};

/// The scheduling state of a PE, host stream or switched router, which is visited when it has work.
struct visited {
  /// the index of a PE's processor (calls and operations in flight) plus 1; 0 if it never had any
  u32 extras_index = 0;
  u32 call : 24 = 0;  ///< the number of the host call that waits on a PE without a processor; 0 if none does
  u32 partition : 6 = 0;
  u32 queued : 1 = 0;   ///< has work
  u32 touched : 1 = 0;  ///< it has had work since it was last found to wait for nothing
};
static_assert(sizeof(visited) == 8);

/// Host calls that wait on PEs without a processor. A launch gives many PEs the same call: it is kept once,
/// and a PE has its number, counted from 1.
class waiting_calls {
 public:
  /// Whether numbers have run out: then a PE needs a processor to keep its calls.
  bool full() const { return calls_.size() == (1u << 24) - 1; }
  u32 put(host_call what) {
    if (calls_.empty() || calls_.back().entry != what.entry || calls_.back().arguments != what.arguments)
      calls_.push_back(what);
    ++waiting_;
    return static_cast<u32>(calls_.size());
  }
  const host_call& operator[](u32 number) const { return calls_[number - 1]; }
  host_call take(u32 number) {
    const host_call what = calls_[number - 1];
    if (--waiting_ == 0) calls_.clear();
    return what;
  }

 private:
  support::flat_vector<host_call> calls_;
  u64 waiting_ = 0;  ///< PEs
};

/// The channels of the writer that is visited, and what the visit has done to their buffers, as masks over
/// them.
struct visited_channels {
  std::span<channel> all;
  u64 lent = 0;               ///< a buffer that no reader knows yet
  u64 from_block = 0;         ///< what was unread has moved from a block ...
  channel block[max_colors];  ///< ... which is kept until the visit ends

  void begin(std::span<channel> of_writer) { all = of_writer, lent = from_block = 0; }
  u64 bit(const channel& c) const { return u64{1} << (&c - all.data()); }
  channel& block_of(const channel& c) { return block[&c - all.data()]; }
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
  /// ... and its origin; with a grant: the sender's memory, null if the words have been taken, and their
  /// number
  u32 origin = 0;

  u32 granted() const { return origin; }
};

/// A queue with two ends, in one array.
class ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void push(u32 item) {
    if (count_ == items_.size()) grow();
    items_[place(count_++)] = item;
  }
  u32 pop_newest() { return items_[place(--count_)]; }
  u32 pop_oldest() {
    const u32 item = items_[head_];
    head_ = place(1);
    --count_;
    return item;
  }
  /// Takes the n-th; the oldest takes its place.
  u32 pop(std::size_t n) {
    std::swap(items_[head_], items_[place(n)]);
    return pop_oldest();
  }

 private:
  std::size_t place(std::size_t n) const { return (head_ + n) & (items_.size() - 1); }
  void grow() {
    support::flat_vector<u32> larger(items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = items_[place(i)];
    items_.swap(larger);
    head_ = 0;
  }
  support::flat_vector<u32> items_{64};
  std::size_t head_ = 0, count_ = 0;
};

/// The PEs that have work, each once. Those that have much go first, and of these the newest: its words are
/// still in cache, and its sender's buffer is soon free for the next. Those that were sent few words go in
/// their order, so that more may arrive before their visit: a cell of a stencil is visited once for all its
/// neighbours. At regular intervals one of them goes first, so that PEs that keep each other busy cannot hold
/// up the rest.
class work_list {
 public:
  bool empty() const { return much_.empty() && little_.empty(); }
  void push(u32 who, bool has_much) { (has_much ? much_ : little_).push(who); }
  u32 pop() {
    if (much_.empty()) return little_.pop_oldest();
    if (++pops_ % oldest_every == 0) return little_.empty() ? much_.pop_oldest() : little_.pop_oldest();
    return much_.pop_newest();
  }
  /// Takes the n-th of them, for a shuffled schedule.
  u32 pop(std::size_t n) { return n < much_.size() ? much_.pop(n) : little_.pop(n - much_.size()); }
  std::size_t size() const { return much_.size() + little_.size(); }

 private:
  static constexpr u32 oldest_every = 64;

  ring much_, little_;
  u32 pops_ = 0;
};

/// The positions of control wavelets in channels; there are seldom more than a few.
class control_marks {
 public:
  void push(u32 cursor, u32 position) { list_.push_back({cursor, position}); }
  bool has(u32 cursor) const { return first(cursor) < list_.size(); }
  u32 front(u32 cursor) const { return list_[first(cursor)].position; }
  bool has(u32 cursor, u32 position) const {
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (list_[i].cursor == cursor && list_[i].position == position) return true;
    return false;
  }
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
  waiting_calls calls;
  visited_channels visit;
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
