// SPDX-License-Identifier: MIT
// The workers of a row exchange parts of a value on their ring. In a rotation the part of each travels round
// the ring, and every worker takes what it needs of each part. In a sum each worker has a summand for the
// part of every worker of the row; a part gathers those of the others on its way round to its owner. Sums are
// made in the order of the ring, so the result is always the same. After the ring collectives of Patarasuk
// and Yuan (Journal of Parallel and Distributed Computing 69, 2009).
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "wires.hpp"

namespace wsl::ml {

/// The part of one worker in an exchange. Parts are numbered as the columns of workers.
struct row_parts {
  std::function<std::size_t(int)> size;  ///< the numbers of a part
  /// Writes this worker's own part, or in a sum adds its summand of a part.
  std::function<void(int, std::span<f32>)> put;
  /// Takes a part from the numbers; in a sum the complete one of this worker.
  std::function<void(int, std::span<const f32>)> take;
  std::function<void(pe&)> done;
};

class row_exchange {
 public:
  void rotate(pe& me, int column, int columns, row_parts parts) {
    begin(column, columns, std::move(parts), false);
    parts_.put(column, packet_);
    parts_.take(column, packet_);
    shift(me);
  }
  void sum(pe& me, int column, int columns, row_parts parts) {
    begin(column, columns, std::move(parts), true);
    parts_.put(owner(0), packet_);
    shift(me);
  }

  /// The next part has come, and the one before it has gone.
  void moved(pe& me) {
    me.block<&row_exchange::moved>();
    packet_.swap(next_);
    ++step_;
    if (!sums_) parts_.take(owner(step_), packet_);
    else {
      parts_.put(owner(step_), packet_);
      if (is_last()) parts_.take(column_, packet_);
    }
    shift(me);
  }

 private:
  void begin(int column, int columns, row_parts parts, bool sums) {
    column_ = column, columns_ = columns, parts_ = std::move(parts), sums_ = sums, step_ = 0;
    packet_.assign(parts_.size(owner(0)), 0);
  }
  bool is_last() const { return step_ + 1 == columns_; }
  /// The column whose part is here after some steps. A sum begins at the worker after its owner.
  int owner(int step) const {
    const int place = wires::ring.place(column_, columns_) - step - (sums_ ? 1 : 0);
    return wires::ring.pe_at((place + 2 * columns_) % columns_, columns_);
  }
  void shift(pe& me) {
    if (is_last()) return parts_.done(me);
    next_.resize(parts_.size(owner(step_ + 1)));
    if (next_.empty()) me.activate<&row_exchange::moved>();
    else
      me.async(mov(mem(std::span(next_)), fabin(wires::ring.in(column_, columns_))),
               then<&row_exchange::moved>());
    if (packet_.empty()) me.unblock<&row_exchange::moved>();
    else
      me.async(mov(fabout(wires::ring.out(column_, columns_)), mem(std::span(packet_))),
               unblocks<&row_exchange::moved>());
  }

  row_parts parts_;
  std::vector<f32> packet_, next_;
  int column_ = 0, columns_ = 1, step_ = 0;
  bool sums_ = false;

 public:
  using tasks = task_list<local<&row_exchange::moved, blocked>, ring_entries<wires::ring>>;
};

}  // namespace wsl::ml
