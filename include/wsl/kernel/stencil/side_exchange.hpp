// SPDX-License-Identifier: MIT
// The exchange of boundary lines between neighbouring blocks of a grid. Each of a PE's four sides proceeds at
// its own pace. The numbers that cross a side lie in one or more pieces of memory that the owner names, so
// whole lines travel without a copy. It is a member of the PE program, with `use<&wave_pe::sides>` in its
// table. See kernel/wave25/wave_pe.hpp and kernel/solver/solver_pe.hpp.
//
// A PE may listen before it has anything to send, while its neighbours still compute: long lines for which
// their receiver waits go from memory to memory at once.
#pragma once
#include <span>
#include <utility>

#include "../../collective/neighbours.hpp"

namespace wsl {

/// `halo` is the neighbours<f32> of the layout. The owner has `std::span<f32> outgoing(port side, int i)` and
/// `incoming(port side, int i)`: the i-th piece that leaves or enters by a side, empty after the last. Both
/// ends of a side have pieces of the same lengths.
template <auto halo, class Owner>
class side_exchange {
 public:
  /// Receives what the neighbours will send next. Then this PE must send as well before its launch ends, for
  /// its neighbours may listen, too.
  void listen(pe& me, Owner& owner) {
    owner_ = &owner, open_ = 8, listens_ = true;
    hear<east>(me), hear<west>(me), hear<north>(me), hear<south>(me);
  }
  bool listens() const { return listens_; }
  /// Sends, and receives if the PE has not listened; `done` happens when all is there.
  void start(pe& me, Owner& owner, completion done) {
    done_ = done;
    if (!listens_) owner_ = &owner, open_ = 8;
    const bool hears = std::exchange(listens_, false);
    begin<east>(me, hears), begin<west>(me, hears), begin<north>(me, hears), begin<south>(me, hears);
  }

 private:
  template <port side>
  void begin(pe& me, bool hears) {
    pieces_out_[index_of(side)] = 0;
    send<side>(me);
    if (!hears) hear<side>(me);
  }
  template <port side>
  void hear(pe& me) {
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
    me.async(mov(halo.fabout(me, side), mem(words)), then<&side_exchange::template send<side>>());
  }
  template <port side>
  void receive(pe& me) {
    const auto words =
        halo.edge(me, side) ? std::span<f32>{} : owner_->incoming(side, pieces_in_[index_of(side)]++);
    if (words.empty()) return ended(me);
    me.async(mov(mem(words), halo.fabin(me, side)), then<&side_exchange::template receive<side>>());
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
  using sending = local<&side_exchange::template send<side>>;
  template <port side>
  using receiving = local<&side_exchange::template receive<side>>;

 public:
  using tasks = task_list<sending<east>, sending<west>, sending<north>, sending<south>, receiving<east>,
                          receiving<west>, receiving<north>, receiving<south>, sends<halo>, reads<halo>>;
};

}  // namespace wsl
