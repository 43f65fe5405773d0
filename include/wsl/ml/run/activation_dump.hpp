// SPDX-License-Identifier: MIT
// The activations of a model for a batch, as a file of tensors: what each layer gives, (sequences, tokens,
// axes of its values), in f32. They are computed by a forward pass of their own, without a fabric, in the
// order of the stages, so that no trainer keeps them; sums of many numbers are rounded otherwise than there.
//   ml::trainer t{net, ml::optimizer::adamw()};
//   ml::dump_activations("step_10.safetensors", t, b, {"layer 0 *", "head"});
#pragma once
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../io/safetensors.hpp"
#include "../model/serial.hpp"
#include "../train/trainer_base.hpp"

namespace wsl::ml {

/// The stages whose names match one of the patterns, or all that give values if there are none. Throws
/// std::invalid_argument if a pattern matches none.
inline std::vector<const stage*> stages_matching(const network& n, const std::vector<std::string>& patterns) {
  const auto gives_values = [](const stage& s) { return !dynamic_cast<const loss_stage*>(&s); };
  std::vector<const stage*> all;
  for (const auto& s : n.stages())
    if (gives_values(*s)) all.push_back(s.get());
  if (patterns.empty()) return all;
  const auto matches = [](const stage& s, const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), s.name.c_str(), 0) == 0;
  };
  for (const std::string& pattern : patterns)
    if (std::none_of(all.begin(), all.end(), [&](const stage* s) { return matches(*s, pattern); }))
      throw std::invalid_argument(
          fmt::format("wsl: no layer that gives activations is called {}; the first is {}, the last {}",
                      pattern, all.front()->name, all.back()->name));
  std::erase_if(all, [&](const stage* s) {
    return std::none_of(patterns.begin(), patterns.end(),
                        [&](const std::string& pattern) { return matches(*s, pattern); });
  });
  return all;
}

/// Writes the activations of the stages that match, and replaces the file of that name when they are whole.
/// Throws std::invalid_argument for a batch that does not fit the model, or a pattern that matches no layer,
/// and file_error if the file cannot be written. The trainer keeps all parameters: of several processes that
/// is the first.
inline void dump_activations(const std::string& file, trainer_base& t, batch b,
                             const std::vector<std::string>& patterns = {}, text_by_name about = {}) {
  const network& n = t.model();
  const std::vector<const stage*> stages = stages_matching(n, patterns);
  check(n, b);
  weights numbers(n);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const std::span<const f32> x = t.parameters()[k];
    std::copy(x.begin(), x.end(), numbers[k].begin());
  }
  activation_store store = store_of(n, b);
  serial_forward(n, numbers, store);
  std::vector<std::vector<f32>> kept;
  std::vector<tensor_view> tensors;
  kept.reserve(stages.size());
  for (const stage* s : stages) {
    const matrix<const f32> y = store.value(s->output);
    std::vector<f32>& x = kept.emplace_back();
    for (int r = 0; r < y.rows(); ++r) x.insert(x.end(), y.row(r), y.row(r) + y.columns());
    std::vector<u64> axes{static_cast<u64>(b.sequences),
                          static_cast<u64>(y.rows() / std::max(1, b.sequences))};
    const shape& each = n.shape_of(s->output);
    for (int axis = 0; axis < each.axes(); ++axis) axes.push_back(static_cast<u64>(each[axis]));
    tensors.emplace_back(s->name, std::move(axes), x);
  }
  write_safetensors(file, std::move(tensors), std::move(about));
}

}  // namespace wsl::ml
