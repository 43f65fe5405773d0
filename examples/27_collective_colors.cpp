// SPDX-License-Identifier: MIT
// The number of colors that collectives take, compared with the published libraries for this machine. A
// rectangle here has 9 x 9 PEs, a line 16.
//   collectives_2d   the vendor's library: two colors an axis, for any of its collectives
//   allreduce        a library of the vendor's benchmarks (csl-examples, benchmarks/benchmark-libs);
//                    allreduce2R1E beside it has two colors, and fewer tasks
//   stencil_3d_7pts  another library of those benchmarks
//   tally            another library of the vendor
//   ETH              the code of "Near-Optimal Wafer-Scale Reduce" (arXiv 2404.15888), as the history of
//                    pr0f3ss/SpMM_Cerebras has it
//   WaferLLM         the rings of MeshGEMM, and MeshGEMV, whose all-reduce in a column is a two-level tree
#include <wsl/collective.hpp>
#include <cstdio>
#include <set>
using namespace wsl;

/// `published` is 0 where no library has it.
void row(const char* what, const auto& net, int width, int height, int published, const char* library) {
  layout l{wse2, width, height};
  net.wire(l);
  std::set<int> taken;
  for (const path_record& p : l.paths()) taken.insert(p.color);
  const int here = static_cast<int>(taken.size());
  if (published)
    std::printf("%-36s %4d %10d  %s%s\n", what, here, published, library, here > published ? " (*)" : "");
  else
    std::printf("%-36s %4d %10s\n", what, here, "-");
}

int main() {
  const auto line = [](const char* what, const auto& net, int published, const char* library) {
    row(what, net, 16, 1, published, library);
  };
  const auto rectangle = [](const char* what, const auto& net, int published, const char* library) {
    row(what, net, 9, 9, published, library);
  };
  std::printf("%-36s %4s %10s  %s\n", "collective", "here", "published", "library");
  rectangle("broadcast", broadcast<f32>{.first = 0, .root = {3, 2}}, 4, "collectives_2d");
  rectangle("scatter", scatter<f32>{.first = 0, .root = {3, 2}}, 4, "collectives_2d");
  rectangle("gather", gather<f32>{.first = 0, .root = {3, 2}}, 4, "collectives_2d");
  rectangle("reduce", collective::reduce<f32>{.first = 0, .root = {3, 2}, .words = 16}, 4, "collectives_2d");
  rectangle("reduce to a corner", collective::reduce<f32>{.first = 0, .words = 16}, 4, "collectives_2d");
  rectangle("all-reduce", all_reduce<f32>{.first = 0}, 4, "collectives_2d: a reduce, a broadcast");
  rectangle("all-reduce, .colors = 1", all_reduce<f32>{.first = 0, .colors = 1}, 1, "allreduce");
  rectangle("halo exchange", halo_exchange<f32>{.first = 0}, 8, "stencil_3d_7pts");
  rectangle("tally", tally{.first = 0}, 3, "tally");
  line("broadcast in a line", broadcast<f32>{.first = 0, .among = each_row}, 1, "ETH");
  line("reduce in a line, a star",
       collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::star}, 1, "ETH");
  line("reduce in a line, a chain",
       collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::chain}, 2, "ETH");
  line("reduce in a line, two phases",
       collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}, 2, "ETH");
  line("reduce in a line, a grouped star",
       collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::grouped_star}, 0, "");
  line("reduce in a line, a tree",
       collective::reduce<f32>{.first = 0, .among = each_row, .how = tactic::tree, .colors = 4}, 2, "ETH");
  line("all-reduce in a line, two phases",
       all_reduce<f32>{.first = 0, .among = each_row, .how = tactic::two_phase}, 10, "WaferLLM");
  line("shift around a line", shift<f32>{.first = 0, .cyclic = true}, 3, "WaferLLM");
  line("all-reduce in a line, scattered", scattered_all_reduce<f32>{.first = 0}, 0, "");
  line("all-to-all in a line", all_to_all<f32>{.first = 0}, 0, "");
  std::printf("(*) more than published\n");
}
