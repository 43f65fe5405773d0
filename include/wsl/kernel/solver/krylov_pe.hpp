// SPDX-License-Identifier: MIT
// The PE program of the Krylov methods for sparse matrices. A method is a procedure (procedure.hpp) that all
// PEs of a row run: it updates the PE's own numbers of its vectors, and awaits products, for which ghosts
// come from other PEs (distribution.hpp), and totals. A total is the sum of the PEs' sums in f64, in the
// order of the PEs: an all-reduce brings all sums to all PEs, and each adds them up. So every PE has the same
// totals and comes to the same decisions, and no bit depends on threads. A vector of f64 numbers travels as
// pairs of words. The programs are for this computer: the machine has no f64, and blocks lie on the heap.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../collective/all_reduce.hpp"
#include "../../collective/lane.hpp"
#include "../../layout/layout.hpp"
#include "../../program/pe.hpp"
#include "../../program/tasks.hpp"
#include "distribution.hpp"
#include "preconditioner.hpp"
#include "procedure.hpp"
#include "sliced_rows.hpp"
#include "solution.hpp"
#include "vector_sweep.hpp"

namespace wsl::solver {

inline constexpr lane<u32> eastward_numbers{0, east}, westward_numbers{2, west};  ///< colors 0 to 3
inline constexpr all_reduce<u32> sums_of_all{.first = 4, .among = each_row, .words = 2};

/// The PE's numbers of a vector, with room for ghosts and for whole slices (sliced_rows.hpp) at both ends.
template <class T>
class pe_vector {
 public:
  void shape(int size, const ghosts& g) {
    size_ = size;
    front_ = (static_cast<std::size_t>(g.west) + 2 * slice_rows - 1) / slice_rows * slice_rows;
    numbers_.assign(front_ + static_cast<std::size_t>(size + g.east + 2 * slice_rows), T{});
  }
  T* own() { return numbers_.data() + front_; }
  int size() const { return size_; }
  auto members() const { return std::tie(numbers_, front_, size_); }

 private:
  std::vector<T> numbers_;
  std::size_t front_ = 0;
  int size_ = 0;
};

/// The operators and vectors of a PE in one kind of numbers. Spaces, of which the first is that of the
/// system, are numbered as in krylov_pe::spaces; the first operator is the matrix of the system.
template <class T>
struct numbers_of_pe {
  struct op {
    int from = 0, to = 0;  ///< spaces
    sliced_rows<T> rows;
  };
  std::vector<op> operators;
  std::vector<pe_vector<T>> vectors;
};

/// The vectors of all methods; a method has more behind them.
enum : int { vector_b, vector_x, vector_r, vector_d, first_of_method };

class krylov_pe {
 public:
  /// The host fills it in before the first launch.
  struct settings {
    procedure (*method)(krylov_pe&) = nullptr;
    f64 tolerance = 1e-5;
    f64 reduction = 0;  ///< of the residual, with which a method ends its cycle; 0 for the tolerance alone
    int restart = 30;
    preconditioner how = preconditioner::none;
    preconditioner_plan plan;
    f64 smallest = 0, largest = 0;  ///< bounds of the eigenvalues for the Chebyshev iteration, 0 to find them
    bool has_null_space = false;    ///< constants: the means of b and x are removed
  } set;
  struct space {
    int size = 0;  ///< own unknowns
    ghosts exchange;
  };
  std::vector<space> spaces;
  i64 unknowns = 0;  ///< of the system
  numbers_of_pe<f32> singles;
  numbers_of_pe<f64> doubles;

  // The results, for the host.
  std::vector<f64> history;  ///< |r| / |b| after each iteration
  ending how = ending::none;
  f64 residual = 1;      ///< |b - A x| / |b| when it was last computed
  f64 removed_mean = 0;  ///< of b
  /// Begins anew with the b that the host has filled in.
  void restart() {
    history.clear(), how = ending::none, residual = 1, removed_mean = 0, stops_ = has_begun_ = false;
    smallest = set.smallest, largest = set.largest, times_widened = 0;
  }

  void iterate(pe& me, int iterations) {
    me_ = &me, left_ = iterations;
    if (iterations > 0 && !(has_begun_ && runner_.is_done())) me.activate<&krylov_pe::go_on>();
  }
  /// Ends the method: x is that of its last iteration, and `residual` is computed.
  void close(pe& me) {
    me_ = &me, stops_ = true;
    if (!(has_begun_ && runner_.is_done())) me.activate<&krylov_pe::go_on>();
  }

