// SPDX-License-Identifier: MIT
// What passes between the memory and the wafer in a step, in order: the slabs of every stage on the way
// forward, and on the way back those that are looked at again and all their gradients. Everybody knows the
// itinerary, so nothing but numbers travels. The slabs are shared out evenly to the memory's servers; a slab
// is always with the same. Of a table of which a batch needs few rows only these travel.
#pragma once
#include <algorithm>
#include <iterator>
#include <numeric>

#include "../../model/batch.hpp"
#include "../../model/weights.hpp"

namespace wsl::ml {

struct weight_transfer {
  const stage* of = nullptr;
  int which = 0;  ///< of the stage's parameters, -1: only the stage's own work
  std::size_t parameter = 0;
  int row = 0, rows = 0, columns = 0;
  std::span<const i32> gathered_rows = {};  ///< the rows that travel, if they do not lie together
  int server = 0;
  int layer = 0;             ///< stages with parameters before, on the way
  std::size_t gradient = 0;  ///< of those that return: 0, 1, ...
  bool back = false;
  bool brings = false;  ///< the slab comes to the wafer
  /// no other gradient of these rows follows in this step; of picks, of no row of the server's share
  bool last = false;
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
  bool is_slab() const { return which >= 0; }
  bool returns() const { return is_slab() && back; }
  bool comes_from(int s) const { return brings && server == s; }
  bool returns_to(int s) const { return returns() && server == s; }
};

class streaming_schedule {
 public:
  /// For any batch, or for one.
  streaming_schedule(const network& n, int servers, bool and_back, const batch* b = nullptr)
      : parameters_(n.parameters()), servers_(servers), first_(parameters_.size()) {
    for (std::size_t k = 0, all = 0; k < first_.size(); ++k) {
      const parameter& p = parameters_[k];
      first_[k] = static_cast<int>(all);
      all += static_cast<std::size_t>((p.rows + rows_of(k) - 1) / rows_of(k));
    }
    for (const auto& s : n.stages()) visit(*s, false, b);
    for (std::size_t k = n.stages().size(); and_back && k-- > 0;) visit(*n.stages()[k], true, b);
    mark_last();
  }
  streaming_schedule(streaming_schedule&&) = default;
  streaming_schedule& operator=(streaming_schedule&&) = delete;

  const std::vector<weight_transfer>& weight_transfers() const { return trips_; }
  std::size_t longest() const {
    std::size_t words = 0;
    for (const weight_transfer& t : trips_) words = std::max(words, t.size());
    return words;
  }
  /// Numbers of the two layers, one after the other on the way, that together have the most.
  u64 two_layers() const {
    std::vector<u64> layer(2);
    for (const weight_transfer& t : trips_) {
      layer.resize(std::max(layer.size(), static_cast<std::size_t>(t.layer) + 1));
      if (t.brings) layer[static_cast<std::size_t>(t.layer)] += t.size();
    }
    u64 most = 0;
    for (std::size_t k = 1; k < layer.size(); ++k) most = std::max(most, layer[k - 1] + layer[k]);
    return most;
  }
  /// Calls f(slab) for the slabs of a parameter that a server has, as trips with nothing but a place.
  template <class F>
  void each_slab(std::size_t parameter, int server, F f) const {
    const auto& p = parameters_[parameter];
    const int rows = rows_of(parameter);
    for (int row = 0; row < p.rows; row += rows)
      if (server_of(parameter, row) == server)
        f(weight_transfer{.parameter = parameter,
                          .row = row,
                          .rows = std::min(rows, p.rows - row),
                          .columns = p.columns,
                          .server = server});
  }

 private:
  int rows_of(std::size_t parameter) const { return slab_rows(parameters_[parameter], servers_); }
  int server_of(std::size_t parameter, int row) const {
    return (first_[parameter] + row / rows_of(parameter)) % servers_;
  }

  void visit(const stage& s, bool back, const batch* b) {
    trips_.push_back({.of = &s, .which = -1, .layer = layers_, .back = back});
    for (int which = 0; which < static_cast<int>(s.parameters.size()); ++which) {
      const std::size_t k = static_cast<std::size_t>(s.parameters[static_cast<std::size_t>(which)]);
      const parameter& p = parameters_[k];
      const bool brings = !back || s.needs_weight_in_backward(which);
      const std::vector<i32> needed = b ? needed_rows(s.needs(which), *b) : std::vector<i32>{};
      if (!needed.empty() && needed.size() < static_cast<std::size_t>(p.rows) / 2) {
        for (int server = 0; server < servers_; ++server)
          pick(needed, weight_transfer{.of = &s,
                                       .which = which,
                                       .parameter = k,
                                       .columns = p.columns,
                                       .server = server,
                                       .layer = layers_,
                                       .back = back,
                                       .brings = brings});
        continue;
      }
      for (int row = 0; row < p.rows; row += rows_of(k))
        append({&s,
                which,
                k,
                row,
                std::min(rows_of(k), p.rows - row),
                p.columns,
                {},
                server_of(k, row),
                layers_,
                0,
                back,
                brings,
                false});
    }
    layers_ += !s.parameters.empty();
  }
  void append(weight_transfer t) {
    if (t.back) t.gradient = gradients_++;
    trips_.push_back(t);
  }
  static std::vector<i32> needed_rows(rows_needed which, const batch& b) {
    std::vector<i32> rows;
    if (which == rows_needed::of_ids) {
      rows.assign(b.ids.begin(), b.ids.end());
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    } else if (which == rows_needed::of_positions) {
      rows.resize(static_cast<std::size_t>(b.length));
      std::iota(rows.begin(), rows.end(), 0);
    }
    return rows;
  }
  /// Appends trips with the needed rows that a server has, no more in one than in a slab. A server that has
  /// none of them sends one of its rows all the same, so that its share of the table has a last gradient.
  void pick(const std::vector<i32>& needed, weight_transfer t) {
    std::vector<i32> mine;
    std::copy_if(needed.begin(), needed.end(), std::back_inserter(mine),
                 [&](i32 row) { return server_of(t.parameter, row) == t.server; });
    if (mine.empty())
      each_slab(t.parameter, t.server,
                [&](const weight_transfer& weight_tile) { mine.assign(1, weight_tile.row); });
    const std::span<const i32> gathered_rows = picks_.emplace_back(std::move(mine));
    const std::size_t most = static_cast<std::size_t>(rows_of(t.parameter));
    for (std::size_t from = 0; from < gathered_rows.size(); from += most) {
      t.gathered_rows = gathered_rows.subspan(from, std::min(most, gathered_rows.size() - from)),
      t.rows = static_cast<int>(t.gathered_rows.size());
      append(t);
    }
  }
  void mark_last() {
    // first rows of slabs whose last gradient is known
    std::vector<std::vector<int>> seen(parameters_.size());
    for (std::size_t k = trips_.size(); k-- > 0;) {
      weight_transfer& t = trips_[k];
      if (!t.returns()) continue;
      std::vector<int>& rows = seen[t.parameter];
      const auto mark = [&](const weight_transfer& weight_tile) {
        t.last = std::find(rows.begin(), rows.end(), weight_tile.row) == rows.end();
        rows.push_back(weight_tile.row);
      };
      if (t.gathered_rows.empty()) mark(t);
      else each_slab(t.parameter, t.server, mark);
    }
  }

  const std::vector<parameter>& parameters_;
  int servers_;
  std::vector<int> first_;  ///< slabs of the parameters before
  std::vector<weight_transfer> trips_;
  std::vector<std::vector<i32>> picks_;
  std::size_t gradients_ = 0;
  int layers_ = 0;
};

}  // namespace wsl::ml
