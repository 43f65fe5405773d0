// SPDX-License-Identifier: MIT
#include "manager.hpp"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <wsl/support/text.hpp>

#include "../files.hpp"
#include "launch.hpp"
#include "run_folder.hpp"
#include "submission.hpp"

namespace cluster {
namespace {

using wsl::support::counted;

std::vector<std::string> names_of(const cluster_file& c) {
  std::vector<std::string> names;
  for (const node& n : c.nodes) names.push_back(n.name);
  return names;
}

std::filesystem::path usable(const std::filesystem::path& state) {
  const bool is_new = !std::filesystem::exists(state);
  app::make_folder(state);
  if (is_new) std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  return state;
}

std::filesystem::path jobs_of(const cluster_file& c) {
  const std::filesystem::path jobs = c.folder / "jobs";
  app::make_folder(jobs);
  return jobs;
}
/// The largest number of a job whose folder is there, perhaps one of which the state knows nothing.
i64 last_folder_in(const std::filesystem::path& jobs) {
  i64 last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(jobs))
    if (const auto id = id_of_job(entry.path().filename().string())) last = std::max(last, *id);
  return last;
}

/// "a (memoryx, 2 wafers), b (1 wafer)"
std::string text_of(const cluster_file& c, const std::vector<placed_rank>& ranks) {
  std::string all;
  for (std::size_t k = 0; k < c.nodes.size(); ++k) {
    std::string parts;
    int wafers = 0;
    for (const placed_rank& r : ranks) {
      if (r.node != static_cast<int>(k)) continue;
      if (r.what == role::wafer) ++wafers;
      else parts += (parts.empty() ? "" : ", ") + std::string(name_of(r.what));
    }
    if (wafers > 0) parts += (parts.empty() ? "" : ", ") + counted(wafers, "wafer");
    if (!parts.empty()) all += (all.empty() ? "" : ", ") + c.nodes[k].name + " (" + parts + ")";
  }
  return all;
}

std::string steps_of(i64 checkpoint) {
  return checkpoint < 0 ? "from the beginning" : "from checkpoint_" + std::to_string(checkpoint);
}

/// How the cluster file calls a host of a job: "node a (a.example.org)". mpirun may leave the domain out.
std::string name_of_host(const cluster_file& c, const job& j, const std::string& host) {
  for (const placed_rank& r : j.ranks)
    if (r.node >= 0)
      if (const node& n = c.nodes[static_cast<std::size_t>(r.node)];
          n.host == host || n.host.starts_with(host + "."))
        return "node " + n.name + (n.name == n.host ? "" : " (" + n.host + ")");
  return "host " + host;
}

/// Whether the run has saved a checkpoint since the job began.
bool has_saved(const cluster_file& c, const job& j) {
  const i64 step = last_checkpoint(c.folder / j.model_dir);
  if (j.model_dir.empty() || step < 0) return false;
  std::error_code none;
  const auto time = std::filesystem::last_write_time(
      c.folder / j.model_dir / ("checkpoint_" + std::to_string(step) + ".safetensors"), none);
  if (none) return false;
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count() >= j.started;
}

}  // namespace

i64 now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

manager::manager(cluster_file c, const std::filesystem::path& state)
    : cluster_(std::move(c)),
      alone_(usable(state).string(), "another wsl-clusterd works in " + state.string() +
                                         ": stop that one first, or give another --state"),
      alone_in_folder_(jobs_of(cluster_).string(),
                       "another wsl-clusterd, with another --state, has its jobs in " +
                           jobs_of(cluster_).string() +
                           ": stop that one first, or give this one another folder in its cluster file"),
      store_(state, names_of(cluster_)) {
  // Where a state was lost, new jobs must not be taken for those whose folders are left.
  store_.number_jobs_after(last_folder_in(jobs_of(cluster_)));
  fail_what_fits_no_more();
}

