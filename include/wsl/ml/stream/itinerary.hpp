// SPDX-License-Identifier: MIT
// What passes between the memory and the wafer in a step, in order: the slabs of every stage on the way forward, and on the way back
// those that are looked at again and all their gradients. Everybody knows the itinerary, so nothing but numbers travels. The slabs
// are shared out evenly to the memory's servers; a slab is always with the same.
#pragma once
#include "../model/weights.hpp"

namespace wsl::ml {

struct trip {
  const stage* of = nullptr;
  int which = 0;              ///< of the stage's parameters, -1: only the stage's own work
  std::size_t parameter = 0;
  int row = 0, rows = 0, columns = 0;
  int server = 0;
  int layer = 0;              ///< stages with parameters before, on the way
  std::size_t gradient = 0;   ///< of those that return: 0, 1, ...
  bool back = false;
  bool brings = false;        ///< the slab comes to the wafer
  bool last = false;          ///< no other gradient of this slab follows in this step
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
  bool is_slab() const { return which >= 0; }
  bool returns() const { return is_slab() && back; }
  bool comes_from(int s) const { return brings && server == s; }
  bool returns_to(int s) const { return returns() && server == s; }
};

class itinerary {
 public:
  itinerary(const network& n, int servers, bool and_back) {
    std::vector<int> first(n.parameters().size());  // slabs of the parameters before
    for (std::size_t k = 0, all = 0; k < first.size(); ++k) {
      const parameter& p = n.parameters()[k];
      first[k] = static_cast<int>(all);
      all += static_cast<std::size_t>((p.rows + slab_rows(p, servers) - 1) / slab_rows(p, servers));
    }
    std::size_t gradients = 0;
    int layers = 0;
    const auto visit = [&](const stage& s, bool back) {
      trips_.push_back({.of = &s, .which = -1, .layer = layers, .back = back});
      for (std::size_t w = 0; w < s.parameters.size(); ++w) {
        const std::size_t k = static_cast<std::size_t>(s.parameters[w]);
        const parameter& p = n.parameters()[k];
        const int rows = slab_rows(p, servers), which = static_cast<int>(w);
        for (int row = 0; row < p.rows; row += rows) {
          const int server = (first[k] + row / rows) % servers;
          trips_.push_back({&s, which, k, row, std::min(rows, p.rows - row), p.columns, server, layers, back ? gradients++ : 0, back, !back || s.looks_back_at(which), false});
        }
      }
      layers += !s.parameters.empty();
    };
    for (const auto& s : n.stages()) visit(*s, false);
    for (std::size_t k = n.stages().size(); and_back && k-- > 0;) visit(*n.stages()[k], true);
    mark_last(n);
  }

  const std::vector<trip>& trips() const { return trips_; }
  std::size_t longest() const {
    std::size_t words = 0;
    for (const trip& t : trips_) words = std::max(words, t.size());
    return words;
  }

  /// Numbers of the two layers, one after the other on the way, that together have the most.
  u64 two_layers() const {
    std::vector<u64> layer(2);
    for (const trip& t : trips_) {
      layer.resize(std::max(layer.size(), static_cast<std::size_t>(t.layer) + 1));
      if (t.brings) layer[static_cast<std::size_t>(t.layer)] += t.size();
    }
    u64 most = 0;
    for (std::size_t k = 1; k < layer.size(); ++k) most = std::max(most, layer[k - 1] + layer[k]);
    return most;
  }

 private:
  void mark_last(const network& n) {
    std::vector<std::vector<int>> seen(n.parameters().size());  // rows whose last gradient is known
    for (std::size_t k = trips_.size(); k-- > 0;) {
      trip& t = trips_[k];
      if (!t.returns()) continue;
      std::vector<int>& rows = seen[t.parameter];
      t.last = std::find(rows.begin(), rows.end(), t.row) == rows.end();
      rows.push_back(t.row);
    }
  }

  std::vector<trip> trips_;
};

}  // namespace wsl::ml
