// SPDX-License-Identifier: MIT
// The streaming schedule of a column of workers: everything that passes between its servers and its workers
// in a step, and among the workers of a row or of a column, in order. In the forward pass these are the
// weight tiles of every stage, in the backward pass the tiles that a stage reads again, and all gradients.
// Rows that share a sequence have entries for what they exchange along their columns. Memory servers, swarm
// nodes and workers all follow the same schedule, so nothing but numbers travels. The tiles of a column's
// share of a parameter are dealt out to the column's servers in turn; a tile is always with the same server.
// If a batch reads few rows of a table, only these are gathered and travel. Of a sparse parameter the
// nonzeros travel, and their gradients come back (sparse_tile.hpp).
#pragma once
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "../../model/batch.hpp"
#include "../../model/column_cut.hpp"
#include "../../model/weights.hpp"
#include "micro_batch.hpp"
#include "recomputation.hpp"
#include "row_tokens.hpp"
#include "sparse_tile.hpp"

namespace wsl::ml {

/// How a parameter passes in a step.
struct sparse_use {
  const sparse_pattern* pattern = nullptr;  ///< of a sparse one; null: all its numbers travel
  bool dense_gradient = false;              ///< the gradients of all its numbers come back all the same
};

/// One entry of the schedule: a weight tile, or a stage's own work, for which nothing travels, or an exchange
/// along the rows of workers, or one along the columns, of what a stage reads of the tokens of other rows or
/// of the gradients of that, or sums over all tokens (stage::rounds_of_sums), or the end of a block, whose
/// inner values are released. Sums go to a server as a gradient does, and come back as a weight tile does, in
/// f32.
struct weight_transfer {
  enum class kind : u8 {
    tile,
    own_work,
    exchange,
    sum_gradient,
    bring,
    give_back,
    give_sums,
    take_sums,
    release
  };

  const stage* of = nullptr;
  kind what = kind::tile;
  int which = -1;  ///< index among the stage's parameters; for sums the round
  std::size_t parameter = 0;
  /// The tile's place in the column's share of the parameter; in that of a table, `row` counts all its rows.
  int row = 0, rows = 0, columns = 0;
  i64 offset = 0;                           ///< of its first number in the parameter; the others follow it
  std::span<const i32> gathered_rows = {};  ///< the rows that travel, if they do not lie together
  /// Of a sparse parameter its pattern, and which of its nonzeros are the tile's.
  sparse_use sparse = {};
  i64 first_nonzero = 0, nonzeros = 0;
  int server = 0;
  int layer = 0;             ///< counts the stages with parameters that the schedule has passed
  std::size_t gradient = 0;  ///< number of the gradient among those of the step: 0, 1, ...
  bool backward = false;
  bool again = false;            ///< forward work that the backward pass does once more
  bool carries_weights = false;  ///< the weights of the tile travel to the wafer
  bool carries_values = true;    ///< with their values; without them the places of the nonzeros
  /// In f32 the weights travel column after column, so that one server turns them, and not each worker.
  bool by_columns = false;
  bool returns_gradient = false;
  /// No later gradient of this step has these rows. For gathered rows: no row of the server's share.
  bool last_gradient = false;
  exchange values = {};
  const recomputed_block* released = nullptr;

