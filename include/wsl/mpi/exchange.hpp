// SPDX-License-Identifier: MIT
// The exchange of messages between partitions that different ranks run. Every rank has all channels and
// cursors, but only those of its own partitions are in use. In a superstep each rank sends each of its
// neighbours one message, which holds all messages of its partitions for the neighbour's and the words that
// they refer to; words that several ranks read go in a tree broadcast. Words in memory that two ranks share
// stay in place, and granted arrays go through a ring there, straight into the operations that wait for them;
// other words travel, and the receiver keeps them in a mirror of the sender's buffer, one for each cursor. It
// delivers the messages as if the partition that wrote them were its own. So a superstep begins
// with the same messages on any number of ranks.
//
// On one computer a rank rests while it has nothing to do but what others will send. It takes no part in
// supersteps, nobody waits for it, and it sleeps until one of the others has words for it:
//
//   superstep    5          6          7          8          9
//   rank 0       runs       runs       runs       runs       runs
//   rank 1       "I rest"   -          -          called     runs      with what 0 sent in 8
#pragma once
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "../engine/threaded/rendezvous.hpp"
#include "../engine/threaded/superstep.hpp"
#include "granted_arrays.hpp"
#include "peer_channel.hpp"
#include "world.hpp"

namespace wsl::mpi {

/// The distribution of partitions over ranks.
class share {
 public:
  /// In contiguous ranges of about the same length.
  share(u32 partitions, int ranks) : of_(static_cast<std::size_t>(ranks)) {
    const auto first = [&](int rank) {
      return static_cast<u32>(u64{partitions} * static_cast<u64>(rank) / static_cast<u64>(ranks));
    };
    for (int rank = 0; rank < ranks; ++rank)
      for (u32 b = first(rank); b < first(rank + 1); ++b) give(rank);
  }
  /// As it is said for each partition.
  share(std::span<const int> owners, int ranks) : of_(static_cast<std::size_t>(ranks)) {
    for (const int rank : owners) give(rank);
  }

  int owner(u32 partition) const { return owners_[partition]; }
  /// The partitions of a rank, in ascending order.
  std::span<const u32> of(int rank) const { return of_[static_cast<std::size_t>(rank)]; }

 private:
  void give(int rank) {
    of_[static_cast<std::size_t>(rank)].push_back(static_cast<u32>(owners_.size()));
    owners_.push_back(rank);
  }

  std::vector<int> owners_;
  std::vector<std::vector<u32>> of_;
};

class exchange {
 public:
  /// Collective.
  exchange(engines::transport& words, engines::rendezvous_transfers& operations, const ranks& who,
           const share& partitions, int threads)
      : words_(words),
        operations_(operations),
        who_(who),
        share_(partitions),
        crowded_(detail::crowded(threads)),
        buffers_(who.size() > 1 ? who.memory() : nullptr),
        arrays_(who),
        sent_(words.net.cut_edges.size()) {
    for (engines::partition& b : words.partitions()) b.buffers.source = &buffers_;
    std::set<std::pair<int, int>> beside;
    for (const engines::cut_edge& s : words.net.cut_edges) {
      const int from = partitions.owner(s.writers_partition), to = partitions.owner(s.readers_partition);
      if (from == to) continue;
      borders_ |= u64{1} << s.writers_partition | u64{1} << s.readers_partition;
      beside.insert({from, to}), beside.insert({to, from});
    }
    if (on_one_computer() && who.size() <= most_that_all_meet)
      for (int one = 0; one < who.size(); ++one)
        for (int other = 0; other < who.size(); ++other)
          if (one != other) beside.insert({one, other});
    for (const auto& [one, other] : beside)
      if (one == who.rank()) neighbours_.emplace_back(other, who.group());
    if (who.memory()) bell_ = who.memory()->bell(who.rank());
    if (who.size() > 1) find_slots();
    all_are_neighbours_ =
        beside.size() == static_cast<std::size_t>(who.size()) * static_cast<std::size_t>(who.size() - 1);
    find_broadcasts();
    find_whether_ranks_rest();
  }

