// SPDX-License-Identifier: MIT
// The manager of a cluster: it takes jobs, starts them when it is their turn, watches over them, and starts
// those again whose processes die. All that it knows is in its store and in the folders of the jobs; one that
// is killed and started again finds its jobs as if it had been there all the time.
#pragma once
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <wsl/support/folder_lock.hpp>

#include "attempt.hpp"
#include "cluster_file.hpp"
#include "process.hpp"
#include "store.hpp"

namespace cluster {

/// What nobody knows by this name.
class not_there : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct node_use {
  std::array<int, 4> slots{};
  int millicores = 0;
  i64 memory = 0;
  std::vector<i64> jobs;
};

class manager {
 public:
  /// `state` is a folder for this manager alone. Throws file_error if another process works in it, and
  /// store_error.
  manager(cluster_file c, const std::filesystem::path& state);
  ~manager();

  /// Begins to start jobs and to watch over those that run.
  void begin_work();

  const cluster_file& cluster() const { return cluster_; }

  // From any thread; they throw store_error, `refused`, and not_there for a job that there is not.

  /// Checks a job and puts it into the queue; the same request twice is one job.
  job submit(const job& asked);
  std::vector<job> jobs(bool also_ended);
  job find(i64 id);
  std::vector<event> events(i64 id);
  /// Ends a job; one that has ended stays as it is. `by` is who asks for it, or empty.
  job cancel(i64 id, const std::string& by);
  job set_priority(i64 id, int priority);
  job set_labels(i64 id, const std::map<std::string, std::string>& set,
                 const std::vector<std::string>& remove);
  std::vector<node_use> use_of_nodes();

 private:
  void work(std::stop_token stop);
  void round();
  void look_at(job& j);
  void tell_trouble(const job& j, const std::string& why);
  void start_those_in_turn();
  void begin(const job& j);
  void go_on_or_end(job& j, int status, i64 time);
  void tell_to_stop(const job& j, const process_identity& leader);
  void kill(const job& j, const std::vector<process_entry>& rest);
  void end_in_slurm(const job& j);
  void forget_start(const job& j);
  void say_in_log(const job& j, const std::string& why);
  void end(job& j, phase p, i64 time, const std::string& why);
  void add_event(const job& j, const std::string& text);
  void fail_what_fits_no_more();
  job find_locked(i64 id);

  struct watched {
    int attempt = 0;
    pid_t child = 0;        ///< the wsl-job that this manager has started; 0 if another one has
    bool is_known = false;  ///< whether this manager has started it, or has found it running
    bool is_told = false, is_killed = false;
    i64 begins = 0;            ///< when it may be started, in milliseconds since 1970
    i64 told = 0;              ///< when its processes on other computers were told to stop
    pid_t scancel = 0;         ///< what ends it in Slurm's queue; 0 if nothing does yet
    std::string trouble = {};  ///< why it could not be looked at the last time
  };

  cluster_file cluster_;
  wsl::support::folder_lock alone_, alone_in_folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool queue_changed_ = true;
  store store_;
  std::map<i64, watched> watched_;
  std::vector<pid_t> ending_;  ///< children whose jobs have ended
  std::string last_trouble_;
  std::jthread thread_;
};

i64 now_ms();

}  // namespace cluster
