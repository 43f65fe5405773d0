// SPDX-License-Identifier: MIT
// GPT-2 in the files of llm.c (karpathy/llm.c, train_gpt2.py): a model's parameters, and a debug state, which
// is a batch with its logits, loss and gradients. A file has a header of 256 words, then the numbers, each
// kind of parameter for all layers together. The table of tokens is padded with rows that no token has.
//   const llmc_model m = read_llmc_model("gpt2_124M.bin");
//   const network n = m.config.build();
//   weights w = m.to_weights(n);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/compiled.hpp"
#include "../model/decoder.hpp"
#include "../model/weights.hpp"

namespace wsl::ml {

/// The magic numbers with which the files begin.
inline constexpr i32 llmc_model_magic = 20240326, llmc_state_magic = 20240327;

/// Calls f(number of the parameter in the network, numbers) for each parameter in the order of the files,
/// with its part of `all`. Throws std::invalid_argument if a parameter is missing in the network or if there
/// are not as many numbers as its model has in a file.
template <class T, class F>
void each_llmc_parameter(const network& n, const decoder& d, i32 padded, std::span<T> all, F f) {
  std::size_t at = 0;
  const auto give = [&](const std::string& name) {
    const auto& p = n.parameters();
    const auto found = std::find_if(p.begin(), p.end(), [&](const parameter& x) { return x.name == name; });
    if (found == p.end())
      throw std::invalid_argument(fmt::format(
          "wsl: a model of llm.c has '{}', this one has not: only GPT-2 with biases fits its files", name));
    const auto size = static_cast<std::size_t>(found->size());
    if (all.size() - at < size)
      throw std::invalid_argument(
          fmt::format("wsl: {} numbers are too few for this model in a file of llm.c", all.size()));
    f(static_cast<std::size_t>(found - p.begin()), all.subspan(at, size));
    at += size;
  };
  give("embedding.tokens");
  at += static_cast<std::size_t>(padded - d.vocabulary) * static_cast<std::size_t>(d.width);
  give("embedding.positions");
  for (const char* kind :
       {" norm 1.gain", " norm 1.bias", " qkv.weight", " qkv.bias", " projection.weight", " projection.bias",
        " norm 2.gain", " norm 2.bias", " up.weight", " up.bias", " down.weight", " down.bias"})
    for (int l = 0; l < d.layers; ++l) give(fmt::format("layer {}{}", l, kind));
  give("last norm.gain");
  give("last norm.bias");
  if (at != all.size())
    throw std::invalid_argument(
        fmt::format("wsl: this model has {} numbers in a file of llm.c, not {}", at, all.size()));
}

/// Throws std::invalid_argument with the differences for a decoder that is no model of llm.c.
void check_is_llmc(const decoder& d);

struct llmc_model {
  decoder config;
  i32 padded = 0;            ///< rows of the table of tokens
  std::vector<f32> numbers;  ///< the parameters as they lie in the file

  /// The same in the order of the network that `config` builds.
  weights to_weights(const network& n) const;
  /// From a model. Throws std::invalid_argument if llm.c has no such model.
  static llmc_model of(const decoder& d, const network& n, const weights& w);
};

/// A batch with the results of one pass forward and back.
struct llmc_state {
  int sequences = 0, length = 0;
  std::vector<i32> ids, targets;  ///< (sequences, length)
  std::vector<f32> logits;        ///< (sequences, length, vocabulary)
  f32 loss = 0;
  std::vector<f32> gradients;  ///< the gradients in the order of the parameters in the model's file
};

/// Reads a model of 32-bit or bf16 numbers. Throws file_error.
llmc_model read_llmc_model(const std::string& name);

/// Throws file_error if it cannot be written.
void write_llmc_model(const std::string& name, const llmc_model& m);

/// Reads a debug state of a model. Throws file_error.
llmc_state read_llmc_state(const std::string& name, const llmc_model& of);

/// Throws file_error if it cannot be written.
void write_llmc_state(const std::string& name, const llmc_state& s);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "llmc/files.hpp"
#endif
