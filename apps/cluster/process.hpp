// SPDX-License-Identifier: MIT
// Processes of this computer, told apart by their number, the time of their start and the boot they are of: a
// number alone may belong to another process by now.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cluster {

struct process_identity {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< in ticks of the clock since the boot
  std::string boot;
  bool operator==(const process_identity&) const = default;
};

struct process_entry {
  pid_t pid = 0, parent = 0, session = 0;
  std::uint64_t start = 0;
  bool is_zombie = false;
  std::string name;  ///< of its program, at most 15 letters
};

/// Of a process that there is, or was and is not yet waited for.
std::optional<process_entry> entry_of(pid_t pid);
process_identity identity_of(pid_t pid);
std::string boot_of_this_computer();
bool is_alive(const process_identity& p);

/// The processes of the session that p has begun, without p, also when p itself has ended.
std::vector<process_entry> rest_of_session(const process_identity& p);

/// Whether a process has children, all of which have ended, and has waited for none of them.
bool waits_for_the_dead(pid_t pid);

/// Whether a program of this name is Open MPI's mpirun.
bool is_mpirun(const std::string& name);
/// Whether a program of this name starts the processes of a job, or connects with those that do on other
/// computers: one that is told to stop ends them at once.
bool is_launcher(const std::string& name);

struct finished {
  int status = 0;  ///< as shells give it: 128 more than the signal's number if one ended it
  bool in_time = true;
  std::string said;    ///< standard output and error, at most the last 256 KiB
  std::string output;  ///< standard output alone
};
/// Runs a program to its end, or until its time is over; then its session is killed.
finished run_to_end(const std::vector<std::string>& command, int seconds);

/// Starts a program that outlives this process, with neither input nor output. Throws std::runtime_error.
pid_t start(const std::vector<std::string>& command);

/// Whether a child has ended; it is waited for then.
bool has_ended(pid_t child);

/// The program of that name beside this one.
std::filesystem::path beside_this_program(const std::string& name);

}  // namespace cluster
