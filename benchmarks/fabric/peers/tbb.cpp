// SPDX-License-Identifier: MIT
// The relay as a oneTBB flow graph: a function_node for each PE, serial, with the policy under which it runs
// fastest.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>

#include "../measure.hpp"

namespace {
namespace tbb = oneapi::tbb;

class rows_of_nodes {
 public:
  rows_of_nodes(int width, int height, int waves)
      : width_(width), waves_(waves), sums_(static_cast<std::size_t>(width * height)) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      nodes_.emplace_back(graph_, tbb::flow::serial, [&sum = sums_[i]](float x) {
        sum += x;
        return x + 1;
      });
      if (static_cast<int>(i) % width) tbb::flow::make_edge(nodes_[i - 1], nodes_[i]);
    }
  }

  double run() {
    for (int k = 0; k < waves_; ++k)
      for (std::size_t first = 0; first < nodes_.size(); first += static_cast<std::size_t>(width_))
        nodes_[first].try_put(1);
    graph_.wait_for_all();
    ++runs_;
    return static_cast<double>(nodes_.size()) * waves_;
  }
  void check() const {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      bench::require(sums_[i] == static_cast<float>(static_cast<int>(i) % width_ + 1) *
                                     static_cast<float>(waves_ * runs_),
                     "oneTBB has a wrong sum");
  }

 private:
  int width_, waves_, runs_ = 0;
  tbb::global_control one_thread_{tbb::global_control::max_allowed_parallelism, 1};
  tbb::flow::graph graph_;
  std::vector<float> sums_;
  std::deque<tbb::flow::function_node<float, float, tbb::flow::queueing_lightweight>> nodes_;
};

using enum bench::unit;
const bool added[] = {
    bench::add<rows_of_nodes>("relay 32x32", "oneTBB", mega_per_second, 3, 32, 32, 1'500),
    bench::add<rows_of_nodes>("relay chain of 16", "oneTBB", mega_per_second, 3, 16, 1, 100'000),
};

}  // namespace