  /// Before the first superstep of a run.
  void begin_run() { active_ = everybody(); }

  /// Whether a partition exchanges messages with a partition of another rank.
  bool borders(u32 partition) const { return (borders_ >> partition & 1) != 0; }

  /// Begins a superstep: posts the receives.
  void expect(u64 superstep) {
    for (neighbour& n : neighbours_) n.expect(superstep);
  }
  /// Sends the messages of a superstep; called as soon as all partitions at the border of this rank have run.
  /// A message that is short, or that no other work could overlap, is kept back until this rank can add its
  /// vote on what follows the superstep.
  void send(u64 superstep) {
    if (who_.memory()) who_.memory()->order();
    tree_broadcast* const own = broadcast_of(who_.rank());
    packed_.clear(), arrays_.begin();
    if (own) own->words.reset();
    for (neighbour& n : neighbours_) {
      n.begin();
      n.in_ring = 0;
      const u64 theirs = bands_of(n.rank);
      for (u64 left = bands_of(who_.rank()) & borders_; left; left &= left - 1) {
        const u32 from = static_cast<u32>(std::countr_zero(left));
        for (u64 to = words_.partitions()[from].addressed & theirs; to; to &= to - 1)
          pack(n, from, static_cast<u32>(std::countr_zero(to)), superstep);
      }
    }
    if (own && own->words.size()) own->send();
    addressed_ = 0;
    if (may_rest_)
      for (const neighbour& n : neighbours_) addressed_ |= n.has_words() ? bit(n.rank) : 0;
    for (neighbour& n : neighbours_) {
      n.sent = !all_are_neighbours_ ||
               (inner_work_ && n.out.size() + n.in_ring + size_of_broadcast() > sent_early);
      if (n.sent) send(n, superstep, engines::termination_vote::nothing, !all_are_neighbours_, false);
    }
  }
  /// Makes progress with the messages that arrive and with granted arrays, and forwards tree broadcasts;
  /// called between partitions. Returns whether all messages have arrived.
  bool move_on() {
    arrays_.write();
    bool all = true;
    for (neighbour& n : neighbours_) {
      if (!takes_part(n)) continue;
      all &= n.arrived();
      const bool was_open = std::exchange(n.is_open, n.opened());
      if (tree_broadcast* p = n.is_open && !was_open ? broadcast_of(n.rank) : nullptr)
        p->expect(n.heard.tree_broadcast);
    }
    for (tree_broadcast& p : broadcasts_) all &= p.arrived();
    return all;
  }
  /// What follows a superstep: the largest vote of all ranks.
  struct agreement {
    engines::termination_vote all;
    u64 superstep;  ///< the last one, in which this rank may have rested
  };
  /// Waits for the messages of the other ranks and delivers them; if nothing is left to do here, also those
  /// of the supersteps after this one, until there is. Collective, while no partition runs; `beside`: other
  /// threads compute meanwhile.
  agreement receive(u64 superstep, engines::termination_vote mine, bool beside) {
    const bool rests = may_rest_ && is_at_rest();
    for (neighbour& n : neighbours_) {
      if (!n.sent) send(n, superstep, mine, true, rests);
      else if (all_are_neighbours_) n.settle(mine, rests);
    }
    if (!all_are_neighbours_)
      mine = static_cast<engines::termination_vote>(who_.largest(static_cast<u64>(mine)));
    detail::waiting others(crowded_, beside && crowded_ ? 0 : polls_of_mpi);
    agreement end{take_all(superstep, mine, beside, others), superstep};
    for (bool rested = rests; may_rest_; rested = true) {
      const u32 before = std::exchange(active_, active_after(rested));
      wake_others(end.all, before);
      move_arrays();
      if ((active_ & bit(who_.rank())) || !engines::goes_on(end.all)) break;
      for (neighbour& n : neighbours_) n.rest();
      end.superstep = wait_for_call(end.superstep);
      expect(end.superstep);
      addressed_ = 0;
      end.all = take_all(end.superstep, engines::termination_vote::nothing, beside, others);
    }
    if (!may_rest_) move_arrays();
    inner_work_ = false;
    for (const u32 b : share_.of(who_.rank()))
      inner_work_ |= !borders(b) && will_work(words_.partitions()[b], end.all);
    return end;
  }

