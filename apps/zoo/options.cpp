// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/family.hpp>
#include <wsl/ml/io/hugging_face/reward.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "stored.hpp"

namespace zoo_app {

namespace {

/// Fields of the Zoo's language models of which only the values are taken that change nothing.
void declare_of_zoo(train_app::fields& f, const gpt_app::model_params& m) {
  f.remark([&f, &m] {
    const bool is_single =
        f.is_of_user() && !m.experts && f.is_given("model.num_experts") && !f.is_asked("model.num_experts");
    return is_single ? std::string(
                           "model.num_experts 1 is a feed-forward part without a router, as in the Model "
                           "Zoo, and what is said of routers has no effect")
                     : std::string();
  });
  const char *const not_here = "this is not supported here", *const one_way = "routers have one way here";
  for (const char* name :
       {"attention_chunk_size", "attention_logit_softcapping", "final_logit_softcapping",
        "fixed_sparse_attention", "attention_vertical_column_spacing", "attention_vertical_column_width",
        "attention_qk_norm_layer", "sliding_window_every_other_decoder_layer_pattern", "memory_tokens_config",
        "constant_pos_embedding", "rel_distance_extra_args"})
    f.honours(name, {"null"}, not_here);
  for (const char* name : {"sliding_window_every_other_decoder_layer", "norm_first_sandwich",
                           "use_sink_token", "use_experimental_flex_api"})
    f.honours(name, {"false"}, not_here);
  f.honours("rel_distance_mode", {"default"}, not_here);
  for (const char* name : {"num_extra_input_vocab_tokens", "position_embedding_offset"})
    f.honours(name, {"0"}, not_here);
  f.no_effect("a number", {"attention_qk_norm_eps"}, "queries and keys have no norms of their own");
  f.no_effect("a number", {"num_relative_attention_buckets"}, "there are no relative positions");
  f.honours("router_use_bias", {"false"}, one_way);
  f.honours("router_selection_nonlinearity", {"softmax"}, one_way);
  f.honours("expert_weighting_nonlinearity", {"softmax"}, one_way);
  f.honours("expert_weighting_normalization", {"true"}, one_way);
  f.honours("gate_initializer", {"null"}, "routers begin as other matrices");
  f.honours("probability_before_ffn", {"false"}, one_way);
  f.no_effect("a number", {"sinkhorn_n_iters"}, "it is of router_selection_nonlinearity sinkhorn");
  f.no_effect_of_words("moe_implementation",
                       {"functional", "optimized", "experimental", "forge_experimental", "expert_parallel"},
                       "it chooses among ways to compute the same");
}

}  // namespace

void declare(train_app::fields& f, options& o) {
  declare_inputs(f, o, true);
  declare_all_families(f, o.model), declare_of_zoo(f, o.model), declare_precision(f, o.common.precision);
  gpt_app::declare_lora(f, o.lora), gpt_app::declare_preferences(f, o.preferences);
  declare_optimizer(f, o.common.optimizer), declare_sparsity(f, o.common.sparsity);
  declare_run(f, o.common.run, o.common.reports);
  f.add("hf", o.hf,
        "a folder of Hugging Face, with config.json and model.safetensors, or its parts and their index: fit "
        "begins with its model and weights, sample and verify use them")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  gpt_app::declare_writing(f, o.sample), gpt_app::declare_completing(f, o.completing);
  f.add("score", o.scores.file,
        "a file of texts (.jsonl, .csv, .tsv) to which a reward model gives scores, instead of completions");
  f.add("text_key", o.scores.text_key, "its field of whole texts");
  f.add("answer_key", o.scores.answer_key, "or that of answers, to the prompts of prompt_key");
  declare_grid(f, o.grid);
  f.options_of("eval");
  f.add("text", o.eval_of.text,
        "a file of text, of which the loss and the perplexity of a token are printed");
  f.add("choices", o.eval_of.choices,
        "a file of questions, a JSON object in each line, in the form of HellaSwag, ARC or LAMBADA");
  f.add("window", o.eval_of.window, "tokens of --text that are read at once; null: as many as the model can")
      .at_least(1)
      .at_most(1 << 24);
  f.add("limit", o.eval_of.limit, "only the first questions; null: all").at_least(1);
}

namespace {

struct default_value {
  const char *field, *value;
};
struct defaults_of_model {
  std::vector<const char*> names;
  std::vector<default_value> values;
};
/// The values that models of a name have in common.
const std::vector<defaults_of_model>& all_defaults() {
  const default_value rotary{"position_embedding_type", "rotary"}, alibi{"position_embedding_type", "alibi"},
      own_head{"share_embedding_weights", "false"}, parallel{"parallel_block", "true"},
      no_qkv{"use_projection_bias_in_attention", "false"},
      no_projection{"use_ffn_bias_in_attention", "false"}, no_ffn{"use_ffn_bias", "false"},
      head_bias{"use_bias_in_output", "true"}, gelu_new{"nonlinearity", "gelu_new"},
      swiglu{"nonlinearity", "swiglu"}, rms{"norm_type", "rmsnorm"};
  static const std::vector<defaults_of_model> all{
      {{"gpt2", "gpt3", "gpt_bigcode", "santacoder", "starcoder"}, {gelu_new}},
      {{"llama", "mistral"}, {rotary, rms, swiglu, own_head, no_qkv, no_projection, no_ffn}},
      {{"mixtral"}, {rotary, rms, swiglu, own_head, no_qkv, no_projection, no_ffn, {"num_experts", "8"}}},
      {{"qwen2"}, {rotary, rms, swiglu, own_head, no_projection, no_ffn}},
      {{"gptj", "codegen"}, {rotary, parallel, gelu_new, own_head, no_qkv, no_projection, head_bias}},
      {{"gpt_neox", "gpt-neox"}, {rotary, parallel, {"use_untied_layer_norm", "true"}, own_head}},
      {{"phi"}, {rotary, parallel, gelu_new, own_head, head_bias}},
      {{"falcon"}, {rotary, parallel, no_qkv, no_projection, no_ffn, {"use_norm_bias", "true"}}},
      {{"bloom"}, {alibi, gelu_new, {"embedding_layer_norm", "true"}}},
      {{"mpt"}, {alibi, no_qkv, no_projection, no_ffn}},
      {{"opt"}, {{"nonlinearity", "relu"}, {"unused_positions", "2"}}},
      {{"starcoder2"}, {rotary, gelu_new}},
      {{"btlm", "jais"}, {alibi, swiglu}}};
  return all;
}

void take_defaults(train_app::fields& f, const std::string& model) {
  for (const defaults_of_model& d : all_defaults())
    if (std::find(d.names.begin(), d.names.end(), model) != d.names.end())
      for (const default_value& v : d.values) {
        train_app::field& field = *f.named(std::string("model.") + v.field).front();
        // By its older name a norm is given as well.
        if (field.name == "norm_type" && f.is_given("model.use_rms_norm")) continue;
        if (field.given.empty()) f.read_option(field, v.value, "model.name " + model);
      }
}

/// The model and the tokenizer of a folder. Fields of training alone keep their values.
void take_folder(train_app::fields& f, options& o, const std::string& folder) {
  require_decoder(folder);
  const gpt_app::model_params asked = o.model;
  if (const std::string& place = f.named("model.mup_base_hidden_size").front()->given;
      asked.mup.base_hidden_size > 0 && !place.starts_with("--"))
    throw std::invalid_argument(place +
                                ": model.mup_base_hidden_size is of models that begin with random weights, "
                                "and --hf " +
                                folder + " has factors of its own: leave it out");
  const auto [family, decoder] = wsl::ml::read_hugging_face_config(folder + "/config.json");
  gpt_app::model_params theirs = gpt_app::model_params::of(decoder);
  theirs.name = family->model_type;
  theirs.reward_head = asked.reward_head || wsl::ml::is_reward_model(folder);
  if (const std::vector<wsl::i32> padding = gpt_app::tokens_in(folder, "pad_token_id");
      theirs.reward_head && !padding.empty() && padding.front() >= 0 && padding.front() < decoder.vocabulary)
    o.padding = padding.front();
  std::vector<std::pair<train_app::field*, std::string>> given;
  for (train_app::field& x : f.all())
    if (x.section == "model" && !x.given.empty()) given.emplace_back(&x, x.text());
  o.model = theirs;
  o.model.dropout = asked.dropout, o.model.attention_dropout = asked.attention_dropout;
  o.model.embedding_dropout = asked.embedding_dropout, o.model.deviation = asked.deviation;
  o.model.loss_scaling = asked.loss_scaling, o.model.loss_weight = asked.loss_weight;
  for (const auto& [field, text] : given)
    if (field->given.starts_with("--") && field->text() != text)
      throw std::invalid_argument(field->given + " " + text + " is not that of " + folder + ", " +
                                  field->text() + ": leave it out, or take another folder");
  if (o.train.tokenizer_dir.empty() && o.train.vocabulary != "characters" &&
      wsl::ml::tokenizer::is_in(folder))
    o.train.tokenizer_dir = folder;
}

/// A model of the Zoo with one expert has the feed-forward part alone, without a router.
void take_single_expert(train_app::fields& f, gpt_app::model_params& m) {
  if (!f.is_of_user() || m.experts != 1) return;
  if (m.name == "mixtral")
    throw std::invalid_argument(
        "model.num_experts 1 is a feed-forward part without a router, and a mixtral has experts: name the "
        "model mistral, or give at least 2");
  m.experts = 0;
  for (const char* of_router : {"model.num_experts_per_token", "model.load_balancing_loss_coef"}) {
    train_app::field& x = *f.named(of_router).front();
    x.reset(), x.given.clear();
  }
}

/// Throws std::invalid_argument for rotary positions of more features than a head has.
void require_rotary(const gpt_app::model_params& m) {
  const int all = m.attention_inner_dim ? m.attention_inner_dim : m.hidden_size;
  if (m.positions != "rotary" || m.heads < 1 || all % m.heads) return;
  const int head = m.head_dim ? m.head_dim : all / m.heads;
  if (m.rotary_dim > head && head > 0)
    throw std::invalid_argument(
        fmt::format("model.rotary_dim {} is more than the features of a head, {} (model.hidden_size {} / "
                    "model.num_heads {}): take at most that, or leave it out, and all are turned",
                    m.rotary_dim, head, m.hidden_size, m.heads));
}

/// Sets the reference of preferences where it is the model with which the run begins. Throws
/// std::invalid_argument for options of the section dpo that have no effect.
void complete_preferences(train_app::fields& f, options& o) {
  const bool are_given = !o.train.chosen_key.empty() || !o.train.rejected_key.empty();
  for (const train_app::field& x : f.all())
    if (x.section == "dpo" && x.given.starts_with("--") && (!are_given || o.model.reward_head))
      throw std::invalid_argument(
          x.given +
          (are_given ? " is of the losses that compare log-probabilities, and a reward model has its own: "
                       "leave it out"
                     : " is of preferences, and the data are none: give chosen_key and rejected_key, or "
                       "leave it out"));
  if (!are_given || o.model.reward_head) return;
  gpt_app::preference_params& p = o.preferences;
  if (p.disable_dropout)
    for (const char* name :
         {"model.dropout_rate", "model.attention_dropout_rate", "model.embedding_dropout_rate"})
      if (const train_app::field& x = *f.named(name).front(); x.given.starts_with("--"))
        throw std::invalid_argument(x.given + " " + x.text() +
                                    " is not honoured with dpo.disable_dropout true: leave it out, or give "
                                    "--disable_dropout false");
  if (p.reference_free && !p.reference_model.empty())
    throw std::invalid_argument("dpo.reference_free is true, and reference_model is " + p.reference_model +
                                ": leave one of them out");
  if (p.reference_free && !p.reference_cache.empty())
    throw std::invalid_argument(
        "dpo.reference_free is true, and there is nothing to keep in reference_cache " + p.reference_cache +
        ": leave it out");
  const train_app::run_params& r = o.common.run;
  if (!p.reference_free && p.reference_model.empty())
    p.reference_model = !o.hf.empty() ? o.hf : r.load_checkpoint_states == "model" ? r.checkpoint_path : "";
}

}  // namespace

namespace {

class params final : public train_app::trainer_params {
 public:
  params() { declare(f, o_); }

