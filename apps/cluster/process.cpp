// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace cluster {
namespace {

/// What posix_spawn takes, and gives back at its end.
class spawning {
 public:
  spawning() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&how_);
    posix_spawnattr_setflags(&how_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    // Threads of a server block signals, and ignore some.
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawnattr_setsigmask(&how_, &none);
    posix_spawnattr_setsigdefault(&how_, &usual);
  }
  spawning(const spawning&) = delete;
  spawning& operator=(const spawning&) = delete;
  ~spawning() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&how_);
  }

  void open(int as, const char* path, int flags) {
    posix_spawn_file_actions_addopen(&files_, as, path, flags, 0600);
  }
  void put(int file, int as) { posix_spawn_file_actions_adddup2(&files_, file, as); }

  /// The child leads a session of its own.
  pid_t go(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const std::string& w : command) words.push_back(const_cast<char*>(w.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_addclosefrom_np(&files_, 3);
    pid_t child = 0;
    if (const int why = posix_spawnp(&child, words[0], &files_, &how_, words.data(), environ))
      throw std::runtime_error("cannot start " + command.front() + ": " + std::strerror(why));
    return child;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t how_;
};

class a_pipe {
 public:
  a_pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0)
      throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  a_pipe(const a_pipe&) = delete;
  a_pipe& operator=(const a_pipe&) = delete;
  ~a_pipe() { close_write(), ::close(ends_[0]); }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2];
};

void keep_last(std::string& text, const char* more, std::size_t size) {
  constexpr std::size_t most = 256 << 10;
  text.append(more, size);
  if (text.size() > most) text.erase(0, text.size() - most);
}

}  // namespace

std::optional<process_entry> entry_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return {};
  // The name stands in parentheses, and may contain some itself.
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == line.npos || close == line.npos) return {};
  process_entry e;
  e.pid = pid, e.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 1));
  std::string state, word;
  rest >> state;
  e.is_zombie = state == "Z" || state == "X";
  // Fields 4 to 22 of proc(5): parent, group, session, ..., start time.
  for (int field = 4; field <= 22 && rest >> word; ++field) {
    if (field == 4) std::from_chars(word.data(), word.data() + word.size(), e.parent);
    if (field == 6) std::from_chars(word.data(), word.data() + word.size(), e.session);
    if (field == 22) std::from_chars(word.data(), word.data() + word.size(), e.start);
  }
  return e;
}

std::string boot_of_this_computer() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id;
}

process_identity identity_of(pid_t pid) {
  const auto e = entry_of(pid);
  return {pid, e ? e->start : 0, boot_of_this_computer()};
}

bool is_alive(const process_identity& p) {
  const auto e = entry_of(p.pid);
  return e && !e->is_zombie && e->start == p.start && p.boot == boot_of_this_computer();
}

namespace {

/// Calls f(entry) for the processes of this computer.
template <class F>
void each_process(F f) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) continue;
    if (const auto e = entry_of(static_cast<pid_t>(std::stol(name)))) f(*e);
  }
}

}  // namespace

std::vector<process_entry> rest_of_session(const process_identity& p) {
  if (p.boot != boot_of_this_computer()) return {};
  // As long as one process of the session is there, its number is given to no other.
  if (const auto leader = entry_of(p.pid); leader && leader->start != p.start) return {};
  std::vector<process_entry> all;
  each_process([&](const process_entry& e) {
    if (e.session == p.pid && e.pid != p.pid && !e.is_zombie && e.start >= p.start) all.push_back(e);
  });
  return all;
}

bool waits_for_the_dead(pid_t pid) {
  bool has_children = false, all_ended = true;
  each_process([&](const process_entry& e) {
    if (e.parent != pid) return;
    has_children = true;
    all_ended &= e.is_zombie;
  });
  return has_children && all_ended;
}

bool is_mpirun(const std::string& name) {
  return name == "mpirun" || name == "orterun" || name == "prterun" || name == "mpiexec";
}

bool is_launcher(const std::string& name) {
  return is_mpirun(name) || name == "orted" || name == "ssh" || name == "srun";
}

finished run_to_end(const std::vector<std::string>& command, int seconds) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::seconds(seconds);
  a_pipe out, err;
  spawning how;
  how.open(0, "/dev/null", O_RDONLY);
  how.put(out.write_end(), 1);
  how.put(err.write_end(), 2);
  const pid_t child = how.go(command);
  out.close_write(), err.close_write();

  finished f;
  pollfd files[] = {{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    if (left <= 0) {
      f.in_time = false;
      ::kill(-child, SIGKILL);
      break;
    }
    if (::poll(files, 2, static_cast<int>(left)) < 0 && errno != EINTR) break;
    for (pollfd& file : files) {
      if (file.fd < 0 || file.revents == 0) continue;
      char bytes[4096];
      const ssize_t got = ::read(file.fd, bytes, sizeof bytes);
      if (got > 0) {
        keep_last(f.said, bytes, static_cast<std::size_t>(got));
        if (&file == files) keep_last(f.output, bytes, static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        file.fd = -1;
      }
    }
  }
  int how_ended = 0;
  while (::waitpid(child, &how_ended, 0) < 0 && errno == EINTR) {}
  f.status = WIFSIGNALED(how_ended) ? 128 + WTERMSIG(how_ended) : WEXITSTATUS(how_ended);
  return f;
}

pid_t start(const std::vector<std::string>& command) {
  spawning how;
  how.open(0, "/dev/null", O_RDONLY);
  how.open(1, "/dev/null", O_WRONLY);
  how.open(2, "/dev/null", O_WRONLY);
  return how.go(command);
}

bool has_ended(pid_t child) { return ::waitpid(child, nullptr, WNOHANG) == child; }

std::filesystem::path beside_this_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace cluster
