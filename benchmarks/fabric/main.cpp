// SPDX-License-Identifier: MIT
// The throughput of the fabric: scripts/bench wavelets. Without options every case runs five times, in an
// order that is drawn anew each time, so that disturbances of the computer affect all cases alike. The table
// holds medians; ratios are within one run.
#include <string_view>
#include <vector>

#include "table.hpp"

double bench::measured(const std::function<double()>& run) { return run(); }

int main(int argc, char** argv) {
  std::vector<std::string> options{argv[0], "--benchmark_repetitions=5",
                                   "--benchmark_enable_random_interleaving=true"};
  bool other_format = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    other_format |= option.starts_with("--benchmark_format") || option.starts_with("--benchmark_list_tests");
    options.emplace_back(option);
  }
  std::vector<char*> list;
  for (std::string& o : options) list.push_back(o.data());
  int count = static_cast<int>(list.size());
  benchmark::Initialize(&count, list.data());
  if (benchmark::ReportUnrecognizedArguments(count, list.data())) return 1;
  if (other_format) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  bench::table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  table.print();
}
