// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "../command_line.hpp"
#include "../files.hpp"

namespace tlr_app {
namespace {

using namespace wsl;

void check(options& o) {
  o.matrices = names_of(o.matrices, "--matrix"), o.bases = names_of(o.bases, "--bases");
  const std::size_t a = o.matrices.size(), b = o.bases.size();
  if (a && b && a != b)
    throw std::invalid_argument("there are " + std::to_string(a) + " files of --matrix and " +
                                std::to_string(b) + " of --bases: give as many, or leave one out");
  if (!o.out.empty() && o.count() > 1 && names_hdf5(o.out))
    throw std::invalid_argument("--out: a file of HDF5 takes the tiles of one matrix, and there are " +
                                std::to_string(o.count()) + ": give the name of a folder");
  app::require_place_of_file(o.y, "--y"), app::require_place(o.out, "--out");
}

}  // namespace

bool parse(options& o, int argc, char** argv, int& status) {
  using tlr::operation;
  CLI::App app("Products with matrices of low-rank tiles on a row of processing elements", "wsl-tlr");
  CLI::Option* const matrix = app.add_option(
      "--matrix", o.matrices,
      "files of dense matrices, of NumPy or HDF5; @FILE: those that a list names, a line each");
  CLI::Option* const bases =
      app.add_option("--bases", o.bases,
                     "folders or files of HDF5 with low-rank tiles, or @FILE; with --matrix, those of its "
                     "matrices");
  app.add_option("--dataset", o.dataset, "of --matrix and --x in HDF5")->capture_default_str();
  CLI::Option* const rows = app.add_option("--rows", o.size.rows, "rows of the matrix")
                                ->check(CLI::Range(1, static_cast<int>(most_rows)))
                                ->excludes(matrix)
                                ->capture_default_str();
  CLI::Option* const columns = app.add_option("--columns", o.size.columns, "columns of the matrix")
                                   ->check(CLI::Range(1, static_cast<int>(most_rows)))
                                   ->excludes(matrix)
                                   ->capture_default_str();
  app.add_option("--kernel", o.kernel, "what the matrix is, if no file has it")
      ->check(CLI::IsMember({"exponential", "inverse", "wave"}))
      ->excludes(matrix)
      ->excludes(bases)
      ->capture_default_str();
  app.add_option("--length", o.size.length, "over which the exponential falls, or the wavelength")
      ->check(app::at_least(0, true))
      ->excludes(matrix)
      ->excludes(bases)
      ->capture_default_str();
  app.add_option("--apart", o.size.apart, "how far the two squares of points are apart")
      ->check(app::at_least(0, true))
      ->excludes(matrix)
      ->excludes(bases)
      ->capture_default_str();
  CLI::Option* const tile = app.add_option("--tile", o.tile, "side of a tile")
                                ->check(CLI::Range(1, static_cast<int>(most_tile)))
                                ->capture_default_str();
  app.add_option("--tolerance", o.tolerance, "what may be left out, of the matrix's Frobenius norm")
      ->check(CLI::Range(0., 1.))
      ->excludes(bases)
      ->capture_default_str();
  app.add_option(
      "--out", o.out,
      "write the low-rank tiles to this folder, or file .h5; several matrices: to its folders 0000, "
      "0001 and so on");
  app.add_option("--x", o.x,
                 "file of the vector that is multiplied, or of one for each matrix; without it, numbers "
                 "between -1 and 1");
  app.add_option("--y", o.y, "write the products to this file of NumPy");
  const std::map<std::string, operation> sides{{"forward", operation::forward},
                                               {"transposed", operation::transposed},
                                               {"conjugated", operation::conjugated},
                                               {"adjoint", operation::adjoint}};
  std::string product = "forward", schedule = "exchange";
  app.add_option("--product", product,
                 "forward: A x; transposed: A^T x; conjugated: conj(A) x; adjoint: A^H x, of the conjugated "
                 "transpose (the same as transposed if A is real)")
      ->check(CLI::IsMember(sides))
      ->capture_default_str();
  app.add_option("--schedule", schedule, "exchange coefficients, or stack both bases on one PE")
      ->check(CLI::IsMember({"exchange", "stacked"}))
      ->capture_default_str();
  app.add_option("--pes", o.how.pes, "PEs; 0 for one a thread")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--threads", o.how.threads, "threads; 0 for one a core, or WSL_THREADS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--times", o.times, "products to measure")
      ->check(app::whole_at_least(1))
      ->capture_default_str();
  CLI::Option* const solves =
      app.add_flag("--solve", o.solves, "also find a vector from its product, by least squares (LSQR)");
  app.add_option("--max-steps", o.solving.max_steps, "of --solve")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(solves)
      ->capture_default_str();
  app.add_option("--residual", o.solving.tolerance, "at which --solve ends, of the right side's norm")
      ->check(CLI::Range(0., 1.))
      ->needs(solves)
      ->capture_default_str();
  app.allow_extras();
  if (!app::parse(app, argc, argv, "option", status)) return false;
  if (o.how.threads == 0) default_threads();  // throws if WSL_THREADS is no number, before any work
  if (rows->count()) o.given.rows = o.size.rows;
  if (columns->count()) o.given.columns = o.size.columns;
  if (tile->count()) o.given.tile = o.tile;
  o.which = sides.at(product);
  o.how.how = schedule == "stacked" ? tlr::schedule::stacked : tlr::schedule::exchange;
  check(o);
  return true;
}

}  // namespace tlr_app
