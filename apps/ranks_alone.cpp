// SPDX-License-Identifier: MIT
#include "ranks.hpp"

namespace app {

void join_ranks() {}
int ranks() { return 1; }
int ranks_here() { return 1; }
bool is_root() { return true; }
void require_one_process(const char*) {}
int largest(int mine) { return mine; }
void engine::require_same(wsl::u64, const char*) const {}
wsl::engines::engine* engine::make(const wsl::layout& plan) const { return how.make(plan); }

}  // namespace app
