// SPDX-License-Identifier: MIT
#include "stored.hpp"

#include <algorithm>
#include <cstdio>
#include <foreign_checkpoint.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/io/hugging_face/families.hpp>
#include <wsl/ml/io/hugging_face/reward.hpp>
#include <wsl/ml/model/adapters.hpp>
#include <wsl/ml/model/preference.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "options.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
namespace hf = ml::hugging_face;
using wsl::u64;

// Of these no family is known.
constexpr const char* encoders[] = {"albert",  "deberta", "deberta-v2", "distilbert",
                                    "electra", "esm",     "modernbert", "xlm-roberta"};
constexpr const char* with_decoders[] = {"bart", "mbart", "mt5", "pegasus", "umt5"};

/// The arrays of weights, as checkpoints have them.
std::vector<ml::named_array> arrays_of(const ml::network& n, ml::weights& w) {
  std::vector<ml::named_array> all;
  for (std::size_t k = 0; k < w.size(); ++k) {
    const ml::parameter& p = n.parameters()[k];
    all.push_back({p.name, {static_cast<u64>(p.rows), static_cast<u64>(p.columns)}, w[k]});
  }
  return all;
}
bool is_state(std::string_view suffix) { return suffix.starts_with("/"); }

/// The model of a checkpoint, from the params of its run, and whether it is a reward model.
std::pair<gpt_app::adapted_model, bool> model_in(const ml::checkpoint& c) {
  gpt_app::model_params m;
  gpt_app::lora_params lora;
  train_app::fields f;
  gpt_app::declare_all_families(f, m);
  train_app::precision_params unused;
  train_app::declare_precision(f, unused);
  gpt_app::declare_lora(f, lora);
  try {
    const std::string file = "the params in " + c.name();
    f.read_part(c.fact("params"), file, "model");
    if (train_app::has_adapters(c.name())) f.read_part(c.fact("params"), file, "lora");
    return {gpt_app::adapted_model(m, lora), m.reward_head};
  } catch (const std::invalid_argument& e) {
    throw ml::file_error(c.name() + " is no checkpoint of a language model: " + e.what());
  }
}

}  // namespace

bool is_hugging_face(const std::string& path) { return ml::file_exists(path + "/config.json"); }

void refuse_pickle(const std::string& path) {
  if (std::filesystem::is_regular_file(path) && ml::is_pickle(path)) throw ml::pickle_refusal(path);
}

std::string model_type_of(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw ml::file_error(folder + " is no folder: give one with config.json and model.safetensors");
  if (!is_hugging_face(folder) && ml::file_exists(folder + "/" + hf::adapter_config))
    throw ml::file_error(
        folder +
        " has adapters of peft, and no model: give the folder of the model that they are for, "
        "and this one as --adapter");
  if (!is_hugging_face(folder) && !ml::checkpoints(folder).steps().empty())
    throw ml::file_error(folder +
                         " is the folder of a run, which --model_dir takes; `wsl-zoo checkpoint convert " +
                         folder + " --src-fmt wsl --tgt-fmt hf` makes one of Hugging Face of it");
  if (!is_hugging_face(folder))
    throw ml::file_error(
        folder +
        " has no config.json: give a folder of Hugging Face, with config.json and model.safetensors");
  return hf::config_file(folder + "/config.json").text("model_type", "");
}

void require_decoder(const std::string& folder) {
  const std::string type = model_type_of(folder);
  const auto is_in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), type) != std::end(names);
  };
  const char* what = is_in(encoders) || hf::find_family<ml::encoder>(type) ? hf::kind<ml::encoder>::name
                     : is_in(with_decoders) || hf::find_family<ml::encoder_decoder>(type)
                         ? hf::kind<ml::encoder_decoder>::name
                         : nullptr;
  if (what)
    throw hf::config_file(folder + "/config.json")
        .error("'model_type' is {}, {}: give a folder of a causal decoder, which are {}", type, what,
               hf::family_names());
}

golden_form form_of(const std::string& folder) {
  const auto has = [&](const char* name) { return std::filesystem::is_directory(folder + "/" + name); };
  if (is_hugging_face(folder)) return golden_form::model;
  if (has("policy") && has("reference")) return golden_form::preferences;
  return has("base") && has("adapter") ? golden_form::adapter : golden_form::model;
}

std::string learning_folder(const std::string& folder) {
  const golden_form form = form_of(folder);
  return form == golden_form::preferences ? folder + "/policy"
         : form == golden_form::adapter   ? folder + "/base"
                                          : folder;
}

bool is_decoder(const std::string& folder) {
  return with_kind(folder,
                   []<class Model>(std::type_identity<Model>) { return std::is_same_v<Model, ml::decoder>; });
}

ml::pretrained read_folder(const std::string& folder) {
  require_decoder(folder);
  return ml::read_hugging_face(folder);
}

