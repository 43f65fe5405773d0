// SPDX-License-Identifier: MIT
// The memory of a training step by layer, which is known before one is made: the bytes of a layer's training
// state (parameters, gradients and what the optimizer keeps, in the memory beside the wafer), and those of
// the activations that it gives, with their gradients, on a wafer.
//   fmt::print("{}", ml::memory_table(ml::memory_by_layer(net, rule, 12, 64)));
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "../train/memory_need.hpp"

namespace wsl::ml {

struct layer_memory {
  std::string name;
  f64 state = 0, activations = 0;  ///< bytes
  f64 all() const { return state + activations; }
};

/// The memory of each stage for a batch that passes together on one column of workers, in the order of the
/// stages, and first of all that of the inputs. A parameter of several stages counts with the first. The sums
/// are state_bytes and activation_bytes for so many sequences.
inline std::vector<layer_memory> memory_by_layer(const network& n, const optimizer& rule, int sequences,
                                                 int length) {
  const auto bytes_of_value = [&](int v, int copies) {
    const f64 numbers = n.tokens_for_each(v) * n.widths()[static_cast<std::size_t>(v)] * copies;
    return 4 * numbers * sequences * length;
  };
  std::vector<layer_memory> all{{"inputs"}};
  for (int v = 0; v < static_cast<int>(n.values().size()); ++v)  // given once, and kept
    if (n.info(v).from != origin::computed) all[0].activations += bytes_of_value(v, 1);
  const std::vector<parameter_update> updates = updates_of(rule, n.parameters());
  const auto numbers_of = [&](std::size_t k) {
    const parameter& p = n.parameters()[k];
    i64 numbers = p.size() * (p.frozen ? 1 : 2) + (rule.average.is_on() && !p.frozen ? p.size() : 0);
    for (const kept_array& a : updates[k].kept(p)) numbers += a.size(p.rows, p.columns);
    return static_cast<f64>(numbers);
  };
  std::vector<bool> counted(n.parameters().size());
  for (const auto& s : n.stages()) {
    layer_memory m{s->name};
    for (const int which : s->parameters) {
      const std::size_t k = static_cast<std::size_t>(which);
      if (!counted[k]) m.state += 4 * numbers_of(k);
      counted[k] = true;
    }
    if (!dynamic_cast<const loss_stage*>(s.get())) m.activations = bytes_of_value(s->output, 2);
    all.push_back(std::move(m));
  }
  return all;
}

/// A table of the layers that take the most memory, of what the others take, and of the sum.
inline std::string memory_table(std::vector<layer_memory> layers, int most = 10) {
  layer_memory sum{"all"}, others;
  for (const layer_memory& m : layers) sum.state += m.state, sum.activations += m.activations;
  std::sort(layers.begin(), layers.end(), [](const layer_memory& a, const layer_memory& b) {
    return a.all() != b.all() ? a.all() > b.all() : a.name < b.name;
  });
  if (const auto count = static_cast<std::size_t>(most); layers.size() > count) {
    others.name = fmt::format("{} other layers", layers.size() - count);
    for (std::size_t k = count; k < layers.size(); ++k)
      others.state += layers[k].state, others.activations += layers[k].activations;
    layers.resize(count), layers.push_back(others);
  }
  layers.push_back(sum);
  std::size_t width = 5;
  for (const layer_memory& m : layers) width = std::max(width, m.name.size());
  std::string out =
      fmt::format("{:<{}} {:>12} {:>16} {:>7}\n", "layer", width, "state (MiB)", "activations (MiB)", "%");
  for (const layer_memory& m : layers)
    fmt::format_to(std::back_inserter(out), "{:<{}} {:>12.3f} {:>16.3f} {:>8.2f}\n", m.name, width,
                   m.state / 0x1p20, m.activations / 0x1p20, sum.all() > 0 ? 100 * m.all() / sum.all() : 0);
  return out;
}

}  // namespace wsl::ml
