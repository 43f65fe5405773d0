// SPDX-License-Identifier: MIT
// The front end of the Krylov methods for sparse matrices and systems from a grid, on arrays of the host:
//   sparse_solver s(a, conjugate_gradients{}, {.with = preconditioner::jacobi});
//   const sparse_solution x = s.solve(b, {.tolerance = 1e-10});
//   x.x, x.residuals, x.residual, text(x.how)
// The unknowns lie on a row of PEs, whose number follows from that of the unknowns. Results do not depend on
// threads, nor on the ranks of `mpi::world()`, bit for bit; the number of PEs sets the order of additions in
// totals. A rank has the rows and vectors of its own PEs only; then all functions of a solver are collective,
// take the same on all ranks, and return the same.
#pragma once
#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "../../fabric/host_gather.hpp"
#include "../fail_together.hpp"
#include "../pe_a_thread.hpp"
#include "dense_inverse.hpp"
#include "grid_system.hpp"
#include "krylov_bicgstab.hpp"
#include "krylov_chebyshev.hpp"
#include "krylov_gmres.hpp"
#include "krylov_pipelined_cg.hpp"
#include "krylov_refinement.hpp"

namespace wsl::solver {

/// The numbers of a solver's vectors and matrices.
enum class arithmetic : u8 {
  in_f32,
  in_f64,
  mixed,  ///< the method in f32, x and its residual in f64
};

struct sparse_options {
  preconditioner with = preconditioner::none;
  arithmetic numbers = arithmetic::in_f64;
  int restart = 30;  ///< of GMRES
  int block = 8;     ///< rows of a block of block_jacobi
  int degree = 4;    ///< of the polynomial
  int sweeps = 2;    ///< of the multigrid's smoother, before and after
  relaxation smoother = relaxation::jacobi;
  f64 smallest = 0, largest = 0;  ///< bounds of the eigenvalues for the Chebyshev iteration, 0 to find them
  int pes = 0;                    ///< 0 for one for 8192 unknowns, at most 16
  int threads = 0;                ///< as threaded{.threads}, of each process

  /// Adds all but the threads, which change nothing.
  void describe(support::fingerprint& f) const {
    f.add(with), f.add(numbers), f.add(restart), f.add(block), f.add(degree), f.add(sweeps), f.add(smoother);
    f.add(smallest), f.add(largest), f.add(pes);
  }
};

struct sparse_solution : solution<f64> {
  /// |b - A x| / |b|, computed from this x; with arithmetic::in_f32 in f32, whose rounding may be most of it:
  /// serial::relative_residual computes it in f64.
  f64 residual = 1;
  bool removes_means = false;  ///< constants are in the null space: x has the mean 0
  f64 removed_mean = 0;        ///< the mean of b, without which the system has a solution
};

/// Products alone, for sparse_product.
struct products_only {
  static constexpr const char* name = "a product";
  static constexpr bool needs_symmetry = false;
  static int vectors(int) { return 0; }
};

class sparse_solver {
 public:
  /// For a matrix, which may go away, on the threads of this computer or another engine, such as
  /// `mpi::world()`. Throws std::invalid_argument that names what is wrong: a matrix that is not square, or
  /// not symmetric although the method needs that; a zero on the diagonal, or a singular block, that a
  /// preconditioner would invert; options that no matrix has. Throws fault if another process has another
  /// matrix, method or option.
  template <class Method, class Engine = threaded>
  sparse_solver(const sparse_matrix& a, Method method, const sparse_options& how = {},
                const Engine& engine = {})
      : sparse_solver(engine, system_of(a, method, how, kernel::agreement(engine)), method, how) {}
  /// For a system from a grid, whose matrix is made as it is needed; only these have a multigrid.
  template <class Method, class Engine = threaded>
  sparse_solver(const grid_system& g, Method method, const sparse_options& how = {},
                const Engine& engine = {})
      : sparse_solver(engine, system_of(g, method, how, kernel::agreement(engine)), method, how) {}

  int unknowns() const { return shares_.front().whole(); }
  int pes() const { return shares_.front().pes(); }
  /// Levels of the multigrid, 1 without it.
  int levels() const { return static_cast<int>(shares_.size()); }
  /// Bytes of the matrix of the system in the form that PEs multiply.
  std::size_t matrix_bytes();

