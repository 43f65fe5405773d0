// SPDX-License-Identifier: MIT
// The exchange of lines between neighbouring blocks of a solver. It differs from stencil/side_exchange.hpp in
// that a PE may listen before it has anything to send, while its neighbours still compute: long lines for
// which their receiver waits go from memory to memory at once, and no time is lost with asking for them.
// A PE that has listened must send before a launch ends, for its neighbours listen as well.
#pragma once
#include <span>
#include <utility>

#include "../../collective/neighbours.hpp"

namespace wsl::solver {

/// `halo` is the neighbours<f32> of the layout. The owner has `std::span<f32> outgoing(port side, int i)` and
/// `incoming(port side, int i)`: the i-th piece that leaves or enters by a side, empty after the last. Both
/// ends of a side have pieces of the same lengths.
template <auto halo, class Owner>
class rim_exchange {
 public:
  /// Receives what the neighbours will send next.
  void listen(pe& me, Owner& owner) {
    owner_ = &owner, listens_ = true;
    open_ = 8, done_ = then_nothing;
    take<east>(me), take<west>(me), take<north>(me), take<south>(me);
  }
  bool listens() const { return listens_; }
  /// Sends, and `done` happens when all has been sent and received.
  void start(pe& me, Owner& owner, completion done) {
    if (!listens_) owner_ = &owner, open_ = 8;
    done_ = done;
    const bool has_listened = std::exchange(listens_, false);
    give<east>(me, has_listened), give<west>(me, has_listened), give<north>(me, has_listened),
        give<south>(me, has_listened);
  }

 private:
  template <port side>
  void give(pe& me, bool has_listened) {
    pieces_out_[index_of(side)] = 0;
    send<side>(me);
    if (!has_listened) take<side>(me);
  }
  template <port side>
  void take(pe& me) {
    pieces_in_[index_of(side)] = 0;
    receive<side>(me);
  }
  // The completion of an operation starts the next. An activation is one bit, so each of the eight directions
  // has a task of its own.
  template <port side>
  void send(pe& me) {
    const auto words =
        halo.edge(me, side) ? std::span<f32>{} : owner_->outgoing(side, pieces_out_[index_of(side)]++);
    if (words.empty()) return ended(me);
    me.async(mov(halo.fabout(me, side), mem(words)), then<&rim_exchange::template send<side>>());
  }
  template <port side>
  void receive(pe& me) {
    const auto words =
        halo.edge(me, side) ? std::span<f32>{} : owner_->incoming(side, pieces_in_[index_of(side)]++);
    if (words.empty()) return ended(me);
    me.async(mov(mem(words), halo.fabin(me, side)), then<&rim_exchange::template receive<side>>());
  }
  void ended(pe& me) {
    if (--open_ == 0) collective::finish(me, halo.first, unused_, done_);
  }

  Owner* owner_ = nullptr;
  completion done_{};
  bool listens_ = false;
  int open_ = 0;                          ///< directions that are not done yet
  int pieces_out_[5]{}, pieces_in_[5]{};  ///< the number of pieces begun, by side
  f32 unused_ = 0;

  template <port side>
  using sending = local<&rim_exchange::template send<side>>;
  template <port side>
  using receiving = local<&rim_exchange::template receive<side>>;

 public:
  using tasks = task_list<sending<east>, sending<west>, sending<north>, sending<south>, receiving<east>,
                          receiving<west>, receiving<north>, receiving<south>, sends<halo>, reads<halo>>;
};

}  // namespace wsl::solver