void manager::begin_work() {
  thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

manager::~manager() {
  thread_.request_stop();
  changed_.notify_all();
}

void manager::add_event(const job& j, const std::string& text) { store_.add_event(j.id, {now_ms(), text}); }

// ---- what users ask for

job manager::submit(const job& asked) {
  {
    const std::lock_guard lock(mutex_);
    if (auto there = store_.find_request(asked.request)) return *there;
  }
  job j = checked(cluster_, asked);
  const std::lock_guard lock(mutex_);
  store_.transaction([&] {
    if (auto there = store_.find_request(asked.request)) return void(j = *there);
    j.submitted = now_ms();
    j = store_.add(j);
    give_folder(cluster_, j);
    store_.update(j);
    add_event(j, "submitted by " + j.user);
  });
  queue_changed_ = true;
  changed_.notify_all();
  return j;
}

std::vector<job> manager::jobs(bool also_ended) {
  const std::lock_guard lock(mutex_);
  if (also_ended) return store_.all();
  std::vector<job> all = store_.in_phase(phase::running), waiting = store_.in_phase(phase::queued);
  all.insert(all.end(), waiting.begin(), waiting.end());
  std::sort(all.begin(), all.end(), [](const job& a, const job& b) { return a.id < b.id; });
  return all;
}

job manager::find_locked(i64 id) {
  auto j = store_.find(id);
  if (!j) throw not_there("there is no job " + name_of_job(id) + "; `wsl-ctl get jobs -a` lists all");
  return *j;
}

job manager::find(i64 id) {
  const std::lock_guard lock(mutex_);
  return find_locked(id);
}

std::vector<event> manager::events(i64 id) {
  const std::lock_guard lock(mutex_);
  return store_.events_of(id);
}

job manager::cancel(i64 id, const std::string& by) {
  if (!by.empty()) require_user(by);
  const std::string cancelled = by.empty() ? "cancelled" : "cancelled by " + by;
  const std::lock_guard lock(mutex_);
  job j = find_locked(id);
  if (is_over(j.phase)) return j;
  if (j.phase == phase::queued) {
    end(j, phase::cancelled, now_ms(), cancelled + " before it began");
  } else if (j.stop_asked == 0) {
    j.stop_asked = now_ms();
    store_.transaction([&] {
      store_.update(j);
      store_.add_event(j.id,
                       {j.stop_asked, cancelled + ": its processes have " + std::to_string(cluster_.grace_s) +
                                          " s to save a checkpoint"});
    });
  }
  changed_.notify_all();
  return j;
}

job manager::set_priority(i64 id, int priority) {
  require_priority(priority);
  const std::lock_guard lock(mutex_);
  job j = find_locked(id);
  if (is_over(j.phase)) throw refused(name_of_job(id) + " has ended: its priority means nothing any more");
  j.priority = priority;
  store_.transaction([&] {
    store_.update(j);
    add_event(j, "priority " + std::to_string(priority));
  });
  queue_changed_ = true;
  changed_.notify_all();
  return j;
}

job manager::set_labels(i64 id, const std::map<std::string, std::string>& set,
                        const std::vector<std::string>& remove) {
  const std::lock_guard lock(mutex_);
  job j = find_locked(id);
  for (const auto& [key, value] : set) j.labels[key] = value;
  for (const std::string& key : remove) j.labels.erase(key);
  require_labels(j.labels);
  store_.update(j);
  return j;
}

std::vector<node_use> manager::use_of_nodes() {
  const std::lock_guard lock(mutex_);
  std::vector<node_use> all(cluster_.nodes.size());
  for (const job& j : store_.in_phase(phase::running))
    for (const placed_rank& r : j.ranks) {
      if (r.node < 0) continue;
      node_use& n = all[static_cast<std::size_t>(r.node)];
      ++n.slots[static_cast<std::size_t>(r.what)];
      n.millicores += r.millicores, n.memory += r.memory;
      if (n.jobs.empty() || n.jobs.back() != j.id) n.jobs.push_back(j.id);
    }
  return all;
}

// ---- what goes on by itself

void manager::work(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    try {
      round();
      last_trouble_.clear();
    } catch (const std::exception& e) {
      // A disk that is full, for instance: what could not be done now is done when there is room.
      queue_changed_ = true;
      if (last_trouble_ != e.what()) std::fprintf(stderr, "wsl-clusterd: %s; it is tried again\n", e.what());
      last_trouble_ = e.what();
    }
    changed_.wait_for(lock, std::chrono::milliseconds(watched_.empty() ? 1000 : 100));
  }
}

void manager::round() {
  std::erase_if(ending_, [](pid_t child) { return has_ended(child); });
  std::exception_ptr trouble;
  for (job& j : store_.in_phase(phase::running)) try {
      look_at(j);
    } catch (const std::exception& e) {
      trouble = std::current_exception();
      tell_trouble(j, e.what());
    }
  if (std::exchange(queue_changed_, false)) start_those_in_turn();
  if (trouble) std::rethrow_exception(trouble);
}

/// Whose job does not go on, because a disk is full for instance, reads why, once.
void manager::tell_trouble(const job& j, const std::string& why) {
  std::string& told = watched_[j.id].trouble;
  if (told == why) return;
  try {
    add_event(j, why + "; it is tried again");
    told = why;
  } catch (const store_error&) {}  // the state itself cannot be written: that is said where the manager runs
}