  /// Loads a right side, and begins anew with x = 0. Throws std::invalid_argument for another length than
  /// that of the unknowns, numbers that are not finite, and limits below 0, and fault if another process has
  /// others.
  void load(std::span<const f64> b, const limits& most = {});
  /// Does up to `iterations` iterations, or until the method ends; returns how it ended, or `none`.
  ending iterate(int iterations);
  /// Ends the iterations: x is as far as the method has come, and its residual is known.
  ending close();
  ending how() const { return reached_.how; }
  /// |r| / |b| after each iteration, from the recurrence of the method.
  const std::vector<f64>& history() const { return reached_.history; }
  /// The x of the last end, and what there is to say about it.
  sparse_solution result();

  /// x of A x = b.
  sparse_solution solve(std::span<const f64> b, const limits& most = {}) {
    load(b, most);
    if (iterate(most.iterations) == ending::none) close();
    return result();
  }
  /// The product A u, in the solver's numbers, in f64 if they are mixed, `times` times.
  std::vector<f64> product(std::span<const f64> u, int times = 1);

 private:
  /// A system whose matrix can be that of one.
  struct system {
    row_source matrix;
    bool has_null_space = false;
    std::optional<grid_level> finest = {};  ///< if it is from a grid
  };

  template <class Method, class Engine>
  sparse_solver(const Engine& engine, const system& of, Method, const sparse_options& how)
      : how_(checked(how, of.matrix.rows, of.finest.has_value())),
        has_null_space_(of.has_null_space),
        processes_(engine) {
    set_.method = procedure_of<Method>(how.numbers);
    set_.reduction = how.numbers == arithmetic::mixed ? reduction_in_f32 : 0;
    set_.restart = how.restart, set_.how = how.with, set_.has_null_space = has_null_space_;
    set_.smallest = how.smallest, set_.largest = how.largest;
    set_.plan.degree = how.degree, set_.plan.sweeps = how.sweeps;
    set_.plan.smoother = how.smoother;
    fabric_.emplace(krylov_plan(how_.pes), kernel::with_partitions(engine, how.threads));
    fabric_->ignore_memory_limit();
    build(of.matrix, of.finest, first_of_method + Method::vectors(how.restart));
  }

  /// An f32 method reduces a residual to this part before it is computed anew in f64.
  static constexpr f64 reduction_in_f32 = 1e-4;
  /// Grids of fewer cells lie on one PE, and the coarsest has at most so many.
  static constexpr int cells_of_one_pe = 1024, cells_of_coarsest = 64;

  template <class Method>
  static procedure (*procedure_of(arithmetic numbers))(krylov_pe&) {
    if constexpr (std::is_same_v<Method, products_only>)
      return numbers == arithmetic::in_f32 ? &repeat_product<f32> : &repeat_product<f64>;
    else
      return numbers == arithmetic::in_f32   ? &solve_system<f32, f32, Method>
             : numbers == arithmetic::in_f64 ? &solve_system<f64, f64, Method>
                                             : &solve_system<f64, f32, Method>;
  }
  template <class Matrix, class Method>
  static void require_same(const Matrix& a, Method, const sparse_options& how,
                           const kernel::agreement& processes) {
    processes.require_same("matrix, method or option of a solver", [&](support::fingerprint& f) {
      const std::string_view name = Method::name;
      a.describe(f), how.describe(f), f.add(name.data(), name.size());
    });
  }
  template <class Method>
  static system system_of(const sparse_matrix& a, Method method, const sparse_options& how,
                          const kernel::agreement& processes) {
    require_same(a, method, how, processes);
    a.require_system();
    if (Method::needs_symmetry && !a.is_symmetric())
      support::bad_argument({"solver: the matrix is not symmetric, and ", Method::name,
                             " is for symmetric positive definite ones: take BiCGStab or GMRES"});
    return {rows_of(a), a.takes_constants_to_zero()};
  }
  template <class Method>
  static system system_of(const grid_system& g, Method method, const sparse_options& how,
                          const kernel::agreement& processes) {
    require_same(g, method, how, processes);
    return {g.matrix(), g.is_singular(), g.finest()};
  }
  static sparse_options checked(const sparse_options& how, int unknowns, bool from_grid);

