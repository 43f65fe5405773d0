// SPDX-License-Identifier: MIT
// Reads and writes the files of llm.c, for ../llmc.hpp: a part of the library that can be compiled once, see
// ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "../../../core/half.hpp"
#include "../../../support/whole_file.hpp"
#include "../gpt2.hpp"
#include "../input_file.hpp"
#include "../llmc.hpp"

namespace wsl::ml {

namespace detail {

enum llmc_version : i32 { llmc_f32 = 3, llmc_bf16 = 5, llmc_state_version = 2 };

using llmc_words = std::array<i32, 256>;

inline i32 padded_vocabulary(const decoder& d) { return (d.vocabulary + 127) / 128 * 128; }

/// The number of parameters. The sizes are positive numbers of 31 bits, so it may not fit in 64 bits.
inline f64 llmc_parameters(const decoder& d, i32 padded) {
  const f64 c = d.width, l = d.layers;
  return (static_cast<f64>(padded) + d.positions) * c + l * (12 * c * c + 13 * c) + 2 * c;
}

}  // namespace detail

WSL_ML_DATA_COMPILED_PART void check_is_llmc(const decoder& d) {
  check_is_gpt2(d);
  std::string lacks;
  const auto needs = [&](const char* what, bool has) {
    lacks += has ? "" : (lacks.empty() ? "" : ", ") + std::string(what);
  };
  needs("gelu by tanh", d.between == nonlinearity::gelu_tanh),
      needs("biases", d.bias == decoder_biases(true));
  needs("a filter of 4 x width", !d.filter || d.filter == 4 * d.width),
      needs("an epsilon of 1e-5", d.epsilon == 1e-5f);
  if (!lacks.empty())
    throw std::invalid_argument("wsl: every model of llm.c has " + lacks + "; this one has not");
}

WSL_ML_DATA_COMPILED_PART weights llmc_model::to_weights(const network& n) const {
  weights w(n);
  each_llmc_parameter(n, config, padded, std::span(numbers),
                      [&](std::size_t k, std::span<const f32> x) { w[k].assign(x.begin(), x.end()); });
  return w;
}

WSL_ML_DATA_COMPILED_PART llmc_model llmc_model::of(const decoder& d, const network& n, const weights& w) {
  check_is_llmc(d);
  llmc_model m{d, detail::padded_vocabulary(d), {}};
  m.numbers.resize(static_cast<std::size_t>(detail::llmc_parameters(d, m.padded)));
  each_llmc_parameter(n, d, m.padded, std::span(m.numbers), [&](std::size_t k, std::span<f32> x) {
    std::copy(w[k].begin(), w[k].end(), x.begin());
  });
  return m;
}

WSL_ML_DATA_COMPILED_PART llmc_model read_llmc_model(const std::string& name) {
  input_file in(name);
  const std::vector<i32> h = in.take<i32>(256, "the header of 256 words");
  if (h[0] != llmc_model_magic)
    throw in.error("this is no model of llm.c, its first word is {}, not {}", h[0], llmc_model_magic);
  if (h[1] != detail::llmc_f32 && h[1] != detail::llmc_bf16)
    throw in.error(
        "models have version 3 (f32) or 5 (bf16), not {}: write it again with today's train_gpt2.py", h[1]);
  if (std::any_of(h.begin() + 2, h.begin() + 8, [](i32 x) { return x < 1; }) || h[7] < h[3] || h[6] % h[5])
    throw in.error("the header has sizes that no model has: the file is damaged");
  llmc_model m;
  m.config = {.vocabulary = h[3],
              .positions = h[2],
              .layers = h[4],
              .heads = h[5],
              .width = h[6],
              .between = nonlinearity::gelu_tanh};
  m.padded = h[7];
  const f64 count = detail::llmc_parameters(m.config, m.padded);
  if (count > 0x1p60) throw in.error("the header has sizes that no model has: the file is damaged");
  if (h[1] == detail::llmc_f32) m.numbers = in.take<f32>(static_cast<u64>(count), "the parameters");
  else {
    const std::vector<bf16> halves = in.take<bf16>(static_cast<u64>(count), "the parameters");
    m.numbers.assign(halves.begin(), halves.end());
  }
  in.ends_here();
  return m;
}

WSL_ML_DATA_COMPILED_PART void write_llmc_model(const std::string& name, const llmc_model& m) {
  const decoder& d = m.config;
  const detail::llmc_words h{llmc_model_magic, detail::llmc_f32, d.positions, d.vocabulary,
                             d.layers,         d.heads,          d.width,     m.padded};
  support::whole_file out(name);
  out.write(h.data(), sizeof h);
  out.write(m.numbers.data(), m.numbers.size() * sizeof(f32));
  out.finish();
}

WSL_ML_DATA_COMPILED_PART llmc_state read_llmc_state(const std::string& name, const llmc_model& of) {
  input_file in(name);
  const std::vector<i32> h = in.take<i32>(256, "the header of 256 words");
  if (h[0] != llmc_state_magic)
    throw in.error("this is no debug state of llm.c, its first word is {}, not {}", h[0], llmc_state_magic);
  if (h[1] != detail::llmc_state_version)
    throw in.error("debug states have version 2, not {}: write it again with today's train_gpt2.py", h[1]);
  if (h[2] < 1 || h[3] < 1 || h[3] > of.config.positions)
    throw in.error("the header speaks of {} sequences of {} tokens; the model takes 1 to {}", h[2], h[3],
                   of.config.positions);
  llmc_state s{
      .sequences = h[2], .length = h[3], .ids = {}, .targets = {}, .logits = {}, .loss = 0, .gradients = {}};
  const u64 tokens = static_cast<u64>(h[2]) * static_cast<u64>(h[3]);
  s.ids = in.take<i32>(tokens, "the tokens"), s.targets = in.take<i32>(tokens, "the targets");
  for (const auto* ids : {&s.ids, &s.targets})
    if (std::any_of(ids->begin(), ids->end(), [&](i32 id) { return id < 0 || id >= of.config.vocabulary; }))
      throw in.error("a token is none of the model's {}: this state is of another model",
                     of.config.vocabulary);
  if (tokens > in.left()) throw in.error("the logits should follow, but the file ends: it is cut short");
  s.logits = in.take<f32>(tokens * static_cast<u64>(of.config.vocabulary), "the logits");
  s.loss = in.take<f32>(1, "the loss")[0];
  s.gradients = in.take<f32>(of.numbers.size(), "the gradients");
  in.ends_here();
  return s;
}

WSL_ML_DATA_COMPILED_PART void write_llmc_state(const std::string& name, const llmc_state& s) {
  const detail::llmc_words h{llmc_state_magic, detail::llmc_state_version, s.sequences, s.length};
  support::whole_file out(name);
  out.write(h.data(), sizeof h);
  const auto put = [&](const auto& x) { out.write(x.data(), x.size() * sizeof x[0]); };
  put(s.ids), put(s.targets), put(s.logits), put(std::array{s.loss}), put(s.gradients);
  out.finish();
}

}  // namespace wsl::ml