stored_model read_hugging_face_model(const std::string& folder) {
  require_decoder(folder);
  if (ml::is_reward_model(folder)) {
    ml::pretrained_reward_model p = ml::read_reward_model(folder);
    p.config.rotary_pairs = ml::pairs::neighbours;
    stored_model m{.config = p.config,
                   .network = ml::reward_model{p.config}.build(),
                   .numbers = {},
                   .model_type = p.model_type,
                   .is_reward = true,
                   .padding = p.padding};
    m.numbers = p.to_weights(m.network);
    return m;
  }
  ml::pretrained p = read_folder(folder);
  p.config.rotary_pairs = ml::pairs::neighbours;
  stored_model m{
      .config = p.config, .network = p.config.build(), .numbers = {}, .model_type = p.model_type()};
  m.numbers = p.to_weights(m.network);
  return m;
}

stored_model read_model(const std::string& path) {
  if (is_hugging_face(path)) return read_hugging_face_model(path);
  if (!ml::file_exists(path))
    throw ml::file_error(path + ": there is neither a folder of Hugging Face nor a checkpoint of that name");
  stored_model m = read_checkpoint(path);
  fold(m);
  return m;
}

std::string checkpoint_file(const std::string& path) {
  if (const std::string form = train_app::form_of_foreign_checkpoint(path); !form.empty())
    throw ml::file_error(path + " " + train_app::words_of_foreign_checkpoint(form, true, "wsl-zoo"));
  if (!std::filesystem::is_directory(path)) return path;
  std::vector<std::string> refused;
  const auto newest = ml::checkpoints(path).newest(&refused);
  if (newest) {
    for (const std::string& why : refused) std::fprintf(stderr, "%s\n", why.c_str());
    return *newest;
  }
  throw ml::file_error(refused.empty() ? path +
                                             " has no checkpoint_<step>.safetensors: give the folder of a "
                                             "run, or the file of a checkpoint"
                                       : refused.front());
}

stored_model read_checkpoint(const std::string& path) {
  const std::string file = checkpoint_file(path);
  ml::checkpoint c(file);
  const auto [of_run, is_reward] = model_in(c);
  stored_model m{
      .config = of_run.config(),
      .network = is_reward ? ml::reward_model{of_run.config()}.build(of_run.layers()) : of_run.network(),
      .numbers = {},
      .is_reward = is_reward};
  if (const auto marks = gpt_app::preference_marks::of(file); is_reward && marks) m.padding = marks->padding;
  if (of_run.has_adapters()) m.adapted = of_run;
  m.numbers = ml::weights(m.network);
  c.restore(arrays_of(m.network, m.numbers), [&](std::string_view suffix) {
    m.has_optimizer_state = m.has_optimizer_state || is_state(suffix);
    return is_state(suffix) || suffix == ml::named_mask::suffix;  // the weights have zeros where masks do
  });
  return m;
}

bool is_reward_checkpoint(const std::string& file) { return model_in(ml::checkpoint(file)).second; }

void fold(stored_model& m) {
  if (!m.adapted) return;
  if (m.is_reward) {
    ml::network plain = ml::reward_model{m.config}.build();
    m.numbers = ml::without_adapters(m.network, m.numbers, plain), m.network = std::move(plain);
    return m.adapted.reset();
  }
  m.numbers = m.adapted->folded(m.numbers), m.network = m.adapted->plain();
  m.adapted.reset();
}

std::string write_checkpoint(const std::string& folder, stored_model& m, const std::string& companions) {
  wsl::support::whole_folder out(folder);
  options o;
  train_app::fields f;
  declare(f, o);
  o.model = gpt_app::model_params::of(m.config);
  o.model.reward_head = m.is_reward;
  if (!m.model_type.empty()) o.model.name = m.model_type;
  o.common.optimizer.type = "sgd";  // which keeps nothing, so that the weights are all of the state
  o.common.run.model_dir = folder;
  std::string architecture;
  for (const auto& [name, word] : o.model.architecture()) architecture += name + ": " + word + "\n";
  const std::string params = f.kept_text();
  app::write_file(out / "params.yaml", train_app::params_of + "wsl-zoo\n" + params);
  if (!companions.empty()) hf::copy_companions(companions, out.unfinished());
  ml::text_by_name facts{
      {"params", params}, {"model", architecture}, {"vocabulary", ""}, {"weights", "f32"}, {"seed", "1"}};
  if (m.padding) facts.merge(gpt_app::preference_marks{.end = *m.padding, .padding = m.padding}.facts());
  ml::add_facts(facts, ml::data_position{});
  const std::filesystem::path file =
      ml::checkpoints(out.unfinished()).save(0, arrays_of(m.network, m.numbers), std::move(facts));
  out.finish();
  return folder + "/" + file.filename().string();
}

}  // namespace zoo_app
