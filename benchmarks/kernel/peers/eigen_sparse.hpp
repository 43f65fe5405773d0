// SPDX-License-Identifier: MIT
// The peer of the sparse solvers: Eigen's compressed rows, their product with a vector, and its
// ConjugateGradient and BiCGSTAB with the diagonal as preconditioner, which are their defaults. Eigen
// multiplies rows on several threads with OpenMP.
#pragma once
#include <memory>
#include <vector>

namespace bench {

class eigen_sparse {
 public:
  /// Square, with n rows: offsets of the rows, columns, values.
  eigen_sparse(int n, const std::vector<int>& first, const std::vector<int>& column,
               const std::vector<double>& value);
  ~eigen_sparse();
  eigen_sparse(const eigen_sparse&) = delete;

  /// y = A x
  void product(std::vector<double>& y, const std::vector<double>& x, int threads) const;
  struct found {
    std::vector<double> x;
    int iterations;
  };
  /// From x = 0 to |b - A x| <= tolerance |b|, or so many iterations.
  found conjugate_gradient(const std::vector<double>& b, double tolerance, int most, int threads) const;
  found bicgstab(const std::vector<double>& b, double tolerance, int most, int threads) const;

 private:
  struct matrix;
  std::unique_ptr<matrix> a_;
};

}  // namespace bench
