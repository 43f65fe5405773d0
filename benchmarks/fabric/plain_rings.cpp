// SPDX-License-Identifier: MIT
// The practical ceiling of the relay: the same rows as one loop over plain ring buffers, written for this one
// task. Nothing is looked up, nothing is checked, and every node takes all that its ring holds.
#include <cstdint>
#include <vector>

#include "measure.hpp"

namespace {

struct node {
  static constexpr std::uint32_t capacity = 1024;
  float words[capacity];
  std::uint32_t head = 0, tail = 0;
  float sum = 0;
};

class rows_of_rings {
 public:
  rows_of_rings(int width, int height, int waves)
      : width_(width), height_(height), waves_(waves), nodes_(static_cast<std::size_t>(width * height)) {}

  double run() {
    for (int y = 0; y < height_; ++y)
      for (int left = waves_; left > 0; left -= batch) {
        node* row = &nodes_[static_cast<std::size_t>(y * width_)];
        for (int k = 0; k < std::min(left, batch); ++k) put(row[1], 1);
        for (int x = 1; x < width_; ++x) drain(row[x], x + 1 < width_ ? &row[x + 1] : nullptr);
      }
    ++runs_;
    return static_cast<double>(width_ - 1) * height_ * waves_;
  }

  void check() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const int x = static_cast<int>(i) % width_;
      bench::require(nodes_[i].sum == static_cast<float>(x) * static_cast<float>(waves_ * runs_),
                     "a plain ring has a wrong sum");
    }
  }

 private:
  static constexpr int batch = 512;

  static void put(node& n, float x) { n.words[n.tail++ % node::capacity] = x; }
  static void drain(node& n, node* next) {
    float sum = n.sum;
    if (next)
      for (; n.head != n.tail; ++n.head) {
        const float x = n.words[n.head % node::capacity];
        sum += x;
        put(*next, x + 1);
      }
    else
      for (; n.head != n.tail; ++n.head) sum += n.words[n.head % node::capacity];
    n.sum = sum;
  }

  int width_, height_, waves_, runs_ = 0;
  std::vector<node> nodes_;
};

using enum bench::unit;
const bool added[] = {
    bench::add<rows_of_rings>("relay 32x32", "plain rings", mega_per_second, 5, 32, 32, 50'000),
    bench::add<rows_of_rings>("relay chain of 16", "plain rings", mega_per_second, 5, 16, 1, 150'000),
};

}  // namespace
