// SPDX-License-Identifier: MIT
#include "export.hpp"

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

}  // namespace

std::string why_no_hugging_face(const ml::decoder& d) { return ml::why_no_hugging_face(d); }

std::string why_no_llmc(const ml::decoder& d) {
  try {
    ml::check_is_llmc(d);
    return "";
  } catch (const std::invalid_argument& e) { return std::string(e.what()).substr(5); }
}

void export_llmc(const std::string& folder, const ml::decoder& d, const ml::weights& w) {
  ml::write_llmc_model(folder + "/model.bin", ml::llmc_model::of(d, network_of(d), w));
}

void export_hugging_face(const std::string& folder, const ml::decoder& d, const ml::weights& w) {
  ml::write_hugging_face(folder, d, network_of(d), w);
}

ml::weights import_weights(const std::string& from, const ml::decoder& d) {
  if (from.ends_with(".bin")) {
    const ml::llmc_model m = ml::read_llmc_model(from);
    must_be(from, m.config, d);
    return m.to_weights(network_of(d));
  } else {
    if (!std::filesystem::is_directory(from))
      throw ml::file_error(
          "--initial_weights: " + from +
          " is neither a model.bin of llm.c nor a folder with config.json and model.safetensors");
    ml::pretrained p = ml::read_hugging_face(from);
    must_be(from, p.config, d);
    p.config.rotary_pairs = d.rotary_pairs;
    return p.to_weights(network_of(d));
  }
}

}  // namespace gpt_app
