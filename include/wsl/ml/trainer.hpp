// SPDX-License-Identifier: MIT
// Training by weight streaming: activations stay on the wafer's PEs, weights pass them slab by slab, gradients go back to the memory,
// which changes the weights.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   const f64 loss = t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// See docs/guide/ml.md.
#pragma once
#include "state.hpp"
#include "stream/memory.hpp"
#include "stream/worker.hpp"

namespace wsl::ml {

struct training {
  int workers = 2;        ///< of the wafer, each with a server of the memory; the batch's sequences are shared out to them
  f64 clip_norm = 0;      ///< the largest norm of all gradients together; 0: any
  u64 seed = 1;           ///< of the initial weights
  int threads = 0;        ///< 0: WSL_THREADS, or one a core; more than two a worker do not help
};

class trainer {
 public:
  /// Throws std::invalid_argument if the wafer cannot have so many workers.
  trainer(network n, const optimizer& rule, const training& how = {})
      : network_(std::make_unique<network>(std::move(n))), rule_(rule), how_(checked(how)), there_(*network_, how.workers, false),
        there_and_back_(*network_, how.workers, true), memory_{network_.get(), weights(*network_, how.seed), weights(*network_), weights(*network_), weights(*network_)},
        fabric_(plan(how.workers), threaded{.threads = how.threads, .pes_per_band = 1}) {}

  /// One step of training. Returns the mean loss of the tokens that count, before the step. Throws std::invalid_argument if the batch
  /// does not fit the model.
  f64 step(batch b, f64 rate) {
    const f64 counts = prepare(b);
    const learning l{rule_, static_cast<f32>(rate), ++steps_, how_.clip_norm == 0};
    fabric_.start<&memory_server::step>(servers, &there_and_back_, &memory_, l);
    fabric_.start<&worker::step>(at_work, network_.get(), &there_and_back_, b);
    fabric_.run();
    if (!l.now) fabric_.launch<&memory_server::learn>(servers, clip_by_norm(sum_of_squares(), how_.clip_norm));
    return loss() / counts;
  }
  /// The mean loss without training.
  f64 evaluate(batch b) {
    const f64 counts = prepare(b);
    forward(b);
    return loss() / counts;
  }
  /// The logits of a batch, (tokens, classes); it needs no targets.
  std::vector<f32> predict(batch b) {
    b.targets = {}, b.mask = {};
    check_input(b);
    forward(b);
    return logits();
  }
  /// The logits of the last batch, (tokens, classes).
  std::vector<f32> logits() {
    std::vector<f32> all;
    for (int y = 0; y < how_.workers; ++y) {
      const matrix<f32> part = nth_worker(y).at.value(network_->logits());
      all.insert(all.end(), part.first(), part.first() + i64{part.rows()} * part.columns());
    }
    return all;
  }

  const network& model() const { return *network_; }
  weights& parameters() { return memory_.numbers; }
  /// All arrays that training changes, as views to read and to set. With them and the position, a trainer of the same model and
  /// optimizer goes on as this one would, bit for bit.
  std::vector<state_array> state() { return state_of(*network_, rule_, memory_.numbers, memory_.first, memory_.second); }
  /// The parameter of that name. Throws std::invalid_argument if the model has none.
  std::span<f32> parameter_named(std::string_view name) {
    for (std::size_t k = 0; k < network_->parameters().size(); ++k)
      if (network_->parameters()[k].name == name) return memory_.numbers[k];
    throw std::invalid_argument("wsl: the model has no parameter " + std::string(name) + "; its first is " + network_->parameters().at(0).name);
  }
  ml::position position() const { return {steps_, how_.seed}; }
  /// Where to go on from, after the arrays have been set. Throws std::invalid_argument for a negative number of steps.
  void go_on_from(const ml::position& p) {
    if (p.steps < 0) throw std::invalid_argument("wsl: training goes on after 0 or more steps, not after " + std::to_string(p.steps));
    steps_ = p.steps, how_.seed = p.seed;
  }
  /// Steps of training so far.
  i64 steps() const { return steps_; }
  fabric& wafer() { return fabric_; }

