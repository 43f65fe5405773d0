// SPDX-License-Identifier: MIT
#include "zoo_models.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace train_app {
namespace {

constexpr const char *zoo = "wsl-zoo", *bert = "wsl-bert", *t5 = "wsl-t5", *none = "";
constexpr zoo_model models[] = {{"gpt2", zoo},
                                {"gpt3", zoo},
                                {"gptj", zoo},
                                {"gpt-neox", zoo},
                                {"gpt_neox", zoo},
                                {"llama", zoo},
                                {"mistral", zoo},
                                {"mixtral", zoo},
                                {"qwen2", zoo},
                                {"bloom", zoo},
                                {"falcon", zoo},
                                {"mpt", zoo},
                                {"opt", zoo},
                                {"phi", zoo},
                                {"codegen", zoo},
                                {"btlm", zoo},
                                {"jais", zoo},
                                {"gpt_bigcode", zoo},
                                {"santacoder", zoo},
                                {"starcoder", zoo},
                                {"starcoder2", zoo},
                                {"dpo", zoo},
                                {"bert", bert},
                                {"bert/classifier", bert},
                                {"bert/token_classifier", bert},
                                {"bert/extractive_summarization", bert},
                                {"bert/qa", bert},
                                {"roberta", bert},
                                {"linformer", bert},
                                {"t5", t5},
                                {"transformer", t5},
                                {"dpr", "wsl-dpr"},
                                {"unet", "wsl-unet"},
                                {"fc_mnist", "wsl-mnist"},
                                {"esm2", none},
                                {"dit", none},
                                {"dino", none},
                                {"dinov2", none},
                                {"gemma2", none},
                                {"llava", none},
                                {"multimodal_simple", none},
                                {"vision_transformer", none},
                                {"vit", none},
                                {"layers_api_demo", none},
                                {"rwkv", none}};

/// Classes of the Zoo's models, and what its files call these.
constexpr std::pair<const char*, const char*> classes[] = {
    {"GPT2LMHeadModel", "gpt2"},
    {"Gpt2Model", "gpt2"},
    {"GPT3Model", "gpt3"},
    {"GptjModel", "gptj"},
    {"GPTJModel", "gptj"},
    {"GPTNeoXModel", "gpt-neox"},
    {"LlamaModel", "llama"},
    {"LlamaLMHeadModel", "llama"},
    {"MistralModel", "mistral"},
    {"MixtralModel", "mixtral"},
    {"BloomModel", "bloom"},
    {"BTLMModel", "btlm"},
    {"JAISModel", "jais"},
    {"FalconModel", "falcon"},
    {"SantaCoderModel", "santacoder"},
    {"StarCoderModel", "starcoder"},
    {"DPOModel", "dpo"},
    {"BertForPreTrainingModel", "bert"},
    {"BertForSequenceClassificationModel", "bert/classifier"},
    {"BertForTokenClassificationModel", "bert/token_classifier"},
    {"BertSummarizationModel", "bert/extractive_summarization"},
    {"T5ForConditionalGeneration", "t5"},
    {"T5ForConditionalGenerationModel", "t5"},
    {"TransformerModel", "transformer"},
    {"DPRWrapperModel", "dpr"},
    {"MNISTModel", "fc_mnist"}};

}  // namespace

const zoo_model* zoo_model_of(const std::string& name) {
  const auto at =
      std::find_if(std::begin(models), std::end(models), [&](const zoo_model& m) { return m.name == name; });
  return at == std::end(models) ? nullptr : at;
}

const zoo_model* zoo_model_of_path(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).parent_path();
  const std::vector<std::filesystem::path> folders(path.begin(), path.end());
  const auto configs = std::find(folders.rbegin(), folders.rend(), "configs");
  for (auto x = configs; x != folders.rend(); ++x)
    if (const zoo_model* m = zoo_model_of(x->string())) return m;
  return nullptr;
}

YAML::Node name_node_in(const YAML::Node& root) {
  YAML::Node at = root;
  const auto enter = [&](const char* name) {
    const YAML::Node inside = at.IsMap() ? at[name] : YAML::Node();
    at.reset(inside.IsDefined() ? inside : YAML::Node());
  };
  if (root.IsMap() && root["trainer"]) enter("trainer"), enter("init");
  enter("model");
  for (const char* name : {"name", "model_name"})
    if (at.IsMap() && at[name] && at[name].IsScalar()) return at[name];
  return YAML::Node(YAML::NodeType::Undefined);
}

std::string model_named_in(const YAML::Node& root) {
  const YAML::Node name = name_node_in(root);
  return name.IsDefined() ? name.Scalar() : "";
}

YAML::Node parsed_params(const std::string& text, const std::string& where) {
  YAML::Node root = parsed(text, where);
  if (!root.IsMap()) return root;
  if (YAML::Node name = name_node_in(root); name.IsDefined())
    for (const auto& [of_class, of_files] : classes)
      if (name.Scalar() == of_class) name = of_files;
  return root;
}

std::vector<std::string> names_of_zoo_models() {
  std::vector<std::string> all;
  for (const zoo_model& m : models)
    if (*m.program) all.emplace_back(m.name);
  return all;
}

}  // namespace train_app
