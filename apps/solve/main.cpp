// SPDX-License-Identifier: MIT
// wsl-solve: solves sparse systems of linear equations by Krylov methods on a row of PEs, also over several
// processes. It writes a solution only if its residual, computed in f64 from what is written, is within the
// tolerance.
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <regex>
#include <wsl/support/line_chart.hpp>
#include <wsl/support/progress.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "../ranks.hpp"
#include "options.hpp"
#include "system.hpp"

namespace solve_app {
namespace {

using namespace wsl;
using namespace wsl::solver;

template <class... X>
void print(const char* name, fmt::format_string<X...> format, X&&... x) {
  std::printf("%-14s %s\n", name, fmt::format(format, std::forward<X>(x)...).c_str());
  std::fflush(stdout);
}

/// One right side, a few iterations at a time, so that the progress is seen.
sparse_solution solve(sparse_solver& s, const std::vector<double>& b, const limits& most) {
  support::progress shown =
      app::is_root() ? support::progress("iterations", 0) : support::progress("iterations", 0, {});
  s.load(b, most);
  constexpr int at_a_time = 20;
  for (int left = most.iterations; left > 0 && s.how() == ending::none;) {
    const int now = std::min(left, at_a_time);
    s.iterate(now);
    left -= now;
    shown.tick(static_cast<u64>(now));
  }
  s.close();
  return s.result();
}

std::string history_text(const std::vector<sparse_solution>& all) {
  std::string text = "right_side,iteration,residual\n";
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t i = 0; i < all[k].residuals.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{},{},{}\n", k + 1, i + 1, all[k].residuals[i]);
  return text;
}

std::string picture_of(const std::vector<sparse_solution>& all, const std::string& title) {
  support::line_chart chart{.title = title, .x = {"iterations"}, .y = {"residual, |r| / |b|", true}};
  for (std::size_t k = 0; k < all.size(); ++k) {
    support::line_chart::line line{.name =
                                       all.size() == 1 ? "residual" : fmt::format("right side {}", k + 1)};
    line.has_dots = all[k].residuals.size() <= 60;
    line.points.push_back({0, 1});
    for (std::size_t i = 0; i < all[k].residuals.size(); ++i)
      line.points.push_back({static_cast<double>(i + 1), all[k].residuals[i]});
    chart.lines.push_back(std::move(line));
  }
  return chart.svg();
}

template <class Method>
int solve_with(Method method, const options& o, const linear_system& system) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds_since = [](auto then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  const app::engine engine;
  sparse_solver s = system.matrix ? sparse_solver(*system.matrix, method, o.how, engine)
                                  : sparse_solver(system.grid, method, o.how, engine);
  constexpr const char* preconditioners[] = {"no", "jacobi", "block-jacobi", "polynomial", "multigrid"};
  constexpr const char* precisions[] = {"f32", "f64", "mixed precision"};
  const std::string with =
      fmt::format("{} with {} preconditioner in {}", Method::name,
                  preconditioners[static_cast<int>(o.how.with)], precisions[static_cast<int>(o.how.numbers)]);
  print("system", "{}", system.text());
  print("method", "{}", with);
  print("PEs", "{}{}; {:.3g} s", s.pes(),
        s.levels() > 1 ? fmt::format(", a multigrid of {} levels", s.levels()) : "", seconds_since(begin));
  columns x{system.right_sides.rows, {}};
  std::vector<sparse_solution> all;
  bool is_solved = true;
  for (std::size_t k = 0; k < system.right_sides.all.size(); ++k) {
    const std::vector<double>& b = system.right_sides.all[k];
    const auto then = std::chrono::steady_clock::now();
    sparse_solution found = solve(s, b, o.most);
    const double took = seconds_since(then), left = system.residual(found.x, b, found.removes_means);
    // f32 numbers of x may be rounded a little further from the solution than the method saw
    const double most = o.most.tolerance * (o.how.numbers == arithmetic::in_f32 ? 2 : 1.01);
    // with a tolerance of 0 a method goes on until x cannot get better
    const bool is_right = o.most.tolerance > 0
                              ? found.converged() && left <= most
                              : found.converged() || found.how == ending::as_exact_as_numbers ||
                                    found.how == ending::as_exact_as_f64;
    is_solved = is_solved && is_right;
    const std::string number = system.right_sides.all.size() > 1 ? fmt::format("right side {}: ", k + 1) : "";
    print("iterations", "{}{}, {:.3g} s", number, found.iterations(), took);
    print("residual", "{:.3g} of |b|{}, computed in f64; the tolerance is {:.3g}", left,
          found.removes_means ? " without its mean" : "", o.most.tolerance);
    if (found.removes_means)
      print("mean",
            "constants are in the null space: x has the mean 0, and the mean of b, {:.6g}, is left out",
            found.removed_mean);
    print("ending", "{}",
          text(!found.converged() || is_right        ? found.how
               : o.how.numbers == arithmetic::in_f32 ? ending::as_exact_as_numbers
                                                     : ending::as_exact_as_f64));
    x.all.push_back(found.x);
    found.x = {};
    all.push_back(std::move(found));
  }
  const auto write = [](const std::string& path, auto text) {
    if (!path.empty() && app::is_root()) app::write_file(path, text());
  };
  write(o.history, [&] { return history_text(all); });
  write(o.plot, [&] { return picture_of(all, with); });
  if (!is_solved) {
    app::complain(fmt::format("wsl-solve: the system is not solved{}",
                              o.out.empty() ? "" : fmt::format(", and {} is not written", o.out)));
    return 1;
  }
  write(o.out, [&] { return text_of(x); });
  return 0;
}

int solve_as_asked(const options& o) {
  const linear_system system = system_of(o);
  if (o.method == "pcg") return solve_with(pipelined_conjugate_gradients{}, o, system);
  if (o.method == "bicgstab") return solve_with(stabilized_bicg{}, o, system);
  if (o.method == "gmres") return solve_with(generalized_minimal_residual{}, o, system);
  if (o.method == "chebyshev") return solve_with(chebyshev_iteration{}, o, system);
  return solve_with(conjugate_gradients{}, o, system);
}

int run(int argc, char** argv) {
  options o;
  int status = 0;
  try {
    if (!parse(o, argc, argv, status)) return status;
    if (o.how.threads == 0) default_threads();  // throws if WSL_THREADS is no number, before any work
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string(e.what()) + "; see --help");
  }
  try {
    return solve_as_asked(o);
  } catch (const std::invalid_argument& e) {
    static const std::regex names_row("\\brows? [0-9]");
    if (o.matrix.empty() || !std::regex_search(e.what(), names_row)) throw;
    throw std::invalid_argument(
        fmt::format("{}; rows are counted from 0 here, and from 1 in {}", e.what(), o.matrix));
  }
}

}  // namespace
}  // namespace solve_app

int main(int argc, char** argv) {
  app::join_ranks(), app::let_one_print();
  return app::run("wsl-solve", [&] { return solve_app::run(argc, argv); });
}
