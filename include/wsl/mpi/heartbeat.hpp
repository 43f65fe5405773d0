// SPDX-License-Identifier: MIT
// The heartbeat detects dead ranks. Each rank sends the next one a beat several times a second, from a thread
// of its own, and the last rank sends to the first. If a rank has been silent for some seconds, it has died
// with its computer, or is stopped, and the rank that listens to it ends all. On the same computer it also
// looks whether the process is still there, and says so at once if it is not. A rank that computes for ever
// still beats; so a rank can also be given a limit of seconds between two exchanges with the others, which it
// checks itself.
//   WSL_RANK_SILENCE  the number of seconds without a beat after which a rank counts as dead, and for which a
//                     rank that has ended waits for the others; 8 if not set, 0: no limit
//   WSL_RANK_LIMIT    the largest number of seconds from one exchange to the next; not set, or 0: no limit
#pragma once
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../core/fault.hpp"
#include "../core/scalar.hpp"

namespace wsl::mpi::detail {

/// The number of exchanges of this rank with others, and whether it waits for them now.
inline std::atomic<u64> exchanges{0};
inline std::atomic<bool> waits{false};
/// Bytes received from other ranks, and how many of them arrived in supersteps during which a PE of this rank
/// computed.
inline std::atomic<u64> arrived{0}, arrived_beside{0};
/// Whether this rank has announced its failure. The others then have a second to end too.
inline bool has_failed = false;
/// The number of ranks on this computer, and of the cores that any of them may use.
inline int ranks_here = 1, cores_here = 1;
/// Whether the ranks of this computer have more threads than cores, if each has `threads`.
inline bool crowded(int threads = 1) { return ranks_here * threads > cores_here; }
/// Whether any rank is on such a computer, with one thread each. All ranks know the same: a collective call
/// that blocks on one rank must block on all.
inline bool crowded_somewhere = false;

/// The names of ranks in messages, which several threads write.
class rank_names {
 public:
  void set(std::vector<std::string> names) {
    const std::scoped_lock alone(mutex_);
    names_ = std::move(names);
  }
  std::string operator[](int rank) {
    const std::scoped_lock alone(mutex_);
    const std::string name =
        static_cast<std::size_t>(rank) < names_.size() ? names_[static_cast<std::size_t>(rank)] : "";
    return "rank " + std::to_string(rank) + (name.empty() ? "" : " (" + name + ")");
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};
inline rank_names names_of_ranks;

/// Marks that this rank waits for others, and so does not exceed its limit.
class waiting {
 public:
  waiting() : waiting(crowded(), 100) {}
  /// `looks` is the number of polls before it sleeps between them.
  waiting(bool leaves_core, int looks) : leaves_core_(leaves_core), looks_(looks) { waits = true; }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;
  ~waiting() { waits = false, ++exchanges; }

  /// Called between two polls. If ranks share a core, this leaves it to those that compute.
  void pause() {
    if (!leaves_core_) return;
    if (looks_ > 0) {
      --looks_;
      sched_yield();
      return;
    }
    const timespec nap{0, 20'000};
    nanosleep(&nap, nullptr);
  }

 private:
  const bool leaves_core_;
  int looks_;  ///< polls left before it sleeps
};

/// Seconds from an environment variable, `otherwise` if it is not set. Throws fault if they are not a number.
inline f64 seconds_of(const char* name, f64 otherwise) {
  const char* given = std::getenv(name);
  if (!given || !*given) return otherwise;
  char* rest = nullptr;
  const f64 seconds = std::strtod(given, &rest);
  if (*rest || !(seconds >= 0))
    throw fault(std::string("wsl: ") + name + " is \"" + given +
                "\"; it must be a number of seconds, or 0 for any");
  return seconds;
}

inline f64 silence() { return seconds_of("WSL_RANK_SILENCE", 8); }

inline bool done(MPI_Request& r) {
  int yes = 0;
  MPI_Test(&r, &yes, MPI_STATUS_IGNORE);
  return yes;
}

class heartbeat {
 public:
  /// Collective. MPI must support calls from several threads; otherwise there is no heartbeat.
  explicit heartbeat(MPI_Comm all) {
    int threads = 0;
    MPI_Query_thread(&threads);
    MPI_Comm_rank(all, &rank_);
    MPI_Comm_size(all, &size_);
    if (size_ == 1 || threads < MPI_THREAD_MULTIPLE) return;
    MPI_Comm_dup(all, &group_);
    find_process();
    thread_ = std::thread([this] { beat(); });
  }
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;
  ~heartbeat() { stop(); }

