// SPDX-License-Identifier: MIT
// Layouts of kernels that are checked while compiling, at the sizes of whole wafers.
#include <wsl/kernel.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

using namespace wsl;

constexpr layout wave_on_wse2 = wave25::plan<wave25::one_line<500>>(wse2, 750, 994);
constexpr layout wave_on_wse3 = wave25::plan<wave25::one_line<500>>(wse3, 755, 1170);
constexpr layout wave_on_a_line = wave25::plan<wave25::one_line<21>>(wse2, 1, 9);
constexpr layout wave_in_blocks = wave25::plan<wave25::block>(host, 4, 3);
static_assert(routed<wave_on_wse2>() && routed<wave_on_wse3>() && routed<wave_on_a_line>() &&
              routed<wave_in_blocks>());

constexpr layout bicgstab_on_wse2 =
    solver::plan<solver::bicgstab_method, solver::one_line<600>>(wse2, 750, 994);
constexpr layout bicgstab_on_wse3 =
    solver::plan<solver::bicgstab_method, solver::one_line<600>>(wse3, 755, 1170);
constexpr layout gradients_on_a_line =
    solver::plan<solver::conjugate_gradient_method<solver::preconditioner::jacobi>, solver::one_line<21>>(
        wse2, 1, 9);
constexpr layout power_in_blocks = solver::plan<solver::power_iteration, solver::block>(host, 4, 3);
static_assert(routed<bicgstab_on_wse2>() && routed<bicgstab_on_wse3>() && routed<gradients_on_a_line>() &&
              routed<power_in_blocks>());

constexpr layout spectrum_on_wse2 = fft::pencil<fft::one_line(512)>::plan(wse2, 512, 512);
static_assert(routed<spectrum_on_wse2>());

constexpr layout rotating_on_wse2 =
    wave25::plan<wave25::one_line<500>, wave25::rotating_wave_pe<500>>(wse2, 750, 994);
constexpr layout rotating_on_wse3 =
    wave25::plan<wave25::one_line<500>, wave25::rotating_wave_pe<500>>(wse3, 755, 1170);
static_assert(routed<rotating_on_wse2>() && routed<rotating_on_wse3>());
