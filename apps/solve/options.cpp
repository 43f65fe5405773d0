// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <filesystem>
#include <map>

#include "../command_line.hpp"
#include "../files.hpp"

namespace solve_app {
namespace {

using namespace wsl::solver;

void require_together(const options& o) {
  const auto refuse = [](const char* sentence) { throw std::invalid_argument(sentence); };
  if (o.matrix.empty() && o.grid.empty())
    refuse("a system is needed: --matrix FILE.mtx, or --grid with the cells along its axes");
  if (!o.matrix.empty() && !o.grid.empty()) refuse("--matrix and --grid are two systems: give one of them");
  if (!o.matrix.empty() && o.how.with == preconditioner::multigrid)
    refuse(
        "--preconditioner multigrid coarsens a grid, and a matrix does not tell its grid: give --grid, or "
        "take block-jacobi or polynomial");
  if (!o.bounds.empty() && o.method != "chebyshev")
    refuse("--bounds are those of --method chebyshev; the other methods need none");
  if (!o.bounds.empty() && o.bounds[0] > o.bounds[1]) refuse("--bounds takes the smaller one first");
  if (o.most.tolerance > 1) refuse("--tolerance is a part of |b|, from 0 to 1: with x = 0 the residual is 1");
}

/// An option that another one leaves without effect is refused: whoever gives it expects another run.
void require_effects(const CLI::App& app, const options& o) {
  const bool gmres = o.method == "gmres";
  const auto with = [&](preconditioner p) { return o.how.with == p; };
  const struct {
    const char* option;
    bool has_effect;
    const char* needs;
  } all[] = {{"--restart", gmres, "--method gmres"},
             {"--block", with(preconditioner::block_jacobi), "--preconditioner block-jacobi"},
             {"--degree", with(preconditioner::polynomial), "--preconditioner polynomial"},
             {"--sweeps", with(preconditioner::multigrid), "--preconditioner multigrid"},
             {"--smoother", with(preconditioner::multigrid), "--preconditioner multigrid"},
             {"--sides", !o.grid.empty(), "a --grid: a matrix has its sides in its numbers"}};
  for (const auto& one : all)
    if (!one.has_effect && app.count(one.option) > 0)
      throw std::invalid_argument(std::string(one.option) + " has an effect only with " + one.needs +
                                  ": give that, or leave " + one.option + " out");
}

/// What is written must not take the place of what is read, nor of what else is written.
void require_places(const options& o) {
  struct named {
    const char* option;
    std::filesystem::path file;
  };
  const named all[] = {{"--matrix", o.matrix},
                       {"--rhs", o.right_side},
                       {"--out", o.out},
                       {"--history", o.history},
                       {"--plot", o.plot}};
  for (int i = 2; i < 5; ++i) {
    app::require_place_of_file(all[i].file, all[i].option);
    for (int j = 0; j < i && !all[i].file.empty(); ++j)
      if (!all[j].file.empty() && weakly_canonical(all[i].file) == weakly_canonical(all[j].file))
        throw std::invalid_argument(std::string(all[i].option) + " and " + all[j].option +
                                    " are the same file, " + all[i].file.string() + ": give it another name");
  }
}

}  // namespace

bool parse(options& o, int argc, char** argv, int& status) {
  CLI::App app(
      "Solves sparse systems of linear equations, from a file or from a grid, on a row of processing "
      "elements\nExample: wsl-solve --grid 128 128 128 --preconditioner multigrid --out x.mtx",
      "wsl-solve");
  app.add_option("--matrix", o.matrix, "a Matrix Market file: coordinate, real, integer or pattern");
  app.add_option(
         "--grid", o.grid,
         "cells along one to three axes, the last one fastest: second differences, with 3, 5 or 7 points")
      ->expected(1, 3)
      ->check(app::at_least(1));
  std::string sides = "dirichlet", with = "jacobi", smoother = "jacobi", precision = "f64";
  const std::map<std::string, side_condition> all_sides{{"dirichlet", side_condition::dirichlet},
                                                        {"neumann", side_condition::neumann},
                                                        {"periodic", side_condition::periodic}};
  const std::map<std::string, preconditioner> all_preconditioners{
      {"none", preconditioner::none},
      {"jacobi", preconditioner::jacobi},
      {"block-jacobi", preconditioner::block_jacobi},
      {"polynomial", preconditioner::polynomial},
      {"multigrid", preconditioner::multigrid}};
  const std::map<std::string, relaxation> all_smoothers{{"jacobi", relaxation::jacobi},
                                                        {"red-black", relaxation::red_black}};
  const std::map<std::string, arithmetic> all_precisions{
      {"f32", arithmetic::in_f32}, {"f64", arithmetic::in_f64}, {"mixed", arithmetic::mixed}};
  app.add_option("--sides", sides, "what is beyond the sides of the grid: zero, nothing, or the other end")
      ->check(CLI::IsMember(all_sides))
      ->capture_default_str();
  app.add_option("--rhs", o.right_side,
                 "a Matrix Market file with one or more right sides; without it, all numbers are 1");
  app.add_option(
         "--method", o.method,
         "cg, pcg (pipelined) and chebyshev for symmetric positive definite systems, bicgstab and gmres "
         "for any")
      ->check(CLI::IsMember({"cg", "pcg", "bicgstab", "gmres", "chebyshev"}))
      ->capture_default_str();
  app.add_option("--preconditioner", with, "multigrid is for --grid")
      ->check(CLI::IsMember(all_preconditioners))
      ->capture_default_str();
  app.add_option("--tolerance", o.most.tolerance,
                 "|b - A x| / |b| that is small enough; 0: as small as the numbers allow")
      ->check(app::at_least(0))
      ->capture_default_str();
  app.add_option("--max-iterations", o.most.iterations, "iterations at most")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  app.add_option("--restart", o.how.restart, "iterations of gmres between two restarts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--precision", precision,
                 "of the numbers; mixed: the method in f32, x and its residual in f64")
      ->check(CLI::IsMember(all_precisions))
      ->capture_default_str();
  app.add_option("--block", o.how.block, "rows of a block of block-jacobi")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--degree", o.how.degree, "of the polynomial")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--sweeps", o.how.sweeps, "of the multigrid's smoother, before and after")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--smoother", smoother, "of the multigrid; a sweep of red-black takes twice as long")
      ->check(CLI::IsMember(all_smoothers))
      ->capture_default_str();
  app.add_option("--bounds", o.bounds,
                 "of the eigenvalues of the preconditioned matrix, for chebyshev; without them it finds them")
      ->expected(2)
      ->check(app::at_least(0, true));
  app.add_option("--pes", o.how.pes, "processing elements; 0 for one for 8192 unknowns, at most 16")
      ->check(CLI::Range(0, 32767))
      ->capture_default_str();
  app.add_option("--threads", o.how.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--out", o.out, "the solutions, a Matrix Market file");
  app.add_option("--history", o.history, "the residual after each iteration, a CSV file");
  app.add_option("--plot", o.plot, "the same as a picture, an SVG file");
  app.allow_extras();
  if (!app::parse(app, argc, argv, "option", status)) return false;
  o.sides = all_sides.at(sides), o.how.with = all_preconditioners.at(with);
  o.how.numbers = all_precisions.at(precision), o.how.smoother = all_smoothers.at(smoother);
  if (!o.bounds.empty()) o.how.smallest = o.bounds[0], o.how.largest = o.bounds[1];
  require_together(o), require_effects(app, o), require_places(o);
  return true;
}

}  // namespace solve_app
