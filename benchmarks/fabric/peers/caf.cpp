// SPDX-License-Identifier: MIT
// The relay as actors of the C++ Actor Framework: one actor for each PE, on one worker thread; another thread
// sends the waves.
#include <caf/all.hpp>

#include <atomic>
#include <vector>

#include "../measure.hpp"

namespace {

/// The results of all actors, which are checked at the end.
struct results {
  std::vector<float> sums;
  std::atomic<std::uint64_t> arrived{0};
};

caf::behavior relay(caf::event_based_actor* self, results* all, std::size_t i, const caf::actor& next) {
  return {[=](float x) {
    all->sums[i] += x;
    if (next) self->send(next, x + 1);
    else all->arrived.fetch_add(1, std::memory_order_release);
  }};
}

struct one_worker : caf::actor_system_config {
  one_worker() { set("scheduler.max-threads", 1); }
};

class rows_of_actors {
 public:
  rows_of_actors(int width, int height, int waves) : width_(width), height_(height), waves_(waves) {
    all_.sums.resize(static_cast<std::size_t>(width * height));
    for (int y = 0; y < height; ++y) {
      caf::actor next;
      for (int x = width - 1; x >= 0; --x)
        next = system_.spawn(relay, &all_, static_cast<std::size_t>(y * width + x), next);
      first_.push_back(next);
    }
  }
  ~rows_of_actors() {
    for (const caf::actor& a : first_) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    first_.clear();
  }

  double run() {
    for (int k = 0; k < waves_; ++k)
      for (const caf::actor& a : first_) caf::anon_send(a, 1.f);
    ++runs_;
    const auto expected = static_cast<std::uint64_t>(runs_) * static_cast<std::uint64_t>(waves_ * height_);
    while (all_.arrived.load(std::memory_order_acquire) != expected) std::this_thread::yield();
    return static_cast<double>(all_.sums.size()) * waves_;
  }
  void check() const {
    for (std::size_t i = 0; i < all_.sums.size(); ++i)
      bench::require(all_.sums[i] == static_cast<float>(static_cast<int>(i) % width_ + 1) *
                                         static_cast<float>(waves_ * runs_),
                     "CAF has a wrong sum");
  }

 private:
  int width_, height_, waves_, runs_ = 0;
  results all_;
  one_worker choice_;
  caf::actor_system system_{choice_};
  std::vector<caf::actor> first_;
};

using enum bench::unit;
const bool added[] = {
    bench::add<rows_of_actors>("relay 32x32", "CAF", mega_per_second, 3, 32, 32, 700),
    bench::add<rows_of_actors>("relay chain of 16", "CAF", mega_per_second, 3, 16, 1, 40'000),
};

}  // namespace