 private:
  using partition_message = engines::partition_message;
  using tree_broadcast = detail::tree_broadcast;

  /// the number of bytes that take a network longer than one more message
  static constexpr std::size_t sent_early = 1 << 15;
  /// So many ranks of one computer all exchange votes with each other, which a reduction takes longer for.
  static constexpr int most_that_all_meet = 16;
  /// How often a rank looks for messages, or pieces of arrays, before it sleeps: in shared memory, for some
  /// 100 us, and by calls of MPI.
  static constexpr int polls_before_sleep = 2000, polls_of_mpi = 100;
  /// In nanoseconds. Every message rings, so this is only a precaution.
  static constexpr long longest_sleep = 5'000'000;

  struct neighbour : detail::peer_channel {
    using peer_channel::peer_channel;
    bool sent = false, is_open = false;
    std::size_t in_ring = 0;  ///< bytes of granted arrays that go to it through the ring
    u64 latest = 0;           ///< the latest superstep in which it took part, as far as this rank has heard
    u64 written[2] = {0, 0};  ///< the superstep in which each of the slots for it was written
  };

  // ---- ranks that rest

  static u32 bit(int rank) { return u32{1} << rank; }
  u32 everybody() const { return may_rest_ ? bit(who_.size()) - 1 : 0; }
  bool takes_part(const neighbour& n) const { return !may_rest_ || (active_ & bit(n.rank)); }

  /// Collective.
  void find_whether_ranks_rest() {
    int all =
        all_are_neighbours_ && who_.size() > 1 && who_.size() <= most_that_all_meet && broadcasts_.empty();
    for (const neighbour& n : neighbours_) all &= n.has_slots();
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, who_.group());
    may_rest_ = all != 0;
  }
  /// Whether the next superstep has no work for this rank but what others send.
  bool is_at_rest() {
    const u64 own = bands_of(who_.rank());
    for (const u32 b : share_.of(who_.rank())) {
      const engines::partition& p = words_.partitions()[b];
      if (!p.work.empty() || p.will_compute() || p.failure || (p.addressed & own)) return false;
    }
    return true;
  }
  /// The ranks that take part in the next superstep: those that do not rest, and those that something was
  /// sent to. All that take part in this one know the same.
  u32 active_after(bool rests) const {
    u32 next = addressed_ | (rests ? 0 : bit(who_.rank()));
    for (const neighbour& n : neighbours_)
      if (takes_part(n)) next |= n.heard.addressed | (n.heard.rests ? 0 : bit(n.rank));
    return next;
  }
  /// Lets those that rested find what was written for them: all at the end of the run, and otherwise those
  /// whom another rank has called, who also look for the message of this one.
  void wake_others(engines::termination_vote all, u32 before) {
    if (!(before & bit(who_.rank()))) return;  // those that took part do so
    for (neighbour& n : neighbours_) {
      if (before & bit(n.rank)) continue;
      if (!engines::goes_on(all)) n.call();
      else if ((active_ & ~addressed_) & bit(n.rank)) n.ring();
    }
  }
  /// Sleeps until another rank calls this one; returns the superstep.
  u64 wait_for_call(u64 last) {
    for (int polls = crowded_ ? 0 : polls_before_sleep;; --polls) {
      const u32 rung = bell_->rung();
      for (const neighbour& n : neighbours_)
        if (const u64 superstep = n.called(); superstep > last)
          return active_ = n.active_in(superstep), superstep;
      if (polls <= 0) bell_->wait(rung, longest_sleep);
    }
  }