  void build(const row_source& a, const std::optional<grid_level>& finest, int vectors);
  template <class T>
  void build_numbers(krylov_pe& p, int pe, bool is_outer, bool is_inner, int vectors);
  void make_levels(const row_source& a, const std::optional<grid_level>& finest);
  void check_diagonal(const matrix_facts& facts) const;
  /// The rows of a PE with places in its memory for columns.
  template <class T>
  sliced_rows<T> rows_of_pe(const row_source& a, int pe, int from, int to, f64 by);
  row_source inverse_blocks(int pe) const;

  /// The program of a PE, null on a process that does not run it.
  krylov_pe* program_of(int pe) {
    return fabric_->here({pe, 0}) ? &fabric_->program_at<krylov_pe>({pe, 0}) : nullptr;
  }
  void take_what_is_reached();
  bool outer_is_f32() const { return how_.numbers == arithmetic::in_f32; }

  sparse_options how_;
  bool has_null_space_;
  kernel::agreement processes_;
  krylov_pe::settings set_;
  std::vector<row_source> matrices_, downs_,
      ups_;                        // by level; the last matrix is an inverse if there are more
  std::vector<grid_level> grids_;  // of the multigrid, by level
  std::vector<row_shares> shares_;
  std::vector<std::vector<ghosts>> ghosts_;  // by level and PE
  std::optional<fabric> fabric_;
  f64 scale_ = 1, right_scale_ = 1;
  bool is_loaded_ = false, is_closed_ = false;
  /// What all PEs have come to at the end of the last launch.
  struct progress {
    ending how = ending::none;
    f64 residual = 1, removed_mean = 0;
    std::vector<f64> history;
  };
  progress reached_;
};

inline sparse_options sparse_solver::checked(const sparse_options& how, int unknowns, bool from_grid) {
  const auto at_least = [](const char* name, int value, int least, int most) {
    if (value < least || value > most)
      support::bad_argument(
          {"solver: sparse_options{.", name, "} is ", value, "; it is from ", least, " to ", most});
  };
  at_least("restart", how.restart, 1, 10000);
  at_least("block", how.block, 1, 256);
  at_least("degree", how.degree, 1, 100);
  at_least("sweeps", how.sweeps, 1, 100);
  at_least("pes", how.pes, 0, host.width);
  if (!(how.smallest >= 0 && how.largest >= how.smallest && std::isfinite(how.largest)) ||
      (how.smallest == 0) != (how.largest == 0))
    support::bad_argument({"solver: sparse_options{.smallest, .largest} are ",
                           support::number_text(how.smallest), " and ", support::number_text(how.largest),
                           "; bounds of eigenvalues are positive, the smaller one first, or both 0"});
  if (how.with == preconditioner::multigrid && !from_grid)
    support::bad_argument(
        {"solver: a multigrid preconditioner coarsens a grid, and a matrix does not tell its "
         "grid: make the system from a grid_system, or take block_jacobi or polynomial"});
  sparse_options chosen = how;
  if (chosen.pes == 0) chosen.pes = std::clamp(unknowns / 8192, 1, 16);
  if (chosen.pes > unknowns)
    support::bad_argument(
        {"solver: ", unknowns, " unknowns do not give each of ", chosen.pes, " PEs one: take fewer PEs"});
  return chosen;
}

inline void sparse_solver::check_diagonal(const matrix_facts& facts) const {
  const bool inverts = how_.with == preconditioner::jacobi || how_.with == preconditioner::polynomial;
  if (inverts && facts.row_without_diagonal >= 0)
    support::bad_argument({"solver: the diagonal of the matrix is zero in row ", facts.row_without_diagonal,
                           ", and the preconditioner takes its inverse: take none, or order the rows so "
                           "that the diagonal is not zero"});
}

inline void sparse_solver::make_levels(const row_source& a, const std::optional<grid_level>& finest) {
  matrices_ = {a};
  shares_ = {row_shares::of(a.rows, how_.pes)};
  if (how_.with != preconditioner::multigrid) return;
  grids_ = {*finest};
  for (grid_level level = *finest; level.cells() > cells_of_coarsest;) {
    const grid_level next = level.coarser();
    downs_.push_back(level.restriction_to(next)), ups_.push_back(level.interpolation_from(next));
    matrices_.push_back(next.matrix()), grids_.push_back(next);
    const int n = next.cells();
    shares_.push_back(n < cells_of_one_pe ? row_shares::on(how_.pes / 2, n, how_.pes)
                                          : row_shares::of(n, how_.pes));
    level = next;
  }
  // The matrix of the coarsest grid is replaced by its inverse.
  const row_source coarsest = matrices_.back();
  const std::size_t n = static_cast<std::size_t>(coarsest.rows);
  std::vector<f64> dense(n * n);
  std::vector<row_entry> row;
  for (std::size_t r = 0; r < n; ++r) {
    row.clear();
    coarsest.append(static_cast<int>(r), row);
    for (const row_entry& e : row) dense[r * n + static_cast<std::size_t>(e.column)] += e.value;
  }
  const std::vector<f64> inverse = symmetric_pseudo_inverse(std::move(dense), coarsest.rows);
  const row_source solves{
      coarsest.rows, coarsest.columns, [inverse, n](int r, std::vector<row_entry>& to) {
        for (std::size_t c = 0; c < n; ++c)
          to.push_back({static_cast<i32>(c), inverse[static_cast<std::size_t>(r) * n + c]});
      }};
  if (matrices_.size() > 1) matrices_.back() = solves;
  else {  // the grid of the system is the coarsest: one more level, with the same cells
    const auto same = [](int r, std::vector<row_entry>& to) { to.push_back({r, 1.}); };
    matrices_.push_back(solves);
    downs_.push_back({a.rows, a.rows, same}), ups_.push_back({a.rows, a.rows, same});
    shares_.push_back(row_shares::on(how_.pes / 2, a.rows, how_.pes));
  }
}

inline void sparse_solver::build(const row_source& a, const std::optional<grid_level>& finest, int vectors) {
  const matrix_facts facts = facts_of(a);
  check_diagonal(facts);
  scale_ = facts.largest > 0 ? std::ldexp(1., std::ilogb(facts.largest)) : 1;
  set_.plan.largest = facts.largest_circle;
  // without a preconditioner the eigenvalues are those of the matrix, which is divided by the scale
  if (how_.with == preconditioner::none) set_.smallest /= scale_, set_.largest /= scale_;
  make_levels(a, finest);
  for (std::size_t level = 0; level < matrices_.size(); ++level) {
    std::vector<user_of_vector> users{{&matrices_[level], &shares_[level]}};
    if (level + 1 < matrices_.size()) users.push_back({&downs_[level], &shares_[level + 1]});
    if (level > 0) users.push_back({&ups_[level - 1], &shares_[level - 1]});
    ghosts_.push_back(ghosts_of(shares_[level], users, [&](int pe) { return fabric_->here({pe, 0}); }));
  }
  // Vectors: those of the method, the preconditioner's, and those of each level.
  preconditioner_plan& plan = set_.plan;
  plan.inverse = vectors++, plan.help = vectors, vectors += 2;
  plan.levels.clear();
  int operators = 1;
  plan.blocks = operators;
  if (how_.with == preconditioner::multigrid)
    for (std::size_t level = 0; level < matrices_.size(); ++level) {
      preconditioner_plan::level l;
      l.matrix = level == 0 ? 0 : operators++;
      if (level + 1 < matrices_.size()) l.down = operators++, l.up = operators++;
      l.right = vectors++, l.sum = vectors++, l.help = vectors++;
      for (int part = 0; part < plan.corrections(); ++part) l.inverse[part] = vectors++;
      plan.levels.push_back(l);
    }
  kernel::each_own_pe<krylov_pe>(*fabric_, [&](krylov_pe& p, coord c) {
    p.set = set_, p.unknowns = a.rows;
    for (std::size_t level = 0; level < matrices_.size(); ++level)
      p.spaces.push_back({shares_[level].size(c.x), ghosts_[level][static_cast<std::size_t>(c.x)]});
    const bool is_mixed = how_.numbers == arithmetic::mixed;
    if (how_.numbers != arithmetic::in_f32) build_numbers<f64>(p, c.x, true, !is_mixed, vectors);
    if (how_.numbers != arithmetic::in_f64) build_numbers<f32>(p, c.x, !is_mixed, true, vectors);
  });
  // The PEs have their parts now.
  matrices_.clear(), grids_.clear(), downs_.clear(), ups_.clear(), ghosts_.clear();
}

template <class T>
sliced_rows<T> sparse_solver::rows_of_pe(const row_source& a, int pe, int from, int to, f64 by) {
  const row_shares &columns = shares_[static_cast<std::size_t>(from)],
                   &rows = shares_[static_cast<std::size_t>(to)];
  const ghosts& g = ghosts_[static_cast<std::size_t>(from)][static_cast<std::size_t>(pe)];
  // The place of an unknown in the PE's vectors: those from the west, its own, those from the east.
  const auto among = [](const std::vector<i32>& indices, i32 index) {
    return static_cast<i32>(std::lower_bound(indices.begin(), indices.end(), index) - indices.begin());
  };
  const auto place_of = [&](i32 index) {
    const i32 begin = columns.begin(pe), end = begin + columns.size(pe);
    return index < begin  ? among(g.west_indices, index) - g.west
           : index >= end ? among(g.east_indices, index) + columns.size(pe)
                          : index - begin;
  };
  return sliced_rows<T>(rows.size(pe), [&](int r, std::vector<row_entry>& entries) {
    a.append(rows.begin(pe) + r, entries);
    for (row_entry& e : entries) e = {place_of(e.column), e.value * by};
  });
}

/// The inverses of the blocks along the diagonal of a PE's rows, in its own places.
inline row_source sparse_solver::inverse_blocks(int pe) const {
  const row_shares& p = shares_.front();
  const int begin = p.begin(pe), n = p.size(pe), block = how_.block;
  std::vector<std::vector<f64>> inverses;
  std::vector<row_entry> row;
  for (int first = 0; first < n; first += block) {
    const int size = std::min(block, n - first);
    std::vector<f64> dense(static_cast<std::size_t>(size * size));
    for (int r = 0; r < size; ++r) {
      row.clear();
      matrices_.front().append(begin + first + r, row);
      for (const row_entry& e : row)
        if (const int c = e.column - begin - first; c >= 0 && c < size)
          dense[static_cast<std::size_t>(r * size + c)] += e.value / scale_;
    }
    inverses.push_back(inverse_of(std::move(dense), size));
    if (inverses.back().empty())
      support::bad_argument({"solver: the block of rows ", begin + first, " to ", begin + first + size - 1,
                             " of the matrix is singular, and the preconditioner takes its inverse: take "
                             "blocks of another size, or none"});
  }
  return {n, n, [inverses = std::move(inverses), block](int r, std::vector<row_entry>& to) {
            const std::vector<f64>& inverse = inverses[static_cast<std::size_t>(r / block)];
            const int first = r / block * block;
            const std::size_t size =
                static_cast<std::size_t>(std::lround(std::sqrt(static_cast<f64>(inverse.size()))));
            for (std::size_t c = 0; c < size; ++c)
              to.push_back(
                  {first + static_cast<i32>(c), inverse[static_cast<std::size_t>(r - first) * size + c]});
          }};
}

template <class T>
void sparse_solver::build_numbers(krylov_pe& p, int pe, bool is_outer, bool is_inner, int vectors) {
  numbers_of_pe<T>& has = p.in<T>();
  const preconditioner_plan& plan = set_.plan;
  const f64 by = 1 / scale_;
  const int last = levels() - 1;
  has.operators.push_back({0, 0, rows_of_pe<T>(matrices_.front(), pe, 0, 0, by)});
  has.vectors.resize(static_cast<std::size_t>(vectors));
  const auto shape = [&](int v, int space) {
    const krylov_pe::space& s = p.spaces[static_cast<std::size_t>(space)];
    has.vectors[static_cast<std::size_t>(v)].shape(s.size, s.exchange);
  };
  shape(vector_r, 0);
  if (is_outer) shape(vector_b, 0), shape(vector_x, 0);
  if (!is_inner) return;
  for (int v = vector_d; v < plan.inverse; ++v) shape(v, 0);
  const auto every = [](int) { return true; };
  const auto fill_inverse = [&](int v, int level, f64 factor, const auto& is_wanted) {
    const row_source& a = matrices_[static_cast<std::size_t>(level)];
    std::vector<row_entry> row;
    T* to = p.vector<T>(v);
    const row_shares& own = shares_[static_cast<std::size_t>(level)];
    for (int r = own.begin(pe); r < own.end(pe); ++r) {
      row.clear();
      a.append(r, row);
      f64 diagonal = 0;
      for (const row_entry& e : row)
        if (e.column == r) diagonal += e.value;
      *to++ = static_cast<T>(diagonal == 0 || !is_wanted(r) ? 0 : factor * scale_ / diagonal);
    }
  };
  switch (how_.with) {
    case preconditioner::none:
      shape(plan.inverse, 0);
      std::fill_n(p.vector<T>(plan.inverse), p.spaces.front().size, T{1});
      break;
    case preconditioner::jacobi: shape(plan.inverse, 0), fill_inverse(plan.inverse, 0, 1, every); break;
    case preconditioner::block_jacobi: {
      const row_source blocks = inverse_blocks(pe);
      has.operators.push_back({0, 0, sliced_rows<T>(blocks.rows, blocks.append)});
      break;
    }
    case preconditioner::polynomial:
      for (int v : {plan.inverse, plan.help, plan.help + 1}) shape(v, 0);
      fill_inverse(plan.inverse, 0, 1, every);
      break;
    case preconditioner::multigrid:
      for (int level = 0; level <= last; ++level) {
        const preconditioner_plan::level& l = plan.levels[static_cast<std::size_t>(level)];
        if (level > 0)
          has.operators.push_back({level, level,
                                   rows_of_pe<T>(matrices_[static_cast<std::size_t>(level)], pe, level, level,
                                                 level == last ? scale_ : by)});
        if (level > 0) shape(l.right, level), shape(l.sum, level);
        if (level == last) break;
        has.operators.push_back(
            {level, level + 1,
             rows_of_pe<T>(downs_[static_cast<std::size_t>(level)], pe, level, level + 1, 1)});
        has.operators.push_back(
            {level + 1, level,
             rows_of_pe<T>(ups_[static_cast<std::size_t>(level)], pe, level + 1, level, 1)});
        shape(l.help, level);
        for (int part = 0; part < plan.corrections(); ++part) shape(l.inverse[part], level);
        if (plan.smoother == relaxation::jacobi) {
          constexpr f64 damping = 0.8;  // for second differences along two and three axes
          fill_inverse(l.inverse[0], level, damping, every);
        } else
          for (const bool red : {true, false})
            fill_inverse(l.inverse[red ? 0 : 1], level, 1, [&](int cell) {
              return grids_[static_cast<std::size_t>(level)].is_red(cell) == red;
            });
      }
  }
}

inline std::size_t sparse_solver::matrix_bytes() {
  const std::vector<std::size_t> bytes = gather_values(*fabric_, all, [&](coord c) {
    const krylov_pe& p = *program_of(c.x);
    return outer_is_f32() ? p.singles.operators.front().rows.bytes()
                          : p.doubles.operators.front().rows.bytes();
  });
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

/// All PEs come to the same decisions, so those of the first one are those of all.
inline void sparse_solver::take_what_is_reached() {
  constexpr coord first{0, 0};
  const krylov_pe* const p = program_of(0);
  const std::size_t count = p ? p->history.size() : 0;
  std::size_t iterations = 0;
  host_gather all(*fabric_);
  all.add(first, p ? &p->how : nullptr, &reached_.how, 1);
  all.add(first, p ? &p->residual : nullptr, &reached_.residual, 1);
  all.add(first, p ? &p->removed_mean : nullptr, &reached_.removed_mean, 1);
  all.add(first, &count, &iterations, 1);
  all.run();
  const std::size_t known = reached_.history.size();
  if (iterations == known) return;
  reached_.history.resize(iterations);
  all.add(first, p ? p->history.data() + known : nullptr, reached_.history.data() + known,
          iterations - known);
  all.run();
}

inline void sparse_solver::load(std::span<const f64> b, const limits& most) {
  processes_.require_same("right side or limit of a solver", [&](support::fingerprint& f) {
    f.add(b.data(), b.size_bytes()), most.describe(f);
  });
  most.check();
  if (b.size() != static_cast<std::size_t>(unknowns()))
    support::bad_argument(
        {"solver: the right side has ", b.size(), " numbers, and the system ", unknowns(), " unknowns"});
  f64 largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(b[i]))
      support::bad_argument({"solver: the right side has the number ", std::to_string(b[i]), " at place ", i,
                             "; it takes finite ones"});
    largest = std::max(largest, std::abs(b[i]));
  }
  right_scale_ = largest > 0 ? std::ldexp(1., std::ilogb(largest)) : 1;
  for (int pe = 0; pe < pes(); ++pe) {
    krylov_pe* const p = program_of(pe);
    if (!p) continue;
    p->set.tolerance = most.tolerance;
    p->restart();
    const auto fill = [&](auto* to, auto* x) {
      using T = std::remove_pointer_t<decltype(to)>;
      for (int i = 0; i < p->spaces.front().size; ++i)
        to[i] = static_cast<T>(b[static_cast<std::size_t>(shares_.front().begin(pe) + i)] / right_scale_),
        x[i] = T{};
    };
    if (outer_is_f32()) fill(p->vector<f32>(vector_b), p->vector<f32>(vector_x));
    else fill(p->vector<f64>(vector_b), p->vector<f64>(vector_x));
  }
  reached_ = {};
  is_loaded_ = true, is_closed_ = false;
}