void manager::start_those_in_turn() {
  queue_state s;
  s.nodes = cluster_.capacities(), s.roles = cluster_.roles, s.last_turn = store_.last_turns();
  for (const auto& [user, turn] : s.last_turn) s.turns = std::max(s.turns, turn);
  for (const job& j : store_.in_phase(phase::running)) s.running.push_back(j.ranks);
  std::vector<job> waiting = store_.in_phase(phase::queued);
  for (const job& j : waiting) s.waiting.push_back({j.id, j.user, j.priority, j.asks});
  i64 turn = s.turns;
  for (decision& d : decide(std::move(s))) {
    job& j = *std::find_if(waiting.begin(), waiting.end(), [&](const job& x) { return x.id == d.id; });
    j.phase = phase::running, j.ranks = std::move(d.ranks), j.started = now_ms(), j.turn = ++turn,
    ++j.attempt;
    if (!j.model_dir.empty()) j.checkpoint = last_checkpoint(cluster_.folder / j.model_dir);
    store_.transaction([&] {
      store_.update(j);
      add_event(j, "starts on " + text_of(cluster_, j.ranks));
    });
    begin(j);
  }
}

/// Starts the process that watches over an attempt. If it was started before, the new one does nothing.
void manager::begin(const job& j) {
  watched& w = watched_[j.id];
  w = {.attempt = j.attempt, .trouble = std::move(w.trouble)};
  const std::filesystem::path folder = folder_of(cluster_, j.id);
  const attempt_files files(folder, j.attempt);
  app::make_folder(folder);
  if (!std::filesystem::exists(files.command)) {
    if (j.params) app::write_file(folder / "params.yaml", *j.params);
    if (cluster_.launcher == launcher::slurm) app::write_file(folder / "hosts", hosts_of(cluster_, j));
    start_command command = command_of(cluster_, j, j.attempt > 1 && has_saved(cluster_, j));
    std::error_code none;
    const auto size = std::filesystem::file_size(folder / "log", none);
    command.log_from = none ? 0 : static_cast<i64>(size);
    app::write_file(files.command, nlohmann::json(command).dump(1));
  }
  w.child =
      cluster::start({beside_this_program("wsl-job").string(), folder.string(), std::to_string(j.attempt)});
  w.is_known = true;
}

void manager::look_at(job& j) {
  watched& w = watched_[j.id];
  if (w.attempt != j.attempt) w = {.attempt = j.attempt};
  const attempt_files files(folder_of(cluster_, j.id), j.attempt);
  if (const auto e = ended_in(files)) return go_on_or_end(j, e->status, e->time);
  const auto leader = started_in(files);
  if (!leader) {
    // Without its command nothing has been started, and nothing can be.
    if (j.stop_asked > 0 && w.child == 0 && !std::filesystem::exists(files.command))
      return end(j, phase::cancelled, now_ms(), "cancelled before it could be started");
    if (w.begins > 0 && j.stop_asked > 0)
      return end(j, phase::cancelled, now_ms(), "cancelled before it was started again");
    if (w.child == 0) return now_ms() < w.begins ? void() : begin(j);
    if (!has_ended(w.child)) return;
    w.child = 0;
    if (started_in(files)) return;  // in between
    return end(j, phase::failed, now_ms(),
               "it could not be started: wsl-job ended in " + files.started.parent_path().string() +
                   " before it began; is the folder writable?");
  }
  if (is_alive(*leader)) {
    if (!std::exchange(w.is_known, true)) add_event(j, "a manager that was started anew watches over it");
    if (j.stop_asked == 0 && j.time_limit_s > 0 && now_ms() > j.started + 1000 * j.time_limit_s) {
      j.stop_asked = now_ms();
      store_.transaction([&] {
        store_.update(j);
        store_.add_event(j.id, {j.stop_asked, "its time, " + std::to_string(j.time_limit_s) + " s, is over"});
      });
    }
    if (j.stop_asked > 0) tell_to_stop(j, *leader);
    return;
  }
  if (const auto e = ended_in(files)) return go_on_or_end(j, e->status, e->time);  // in between
  // The process that watched over the job was killed, or this computer has been started anew. The rest must
  // not write beside the next start.
  if (const auto rest = rest_of_session(*leader); !rest.empty()) {
    for (const process_entry& p : rest) ::kill(p.pid, SIGKILL);
    return;
  }
  if (cluster_.launcher == launcher::slurm) {
    if (w.scancel == 0) return end_in_slurm(j);
    if (w.scancel > 0 && !has_ended(w.scancel)) return;
    w.scancel = -1;
  }
  go_on_or_end(j, 128 + SIGKILL, now_ms());
}