  void send(neighbour& n, u64 superstep, engines::termination_vote says, bool is_settled, bool rests) {
    // A slot is not written again before it has been read. Whoever has taken part since has read it; others
    // may have rested since then, even if they take part in this superstep, because other ranks have called
    // them.
    u64& written = n.written[superstep & 1];
    if (may_rest_ && n.latest <= written && !n.rests_since(n.latest)) {
      detail::waiting until;
      while (!n.rests_since(n.latest)) until.pause();
    }
    written = superstep;
    n.send({.tree_broadcast = size_of_broadcast(),
            .says = says,
            .settled = is_settled,
            .rests = rests,
            .active = active_,
            .addressed = addressed_},
           takes_part(n));
  }
  /// Waits for the messages of all ranks that take part in a superstep, and delivers them. Returns the
  /// largest vote.
  engines::termination_vote take_all(u64 superstep, engines::termination_vote all, bool beside,
                                     detail::waiting& others) {
    // on a crowded computer whoever is waited for may need this core
    for (int polls = crowded_ ? 0 : polls_before_sleep;; --polls) {
      const u32 rung = bell_ ? bell_->rung() : 0;
      if (move_on()) break;
      if (!only_bells()) others.pause();
      else if (polls <= 0) bell_->wait(rung, longest_sleep);
    }
    for (neighbour& n : neighbours_) {
      if (!takes_part(n)) continue;
      n.latest = superstep;
      all = engines::larger(all, n.heard.says);
      const u64 bytes = n.heard.size + (broadcast_of(n.rank) ? n.heard.tree_broadcast : 0);
      detail::arrived += bytes, detail::arrived_beside += beside ? bytes : 0;
      while (!n.in().at_end()) unpack(n, superstep);
    }
    for (neighbour& n : neighbours_) {
      while (!n.left()) others.pause();
      n.is_open = false;
    }
    for (tree_broadcast& p : broadcasts_)
      while (!p.left()) others.pause();
    if (who_.memory()) who_.memory()->order();
    return all;
  }

  // ---- granted arrays

  /// Takes what has come in the rings of others. Returns whether something has.
  bool take_arrays() {
    return arrays_.take([&](u32 cursor, std::span<const u32> words) {
      // what an operation throws is a failure of its partition, in the next superstep
      engines::partition& b = words_.home(words_.net.cursors[cursor].reader);
      if (b.failure) return;
      try {
        operations_.take(cursor, words);
      } catch (...) { b.failure = std::current_exception(); }
    });
  }
  /// Moves the arrays of this superstep: when it ends, nobody needs their memory, and what this rank was
  /// granted has been taken. The last pieces of its own may still lie in the ring, for readers that are late.
  /// All ranks come here without waiting for each other's arrays, and serve theirs while they wait. A sleep
  /// for each piece would take longer than the piece, so also where cores are shared a rank only yields at
  /// first.
  void move_arrays() {
    for (int polls = polls_before_sleep; !arrays_.have_moved();) {
      const u32 rung = bell_->rung();
      const bool wrote = arrays_.write(), took = take_arrays();
      if (wrote || took) polls = polls_before_sleep;
      else if (--polls < 0) bell_->wait(rung, longest_sleep);
      else if (crowded_) sched_yield();
    }
  }

  static bool will_work(const engines::partition& b, engines::termination_vote next) {
    return !b.work.empty() || b.has_mail() ||
           (next == engines::termination_vote::computing && b.will_compute());
  }
  u64 size_of_broadcast() {
    const tree_broadcast* own = broadcast_of(who_.rank());
    return own ? own->words.size() : 0;
  }
  u64 bands_of(int rank) const {
    u64 mask = 0;
    for (const u32 b : share_.of(rank)) mask |= u64{1} << b;
    return mask;
  }
  tree_broadcast* broadcast_of(int writer) {
    for (tree_broadcast& p : broadcasts_)
      if (p.writer() == writer) return &p;
    return nullptr;
  }

