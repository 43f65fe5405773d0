// SPDX-License-Identifier: MIT
// The network of a decoder, block by block, for decoder.hpp: a part of the library that can be compiled once,
// see ml/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "decoder.hpp"

namespace wsl::ml {

WSL_ML_COMPILED_PART network decoder::build(const adapter_settings& adapters) const {
  network n;
  const output y = add_to(n, adapters);
  n.cross_entropy("loss", y.logits,
                  {.ignore_index = no_label, .factor = loss_factor, .by_sequences = loss_by_sequences});
  if (balance != 0 && !y.scores.empty()) n.balance("balance", y.scores, experts_per_token, balance);
  if (!adapters.layers.empty()) n.train_adapters();
  return n;
}

WSL_ML_COMPILED_PART decoder::output decoder::add_to(network& n, const adapter_settings& adapters,
                                                     bool with_head) const {
  if (experts < 0)
    throw std::invalid_argument(
        fmt::format("wsl: a block has {} experts: at least 1, or 0 for no router", experts));
  n.adapt(adapters);
  const bool has_table = position == positioning::learned;
  const int where = packed ? n.position_ids("position_ids", positions) : -1;
  int x = n.embedding("embedding", vocabulary, width,
                      {.positions = has_table ? positions : 0,
                       .start = starts.embedding.value_or(usual_start()),
                       .unused = unused_positions,
                       .where = has_table ? where : -1});
  if (position == positioning::fixed) x = n.fixed_positions("waves", x, positions, pairs::neighbours, where);
  if (embedding_norm) x = normalized(n, "embedding norm", x);
  x = n.scale("embedding scale", x, embedding_scale);
  x = n.dropout("dropout", x, dropout);
  std::vector<int> scores;
  for (int l = 0; l < layers; ++l) x = block(n, fmt::format("layer {} ", l), x, where, l, scores);
  scale_rates(n);
  const int last = normalized(n, "last norm", x);
  if (!with_head) return {.last = last, .scores = std::move(scores)};
  if (tied && bias.head)
    throw std::invalid_argument("wsl: a head that is the table of tokens has no bias: set tied or bias.head");
  const int logits =
      tied ? n.tied_linear("head", last, 0) : n.linear("head", last, vocabulary, bias.head, usual_start());
  return {last, n.scale("logit scale", logits, logit_scale), std::move(scores)};
}

WSL_ML_COMPILED_PART int decoder::block(network& n, const std::string& name, int x, int where, int l,
                                        std::vector<int>& scores) const {
  const int first = normalized(n, name + "norm 1", x);
  const int attended = attention(n, name, first, where, l);
  if (order == block_order::sequential) {
    x = n.sum(name + "sum 1", x, attended);
    return n.sum(name + "sum 2", x, feed_forward(n, name, normalized(n, name + "norm 2", x), scores));
  }
  const int beside = order == block_order::parallel ? first : normalized(n, name + "norm 2", x);
  return n.sum(name + "sum 2", n.sum(name + "sum 1", x, attended), feed_forward(n, name, beside, scores));
}

WSL_ML_COMPILED_PART int decoder::attention(network& n, const std::string& name, int x, int where,
                                            int l) const {
  const attention_heads shape{heads,  kv_heads,         position == positioning::alibi, attention_dropout,
                              window, scale_of_layer(l)};
  int qkv =
      n.linear(name + "qkv", x, of_queries() + 2 * of_keys(), bias.qkv, starts.qkv.value_or(usual_start()));
  if (position == positioning::rotary)
    qkv = n.rotary(name + "rotary", qkv, shape, positions, rotary_features, rotary_base, rotary_pairs,
                   rotary_scale, where);
  const int y = n.attention(name + "attention", qkv, shape, -1, where);
  return n.dropout(
      name + "dropout 1",
      n.linear(name + "projection", y, width, bias.projection, starts.projection.value_or(residual())),
      dropout);
}

WSL_ML_COMPILED_PART f32 decoder::scale_of_layer(int l) const {
  if (!scale_by_layer) return attention_scale;
  const f32 of_all =
      attention_scale != 0 ? attention_scale : 1 / std::sqrt(static_cast<f32>(width_of_head()));
  return of_all / static_cast<f32>(l + 1);
}

WSL_ML_COMPILED_PART int decoder::feed_forward(network& n, const std::string& name, int x,
                                               std::vector<int>& scores) const {
  return n.dropout(name + "dropout 2", experts ? mixture(n, name, x, scores) : expert(n, name, x), dropout);
}

WSL_ML_COMPILED_PART int decoder::mixture(network& n, const std::string& name, int x,
                                          std::vector<int>& scores) const {
  scores.push_back(n.linear(name + "router", x, experts, false, starts.router.value_or(usual_start())));
  const int routes = n.routes(name + "routes", scores.back(), experts_per_token);
  std::vector<int> outputs;
  for (int e = 0; e < experts; ++e) outputs.push_back(expert(n, fmt::format("{}expert {} ", name, e), x));
  return n.mixture(name + "mixture", routes, outputs);
}

WSL_ML_COMPILED_PART int decoder::expert(network& n, const std::string& name, int x) const {
  const int inside = inner_width();
  const initial start = starts.up.value_or(usual_start());
  const int up = n.linear(name + "up", x, inside, bias.feed_forward, start);
  const int gate = is_gated() ? n.linear(name + "gate", x, inside, bias.feed_forward, start) : up;
  const int y = activated(n, name + "between", up, gate, between);
  return n.linear(name + "down", y, width, bias.feed_forward, starts.down.value_or(residual()));
}

WSL_ML_COMPILED_PART int activated(network& n, const std::string& name, int x, nonlinearity f) {
  switch (f) {
    case nonlinearity::gelu: return n.activation<gelu>(name, x);
    case nonlinearity::gelu_tanh: return n.activation<gelu_tanh>(name, x);
    case nonlinearity::quick_gelu: return n.activation<quick_gelu>(name, x);
    case nonlinearity::relu: return n.activation<relu>(name, x);
    case nonlinearity::silu: return n.activation<silu>(name, x);
    case nonlinearity::swiglu:
    case nonlinearity::geglu:
    case nonlinearity::reglu:
    case nonlinearity::geglu_tanh: break;
  }
  throw std::invalid_argument(
      fmt::format("wsl: {} is a function of one value, and has no gate: take gelu, relu or silu", name));
}

WSL_ML_COMPILED_PART int activated(network& n, const std::string& name, int x, int gate, nonlinearity f) {
  if (f == nonlinearity::swiglu) return n.gate<silu>(name, x, gate);
  if (f == nonlinearity::geglu) return n.gate<gelu>(name, x, gate);
  if (f == nonlinearity::reglu) return n.gate<relu>(name, x, gate);
  if (f == nonlinearity::geglu_tanh) return n.gate<gelu_tanh>(name, x, gate);
  return activated(n, name, x, f);
}

WSL_ML_COMPILED_PART int decoder::normalized(network& n, const std::string& name, int x) const {
  return n.norm(name, x, epsilon, norm == normalization::layernorm, bias.norms);
}

WSL_ML_COMPILED_PART void decoder::scale_rates(network& n) const {
  if (layers < 1) return;
  if (rates.attention != 1)
    n.scale_rates({"layer * qkv.weight", "layer * projection.weight"}, rates.attention);
  if (rates.up != 1) n.scale_rates({"layer * up.weight", "layer * gate.weight"}, rates.up);
  if (rates.down != 1) n.scale_rates({"layer * down.weight"}, rates.down);
}

WSL_ML_COMPILED_PART initial decoder::residual() const {
  return initial::normal(deviation / std::sqrt(2 * static_cast<f32>(layers)));
}

}  // namespace wsl::ml
