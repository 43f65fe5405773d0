// SPDX-License-Identifier: MIT
// A PE of a pipeline: it keeps its strip of the model's layers, with their gradients and moments.
// Micro-batches come from the west and go on to the east; their gradients come back. A PE prefers a backward
// pass to a forward pass, so it keeps the activations of at most as many micro-batches as there are PEs from
// it to the end ("one forward, one backward"). After the last micro-batch it updates its parameters in place.
// With several replicas (replicas.hpp) the PEs of the first one update.
#pragma once
#include <utility>
#include <vector>

#include "../../model/padding.hpp"
#include "../trainer_base.hpp"
#include "../wall_clock.hpp"
#include "packets.hpp"
#include "replicas.hpp"
#include "strip_weights.hpp"

namespace wsl::ml {

/// The task of the PEs of a pipeline in a step.
struct pipeline_step {
  const strips* of = nullptr;
  training_arrays* arrays = nullptr;
  /// The micro-batches of each replica, one replica after the other.
  const std::vector<shortened_batch>* parts = nullptr;
  int sequences = 0;                          ///< of the whole batch
  const std::vector<int>* lengths = nullptr;  ///< its tokens of a sequence on each axis
  int micro_batches = 1;
  optimizer_step optimize = {};
  dropout_generator random = {};
  bool backward = false;
  bool keeps_padding = false;     ///< somebody reads the logits of padding, too
  bool seeks_not_finite = false;  ///< records the first stage with an output that is not finite
  precision as = precision::f32;  ///< the format of weights and of operands
  int replica = 0, replicas = 1;  ///< each has an even share of the batch's sequences

  int share() const { return sequences / replicas; }
  /// The first sequence of micro-batch k of this replica.
  int first_sequence(int k) const {
    return replica * share() + static_cast<int>(i64{share()} * k / micro_batches);
  }
  /// Micro-batch k of this replica.
  const batch& part(int k) const {
    return (*parts)[static_cast<std::size_t>(replica * micro_batches + k)].view();
  }
};

/// The micro-batches of all replicas of a step, which says how many there are of what, perhaps without
/// padding.
inline std::vector<shortened_batch> parts_of(const network& n, const batch& all, pipeline_step s,
                                             bool strip_padding) {
  std::vector<shortened_batch> parts;
  for (s.replica = 0; s.replica < s.replicas; ++s.replica)
    for (int k = 0; k < s.micro_batches; ++k) {
      const int first = s.first_sequence(k);
      const batch part = sequences_of(all, first, s.first_sequence(k + 1) - first);
      parts.emplace_back(n, part, strip_padding ? lengths_without_padding(n, part) : lengths_of(n, part));
    }
  return parts;
}

/// The measurements of a PE in a step.
struct strip_times {
  f64 forward = 0, backward = 0, update = 0;  ///< seconds of work
  wall_clock::time_point began, finished;     ///< its first work and its last
};

class strip_worker {
 public:
  strip_times times;
  f64 loss = 0, sum_of_squares = 0;
  /// Those of the gradients of this PE's parts of parameters, if they are measured.
  std::vector<std::pair<std::size_t, f64>> squares_of_gradients;
  std::vector<f64> losses;  ///< on the last PE: the sum of each loss of the model
  /// On the last PE, if the step does not have them yet: its part of the sums on which losses depend.
  std::vector<f64> counted;
  owned_sums sums;      ///< over this PE's parameters, for rules that need sums
  i32 not_finite = -1;  ///< the last parameter of the model whose gradient is not finite; -1: none
  /// the first of this PE's stages with an output that is not finite, if the step seeks it
  const stage* lost_at = nullptr;
  std::vector<f32> logits;  ///< on the last PE, after a step without a backward pass