/// Ends what Slurm has of a job, tasks that run or its place in the queue.
void manager::end_in_slurm(const job& j) {
  watched_[j.id].scancel =
      cluster::start({"scancel", "--quiet", "--signal=KILL", "--name=" + name_in_slurm(cluster_, j.id)});
}

void manager::kill(const job& j, const std::vector<process_entry>& rest) {
  constexpr i64 ms_for_slurm = 10'000;
  const bool is_slurm = cluster_.launcher == launcher::slurm;
  if (is_slurm && watched_[j.id].scancel == 0) end_in_slurm(j);
  // An srun that is killed leaves its tasks to themselves.
  if (is_slurm && now_ms() < j.stop_asked + 1000 * cluster_.grace_s + ms_for_slurm) return;
  for (const process_entry& p : rest) ::kill(p.pid, SIGKILL);
}

void manager::tell_to_stop(const job& j, const process_identity& leader) {
  watched& w = watched_[j.id];
  const auto rest = rest_of_session(leader);
  if (now_ms() > j.stop_asked + 1000 * cluster_.grace_s) {
    if (!std::exchange(w.is_killed, true) && cluster_.grace_s > 0)
      add_event(j,
                "its processes have not ended in " + std::to_string(cluster_.grace_s) + " s, and are killed");
    return kill(j, rest);
  }
  // Before it becomes the program, the child of wsl-job would lose the signal.
  const bool begins =
      std::any_of(rest.begin(), rest.end(), [](const process_entry& p) { return p.name == "wsl-job"; });
  if (w.is_told || rest.empty() || begins) return;
  if (cluster_.launcher == launcher::slurm || runs_elsewhere(cluster_, j.ranks)) {
    // mpirun and srun pass this signal on to all processes, and SIGTERM to none. They pass it on to those
    // that there are, so that processes which have not begun by then are told later.
    constexpr i64 ms_between = 2000;
    if (now_ms() < w.told + ms_between) return;
    w.told = now_ms();
    for (const process_entry& p : rest)
      if (p.parent == leader.pid) ::kill(p.pid, SIGUSR1);
    return;
  }
  const bool has_others =
      std::any_of(rest.begin(), rest.end(), [](const process_entry& p) { return !is_launcher(p.name); });
  for (const process_entry& p : rest)
    if (!has_others || !is_launcher(p.name)) ::kill(p.pid, SIGTERM);
  w.is_told = true;
}

