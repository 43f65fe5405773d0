// SPDX-License-Identifier: MIT
// Chunks that were unpacked lately, for threads that read neighbouring examples: a chunk is unpacked once,
// and other threads that want it wait for it.
#pragma once
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

class chunk_cache {
 public:
  using numbers = std::shared_ptr<const std::vector<i32>>;
  using key = std::pair<u64, i64>;  ///< the dataset, and the number of its chunk

  /// Keeps chunks of about so many bytes, and at least one.
  explicit chunk_cache(std::size_t bytes = std::size_t{128} << 20) : bytes_(bytes) {}

  /// The chunk, which `load` makes if it is not there. Passes on what `load` throws to all who wait.
  numbers get(const key& which, const std::function<numbers()>& load) {
    std::promise<numbers> made;
    {
      std::unique_lock lock(mutex_);
      if (const auto at = places_.find(which); at != places_.end()) {
        entries_.splice(entries_.begin(), entries_, at->second);
        const std::shared_future<numbers> there = at->second->chunk;
        lock.unlock();
        return there.get();
      }
      entries_.push_front({which, made.get_future().share(), 0});
      places_[which] = entries_.begin();
    }
    try {
      numbers x = load();
      made.set_value(x);
      keep(which, x->size() * sizeof(i32));
      return x;
    } catch (...) {
      made.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      if (const auto at = places_.find(which); at != places_.end()) remove(at);
      throw;
    }
  }

 private:
  struct entry {
    key which;
    std::shared_future<numbers> chunk;
    std::size_t bytes;  // 0 until it is made
  };
  using place = std::map<key, std::list<entry>::iterator>::iterator;

  void remove(place at) {
    used_ -= at->second->bytes;
    entries_.erase(at->second), places_.erase(at);
  }
  void keep(const key& which, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = places_.find(which);
    if (at == places_.end()) return;
    at->second->bytes = bytes, used_ += bytes;
    // From the end, those that nobody wanted for longest; those that are being made stay.
    for (auto last = entries_.end(); used_ > bytes_ && last != entries_.begin();) {
      --last;
      if (last->bytes == 0 || last->which == which) continue;
      const auto next = std::next(last);
      remove(places_.find(last->which));
      last = next;
    }
  }

  std::mutex mutex_;
  std::list<entry> entries_;  // the one that was wanted last is the first
  std::map<key, std::list<entry>::iterator> places_;
  std::size_t bytes_, used_ = 0;
};

}  // namespace wsl::ml
