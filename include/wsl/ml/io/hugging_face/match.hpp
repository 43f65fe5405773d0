// SPDX-License-Identifier: MIT
// Whether a family has a model: its configuration, written and read again, must say the same.
#pragma once
#include <cmath>

#include "families.hpp"

namespace wsl::ml::hugging_face {

/// The parts of one decoder that another does not have, as a list; empty if they are the same model. Biases
/// that only the second has do not count, for they can be zeros, nor does dropout, nor the order of rotated
/// pairs, nor the longest sequence where no table limits it.
inline std::string difference(const decoder& a, const decoder& b) {
  std::string all;
  const auto unless = [&](bool same, const char* what) {
    if (!same) all += (all.empty() ? "" : ", ") + std::string(what);
  };
  const auto keys = [](const decoder& d) { return d.kv_heads ? d.kv_heads : d.heads; };
  const auto rotated = [](const decoder& d) {
    return d.rotary_features ? d.rotary_features : d.width_of_head();
  };
  const auto scale = [](const decoder& d) {
    return d.attention_scale != 0 ? d.attention_scale : 1 / std::sqrt(static_cast<f32>(d.width_of_head()));
  };
  unless(a.vocabulary == b.vocabulary && a.layers == b.layers && a.heads == b.heads && a.width == b.width,
         "its sizes");
  unless(a.inner_width() == b.inner_width(), "the width of its feed-forward part");
  unless(a.between == b.between, "its nonlinearity");
  unless(a.epsilon == b.epsilon && a.norm == b.norm, "its norms");
  unless(keys(a) == keys(b), "its heads of keys");
  unless(a.width_of_head() == b.width_of_head(), "the width of its heads");
  unless(a.position == b.position && a.unused_positions == b.unused_positions &&
             (a.position != positioning::learned || a.positions == b.positions),
         "its positions");
  unless(a.position != positioning::rotary || b.position != positioning::rotary ||
             (rotated(a) == rotated(b) && a.rotary_base == b.rotary_base && a.rotary_scale == b.rotary_scale),
         "its rotation of queries and keys");
  unless(a.order == b.order, "the order of its blocks");
  unless(a.tied == b.tied, a.tied ? "a head tied to the table of tokens" : "a head of its own");
  unless(a.window == b.window, "its window of attention");
  unless(std::abs(scale(a) / scale(b) - 1) < 1e-6f && a.scale_by_layer == b.scale_by_layer,
         "the scale of its scores");
  unless(a.experts == b.experts && (!a.experts || a.experts_per_token == b.experts_per_token), "its experts");
  unless(!a.experts || a.balance == b.balance, "the loss that balances its experts");
  unless(a.embedding_norm == b.embedding_norm, "the norm after its embedding");
  unless(a.embedding_scale == b.embedding_scale && a.logit_scale == b.logit_scale,
         "the factors of its embedding and logits");
  const auto covers = [](bool first, bool second) { return second || !first; };
  unless(covers(a.bias.qkv, b.bias.qkv) && covers(a.bias.projection, b.bias.projection) &&
             covers(a.bias.feed_forward, b.bias.feed_forward) && covers(a.bias.head, b.bias.head) &&
             (a.norm == normalization::rmsnorm || covers(a.bias.norms, b.bias.norms)),
         "its biases");
  return all;
}

inline std::string difference(const encoder& a, const encoder& b) {
  std::string all;
  const auto unless = [&](bool same, const char* what) {
    if (!same) all += (all.empty() ? "" : ", ") + std::string(what);
  };
  unless(a.vocabulary == b.vocabulary && a.layers == b.layers && a.heads == b.heads && a.width == b.width,
         "its sizes");
  unless(a.inner_width() == b.inner_width(), "the width of its feed-forward part");
  unless(a.between == b.between, "its nonlinearity");
  unless(a.epsilon == b.epsilon, "its norms");
  unless(a.positions == b.positions && a.unused_positions == b.unused_positions && a.padding == b.padding,
         "its positions");
  unless(a.token_types == b.token_types, "its token types");
  unless(a.projected == b.projected, "its projected tokens");
  const auto near = [](f32 x, f32 y) { return std::abs(x - y) <= 1e-6f * std::abs(y); };
  unless(near(a.scale_of_scores(), b.scale_of_scores()), "the scale of its scores");
  unless(a.embedding_scale == b.embedding_scale && a.logit_scale == b.logit_scale,
         "the factors of its embedding and logits");
  unless(a.task == b.task, "its task");
  unless(a.classes == b.classes ||
             (a.task != encoder_task::sequence_classes && a.task != encoder_task::token_classes),
         "its classes");
  return all;
}
inline std::string difference(const encoder_decoder& a, const encoder_decoder& b) {
  std::string all;
  const auto unless = [&](bool same, const char* what) {
    if (!same) all += (all.empty() ? "" : ", ") + std::string(what);
  };
  const auto near = [](f32 x, f32 y) { return std::abs(x - y) <= 1e-6f * std::abs(y); };
  const bool is_relative = a.position == position_encoding::relative;
  unless(a.vocabulary == b.vocabulary && a.layers == b.layers && a.heads == b.heads && a.width == b.width &&
             a.layers_of_decoder() == b.layers_of_decoder(),
         "its sizes");
  unless(a.inner_width() == b.inner_width(), "the width of its feed-forward part");
  unless(a.width_of_head() == b.width_of_head(), "the width of its heads");
  unless(a.between == b.between, "its nonlinearity");
  unless(a.norm == b.norm, "the kind of its norms");
  unless(a.norm_first == b.norm_first, "norms at that end of branches");
  unless(a.epsilon == b.epsilon, "the epsilon of its norms");
  unless(a.ends_with_norm() == b.ends_with_norm(), "the norms at the ends of its sides");
  unless(a.biases == b.biases && a.qkv_biases.value_or(a.biases) == b.qkv_biases.value_or(b.biases) &&
             a.projection_biases.value_or(a.biases) == b.projection_biases.value_or(b.biases),
         "its biases");
  unless(a.position == b.position && (is_relative ? a.buckets == b.buckets && a.max_distance == b.max_distance
                                                  : a.positions == b.positions),
         "its positions");
  unless(near(a.scale_of_scores(false), b.scale_of_scores(false)) &&
             near(a.scale_of_scores(true), b.scale_of_scores(true)),
         "the scale of its scores");
  unless(near(a.embedding_scale, b.embedding_scale) &&
             (a.scales_waves == b.scales_waves || a.position != position_encoding::fixed ||
              a.embedding_scale == 1) &&
             near(a.logit_scale, b.logit_scale),
         "the factors of its embedding and logits");
  unless(a.shared_embedding == b.shared_embedding, "its tables of tokens");
  unless(a.tied == b.tied, a.tied ? "a head tied to the table of tokens" : "a head of its own");
  unless(a.logit_bias == b.logit_bias, "the bias of its logits");
  unless(a.padding == b.padding, "the id of its padding");
  return all;
}

/// Sets what configurations of decoders do not say, and their rules depend on.
inline void keep_what_is_free(decoder& to, const decoder& d) { to.rotary_pairs = d.rotary_pairs; }
template <class Model>
void keep_what_is_free(Model&, const Model&) {}

/// The model that a family's configuration of m describes. Throws file_error if the family has nothing like
/// it.
template <class Model>
Model as_in_family(const basic_family<Model>& f, const Model& m) {
  json c = f.write(m);
  c["model_type"] = f.model_type;
  return f.read(config_file("the configuration", c));
}
/// The parts of a model that a family does not have, as a list; empty if it has all.
template <class Model>
std::string lacks(const basic_family<Model>& f, const Model& m) {
  try {
    return difference(m, as_in_family(f, m));
  } catch (const file_error& e) {
    // The sentence begins with the name of the configuration, which no file has.
    const std::string_view sentence = e.what();
    return fmt::format("its configuration ({})", sentence.substr(sentence.find(": ", 5) + 2));
  }
}
/// The family with which a model is written: the first that has the same biases, or else one in which some
/// are zeros. Null if no family has it.
template <class Model>
const basic_family<Model>* family_of(const Model& m) {
  const basic_family<Model>* with_zeros = nullptr;
  for (const basic_family<Model>* f : kind<Model>::families) {
    if (!lacks(*f, m).empty()) continue;
    if (difference(as_in_family(*f, m), m).empty()) return f;
    if (!with_zeros) with_zeros = f;
  }
  return with_zeros;
}

}  // namespace wsl::ml::hugging_face