  /// Says that all ranks have come to their end: a process that is no longer there has not died.
  void others_may_end() { others_may_end_ = true; }
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::scoped_lock alone(mutex_);
      stopped_ = true;
    }
    woken_.notify_one();
    thread_.join();
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{250};

  int before() const { return (rank_ + size_ - 1) % size_; }
  /// The process of the rank that this one listens to, if it is seen from here.
  void find_process() {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(group_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int first_here = rank_;
    MPI_Allreduce(MPI_IN_PLACE, &first_here, 1, MPI_INT, MPI_MIN, here);
    MPI_Comm_free(&here);
    const int mine[] = {static_cast<int>(getpid()), first_here};
    std::vector<int> all(2 * static_cast<std::size_t>(size_));
    MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, group_);
    const int* const theirs = all.data() + 2 * before();
    if (theirs[1] == first_here && kill(theirs[0], 0) == 0) process_ = theirs[0];
  }
  bool is_gone() const { return process_ && !others_may_end_ && kill(process_, 0) != 0 && errno == ESRCH; }

  void beat() {
    char in = 0;
    const char out = 0;
    const int from = before(), to = (rank_ + 1) % size_;
    MPI_Request coming, going = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_BYTE, from, 0, group_, &coming);
    clock::time_point heard = clock::now(), moved = heard, awake = heard;
    u64 seen = 0;
    while (!stops_within(interval)) {
      // this rank itself was stopped, perhaps with all others
      if (since(awake) > 8 * std::chrono::duration<f64>(interval).count()) heard = moved = clock::now();
      awake = clock::now();
      if (done(going)) MPI_Isend(&out, 1, MPI_BYTE, to, 0, group_, &going);
      while (done(coming)) {
        heard = clock::now();
        MPI_Irecv(&in, 1, MPI_BYTE, from, 0, group_, &coming);
      }
      if (waits || seen != exchanges) moved = clock::now(), seen = exchanges;
      if (is_gone()) end_all("%s was killed, or has crashed", from, 0);
      if (silence_ > 0 && since(heard) > silence_)
        end_all("%s has not been heard of for %.0f s: it has died, or is stopped", from, silence_);
      if (limit_ > 0 && since(moved) > limit_)
        end_all("%s has kept the others waiting for %.0f s, the limit that WSL_RANK_LIMIT sets", rank_,
                limit_);
    }
    MPI_Cancel(&coming);
    MPI_Wait(&coming, MPI_STATUS_IGNORE);
    MPI_Wait(&going, MPI_STATUS_IGNORE);
  }
  bool stops_within(clock::duration time) {
    std::unique_lock alone(mutex_);
    return woken_.wait_for(alone, time, [this] { return stopped_; });
  }
  static f64 since(clock::time_point t) { return std::chrono::duration<f64>(clock::now() - t).count(); }
  void end_all(const char* what, int who, f64 seconds) const {
    char sentence[256];
    std::snprintf(sentence, sizeof sentence, what, names_of_ranks[who].c_str(), seconds);
    std::fprintf(stderr, "wsl: %s; %s ends the run\n", sentence, names_of_ranks[rank_].c_str());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }

  const f64 silence_ = silence(), limit_ = seconds_of("WSL_RANK_LIMIT", 0);
  MPI_Comm group_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  pid_t process_ = 0;  ///< 0: it is on another computer
  std::atomic<bool> others_may_end_{false};
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::thread thread_;
};

}  // namespace wsl::mpi::detail
