// SPDX-License-Identifier: MIT
// says: in mixed precision there are bicgstab_method, and conjugate_gradient_method without a preconditioner
#include <wsl/kernel/solver.hpp>
using namespace wsl::solver;

#ifdef WSL_MISUSE
constexpr preconditioner how = preconditioner::jacobi;
#else
constexpr preconditioner how = preconditioner::none;
#endif

const wsl::layout on_a_wafer =
    plan<conjugate_gradient_method<how>, one_line<16, precision::mixed>>(wsl::wse2, 4, 4);
