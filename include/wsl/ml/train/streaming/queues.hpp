// SPDX-License-Identifier: MIT
// The two queues between the fabric and the computation of a worker: weight tiles that have come, and
// gradients that are to go. Both are short, so the memory of a PE holds a few tiles and never a layer.
#pragma once
#include "schedule.hpp"

namespace wsl::ml {

/// The tiles of one server, as words: the next may come while the one before it waits to be used.
class tile_queue {
 public:
  /// Empties the queue for a step whose largest tile has `max_words` words.
  void begin(std::size_t max_words, precision as) {
    first_ = count_ = transfer_ = 0, receiving_ = false, as_ = as;
    for (std::vector<f32>& x : words_) x.resize(max_words);
  }
  bool empty() const { return count_ == 0; }
  f32* front() { return words_[first_ % places].data(); }
  void pop() { ++first_, --count_; }
  void push() { ++count_, receiving_ = false; }

  /// The next transfer whose tile may come now, or null if one is already on its way, if there is no room, if
  /// its layer lies beyond `layer`, or if there is none.
  const weight_transfer* next(const std::vector<weight_transfer>& all, int server, int layer) {
    if (receiving_ || count_ == places) return nullptr;
    while (transfer_ < all.size() && !all[transfer_].is_sent_by(server)) ++transfer_;
    if (transfer_ == all.size() || all[transfer_].layer > layer) return nullptr;
    receiving_ = true;
    return &all[transfer_++];
  }
  std::span<f32> room(const weight_transfer& t) {
    return std::span(words_[(first_ + count_) % places]).first(t.words(as_));
  }

 private:
  static constexpr std::size_t places = 2;
  std::vector<f32> words_[places];
  std::size_t first_ = 0, count_ = 0, transfer_ = 0;
  bool receiving_ = false;
  precision as_ = precision::f32;
};

/// The destination of a worker's gradients: the server beside it, or the worker to the south or north.
enum class direction : u8 { server, south, north };

/// Gradients in the order in which they are made. They are sent in that order too; those that leave in
/// different directions travel at the same time.
class gradient_queue {
 public:
  void begin(std::size_t max_size, int servers) {
    slots_.resize(static_cast<std::size_t>(4 * servers));
    for (slot& s : slots_) s.numbers.resize(max_size), s.holds = nothing;
    transfer_ = made_ = started_ = gone_ = 0;
  }
  bool has_room(const weight_transfer& t) const { return t.gradient < gone_ + slots_.size(); }
  std::span<f32> of(const weight_transfer& t) { return std::span(at(t.gradient).numbers).first(t.size()); }
  void made(const weight_transfer& t) { at(t.gradient).holds = t.gradient, ++made_; }
  /// Whether all gradients that are made have gone.
  bool is_idle() const { return gone_ == made_; }

  /// The next gradient in order, or null if it has not been made yet or if there is none.
  const weight_transfer* next(const std::vector<weight_transfer>& all) {
    while (transfer_ < all.size() && !all[transfer_].returns_gradient) ++transfer_;
    return transfer_ < all.size() && at(all[transfer_].gradient).holds == all[transfer_].gradient
               ? &all[transfer_]
               : nullptr;
  }
  void start(const weight_transfer& t, direction d) {
    ++transfer_, ++started_;
    sending(d) = &at(t.gradient);
  }
  bool busy(direction d) const { return sending_[static_cast<std::size_t>(d)]; }
  void finish(direction d) {
    std::exchange(sending(d), nullptr)->holds = nothing;
    while (gone_ < started_ && at(gone_).holds == nothing) ++gone_;
  }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  struct slot {
    std::vector<f32> numbers;
    std::size_t holds = nothing;  ///< number of the gradient that is made and has not gone
  };
  slot& at(std::size_t gradient) { return slots_[gradient % slots_.size()]; }
  slot*& sending(direction d) { return sending_[static_cast<std::size_t>(d)]; }

  std::vector<slot> slots_;
  slot* sending_[3] = {};
  std::size_t transfer_ = 0;  // index of the next transfer
  std::size_t made_ = 0;      // gradients so far
  std::size_t started_ = 0;   // gradients that are on their way or gone
  std::size_t gone_ = 0;      // all gradients before this one are gone
};

}  // namespace wsl::ml