  // For methods.
  template <class T>
  numbers_of_pe<T>& in() {
    if constexpr (std::is_same_v<T, f32>) return singles;
    else return doubles;
  }
  template <class T>
  T* vector(int v) {
    return in<T>().vectors[static_cast<std::size_t>(v)].own();
  }
  template <class T>
  int size_of(int v) {
    return in<T>().vectors[static_cast<std::size_t>(v)].size();
  }
  /// f for all own numbers of some vectors; see vector_sweep.hpp.
  template <class T, int sums = 0, std::size_t vectors, class F>
  std::array<f64, std::size_t{sums}> sweep(const int (&v)[vectors], const F& f) {
    T* first[vectors];
    for (std::size_t i = 0; i < vectors; ++i) first[i] = vector<T>(v[i]);
    std::array<f64, std::size_t{sums}> totals{};
    solver::sweep<sums>(size_of<T>(v[0]), first, f, totals.data());
    return totals;
  }

  template <class T>
  void clear(std::initializer_list<int> vectors) {
    for (int v : vectors) std::fill_n(vector<T>(v), size_of<T>(v), T{});
  }

  template <class T>
  struct product_wait {
    krylov_pe& k;
    int op, to, from;
    bool dots;
    f64 dot = 0;
    bool await_ready() const {
      return k.spaces[static_cast<std::size_t>(k.in<T>().operators[static_cast<std::size_t>(op)].from)]
                 .exchange.rounds() == 0;
    }
    void await_suspend(std::coroutine_handle<> h) {
      k.waiting_ = h;
      k.begin_exchange(k.in<T>().operators[static_cast<std::size_t>(op)].from, k.vector<T>(from));
    }
    f64 await_resume() {
      const sliced_rows<T>& rows = k.in<T>().operators[static_cast<std::size_t>(op)].rows;
      if (dots) return rows.multiply_and_dot(k.vector<T>(to), k.vector<T>(from));
      rows.multiply(k.vector<T>(to), k.vector<T>(from));
      return 0;
    }
  };
  /// co_await k.product<T>(op, to, from): to = A from.
  template <class T>
  product_wait<T> product(int op, int to, int from) {
    return {*this, op, to, from, false};
  }
  /// The same, and this PE's part of the dot product of both, whose unknowns are the same.
  template <class T>
  product_wait<T> product_and_dot(int op, int to, int from) {
    return {*this, op, to, from, true};
  }

  struct totals_wait {
    krylov_pe& k;
    bool await_ready() const { return k.totals_have_come_; }
    void await_suspend(std::coroutine_handle<> h) { k.waits_for_totals_ = true, k.waiting_ = h; }
    std::span<const f64> await_resume() {
      k.add_up();
      return k.totals_;
    }
  };
  /// Begins an all-reduce, which goes on while other things are computed; `co_await k.totals()` ends it.
  void begin_totals(std::span<const f64> sums);
  totals_wait totals() { return {*this}; }
  /// co_await k.total(sums): the same sums of all PEs, until the next total begins.
  totals_wait total(std::span<const f64> sums) {
    begin_totals(sums);
    return {*this};
  }

  struct iteration_wait {
    krylov_pe& k;
    bool pauses;
    bool await_ready() const { return !pauses; }
    void await_suspend(std::coroutine_handle<> h) { k.waiting_ = h; }
    bool await_resume() const { return k.reached_ || k.stops_ || k.how != ending::none; }
  };
  /// if (co_await k.iterated(|r|)) co_return; records an iteration and pauses for the host. True if the
  /// method ends: its target is reached, the host stops it, or |r| is no number.
  iteration_wait iterated(f64 norm);

  f64 target = 0;  ///< of the method: |r| that is small enough
  f64 scale = 1;   ///< the method's |r| times this is |r| / |b|
  bool is_reached() const { return reached_; }
  bool stops() const { return stops_; }
  void begin_cycle() { reached_ = false; }
  /// The bounds of the eigenvalues of the preconditioned matrix, 0 where they are not known yet.
  f64 smallest = 0, largest = 0;
  int times_widened = 0;  ///< the upper one was too small so often

 private:
  void go_on(pe& me) {
    me_ = &me;
    if (!has_begun_) {
      has_begun_ = true;
      return runner_.begin(set.method(*this));
    }
    runner_.resume(std::exchange(waiting_, {}));
  }

  template <class T>
  void begin_exchange(int of_space, T* own) {
    space_ = of_space, round_ = 0;
    words_ = reinterpret_cast<u32*>(own), words_a_number_ = sizeof(T) / sizeof(u32);
    next_round(*me_);
  }
  void next_round(pe& me);
  std::span<u32> outgoing(const round_of_ghosts& r, std::vector<u32>& packed);
  std::span<u32> incoming(const round_of_ghosts& r) {
    return {words_ + std::ptrdiff_t{r.in} * words_a_number_,
            static_cast<std::size_t>(r.in_count) * static_cast<std::size_t>(words_a_number_)};
  }
  void exchanged(pe& me) {
    ++round_;
    next_round(me);
  }
  void totals_came(pe& me) {
    totals_have_come_ = true;
    if (std::exchange(waits_for_totals_, false)) me.activate<&krylov_pe::go_on>();
  }
  void add_up();

