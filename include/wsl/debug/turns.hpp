// SPDX-License-Identifier: MIT
// Work that pauses in its middle: it has a thread of its own and takes turns with the thread of its user, who
// looks at what it has done so far.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../engine/diagnose/step_observer.hpp"

namespace wsl::debug {

/// Of the two threads only the one whose turn it is runs, so what both use needs no lock.
class turns {
 public:
  /// The exception with which work ends that its user leaves in its middle.
  struct left : engines::abandoned_run {
    left() : abandoned_run("wsl: the debugger has ended this run in its middle") {}
  };

  turns() = default;
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  ~turns() { leave(); }

  /// Whether work has begun and not ended.
  bool under_way() const { return thread_.joinable(); }
  /// Whether the caller is the work.
  bool is_work() const { return worker_ == std::this_thread::get_id(); }

  /// Begins the work, or goes on with what has begun; returns when it pauses or has ended. The work throws
  /// nothing.
  template <class Work>
  void go(Work work) {
    if (under_way()) {
      pass(false);
    } else {
      ended_ = users_turn_ = false;
      thread_ = std::thread([this, work] {
        worker_ = std::this_thread::get_id();
        work();
        ended_ = true;
        worker_ = {};
        pass(true);
      });
    }
    wait_for(true);
    if (ended_) thread_.join();
  }
  /// Called by the work: waits until its user goes on. Throws `left` if the user leaves it.
  void pause() {
    pass(true);
    wait_for(false);
    must_go_on();
  }
  void must_go_on() const {
    if (leaving_) throw left();
  }
  /// Ends work that has paused.
  void leave() {
    if (!under_way()) return;
    leaving_ = true;
    pass(false);
    thread_.join();
    leaving_ = false;
  }

 private:
  void pass(bool to_user) {
    const std::lock_guard lock(mutex_);
    users_turn_ = to_user;
    changed_.notify_all();
  }
  void wait_for(bool user) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return users_turn_ == user; });
  }

  bool ended_ = false, leaving_ = false;
  std::thread thread_;
  std::thread::id worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool users_turn_ = false;
};

}  // namespace wsl::debug
