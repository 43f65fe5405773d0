// SPDX-License-Identifier: MIT
// The check that all PEs of a team call a collective with the same number of words, as the ranks of an MPI
// communicator must. The machine has no such check: words that are left over become the first ones of the
// next call, and a PE that waits for missing words waits for ever. Here a probe of the fabric keeps a list of
// the sizes for each team, and the first call that contradicts it is a fault: faults::the_sizes_differ.
//
// The k-th call of a PE is compared with the k-th call of the first PE of its team that made one. A list has
// few entries, one for each change of the size, and keeps the last eight; a PE that is more changes behind is
// not compared. With several processes (wsl::mpi) each compares the PEs that it runs.
#pragma once
#include <atomic>

#include "line.hpp"

namespace wsl::collective {

/// The sizes of the calls that a team has made of one collective, in their order.
class team_sizes {
 public:
  struct size {
    u32 words;
    coord of;  ///< the first PE that called with it
  };

  /// Call `number` (counted from 1) of a PE; returns what the first such call of the team has said.
  size agreed(u32 number, size mine) {
    if (number > last_.load(std::memory_order_acquire)) {
      while (busy_.test_and_set(std::memory_order_acquire)) {}
      const bool first = number > last_.load(std::memory_order_relaxed);
      if (first) append(number, mine);
      busy_.clear(std::memory_order_release);
      if (first) return mine;
    }
    return look_up(number, mine);
  }

 private:
  static constexpr u32 kept = 8;
  struct change {
    std::atomic<u64> from_and_words = 0;
    std::atomic<u32> of = 0;
  };

  static u64 entry(u32 from, u32 words) { return u64{from} << 32 | words; }
  // Only the PE that is ahead of all others appends.
  void append(u32 number, size mine) {
    const u32 n = changes_.load(std::memory_order_relaxed);
    if (n == 0 || static_cast<u32>(list_[(n - 1) % kept].from_and_words.load()) != mine.words) {
      change& next = list_[n % kept];
      next.of.store(static_cast<u32>(mine.of.y) << 16 | static_cast<u32>(mine.of.x));
      next.from_and_words.store(entry(number, mine.words));
      changes_.store(n + 1, std::memory_order_release);
    }
    last_.store(number, std::memory_order_release);
  }
  size look_up(u32 number, size mine) const {
    const u32 n = changes_.load(std::memory_order_acquire);
    for (u32 back = 1; back <= n && back <= kept; ++back) {
      const change& c = list_[(n - back) % kept];
      const u64 found = c.from_and_words.load();
      if (static_cast<u32>(found >> 32) > number) continue;
      const u32 of = c.of.load();
      return {static_cast<u32>(found), {static_cast<int>(of & 0xffff), static_cast<int>(of >> 16)}};
    }
    return mine;  // too long ago
  }

  std::atomic<u32> last_ = 0, changes_ = 0;
  std::atomic_flag busy_;
  change list_[kept];
};

/// The lists of all collectives of a fabric, made when they are first called: a probe.
class team_calls {
 public:
  team_calls() = default;
  team_calls(const team_calls&) = delete;
  team_calls& operator=(const team_calls&) = delete;
  ~team_calls() {
    for (auto& first : sheets_)
      for (sheet* s = first.load(); s;) delete std::exchange(s, s->next);
  }

  /// A call with so many words by the PE `at` of a collective, on the rectangle `where` among whose `teams`
  /// its team has number `team`. `key` tells collectives apart whose first colors are the same.
  team_sizes::size agreed(const void* key, int color, const region& where, int teams, int team, coord at,
                          u32 words) {
    sheet& s = sheet_of(key, color, where, teams);
    u32& calls = s.calls[static_cast<std::size_t>(where.rank(at))];
    return s.teams[static_cast<std::size_t>(team)].agreed(++calls, {words, at});
  }

 private:
  // Of one collective.
  struct sheet {
    const void* key;
    sheet* next;
    support::flat_vector<u32> calls;  // that each PE has made; only its own tasks count them
    support::flat_vector<team_sizes> teams;
  };

  sheet& sheet_of(const void* key, int color, const region& where, int teams) {
    std::atomic<sheet*>& first = sheets_[color];
    for (sheet* s = first.load(std::memory_order_acquire); s; s = s->next)
      if (s->key == key) [[likely]]
        return *s;
    while (making_.test_and_set(std::memory_order_acquire)) {}
    sheet* s = first.load();
    while (s && s->key != key) s = s->next;
    if (!s) {
      s = new sheet{key, first.load(), support::flat_vector<u32>(static_cast<std::size_t>(where.count())),
                    support::flat_vector<team_sizes>(static_cast<std::size_t>(teams))};
      first.store(s, std::memory_order_release);
    }
    making_.clear(std::memory_order_release);
    return *s;
  }

  std::atomic<sheet*> sheets_[detail::max_colors] = {};
  std::atomic_flag making_;
};

template <auto net, team among>
inline constexpr char team_key = 0;

/// Records this PE's call with `words` words; returns what its team has agreed on.
template <auto net, team among = net.among>
team_sizes::size agreed_in_team(const pe& me, const region& r, u32 words) {
  const coord at = me.at() - corner(r);
  const int teams = among == team::row      ? r.rows()
                    : among == team::column ? r.columns()
                                            : 1,
            own = among == team::row      ? at.y
                  : among == team::column ? at.x
                                          : 0;
  return me.probe<team_calls>().agreed(&team_key<net, among>, net.first, r, teams, own, me.at(), words);
}
/// Throws fault if another PE of the row, of the column, or of the rectangle has made the same call with
/// another number of words. Each collective asks it when it is called.
template <auto net>
void must_agree_in_team(const pe& me, const region& r, int words) {
  const team_sizes::size agreed = agreed_in_team<net>(me, r, static_cast<u32>(words));
  if (agreed.words != static_cast<u32>(words)) [[unlikely]]
    faults::the_sizes_differ(net.name, me.at(), words, agreed.of, static_cast<int>(agreed.words));
}

}  // namespace wsl::collective
