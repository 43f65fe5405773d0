// SPDX-License-Identifier: MIT
// The PE program of all solvers, and its layout. A method is a state machine that decides which pass comes
// next. Every PE runs it with the same totals and so comes to the same decision without being told. In a pass
// with a product a PE updates the lines at the rim of its block first and sends them to its neighbours. When
// theirs have come, it goes through all of its lines once, and then the totals are reduced over the fabric.
// The wafer's algorithm: Rocki et al., arXiv 2010.03660.
#pragma once
#include "../../collective/all_reduce.hpp"
#include "../stencil/grid.hpp"
#include "../stencil/side_exchange.hpp"
#include "running_sum.hpp"
#include "solution.hpp"
#include "storage.hpp"
#include "totals_of_all.hpp"

namespace wsl::solver {

inline constexpr neighbours<f32> halo{0};  ///< colors 0 to 7
/// Colors 8 to 12. The totals meet in the centre, to which the ways are half as long.
inline constexpr all_reduce<f32> joining{.first = 8, .words = most_sums, .place = total_at::centre};
/// Blocks are few, and their computer has colors for all of them: 8 to 55.
inline constexpr totals_of_all joining_blocks{.first = 8, .words = most_sums};
/// How the totals of a storage's PEs are added up.
template <class Storage>
constexpr auto joining_of() {
  if constexpr (Storage::is_for_wafers) return joining;
  else return joining_blocks;
}

/// The next action: the next pass, the first pass of the next iteration, or the end, with or without one
/// more iteration.
enum class verdict : u8 { next_pass, next_iteration, last_iteration, end };

/// Iterations of one launch, whose results a PE keeps for the host.
inline constexpr int most_iterations_a_launch = 64;

/// The common part of the programs of all storages: a launch, and the decision after a pass. `Program` has
/// the task `proceed`, which begins the pass that the method presents.
template <class Program, class Method, class Storage>
class solver_control {
 public:
  Method method;  // which the host fills before the first launch

  /// The measure of each iteration of the last launch: |r| / |b|, or the eigenvalue.
  std::span<const f32> history() const { return {history_, static_cast<std::size_t>(done_)}; }

  void iterate(pe& me, int iterations) {
    left_ = iterations, done_ = 0;
    if (left_ > 0) me.activate<&Program::proceed>();
  }
  /// Applies the updates that the method has postponed, so that x is that of its last iteration.
  void close(pe& me) {
    left_ = done_ = 0;
    if (method.close()) me.activate<&Program::proceed>();
  }

 protected:
  /// Adds up the totals of all PEs, of a number of sums.
  void join(pe& me, int sums) {
    if (sums > 0) joining_.start(me, mem(totals_).part(0, sums), then<&solver_control::decide>());
    else me.activate<&solver_control::decide>();
  }
  void decide(pe& me) {
    const verdict v = method.decide(totals_);
    if (v == verdict::next_iteration || v == verdict::last_iteration)
      history_[done_++] = method.measured(), --left_;
    if (v == verdict::next_pass || (v == verdict::next_iteration && left_ > 0))
      me.activate<&Program::proceed>();
    else if constexpr (requires(Program& p) { p.rest(me); }) static_cast<Program*>(this)->rest(me);
  }

  bool is_last_iteration() const { return left_ <= 1; }

  f32 totals_[most_sums]{};

 private:
  int left_ = 0, done_ = 0;
  f32 history_[most_iterations_a_launch]{};
  endpoint<joining_of<Storage>()> joining_;

 public:
  using tasks = task_list<launch<&solver_control::iterate>, launch<&solver_control::close>,
                          local<&solver_control::decide>, use<&solver_control::joining_>>;
};

template <class Method, class Storage>
class solver_pe : public solver_control<solver_pe<Method, Storage>, Method, Storage> {
  using control = solver_control<solver_pe, Method, Storage>;
  friend control;

 public:
  using vector_store = typename Storage::template vector_store<Method::vectors>;
  using control::method;

  // The host fills it before the first launch.
  vector_store store;
  void shape(const stencil& a, const cells& own, const grid::lines& inner) {
    own_ = own, inner_ = inner;
    store.shape(a, own);
  }
  std::span<f32> outgoing(port side, int piece) { return face(side, piece, false); }
  std::span<f32> incoming(port side, int piece) { return face(side, piece, true); }