  /// Whether it belongs to the backward pass.
  bool is_on_way_back() const { return backward || again; }
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
  bool is_tile() const { return what == kind::tile; }
  /// The tile's numbers where its words are f32.
  matrix<f32> numbers(f32* words) const {
    return by_columns ? matrix<f32>(words, rows, columns, 1, rows) : matrix<f32>(words, rows, columns);
  }
  bool is_sparse() const { return sparse.pattern != nullptr; }
  bool is_of_sums() const { return what == kind::give_sums || what == kind::take_sums; }
  /// The words that travel, where weights have some format.
  std::size_t words(precision as) const {
    return is_of_sums() ? size() : is_sparse() ? form().words(as) : words_of(as, size());
  }
  /// The numbers that come back. Of a sparse tile there is one at least.
  std::size_t gradients() const {
    return is_sparse() && !sparse.dense_gradient ? std::max<std::size_t>(1, kept()) : size();
  }
  /// The numbers that the memory keeps of the tile, and the first of them among those of the parameter.
  std::size_t kept() const { return is_sparse() ? static_cast<std::size_t>(nonzeros) : size(); }
  i64 first_kept() const { return is_sparse() ? first_nonzero : offset; }
  /// The number of its first row in the parameter, if it has whole rows.
  int first_row() const { return static_cast<int>(offset / columns); }
  sparse_tile_form form() const {
    return {rows, columns, static_cast<std::size_t>(nonzeros), carries_values};
  }
  /// Whether the workers of a row, or of a column, do this together.
  bool is_collective() const {
    return what == kind::exchange || what == kind::sum_gradient || is_along_column();
  }
  bool is_along_column() const { return what == kind::bring || what == kind::give_back; }
  bool is_sent_by(int s) const { return carries_weights && server == s; }
  bool is_returned_to(int s) const { return returns_gradient && server == s; }
};

class streaming_schedule {
 public:
  /// The schedule of one column and any batch, or with `b` of a micro-batch of that one on some wafers.
  /// Without `and_back` it is that of an evaluation, or if it `trains` the forward pass of a step. The blocks
  /// are those of `again`, if it is given; `sparse`, if it is given, says how each parameter passes, and its
  /// patterns stay as they are while the schedule is followed.
  streaming_schedule(const network& n, const column_cut& cut, int column, int servers, bool and_back,
                     const batch* b = nullptr, micro_batch of = {}, int wafers = 1,
                     const recomputation* again = nullptr, bool trains = false,
                     const std::vector<sparse_use>* sparse = nullptr)
      : of_(of),
        wafers_(wafers),
        trains_(trains || and_back),
        network_(n),
        parameters_(n.parameters()),
        cut_(cut),
        column_(column),
        servers_(servers),
        user_(parameters_.size()),
        sparse_(sparse ? *sparse : std::vector<sparse_use>(parameters_.size())) {
    for (const auto& s : n.stages())
      for (std::size_t k = 0; k < s->parameters.size(); ++k)
        user_[static_cast<std::size_t>(s->parameters[k])] = {s.get(), static_cast<int>(k)};
    // Without a batch there may be as many sequences as make rows share them.
    rows_.emplace(cut, wafer_grid{servers, cut.columns(), wafers}, b ? b->sequences : wafers,
                  b ? b->length : servers, b ? of : micro_batch{});
    deal_out();
    if (again) pass_blocks(*again, and_back, b);
    else {
      for (const auto& s : n.stages()) visit(*s, false, b);
      for (std::size_t k = n.stages().size(); and_back && k-- > 0;) visit(*n.stages()[k], true, b);
    }
    mark_last_gradients();
  }
  streaming_schedule(streaming_schedule&&) = default;
  streaming_schedule& operator=(streaming_schedule&&) = delete;

  const std::vector<weight_transfer>& transfers() const { return transfers_; }
  /// The micro-batch that passes.
  const micro_batch& of() const { return of_; }
  /// The numbers of the largest gradient of a tile.
  std::size_t max_gradients() const {
    std::size_t numbers = 0;
    for (const weight_transfer& t : transfers_) numbers = std::max(numbers, t.gradients());
    return numbers;
  }
  /// The words of the largest tile where weights have some format.
  std::size_t max_words(precision as) const {
    std::size_t most = 0;
    for (const weight_transfer& t : transfers_) most = std::max(most, t.words(as));
    return most;
  }
  /// The words of the two consecutive layers that together have the most, where weights have some format.
  u64 largest_two_layers(precision as) const {
    std::vector<u64> layer(2);
    for (const weight_transfer& t : transfers_) {
      layer.resize(std::max(layer.size(), static_cast<std::size_t>(t.layer) + 1));
      if (t.carries_weights) layer[static_cast<std::size_t>(t.layer)] += t.words(as);
    }
    u64 most = 0;
    for (std::size_t k = 1; k < layer.size(); ++k) most = std::max(most, layer[k - 1] + layer[k]);
    return most;
  }
  /// Calls f(transfer) for the tiles of a parameter that a server has. These transfers say where the tile
  /// lies and nothing else.
  template <class F>
  void each_tile(std::size_t parameter, int server, F f) const {
    for (const weight_transfer& t : tiles_[parameter])
      if (t.server == server) f(t);
  }

 private:
  /// Workers of a column from which on it pays to turn a tile once before it is sent to all of them.
  static constexpr int rows_from_which_servers_turn = 3;

