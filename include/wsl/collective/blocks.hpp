// SPDX-License-Identifier: MIT
// The common part of scatter and gather: the root has a block of words for, or from, every PE of its row, its
// column or the rectangle, in the order of their indices, row by row. Blocks pass from PE to PE along the
// rows and along the root's column, whose PEs pass on whole rows. A row travels in three pieces: the blocks
// west of the root's column, the block in it, and the blocks east of it.
#pragma once
#include "cost.hpp"
#include "relay.hpp"
#include "team_calls.hpp"

namespace wsl::collective {

/// The relays along which the blocks of a module with a root pass.
struct block_relays {
  relay x, y;

  template <class Net>
  constexpr block_relays(const Net& net, const region& r)
      : x{lines_of(r, axis::x, net.among, net.root, net.name), net.first},
        y{lines_of(r, axis::y, net.among, net.root, net.name),
          net.among == team::rectangle ? net.first + 2 : net.first} {}
  constexpr block_relays() = default;

  static constexpr int colors(team among) { return among == team::rectangle ? 4 : 2; }
  constexpr int blocks() const { return x.where.size() * y.where.size(); }
  constexpr int farthest() const { return x.where.farthest() + y.where.farthest(); }

  /// The root handles a block of every other PE.
  constexpr f64 busy(int words) const {
    return pattern{.contention = f64(words) * (blocks() - 1), .distance = 1, .depth = 1}.cycles() + 1;
  }
  /// A block passes the PEs on its way to or from the root.
  static constexpr f64 way(int words, f64 away) { return words + away * (handling + 1); }
  /// The root copies its own block, and a completion tells each PE that it is done.
  static constexpr f64 ends(int words, std::size_t bytes) { return copying(words, bytes) + restart; }
};

/// The part of such a module in a PE program. The module derives from it (`Steps`) and defines each step.
template <auto net, class Steps>
class block_part {
 protected:
  using T = typename decltype(net)::element;

 public:
  /// At every PE but the root: `done` happens when its own block has been sent or received, and those of
  /// the PEs beyond it have passed.
  void start(pe& me, memory<T> own, completion done = then_nothing) {
    begin(me, own, done);
    if (is_root()) faults::this_PE_is_the_root(net.name, me.at());
    go_on(me);
  }

 protected:
  void start_at_root(pe& me, memory<T> blocks, memory<T> own, const completion& done) {
    begin(me, own, done);
    if (!is_root()) faults::this_PE_is_not_the_root(net.name, me.at());
    if (blocks.length() != relays_.blocks() * own.length())
      faults::the_blocks_do_not_fit(net.name, me.at(), blocks.length(), relays_.blocks(), own.length());
    blocks_ = blocks;
    go_on(me);
  }

  // The actions of a step. They return whether they have started an operation.
  bool pass(pe& me, color<T> out, color<T> in, int n) {
    return n > 0 && run(me, mov(fabout(out), fabin(in, n)));
  }
  template <class Operation>
  bool run(pe& me, const Operation& op) {
    return me.async(op, then<&block_part::go_on>()), true;
  }

  int block() const { return own_.length(); }
  /// The words of a piece of a row, and its place in the root's array.
  int words(int piece) const { return block() * (piece == 1 ? 1 : relays_.x.where.reach(piece / 2)); }
  memory<T> piece_of(int row, int piece) const {
    const int before = piece == 0 ? 0 : piece == 1 ? words(0) : words(0) + words(1);
    return blocks_.part(row * relays_.x.where.size() * block() + before, words(piece));
  }
  int words_beyond_in_row() const { return (relays_.x.where.reach(side_.x) - away_.x) * block(); }
  int words_beyond_in_column() const {
    return (relays_.y.where.reach(side_.y) - away_.y) * relays_.x.where.size() * block();
  }
  /// The color between this PE and the one before it (`beyond` 0) or the one after it (1); and the color of
  /// a piece of a root's row.
  color<T> in_row_color(int beyond) const { return {relays_.x.color_of(side_.x, away_.x + beyond)}; }
  color<T> in_column_color(int beyond) const { return {relays_.y.color_of(side_.y, away_.y + beyond)}; }
  color<T> piece_color(int piece) const { return {relays_.x.color_of(piece / 2, 1)}; }

 private:
  void begin(pe& me, memory<T> own, const completion& done) {
    const region r = rectangle_of(me, net.where, net.name);
    if (own.length() < 1) faults::a_collective_moves_at_least_one_word(net.name, me.at());
    must_agree_in_team<net>(me, r, own.length());
    const coord at = me.at() - corner(r);
    relays_ = {net, r};
    away_ = {relays_.x.where.distance_of(at.x), relays_.y.where.distance_of(at.y)};
    side_ = {relays_.x.where.side_of(at.x), relays_.y.where.side_of(at.y)};
    own_ = own, done_ = done, step_ = 0;
  }
  bool is_root() const { return away_.x == 0 && away_.y == 0; }
  // The completion of an operation starts the next step.
  void go_on(pe& me) {
    Steps& steps = static_cast<Steps&>(*this);
    const int last = away_.x ? 2 : away_.y ? 4 : 3 * relays_.y.where.size();
    while (step_ < last) {
      const int step = step_++;
      if (away_.x ? steps.in_row(me, step) : away_.y ? steps.in_column(me, step) : steps.at_root(me, step))
        return;
    }
    finish(me, net.first, unused_, done_);
  }

 protected:
  block_relays relays_;
  coord away_, side_;
  memory<T> own_{nullptr, 0}, blocks_{nullptr, 0};
  completion done_{};
  int step_ = 0;
  T unused_{};

 public:
  using tasks = task_list<local<&block_part::go_on>, uses_colors<T, net.first, net.colors()>>;
};

}  // namespace wsl::collective