  void step(pe& me, pipeline_step s) {
    step_ = s, here_ = &(*s.of)[me.x()];
    step_.replica = me.y(), step_.replicas = me.height();
    times = {}, loss = sum_of_squares = 0, not_finite = -1, forward_ = backward_ = 0;
    lost_at = nullptr, lost_ = false, squares_of_gradients.clear();
    logits.clear(), losses.clear(), counted.clear();
    stores_.resize(static_cast<std::size_t>(s.backward ? me.width() - me.x() : 1));
    reset_copies();
    weights_.begin(*here_, s.as);
    from_west_.reset(), from_east_.reset();
    if (step_.replicas > 1) return me.activate<&strip_worker::share_parameters>();
    receive(me);
    work(me);
  }
  /// Brings the parameters of the first replica to the others.
  task share_parameters(pe& me) {
    if (step_.replica > 0) copy_.resize(*here_);
    for (const stage_part& p : here_->parts)
      if (p.which >= 0 && p.owned) co_await sharing_(me, mem(std::span(numbers_of(p), p.size())));
    receive(me);
    work(me);
  }
  /// On the first replica: a round of the update of this PE's parameters by gradients times `scale`, if they
  /// had to wait for the last gradient of the step.
  void update_all(pe&, f32 clip_factor, int round) {
    timed(times.update, [&] {
      for (const stage_part& p : here_->parts)
        if (p.is_trained()) update(p, clip_factor, round);
    });
  }

  /// Does everything that can be done now. It runs again when a packet has come or gone.
  void work(pe& me) {
    while (backward_ < step_.micro_batches) {
      if (step_.backward && backward_ < forward_ && (is_last(me) || from_east_.full()) &&
          (me.x() == 0 || to_west_.empty()))
        go_backward(me);
      else if (forward_ < step_.micro_batches && forward_ - backward_ < static_cast<int>(stores_.size()) &&
               (me.x() == 0 || from_west_.full()) && (is_last(me) || to_east_.empty()))
        go_forward(me);
      else return;
      receive(me);
    }
  }
  void came_from_west(pe& me) { from_west_.arrived(), me.activate<&strip_worker::work>(); }
  void came_from_east(pe& me) { from_east_.arrived(), me.activate<&strip_worker::work>(); }
  void gone_west(pe& me) { to_west_.gone(), me.activate<&strip_worker::work>(); }
  void gone_east(pe& me) { to_east_.gone(), me.activate<&strip_worker::work>(); }
  /// Adds the gradients of all replicas up for the first. That of a replica whose numbers are lost is NaN.
  task sum_gradients(pe& me) {
    for (const stage_part& p : here_->parts) {
      if (!p.is_trained()) continue;
      const std::span gradient(gradient_of(p), p.size());
      if (lost_) gradient[0] = std::numeric_limits<f32>::quiet_NaN();
      co_await summing_(me, mem(gradient));
    }
    if (step_.replica == 0) conclude(me);
  }

 private:
  /// The numbers of a shared parameter as they travel with packets, and the gradients of its borrowers.
  struct parameter_copy {
    std::vector<f32> numbers, gradients;
  };

  static void add_to(std::vector<f64>& sums, const std::vector<f64>& more) {
    sums.resize(std::max(sums.size(), more.size()));
    for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
  }
  static bool is_last(const pe& me) { return me.x() + 1 == me.width(); }
  activation_store& store_of(int k) { return stores_[static_cast<std::size_t>(k) % stores_.size()]; }

