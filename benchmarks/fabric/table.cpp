// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

// The rows in the order of the table: single wavelets, bursts, tasks, large fabrics, steps of stencils, a
// whole program, threads.
const char* const order[] = {
    "relay 32x32",
    "relay chain of 16",
    "burst of 16",
    "burst of 64",
    "burst of 256",
    "burst of 1024",
    "burst of 4096",
    "multicast of 16 to 32",
    "multicast of 256 to 32",
    "multicast of 1024 to 32",
    "multicast of 256 to 32, fmac",
    "all-reduce 4x4",
    "all-reduce 8x8",
    "all-reduce 16x16",
    "all-reduce 32x32",
    "all-reduce 64x64",
    "local tasks",
    "a hop on 512x512",
    "a launch on 512x512",
    "SUMMA 32x32, tiles 14x14",
    "a step on 20x20, per PE",
    "a step on 200x200, per PE",
    "a step on 700x700, per PE",
    "nine points on 64x48, per PE",
    "a step of a plate of 64x48, per cell",
    "bytes a PE of a plate, 48x32",
    "bytes a PE of a plate, 750x994",
    "building 750x994",
    "bytes a PE of 750x994",
    "timed: links crossed, straight through",
    "timed: ..., to a slow receiver",
    "timed: ..., two colors on each link",
    "timed: ..., each PE takes a copy",
    "timed: a launch on 512x512",
    "timed: 256x256, two colors on a link",
    "timed: 256x256, slow receivers",
    "timed: 256x256, each PE takes a copy",
    "timed: an all-reduce on 512x512",
    "timed: wave25 on 128x128, 10 cells",
    "relay 32x32, 2 threads",
    "bursts of 64 on 32x32, 2 threads",
    "bursts of 1024 on 32x32, 2 threads",
};

struct scale {
  const char* name;
  double factor;
  bool rate;
};
scale scale_of(unit u) {
  switch (u) {
    case unit::mega_per_second: return {"M/s", 1e-6, true};
    case unit::giga_per_second: return {"G words/s", 1e-9, true};
    case unit::nanoseconds: return {"ns", 1e9, false};
    case unit::microseconds: return {"us", 1e6, false};
    case unit::milliseconds: return {"ms", 1e3, false};
    case unit::seconds: return {"s", 1, false};
    case unit::plain: break;
  }
  return {"", 1, false};
}

std::map<std::string, unit>& units() {
  static std::map<std::string, unit> of_rows;
  return of_rows;
}

}  // namespace

void set_unit(const std::string& row, unit u) { units()[row] = u; }

void table::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& r : runs) {
    if (r.run_type != Run::RT_Iteration || !r.counters.contains("things")) continue;
    const std::string& name = r.run_name.function_name;
    const std::string row = name.substr(0, name.find('|'));
    const double things = r.counters.at("things"), seconds = r.real_accumulated_time;
    const scale s = scale_of(units()[row]);
    const double value = units()[row] == unit::plain ? things / static_cast<double>(r.iterations)
                         : s.rate                    ? s.factor * things / seconds
                                                     : s.factor * seconds / things;
    values_[row][name.substr(name.find('|') + 1)].push_back(value);
  }
}

double table::median(const std::string& row, const std::string& who) const {
  const auto r = values_.find(row);
  if (r == values_.end() || !r->second.contains(who)) return 0;
  std::vector<double> all = r->second.at(who);
  std::sort(all.begin(), all.end());
  return all.size() % 2 ? all[all.size() / 2] : (all[all.size() / 2 - 1] + all[all.size() / 2]) / 2;
}

double table::ratio(const std::string& row, const std::string& who) const {
  const double mine = median(row, "wsl"), other = median(row, who);
  if (mine == 0 || other == 0) return 0;
  return scale_of(units()[row]).rate ? mine / other : other / mine;
}

void table::print_row(const std::string& row) const {
  if (!values_.contains(row)) return;
  std::printf("%-36s %9.4g %-10s", row.c_str(), median(row, "wsl"), scale_of(units()[row]).name);
  bool first = true;
  for (const auto& [who, values] : values_.at(row)) {
    if (who == "wsl") continue;
    if (!first) std::printf("\n%57s", "");
    std::printf(" %-16s %9.4g %8.3g", who.c_str(), median(row, who), ratio(row, who));
    first = false;
  }
  std::printf("\n");
}

void table::print() const {
  std::printf("%-36s %9s %-10s %-16s %9s %8s\n", "", "wsl", "", "compared with", "", "ratio");
  for (const char* row : order) print_row(row);
  for (const char* peer : {"oneTBB", "CAF"})
    if (median("relay 32x32", "wsl") != 0 && median("relay 32x32", peer) == 0)
      std::printf("without %s: scripts/setup.sh benchmarks installs it\n", peer);
  double alone = 1, together = 1;
  for (const char* row :
       {"relay 32x32, 2 threads", "bursts of 64 on 32x32, 2 threads", "bursts of 1024 on 32x32, 2 threads"})
    if (const double free = median(row, "1 thread, free"); free != 0) {
      alone = std::min(alone, median(row, "1 thread") / free);
      together = std::min(together, median(row, "wsl") / (2 * free));
    }
  std::printf(
      "of what it does free of epochs one thread keeps %.2f; two threads keep %.2f of what two free ones "
      "could do at best\n",
      alone, together);
  // Eight hops of single wavelets and one start of a task are what nine points need at least.
  const double floor = 8 * median("a hop on 512x512", "wsl on 8x8") + 1e3 / median("local tasks", "wsl");
  const double nine = median("nine points on 64x48, per PE", "wsl");
  if (nine != 0 && std::isfinite(floor))
    std::printf("nine points, a cell a PE: %.2f of eight hops and a start of a task\n", nine / floor);
  const double small = median("a step on 20x20, per PE", "wsl");
  std::printf(
      "wavelets: scalar %.0f M/s, %.1f x TBB, %.2f of ring ceiling; burst1024 %.2f G words/s, %.2f of "
      "memcpy; wafer %.0f B/PE, step 700x700 %.2f of 20x20\n",
      median("relay 32x32", "wsl"), ratio("relay 32x32", "oneTBB"), ratio("relay 32x32", "plain rings"),
      median("burst of 1024", "wsl"), ratio("burst of 1024", "memcpy"),
      median("bytes a PE of a plate, 750x994", "wsl"),
      small == 0 ? 0 : median("a step on 700x700, per PE", "wsl") / small);
}

}  // namespace bench
