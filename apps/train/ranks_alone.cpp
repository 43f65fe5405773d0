// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include "machine_of.hpp"

namespace train_app::ranks {

int rank() { return 0; }
int size() { return 1; }
bool root() { return true; }
bool has_mpi() { return false; }
std::string take_roles(const std::vector<wsl::ml::role>&) { return ""; }
bool reads_data() { return true; }
void where_data_are_read(const std::function<void()>& read) { read(); }
void tell(std::string&) {}
void tell(wsl::ml::dataset&) {}
void take_data(const std::vector<wsl::ml::dataset*>&) {}
bool have_inputs() { return false; }
wsl::ml::batch_maker maker_of(std::size_t) { return {}; }
int prefetch() { return wsl::ml::batch_settings{}.prefetch; }
apart::apart() = default;
apart::~apart() = default;
bool apart::serves() const { return false; }
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
