// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <optional>
#include <trainer_form.hpp>
#include <zoo_models.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "config_files.hpp"

namespace zoo_app {

using namespace train_app;

namespace {

/// The maps of a model that are read as fields of the model.
constexpr const char* models_inside[] = {"q_encoder", "ctx_encoder", "policy_model"};

/// Takes the precision out of the models inside of a model: the V2 form has one for all, and they agree,
/// since the file has been accepted.
void take_out_precision(YAML::Node model) {
  if (!model.IsMap()) return;
  for (const char* inside : models_inside) {
    if (!model[inside] || !model[inside].IsMap()) continue;
    // Both maps may be one, by an anchor, or merge one, which cannot be removed from there.
    YAML::Node rest(YAML::NodeType::Map);
    mistakes none;
    for (const auto& [name, value] : pairs_of(model[inside], "", inside, none))
      if (name != "mixed_precision" && name != "fp16_type" && name != "use_bfloat16") rest[name] = value;
      else if (!value.IsNull()) model[name] = value;
    model[inside] = rest;
  }
}

/// Writes down the format of mixed precision that a language model has in the V1 form where nothing is said.
void say_format(YAML::Node model) {
  if (!model.IsMap() || !model["mixed_precision"] || !truth_of(model["mixed_precision"]).value_or(false))
    return;
  if (!model["fp16_type"] && !model["use_bfloat16"]) model["fp16_type"] = "bfloat16";
}

/// Writes down the dropout of attention that a language model has where a file does not say it: in the V1 form
/// that of the other parts, in the V2 form 0.1; those of GPT-J's kind have 0.1 in both.
void say_attention_dropout(YAML::Node model, const std::string& name, bool is_v2) {
  constexpr std::array of_gptj{"gptj", "gpt-neox", "gpt_neox", "falcon"};
  if (!model.IsMap() || model["attention_dropout_rate"] || model["<<"] ||
      std::find(of_gptj.begin(), of_gptj.end(), name) != of_gptj.end())
    return;
  for (const char* of_others : {"dropout_rate", "residual_dropout_rate"})
    if (const YAML::Node rate = model[of_others]; rate && !rate.IsNull())
      model["attention_dropout_rate"] = is_v2 ? "0.1" : rate.Scalar();
}

/// A model whose format has one name, fp16_type: the V2 form has no use_bfloat16.
YAML::Node with_one_format(const YAML::Node& model) {
  if (!model.IsMap() || !model["use_bfloat16"]) return model;
  YAML::Node rest(YAML::NodeType::Map);
  std::optional<bool> is_bfloat16;
  mistakes none;
  for (const auto& [name, value] : pairs_of(model, "", "model", none))
    if (name != "use_bfloat16") rest[name] = value;
    else if (!value.IsNull()) is_bfloat16 = truth_of(value);
  const bool has_type = rest["fp16_type"] && !rest["fp16_type"].IsNull();
  if (is_bfloat16 && (*is_bfloat16 || !has_type)) rest["fp16_type"] = *is_bfloat16 ? "bfloat16" : "float16";
  return rest;
}

}  // namespace

int run_config_convert(int argc, char** argv) {
  CLI::App app(
      "Writes a params file of the V1 form in the V2 form, or one of the V2 form in the V1 form. Comments "
      "are "
      "not kept.",
      "wsl-zoo config convert");
  std::string from, to, model;
  app.add_option("-i,--input", from, "the file")->required();
  app.add_option("-o,--output", to, "the file to write")->required();
  app.add_option("--model", model,
                 "the model of a file that does not say it, and does not lie in its folder");
  int status = 0;
  if (!app::parse(app, argc, argv, "option", status)) return status;
  if (!std::filesystem::is_regular_file(from)) throw std::invalid_argument("-i: there is no file " + from);
  app::require_free(to, "-o");
  require_model(model);
  const verdict v = verdict_of(from, model);
  if (!v.refused.empty()) {
    std::fprintf(stderr, "wsl-zoo: %s is refused by config check, so %s is not written:\n", from.c_str(),
                 to.c_str());
    for (const std::string& sentence : v.refused) std::fprintf(stderr, "  %s\n", sentence.c_str());
    return 1;
  }
  YAML::Node root = parsed_params(app::read_file(from), from);
  if (!root.IsMap()) refuse(from, "a params file is a map of sections, not " + shown(root));
  mistakes found;
  std::vector<std::string> left_out;
  const bool was_v2 = is_trainer_form(root);
  if (!was_v2) take_out_precision(root["model"]);
  if (!was_v2 && v.program == "wsl-zoo") say_format(root["model"]);
  if (!was_v2 && root["model"]) root["model"] = with_one_format(root["model"]);
  if (v.program == "wsl-zoo")
    say_attention_dropout(was_v2 ? root["trainer"]["init"]["model"] : root["model"], v.model, was_v2);
  YAML::Node made =
      was_v2 ? sections_of_trainer(root, from, found, left_out) : trainer_of_sections(root, from, found);
  found.report();
  // A file may be of the model of its folder, or of --model, which the place of the result does not say.
  if (model_named_in(made).empty()) {
    if (was_v2) made["model"]["name"] = v.model;
    else made["trainer"]["init"]["model"]["name"] = v.model;
  }
  const std::string text = written_out(made, from);
  if (const verdict result = verdict_of_text(text, to, ""); !result.refused.empty()) {
    std::fprintf(
        stderr,
        "wsl-zoo: %s in the %s form would be refused by config check, so %s is not written: say the same "
        "of it in %s, or leave it out there:\n",
        from.c_str(), was_v2 ? "V1" : "V2", to.c_str(), from.c_str());
    for (const std::string& sentence : result.refused) std::fprintf(stderr, "  %s\n", sentence.c_str());
    return 1;
  }
  app::write_file(to, text);
  for (const std::string& sentence : left_out)
    std::fprintf(stderr, "wsl-zoo: %s: left out\n", sentence.c_str());
  std::printf("%s has the %s form\n", to.c_str(), was_v2 ? "V1" : "V2");
  return 0;
}

}  // namespace zoo_app