  /// The layout that trains.
  static layout plan(int workers) {
    layout l{host, 1, 2 * workers};
    l.place(servers, program_v<memory_server>).place(at_work, program_v<worker>);
    wires::wire(l);
    return l;
  }

 private:
  static constexpr area servers = rows(0, end, 2), at_work = rows(1, end, 2);

  static const training& checked(const training& how) {
    if (how.workers < 1 || how.workers > wires::most)
      throw std::invalid_argument("wsl: a wafer that trains has 1 to " + std::to_string(wires::most) + " workers, not " + std::to_string(how.workers));
    return how;
  }
  void forward(const batch& b) {
    fabric_.start<&memory_server::step>(servers, &there_, &memory_, learning{rule_});
    fabric_.start<&worker::step>(at_work, network_.get(), &there_, b);
    fabric_.run();
  }
  static std::size_t tokens_of(const batch& b) { return static_cast<std::size_t>(b.sequences) * static_cast<std::size_t>(b.length); }
  static void fits(const batch& b, const char* what, std::size_t has, std::size_t wants) {
    if (has != wants) throw std::invalid_argument("wsl: a batch of " + std::to_string(b.sequences) + " sequences of " + std::to_string(b.length) + " has " + std::to_string(has) + " " + what + ", not " + std::to_string(wants));
  }
  /// Checks what goes into the model.
  void check_input(const batch& b) const {
    if (b.sequences < 0 || b.length < 1) throw std::invalid_argument("wsl: a batch has 0 or more sequences of at least one token, not " + std::to_string(b.sequences) + " of " + std::to_string(b.length));
    if (b.features.empty()) fits(b, "ids", b.ids.size(), tokens_of(b));
    else fits(b, "features", b.features.size(), tokens_of(b) * static_cast<std::size_t>(network_->width(0)));
    all_below("id", b.ids, network_->vocabulary());
    if (network_->positions() && b.length > network_->positions())
      throw std::invalid_argument("wsl: a sequence of " + std::to_string(b.length) + " tokens is longer than the " + std::to_string(network_->positions()) + " positions of the model");
  }
  /// Checks a batch and returns how many tokens count.
  f64 prepare(batch& b) const {
    fits(b, "targets", b.targets.size(), tokens_of(b));
    check_input(b);
    if (!b.mask.empty()) fits(b, "numbers of the mask", b.mask.size(), tokens_of(b));
    all_below("target", b.targets, network_->width(network_->logits()));
    f64 counts = static_cast<f64>(tokens_of(b));
    if (!b.mask.empty()) {
      counts = 0;
      for (f32 m : b.mask) counts += static_cast<f64>(m);
    }
    if (!(counts > 0)) throw std::invalid_argument("wsl: no token of the batch counts: it is empty, or its mask is 0 everywhere");
    b.weight = static_cast<f32>(1 / counts);
    return counts;
  }
  static void all_below(const char* what, std::span<const i32> numbers, int end) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] < 0 || numbers[i] >= end)
        throw std::invalid_argument(std::string("wsl: ") + what + " " + std::to_string(i) + " of the batch is " + std::to_string(numbers[i]) + ", not one of 0 to " + std::to_string(end - 1));
  }
  worker& nth_worker(int y) { return fabric_.program_at<worker>({0, 2 * y + 1}); }
  f64 loss() {
    f64 sum = 0;
    for (int y = 0; y < how_.workers; ++y) sum += nth_worker(y).at.loss;
    return sum;
  }
  f64 sum_of_squares() {
    f64 sum = 0;
    for (int y = 0; y < how_.workers; ++y) sum += fabric_.program_at<memory_server>({0, 2 * y}).sum_of_squares;
    return sum;
  }

  std::unique_ptr<network> network_;
  optimizer rule_;
  training how_;
  itinerary there_, there_and_back_;
  memory memory_;
  fabric fabric_;
  i64 steps_ = 0;
};

}  // namespace wsl::ml