inline ending sparse_solver::iterate(int iterations) {
  processes_.require_same_call("call of a solver", "iterate", iterations);
  if (!is_loaded_) support::bad_argument({"solver: iterate() follows load(), which brings the right side"});
  if (iterations < 0)
    support::bad_argument({"solver: iterate(", iterations, ") asks for fewer than 0 iterations"});
  if (is_closed_) support::bad_argument({"solver: iterate() after close(): load() begins anew"});
  if (iterations > 0 && how() == ending::none) {
    fabric_->launch<&krylov_pe::iterate>(all, iterations);
    take_what_is_reached();
  }
  return how();
}

inline ending sparse_solver::close() {
  processes_.require_same_call("call of a solver", "close");
  if (!is_loaded_) support::bad_argument({"solver: close() follows load(), which brings the right side"});
  if (how() == ending::none) {
    // without an iteration there is nothing that a method could end
    if (history().empty() && !is_closed_) reached_.how = ending::all_iterations;
    else fabric_->launch<&krylov_pe::close>(all), take_what_is_reached();
  }
  is_closed_ = true;
  return how();
}

inline sparse_solution sparse_solver::result() {
  processes_.require_same_call("call of a solver", "result");
  const auto gather = [&]<class T>(std::vector<T>& x) {
    host_gather all(*fabric_);
    const row_shares& own = shares_.front();
    for (int pe = 0; pe < pes(); ++pe) {
      krylov_pe* const p = program_of(pe);
      all.add({pe, 0}, p ? p->vector<T>(vector_x) : nullptr, x.data() + own.begin(pe),
              static_cast<std::size_t>(own.size(pe)));
    }
    all.run();
  };
  const std::size_t n = static_cast<std::size_t>(unknowns());
  sparse_solution s;
  std::vector<f32> singles;
  kernel::fail_together(*fabric_, [&] {
    s.residuals = history(), s.x.resize(n);
    if (outer_is_f32()) singles.resize(n);
  });
  if (outer_is_f32()) {
    gather(singles);
    std::copy(singles.begin(), singles.end(), s.x.begin());
  } else gather(s.x);
  for (f64& v : s.x) v *= right_scale_ / scale_;
  s.how = how(), s.residual = reached_.residual;
  // A and b are divided by powers of two, so that what has no end may be x alone.
  if (s.how == ending::converged && !all_finite(s.x)) s.how = ending::not_finite;
  s.removes_means = has_null_space_, s.removed_mean = reached_.removed_mean * right_scale_;
  return s;
}

inline std::vector<f64> sparse_solver::product(std::span<const f64> u, int times) {
  load(u);
  iterate(times);
  sparse_solution s = result();
  for (f64& v : s.x) v *= scale_ * scale_;
  return s.x;
}

/// The product A u of a sparse matrix, on PEs. Throws std::invalid_argument if the matrix is not square or a
/// number is not finite.
template <class Engine = threaded>
std::vector<f64> sparse_product(const sparse_matrix& a, std::span<const f64> u,
                                const sparse_options& how = {}, const Engine& engine = {}) {
  return sparse_solver(a, products_only{}, how, engine).product(u);
}

/// x of A x = b for several right sides, with one distribution of the matrix.
template <class Method, class Engine = threaded>
std::vector<sparse_solution> solve_each(const sparse_matrix& a, Method method,
                                        std::span<const std::vector<f64>> b, const limits& most = {},
                                        const sparse_options& how = {}, const Engine& engine = {}) {
  sparse_solver s(a, method, how, engine);
  std::vector<sparse_solution> all;
  for (const std::vector<f64>& right : b) all.push_back(s.solve(right, most));
  return all;
}

}  // namespace wsl::solver