  void check(train_app::mistakes& found) override {
    found.of([&] { complete(f, o_); });
    check_common(found, o_.common);
    found.of([&] { gpt_app::check_loss(o_); });
    found.of([&] { gpt_app::require_fields(o_); });
    found.of([&] { gpt_app::require_data(o_, true); });
    found.of([&] {
      if (o_.model.mup.base_hidden_size > 0 && !(o_.model.mup.base_filter_size > 0)) return;  // refused above
      // The data would say these.
      gpt_app::model_params m = o_.model;
      m.vocab_size = std::max(m.vocab_size, 1);
      m.max_position_embeddings = std::max(m.max_position_embeddings, 1);
      m.decoder();
    });
    for (const auto& [section, in, x] : {std::tuple("train_input", &o_.common.train_input, &o_.train.hdf5),
                                         {"eval_input", &o_.common.eval_input, &o_.eval.hdf5}}) {
      if (x->mixture.empty()) continue;
      if (!in->data_dir.empty())
        found.add(
            fmt::format("{0}.mixture and {0}.data_dir both name the data: leave one of them out", section));
      if (!x->data_subset.empty())
        found.add(fmt::format("{0}.data_subset is of data_dir: each part of {0}.mixture has one of its own",
                              section));
    }
    if (o_.model.max_position_embeddings)
      for (const auto& [section, x] : {std::pair("train_input", &o_.train), {"eval_input", &o_.eval}})
        if (x->max_sequence_length > o_.model.max_position_embeddings)
          found.add(fmt::format("{}.max_sequence_length {} is more than model.max_position_embeddings {}",
                                section, x->max_sequence_length, o_.model.max_position_embeddings));
  }

 private:
  options o_;
};

}  // namespace

std::unique_ptr<train_app::trainer_params> new_params() { return std::make_unique<params>(); }

void complete(train_app::fields& f, options& o, bool any_kind) {
  if (o.hf.empty()) take_defaults(f, o.model.name);
  else if (const std::string folder = any_kind ? learning_folder(o.hf) : o.hf;
           !any_kind || is_decoder(folder))
    take_folder(f, o, folder);
  take_single_expert(f, o.model);
  gpt_app::complete(f, o);
  require_rotary(o.model);
  if (o.lora.are_given() && o.lora.base.empty()) o.lora.base = o.hf;
  complete_preferences(f, o);
}

}  // namespace zoo_app
