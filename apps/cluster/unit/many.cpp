// SPDX-License-Identifier: MIT
// Many jobs, eight clients that submit and cancel at random, and a manager that is killed at random moments:
// no job is lost, and none runs twice. The oracle is a file to which the first process of each job adds a
// line when it begins and one when it ends.
//   many <wsl-clusterd> <jobs> <kills> [seed]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "../client.hpp"

namespace {

namespace fs = std::filesystem;
namespace pb = wsl::cluster;
using cluster::client;
using std::chrono::milliseconds;

constexpr int wafers = 6;

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

class daemon {
 public:
  daemon(std::string program, fs::path here) : program_(std::move(program)), here_(std::move(here)) {
    start("127.0.0.1:0");
  }
  ~daemon() { kill(SIGTERM); }
  void kill_and_start() {
    kill(SIGKILL);
    start(address_);
  }

 private:
  void kill(int how) {
    if (pid_ <= 0) return;
    ::kill(pid_, how);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void start(const std::string& listen) {
    const auto address = here_ / "state" / "address";
    fs::remove(address);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (!std::freopen((here_ / "manager.log").c_str(), "a", stdout) || ::dup2(1, 2) < 0) ::_exit(1);
      ::execl(program_.c_str(), program_.c_str(), "--cluster", (here_ / "cluster.yaml").c_str(), "--state",
              (here_ / "state").c_str(), "--listen", listen.c_str(), nullptr);
      ::_exit(127);
    }
    for (int k = 0; k < 600 && !fs::exists(address); ++k) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) fail("the manager does not start");
      std::this_thread::sleep_for(milliseconds(50));
    }
    std::getline(std::ifstream(address) >> std::ws, address_);
  }
  std::string program_, address_;
  fs::path here_;
  pid_t pid_ = 0;
};

/// One client: it submits jobs with numbers of its own, and cancels some of those that it knows.
void submit_and_cancel(const fs::path& here, int first, int count, unsigned seed,
                       std::map<std::string, int>& numbers, std::mutex& mutex) {
  std::mt19937 random(seed);
  client c(
      {.cluster = (here / "state").string(), .token_file = {}, .certificate_file = {}, .patience_s = 120});
  std::vector<std::string> own;
  for (int k = first; k < first + count; ++k) {
    pb::Submission s;
    s.set_request("n" + std::to_string(k)), s.set_user("user" + std::to_string(random() % 3)),
        s.set_program("work");
    s.add_arguments(std::to_string(k)), s.add_arguments("0.0" + std::to_string(random() % 10));
    s.set_num_csx(static_cast<int>(random() % 8 == 0 ? 3 : 1)),
        s.set_priority(static_cast<int>(random() % 400));
    const pb::Job j = c.call(&client::stub::Submit, s);
    if (random() % 4 == 0 && c.call(&client::stub::Submit, s).name() != j.name())
      fail("a request was taken twice");
    own.push_back(j.name());
    {
      const std::lock_guard lock(mutex);
      numbers[j.name()] = k;
    }
    if (random() % 3 != 0) continue;
    pb::JobToCancel name;
    name.set_name(own[random() % own.size()]);
    c.call(&client::stub::Cancel, name);
  }
}

