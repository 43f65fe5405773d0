// SPDX-License-Identifier: MIT
// The section `model` of a language model, with the names of the Cerebras Model Zoo, and the decoder that it
// describes.
#pragma once
#include <fields.hpp>
#include <session.hpp>
#include <wsl/ml/model/decoder.hpp>

namespace gpt_app {

using train_app::f64;
using train_app::i64;

/// The fields by which weights start and by which muP scales them, see docs/guide/mup.md.
struct mup_params {
  f64 base_hidden_size = 0, base_filter_size = 0;  ///< 0: no muP
  f64 logits_alpha = 0;                            ///< output_logits_alpha; 0: not given
  f64 attention_alpha = 1;                         ///< attention_logits_alpha
  bool logits_by_d = true;                         ///< scale_output_logits_by_d
  train_app::normal_part initializer = {}, embedding = {}, output = {}, ffn = {}, ffn_output = {};
  /// The groups whose learning rates adjust_learning_rate sets, so that muP does not.
  std::vector<std::string> own_rates = {};

  bool is_given() const { return base_hidden_size > 0; }
};

struct model_params {
  std::string name = "gpt", positions = "learned", nonlinearity = "gelu", norm = "layernorm",
              attention = "aiayn_attention";
  int vocab_size = 0, hidden_size = 0, layers = 0, heads = 0, filter_size = 0, max_position_embeddings = 0,
      kv_groups = 0, rotary_dim = 0, experts = 0, experts_of_token = 2;
  f64 epsilon = 1e-5, deviation = 0.02, rope_theta = 10000, dropout = 0, attention_dropout = -1, balance = -1,
      embedding_dropout = -1;
  bool share_embedding_weights = true, projection_bias = true, attention_output_bias = true, ffn_bias = true,
       output_bias = false;
  // Settings that only some families have, the fields of declare_all_families. Empty words and 0: not given.
  std::string norm_bias = {}, scaling_type = {};
  bool parallel_block = false, untied_norms = false, embedding_norm = false, scale_by_d = false,
       scale_by_layer = false;
  bool reward_head = false;  ///< in place of the head a score of the last token (ml::reward_model)
  int window = 0, head_dim = 0, unused_positions = 0, scaling_positions = 0;
  f64 embeddings_scale = 1, logits_scale = 1, attention_scale = 0, scaling_factor = 1, low_frequency = 1,
      high_frequency = 4;
  mup_params mup = {};
  std::vector<std::string> without_effect = {};  ///< fields of the optimizer that the Zoo would not read
  std::string loss_scaling = {};                 ///< empty: num_tokens
  f64 loss_weight = 1;
  bool loss_by_sequences =
      false;                    ///< it is divided by the sequences of a batch, and multiplied by loss_weight
  bool rms_norm = false;        ///< as norm_type rmsnorm, in older files
  int attention_inner_dim = 0;  ///< num_heads * head_dim; 0: not given

  /// The fields that describe a decoder; its rotary pairs are those of this program's checkpoints.
  static model_params of(const wsl::ml::decoder& d);
  /// Throws std::invalid_argument for values that no decoder can have.
  wsl::ml::decoder decoder() const;
  /// The architecture of the model with its defaults, without settings of the training alone, such as
  /// dropout.
  train_app::named_words architecture() const;
  /// The features of a head, 0: hidden_size / num_heads. Throws std::invalid_argument for attention_inner_dim
  /// that heads cannot share.
  int width_of_head() const;
  /// The kind of slower positions: linear, as in the Zoo, if there is a factor only; empty: none.
  std::string scaling() const {
    return scaling_type.empty() && scaling_factor != 1 ? "linear" : scaling_type;
  }
  /// "4 layers, 4 heads, width 128"
  std::string words() const;
};

/// Sets what muP makes the default where it is not given: scale_qk_dot_by_d. Groups of parameters whose
/// learning rates the optimizer's params set keep these. Throws std::invalid_argument for fields of muP that
/// contradict each other or the optimizer.
void complete_mup(train_app::fields& f, model_params& m, const train_app::optimizer_params& by);

/// The name of a nonlinearity.
std::string word_of(wsl::ml::nonlinearity between);

void declare(train_app::fields& f, model_params& m);
/// Declares the section with the rest of its fields: what distinguishes the families of Hugging Face. `name`
/// may be that of any family.
void declare_all_families(train_app::fields& f, model_params& m);

/// The network of a decoder. The callers of this function compile no layers.
wsl::ml::network network_of(const wsl::ml::decoder& d);

}  // namespace gpt_app
