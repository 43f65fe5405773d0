// SPDX-License-Identifier: MIT
// wsl-mc: Monte Carlo from the command line: cross-section lookups, XSBench's problem (`wsl-mc lookups`) and
// particles on a wafer (`wsl-mc particles`), and neutron transport (`wsl-mc transport`).
#include "../command_line.hpp"
#include "../ranks.hpp"
#include "command.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Monte Carlo lookups and neutron transport on a fabric of processing elements", "wsl-mc");
  app.require_subcommand(0, 1)->allow_extras();
  std::function<int()> chosen;
  const auto command = [&](const char* name, const char* what, auto declare) {
    CLI::App* one = app.add_subcommand(name, what)->allow_extras();
    one->callback([&chosen, run = declare(*one)] { chosen = run; });
  };
  command("lookups",
          "XSBench's problem: a reactor of 68 or 355 nuclides and 12 materials, in double precision",
          mc_app::declare_lookups);
  command("particles", "one material's nuclides over columns of PEs, energies over rows, in single precision",
          mc_app::declare_particles);
  command("transport", "neutrons in a sphere, a slab or everywhere: k, or the tallies of a fixed source",
          mc_app::declare_transport);
  int status = 0;
  if (!app::parse(app, argc, argv, "command", status)) return status;
  if (!chosen) throw std::invalid_argument("what is there to do? wsl-mc lookups, for instance; see --help");
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  app::join_ranks(), app::let_one_print();
  return app::run("wsl-mc", [&] { return run(argc, argv); });
}
