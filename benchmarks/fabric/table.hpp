// SPDX-License-Identifier: MIT
// Collects the measurements by row and column, and prints their medians: wsl's number, and under each other
// those it is compared with. A ratio above 1 means that wsl is faster, whatever the unit.
#pragma once
#include <map>
#include <vector>

#include "measure.hpp"

namespace bench {

class table final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;
  void print() const;

 private:
  double median(const std::string& row, const std::string& who) const;  // 0 where nothing was measured
  double ratio(const std::string& row, const std::string& who) const;
  void print_row(const std::string& row) const;

  std::map<std::string, std::map<std::string, std::vector<double>>> values_;
};

}  // namespace bench