void manager::go_on_or_end(job& j, int status, i64 time) {
  j.exit_status = status;
  const std::filesystem::path folder = folder_of(cluster_, j.id);
  const auto command = json_in(attempt_files(folder, j.attempt).command);
  std::string log = end_of(folder / "log", 64 << 10);
  std::error_code none;
  if (const auto whole = std::filesystem::file_size(folder / "log", none); command && !none) {
    const i64 before = command->value("log_from", i64{0});
    const auto own = static_cast<std::size_t>(std::max<i64>(0, static_cast<i64>(whole) - before));
    if (own < log.size()) log.erase(0, log.size() - own);
  }
  const auto lost = lost_rank_in(log);
  // A launcher that is told to stop before it has started anything may end with status 0, and so may an srun
  // that could start nothing.
  const bool is_slurm = cluster_.launcher == launcher::slurm;
  const bool says_little = (j.stop_asked > 0 && (is_slurm || runs_elsewhere(cluster_, j.ranks))) ||
                           (is_slurm && lost && lost->how.starts_with("launch failed"));
  if (status == 0 && !says_little) return end(j, phase::succeeded, time, "ended with status 0");
  if (j.stop_asked > 0)
    return end(j, phase::cancelled, time, "stopped with status " + std::to_string(status));
  const auto host = lost_host_in(log);
  const bool lost_place = is_slurm && lost_place_in_slurm(log);
  if (status < 128 && !lost && !host && !lost_place)
    return end(j, phase::failed, time, "ended with status " + std::to_string(status) + ": " + last_line(log));
  std::string what = "died with status " + std::to_string(status);
  if (host) {
    what = name_of_host(cluster_, j, host->name) + " " + host->how;
  } else if (lost) {
    what = "rank " + std::to_string(lost->rank);
    if (const auto k = static_cast<std::size_t>(lost->rank); k < j.ranks.size()) {
      what += std::string(" (") + name_of(j.ranks[k].what);
      if (const int n = j.ranks[k].node; n >= 0)
        what += " on " + cluster_.nodes[static_cast<std::size_t>(n)].name;
      what += ")";
    }
    what += " " + lost->how;
  } else if (lost_place) {
    what = "Slurm ended its allocation before anything was started";
  } else if (status == 128 + SIGKILL) {
    what += runs_elsewhere(cluster_, j.ranks) || j.ranks.size() > 1
                ? " (killed: its mpirun, or the wsl-job that watched over it)"
                : " (killed: it, or the wsl-job that watched over it)";
  }
  const program* p = cluster_.program_named(j.program);
  if (!p || !is_training(*p, j.arguments)) return end(j, phase::failed, time, what);
  const i64 step = last_checkpoint(cluster_.folder / j.model_dir);
  j.restarts = step > j.checkpoint ? 1 : j.restarts + 1;
  j.checkpoint = step;
  if (j.restarts > cluster_.restarts)
    return end(j, phase::failed, time,
               what + "; it was started again " + counted(cluster_.restarts, "time") +
                   " and has saved no new checkpoint");
  forget_start(j);
  const bool has_nodes =
      std::all_of(j.ranks.begin(), j.ranks.end(), [](const placed_rank& r) { return r.node >= 0; });
  if (has_nodes) ++j.attempt;
  else j.phase = phase::queued;
  store_.transaction([&] {
    store_.update(j);
    add_event(j, what);
    if (!has_nodes) return add_event(j, "waits again, for its nodes are not in the cluster file any more");
    add_event(j, "start " + std::to_string(j.attempt) + ", " + steps_of(step));
  });
  if (!has_nodes) return void(queue_changed_ = true);
  // A computer that could not be reached, or was lost, is given time to come back.
  constexpr i64 ms_to_come_back = 10'000;
  if (!host) return begin(j);
  watched_[j.id] = {.attempt = j.attempt, .is_known = true, .begins = now_ms() + ms_to_come_back};
}

void manager::forget_start(const job& j) {
  const auto w = watched_.find(j.id);
  if (w == watched_.end()) return;
  for (const pid_t child : {w->second.child, w->second.scancel})
    if (child > 0) ending_.push_back(child);
  watched_.erase(w);
}

/// Ends the log of a job that was stopped: what mpirun and srun write when processes end by a signal reads as
/// if it had failed.
void manager::say_in_log(const job& j, const std::string& why) {
  std::string reason;  // who has cancelled it, or that its time was over
  for (const event& e : store_.events_of(j.id))
    if (e.time == j.stop_asked)
      reason = text_of_date(e.time) + " " + e.text.substr(0, e.text.find(':')) + ", ";
  std::string line =
      "wsl-clusterd: " + name_of_job(j.id) + " is " + name_of(phase::cancelled) + ": " + reason + why;
  if (!j.model_dir.empty())
    line += !has_saved(cluster_, j)
                ? "; it has saved no checkpoint"
                : "; it has saved " + j.model_dir + "/checkpoint_" +
                      std::to_string(last_checkpoint(cluster_.folder / j.model_dir)) + ".safetensors";
  line += "\n";
  // A manager that was killed before it wrote down the end does this again.
  const std::filesystem::path log = folder_of(cluster_, j.id) / "log";
  const std::string there = end_of(log, line.size());
  if (there == line) return;
  std::ofstream to(log, std::ios::binary | std::ios::app);  // on a full disk the job has ended all the same
  to << (there.empty() || there.ends_with('\n') ? "" : "\n") << line;
}

void manager::end(job& j, phase p, i64 time, const std::string& why) {
  // Before the end is known: who follows the log reads all of it then.
  if (p == phase::cancelled && j.attempt > 0) say_in_log(j, why);
  j.phase = p, j.ended = time;
  store_.transaction([&] {
    store_.update(j);
    add_event(j, why);
  });
  forget_start(j);
  queue_changed_ = true;
}

void manager::fail_what_fits_no_more() {
  const auto nodes = cluster_.capacities();
  for (job& j : store_.in_phase(phase::queued)) {
    if (!cluster_.program_named(j.program))
      end(j, phase::failed, now_ms(), "the cluster file no longer has the program " + j.program);
    else if (!place(nodes, nodes, cluster_.roles, j.asks))
      end(j, phase::failed, now_ms(), "the cluster file no longer has nodes that can hold it");
  }
}

}  // namespace cluster
