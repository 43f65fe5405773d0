// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include "machine_of.hpp"

namespace train_app::ranks {

int rank() { return 0; }
int size() { return 1; }
std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how) {
  return std::make_unique<machine_of<wsl::ml::trainer>>(std::move(n), rule, how);
}
wsl::layout streaming_plan(const wsl::ml::wafer_grid& grid) { return wsl::ml::trainer::plan(grid); }
wsl::i64 sum(wsl::i64 mine) { return mine; }
void share(std::span<wsl::i64>) {}
bool first_to_say(const std::string&) { return true; }
void require_same(wsl::u64, const std::string&) {}

}  // namespace train_app::ranks
