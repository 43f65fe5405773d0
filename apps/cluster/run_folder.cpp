// SPDX-License-Identifier: MIT
#include "run_folder.hpp"

#include <charconv>
#include <fstream>
#include <regex>
#include <sstream>

namespace cluster {

i64 last_checkpoint(const std::filesystem::path& folder) {
  i64 last = -1;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view before = "checkpoint_", after = ".safetensors";
    if (!name.starts_with(before) || !name.ends_with(after)) continue;
    i64 step = 0;
    const char* const end = name.data() + name.size() - after.size();
    const auto [stop, error] = std::from_chars(name.data() + before.size(), end, step);
    if (error == std::errc{} && stop == end) last = std::max(last, step);
  }
  return last;
}

std::string end_of(const std::filesystem::path& file, std::size_t bytes) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::size_t>(in.tellg());
  std::string text(std::min(size, bytes), '\0');
  in.seekg(static_cast<std::streamoff>(size - text.size()));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::optional<lost_rank> lost_rank_in(const std::string& log) {
  static const std::regex mpirun(
      R"(process rank (\d+) with PID \d+ on node \S+ (exited on signal \d+ \([^)]*\)))");
  static const std::regex srun(
      R"(srun: error: \S+ task (\d+): (Killed|Segmentation fault|Aborted|Bus error|Terminated))");
  static const std::regex launch(R"(srun: error: task (\d+) (launch failed: [^\r\n]+))");
  // A rank that notices the death before mpirun or srun ends the run with an error of its own.
  static const std::regex fabric(
      R"(wsl: rank (\d+)(?: \([^)]*\))? (was killed, or has crashed|has not been heard of for \d+ s|)"
      R"(has kept the others waiting for \d+ s|has ended))");
  for (const std::regex& r : {mpirun, fabric, srun, launch})
    if (std::smatch m; std::regex_search(log, m, r)) return lost_rank{std::stoi(m[1].str()), m[2].str()};
  return {};
}

std::optional<lost_host> lost_host_in(const std::string& log) {
  static const std::regex mpirun(R"(Remote daemon\s*: \S+ on node (\S+))");
  static const std::regex ssh(R"(ssh: connect to host (\S+) port \d+: ([^\r\n]+))");
  std::smatch m;
  if (std::regex_search(log, m, ssh))
    return lost_host{m[1].str(), "could not be reached by ssh: " + m[2].str()};
  if (std::regex_search(log, m, mpirun)) return lost_host{m[1].str(), "is not connected any more"};
  return {};
}

bool lost_place_in_slurm(const std::string& log) {
  return log.find("srun: error: Unable to allocate resources: Job/step already completing or completed") !=
         log.npos;
}

std::string last_line(const std::string& log) {
  std::istringstream lines(log);
  std::string line, last, last_of_ours;
  while (std::getline(lines, line)) {
    const bool says = line.find_first_not_of("-= \t\r") != line.npos;
    if (says) last = line.substr(0, 500);
    // Behind what a program of ours or ssh says mpirun writes how it ended.
    const bool is_of_ssh = line.starts_with("ssh: ") || line.find(": Permission denied (") != line.npos ||
                           line.starts_with("Host key verification failed");
    if (line.starts_with("wsl") || is_of_ssh) last_of_ours = line.substr(0, 500);
  }
  return last_of_ours.empty() ? last : last_of_ours;
}

}  // namespace cluster