  /// The stage that uses a parameter last, and the parameter's index there: it decides how it is cut.
  struct parameter_use {
    const stage* of = nullptr;
    int which = 0;
  };

  /// Cuts the column's share of each parameter into tiles, and deals these out to the servers.
  void deal_out() {
    tiles_.resize(parameters_.size());
    int next_server = 0;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      if (!user_[k].of) continue;
      const std::vector<parameter_share> shares = cut_.shares(*user_[k].of, user_[k].which, column_);
      i64 all = 0, rows = 0;
      for (const parameter_share& s : shares) all += i64{s.rows} * s.columns, rows += s.rows;
      const sparse_use& sparse = sparse_[k];
      // A tile of nonzeros is as large as one of all numbers, and so it has more rows.
      if (sparse.pattern && !sparse.dense_gradient) {
        all = 0;
        for (const parameter_share& s : shares) all += sparse_words(*sparse.pattern, s);
      }
      const int of_tile = parameters_[k].undivided ? static_cast<int>(rows)
                                                   : streamed_rows(all, static_cast<int>(rows), servers_);
      for (const parameter_share& s : shares)
        for (int row = 0; row < s.rows; row += of_tile)
          if (s.columns > 0)
            tiles_[k].push_back({.parameter = k,
                                 .row = s.row + row,
                                 .rows = std::min(of_tile, s.rows - row),
                                 .columns = s.columns,
                                 .offset = s.offset + i64{row} * s.columns,
                                 .sparse = sparse,
                                 .server = next_server++ % servers_});
      for (weight_transfer& tile : tiles_[k])
        if (tile.is_sparse()) {
          tile.first_nonzero = sparse.pattern->first(tile.first_row());
          tile.nonzeros = sparse.pattern->first(tile.first_row() + tile.rows) - tile.first_nonzero;
        }
    }
  }
  /// The words of the nonzeros of some whole rows.
  static i64 sparse_words(const sparse_pattern& p, const parameter_share& s) {
    const int row = static_cast<int>(s.offset / s.columns);
    const i64 nonzeros = p.first(row + s.rows) - p.first(row);
    return static_cast<i64>(
        sparse_tile_form{s.rows, s.columns, static_cast<std::size_t>(nonzeros), true}.words(precision::f32));
  }

  void pass_blocks(const recomputation& how, bool and_back, const batch* b) {
    const auto& stages = network_.stages();
    const auto each_stage = [&](const recomputed_block& block, auto f) {
      for (int k = block.begin; k < block.end; ++k) f(*stages[static_cast<std::size_t>(k)]);
    };
    for (const recomputed_block& block : how.blocks()) {
      each_stage(block, [&](const stage& s) { visit(s, false, b); });
      if (!how.is_last(block)) release(block);
    }
    for (std::size_t k = how.blocks().size(); and_back && k-- > 0;) {
      const recomputed_block& block = how.blocks()[k];
      if (!goes_back(block)) break;  // nothing before it does, either
      const std::size_t from = transfers_.size();
      if (!how.is_last(block))
        each_stage(block, [&](const stage& s) {
          // A kept value is there, but the stage may go back through inputs that it reads in another form.
          if (how.keeps(s.output)) exchange_values(s, cut_.before(s), false);
          else visit(s, false, b, true);
        });
      for (std::size_t t = from; t < transfers_.size(); ++t) transfers_[t].again = true;
      for (int at = block.end; at-- > block.begin;) visit(*stages[static_cast<std::size_t>(at)], true, b);
      if (!how.is_last(block)) release(block);
    }
  }
  bool goes_back(const recomputed_block& block) const {
    const auto& stages = network_.stages();
    return std::any_of(stages.begin() + block.begin, stages.begin() + block.end,
                       [](const auto& s) { return s->goes_back; });
  }
  void release(const recomputed_block& block) {
    transfers_.push_back({.what = weight_transfer::kind::release, .layer = layers_, .released = &block});
  }

