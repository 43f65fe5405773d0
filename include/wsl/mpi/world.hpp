// SPDX-License-Identifier: MIT
// The processes that mpirun or srun has started, one rank each. All of them run the same program; a fabric
// that is given `mpi::world()` spreads its PEs over them and computes, bit by bit, what one process would:
//   fabric f{plan, mpi::world()};
//   ...
//   if (mpi::world().root()) fmt::print(...);
// See examples/96_ranks.cpp.
#pragma once
#include <mpi.h>

#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../engine/threaded.hpp"
#include "../engine/threaded/engine.hpp"
#include "../support/fingerprint.hpp"
#include "session.hpp"

namespace wsl::mpi {

namespace detail {

/// "number of steps than rank 0: 100 instead of 10", from the first lines that differ; `what` takes the place
/// of the name where only one of them has such a line.
inline std::string difference(const std::string& what, std::string_view theirs, const std::string& root,
                              std::string_view roots) {
  const auto line_of = [](std::string_view& all) {
    const std::string_view line = all.substr(0, all.find('\n'));
    all.remove_prefix(support::min(line.size() + 1, all.size()));
    return line;
  };
  std::string_view one, two;
  while (one == two && !(theirs.empty() && roots.empty())) one = line_of(theirs), two = line_of(roots);
  const std::size_t end = support::min(one.find('\t'), one.size());
  const std::string_view name = one.substr(0, end);
  if (one == two || name != two.substr(0, end) || one.size() <= end || two.size() <= end)
    return what + " than " + root;
  std::string text(name);
  text += " than " + root + ": ", text += one.substr(end + 1), text += " instead of ",
      text += two.substr(end + 1);
  return text;
}

}  // namespace detail

/// A group of ranks. All of them must call the functions marked "collective", in the same order.
class ranks {
 public:
  /// Some of them may have memory in common.
  explicit ranks(MPI_Comm group, shared_memory* memory = nullptr) : group_(group), memory_(memory) {
    MPI_Comm_rank(group, &rank_);
    MPI_Comm_size(group, &size_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether this rank is the one that prints and writes files.
  bool root() const { return rank_ == 0; }
  MPI_Comm group() const { return group_; }
  shared_memory* memory() const { return memory_; }

  /// The largest of all ranks' numbers; collective.
  u64 largest(u64 mine) const { return reduced(mine, MPI_MAX); }
  /// The sum of all ranks' numbers; collective.
  u64 sum(u64 mine) const { return reduced(mine, MPI_SUM); }
  /// The same of several numbers at once, each with those of its place; collective.
  template <std::size_t n>
  std::array<u64, n> largest(std::array<u64, n> mine) const {
    reduce(mine, MPI_MAX);
    return mine;
  }
  /// Throws fault on all ranks, naming the first one whose number differs from that of rank 0; collective.
  /// `what` names the quantity in the message, for instance "program". Where `lines()`, of which each has a
  /// name, a tab and a value, says of what it was made, the message has the first one that differs.
  void require_same(u64 number, const std::string& what,
                    const std::function<std::string()>& lines = {}) const {
    u64 roots = number;
    broadcast(roots, 0);
    // Counted from the end, so that the largest is the first rank that differs.
    const u64 differs = largest(roots == number ? 0 : static_cast<u64>(size() - rank()));
    if (!differs) return;
    const int other = size() - static_cast<int>(differs);
    // Ranks that compare different things say so, too: all take part, those without lines as well.
    const std::string mine = lines ? lines() : std::string(), of_root = broadcast(mine, 0),
                      of_other = broadcast(mine, other);
    throw fault("wsl: " + name_of(other) + " has another " +
                detail::difference(what, of_other, name_of(0), of_root) +
                "; start the same program with the same arguments everywhere");
  }
  /// The name of a rank of this group in messages, by its number among all: "rank 3 (input)".
  std::string name_of(int rank) const {
    MPI_Group of_all, of_these;
    MPI_Comm_group(MPI_COMM_WORLD, &of_all), MPI_Comm_group(group_, &of_these);
    int number = rank;
    MPI_Group_translate_ranks(of_these, 1, &rank, of_all, &number);
    MPI_Group_free(&of_all), MPI_Group_free(&of_these);
    return detail::names_of_ranks[number];
  }
  /// Whether this rank should print the error with which it ends: no earlier rank has announced the same
  /// sentence within a second, so a sentence with which all ranks end is printed once. Each rank calls this
  /// at most once; ranks that go on are ended soon.
  bool first_to_say(const std::string& sentence) const {
    constexpr int tag = 0;
    support::fingerprint f;
    f.add(sentence.data(), sentence.size());
    const u64 mine = f.value();
    detail::has_failed = true;
    for (int to = rank_ + 1; to < size_; ++to) MPI_Send(&mine, 1, MPI_UINT64_T, to, tag, group_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (int heard = 0; heard < rank_ && std::chrono::steady_clock::now() < end;) {
      int has_come = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, group_, &has_come, MPI_STATUS_IGNORE);
      if (!has_come) continue;
      u64 theirs = 0;
      MPI_Recv(&theirs, 1, MPI_UINT64_T, MPI_ANY_SOURCE, tag, group_, MPI_STATUS_IGNORE);
      if (theirs == mine) return false;
      ++heard;
    }
    return true;
  }
  /// Sends the bytes of the rank `from` to all others; collective.
  void broadcast(std::span<std::byte> bytes, int from) const {
    detail::waiting others;
    for (std::size_t done = 0; done < bytes.size(); done += most_at_once) {
      const int size = static_cast<int>(support::min(bytes.size() - done, most_at_once));
      if (!detail::crowded_somewhere) {
        MPI_Bcast(bytes.data() + done, size, MPI_BYTE, from, group_);
        continue;
      }
      MPI_Request r;
      MPI_Ibcast(bytes.data() + done, size, MPI_BYTE, from, group_, &r);
      while (!detail::done(r)) others.pause();
    }
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void broadcast(T& value, int from) const {
    broadcast(std::as_writable_bytes(std::span(&value, 1)), from);
  }
  std::string broadcast(std::string text, int from) const {
    std::size_t size = text.size();
    broadcast(size, from);
    text.resize(size);
    broadcast(std::as_writable_bytes(std::span(text)), from);
    return text;
  }

 private:
  static constexpr std::size_t most_at_once = std::size_t{1} << 30;  // the counts of MPI are ints

  u64 reduced(u64 mine, MPI_Op how) const {
    reduce({&mine, 1}, how);
    return mine;
  }
  void reduce(std::span<u64> numbers, MPI_Op how) const {
    detail::waiting others;
    const int n = static_cast<int>(numbers.size());
    if (!detail::crowded_somewhere) {
      MPI_Allreduce(MPI_IN_PLACE, numbers.data(), n, MPI_UINT64_T, how, group_);
      return;
    }
    MPI_Request r;
    MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), n, MPI_UINT64_T, how, group_, &r);
    while (!detail::done(r)) others.pause();
  }

  MPI_Comm group_;
  shared_memory* memory_;
  int rank_ = 0, size_ = 1;
};

/// An area of a grid, and the rank that runs its PEs.
struct placed_area {
  area where = all;
  int rank = 0;
};

/// Selects an engine whose PEs are spread over ranks.
struct spread_over {
  ranks who;
  threaded how = {};  ///< the engine of each rank; all settings but `threads` must be equal on all ranks
  std::vector<placed_area> places = {};  ///< empty: each rank runs about as many partitions

