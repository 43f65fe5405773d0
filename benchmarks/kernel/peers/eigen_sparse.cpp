// SPDX-License-Identifier: MIT
// Compiled for this computer, with -O3 and OpenMP.
#include "eigen_sparse.hpp"

#include <Eigen/Sparse>

namespace bench {

using rows_of_numbers = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using vector_of_numbers = Eigen::Map<const Eigen::VectorXd>;

struct eigen_sparse::matrix {
  rows_of_numbers rows;
};

eigen_sparse::eigen_sparse(int n, const std::vector<int>& first, const std::vector<int>& column,
                           const std::vector<double>& value)
    : a_(new matrix) {
  a_->rows = Eigen::Map<const rows_of_numbers>(n, n, static_cast<Eigen::Index>(value.size()), first.data(),
                                               column.data(), value.data());
}
eigen_sparse::~eigen_sparse() = default;

void eigen_sparse::product(std::vector<double>& y, const std::vector<double>& x, int threads) const {
  Eigen::setNbThreads(threads);
  const auto n = static_cast<Eigen::Index>(x.size());
  Eigen::Map<Eigen::VectorXd>(y.data(), n).noalias() = a_->rows * vector_of_numbers(x.data(), n);
}

namespace {

template <class Solver>
eigen_sparse::found solve(const rows_of_numbers& a, const std::vector<double>& b, double tolerance, int most,
                          int threads) {
  Eigen::setNbThreads(threads);
  Solver s;
  s.setTolerance(tolerance), s.setMaxIterations(most);
  s.compute(a);
  const Eigen::VectorXd x = s.solve(vector_of_numbers(b.data(), static_cast<Eigen::Index>(b.size())));
  return {std::vector<double>(x.data(), x.data() + x.size()), static_cast<int>(s.iterations())};
}

}  // namespace

eigen_sparse::found eigen_sparse::conjugate_gradient(const std::vector<double>& b, double tolerance, int most,
                                                     int threads) const {
  return solve<Eigen::ConjugateGradient<rows_of_numbers, Eigen::Lower | Eigen::Upper>>(a_->rows, b, tolerance,
                                                                                       most, threads);
}
eigen_sparse::found eigen_sparse::bicgstab(const std::vector<double>& b, double tolerance, int most,
                                           int threads) const {
  return solve<Eigen::BiCGSTAB<rows_of_numbers>>(a_->rows, b, tolerance, most, threads);
}

}  // namespace bench