  void reset_copies() {
    const auto reset = [&](std::size_t k) {
      const std::size_t size = step_.arrays->parameters[k].size();
      copies_[k].numbers.resize(size), copies_[k].gradients.assign(size, 0);
    };
    for (std::size_t k : here_->west.borrowed) reset(k);
    for (std::size_t k : here_->east.borrowed) reset(k);
    for (const stage_part& p : here_->parts)
      if (p.which >= 0 && !p.owned) reset(p.parameter);
  }
  /// The size of a packet for micro-batch k, with some parameters if it is to have them.
  std::size_t words(const std::vector<int>& values, int k, const std::vector<std::size_t>& parameters,
                    bool has_parameters) const {
    std::size_t n = 0;
    const batch& part = step_.part(k);
    const std::vector<int> lengths = lengths_of(*step_.arrays->model, part);
    for (int v : values) {
      const value_width& of = here_->widths[static_cast<std::size_t>(v)];
      n +=
          static_cast<std::size_t>(i64{of.all} * lengths[static_cast<std::size_t>(of.axis)] * part.sequences);
    }
    for (std::size_t p : parameters) n += has_parameters ? step_.arrays->parameters[p].size() : 0;
    return n;
  }
  std::size_t words_of_values(const boundary& b, int k) const {
    return words(b.values, k, b.borrowed, k == 0);
  }
  std::size_t words_of_gradients(const boundary& b, int k) const {
    return words(b.gradients, k, b.returned, k + 1 == step_.micro_batches);
  }
  /// Lets the next packet of each neighbour come, if there is one and there is room for it. Where no gradient
  /// is wanted beyond this PE, none comes from there, and it goes on at once.
  void receive(pe& me) {
    if (me.x() > 0 && forward_ < step_.micro_batches && from_west_.empty())
      me.async(mov(from_west_.room(words_of_values(here_->west, forward_)), eastward.fabin(me)),
               then<&strip_worker::came_from_west>());
    if (is_last(me) || !step_.backward || backward_ == step_.micro_batches || !from_east_.empty()) return;
    const std::size_t back = words_of_gradients(here_->east, backward_);
    const auto room = from_east_.room(back);
    if (back == 0) from_east_.arrived();
    else me.async(mov(room, westward.fabin(me)), then<&strip_worker::came_from_east>());
  }

  void go_forward(pe& me) {
    const int k = forward_++;
    activation_store& store = store_of(k);
    begin(me, store, k);
    timed(times.forward, [&] {
      arrive(me, store, k);
      for (const stage_part& p : here_->parts) {
        if (p.which < 0) begin_forward(*p.of, store);
        else {
          store.enter(p.of->output);
          p.of->forward(store, tile_of(p));
        }
        if (step_.seeks_not_finite) seek(store, *p.of);
      }
    });
    if (is_last(me)) {
      loss += store.loss;
      add_to(losses, store.losses), add_to(counted, store.counted);
      if (!step_.backward) keep_logits(store, step_.part(k));
    } else {
      packer out = to_east_.pack(words_of_values(here_->east, k));
      for (int v : here_->east.values) out.put(store.value(v));
      if (k == 0)
        for (std::size_t p : here_->east.borrowed) out.put(whole(copies_[p].numbers));
      me.async(mov(eastward.fabout(me), to_east_.words()), then<&strip_worker::gone_east>());
    }
    if (!step_.backward) ++backward_;
  }
  /// Takes in micro-batch k from the west. The first micro-batch of a step brings the numbers of shared
  /// parameters as well.
  void arrive(const pe& me, activation_store& store, int k) {
    if (me.x() > 0) {
      unpacker in = from_west_.unpack();
      for (int v : here_->west.values) in.get(store.value(v));
      if (k == 0)
        for (std::size_t p : here_->west.borrowed) in.get(whole(copies_[p].numbers));
    }
    if (k == 0)
      for (const stage_part& p : here_->parts)
        if (auto c = copies_.find(p.parameter); p.which >= 0 && p.owned && c != copies_.end())
          std::copy_n(numbers_of(p), p.size(), c->second.numbers.data() + p.first());
  }

