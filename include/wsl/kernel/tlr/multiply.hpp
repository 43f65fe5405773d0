// SPDX-License-Identifier: MIT
// The front end of products of a tile low-rank matrix with vectors of the host, on a row of PEs that is made
// once:
//   tlr::multiplier<f32> product{a};
//   product(y, x);                             // y = A x
//   product(z, y, tlr::operation::transposed)  // z = A^T y
// On the ranks of `mpi::world()` a product is collective: all give the same x and the same operation, which
// is not checked, and get the same bits. Each has the bases of its own PEs, and A itself. See
// examples/89_low_rank.cpp.
#pragma once

#include "../../fabric/host_gather.hpp"
#include "../../support/bad_argument.hpp"
#include "../../support/fingerprint.hpp"
#include "../pe_a_thread.hpp"
#include "tlr_pe.hpp"

namespace wsl::tlr {

/// The resources of this computer for a product; 0 leaves a choice to the library.
struct options {
  int pes = 0;      ///< 0: one for each thread
  int threads = 0;  ///< as threaded{.threads}
  schedule how = schedule::exchange;
};

template <class T>
class multiplier {
 public:
  /// `a` must outlive the multiplier. Throws std::invalid_argument for a row of less than one PE.
  template <class Engine = threaded>
  explicit multiplier(const low_rank<T>& a, const options& how = {}, const Engine& engine = {})
      : a_(a),
        how_(how),
        pes_(choose(a, how, kernel::threads_in_all(engine, how.threads))),
        fabric_(tlr_pe<T>::plan(host, pes_), kernel::with_partitions(engine, how.threads)) {
    kernel::require_same(engine, "low-rank matrix", [&] { return fingerprint(); });
    for (int p = 0; p < pes_; ++p)
      if (fabric_.here({p, 0})) program_of(p).prepare(a, p, pes_, how.how);
  }

  int pes() const { return pes_; }

  /// y = A x, or with its transposed, conjugated or adjoint matrix. The result differs from the product in
  /// f64 by rounding only, and does not depend on threads, bit for bit. Throws std::invalid_argument if the
  /// length of x or y is wrong.
  outcome operator()(std::span<T> y, std::span<const T> x, operation which = operation::forward) {
    const int in = transposes(which) ? a_.rows() : a_.columns(),
              out = transposes(which) ? a_.columns() : a_.rows();
    if (x.size() != static_cast<std::size_t>(in) || y.size() != static_cast<std::size_t>(out))
      support::bad_argument({"this product takes x of ", in, " and y of ", out, " numbers, not of ", x.size(),
                             " and ", y.size()});
    const outcome done = fabric_.template launch<&tlr_pe<T>::begin>(all, job<T>{x.data(), y.data(), which});
    if (how_.how == schedule::stacked) add_parts(y);
    else if (fabric_.spread()) bring(y, which);
    return done;
  }

 private:
  tlr_pe<T>& program_of(int p) { return fabric_.template program_at<tlr_pe<T>>({p, 0}); }

  /// In the stacked schedule: y is the sum of the PEs' parts, in their order.
  void add_parts(std::span<T> y) {
    std::fill(y.begin(), y.end(), T{});
    std::vector<T> part(fabric_.spread() ? y.size() : 0);
    for (int p = 0; p < pes_; ++p) {
      if (!fabric_.spread()) {
        program_of(p).add_to(y.data());
        continue;
      }
      std::fill(part.begin(), part.end(), T{});
      if (fabric_.here({p, 0})) program_of(p).add_to(part.data());
      fabric_.bring({p, 0}, std::span(part));
      for (std::size_t k = 0; k < y.size(); ++k) y[k] += part[k];
    }
  }
  /// Each PE has written its numbers of y in its own process.
  void bring(std::span<T> y, operation which) {
    host_gather all(fabric_);
    for (int p = 0; p < pes_; ++p) {
      const range tiles = part_of(transposes(which) ? a_.tile_columns() : a_.tile_rows(), pes_, p);
      for (int t = tiles.from; t < tiles.to; ++t) {
        const range numbers = transposes(which) ? a_.columns_of(t) : a_.rows_of(t);
        all.add({p, 0}, &y[static_cast<std::size_t>(numbers.from)],
                &y[static_cast<std::size_t>(numbers.from)], static_cast<std::size_t>(numbers.size()));
      }
    }
    all.run();
  }
  u64 fingerprint() const {
    support::fingerprint f;
    f.add(a_.rows()), f.add(a_.columns()), f.add(a_.side()), f.add(pes_), f.add(how_.how);
    for (int i = 0; i < a_.tile_rows(); ++i)
      for (int j = 0; j < a_.tile_columns(); ++j) {
        const factors<T>& one = a_.at(i, j);
        f.add(one.rank);
        for (const std::vector<T>* factor : {&one.u, &one.v})
          f.add(factor->data(), factor->size() * sizeof(T));
      }
    return f.value();
  }

  static int choose(const low_rank<T>& a, const options& how, int cores) {
    const int pes = how.pes ? how.pes : std::min({cores, a.tile_rows(), a.tile_columns()});
    if (pes < 1) support::bad_argument({"a product runs on at least 1 PE, not on ", pes});
    return pes;
  }

  const low_rank<T>& a_;
  options how_;
  int pes_;
  fabric fabric_;
};

}  // namespace wsl::tlr
