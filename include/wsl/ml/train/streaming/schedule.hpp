// SPDX-License-Identifier: MIT
// The streaming schedule: everything that passes between the memory and the wafer in a step, in order. In the
// forward pass these are the weight tiles of every stage, in the backward pass the tiles that a stage reads
// again, and all gradients. Memory servers, swarm nodes and workers all follow the same schedule, so nothing
// but numbers travels. The tiles of a parameter are dealt out to the servers in turn; a tile is always with
// the same server. If a batch reads few rows of a table, only these are gathered and travel.
#pragma once
#include <algorithm>
#include <iterator>
#include <numeric>

#include "../../model/batch.hpp"
#include "../../model/weights.hpp"

namespace wsl::ml {

/// One entry of the schedule: a weight tile, or with `which` -1 a stage's own work, for which nothing
/// travels.
struct weight_transfer {
  const stage* of = nullptr;
  int which = 0;  ///< index among the stage's parameters
  std::size_t parameter = 0;
  int row = 0, rows = 0, columns = 0;
  std::span<const i32> gathered_rows = {};  ///< the rows that travel, if they do not lie together
  int server = 0;
  int layer = 0;             ///< counts the stages with parameters that the schedule has passed
  std::size_t gradient = 0;  ///< number of the gradient among those of the step: 0, 1, ...
  bool backward = false;
  bool carries_weights = false;  ///< the weights of the tile travel to the wafer
  /// No later gradient of this step has these rows. For gathered rows: no row of the server's share.
  bool last_gradient = false;

  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
  bool is_tile() const { return which >= 0; }
  bool returns_gradient() const { return is_tile() && backward; }
  bool is_sent_by(int s) const { return carries_weights && server == s; }
  bool is_returned_to(int s) const { return returns_gradient() && server == s; }
};

class streaming_schedule {
 public:
  /// The schedule of any batch, or with `b` of that one. Without `and_back` it is that of an evaluation.
  streaming_schedule(const network& n, int servers, bool and_back, const batch* b = nullptr)
      : network_(n), parameters_(n.parameters()), servers_(servers), first_tile_(parameters_.size()) {
    for (std::size_t k = 0, all = 0; k < first_tile_.size(); ++k) {
      const parameter& p = parameters_[k];
      first_tile_[k] = static_cast<int>(all);
      all += static_cast<std::size_t>((p.rows + rows_of(k) - 1) / rows_of(k));
    }
    for (const auto& s : n.stages()) visit(*s, false, b);
    for (std::size_t k = n.stages().size(); and_back && k-- > 0;) visit(*n.stages()[k], true, b);
    mark_last_gradients();
  }
  streaming_schedule(streaming_schedule&&) = default;
  streaming_schedule& operator=(streaming_schedule&&) = delete;

