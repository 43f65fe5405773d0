// SPDX-License-Identifier: MIT
#include "shot_queue.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "../files.hpp"
#include "../ranks.hpp"
#include "../run.hpp"

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
  throw std::invalid_argument(fmt::format("--out: {} was made {}: give another folder, or remove it",
                                          folder_of_shot(q.out, k).string(), q.differs));
}

}  // namespace

std::filesystem::path folder_of_shot(const std::filesystem::path& out, std::size_t k) {
  return out / fmt::format("shot{:05}", k + 1);
}

std::unique_ptr<wsl::support::folder_lock> lock_of(const std::filesystem::path& folder) {
  try {
    return std::make_unique<wsl::support::folder_lock>(folder.string(), "");
  } catch (const wsl::support::file_error&) { return nullptr; }
}

std::string holder_of(const std::filesystem::path& folder) {
  struct stat there;
  if (::stat(folder.c_str(), &there) != 0) return {};
  // a line: "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF", the device in hexadecimal numbers
  const std::string file =
      fmt::format("{:02x}:{:02x}:{}", major(there.st_dev), minor(there.st_dev), there.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string number, kind, how, access, process, of, rest;
       locks >> number >> kind >> how >> access >> process >> of && std::getline(locks, rest);)
    if (kind == "FLOCK" && of == file) return fmt::format(" (process {})", process);
  return {};
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
    const auto lock = lock_of(folder);
    if (!lock) {
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

shots_done work_beside_others(const shot_queue& q, bool& missing) {
  shots_done done;
  app::together([&] {
    try {
      done = work_on(q);
    } catch (const std::exception&) {
      // All of them end with it, but only when the shots of the others are made.
      if (app::ranks() > 1)
        fmt::print("a shot has failed, and the other processes end theirs first: {}\n",
                   app::sentence_of_failure());
      std::fflush(stdout);
      throw;
    }
  });
  done.status = static_cast<int>(app::largest(static_cast<wsl::u64>(done.status)));
  wsl::u64 is_missing = 0;
  app::together([&] { is_missing = done.status == 0 && done.elsewhere > 0 && !all_finished(q); });
  missing = app::largest(is_missing) != 0;
  return done;
}

shots_done work_together(const shot_queue& q) {
  enum { to_make, finished, taken };
  shots_done result;
  for (std::size_t k = 0; k < q.shots && result.status == 0; ++k) {
    const auto folder = folder_of_shot(q.out, k);
    std::unique_ptr<wsl::support::folder_lock> lock;
    wsl::u64 state = to_make;
    app::together([&] {
      if (!app::is_root()) return;
      app::make_folder(folder);
      lock = lock_of(folder);
      state = !lock ? taken : is_finished(q, k) ? finished : to_make;
    });
    state = app::largest(state);
    if (state == taken) {
      ++result.elsewhere;
      continue;
    }
    result.status = state == finished ? 0 : q.make(k, folder);
    if (result.status != 0) break;
    ++(state == finished ? result.before : result.here);
    app::together([&] {
      if (state != finished && app::is_root()) app::write_file(mark_of(q, k), q.recipe(k));
    });
  }
  return result;
}

}  // namespace wave_app
