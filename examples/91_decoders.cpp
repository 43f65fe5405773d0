// SPDX-License-Identifier: MIT
// Decoders are values: GPT-2, Llama, GPT-J and MPT in small, each with its own norm, positions, heads and
// order of blocks, learn the same sequence of letters.
#include <wsl/ml.hpp>

#include <cstdio>
#include <string>
#include <utility>
using namespace wsl;

constexpr int length = 16;

ml::decoder common() {
  return {.vocabulary = 128, .positions = length, .layers = 2, .heads = 4, .width = 32, .deviation = 0.08f};
}

ml::decoder gpt2() { return common(); }
ml::decoder llama() {
  ml::decoder d = common();
  d.norm = ml::normalization::rmsnorm, d.position = ml::positioning::rotary,
  d.between = ml::nonlinearity::swiglu, d.filter = 88;
  d.kv_heads = 2, d.bias = false, d.tied = false;
  return d;
}
ml::decoder gptj() {
  ml::decoder d = common();
  d.position = ml::positioning::rotary, d.rotary_features = 4, d.order = ml::block_order::parallel,
  d.dropout = 0.05f;
  return d;
}
ml::decoder mpt() {
  ml::decoder d = common();
  d.position = ml::positioning::alibi, d.kv_heads = 1, d.bias = false;
  return d;
}

bool learns(const ml::decoder& model, const char* name) {
  const std::string song = "a rose is a rose is a rose, and the wafer is wide. ";
  ml::trainer t(model.build(), ml::optimizer::adamw({.beta2 = 0.95f}), {.workers = 2, .clip_norm = 1});
  const auto lesson = [&](int start, auto f) {
    std::vector<i32> ids, next;
    for (int i = 0; i < 4 * length; ++i) {
      const std::size_t at = static_cast<std::size_t>(start + 13 * (i / length) + i % length);
      ids.push_back(song[at % song.size()]), next.push_back(song[(at + 1) % song.size()]);
    }
    return f({.ids = ids, .targets = next, .sequences = 4, .length = length});
  };
  const ml::rate::schedule rate = ml::rate::cosine(1e-2, 0, 120);
  for (int step = 0; step < 120; ++step)
    lesson(7 * step, [&](const ml::batch& b) { return t.step(b, rate(t.steps())); });
  const bool learned = lesson(3, [&](const ml::batch& b) { return t.evaluate(b); }) < 0.25;
  std::printf("%-6s %6lld parameters in %zu arrays: %s\n", name,
              static_cast<long long>(t.model().parameter_count()), t.model().parameters().size(),
              learned ? "learned" : "not learned");
  return learned;
}

int main() {
  bool learned = true;
  for (const auto& [model, name] :
       {std::pair{gpt2(), "GPT-2"}, {llama(), "Llama"}, {gptj(), "GPT-J"}, {mpt(), "MPT"}})
    learned &= learns(model, name);
  return learned ? 0 : 1;
}
