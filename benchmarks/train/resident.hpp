// SPDX-License-Identifier: MIT
// A step of training without a wafer and without streaming: two threads with half of the batch each read all
// weights where they lie and keep a gradient of each; then each changes half of the weights. It runs the same
// stages, so the difference in time is the cost of streaming.
#pragma once
#include <array>
#include <barrier>
#include <thread>
#include <wsl/ml/model/batch.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/optim/step.hpp>

namespace bench {
using namespace wsl;

class resident_trainer {
 public:
  resident_trainer(ml::network n, const ml::optimizer& rule)
      : net_(std::move(n)), rule_(rule), numbers_(net_, 1), first_(net_), second_(net_) {
    for (half& h : halves_) h.gradients = ml::weights(net_);
  }
  f64 step(ml::batch b, f64 rate) {
    const f64 counts = check(net_, b);
    ++steps_;
    std::barrier both(2);
    const auto work = [&](int k) {
      pass(halves_[static_cast<std::size_t>(k)], b, k);
      both.arrive_and_wait();
      learn(k, static_cast<f32>(rate));
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    return (halves_[0].store.loss + halves_[1].store.loss) / counts;
  }

 private:
  struct half {
    ml::activation_store store;
    ml::weights gradients;
  };
  void pass(half& h, const ml::batch& b, int k) {
    const int from = b.sequences * k / 2, count = b.sequences * (k + 1) / 2 - from;
    if (h.store.sequences() != count)
      h.store.resize(ml::widths_of(net_), net_.stages().size(), count, {b.length});
    give(h.store, net_, sequences_of(b, from, count));
    h.gradients.clear();
    serial_forward(net_, numbers_, h.store);
    serial_backward(net_, numbers_, h.gradients, h.store);
  }
  void learn(int k, f32 rate) {
    for (std::size_t p = 0; p < numbers_.size(); ++p) {
      const std::size_t size = numbers_[p].size(), from = size * static_cast<std::size_t>(k) / 2,
                        n = size * static_cast<std::size_t>(k + 1) / 2 - from;
      f32* gradient = halves_[0].gradients[p].data() + from;
      ml::add(matrix<f32>(gradient, 1, static_cast<int>(n)),
              matrix<f32>(halves_[1].gradients[p].data() + from, 1, static_cast<int>(n)));
      ml::update(rule_.rule,
                 {numbers_[p].data() + from,
                  gradient,
                  {first_[p].data() + from, second_[p].data() + from},
                  static_cast<int>(n)},
                 {.rate = rate, .number = steps_});
    }
  }

  ml::network net_;
  ml::optimizer rule_;
  ml::weights numbers_, first_, second_;
  std::array<half, 2> halves_;
  i64 steps_ = 0;
};

}  // namespace bench
