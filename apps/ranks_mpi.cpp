// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <wsl/mpi.hpp>

#include "run.hpp"

namespace app {
namespace {

const std::optional<wsl::mpi::spread_over>& world() {
  static const std::optional<wsl::mpi::spread_over> all =
      wsl::mpi::launched() ? std::optional(wsl::mpi::world()) : std::nullopt;
  return all;
}

}  // namespace

void join_ranks() {
  if (ranks() == 1) return;
  says = [](const std::string& sentence) { return world()->who.first_to_say(sentence); };
  if (!is_root() && !std::freopen("/dev/null", "w", stdout))
    throw std::runtime_error("cannot open /dev/null, to which all ranks but the first print");
}
int ranks() { return world() ? world()->size() : 1; }
int ranks_here() {
  static const int count = [] {
    if (!world()) return 1;
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(world()->who.group(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    const int size = wsl::mpi::ranks(here).size();
    MPI_Comm_free(&here);
    return size;
  }();
  return count;
}
bool is_root() { return !world() || world()->root(); }
void require_one_process(const char* what) {
  if (ranks() > 1)
    throw std::invalid_argument(
        fmt::format("{} runs in one process, and there are {}: start it without mpirun", what, ranks()));
}

int largest(int mine) {
  return world() ? static_cast<int>(world()->who.largest(static_cast<wsl::u64>(mine))) : mine;
}

void engine::require_same(wsl::u64 number, const char* what) const {
  if (world() && !is_alone) world()->require_same(number, what);
}
wsl::engines::engine* engine::make(const wsl::layout& plan) const {
  return world() && !is_alone ? world()->with(how).make(plan) : how.make(plan);
}

}  // namespace app
