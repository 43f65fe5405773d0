// SPDX-License-Identifier: MIT
#include "folder.hpp"

#include <algorithm>

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
namespace hf = ml::hugging_face;

constexpr const char* encoders[] = {"albert", "bert", "deberta", "deberta-v2", "distilbert", "electra", "esm",
                                    "modernbert", "roberta", "xlm-roberta"};
constexpr const char* with_decoders[] = {"bart", "marian", "mbart", "mt5", "pegasus", "t5", "umt5"};

void require_decoder(const std::string& folder) {
  const hf::config_file config(folder + "/config.json");
  const std::string type = config.text("model_type", "");
  const auto is_in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), type) != std::end(names);
  };
  const char* what = is_in(encoders)        ? "an encoder"
                     : is_in(with_decoders) ? "an encoder with a decoder"
                                            : nullptr;
  if (what)
    throw config.error("'model_type' is {}, {}: give a folder of a causal decoder, which are {}", type, what,
                       hf::family_names());
}

}  // namespace

ml::pretrained read_folder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw ml::file_error(folder + " is no folder: give one with config.json and model.safetensors");
  require_decoder(folder);
  return ml::read_hugging_face(folder);
}

}  // namespace zoo_app
