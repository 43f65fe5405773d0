// SPDX-License-Identifier: MIT
// A worker is a PE of the wafer that computes: it keeps the activations of its row's tokens, as they are cut
// over the columns, and does the work of the stages on each weight tile of its column that comes. In the
// backward pass its gradient of the tile joins those of the other workers of the column on the way to the
// tile's server.
#pragma once
#include <algorithm>
#include <array>
#include <boost/hana/range.hpp>
#include <boost/hana/unpack.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "../../model/batch.hpp"
#include "../wall_clock.hpp"
#include "layer_times.hpp"
#include "line_exchange.hpp"
#include "prefix_exchange.hpp"
#include "queues.hpp"
#include "value_exchange.hpp"

namespace wsl::ml {

/// The task of the workers in a step.
struct streaming_step {
  const network* of;
  const column_cut* cut;
  const std::vector<streaming_schedule>* schedules;  ///< of each column
  wafer_grid grid;
  batch all;
  dropout_generator random = {};
  precision as = precision::f32;  ///< the format of weights and of operands
  f32 loss_scale = 1;             ///< the factor of the gradients
};

/// The measurements of a worker in a step.
struct worker_times {
  f64 forward = 0, backward = 0;                       ///< seconds of work
  wall_clock::time_point forward_done, backward_done;  ///< the times at which it finished the two passes
  std::size_t held = 0, peak = 0;                      ///< words of weights on the PE, now and at most
};

class worker {
 public:
  activation_store activations;
  worker_times times;
  row_exchange along_row;
  column_exchange along_column;
  neighbour_exchange with_neighbours;

  void step(pe& me, streaming_step s) {
    grid_ = s.grid, column_ = grid_.column_of(me.x()), cut_ = s.cut;
    thread_times::now_at(s.of->stages().front()->number);
    schedule_ = &(*s.schedules)[static_cast<std::size_t>(column_)];
    begin(me, s);
    next_ = until_ = 0, times = {}, times.forward_done = wall_clock::now();
    out_.begin(schedule_->max_gradients(), grid_.rows, wires::index_in_column(me));
    in_.resize(static_cast<std::size_t>(grid_.rows));
    for (tile_queue& q : in_) q.begin(schedule_->max_words(s.as), s.as);
    arriving_.assign(max_arriving, nothing_arrives);
    is_exchanging_ = false;
    receive_from_all(me, 0);
    work(me);
  }

  /// Starts the computation that is possible now, in the order of the schedule, with at most one tile of each
  /// server. Meanwhile the next tiles arrive and gradients leave.
  void work(pe& me) {
    if (next_ < until_ || is_exchanging_) return;
    const std::vector<weight_transfer>& all = schedule_->transfers();
    if (next_ < all.size() && all[next_].of) thread_times::now_at(all[next_].of->number);
    if (next_ < all.size() && all[next_].is_collective()) return exchange(me, all[next_]);
    u64 used = 0;  // servers, as a set of bits
    for (; until_ < all.size() && !all[until_].is_collective(); ++until_) {
      const weight_transfer& t = all[until_];
      if (t.layer > layer_ && until_ == next_) receive_from_all(me, t.layer);
      const u64 server = u64{1} << t.server;
      if ((t.carries_weights && ((used & server) || tiles_of(t.server).empty())) ||
          (t.returns_gradient && !out_.has_room(t)))
        break;
      used |= t.carries_weights ? server : 0;
    }
    if (next_ < until_) me.async_compute<&worker::compute>(*this, then<&worker::computed>());
    else if (next_ == all.size()) times.backward_done = wall_clock::now();
  }
  void compute() {
    for (std::size_t k = next_; k < until_; ++k) {
      const weight_transfer& t = schedule_->transfers()[k];
      if (t.released) {
        for (int v : t.released->inner) activations.release(v);
        continue;
      }
      activations.enter(cut_->reads(*t.of), cut_->writes(*t.of), t.of->output);
      timed(t, [&] {
        if (t.is_tile()) use(t);
        else if (t.is_of_sums()) use_sums(t);
        else t.backward ? begin_backward(*t.of, activations) : begin_forward(*t.of, activations);
      });
    }
  }
  void computed(pe& me) {
    for (; next_ < until_; ++next_) {
      const weight_transfer& t = schedule_->transfers()[next_];
      if (t.carries_weights) {
        tiles_of(t.server).pop(), times.held -= t.words(activations.format);
        receive(me, t.server);
      }
      if (t.returns_gradient) out_.made(t);
    }
    send_gradients(me);
    work(me);
  }
  template <int slot>
  void received(pe& me) {
    const int server = std::exchange(arriving_[slot], nothing_arrives);
    tiles_of(server).push();
    receive_from_all(me, layer_);
    me.activate<&worker::work>();
  }
  /// A gradient has passed a port.
  template <gradient_port p>
  void passed(pe& me) {
    out_.finish(p);
    send_gradients(me);
    me.activate<&worker::work>();
  }