 private:
  using pass = any_pass<Method::vectors>;
  void present(pe& me, void (solver_pe::*go)(pe&, const pass&)) {
    method.present([&](const auto& p) {
      if constexpr (!Storage::is_for_wafers)
        if (fetches_) return (this->*go)(me, without_type<true>(p));
      (this->*go)(me, without_type<false>(p));
    });
  }

  void proceed(pe& me) {
    for (running_sum& s : sums_) s = {};
    fetches_ = has_to_fetch(me);
    present(me, &solver_pe::begin);
  }
  void go_on(pe& me) { present(me, &solver_pe::go_through); }
  void go_on_together(pe& me) { go_on(me); }  // the same as a task that runs for long
  /// The end of a launch.
  void rest(pe& me) {
    if (sides_.listens()) sides_.start(me, *this, then_nothing);
  }

  void begin(pe& me, const pass& p) {
    if (p.multiply) {
      rim([&](const grid::lines& l) { prepare(p, l); });
      crossing_ = p.from;
      // In a row all PEs have their lines at the same time, and need not wait for each other.
      sides_.start(me, *this,
                   me.height() == 1 ? then<&solver_pe::go_on>() : then<&solver_pe::go_on_together>());
    } else {
      prepare(p, {{0, own_.x}, {0, own_.y}});
      spend(me, p);
      join(me, p);
    }
  }
  void go_through(pe& me, const pass& p) {
    sweep(p);
    spend(me, p);
    if (!Storage::is_for_wafers && p.next_from >= 0 && !(p.iterates && control::is_last_iteration())) {
      crossing_ = p.next_from;
      sides_.listen(me, *this);
    }
    join(me, p);
  }
  void join(pe& me, const pass& p) {
    for (int k = 0; k < most_sums; ++k) control::totals_[k] = sums_[k].value();
    control::join(me, p.sums);
  }

  /// Whether lines are fetched ahead: if all PEs together have more than a cache holds. But where several
  /// weights differ from line to line, a product reads from more lines than a processor can fetch at once.
  bool has_to_fetch(const pe& me) const {
    if constexpr (Storage::is_for_wafers) return false;
    const std::size_t pes = static_cast<std::size_t>(me.width() * me.height());
    int varying = 0;
    for (int k = 0; k < stencil_points; ++k) varying += store.weight_step(k) != 0;
    return varying < 2 && pes * own_.count() * Method::vectors * sizeof(f32) > bytes_in_cache;
  }
  static constexpr std::size_t bytes_in_cache = 16 << 20;

  /// The time of a pass on a wafer: a cycle for each operation on f32 and each cell.
  void spend(pe& me, const pass& p) { me.spend(static_cast<u64>(p.operations) * own_.count()); }

  /// The lines at the rim: those that neighbours need.
  template <class F>
  void rim(F f) {
    f({{0, inner_.x.from}, {0, own_.y}});
    f({inner_.x, {0, inner_.y.from}});
    f({inner_.x, {std::max(inner_.y.from, inner_.y.to), own_.y}});
    f({{std::max(inner_.x.from, inner_.x.to), own_.x}, {0, own_.y}});
  }

  // Plane after plane. The product is one plane and one line behind the update that it needs, so a tile's
  // lines of a few planes stay in cache. Every other pass goes backward and starts with the lines that the
  // pass before it used last. The rim has been updated already.
  void sweep(const pass& p) {
    const int planes = own_.x, tile = std::max(8, static_cast<int>(words_a_tile / store.stride()));
    backward_ = !backward_;
    const auto plane = [&](int i) { return backward_ ? planes - 1 - i : i; };
    for (int y = 0; y < own_.y; y += tile) {
      const bool last = y + tile >= own_.y;
      const grid::range ahead{y, last ? own_.y : y + tile},
          behind{y == 0 ? 0 : y - 1, last ? own_.y : y + tile - 1};
      for (int i = 0; i <= planes; ++i) {
        if (i < planes && inner_.x.has(plane(i)))
          prepare(p, {{plane(i), plane(i) + 1}, grid::overlap(ahead, inner_.y)});
        if (i > 0) multiply(p, {{plane(i - 1), plane(i - 1) + 1}, behind});
      }
    }
  }
  static constexpr std::ptrdiff_t words_a_tile = 1 << 15;

