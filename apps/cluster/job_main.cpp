// SPDX-License-Identifier: MIT
// wsl-job starts a job, watches over it and writes down how it ended, whether its manager is there or not.
//   wsl-job FOLDER N                     the N-th start of the job of that folder, see attempt.hpp
//   wsl-job --become BYTES FOLDER WORDS  becomes a program with a limit on its memory, in a folder: for a
//                                        check, or as a process of a job on several computers
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <wsl/support/whole_file.hpp>

#include "../files.hpp"
#include "attempt.hpp"

namespace {

using namespace cluster;

/// Says what this computer cannot do; a job's log has the lines of several.
void complain(const std::string& what) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::fprintf(stderr, "wsl-job: cannot %s on %s: %s\n", what.c_str(), name, std::strerror(errno));
}

/// Becomes a program. Returns if that is not possible, after a sentence.
void become(const std::vector<std::string>& command, i64 memory, const std::string& folder) {
  if (memory > 0) {
    const rlimit limit{static_cast<rlim_t>(memory), static_cast<rlim_t>(memory)};
    setrlimit(RLIMIT_DATA, &limit);
  }
  if (::chdir(folder.c_str()) != 0) return complain("go to the folder " + folder);
  std::vector<char*> words;
  for (const std::string& w : command) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  complain("start " + command.front());
}

/// Whether this process is the first that begins this attempt.
bool claim(const attempt_files& files) {
  const process_identity me = identity_of(::getpid());
  const nlohmann::json identity = {{"pid", me.pid}, {"start", me.start}, {"boot", me.boot}};
  const std::string mine = files.started.string() + "." + std::to_string(me.pid);
  wsl::support::write_whole_file(mine, identity.dump());
  const bool first = ::link(mine.c_str(), files.started.c_str()) == 0;
  if (!first && errno != EEXIST)
    throw std::runtime_error("cannot make " + files.started.string() + ": " + std::strerror(errno));
  ::unlink(mine.c_str());
  return first;
}

void write_down(const attempt_files& files, int status) {
  const i64 now = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  const std::string text = nlohmann::json{{"status", status}, {"time", now}}.dump();
  // On a disk that is full it waits for room: how the job ended is known to nobody else. Without its folder
  // nobody asks.
  for (bool said = false; std::filesystem::exists(files.ended.parent_path());) try {
      return wsl::support::write_whole_file(files.ended.string(), text);
    } catch (const wsl::support::file_error& e) {
      if (!std::exchange(said, true))
        std::fprintf(stderr,
                     "wsl-job: the job has ended with status %d, and its manager cannot be told: %s; it "
                     "is tried again\n",
                     status, e.what());
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

void send_output_to(const std::string& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw std::runtime_error("cannot write " + log + ": " + std::strerror(errno));
  ::dup2(file, 1), ::dup2(file, 2);
}

/// Waits for a child. Open MPI's mpirun may hang for ever at its end when a process was killed while it was
/// starting (it locks what it has freed): one whose processes have all been dead for some seconds without its
/// having waited for any is killed.
int status_of(pid_t child) {
  constexpr int seconds = 5;
  const auto handle = static_cast<int>(
      ::syscall(SYS_pidfd_open, child, 0));  // -1 where the kernel has none: then nobody looks
  pollfd ended{handle, POLLIN, 0};
  for (int dead = 0; handle >= 0 && ::poll(&ended, 1, 1000) <= 0;) {
    const auto entry = entry_of(child);
    dead = entry && is_mpirun(entry->name) && waits_for_the_dead(child) ? dead + 1 : 0;
    if (dead < seconds) continue;
    std::fprintf(stderr, "wsl-job: all processes of %s have died, and it has hung for %d s: it is killed\n",
                 entry->name.c_str(), seconds);
    ::kill(child, SIGKILL);
    break;
  }
  if (handle >= 0) ::close(handle);
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) {}
  return how;
}

int watch(const std::filesystem::path& folder, int number) {
  const attempt_files files(folder, number);
  const auto command = nlohmann::json::parse(app::read_file(files.command)).get<start_command>();
  send_output_to(command.log);
  if (!claim(files)) return 0;
  // Who stops the job sends the signals to its processes; this one stays to see how they end.
  for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(s, SIG_IGN);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(s, SIG_DFL);
    for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
    become(command.words, command.memory, command.folder);
    ::_exit(127);
  }
  const int how = child < 0 ? 127 << 8 : status_of(child);
  write_down(files, WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how));
  return 0;
}

constexpr const char* help =
    "wsl-job starts a job, watches over it, and writes down how it ended, whether its manager is there or "
    "not.\n"
    "wsl-clusterd starts it, and mpirun starts it on other computers; nobody needs to start it by hand.\n"
    "\n"
    "Usage: wsl-job FOLDER NUMBER\n"
    "       wsl-job --become BYTES FOLDER PROGRAM [ARGUMENT...]\n"
    "\n"
    "  FOLDER NUMBER  the folder of a job, and the number of its start, from 1: the command is read from\n"
    "                 FOLDER/attempt_NUMBER.json, and how it ended is written to FOLDER/ended_NUMBER\n"
    "  --become       become a program in a folder, with at most so many bytes of memory (0: as many as "
    "there are)\n"
    "  -h, --help     print this and stop\n"
    "\n"
    "Examples: wsl-job /srv/wafer/jobs/wsjob-000000000012 1\n"
    "          wsl-job --become 8589934592 /srv/wafer wsl-mnist train --params small\n";

/// The number of a start; 0 where the word is none.
int number_of(std::string_view word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && std::string_view(argv[1]) == "--become") {
    become({argv + 4, argv + argc}, std::atoll(argv[2]), argv[3]);
    return 127;
  }
  if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
    std::fputs(help, stdout);
    return 0;
  }
  const int number = argc == 3 ? number_of(argv[2]) : 0;
  if (number < 1) {
    std::fputs("wsl-job: wsl-clusterd starts it: wsl-job FOLDER NUMBER; see wsl-job --help\n", stderr);
    return 1;
  }
  try {
    return watch(argv[1], number);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wsl-job: %s\n", e.what());
    return 1;
  }
}
