// SPDX-License-Identifier: MIT
// A queue of commands for a device (CSL's nonblock=True): each returns a ticket at once, and a thread of the
// queue executes them in order while the host goes on. A command of the device itself waits for all of them.
//   device_queue later{d};
//   later.copy_in(&part::x, all, x);
//   ticket run = later.launch<&part::go>(all);
//   prepare(next);                                // at the same time
//   d.copy_out(&part::y, all, y);                 // after the launch
//   run.wait().cycles
// After a command fails, those queued behind it are not executed and fail with the same error, until the host
// has seen it: thrown by a ticket's wait, or else by the next command of the device. The arrays of a queued
// command must live until it is done (temporaries are moved into it); the fabric itself must be left alone
// meanwhile.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "device.hpp"

namespace wsl {

namespace detail {

struct nothing {};

template <class T>
struct command_result {
  std::shared_ptr<command_batch> batch;
  std::atomic<bool> done = false;
  bool failed = false;
  std::optional<std::conditional_t<std::is_void_v<T>, nothing, T>> value;

  template <class F>
  void fulfil(F& command, device_state& link) {
    if (!batch->error) attempt(command, link);
    failed = batch->error != nullptr;
    done = true;
    done.notify_all();
  }

 private:
  template <class F>
  void attempt(F& command, device_state& link) {
    try {
      if constexpr (std::is_void_v<T>) command(link);
      else value = command(link);
    } catch (...) { batch->error = std::current_exception(); }
  }
};

}  // namespace detail

/// A queued command; copies are the same command. It may outlive the queue, and waiting for it is optional.
template <class T>
class ticket {
 public:
  explicit ticket(std::shared_ptr<detail::command_result<T>> of) : result_(std::move(of)) {}

  bool done() const { return result_->done; }

  /// Waits until the command is done; returns its result, or throws its error, as often as it is asked.
  T wait() const {
    result_->done.wait(false);
    if (result_->failed) {
      result_->batch->seen = true;
      std::rethrow_exception(result_->batch->error);
    }
    if constexpr (!std::is_void_v<T>) return *result_->value;
  }

 private:
  std::shared_ptr<detail::command_result<T>> result_;
};

class device_queue final : public detail::commands<device_queue>, private detail::background {
 public:
  /// A device has at most one queue at a time, and outlives it. Throws the error of an earlier queue that the
  /// host has not seen.
  explicit device_queue(device& d) : device_(free(d)), worker_([this] { work(); }) { d.behind_ = this; }
  device_queue(const device_queue&) = delete;
  device_queue& operator=(const device_queue&) = delete;

  /// Executes the queued commands. The next command of the device throws an error that the host has not seen.
  ~device_queue() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    more_.notify_one();
    worker_.join();
    device_.behind_ = nullptr;
    if (batch_->error && !batch_->seen) device_.left_ = std::move(batch_);
  }

  /// Waits until all commands are done; throws an error that the host has not seen.
  void wait() override {
    std::unique_lock lock(mutex_);
    quiet_.wait(lock, [this] { return commands_.empty() && !busy_; });
    batch_->throw_unless_seen();
  }

 private:
  friend detail::commands<device_queue>;

  static device& free(device& d) {
    if (d.behind_) throw fault("wsl: this device has a queue already; a device has one at a time");
    d.tell_what_is_left();
    return d;
  }

  template <class F>
  auto execute(F command) {
    device_.must_be_usable();
    using result = std::invoke_result_t<F&, detail::device_state&>;
    auto promised = std::make_shared<detail::command_result<result>>();
    {
      const std::lock_guard lock(mutex_);
      if (batch_->seen) batch_ = std::make_shared<detail::command_batch>();
      promised->batch = batch_;
      commands_.push_back(
          [this, promised, what = std::move(command)]() mutable { promised->fulfil(what, device_.link_); });
    }
    more_.notify_one();
    return ticket<result>(std::move(promised));
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [this] { return closed_ || !commands_.empty(); });
      if (commands_.empty()) return;
      do_one(lock);
      if (commands_.empty()) quiet_.notify_all();
    }
  }
  void do_one(std::unique_lock<std::mutex>& lock) {
    std::function<void()> command = std::move(commands_.front());
    commands_.pop_front();
    busy_ = true;
    lock.unlock();
    command();
    command = nullptr;
    lock.lock();
    busy_ = false;
  }

  device& device_;
  std::mutex mutex_;
  std::condition_variable more_, quiet_;
  std::deque<std::function<void()>> commands_;
  std::shared_ptr<detail::command_batch> batch_ = std::make_shared<detail::command_batch>();
  bool busy_ = false, closed_ = false;
  std::thread worker_;  // last: it starts when everything above is there
};

}  // namespace wsl
