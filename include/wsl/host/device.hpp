// SPDX-License-Identifier: MIT
// The device is how the host works with a fabric: numbers in, functions launched, numbers out. Its commands,
// listed in commands.hpp, are done when they return.
//   device d{f};
//   d.copy_in(&part::x, all, x);
//   d.launch<&part::go>(all, 0.5f);
//   d.copy_out(&part::y, all, y);
// queue.hpp does the same while the host goes on. Give a fabric one device: each keeps the words of streams
// that it has fetched and not yet read, and another one does not see these. See examples/11_host_streams.cpp.
#pragma once
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "commands.hpp"

namespace wsl {

namespace detail {

/// The interface of a worker that uses the device while the host does something else, such as `device_queue`.
class background {
 public:
  /// Waits until nothing is left to do; throws an error that the host has not seen.
  virtual void wait() = 0;

 protected:
  ~background() = default;
};

/// The commands of a queue between two moments at which the host saw an error: the first failure among them
/// is the error of the rest.
struct command_batch {
  std::exception_ptr error;  // written by the worker; the host reads it after a command of the batch is done
  std::atomic<bool> seen = false;

  void throw_unless_seen() {
    if (error && !seen.exchange(true)) std::rethrow_exception(error);
  }
};

}  // namespace detail

class device : public detail::commands<device>, private detail::fabric_user {
 public:
  /// The fabric must outlive the device: afterwards every command throws fault.
  explicit device(fabric& f) : detail::fabric_user(f), link_{f, detail::host_streams{f}} {}
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  /// Writes to stderr an error of a queue that the host has not seen.
  ~device() {
    try {
      tell_what_is_left();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "wsl: a command of a device_queue failed, and nobody has looked at it:\n%s\n",
                   e.what());
    } catch (...) {
      std::fputs("wsl: a command of a device_queue failed, and nobody has looked at it\n", stderr);
    }
  }

  /// A member of the program on one PE, as fabric::read.
  template <class P, class T>
  const T& read(int x, int y, T P::* member) {
    wait();
    return link_.on.read(x, y, member);
  }

  /// Waits for the commands in the queue, as every command does first; throws an error of theirs that the
  /// host has not seen, also after the queue has gone.
  void wait() {
    must_be_usable();
    if (behind_) behind_->wait();
    tell_what_is_left();
  }

 private:
  friend detail::commands<device>;
  friend class device_queue;

  /// Throws fault if its fabric is gone, or if a task of that asks.
  void must_be_usable() const {
    must_have_fabric();
    if (engines::runs_a_task()) link_.on.resting_engine();
  }

  void tell_what_is_left() {
    if (const auto left = std::exchange(left_, nullptr)) left->throw_unless_seen();
  }

  template <class F>
  auto execute(F command) {
    wait();
    return command(link_);
  }

  detail::device_state link_;
  detail::background* behind_ = nullptr;
  std::shared_ptr<detail::command_batch> left_;  // of a queue that is gone, after a failure
};

}  // namespace wsl
