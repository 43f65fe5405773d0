// SPDX-License-Identifier: MIT
#include <optional>
#include <wsl/mpi.hpp>

#include "machine_of.hpp"
#include "ranks.hpp"

namespace train_app::ranks {
namespace {

/// None for a program that was started as any other: it does not need MPI.
const std::optional<wsl::mpi::spread_over>& world() {
  static const std::optional<wsl::mpi::spread_over> all =
      wsl::mpi::launched() ? std::optional(wsl::mpi::world()) : std::nullopt;
  return all;
}

}  // namespace

int rank() { return world() ? world()->rank() : 0; }
int size() { return world() ? world()->size() : 1; }
std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how) {
  using streaming_machine = machine_of<wsl::ml::trainer>;
  if (size() > 1) return std::make_unique<streaming_machine>(std::move(n), rule, how, *world());
  return std::make_unique<streaming_machine>(std::move(n), rule, how);
}
wsl::layout streaming_plan(const wsl::ml::wafer_grid& grid) { return wsl::ml::trainer::plan(grid); }
wsl::i64 sum(wsl::i64 mine) {
  return size() > 1 ? static_cast<wsl::i64>(world()->who.sum(static_cast<wsl::u64>(mine))) : mine;
}
void share(std::span<wsl::i64> numbers) {
  if (size() > 1) world()->who.broadcast(std::as_writable_bytes(numbers), 0);
}
bool first_to_say(const std::string& sentence) { return size() == 1 || world()->who.first_to_say(sentence); }
void require_same(wsl::u64 number, const std::string& what) {
  if (size() > 1) world()->who.require_same(number, what);
}

}  // namespace train_app::ranks
