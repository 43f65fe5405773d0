// SPDX-License-Identifier: MIT
// The small GPT-2 with its golden state, in the format of llm.c. Where the data is not there, the tests say so and pass.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <wsl/ml/file/llmc.hpp>

namespace golden {

using namespace wsl;

struct state : ml::llmc_state {
  ml::decoder config;
  i32 padded = 0;
  std::vector<f32> parameters, after;
};

inline std::optional<state> load() {
  const char* folder = std::getenv("WSL_DATA_DIR");
  const std::string path = std::string(folder ? folder : "") + "/gpt2_tiny/gpt2_tiny";
  if (!folder || !std::filesystem::exists(path + ".bin")) return {};
  const ml::llmc_model model = ml::read_llmc_model(path + ".bin");
  return state{ml::read_llmc_state(path + "_debug_state.bin", model), model.config, model.padded, model.numbers, ml::read_llmc_model(path + "_after10.bin").numbers};
}

/// Calls f(number of the parameter, its numbers in the file) for all parameters.
template <class F>
void each_parameter(const state& s, const ml::network& n, const std::vector<f32>& file, F f) {
  ml::each_llmc_parameter(n, s.config, s.padded, std::span(file), f);
}

inline ml::weights weights_of(const state& s, const ml::network& n, const std::vector<f32>& file) {
  return ml::llmc_model{s.config, s.padded, file}.to_weights(n);
}

}  // namespace golden
