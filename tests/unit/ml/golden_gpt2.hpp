// SPDX-License-Identifier: MIT
// The small GPT-2 with its golden state, in the format of llm.c (github karpathy/llm.c, train_gpt2.py): a header of 256 words, then
// the tensors. Where the data is not there, the tests say so and pass.
#pragma once
#include <cstdlib>
#include <fstream>
#include <optional>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/weights.hpp>

namespace golden {

using namespace wsl;

struct state {
  ml::decoder config;
  int padded = 0, sequences = 0, length = 0;
  std::vector<i32> ids, targets;
  std::vector<f32> logits, loss, parameters, gradients, after;
};

template <class T>
std::vector<T> take(std::ifstream& from, i64 n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  from.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(T)));
  if (!from) throw std::runtime_error("the golden file ends early");
  return x;
}

inline std::optional<state> load() {
  const char* folder = std::getenv("WSL_DATA_DIR");
  if (!folder) return {};
  const std::string path = std::string(folder) + "/gpt2_tiny/gpt2_tiny";
  std::ifstream model(path + ".bin", std::ios::binary), debug(path + "_debug_state.bin", std::ios::binary), after(path + "_after10.bin", std::ios::binary);
  if (!model || !debug || !after) return {};
  const std::vector<i32> m = take<i32>(model, 256), d = take<i32>(debug, 256);
  take<i32>(after, 256);
  state s;
  s.config = {.vocabulary = m[3], .positions = m[2], .layers = m[4], .heads = m[5], .width = m[6], .between = ml::nonlinearity::gelu_tanh};
  s.padded = m[7], s.sequences = d[2], s.length = d[3];
  const i64 c = m[6], tokens = i64{s.sequences} * s.length, n = (s.padded + m[2]) * c + m[4] * (12 * c * c + 13 * c) + 2 * c;
  s.ids = take<i32>(debug, tokens), s.targets = take<i32>(debug, tokens);
  s.logits = take<f32>(debug, tokens * m[3]), s.loss = take<f32>(debug, 1), s.gradients = take<f32>(debug, n);
  s.parameters = take<f32>(model, n), s.after = take<f32>(after, n);
  return s;
}

/// Calls f(number of the parameter, its numbers in the file) for all parameters: the file has each kind for all layers together.
template <class F>
void each_parameter(const state& s, const ml::network& n, const std::vector<f32>& file, F f) {
  std::size_t at = 0;
  const auto give = [&](const std::string& name) {
    for (std::size_t k = 0; k < n.parameters().size(); ++k)
      if (n.parameters()[k].name == name) {
        const std::size_t size = static_cast<std::size_t>(n.parameters()[k].size());
        f(k, std::span<const f32>(file).subspan(at, size));
        at += size;
      }
  };
  give("embedding.tokens");
  at += static_cast<std::size_t>((s.padded - s.config.vocabulary) * s.config.width);
  give("embedding.positions");
  for (const char* kind : {" norm 1.gain", " norm 1.bias", " qkv.weight", " qkv.bias", " projection.weight", " projection.bias", " norm 2.gain",
                           " norm 2.bias", " up.weight", " up.bias", " down.weight", " down.bias"})
    for (int l = 0; l < s.config.layers; ++l) give("layer " + std::to_string(l) + kind);
  give("last norm.gain");
  give("last norm.bias");
  if (at != file.size()) throw std::runtime_error("the golden file has other parameters than the model");
}

inline ml::weights weights_of(const state& s, const ml::network& n, const std::vector<f32>& file) {
  ml::weights w(n);
  each_parameter(s, n, file, [&](std::size_t k, std::span<const f32> x) { w[k].assign(x.begin(), x.end()); });
  return w;
}

}  // namespace golden
