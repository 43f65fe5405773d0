// SPDX-License-Identifier: MIT
// The front end of products of a tile low-rank matrix with vectors of the host, on a row of PEs that is made
// once:
//   tlr::multiplier<f32> product{a};
//   product(y, x);                             // y = A x
//   product(z, y, tlr::operation::transposed)  // z = A^T y
// See examples/89_low_rank.cpp.
#pragma once

#include "../../support/bad_argument.hpp"
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
  explicit multiplier(const low_rank<T>& a, const options& how = {})
      : a_(a),
        how_(how),
        pes_(choose(a, how)),
        fabric_(tlr_pe<T>::plan(host, pes_), threaded{.threads = how.threads, .pes_per_partition = 1}) {
    for (int p = 0; p < pes_; ++p)
      fabric_.template program_at<tlr_pe<T>>({p, 0}).prepare(a, p, pes_, how.how);
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
    if (how_.how == schedule::stacked) {
      std::fill(y.begin(), y.end(), T{});
      for (int p = 0; p < pes_; ++p) fabric_.template program_at<tlr_pe<T>>({p, 0}).add_to(y.data());
    }
    return done;
  }

 private:
  static int choose(const low_rank<T>& a, const options& how) {
    const int cores = how.threads > 0 ? how.threads : default_threads();
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