  /// Passes a stage; `again` if it has been passed in this direction before, and keeps its sums.
  void visit(const stage& s, bool backward, const batch* b, bool again = false) {
    if (backward && !s.goes_back) return;
    if (!backward) exchange_values(s, cut_.before(s), backward);
    else exchange_values(s, cut_.after(s), backward);
    exchange_tokens(s, weight_transfer::kind::bring, backward);
    if ((trains_ || s.sums_in_evaluation()) && !again) add_up(s, backward, b);
    transfers_.push_back(
        {.of = &s, .what = weight_transfer::kind::own_work, .layer = layers_, .backward = backward});
    for (int which = 0; which < static_cast<int>(s.parameters.size()); ++which) {
      const std::size_t k = static_cast<std::size_t>(s.parameters[static_cast<std::size_t>(which)]);
      const bool is_cut = cut_.is_cut(s), is_shared = !is_cut && cut_.columns() > 1;
      weight_transfer use{
          .of = &s,
          .which = which,
          .layer = layers_,
          .backward = backward,
          .carries_weights = !backward || s.needs_weight_in_backward(which) || sparse_[k].pattern,
          .carries_values = !backward || s.needs_weight_in_backward(which),
          .by_columns = !backward && servers_ >= rows_from_which_servers_turn && !sparse_[k].pattern &&
                        s.prefers_columns(which),
          .returns_gradient = backward && !parameters_[k].frozen && (is_cut || column_ == 0)};
      const std::vector<i32> needed = b ? needed_rows(s, which, *b) : std::vector<i32>{};
      if (!needed.empty()) use.by_columns = false;
      if (!is_shared && !needed.empty() && needed.size() < static_cast<std::size_t>(parameters_[k].rows) / 2)
        append_gathered(needed, k, use);
      else
        for (const weight_transfer& tile : tiles_[k]) {
          append(on(tile, use));
          if (backward && is_shared && !parameters_[k].frozen) sum_gradient();
        }
    }
    if (backward && s.wants_gradient(0)) exchange_tokens(s, weight_transfer::kind::give_back, backward);
    if (!backward) exchange_values(s, cut_.after(s), backward);
    else exchange_values(s, cut_.before(s), backward);
    layers_ += !s.parameters.empty();
  }
  /// The sums over all tokens that a stage needs before its work. The servers take turns.
  void add_up(const stage& s, bool backward, const batch* b) {
    const int features = cut_.columns() > 1 && s.how_cut() == stage_cut::by_feature
                             ? cut_.width(s.output, column_)
                             : network_.width(s.output);
    const i64 sequences = b ? of_.sequences(wafers_, b->sequences) : 1;
    for (int round = 0; round < s.rounds_of_sums(backward); ++round) {
      const i64 numbers = s.sums_of_round(backward, round, features, sequences);
      if (numbers == 0) continue;
      if (numbers > std::numeric_limits<int>::max())
        throw std::invalid_argument(fmt::format(
            "wsl: {} has {} numbers of all sequences of a batch: take smaller batches", s.name, numbers));
      weight_transfer t{.of = &s,
                        .what = weight_transfer::kind::give_sums,
                        .which = round,
                        .rows = 1,
                        .columns = static_cast<int>(numbers),
                        .server = sums_++ % servers_,
                        .layer = layers_,
                        .backward = backward,
                        .returns_gradient = true};
      append(t);
      t.what = weight_transfer::kind::take_sums, t.returns_gradient = false, t.carries_weights = true;
      append(t);
    }
  }
  /// A transfer of the tile at the place of `tile`, used as `use` says.
  static weight_transfer on(const weight_transfer& tile, weight_transfer use) {
    use.parameter = tile.parameter, use.row = tile.row, use.rows = tile.rows, use.columns = tile.columns,
    use.offset = tile.offset, use.server = tile.server;
    use.sparse = tile.sparse, use.first_nonzero = tile.first_nonzero, use.nonzeros = tile.nonzeros;
    if (use.of->how_cut() == stage_cut::by_rows_of_table) use.row = table_row(tile);
    return use;
  }
  static int table_row(const weight_transfer& tile) { return static_cast<int>(tile.offset / tile.columns); }
  void exchange_values(const stage& s, const std::vector<exchange>& all, bool backward) {
    for (const exchange& e : all)
      if (!backward || network_.wants_gradient(e.value))
        transfers_.push_back({.of = &s,
                              .what = weight_transfer::kind::exchange,
                              .layer = layers_,
                              .backward = backward,
                              .values = e});
  }
  void exchange_tokens(const stage& s, weight_transfer::kind what, bool backward) {
    if (rows_->cuts_sequences() && (column_cut::reads_prefix(s) || rows_->borrow_lines(s)))
      transfers_.push_back({.of = &s, .what = what, .layer = layers_, .backward = backward});
  }
  /// The gradients that the columns have made of the tile before this are added up for the first column.
  void sum_gradient() {
    weight_transfer t = transfers_.back();
    t.what = weight_transfer::kind::sum_gradient;
    transfers_.back().returns_gradient = t.carries_weights = false;
    transfers_.push_back(t);
  }
  void append(weight_transfer t) {
    if (t.returns_gradient) t.gradient = gradients_++;
    transfers_.push_back(t);
  }
  std::vector<i32> needed_rows(const stage& s, int which, const batch& b) const {
    std::vector<i32> rows;
    if (s.rows_read(which) == row_selection::of_ids) {
      const std::span<const i32> ids = ids_of(network_, b, s.inputs[0]);
      const std::size_t of_sequence = ids.size() / static_cast<std::size_t>(std::max(1, b.sequences));
      for (int wafer = 0; wafer < wafers_; ++wafer) {
        const sequence_range range = of_.on_wafer(wafer, wafers_, b.sequences);
        const auto here = ids.subspan(static_cast<std::size_t>(range.begin) * of_sequence,
                                      static_cast<std::size_t>(range.count()) * of_sequence);
        rows.insert(rows.end(), here.begin(), here.end());
      }
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    } else if (s.rows_read(which) == row_selection::of_positions) {
      rows.resize(tokens_of_value(network_, b, s.output) /
                  static_cast<std::size_t>(std::max(1, b.sequences)));
      std::iota(rows.begin(), rows.end(), s.first_position());
    }
    return rows;
  }
  /// Appends transfers of the needed rows that the column has, each no larger than a tile. A server that has
  /// none of them sends one of its rows all the same, so that its share of the table has a last gradient.
  void append_gathered(const std::vector<i32>& needed, std::size_t parameter, weight_transfer use) {
    for (int server = 0; server < servers_; ++server) {
      std::vector<i32> mine;
      int most = 0, columns = 0;
      std::optional<i32> any;
      each_tile(parameter, server, [&](const weight_transfer& tile) {
        const i32 first = table_row(tile);
        const auto from = std::lower_bound(needed.begin(), needed.end(), first);
        std::copy(from, std::lower_bound(from, needed.end(), first + tile.rows), std::back_inserter(mine));
        most = std::max(most, tile.rows), columns = tile.columns;
        if (!any) any = first;
      });
      if (!any) continue;
      if (mine.empty()) mine.push_back(*any);
      const std::span<const i32> rows = gathered_.emplace_back(std::move(mine));
      for (std::size_t from = 0; from < rows.size(); from += static_cast<std::size_t>(most)) {
        weight_transfer t = use;
        t.parameter = parameter, t.columns = columns, t.server = server;
        t.gathered_rows = rows.subspan(from, std::min(static_cast<std::size_t>(most), rows.size() - from));
        t.rows = static_cast<int>(t.gathered_rows.size());
        append(t);
      }
    }
  }
  void mark_last_gradients() {
    // For each parameter the offsets of the tiles whose last gradient is known.
    std::vector<std::vector<i64>> seen(parameters_.size());
    for (std::size_t k = transfers_.size(); k-- > 0;) {
      weight_transfer& t = transfers_[k];
      if (!t.returns_gradient || t.is_of_sums()) continue;
      std::vector<i64>& tiles = seen[t.parameter];
      const auto mark = [&](const weight_transfer& tile) {
        t.last_gradient = std::find(tiles.begin(), tiles.end(), tile.offset) == tiles.end();
        tiles.push_back(tile.offset);
      };
      if (t.gathered_rows.empty()) mark(t);
      else each_tile(t.parameter, t.server, mark);
    }
  }

  micro_batch of_;
  int wafers_;
  bool trains_;
  int sums_ = 0;  // rounds so far
  const network& network_;
  const std::vector<parameter>& parameters_;
  const column_cut& cut_;
  int column_, servers_;
  std::optional<rows_of_wafers> rows_;
  std::vector<parameter_use> user_;
  std::vector<sparse_use> sparse_;                   // of each parameter
  std::vector<std::vector<weight_transfer>> tiles_;  // of the column, for each parameter
  std::vector<weight_transfer> transfers_;
  std::vector<std::vector<i32>> gathered_;
  std::size_t gradients_ = 0;
  int layers_ = 0;
};

}  // namespace wsl::ml