  bool on_one_computer() const {
    if (!who_.memory()) return false;
    for (int k = 0; k < who_.size(); ++k)
      if (!who_.memory()->bell(k)) return false;
    return true;
  }
  /// Whether all that is missing will ring this rank's bell.
  bool only_bells() const {
    if (!bell_) return false;
    for (const neighbour& n : neighbours_)
      if (takes_part(n) && !n.will_ring()) return false;
    for (const tree_broadcast& p : broadcasts_)
      if (p.is_missing()) return false;
    return true;
  }
  /// Gives the channels to ranks of this computer slots in shared memory, as long as there is some.
  /// Collective.
  void find_slots() {
    constexpr u32 nowhere = ~u32{0};
    std::vector<u32> mine(2 * static_cast<std::size_t>(who_.size()), nowhere), theirs = mine;
    for (neighbour& n : neighbours_) {
      if (!who_.memory() || !who_.memory()->bell(n.rank)) continue;
      u32* const both[] = {buffers_.take(engines::large_buffer), buffers_.take(engines::large_buffer)};
      for (int k : {0, 1})
        if (both[0] && both[1])
          detail::message_slot::in(both[k]),
              mine[2 * static_cast<std::size_t>(n.rank) + static_cast<std::size_t>(k)] =
                  who_.memory()->place_of(both[k]);
    }
    MPI_Alltoall(mine.data(), 2, MPI_UINT32_T, theirs.data(), 2, MPI_UINT32_T, who_.group());
    for (neighbour& n : neighbours_) {
      const std::size_t at = 2 * static_cast<std::size_t>(n.rank);
      if (mine[at] == nowhere || theirs[at] == nowhere) continue;
      const auto slot_at = [&](int rank, u32 place) {
        return std::launder(reinterpret_cast<detail::message_slot*>(who_.memory()->at(rank, place)));
      };
      detail::message_slot* of_this[] = {slot_at(who_.rank(), mine[at]), slot_at(who_.rank(), mine[at + 1])};
      detail::message_slot* of_other[] = {slot_at(n.rank, theirs[at]), slot_at(n.rank, theirs[at + 1])};
      n.use(of_this, of_other, *who_.memory()->bell(n.rank));
    }
  }

  /// Finds the channels that several ranks read by messages: their words go in the writer's tree_broadcast.
  void find_broadcasts() {
    const auto by_message = [&](const engines::cut_edge& s) {
      const int from = share_.owner(s.writers_partition), to = share_.owner(s.readers_partition);
      return from != to && !(who_.memory() && who_.memory()->common(from, to));
    };
    std::map<u32, std::set<int>> readers;  // the ranks that read each channel
    for (const engines::cut_edge& s : words_.net.cut_edges)
      if (by_message(s)) readers[s.channel].insert(share_.owner(s.readers_partition));
    std::map<int, std::set<int>> of_broadcast;  // the readers of each writer's broadcast
    for (std::size_t k = 0; k < sent_.size(); ++k) {
      const engines::cut_edge& s = words_.net.cut_edges[k];
      if (!by_message(s) || readers[s.channel].size() < 2) continue;
      sent_[k].packed = true;
      of_broadcast[share_.owner(s.writers_partition)].merge(std::set(readers[s.channel]));
    }
    for (const auto& [writer, its_readers] : of_broadcast) {
      if (writer != who_.rank() && !its_readers.contains(who_.rank())) continue;
      std::vector<int> all{writer};
      all.insert(all.end(), its_readers.begin(), its_readers.end());
      broadcasts_.emplace_back(std::move(all), who_.rank(), who_.group());
    }
  }

