// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include "copies.hpp"

namespace app {

void join_ranks(bool copies_may_share) {
  if (is_copy() && !copies_may_share) begins = [] { require_joined(); };
}
void require_joined(const char* remedy) { refuse_copies(remedy); }
void let_one_print() {}
int ranks() { return 1; }
int rank() { return 0; }
int ranks_here() { return 1; }
bool is_root() { return true; }
void require_one_process(const char*) {}
wsl::u64 largest(wsl::u64 mine) { return mine; }
wsl::u64 sum(wsl::u64 mine) { return mine; }
void together(const std::function<void()>& part) { part(); }

struct joint_file::file {
  wsl::support::scattered_file of;
};
joint_file::joint_file(const std::string& name, wsl::u64 size, bool)
    : size_(size), of_(new file{{name, size}}) {}
joint_file::~joint_file() = default;
void joint_file::together(const std::function<void()>& part) { part(); }
void joint_file::write(std::span<const wsl::support::file_run> runs, const void* bytes) {
  of_->of.write(runs, bytes);
}
void joint_file::finish() { of_->of.finish(); }

void engine::require_same(wsl::u64, const char*, const std::function<std::string()>&) const {}
wsl::engines::engine* engine::make(const wsl::layout& plan) const { return how.make(plan); }

}  // namespace app
