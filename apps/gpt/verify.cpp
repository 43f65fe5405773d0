// SPDX-License-Identifier: MIT
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <wsl/ml/io/llmc.hpp>

#include <ranks.hpp>

#include "adapters.hpp"
#include "model.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
namespace ranks = train_app::ranks;
using train_app::machine;
using wsl::f32;
using wsl::f64;

/// The lines, and whether all of them hold.
class protocol {
 public:
  explicit protocol(f64 tolerance) : tolerance_(tolerance) {}

  /// `skips(i)` leaves a number out.
  template <class Skip>
  void compare(const std::string& what, std::span<const f32> got, std::span<const f32> wanted, Skip skips) {
    f64 off = 0, size = 0;
    for (std::size_t i = 0; i < wanted.size() && got.size() == wanted.size(); ++i) {
      if (skips(i)) continue;
      const f64 w = static_cast<f64>(wanted[i]), d = static_cast<f64>(got[i]) - w;
      off += d * d, size += w * w;
    }
    const f64 relative = got.size() == wanted.size() ? std::sqrt(size > 0 ? off / size : off) : HUGE_VAL;
    const bool holds = relative <= tolerance_;  // false for a NaN
    all_hold_ = all_hold_ && holds;
    std::printf("%-42s %9zu numbers, error %.2e %s\n", what.c_str(), got.size(), relative,
                holds ? "" : "TOO LARGE");
  }
  void compare(const std::string& what, std::span<const f32> got, std::span<const f32> wanted) {
    compare(what, got, wanted, [](std::size_t) { return false; });
  }
  bool all_hold() const { return all_hold_; }

 private:
  f64 tolerance_;
  bool all_hold_ = true;
};

/// Calls f(parameter, index, theirs, skips) for each parameter, where skips(i) leaves out the bias of keys.
/// That bias adds the same number to all logits of a query, and softmax cancels it: its gradient is 0, every
/// program computes only rounding errors for it, and Adam turns these into steps of full length.
template <class F>
void each_pair(const ml::llmc_model& m, const ml::trainer_base& t, std::span<const f32> file, F f) {
  ml::each_llmc_parameter(t.model(), m.config, m.padded, file,
                          [&](std::size_t k, std::span<const f32> wanted) {
                            const ml::parameter& p = t.model().parameters()[k];
                            const std::size_t width = static_cast<std::size_t>(m.config.width);
                            const bool has_keys = p.name.ends_with("qkv.bias");
                            f(p, k, wanted, [=](std::size_t i) { return has_keys && i / width == 1; });
                          });
}

std::unique_ptr<machine> machine_for(const verification& v, const ml::llmc_model& m,
                                     const ml::optimizer& rule) {
  if (v.strips) return train_app::pipeline(network_of(m.config), rule, {.strips = v.strips});
  return ranks::streaming(network_of(m.config), rule,
                          {.workers = v.workers, .columns = v.columns, .num_csx = v.num_csx});
}

}  // namespace

bool verify(const verification& v) {
  const ml::llmc_model m = ml::read_llmc_model(v.model);
  const ml::llmc_state s = ml::read_llmc_state(v.state, m);
  const ml::batch b{.ids = s.ids, .targets = s.targets, .sequences = s.sequences, .length = s.length};
  protocol lines(v.tolerance);
  {
    // After its first step, the momentum of SGD is the gradient.
    const std::unique_ptr<machine> wafer = machine_for(v, m, ml::optimizer::sgd({.momentum = 0.9f}));
    ml::trainer_base& t = wafer->run();
    set_weights(t, m.to_weights(t.model()));
    lines.compare("logits", wafer->predict(b), s.logits);
    const f32 loss = static_cast<f32>(wafer->step(b, 1));
    lines.compare("loss", {&loss, 1}, {&s.loss, 1});
    std::vector<ml::state_array> arrays = t.state();
    each_pair(m, t, std::span<const f32>(s.gradients),
              [&](const ml::parameter& p, std::size_t k, std::span<const f32> wanted, auto) {
                const auto velocity =
                    std::find_if(arrays.begin(), arrays.end(), [&](const ml::state_array& a) {
                      return a.parameter == k && a.what == ml::state_array::kind::kept;
                    });
                lines.compare("gradient of " + p.name, velocity->numbers, wanted);
              });
  }
  if (!v.after.empty()) {
    const ml::llmc_model later = ml::read_llmc_model(v.after);
    if (later.numbers.size() != m.numbers.size())
      throw ml::file_error("wsl: " + v.after + " is another model than " + v.model);
    const std::unique_ptr<machine> wafer =
        machine_for(v, m, ml::optimizer::adamw({.decay = static_cast<f32>(v.weight_decay)}));
    ml::trainer_base& t = wafer->run();
    set_weights(t, m.to_weights(t.model()));
    for (int step = 0; step < 10; ++step)
      std::printf("step %d: loss %.6f\n", step, wafer->step(b, v.learning_rate));
    each_pair(m, t, std::span<const f32>(later.numbers),
              [&](const ml::parameter& p, std::size_t k, std::span<const f32> wanted, auto skips) {
                lines.compare("after ten steps " + p.name, t.parameters()[k], wanted, skips);
              });
  }
  std::printf(lines.all_hold() ? "all within %g\n" : "NOT all within %g\n", v.tolerance);
  return lines.all_hold();
}

}  // namespace gpt_app
