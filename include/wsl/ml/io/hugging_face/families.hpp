// SPDX-License-Identifier: MIT
// The families of models that are read and written, by the `model_type` of their config.json.
#pragma once
#include <stdexcept>

#include "bert.hpp"
#include "bloom.hpp"
#include "btlm.hpp"
#include "falcon.hpp"
#include "gpt2.hpp"
#include "gpt_bigcode.hpp"
#include "gpt_neox.hpp"
#include "gptj.hpp"
#include "llama.hpp"
#include "marian.hpp"
#include "mixtral.hpp"
#include "mpt.hpp"
#include "opt.hpp"
#include "phi.hpp"
#include "starcoder2.hpp"
#include "t5.hpp"

namespace wsl::ml::hugging_face {

inline constexpr const family* families[]{&gpt2,    &gptj,        &codegen,    &gpt_neox, &llama, &mistral,
                                          &mixtral, &qwen2,       &falcon,     &bloom,    &mpt,   &opt,
                                          &phi,     &gpt_bigcode, &starcoder2, &btlm,     &jais};
inline constexpr const basic_family<encoder>* encoder_families[]{&bert, &roberta};
inline constexpr const basic_family<encoder_decoder>* encoder_decoder_families[]{&t5, &marian};

/// The families of models of a kind, and what one of that kind is called.
template <class Model>
struct kind;
template <>
struct kind<decoder> {
  static constexpr std::span<const family* const> families{hugging_face::families};
  static constexpr const char* name = "a causal decoder";
};
template <>
struct kind<encoder> {
  static constexpr std::span<const basic_family<encoder>* const> families{encoder_families};
  static constexpr const char* name = "an encoder";
};
template <>
struct kind<encoder_decoder> {
  static constexpr std::span<const basic_family<encoder_decoder>* const> families{encoder_decoder_families};
  static constexpr const char* name = "an encoder with a decoder";
};

/// The names of all families of a kind, for messages.
template <class Model = decoder>
std::string family_names() {
  std::string all;
  for (const basic_family<Model>* f : kind<Model>::families)
    all += (all.empty() ? "" : ", ") + std::string(f->model_type);
  return all;
}
/// Null if there is no such family.
template <class Model = decoder>
const basic_family<Model>* find_family(std::string_view model_type) {
  for (const basic_family<Model>* f : kind<Model>::families)
    if (model_type == f->model_type) return f;
  return nullptr;
}
/// Throws std::invalid_argument if there is no such family.
template <class Model>
const basic_family<Model>& family_called(std::string_view model_type) {
  if (const basic_family<Model>* f = find_family<Model>(model_type)) return *f;
  throw std::invalid_argument(
      fmt::format("wsl: there is no family '{}'; known are {}", model_type, family_names<Model>()));
}
/// The kind of the models of a family, in words; null if there is none of that name.
inline const char* kind_of_family(std::string_view model_type) {
  return find_family(model_type)                    ? kind<decoder>::name
         : find_family<encoder>(model_type)         ? kind<encoder>::name
         : find_family<encoder_decoder>(model_type) ? kind<encoder_decoder>::name
                                                    : nullptr;
}

}  // namespace wsl::ml::hugging_face
