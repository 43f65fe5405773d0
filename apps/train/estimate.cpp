// SPDX-License-Identifier: MIT
#include "estimate.hpp"

#include <fmt/format.h>

#include <wsl/layout/draw.hpp>

namespace train_app {
namespace {

namespace ml = wsl::ml;
using wsl::f64;
using wsl::i64;

/// Multiply-adds of a worker with so many tokens for a slab, one way; tables are only looked up.
i64 work_of(const ml::network& model, const ml::trip& t, i64 tokens) {
  const bool is_product = dynamic_cast<const ml::linear_stage*>(t.of) && model.parameters()[t.parameter].rows > 1;
  return is_product ? tokens * static_cast<i64>(t.size()) : 0;
}
/// The queries with the keys before them, and the values with their weights: half a square each, the way back twice as much.
i64 attention_work(const ml::network& model, i64 sequences, i64 length) {
  i64 sum = 0;
  for (const auto& s : model.stages())
    if (dynamic_cast<const ml::attention_stage*>(s.get())) sum += 3 * sequences * length * length * model.width(0);
  return sum;
}

}  // namespace

std::string estimate(const ml::network& model, const ml::training& how, const ml::optimizer& rule, int sequences, int length) {
  const wsl::layout plan = ml::trainer::plan(how.workers, how.num_csx);
  const ml::itinerary way(model, how.workers, true);
  const i64 of_worker = (sequences / how.num_csx + how.workers - 1) / how.workers, tokens = of_worker * length;
  i64 widths = 0, cycles = attention_work(model, of_worker, length), out = 0, back = 0;
  for (const int w : model.widths()) widths += w;
  for (const ml::trip& t : way.trips()) {
    if (!t.is_slab()) continue;
    const i64 words = static_cast<i64>(t.size());
    cycles += std::max(t.back ? 2 * work_of(model, t, tokens) : work_of(model, t, tokens), (t.brings ? words : 0) + (t.returns() ? words : 0));
    out += t.brings ? words : 0, back += t.returns() ? words : 0;
  }
  const i64 longest = static_cast<i64>(way.longest()), moments = rule.how == ml::optimizer::kind::sgd ? 1 : 2;
  int colors = 0;
  for (int c = 0; c < plan.machine().colors; ++c) {
    const wsl::drawing::color_use use = wsl::drawing::use_of(plan, c);
    colors += use.send > 0 && use.receive > 0;
  }
  std::string text = "\n" + wsl::draw(plan) + "\n";
  const auto line = [&](const char* what, const std::string& value) { text += fmt::format("{:<28} {}\n", what, value); };
  const auto bytes = [](i64 words) { return fmt::format("{:.2f} MB", 4e-6 * static_cast<f64>(words)); };
  line("placement", fmt::format("{} x {} PEs: {} workers on {} wafer{}, {} servers of the memory", plan.width(), plan.height(), how.workers * how.num_csx, how.num_csx, how.num_csx > 1 ? "s" : "", how.workers));
  line("colors", fmt::format("{} of {}", colors, plan.machine().colors));
  line("a worker", fmt::format("{} sequences of {} tokens; {} of activations and their gradients", of_worker, length, bytes(2 * tokens * widths)));
  line("", fmt::format("{} for slabs that come, {} for gradients that go", bytes(2 * how.workers * longest), bytes(4 * how.workers * longest)));
  line("a server", fmt::format("{} of parameters, gradients and what the optimizer keeps", bytes((2 + moments) * model.parameter_count() / how.workers)));
  line("weights out, a step", bytes(out));
  line("gradients in, a step", bytes(back));
  line("cycles of a step, at least", fmt::format("{}, {:.3f} ms at {:.0f} MHz ({})", cycles, 1e3 * static_cast<f64>(cycles) / wsl::wse2.clock_hz, wsl::wse2.clock_hz / 1e6, wsl::wse2.name));
  const i64 room = wsl::wse2.memory;
  const i64 wanted = 4 * (2 * tokens * widths + 6 * how.workers * longest);
  line("memory of a PE", wanted <= room ? fmt::format("a worker fits into the {} bytes of a PE of {}", room, wsl::wse2.name)
                                        : fmt::format("a worker has {} times the memory of a PE of {}; a wafer would cut it into more", (wanted + room - 1) / room, wsl::wse2.name));
  return text;
}

}  // namespace train_app
