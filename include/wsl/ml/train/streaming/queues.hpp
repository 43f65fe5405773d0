// SPDX-License-Identifier: MIT
// The two queues between the fabric and the computation of a worker: weight tiles that have come, and
// gradients that are to go. Both are short, so the memory of a PE holds a few tiles and never a layer.
#pragma once
#include <utility>

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

/// The ways that gradients take at a worker, each with one of them at a time: sums from the neighbours to the
/// north and to the south are added to its own, and its sums go to the server beside it or to a neighbour.
enum class gradient_port : u8 { from_north, from_south, to_server, to_south, to_north };

/// Gradients in the order in which they are made. Each passes the ports that it needs: first those from which
/// sums come, then the one by which it leaves. On each port they follow each other in the order in which they
/// are made, which all workers of a column know; those on different ports travel at the same time.
class gradient_queue {
 public:
  void begin(std::size_t max_size, int servers, int worker) {
    servers_ = servers, worker_ = worker;
    slots_.resize(static_cast<std::size_t>(4 * servers));
    for (slot& s : slots_) s.numbers.resize(max_size), s.holds = nothing;
    for (port& p : ports_) p = {};
    made_ = gone_ = 0;
  }
  bool has_room(const weight_transfer& t) const { return t.gradient < gone_ + slots_.size(); }
  std::span<f32> of(const weight_transfer& t) {
    return std::span(at(t.gradient).numbers).first(t.gradients());
  }
  void made(const weight_transfer& t) {
    slot& s = at(t.gradient);
    s.holds = t.gradient, s.lacks_north = needs(t, gradient_port::from_north),
    s.lacks_south = needs(t, gradient_port::from_south);
    ++made_;
  }
  /// Whether all gradients that are made have gone.
  bool is_idle() const { return gone_ == made_; }

  /// Takes the next gradient of a port, if it is made and has passed the ports before this one and if the
  /// port is free; otherwise null.
  const weight_transfer* start(const std::vector<weight_transfer>& all, gradient_port which) {
    port& p = of(which);
    if (p.at_work) return nullptr;
    while (p.transfer < all.size() && !(all[p.transfer].returns_gradient && needs(all[p.transfer], which)))
      ++p.transfer;
    if (p.transfer == all.size()) return nullptr;
    const weight_transfer& t = all[p.transfer];
    slot& s = at(t.gradient);
    if (s.holds != t.gradient) return nullptr;
    if (which != gradient_port::from_north && s.lacks_north) return nullptr;
    if (is_way_out(which) && s.lacks_south) return nullptr;
    p.at_work = &s, ++p.transfer;
    return &t;
  }
  void finish(gradient_port which) {
    slot& s = *std::exchange(of(which).at_work, nullptr);
    if (which == gradient_port::from_north) s.lacks_north = false;
    else if (which == gradient_port::from_south) s.lacks_south = false;
    else s.holds = nothing;
    while (gone_ < made_ && at(gone_).holds == nothing) ++gone_;
  }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  struct slot {
    std::vector<f32> numbers;
    std::size_t holds = nothing;  ///< number of the gradient that is made and has not gone
    bool lacks_north = false, lacks_south = false;
  };
  struct port {
    std::size_t transfer = 0;  ///< index of its next transfer, or of one before that
    slot* at_work = nullptr;
  };
  static bool is_way_out(gradient_port which) { return which >= gradient_port::to_server; }
  /// Whether a gradient passes a port of this worker. Sums come from both ends of the column to its server.
  bool needs(const weight_transfer& t, gradient_port which) const {
    switch (which) {
      case gradient_port::from_north: return worker_ > 0 && t.server >= worker_;
      case gradient_port::from_south: return worker_ + 1 < servers_ && t.server <= worker_;
      case gradient_port::to_server: return t.server == worker_;
      case gradient_port::to_south: return t.server > worker_;
      case gradient_port::to_north: return t.server < worker_;
    }
    return false;
  }
  slot& at(std::size_t gradient) { return slots_[gradient % slots_.size()]; }
  port& of(gradient_port which) { return ports_[static_cast<std::size_t>(which)]; }

  int servers_ = 1, worker_ = 0;
  std::vector<slot> slots_;
  port ports_[5];
  std::size_t made_ = 0;  // gradients so far
  std::size_t gone_ = 0;  // all gradients before this one are gone
};

}  // namespace wsl::ml