  void prepare(const pass& p, const grid::lines& l) {
    each_plane(p, l, [&](int x, f32* sums) {
      p.prepare(p.self, lines_at(x, l.y.from), vectors_ahead(p.of_update, x, l.y.from), store.stride(),
                l.y.size(), whole_vectors(own_.z), sums);
    });
  }
  void multiply(const pass& p, const grid::lines& l) {
    each_plane(p, l, [&](int x, f32* sums) {
      surroundings s{store.line(p.from, x - 1, l.y.from),
                     store.line(p.from, x + 1, l.y.from),
                     store.line(p.from, x, l.y.from - 1),
                     store.line(p.from, x, l.y.from + 1),
                     {},
                     {}};
      for (int k = 0; k < stencil_points; ++k)
        s.weights[k] = store.weights(k, x, l.y.from), s.steps[k] = store.weight_step(k);
      upcoming_lines soon = vectors_ahead(p.of_product, x, l.y.from);
      if (fetches_)
        for (int k = 0; k < stencil_points; ++k)
          if (s.steps[k]) soon.add(s.weights[k]);
      p.multiply(p.self, lines_at(x, l.y.from), s, soon, store.stride(), l.y.size(), whole_vectors(own_.z),
                 sums);
    });
  }
  template <class F>
  void each_plane(const pass& p, const grid::lines& l, F f) {
    if (l.count() == 0) return;
    for (int x = l.x.from; x < l.x.to; ++x) {
      f32 sums[most_sums]{};
      f(x, sums);
      for (int k = 0; k < p.sums; ++k) sums_[k].add(sums[k]);
    }
  }
  upcoming_lines vectors_ahead(unsigned vectors, int x, int y) {
    upcoming_lines soon;
    for (int v = 0; fetches_ && v < Method::vectors; ++v)
      if (vectors >> v & 1) soon.add(store.line(v, x, y));
    return soon;
  }
  bundle<Method::vectors> lines_at(int x, int y) {
    bundle<Method::vectors> b;
    for (int v = 0; v < Method::vectors; ++v) b.line[static_cast<std::size_t>(v)] = store.line(v, x, y);
    return b;
  }

  // A side in x is one piece, with the zeros between its lines; a side in y is a line of each plane.
  std::span<f32> face(port side, int piece, bool beyond) {
    const bool along_x = side == east || side == west, far = side == east || side == south;
    if (piece >= (along_x ? 1 : own_.x)) return {};
    const int place = (far ? (along_x ? own_.x : own_.y) : -1) + (beyond ? 0 : far ? -1 : 1);
    const std::ptrdiff_t words = (along_x ? own_.y - 1 : 0) * store.stride() + own_.z;
    return {along_x ? store.line(crossing_, place, 0) : store.line(crossing_, piece, place),
            static_cast<std::size_t>(words)};
  }
  cells own_;          // lines in x and y, cells in z
  grid::lines inner_;  // those that no neighbour needs
  bool backward_ = false;
  bool fetches_ = false;
  running_sum sums_[most_sums];
  int crossing_ = 0;  // the vector whose lines travel
  side_exchange<halo, solver_pe> sides_;

 public:
  using tasks = task_list<typename control::tasks, local<&solver_pe::proceed>, local<&solver_pe::go_on>,
                          long_running<local<&solver_pe::go_on_together>>, use<&solver_pe::sides_>>;
};

/// wide x high PEs, each with the same program. Even and odd columns and rows are placed by themselves: of
/// the eight colors of its neighbours a PE receives four, and a wafer has eight input queues.
template <class Method, class Storage>
  requires(!Storage::is_mixed)
constexpr layout plan(const machine& target, int wide, int high) {
  layout l{target, wide, high};
  for (int x = 0; x < support::min(2, wide); ++x)
    for (int y = 0; y < support::min(2, high); ++y)
      l.place<solver_pe<Method, Storage>>(columns(x, edge, 2).rows(y, edge, 2));
  for (color<f32> c : halo.colors()) l.path(c, region{}, ramp >> ramp);  // the table names all eight
  halo.wire(l);
  joining_of<Storage>().wire(l);
  return l;
}

}  // namespace wsl::solver