  /// The sums over this worker's tokens in all micro-batches of the step so far: of the loss, and of each
  /// loss of the model without its factor.
  f64 loss() const { return earlier_loss_ + activations.loss; }
  std::vector<f64> losses() const {
    std::vector<f64> all = earlier_losses_;
    all.resize(std::max(all.size(), activations.losses.size()));
    for (std::size_t k = 0; k < activations.losses.size(); ++k) all[k] += activations.losses[k];
    return all;
  }

 private:
  /// Keeps the losses of the micro-batches before this one.
  void keep_losses() {
    earlier_losses_ = schedule_->of().is_first() ? std::vector<f64>() : losses();
    earlier_loss_ = schedule_->of().is_first() ? 0 : loss();
  }

  /// The rows of workers of all wafers share out the tokens, and the columns of a row its part.
  void begin(pe& me, const streaming_step& s) {
    const network& n = *s.of;
    const batch& b = s.all;
    rows_.emplace(*cut_, grid_, b.sequences, b.length, schedule_->of());
    row_ = rows_->row_at(me.at()), tokens_ = rows_->tokens_of(row_);
    const int from = tokens_.sequences.begin, count = tokens_.sequences.count();
    std::vector<axis_tokens> own = tokens_.of_column(lengths_of(n, b), column_);
    activation_store& a = activations;
    keep_losses();
    if (!a.is_sized_for(count, own)) {
      std::vector<value_width> widths;
      for (int v = 0; v < static_cast<int>(n.widths().size()); ++v)
        widths.push_back({n.width(v), cut_->width(v, column_), cut_->first_unit(v, column_), n.info(v).axis,
                          cut_->features(v, column_), cut_->forms_given(v)});
      a.resize(widths, n.stages().size(), count, std::move(own), grid_.columns > 1);
    }
    a.random = {s.random.on, s.random.key, from};
    a.format = s.as;
    give(a, n, sequences_of(b, from, count));
    a.weight *= s.loss_scale;
    a.sequences_of_pass = schedule_->of().sequences(grid_.wafers, b.sequences);
    const int wafer = row_ / grid_.rows;
    a.first_of_pass = from - schedule_->of().on_wafer(wafer, grid_.wafers, b.sequences).begin;
    for (int before = 0; before < wafer; ++before)
      a.first_of_pass += schedule_->of().on_wafer(before, grid_.wafers, b.sequences).count();
    a.part_of_batch = b.sequences > 0 ? static_cast<f64>(a.sequences_of_pass) / b.sequences : 1;
  }

