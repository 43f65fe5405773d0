// SPDX-License-Identifier: MIT
#include "export.hpp"

#include <algorithm>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/match.hpp>
#include <wsl/ml/io/llmc.hpp>

#include "model.hpp"

namespace gpt_app {
namespace {

namespace ml = wsl::ml;

std::string text_of(int n) { return std::to_string(n); }
const std::string& text_of(const std::string& word) { return word; }

/// Throws wsl::ml::file_error that says which options make `ours` the model of the file.
void must_be(const std::string& from, const ml::decoder& theirs, const ml::decoder& ours) {
  std::string differs;
  const auto compare = [&](const char* name, const auto& their, const auto& our) {
    if (their != our)
      differs += std::string(" --") + name + " " + text_of(their) + " (not " + text_of(our) + ")";
  };
  const auto filter = [](const ml::decoder& d) { return d.filter ? d.filter : 4 * d.width; };
  compare("num_hidden_layers", theirs.layers, ours.layers), compare("num_heads", theirs.heads, ours.heads),
      compare("hidden_size", theirs.width, ours.width);
  compare("filter_size", filter(theirs), filter(ours)),
      compare("max_position_embeddings", theirs.positions, ours.positions);
  compare("vocab_size", theirs.vocabulary, ours.vocabulary),
      compare("nonlinearity", word_of(theirs.between), word_of(ours.between));
  const auto yes = [](bool b) { return std::string(b ? "true" : "false"); };
  compare("use_ffn_bias", yes(theirs.bias.feed_forward), yes(ours.bias.feed_forward));
  compare("use_ffn_bias_in_attention", yes(theirs.bias.projection), yes(ours.bias.projection));
  compare("use_projection_bias_in_attention", yes(theirs.bias.qkv), yes(ours.bias.qkv));
  compare("use_bias_in_output", yes(theirs.bias.head), yes(ours.bias.head));
  if (!differs.empty())
    throw ml::file_error("--initial_weights: " + from + " is of another model: with these weights go" +
                         differs);
  if (const std::string others = ml::hugging_face::difference(theirs, ours); !others.empty())
    throw ml::file_error("--initial_weights: " + from + " is of another model, which differs in " + others);
}
ml::weights weights_of(ml::trainer_base& t) {
  ml::weights w(t.model());
  for (std::size_t k = 0; k < w.size(); ++k)
    std::copy(t.parameters()[k].begin(), t.parameters()[k].end(), w[k].begin());
  return w;
}

}  // namespace

void set_weights(ml::trainer_base& t, const ml::weights& w) {
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
}

std::string why_no_hugging_face(const ml::decoder& d) { return ml::why_no_hugging_face(d); }

std::string why_no_llmc(const ml::decoder& d) {
  try {
    ml::check_is_llmc(d);
    return "";
  } catch (const std::invalid_argument& e) { return std::string(e.what()).substr(5); }
}

void export_llmc(const std::string& folder, const ml::decoder& d, ml::trainer_base& t) {
  ml::write_llmc_model(folder + "/model.bin", ml::llmc_model::of(d, t.model(), weights_of(t)));
}

void export_hugging_face(const std::string& folder, const ml::decoder& d, ml::trainer_base& t) {
  ml::write_hugging_face(folder, d, t.model(), weights_of(t));
}

void import_weights(const std::string& from, const ml::decoder& d, ml::trainer_base& t) {
  if (from.ends_with(".bin")) {
    const ml::llmc_model m = ml::read_llmc_model(from);
    must_be(from, m.config, d);
    set_weights(t, m.to_weights(t.model()));
  } else {
    if (!std::filesystem::is_directory(from))
      throw ml::file_error(
          "--initial_weights: " + from +
          " is neither a model.bin of llm.c nor a folder with config.json and model.safetensors");
    ml::pretrained p = ml::read_hugging_face(from);
    must_be(from, p.config, d);
    p.config.rotary_pairs = d.rotary_pairs;
    set_weights(t, p.to_weights(t.model()));
  }
}

}  // namespace gpt_app
