// SPDX-License-Identifier: MIT
#include "shot_queue.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>
#include <wsl/support/folder_lock.hpp>

#include "../files.hpp"
#include "../ranks.hpp"

namespace wave_app {
namespace {

std::filesystem::path mark_of(const shot_queue& q, std::size_t k) {
  return folder_of_shot(q.out, k) / "finished";
}

/// Whether a shot is finished. Throws std::invalid_argument if it is one of another recipe.
bool is_finished(const shot_queue& q, std::size_t k) {
  const auto mark = mark_of(q, k);
  if (!std::filesystem::exists(mark)) return false;
  if (app::read_file(mark) == q.recipe(k)) return true;
  throw std::invalid_argument(
      fmt::format("--out: {} was made with other options or another model: give another folder, or remove it",
                  folder_of_shot(q.out, k).string()));
}

}  // namespace

std::filesystem::path folder_of_shot(const std::filesystem::path& out, std::size_t k) {
  return out / fmt::format("shot{:05}", k + 1);
}

bool all_finished(const shot_queue& q) {
  for (std::size_t k = 0; k < q.shots; ++k)
    if (!is_finished(q, k)) return false;
  return true;
}

shots_done work_on(const shot_queue& q) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ends = false;
  std::mutex at_result;
  shots_done result;
  std::exception_ptr failure;
  const auto take = [&](std::size_t k) {
    const auto folder = folder_of_shot(q.out, k);
    app::make_folder(folder);
    std::optional<wsl::support::folder_lock> lock;
    try {
      lock.emplace(folder.string(), "");
    } catch (const wsl::support::file_error&) {
      const std::lock_guard held(at_result);
      ++result.elsewhere;
      return;
    }
    const bool finished = is_finished(q, k);
    const int status = finished ? 0 : q.make(k, folder);
    if (!finished && status == 0) app::write_file(mark_of(q, k), q.recipe(k));
    const std::lock_guard held(at_result);
    ++(finished ? result.before : result.here);
    if (status == 0) return;
    --result.here, result.status = status, ends = true;
  };
  const auto work = [&] {
    try {
      for (std::size_t k; !ends && (k = next++) < q.shots;) take(k);
    } catch (...) {
      const std::lock_guard held(at_result);
      if (!failure) failure = std::current_exception();
      ends = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < q.at_a_time; ++t) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return result;
}

shots_done work_together(const shot_queue& q) {
  shots_done result;
  for (std::size_t k = 0; k < q.shots && result.status == 0; ++k) {
    const auto folder = folder_of_shot(q.out, k);
    std::optional<wsl::support::folder_lock> lock;
    wsl::u64 is_taken = 0;
    if (app::is_root()) {
      app::make_folder(folder);
      try {
        lock.emplace(folder.string(), "");
      } catch (const wsl::support::file_error&) { is_taken = 1; }
    }
    if (app::largest(is_taken)) {
      ++result.elsewhere;
      continue;
    }
    const bool finished = is_finished(q, k);
    result.status = finished ? 0 : q.make(k, folder);
    if (result.status != 0) break;
    ++(finished ? result.before : result.here);
    if (!finished && app::is_root()) app::write_file(mark_of(q, k), q.recipe(k));
    app::sum(0);  // all of them find the mark
  }
  return result;
}

}  // namespace wave_app