  /// Starts a step that the workers of a row or of a column do together; the next entry of the schedule
  /// follows at its end. An exchange along a column takes the way of gradients, after those made so far.
  void exchange(pe& me, const weight_transfer& t) {
    if ((t.returns_gradient && !out_.has_room(t)) || (t.is_along_column() && !out_.is_idle())) return;
    is_exchanging_ = true;
    thread_times::now_at(t.of->number, work_kind::exchange);
    const auto done = [this, &t](pe& at) {
      is_exchanging_ = false;
      if (t.returns_gradient) {
        std::copy_n(shared_gradient_.begin(), t.gradients(), out_.of(t).begin());
        out_.made(t);
      }
      until_ = ++next_;
      send_gradients(at);
      at.activate<&worker::work>();
    };
    if (t.is_along_column()) {
      activations.enter(cut_->reads(*t.of), cut_->writes(*t.of), t.of->output);
      const int y = wires::index_in_column(me);
      const bool is_last = y + 1 == grid_.rows, brings = t.what == weight_transfer::kind::bring;
      if (cut_->reads_lines(*t.of)) {
        line_exchange& how = lines_.emplace(*rows_, row_, y == 0, is_last, *t.of,
                                            cut_->image_of(t.of->inputs[0]).width, activations);
        return brings ? how.bring(me, with_neighbours, done) : how.give_back(me, with_neighbours, done);
      }
      prefix_exchange& how = prefix_.emplace(*rows_, row_, is_last, *cut_, column_, activations);
      return brings ? how.bring(me, along_column, *t.of, done) : how.give_back(me, along_column, *t.of, done);
    }
    value_exchange& how = exchange_.emplace(*cut_, tokens_, column_, activations);
    if (t.what == weight_transfer::kind::exchange) how.start(me, along_row, t, done);
    else how.sum_gradient(me, along_row, std::span(shared_gradient_).first(t.gradients()), done);
  }

  void use(const weight_transfer& t) {
    f32* const words = t.carries_weights ? tiles_of(t.server).front() : nullptr;
    const weight_tile tile =
        t.is_sparse()
            ? sparse_tile_of(t, words)
            : tile_of_words(
                  {t.which, t.row,
                   activations.format == precision::f32 ? t.numbers(words) : matrix(words, t.rows, t.columns),
                   t.gathered_rows},
                  *t.of, activations.format, wide_);
    if (!t.backward) return t.of->forward(activations, tile);
    if (!t.returns_gradient) shared_gradient_.resize(std::max(shared_gradient_.size(), t.gradients()));
    const std::span<f32> gradient = t.returns_gradient ? out_.of(t) : std::span(shared_gradient_);
    if (t.kept() == 0) gradient[0] = 0;  // one number travels all the same
    t.of->backward(activations, tile,
                   t.is_sparse() && !t.sparse.dense_gradient
                       ? matrix(gradient.data(), 1, static_cast<int>(t.nonzeros))
                       : matrix(gradient.data(), t.rows, t.columns));
    // The memory updates nothing by a gradient of which a number is not finite.
    if (!std::isfinite(activations.loss)) gradient[0] = std::numeric_limits<f32>::quiet_NaN();
  }

  weight_tile sparse_tile_of(const weight_transfer& t, f32* words) {
    weight_tile tile{t.which, t.row, matrix<f32>(nullptr, t.rows, t.columns)};
    tile.nonzeros = &sparse_(activations.format, t.form(), words);
    tile.dense_gradient = t.sparse.dense_gradient;
    return tile;
  }

  void use_sums(const weight_transfer& t) {
    if (t.backward && writes_output(*t.of)) activations.round_gradient(t.of->output);
    round_inputs(*t.of, activations);
    if (t.returns_gradient) return t.of->add_sums(activations, t.backward, t.which, out_.of(t));
    t.of->take_sums(activations, t.backward, t.which, {tiles_of(t.server).front(), t.size()});
  }

  template <class F>
  void timed(const weight_transfer& t, F f) {
    const thread_times::span working(t.of->number, t.backward ? work_kind::backward : work_kind::forward);
    const wall_clock::time_point from = wall_clock::now();
    f();
    const wall_clock::time_point now = wall_clock::now();
    (t.is_on_way_back() ? times.backward : times.forward) += seconds(now - from);
    if (!t.is_on_way_back()) times.forward_done = now;
  }

  tile_queue& tiles_of(int server) { return in_[static_cast<std::size_t>(server)]; }

