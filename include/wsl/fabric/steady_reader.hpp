// SPDX-License-Identifier: MIT
// Who does nothing but take words as they come, so many at once and for so many cycles each time, takes each at a time that is known
// when the word is put in: a PE whose only work is an operation without an output, the receiver of a broadcast. Its words are
// gathered here, and it is looked at when there are many of them, or when something else comes to it.
#pragma once
#include <algorithm>

#include "../core/flat_vector.hpp"
#include "../core/scalar.hpp"

namespace wsl::engines {

class steady_reader {
 public:
  static constexpr u32 many = 28;  ///< with what comes until it is looked at, 32: less than a kilobyte a PE, of which a wafer has many

  struct arrival {
    u64 ready = 0, taken = 0;
    u32 bits = 0;
  };
  flat_vector<arrival> words;  ///< the oldest first

  /// From `free_from` on it takes up to `width` words at once, which keeps it for `hold` cycles. It wants no more than `most` words.
  void begin(u64 free_from, u32 width, u32 hold, u64 most) {
    free_from_ = free_from, width_ = width, hold_ = hold;
    together_ = width;
    words.clear();
    look_again(most);
  }
  /// After many words, or these.
  void look_again(u64 most) {
    limit_ = words.size() + most;
    enough_ = words.size() + std::min<u64>(most, many);
  }
  /// Says when it takes a word that can be taken from `ready` on.
  [[gnu::always_inline]] u64 take(u32 bits, u64 ready) {
    if (ready > newest_ || together_ == width_) {
      newest_ = std::max(ready, free_from_);
      free_from_ = newest_ + hold_;
      together_ = 0;
    }
    ++together_;
    words.push_back({ready, newest_, bits});
    return newest_;
  }
  bool has_many() const { return words.size() >= enough_; }
  bool has_all() const { return words.size() >= limit_; }

  std::size_t taken_before(u64 now) const {
    std::size_t n = words.size();
    while (n > 0 && words[n - 1].taken >= now) --n;
    return n;
  }
  void drop(std::size_t first) {
    for (std::size_t k = first; k < words.size(); ++k) words[k - first] = words[k];
    words.shrink(words.size() - first);
    limit_ -= std::min<u64>(limit_, first);
    enough_ -= std::min<u64>(enough_, first);
  }

 private:
  u64 free_from_ = 0, newest_ = 0, enough_ = 0, limit_ = 0;
  u32 width_ = 1, hold_ = 1, together_ = 0;
};

}  // namespace wsl::engines