  int rank() const { return who.rank(); }
  int size() const { return who.size(); }
  bool root() const { return who.root(); }
  /// As that of its ranks.
  void require_same(u64 number, const std::string& what,
                    const std::function<std::string()>& lines = {}) const {
    who.require_same(number, what, lines);
  }
  /// Whether this computer has fewer cores than its ranks have threads, if each has so many.
  static bool crowded(int threads) { return detail::crowded(threads); }

  /// With other settings: `mpi::world().with({.threads = 2})`.
  spread_over with(const threaded& settings) const { return {who, settings, places}; }
  /// With areas placed on ranks: `mpi::world().place({{all, 0}, {rows(1, edge, 2), 1}})`. Of several areas
  /// that have a PE the last one counts. A partition that would lie on several ranks is cut, so each rank
  /// runs whole partitions, and the results are those of any other placement. A fabric throws fault for a
  /// rank that there is not, and for a PE that is on none.
  spread_over place(std::vector<placed_area> areas) const { return {who, how, std::move(areas)}; }
  /// Groups of ranks: those that give the same color, in the order of their keys; they have what
  /// `mpi::world()` has, without the others. Collective.
  inline spread_over split(int color, int key = 0) const;

  /// The caller owns the engine. Collective.
  inline engine* make(const layout& plan) const;
};

/// Whether mpirun, srun or another launcher of MPI programs has started this process. A process that was
/// started directly needs no MPI.
inline bool launched() { return engines::started_by_launcher(); }

namespace detail {

inline session& session_of_world() {
  static session all;
  return all;
}

}  // namespace detail

/// All ranks of this mpirun; one, if the program was started without it.
inline spread_over world() {
  detail::session& all = detail::session_of_world();
  return {ranks(all.group(), &all.memory())};
}

inline spread_over spread_over::split(int color, int key) const {
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(who.group(), color, key, &group);
  return {ranks(group, who.memory() ? &detail::session_of_world().memory_of(group) : nullptr), how};
}

/// Gives the ranks of world() names for messages, such as what each is for: "rank 3 (input)".
inline void name_ranks(std::vector<std::string> names) { detail::names_of_ranks.set(std::move(names)); }

}  // namespace wsl::mpi
