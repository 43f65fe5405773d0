// SPDX-License-Identifier: MIT
// The workers of a row exchange parts of a value on their ring. In a rotation the part of each travels round
// the ring, and every worker takes what it needs of each part. In a delivery each worker has a part for every
// other one: those of a worker leave together, and each worker on the way keeps the first and sends on the
// rest. In a sum each worker has a summand for the part of every worker of the row; a part gathers those of
// the others on its way round to its owner. Sums are made in the order of the ring, so the result is always
// the same. After the ring collectives of Patarasuk and Yuan (Journal of Parallel and Distributed Computing
// 69, 2009).
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "wires.hpp"

namespace wsl::ml {

/// What travels in an exchange, as one worker sees it. Workers are numbered as the columns.
struct row_parts {
  /// The numbers of the part from one column to another. In a rotation a part is for all columns, in a sum
  /// from all columns, and the number of these is left out of account.
  std::function<std::size_t(int from, int to)> size;
  /// Where a part lies in this worker's memory, if its numbers lie together there, and otherwise empty: in a
  /// rotation its own, which do, and that of another column when it comes; in a sum its summand for a column.
  std::function<std::span<f32>(int)> place;
  /// Writes this worker's part for a column, or in a sum its summand, or adds this to what has come. A
  /// rotation has no use for it.
  std::function<void(int, std::span<f32>, bool adds)> put;
  /// Takes the part of a column from the numbers, if it has no place; in a sum its own one, to which its
  /// summand is still to be added.
  std::function<void(int, std::span<f32>)> take;
  std::function<void(pe&)> done;
};

class row_exchange {
 public:
  void rotate(pe& me, int column, int columns, row_parts parts) {
    begin(column, columns, std::move(parts), kind::rotation);
    here_ = parts_.place(column);
    parts_.take(column, here_);
    shift(me);
  }
  void deliver(pe& me, int column, int columns, row_parts parts) {
    begin(column, columns, std::move(parts), kind::delivery);
    std::size_t all = 0;
    for (int k = 1; k < columns; ++k) all += parts_.size(column, ahead(k));
    here_ = room(packet_, all);
    std::size_t at = 0;
    for (int k = 1; k < columns; ++k) {
      const std::size_t n = parts_.size(column, ahead(k));
      if (n) parts_.put(ahead(k), here_.subspan(at, n), false);
      at += n;
    }
    if (const std::size_t n = parts_.size(column, column)) {
      parts_.put(column, room(next_, n), false);
      parts_.take(column, room(next_, n));
    }
    shift(me);
  }
  void sum(pe& me, int column, int columns, row_parts parts) {
    begin(column, columns, std::move(parts), kind::sum);
    const std::size_t n = parts_.size(owner(0), owner(0));
    here_ = parts_.place(owner(0));
    if (here_.size() != n) {
      here_ = room(packet_, n);
      if (n) parts_.put(owner(0), here_, false);
    }
    shift(me);
  }

  /// The next part has come, and the one before it has gone.
  void moved(pe& me) {
    me.block<&row_exchange::moved>();
    packet_.swap(next_);
    here_ = coming_;
    ++step_;
    const int from = owner(step_);
    switch (what_) {
      case kind::rotation:
        if (here_.size() && parts_.place(from).empty()) parts_.take(from, here_);
        break;
      case kind::delivery: {
        const std::size_t n = parts_.size(from, column_);
        if (n) parts_.take(from, here_.first(n));
        here_ = here_.subspan(n);
        break;
      }
      case kind::sum:
        if (is_last()) parts_.take(column_, here_);
        else if (here_.size()) parts_.put(from, here_, true);
        break;
    }
    shift(me);
  }

 private:
  enum class kind : u8 { rotation, delivery, sum };

  void begin(int column, int columns, row_parts parts, kind what) {
    column_ = column, columns_ = columns, parts_ = std::move(parts), what_ = what, step_ = 0;
  }
  bool is_last() const { return step_ + 1 == columns_; }
  /// The column some steps ahead on the ring.
  int ahead(int steps) const {
    return wires::ring.pe_at((wires::ring.place(column_, columns_) + steps) % columns_, columns_);
  }
  /// The column whose part is here after some steps. A sum begins at the worker after its owner.
  int owner(int step) const { return ahead(2 * columns_ - step - (what_ == kind::sum ? 1 : 0)); }
  /// The numbers that come next.
  std::size_t size_of_next() const {
    const int from = owner(step_ + 1);
    if (what_ != kind::delivery) return parts_.size(from, from);
    std::size_t n = 0;
    for (int k = 0; k + step_ + 1 < columns_; ++k) n += parts_.size(from, ahead(k));
    return n;
  }
  void shift(pe& me) {
    if (is_last()) return parts_.done(me);
    const std::size_t n = size_of_next();
    coming_ = what_ == kind::rotation ? parts_.place(owner(step_ + 1)) : std::span<f32>{};
    if (coming_.size() != n) coming_ = room(next_, n);
    if (coming_.empty()) me.activate<&row_exchange::moved>();
    else me.async(mov(mem(coming_), fabin(wires::ring.in(column_, columns_))), then<&row_exchange::moved>());
    if (here_.empty()) me.unblock<&row_exchange::moved>();
    else
      me.async(mov(fabout(wires::ring.out(column_, columns_)), mem(here_)), unblocks<&row_exchange::moved>());
  }
  static std::span<f32> room(std::vector<f32>& of, std::size_t n) {
    if (of.size() < n) of.resize(n);
    return std::span(of).first(n);
  }

  row_parts parts_;
  std::vector<f32> packet_, next_;  // room for what is here, and for what comes
  std::span<f32> here_, coming_;
  int column_ = 0, columns_ = 1, step_ = 0;
  kind what_ = kind::rotation;

 public:
  using tasks = task_list<local<&row_exchange::moved, blocked>, ring_entries<wires::ring>>;
};

}  // namespace wsl::ml
