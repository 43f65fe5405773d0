// SPDX-License-Identifier: MIT
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <wsl/ml/file/llmc.hpp>
#include <wsl/ml/trainer.hpp>

#include "export.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::f64;

/// The lines, and whether all of them hold.
class protocol {
 public:
  explicit protocol(f64 tolerance) : tolerance_(tolerance) {}

  /// `skips(i)` leaves a number out.
  template <class Skip>
  void compare(const std::string& what, std::span<const f32> got, std::span<const f32> wanted, Skip skips) {
    f64 error = 0, largest = 0;
    bool finite = got.size() == wanted.size();
    for (std::size_t i = 0; finite && i < got.size(); ++i) {
      if (skips(i)) continue;
      finite = std::isfinite(got[i]);
      error = std::max(error, std::abs(static_cast<f64>(got[i]) - static_cast<f64>(wanted[i])));
      largest = std::max(largest, std::abs(static_cast<f64>(wanted[i])));
    }
    const f64 relative = largest > 0 ? error / largest : error;
    const bool holds = finite && relative <= tolerance_;
    all_hold_ = all_hold_ && holds;
    std::printf("%-42s %9zu numbers, error %.2e %s\n", what.c_str(), got.size(), finite ? relative : HUGE_VAL, holds ? "" : "TOO LARGE");
  }
  void compare(const std::string& what, std::span<const f32> got, std::span<const f32> wanted) {
    compare(what, got, wanted, [](std::size_t) { return false; });
  }
  bool all_hold() const { return all_hold_; }

 private:
  f64 tolerance_;
  bool all_hold_ = true;
};

ml::trainer trainer_of(const ml::llmc_model& m, const ml::optimizer& rule, const verification& v) {
  ml::trainer t(m.config.build(), rule, {.workers = v.workers, .num_csx = v.num_csx});
  set_weights(t, m.to_weights(t.model()));
  return t;
}

/// Calls f(parameter, ours, theirs) for each parameter; a key's bias adds the same to all logits of a query, so softmax takes it away: its
/// gradient is 0, what a program computes for it is rounding, and Adam makes steps of full length of that.
template <class F>
void each_pair(const ml::llmc_model& m, ml::trainer& t, std::span<const f32> file, F f) {
  ml::each_llmc_parameter(t.model(), m.config, m.padded, file, [&](std::size_t k, std::span<const f32> wanted) {
    const ml::parameter& p = t.model().parameters()[k];
    const std::size_t width = static_cast<std::size_t>(m.config.width);
    const bool has_keys = p.name.ends_with("qkv.bias");
    f(p, k, wanted, [=](std::size_t i) { return has_keys && i / width == 1; });
  });
}

}  // namespace

bool verify(const verification& v) {
  const ml::llmc_model m = ml::read_llmc_model(v.model);
  const ml::llmc_state s = ml::read_llmc_state(v.state, m);
  const ml::batch b{.ids = s.ids, .targets = s.targets, .sequences = s.sequences, .length = s.length};
  protocol lines(v.tolerance);
  {
    // After its first step, what SGD keeps is the gradient.
    ml::trainer t = trainer_of(m, ml::optimizer::sgd(), v);
    const f32 loss = static_cast<f32>(t.step(b, 1));
    lines.compare("logits", t.logits(), s.logits);
    lines.compare("loss", {&loss, 1}, {&s.loss, 1});
    std::vector<ml::state_array> arrays = t.state();
    each_pair(m, t, std::span<const f32>(s.gradients), [&](const ml::parameter& p, std::size_t k, std::span<const f32> wanted, auto) {
      const auto velocity = std::find_if(arrays.begin(), arrays.end(), [&](const ml::state_array& a) { return a.parameter == k && a.what == ml::state_array::kind::first; });
      lines.compare("gradient of " + p.name, velocity->numbers, wanted);
    });
  }
  if (!v.after.empty()) {
    const ml::llmc_model later = ml::read_llmc_model(v.after);
    if (later.numbers.size() != m.numbers.size()) throw ml::file_error("wsl: " + v.after + " is another model than " + v.model);
    ml::trainer t = trainer_of(m, ml::optimizer::adamw(0.9f, 0.999f, 1e-8f, static_cast<f32>(v.weight_decay)), v);
    for (int step = 0; step < 10; ++step) std::printf("step %d: loss %.6f\n", step, t.step(b, v.learning_rate));
    each_pair(m, t, std::span<const f32>(later.numbers), [&](const ml::parameter& p, std::size_t k, std::span<const f32> wanted, auto skips) {
      lines.compare("after ten steps " + p.name, t.parameters()[k], wanted, skips);
    });
  }
  std::printf(lines.all_hold() ? "all within %g\n" : "NOT all within %g\n", v.tolerance);
  return lines.all_hold();
}

}  // namespace gpt_app
