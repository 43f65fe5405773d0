// SPDX-License-Identifier: MIT
// The families of models that are read and written, by the `model_type` of their config.json.
#pragma once
#include "bloom.hpp"
#include "btlm.hpp"
#include "falcon.hpp"
#include "gpt2.hpp"
#include "gpt_bigcode.hpp"
#include "gpt_neox.hpp"
#include "gptj.hpp"
#include "llama.hpp"
#include "mixtral.hpp"
#include "mpt.hpp"
#include "opt.hpp"
#include "phi.hpp"
#include "starcoder2.hpp"

namespace wsl::ml::hugging_face {

inline constexpr const family* families[]{&gpt2,    &gptj,        &codegen,    &gpt_neox, &llama, &mistral,
                                          &mixtral, &qwen2,       &falcon,     &bloom,    &mpt,   &opt,
                                          &phi,     &gpt_bigcode, &starcoder2, &btlm,     &jais};

/// The names of all families, for messages.
inline std::string family_names() {
  std::string all;
  for (const family* f : families) all += (all.empty() ? "" : ", ") + std::string(f->model_type);
  return all;
}
/// Null if there is no such family.
inline const family* find_family(std::string_view model_type) {
  for (const family* f : families)
    if (model_type == f->model_type) return f;
  return nullptr;
}

}  // namespace wsl::ml::hugging_face