  void go_backward(pe& me) {
    const int k = backward_++;
    const bool ends = backward_ == step_.micro_batches;
    activation_store& store = store_of(k);
    lost_ = lost_ || (is_last(me) ? !std::isfinite(loss) : from_east_.is_lost());
    timed(times.backward, [&] {
      if (!is_last(me)) {
        unpacker in = from_east_.unpack();
        for (int v : here_->east.gradients) in.get(all_of_gradient(store, v));
        if (ends)
          for (std::size_t p : here_->east.returned) in.add(whole(copies_[p].gradients));
      }
      each_stage_backward([&](std::span<const stage_part> parts) {
        if (!parts[0].of->goes_back) return;
        store.enter(parts[0].of->output);
        if (writes_output(*parts[0].of)) store.round_gradient(parts[0].of->output);
        for (const stage_part& p : parts)
          if (p.which < 0) p.of->backward(store);
          else add_gradient(store, p, k == 0);
      });
    });
    if (const std::size_t back = me.x() > 0 ? words_of_gradients(here_->west, k) : 0; back > 0) {
      packer out = to_west_.pack(back);
      for (int v : here_->west.gradients) out.put(store.gradient(v));
      if (ends)
        for (std::size_t p : here_->west.returned) out.put(whole(copies_[p].gradients));
      if (lost_) to_west_.lose();
      me.async(mov(westward.fabout(me), to_west_.words()), then<&strip_worker::gone_west>());
    }
    if (ends) finish(me);
  }
  /// Calls f with this PE's parts of each stage, the last stage first.
  template <class F>
  void each_stage_backward(F f) const {
    const std::span all(here_->parts);
    for (std::size_t end = all.size(), begin = end; end > 0; end = begin) {
      while (begin > 0 && all[begin - 1].of == all[end - 1].of) --begin;
      f(all.subspan(begin, end - begin));
    }
  }
  static matrix<f32> all_of_gradient(activation_store& store, int v) {
    bool overwrite = false;
    return store.gradient(v, overwrite);
  }
  void add_gradient(activation_store& store, const stage_part& p, bool is_first) {
    const bool is_direct = is_first && !p.frozen;
    if (!is_direct) scratch_.resize(p.size());
    const matrix<f32> one(is_direct ? gradient_of(p) : scratch_.data(), p.rows, p.columns);
    p.of->backward(store, tile_of(p), one);
    if (!is_direct && !p.frozen) add(matrix<f32>(gradient_of(p), p.rows, p.columns), one);
  }
  /// The last micro-batch is done.
  void finish(pe& me) {
    for (const stage_part& p : here_->parts)
      if (auto c = copies_.find(p.parameter); p.is_trained() && c != copies_.end())
        add(matrix<f32>(gradient_of(p), p.rows, p.columns),
            matrix<const f32>(c->second.gradients.data() + p.first(), p.rows, p.columns));
    if (step_.replicas > 1) me.activate<&strip_worker::sum_gradients>();
    else conclude(me);
  }
  /// All gradients of this PE are complete.
  void conclude(pe& me) {
    for (const stage_part& p : here_->parts) {
      if (!p.is_trained()) continue;
      const f32* gradient = gradient_of(p);
      if (!all_finite(gradient, static_cast<int>(p.size())))
        not_finite = std::max(not_finite, static_cast<i32>(p.parameter));
      if (step_.optimize.updates_at_once() && !step_.arrays->measures_gradients) continue;
      f64 squares = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const f64 square = static_cast<f64>(gradient[i]) * static_cast<f64>(gradient[i]);
        sum_of_squares += square, squares += square;
      }
      squares_of_gradients.emplace_back(p.parameter, squares);
    }
    // Gradients that follow from numbers that are not finite may be finite, and mean nothing.
    for (const stage_part& p : here_->parts)
      if (lost_ && not_finite < 0 && p.is_trained()) not_finite = static_cast<i32>(p.parameter);
    if (step_.optimize.updates_at_once() && not_finite < 0) update_all(me, 1, 0);
  }
  void seek(activation_store& store, const stage& s) {
    const matrix<f32> x = store.value(s.output);
    if (!lost_at && !all_finite(x.first(), x.rows() * x.columns())) lost_at = &s;
  }
  void update(const stage_part& p, f32 clip_factor, int round) {
    step_.arrays->update(step_.optimize, {p.parameter, {p.row, p.rows, 0, p.columns}},
                         {stored(step_.arrays->gradients, p), p.rows, p.columns}, clip_factor, round, sums);
  }