  /// Lets the next tile of a server come, if it belongs to the layer at work or to the one after it.
  void receive(pe& me, int server) {
    const auto slot = std::find(arriving_.begin(), arriving_.end(), nothing_arrives);
    if (slot == arriving_.end()) return;
    const weight_transfer* t = tiles_of(server).next(schedule_->transfers(), server, layer_ + 1);
    if (!t) return;
    *slot = server;
    times.held += t->words(activations.format), times.peak = std::max(times.peak, times.held);
    me.async(mov(mem(tiles_of(server).room(*t)), fabin(wires::weight_tiles(grid_, server, column_))),
             then_received(static_cast<int>(slot - arriving_.begin())));
  }
  void receive_from_all(pe& me, int layer) {
    layer_ = layer;
    for (int server = 0; server < grid_.rows; ++server) receive(me, server);
  }
  static completion then_received(int slot) {
    namespace hana = boost::hana;
    static constexpr auto all = hana::unpack(hana::range_c<int, 0, max_arriving>, [](auto... number) {
      return std::array{&then<&worker::received<number>>...};
    });
    return all[static_cast<std::size_t>(slot)]();
  }

  /// Sends gradients toward their servers, each as a sum with those from beyond this worker, which are added
  /// to it in memory: a neighbour's gradient then comes from memory to memory. At the worker above which the
  /// server stands, the sums from both ends of the column meet, first that from the north.
  void send_gradients(pe& me) {
    const int y = wires::index_in_column(me);
    start_adding<gradient_port::from_north>(me, wires::south_from(y + 1));
    start_adding<gradient_port::from_south>(me, wires::north_from(y + 1));
    start_sending<gradient_port::to_server>(me, wires::to_server);
    start_sending<gradient_port::to_south>(me, wires::south_from(y));
    start_sending<gradient_port::to_north>(me, wires::north_from(y));
  }
  template <gradient_port from>
  void start_adding(pe& me, color<f32> sums) {
    if (const weight_transfer* t = out_.start(schedule_->transfers(), from))
      me.async(wsl::add(mem(out_.of(*t)), fabin(sums), mem(out_.of(*t))), then<&worker::passed<from>>());
  }
  template <gradient_port to>
  void start_sending(pe& me, color<f32> sums) {
    if (const weight_transfer* t = out_.start(schedule_->transfers(), to))
      me.async(mov(fabout(sums), mem(out_.of(*t))), then<&worker::passed<to>>());
  }

  static constexpr int max_arriving = 16;  // tiles that arrive at a time, each with a task of its own
  static constexpr int nothing_arrives = -1;

  wafer_grid grid_;
  int column_ = 0;
  const column_cut* cut_ = nullptr;
  std::optional<rows_of_wafers> rows_;
  int row_ = 0;  // counted over all wafers
  row_tokens tokens_;
  const streaming_schedule* schedule_ = nullptr;
  std::size_t next_ = 0, until_ = 0;  // the transfers from next_ to before until_ are at work
  int layer_ = 0;                     // the layer of the first of them
  std::vector<tile_queue> in_;        // of each server
  std::vector<int> arriving_;         // the servers whose tiles arrive
  std::vector<f32> wide_;             // the tile at work as f32, if it has come in 16 bits
  sparse_tile sparse_;                // the tile at work, if it has nonzeros only
  gradient_queue out_;
  std::optional<value_exchange> exchange_;  // at work
  std::optional<prefix_exchange> prefix_;   // at work
  std::optional<line_exchange> lines_;      // at work
  bool is_exchanging_ = false;
  std::vector<f32> shared_gradient_;  // of a parameter that all columns use
  f64 earlier_loss_ = 0;              // of the step's micro-batches before this one
  std::vector<f64> earlier_losses_;

  template <int slot>
  using received_in = local<&worker::received<slot>>;

 public:
  using tasks = task_list<
      launch<&worker::step>, wsl::use<&worker::along_row>, wsl::use<&worker::along_column>,
      wsl::use<&worker::with_neighbours>, numbered<max_arriving, received_in>,
      local<&worker::passed<gradient_port::from_north>>, local<&worker::passed<gradient_port::from_south>>,
      local<&worker::passed<gradient_port::to_server>>, local<&worker::passed<gradient_port::to_south>>,
      local<&worker::passed<gradient_port::to_north>>, local<&worker::work>, local<&worker::computed>,
      reads<wires::all_weight_tiles>,
      sends<wires::to_server, wires::south_from(0), wires::south_from(1), wires::north_from(0),
            wires::north_from(1)>,
      reads<wires::south_from(0), wires::south_from(1), wires::north_from(0), wires::north_from(1)>>;
};

}  // namespace wsl::ml
