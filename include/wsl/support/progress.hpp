// SPDX-License-Identifier: MIT
// A progress display on stderr for a long run, updated at most a few times a second: on a terminal one line
// that rewrites itself, elsewhere line by line and only if WSL_PROGRESS is set. WSL_PROGRESS=0 disables it
// everywhere.
//   progress p{"steps", total};
//   for (...) { step(); p.tick(); }
#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "text.hpp"

namespace wsl::support {

class progress {
 public:
  using clock = std::chrono::steady_clock;
  using sink = std::function<void(std::string_view)>;  ///< takes characters as a terminal would
  enum class shape { lines, one_line };

  /// A display on stderr. `total` is the number of ticks that complete it, 0 if it is not known.
  progress(std::string what, std::uint64_t total)
      : progress(std::move(what), total, stderr_sink(), on_terminal() ? shape::one_line : shape::lines) {}
  /// A display in a sink, at most once an interval. An empty sink shows nothing.
  progress(std::string what, std::uint64_t total, sink where, shape how = shape::lines,
           clock::duration interval = std::chrono::milliseconds(250))
      : what_(std::move(what)),
        total_(total),
        where_(std::move(where)),
        shape_(how),
        interval_(interval),
        next_(clock::now() + interval) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// The final state is shown if anything was shown before; a run that is over within one interval shows
  /// nothing.
  ~progress() {
    if (!shown_) return;
    try {
      if (last_ != done_) show();
      if (shape_ == shape::one_line) where_("\n");
    } catch (...) {  // a run does not fail because its progress could not be shown
    }
  }

  void tick(std::uint64_t steps = 1) {
    done_ += steps;
    if (!where_) return;
    const clock::time_point now = clock::now();
    if (now < next_) return;
    next_ = now + interval_;
    show();
  }

  std::uint64_t done() const { return done_; }

  /// "steps 37 of 100, 37 %", or "steps 37" without a total.
  std::string text() const {
    if (total_ == 0) return joined({what_, " ", done_});
    return joined({what_, " ", done_, " of ", total_, ", ", percent(), " %"});
  }

 private:
  std::uint64_t percent() const {
    return static_cast<std::uint64_t>(100.0 * static_cast<double>(done_) / static_cast<double>(total_));
  }

  void show() {
    const bool rewrite = shape_ == shape::one_line;
    std::string line = rewrite ? "\r" : "";
    where_((line += text()) += rewrite ? "\x1b[K" : "\n");
    shown_ = true;
    last_ = done_;
  }

  static bool on_terminal() { return isatty(STDERR_FILENO) == 1; }
  static bool wanted() {
    const char* asked = std::getenv("WSL_PROGRESS");
    return asked ? std::string_view(asked) != "0" : on_terminal();
  }
  static sink stderr_sink() {
    if (!wanted()) return {};
    return [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
  }

  std::string what_;
  std::uint64_t total_, done_ = 0, last_ = 0;
  sink where_;
  shape shape_;
  clock::duration interval_;
  clock::time_point next_;
  bool shown_ = false;
};

}  // namespace wsl::support