  /// Gives micro-batch k to a store. Features of the input come to the first PE, and from there with the
  /// other values; ids and targets come to the PEs that read them.
  void begin(const pe& me, activation_store& store, int k) {
    const batch& b = step_.part(k);
    const network& n = *step_.arrays->model;
    const std::vector<int> lengths = lengths_of(n, b);
    if (!store.fits(b.sequences, lengths))
      store.resize(here_->widths, n.stages().size(), b.sequences, lengths);
    store.random = {step_.random.on, step_.random.key, step_.first_sequence(k), *step_.lengths};
    store.format = step_.as;
    give(store, n, b, me.x() == 0);
    store.weight *= step_.optimize.loss_scale;
  }
  /// Those of padding, which has been left out, are zeros.
  void keep_logits(activation_store& store, const batch& part) {
    const int v = step_.arrays->model->logits();
    const matrix<f32> y = store.value(v);
    const int of_sequence = y.rows() / std::max(1, part.sequences),
              of_axis = step_.arrays->model->info(v).axis,
              padding = (*step_.lengths)[static_cast<std::size_t>(of_axis)] - of_sequence;
    for (int s = 0; s < part.sequences; ++s) {
      const f32* const from = y.row(s * of_sequence);
      logits.insert(logits.end(), from, from + i64{of_sequence} * y.columns());
      logits.resize(logits.size() +
                    static_cast<std::size_t>(padding) * static_cast<std::size_t>(y.columns()));
    }
  }
  /// A part's weights, as its stage reads them.
  weight_tile tile_of(const stage_part& p) { return weights_.tile(p, numbers_of(p)); }
  f32* numbers_of(const stage_part& p) {
    return !p.owned            ? copies_[p.parameter].numbers.data() + p.first()
           : step_.replica > 0 ? copy_.numbers(p)
                               : stored(step_.arrays->parameters, p);
  }
  f32* gradient_of(const stage_part& p) {
    return !p.owned            ? copies_[p.parameter].gradients.data() + p.first()
           : step_.replica > 0 ? copy_.gradients(p)
                               : stored(step_.arrays->gradients, p);
  }
  static f32* stored(parameter_store& of, const stage_part& p) { return of[p.parameter].data() + p.first(); }
  static matrix<f32> whole(std::vector<f32>& x) { return {x.data(), 1, static_cast<int>(x.size())}; }
  template <class F>
  void timed(f64& seconds_of, F f) {
    const wall_clock::time_point from = wall_clock::now();
    if (times.began == wall_clock::time_point{}) times.began = from;
    f();
    times.finished = wall_clock::now();
    seconds_of += seconds(times.finished - from);
  }

  pipeline_step step_{};
  const strip* here_ = nullptr;
  int forward_ = 0, backward_ = 0;        // micro-batches that are done with either pass
  std::vector<activation_store> stores_;  // the stores of the micro-batches between forward and backward
  std::map<std::size_t, parameter_copy> copies_;
  bool lost_ = false;  // the loss, or a gradient from the east, is not finite
  std::vector<f32> scratch_;
  incoming_packet from_west_, from_east_;
  outgoing_packet to_west_, to_east_;
  replica_copy copy_;
  strip_weights weights_;
  awaited<replica_parameters> sharing_;
  awaited<replica_gradients> summing_;

 public:
  using tasks = task_list<launch<&strip_worker::step>, launch<&strip_worker::update_all>,
                          long_running<local<&strip_worker::work>>, local<&strip_worker::came_from_west>,
                          local<&strip_worker::came_from_east>, local<&strip_worker::gone_west>,
                          local<&strip_worker::gone_east>, local<&strip_worker::share_parameters>,
                          local<&strip_worker::sum_gradients>, use<&strip_worker::sharing_>,
                          use<&strip_worker::summing_>, reads<eastward, westward>, sends<eastward, westward>>;
};

}  // namespace wsl::ml