  /// Precedes the messages of one partition for another.
  struct heading {
    u32 from, to, count;
  };
  struct item {
    enum class where : u8 {
      behind,  ///< the words follow the item
      packed,  ///< they are in the sender's tree_broadcast, from `place` on
      same,    ///< they are those of the previous item: another receiver of a multicast
      shared,  ///< they are in the sender's memory, from `place` on, which is the position `origin`
      in_ring  ///< they come through the sender's ring, and `place` is the number of their first piece
    };
    partition_message::what kind;
    where words_are;
    /// the words are all that the buffer holds, because the mirror had none; otherwise those that the mirror
    /// lacks
    bool anew;
    u32 cursor, position, words, origin, place;
  };
  static_assert(sizeof(heading) % sizeof(u32) == 0 && sizeof(item) % sizeof(u32) == 0,
                "words lie where words may lie");

  void pack(neighbour& to_rank, u32 from, u32 to, u64 superstep) {
    message& out = to_rank.out;
    auto& mailboxes = words_.partitions()[from].mailboxes[superstep & 1][to];
    if (mailboxes.empty()) return;
    out.put(heading{from, to, static_cast<u32>(mailboxes.size())});
    const partition_message* before = nullptr;
    u32 begin = 0;
    for (const partition_message& n : mailboxes) {
      item i{n.kind, item::where::behind, false, n.cursor, n.position, 0, n.origin, 0};
      if (n.kind == partition_message::what::grant) {
        pack_grant(to_rank, n);
        before = nullptr;
        continue;
      }
      if (n.kind != partition_message::what::words) {
        out.put(i);
        continue;
      }
      const u32 cut_edge = words_.net.cursors[n.cursor].from;
      progress& sent = sent_[cut_edge];
      if (who_.memory() && who_.memory()->seen_by(to_rank.rank, n.words)) {
        i.words_are = item::where::shared, i.place = who_.memory()->place_of(n.words);
        sent.mirrored = false, before = nullptr;
        out.put(i);
        continue;
      }
      if (!sent.mirrored) i.anew = sent.mirrored = true, sent.position = n.origin;
      else if (before && before->words == n.words && before->position == n.position && begin == sent.position)
        i.words_are = item::where::same;
      begin = std::exchange(sent.position, n.position);
      i.words = n.position - begin;
      const std::span<const u32> words(n.words + (begin - n.origin), i.words);
      before = sent.packed ? nullptr : &n;
      if (sent.packed)
        i.words_are = item::where::packed,
        i.place = place_in_broadcast(words_.net.cut_edges[cut_edge].channel, n.position, words);
      out.put(i);
      if (i.words_are == item::where::behind) out.put(words);
    }
    mailboxes.clear();
  }
  /// Where all ranks have memory in common an array may be granted to several readers, and is written into
  /// the ring once; elsewhere it has one reader (partitioning::grants_multicasts).
  void pack_grant(neighbour& to_rank, const partition_message& n) {
    sent_[words_.net.cursors[n.cursor].from].mirrored = false;
    const std::span<const u32> words(n.words, n.granted());
    item i{n.kind, item::where::behind, false, n.cursor, n.position, n.granted(), 0, 0};
    if (arrays_.reaches(to_rank.rank))
      i.words_are = item::where::in_ring, i.place = arrays_.add(to_rank.rank, words),
      to_rank.in_ring += words.size_bytes();
    to_rank.out.put(i);
    if (i.words_are == item::where::behind) to_rank.out.put(words);
  }
  /// The place of words in this rank's broadcast. All readers of a channel have received the same words, so
  /// all lack the same ones.
  u32 place_in_broadcast(u32 channel, u32 position, std::span<const u32> words) {
    if (words.empty()) return 0;
    message& all = broadcast_of(who_.rank())->words;
    const auto [entry, is_new] =
        packed_.try_emplace(u64{channel} << 32 | position, static_cast<u32>(all.size() / sizeof(u32)));
    if (is_new) all.put(words);
    return entry->second;
  }