void judge(const fs::path& here, const pb::Jobs& all, const std::map<std::string, int>& numbers) {
  std::map<int, int> begun, ended;
  std::set<int> open, succeeded;
  for (const pb::Job& j : all.jobs())
    if (j.phase() == "SUCCEEDED") succeeded.insert(numbers.at(j.name()));
  std::ifstream lines(here / "files" / "lines");
  int number = 0;
  for (std::string what; lines >> what >> number;) {
    ++(what == "begin" ? begun : ended)[number];
    if (!succeeded.contains(number)) continue;  // of a job that is cancelled the last line may be missing
    if (what == "begin") open.insert(number);
    else open.erase(number);
    if (open.size() > wafers) fail("more jobs run than there are wafers");
  }
  if (static_cast<std::size_t>(all.jobs_size()) != numbers.size())
    fail("there are " + std::to_string(all.jobs_size()) + " jobs");
  std::map<std::string, int> phases;
  for (const pb::Job& j : all.jobs()) {
    const int k = numbers.at(j.name());
    ++phases[j.phase()];
    if (begun[k] > 1) fail(j.name() + " was started " + std::to_string(begun[k]) + " times");
    if (j.phase() == "SUCCEEDED" && (begun[k] != 1 || ended[k] != 1))
      fail(j.name() + " succeeded, and has run " + std::to_string(begun[k]) + " times");
    if (j.phase() != "SUCCEEDED" && j.phase() != "CANCELLED") fail(j.name() + " is " + j.phase());
    if (j.phase() == "CANCELLED" && j.attempt() == 0 && begun[k] > 0)
      fail(j.name() + " was cancelled before it began, and ran");
    std::ifstream log(here / "files" / "jobs" / j.name() / "log");
    int told = 0;  // how often the log says how the job ended, whatever managers were killed meanwhile
    for (std::string line; std::getline(log, line);) told += line.starts_with("wsl-clusterd: " + j.name());
    const int due = j.phase() == "CANCELLED" && j.attempt() > 0;
    if (told != due && log.is_open())
      fail("the log of " + j.name() + ", " + j.phase() + ", tells its end " + std::to_string(told) +
           " times");
    begun.erase(k);
  }
  if (!begun.empty()) fail("something ran that was no job");
  for (const auto& [phase, count] : phases) std::printf("%s %d\n", phase.c_str(), count);
  if (phases["SUCCEEDED"] == 0 || phases["CANCELLED"] == 0) fail("this tested nothing");
}

void run(const std::string& program, int jobs, int kills, unsigned seed, const fs::path& here) {
  fs::create_directories(here / "files");
  std::ofstream(here / "work") << "#!/bin/sh\n[ \"${OMPI_COMM_WORLD_RANK:-0}\" = 0 ] || exec sleep $2\necho "
                                  "begin $1 >>lines\nsleep $2\necho end $1 >>lines\n";
  fs::permissions(here / "work", fs::perms::owner_all);
  std::ofstream(here / "cluster.yaml")
      << "folder: files\nprograms: [{path: work, trainer: false}]\ngrace_s: 20\n"
      << "nodes: [{name: a, cores: 4, memory: 64GB, wafers: 4}, {name: b, cores: 2, memory: 64GB, wafers: "
         "2}]\n";
  daemon manager(program, here);
  std::map<std::string, int> numbers;
  std::mutex mutex;
  std::atomic<bool> over = false;
  std::exception_ptr trouble;
  std::vector<std::jthread> clients;  // a failure waits for them, and is said
  constexpr int count = 8;
  for (int k = 0; k < count; ++k)
    clients.emplace_back([&, k] {
      try {
        submit_and_cancel(here, k * jobs / count, (k + 1) * jobs / count - k * jobs / count,
                          seed + static_cast<unsigned>(k), numbers, mutex);
      } catch (...) {
        const std::lock_guard lock(mutex);
        trouble = std::current_exception();
      }
    });
  std::mt19937 random(seed);
  client c(
      {.cluster = (here / "state").string(), .token_file = {}, .certificate_file = {}, .patience_s = 120});
  std::jthread waits([&] {
    for (std::jthread& t : clients) t.join();
    over = true;
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(15);
  int killed = 0;
  for (;;) {
    std::this_thread::sleep_for(milliseconds(50 + random() % 700));
    const bool done = over;
    if (killed < kills) {
      manager.kill_and_start();
      ++killed;
    }
    if (done && c.call(&client::stub::ListJobs, pb::JobsAsked()).jobs_size() == 0) break;
    if (std::chrono::steady_clock::now() > end) fail("the queue does not become empty");
  }
  waits.join();
  if (trouble) std::rethrow_exception(trouble);
  pb::JobsAsked asked;
  asked.set_all(true);
  judge(here, c.call(&client::stub::ListJobs, asked), numbers);
  std::printf("the manager was killed %d times\n", killed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("many <wsl-clusterd> <jobs> <kills> [seed]\n", stderr), 2;
  char name[] = "/tmp/wsl_many_XXXXXX";
  const fs::path here = ::mkdtemp(name);
  try {
    run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]),
        argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 1, here);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "many: %s; see %s\n", e.what(), here.c_str());
    return 1;
  }
  fs::remove_all(here);
}
