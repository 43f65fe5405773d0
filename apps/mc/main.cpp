// SPDX-License-Identifier: MIT
// wsl-mc: Monte Carlo cross-section lookups from the command line, XSBench's problem (`wsl-mc lookups`) and particles on a wafer
// (`wsl-mc particles`).
#include <CLI/CLI.hpp>

#include "command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Monte Carlo cross-section lookups on a fabric of processing elements"};
  app.require_subcommand(1);
  std::function<int()> chosen;
  const auto command = [&](const char* name, const char* what, auto declare) {
    CLI::App* one = app.add_subcommand(name, what);
    one->callback([&chosen, run = declare(*one)] { chosen = run; });
  };
  command("lookups", "XSBench's problem: a reactor of 68 or 355 nuclides and 12 materials, in double precision", mc_app::declare_lookups);
  command("particles", "one material's nuclides over columns of PEs, energies over rows, in single precision", mc_app::declare_particles);
  CLI11_PARSE(app, argc, argv);
  try {
    return chosen();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