  pe* me_ = nullptr;
  procedure_runner runner_;
  std::coroutine_handle<> waiting_;
  bool has_begun_ = false, stops_ = false, reached_ = false;
  int left_ = 0;

  int space_ = 0, round_ = 0, words_a_number_ = 1;
  u32* words_ = nullptr;
  std::vector<u32> packed_[2];

  bool totals_have_come_ = false, waits_for_totals_ = false;
  std::vector<u32> sums_;  // of all PEs, PE by PE
  std::vector<f64> totals_;
  endpoint<sums_of_all> summing_;

 public:
  using tasks =
      task_list<launch<&krylov_pe::iterate>, launch<&krylov_pe::close>,
                long_running<local<&krylov_pe::go_on>>, joins<4, &krylov_pe::exchanged>,
                local<&krylov_pe::totals_came>, use<&krylov_pe::summing_>,
                sends<eastward_numbers, westward_numbers>, reads<eastward_numbers, westward_numbers>>;
};

inline void krylov_pe::next_round(pe& me) {
  const ghosts& g = spaces[static_cast<std::size_t>(space_)].exchange;
  for (; round_ < g.rounds(); ++round_) {
    const round_of_ghosts &to_east = g.eastward[static_cast<std::size_t>(round_)],
                          &to_west = g.westward[static_cast<std::size_t>(round_)];
    if (to_east.out.empty() && to_west.out.empty() && to_east.in_count == 0 && to_west.in_count == 0)
      continue;
    const auto send = [&](const lane<u32>& way, std::span<u32> words) {
      if (words.empty()) me.activate<&krylov_pe::exchanged>();
      else me.async(mov(way.fabout(me), mem(words)), then<&krylov_pe::exchanged>());
    };
    const auto take = [&](const lane<u32>& way, std::span<u32> words) {
      if (words.empty()) me.activate<&krylov_pe::exchanged>();
      else me.async(mov(mem(words), way.fabin(me)), then<&krylov_pe::exchanged>());
    };
    send(eastward_numbers, outgoing(to_east, packed_[0]));
    send(westward_numbers, outgoing(to_west, packed_[1]));
    take(eastward_numbers, incoming(to_east));
    take(westward_numbers, incoming(to_west));
    return;
  }
  me.activate<&krylov_pe::go_on>();
}

/// The words that leave: those of the vector itself if they lie side by side.
inline std::span<u32> krylov_pe::outgoing(const round_of_ghosts& r, std::vector<u32>& packed) {
  if (r.out.empty()) return {};
  const std::size_t words = static_cast<std::size_t>(words_a_number_), count = r.out.size() * words;
  if (r.is_consecutive()) return {words_ + std::ptrdiff_t{r.out.front()} * words_a_number_, count};
  if (packed.size() < count) packed.resize(count);
  std::size_t to = 0;
  for (const i32 place : r.out)
    for (std::size_t w = 0; w < words; ++w)
      packed[to++] = words_[std::ptrdiff_t{place} * words_a_number_ + static_cast<std::ptrdiff_t>(w)];
  return {packed.data(), count};
}

inline void krylov_pe::begin_totals(std::span<const f64> sums) {
  const std::size_t pes = static_cast<std::size_t>(me_->width()), own = static_cast<std::size_t>(me_->x());
  totals_.assign(sums.begin(), sums.end());
  totals_have_come_ = pes == 1;
  if (pes == 1) return;
  sums_.assign(2 * pes * sums.size(), 0);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const u64 bits = std::bit_cast<u64>(sums[k]);
    sums_[2 * (own * sums.size() + k)] = static_cast<u32>(bits);
    sums_[2 * (own * sums.size() + k) + 1] = static_cast<u32>(bits >> 32);
  }
  summing_.start(*me_, mem(std::span(sums_)), then<&krylov_pe::totals_came>());
}

inline void krylov_pe::add_up() {
  if (me_->width() == 1) return;
  std::fill(totals_.begin(), totals_.end(), 0.);
  for (std::size_t at = 0; at < sums_.size(); at += 2)
    totals_[at / 2 % totals_.size()] += std::bit_cast<f64>(u64{sums_[at]} | u64{sums_[at + 1]} << 32);
}

inline auto krylov_pe::iterated(f64 norm) -> iteration_wait {
  history.push_back(norm * scale);
  if (!std::isfinite(norm)) how = ending::not_finite;
  else if (norm <= target) reached_ = true;
  --left_;
  return {*this, left_ <= 0 && how == ending::none && !reached_ && !stops_};
}

/// A row of PEs, each with the same program.
inline layout krylov_plan(int pes) {
  layout l{host, pes, 1};
  l.place<krylov_pe>(all);
  for (const lane<u32>& way : {eastward_numbers, westward_numbers}) {
    for (color<u32> c : way.colors()) l.path(c, region{}, ramp >> ramp);  // the table names all of them
    way.wire(l);
  }
  sums_of_all.wire(l);
  return l;
}

}  // namespace wsl::solver