  const std::vector<weight_transfer>& transfers() const { return transfers_; }
  /// The numbers of the largest transfer.
  std::size_t max_size() const {
    std::size_t words = 0;
    for (const weight_transfer& t : transfers_) words = std::max(words, t.size());
    return words;
  }
  /// The numbers of the two consecutive layers that together have the most.
  u64 largest_two_layers() const {
    std::vector<u64> layer(2);
    for (const weight_transfer& t : transfers_) {
      layer.resize(std::max(layer.size(), static_cast<std::size_t>(t.layer) + 1));
      if (t.carries_weights) layer[static_cast<std::size_t>(t.layer)] += t.size();
    }
    u64 most = 0;
    for (std::size_t k = 1; k < layer.size(); ++k) most = std::max(most, layer[k - 1] + layer[k]);
    return most;
  }
  /// Calls f(transfer) for the tiles of a parameter that a server has. These transfers say where the tile
  /// lies and nothing else.
  template <class F>
  void each_tile(std::size_t parameter, int server, F f) const {
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
  int rows_of(std::size_t parameter) const { return tile_rows(parameters_[parameter], servers_); }
  int server_of(std::size_t parameter, int row) const {
    return (first_tile_[parameter] + row / rows_of(parameter)) % servers_;
  }

  void visit(const stage& s, bool backward, const batch* b) {
    transfers_.push_back({.of = &s, .which = -1, .layer = layers_, .backward = backward});
    for (int which = 0; which < static_cast<int>(s.parameters.size()); ++which) {
      const std::size_t k = static_cast<std::size_t>(s.parameters[static_cast<std::size_t>(which)]);
      const parameter& p = parameters_[k];
      weight_transfer t{.of = &s,
                        .which = which,
                        .parameter = k,
                        .columns = p.columns,
                        .layer = layers_,
                        .backward = backward,
                        .carries_weights = !backward || s.needs_weight_in_backward(which)};
      const std::vector<i32> needed = b ? needed_rows(s, which, *b) : std::vector<i32>{};
      if (!needed.empty() && needed.size() < static_cast<std::size_t>(p.rows) / 2)
        for (t.server = 0; t.server < servers_; ++t.server) append_gathered(needed, t);
      else
        for (t.row = 0; t.row < p.rows; t.row += rows_of(k)) {
          t.rows = std::min(rows_of(k), p.rows - t.row), t.server = server_of(k, t.row);
          append(t);
        }
    }
    layers_ += !s.parameters.empty();
  }
  void append(weight_transfer t) {
    if (t.backward) t.gradient = gradients_++;
    transfers_.push_back(t);
  }
  std::vector<i32> needed_rows(const stage& s, int which, const batch& b) const {
    std::vector<i32> rows;
    if (s.rows_read(which) == row_selection::of_ids) {
      const std::span<const i32> ids = ids_of(network_, b, s.inputs[0]);
      rows.assign(ids.begin(), ids.end());
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    } else if (s.rows_read(which) == row_selection::of_positions) {
      rows.resize(static_cast<std::size_t>(b.length));
      std::iota(rows.begin(), rows.end(), 0);
    }
    return rows;
  }
  /// Appends transfers of the needed rows that a server has, each no larger than a tile. A server that has
  /// none of them sends one of its rows all the same, so that its share of the table has a last gradient.
  void append_gathered(const std::vector<i32>& needed, weight_transfer t) {
    std::vector<i32> mine;
    std::copy_if(needed.begin(), needed.end(), std::back_inserter(mine),
                 [&](i32 row) { return server_of(t.parameter, row) == t.server; });
    if (mine.empty())
      each_tile(t.parameter, t.server, [&](const weight_transfer& tile) { mine.assign(1, tile.row); });
    const std::span<const i32> rows = gathered_.emplace_back(std::move(mine));
    const std::size_t most = static_cast<std::size_t>(rows_of(t.parameter));
    for (std::size_t from = 0; from < rows.size(); from += most) {
      t.gathered_rows = rows.subspan(from, std::min(most, rows.size() - from));
      t.rows = static_cast<int>(t.gathered_rows.size());
      append(t);
    }
  }
  void mark_last_gradients() {
    // For each parameter the first rows of the tiles whose last gradient is known.
    std::vector<std::vector<int>> seen(parameters_.size());
    for (std::size_t k = transfers_.size(); k-- > 0;) {
      weight_transfer& t = transfers_[k];
      if (!t.returns_gradient()) continue;
      std::vector<int>& rows = seen[t.parameter];
      const auto mark = [&](const weight_transfer& tile) {
        t.last_gradient = std::find(rows.begin(), rows.end(), tile.row) == rows.end();
        rows.push_back(tile.row);
      };
      if (t.gathered_rows.empty()) mark(t);
      else each_tile(t.parameter, t.server, mark);
    }
  }

  const network& network_;
  const std::vector<parameter>& parameters_;
  int servers_;
  std::vector<int> first_tile_;  // the first tile of each parameter, counted over all parameters
  std::vector<weight_transfer> transfers_;
  std::vector<std::vector<i32>> gathered_;
  std::size_t gradients_ = 0;
  int layers_ = 0;
};

}  // namespace wsl::ml
