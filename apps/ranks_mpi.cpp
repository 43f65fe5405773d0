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

void join_ranks(bool) {
  if (ranks() == 1) return;
  says = [](const std::string& sentence) { return world()->who.first_to_say(sentence); };
}
void require_joined(const char*) {}
void let_one_print() {
  if (!is_root() && !std::freopen("/dev/null", "w", stdout))
    throw std::runtime_error("cannot open /dev/null, to which all ranks but the first print");
}
int ranks() { return world() ? world()->size() : 1; }
int rank() { return world() ? world()->rank() : 0; }
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

wsl::u64 largest(wsl::u64 mine) { return world() ? world()->who.largest(mine) : mine; }
wsl::u64 sum(wsl::u64 mine) { return world() ? world()->who.sum(mine) : mine; }
void together(const std::function<void()>& part) {
  if (!world()) return part();
  constexpr char of_file = 'f', other = 'o';  // begin the sentence of a failure
  std::string why;
  try {
    part();
  } catch (const wsl::support::file_error&) {
    why = of_file + sentence_of_failure();
  } catch (const std::exception&) { why = other + sentence_of_failure(); }
  // counted from the end, so that the largest is the first
  const wsl::mpi::ranks& who = world()->who;
  const wsl::u64 first = who.largest(why.empty() ? 0 : static_cast<wsl::u64>(who.size() - who.rank()));
  if (first == 0) return;
  const std::string all = who.broadcast(why, who.size() - static_cast<int>(first));
  if (all[0] == of_file) throw wsl::support::file_error(all.substr(1));
  throw std::runtime_error(all.substr(1));
}

struct joint_file::file {
  std::optional<wsl::support::scattered_file> own;
  std::optional<wsl::mpi::joint_file> of_all;
};
joint_file::joint_file(const std::string& name, wsl::u64 size, bool is_alone) : size_(size), of_(new file) {
  if (ranks() == 1 || is_alone) of_->own.emplace(name, size);
  else of_->of_all.emplace(world()->who, name, size);
}
joint_file::~joint_file() = default;
void joint_file::together(const std::function<void()>& part) {
  if (of_->own) of_->own->together(part);
  else of_->of_all->together(part);
}
void joint_file::write(std::span<const wsl::support::file_run> runs, const void* bytes) {
  if (of_->own) of_->own->write(runs, bytes);
  else of_->of_all->write(runs, bytes);
}
void joint_file::finish() {
  if (of_->own) of_->own->finish();
  else of_->of_all->finish();
}

void engine::require_same(wsl::u64 number, const char* what,
                          const std::function<std::string()>& lines) const {
  if (world() && !is_alone) world()->require_same(number, what, lines);
}
wsl::engines::engine* engine::make(const wsl::layout& plan) const {
  return world() && !is_alone ? world()->with(how).make(plan) : how.make(plan);
}

}  // namespace app