  void unpack(neighbour& from, u64 superstep) {
    const heading h = from.in().take<heading>();
    engines::partition& to = words_.partitions()[h.to];
    to.senders[superstep & 1].fetch_or(u64{1} << h.from, std::memory_order_relaxed);
    auto& mailboxes = words_.partitions()[h.from].mailboxes[superstep & 1][h.to];
    std::span<const u32> latest;
    for (u32 k = 0; k < h.count; ++k) {
      const item i = from.in().take<item>();
      partition_message n{i.kind, i.cursor, i.position};
      if (i.kind == partition_message::what::words && i.words_are == item::where::shared) {
        n.words = who_.memory()->at(from.rank, i.place), n.origin = i.origin;
      } else if (i.kind == partition_message::what::grant) {
        n.origin = i.words;
        if (i.words_are == item::where::in_ring) arrays_.expect(from.rank, i.place, i.cursor, i.words);
        else n.words = from.in().take_words(i.words).data();
      } else if (i.kind == partition_message::what::words) {
        if (i.words_are == item::where::behind) latest = from.in().take_words(i.words);
        if (i.words_are == item::where::packed)
          latest = i.words ? broadcast_of(from.rank)->words.words_at(i.place * sizeof(u32), i.words)
                           : latest.first(0);
        mirror& m = mirrors_[i.cursor];
        if (i.anew) m.begin(i.origin);
        m.append(latest, words_.net.cursors[i.cursor].head);
        n.words = m.words.data(), n.origin = m.origin;
      }
      mailboxes.push_back(n);
    }
  }

  /// A copy of the writer's buffer for a cursor of this rank. It changes only between supersteps, when no
  /// partition reads it.
  struct mirror {
    std::vector<u32> words;
    u32 origin = 0;

    void begin(u32 at) { words.clear(), origin = at; }
    void append(std::span<const u32> more, u32 head) {
      if (words.size() + more.size() > words.capacity()) {
        const u32 read = support::min(head - origin, static_cast<u32>(words.size()));
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(read));
        origin += read;
        words.reserve(support::max<std::size_t>(2 * (words.size() + more.size()), engines::small_buffer));
      }
      words.insert(words.end(), more.begin(), more.end());
    }
  };

  /// The position up to which the reader's rank has the words of a cut_edge. If they are in shared memory,
  /// the rank has all of them and its mirror none.
  struct progress {
    u32 position = 0;
    bool mirrored = false;
    bool packed = false;  ///< its words go into the tree_broadcast
  };

  engines::transport& words_;
  engines::rendezvous_transfers& operations_;
  ranks who_;
  share share_;
  bool crowded_;     ///< the computer has fewer cores than threads if all threads of its ranks work
  u64 borders_ = 0;  ///< the partitions with a neighbour on another rank, as a mask
  /// all ranks are neighbours, so votes travel with the messages and need no reduction
  bool all_are_neighbours_ = false;
  bool may_rest_ = false;  ///< all ranks are on this computer, and all leave messages in slots
  /// the ranks that take part in this superstep, and those that this one has something for, as masks
  u32 active_ = 0, addressed_ = 0;
  /// partitions that do not border on another rank's have work in the next superstep
  bool inner_work_ = false;
  std::vector<neighbour> neighbours_;
  /// this rank's, which ranks of this computer ring for their messages and pieces
  detail::doorbell* bell_ = nullptr;
  std::vector<tree_broadcast> broadcasts_;  ///< the broadcasts that this rank writes or reads
  /// the places of words in this rank's tree_broadcast, by channel and position
  std::unordered_map<u64, u32> packed_;
  shared_buffers buffers_;
  detail::granted_arrays arrays_;
  std::vector<progress> sent_;  ///< the progress of each cut_edge
  std::unordered_map<u32, mirror> mirrors_;
};

}  // namespace wsl::mpi
