// SPDX-License-Identifier: MIT
// GPT-2 as Hugging Face's transformers keep it: a folder with config.json and model.safetensors, or several
// such files and their index (transformers, models/gpt2, configuration_gpt2.py and modeling_gpt2.py). The
// matrices of their Conv1D are (inputs, outputs); ours are (outputs, inputs).
//   write_hugging_face("export", d, n, w);
//   const pretrained p = read_hugging_face("export");
//   const network n = p.config.build();
//   const weights w = p.to_weights(n);
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "../model/weights.hpp"
#include "gpt2.hpp"
#include "tensor_shards.hpp"

namespace wsl::ml {

namespace detail {

struct gpt2_tensor {
  std::string theirs;  ///< their name, without "transformer."
  std::string ours;
  std::function<std::vector<u64>(u64 rows, u64 columns)> shape;
  bool transposed = false;
};

inline std::vector<gpt2_tensor> gpt2_tensors(int layers) {
  const auto as_it_is = [](u64 rows, u64 columns) { return std::vector<u64>{rows, columns}; };
  const auto vector = [](u64, u64 columns) { return std::vector<u64>{columns}; };
  const auto turned = [](u64 rows, u64 columns) { return std::vector<u64>{columns, rows}; };
  std::vector<gpt2_tensor> all{{"wte.weight", "embedding.tokens", as_it_is},
                               {"wpe.weight", "embedding.positions", as_it_is}};
  for (int l = 0; l < layers; ++l) {
    const std::string h = fmt::format("h.{}.", l), o = fmt::format("layer {} ", l);
    for (const auto& [theirs, ours] : {std::pair("ln_1", "norm 1"), {"ln_2", "norm 2"}}) {
      all.push_back({h + theirs + ".weight", o + ours + ".gain", vector});
      all.push_back({h + theirs + ".bias", o + ours + ".bias", vector});
    }
    for (const auto& [theirs, ours] : {std::pair("attn.c_attn", "qkv"),
                                       {"attn.c_proj", "projection"},
                                       {"mlp.c_fc", "up"},
                                       {"mlp.c_proj", "down"}}) {
      all.push_back({h + theirs + ".weight", o + ours + ".weight", turned, true});
      all.push_back({h + theirs + ".bias", o + ours + ".bias", vector});
    }
  }
  all.push_back({"ln_f.weight", "last norm.gain", vector});
  all.push_back({"ln_f.bias", "last norm.bias", vector});
  return all;
}

/// (rows, columns) becomes (columns, rows).
inline std::vector<f32> transposed(const std::vector<f32>& x, std::size_t rows, std::size_t columns) {
  std::vector<f32> y(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
  return y;
}

struct activation_name {
  const char* name;
  nonlinearity what;
};
inline constexpr std::array activation_names{activation_name{"gelu_new", nonlinearity::gelu_tanh},
                                             activation_name{"gelu_pytorch_tanh", nonlinearity::gelu_tanh},
                                             activation_name{"gelu", nonlinearity::gelu},
                                             activation_name{"relu", nonlinearity::relu},
                                             activation_name{"silu", nonlinearity::silu}};

// Reads config.json, with the defaults of transformers. It is not trusted: a field of the wrong type is an
// error.
inline decoder gpt2_config(const std::string& name) {
  input_file in(name);
  if (in.size() > 1'000'000) throw in.error("a configuration has less than a million bytes");
  const std::string text = in.take_text(in.size(), "the text");
  const auto error = [&](const std::string& why) {
    return file_error(fmt::format("wsl: {}: {}", name, why));
  };
  const auto json = nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
  if (!json.is_object()) throw error("this is no object in JSON");
  const auto whole = [&](const char* key, int otherwise) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return otherwise;
    if (!found->is_number_unsigned() || *found < 1u || *found > 1u << 24)
      throw error(fmt::format("'{}' should be a whole number from 1 to 2^24, not {}", key, found->dump()));
    return found->get<int>();
  };
  const auto is = [&](const char* key, const nlohmann::json& wanted) {
    if (const auto found = json.find(key); found != json.end() && *found != wanted)
      throw error(fmt::format("'{}' is {}; only {} is known here", key, found->dump(), wanted.dump()));
  };
  if (json.value("model_type", nlohmann::json()) != "gpt2") throw error("'model_type' is not \"gpt2\"");
  is("scale_attn_weights", true), is("scale_attn_by_inverse_layer_idx", false),
      is("add_cross_attention", false), is("tie_word_embeddings", true);
  decoder d{.vocabulary = whole("vocab_size", 50257),
            .positions = whole("n_positions", 1024),
            .layers = whole("n_layer", 12),
            .heads = whole("n_head", 12),
            .width = whole("n_embd", 768)};
  d.filter = whole("n_inner", 0);
  const auto activation = json.value("activation_function", nlohmann::json("gelu_new"));
  const auto* known = std::find_if(activation_names.begin(), activation_names.end(),
                                   [&](const activation_name& a) { return activation == a.name; });
  if (known == activation_names.end())
    throw error(fmt::format("'activation_function' is {}, which is not known here", activation.dump()));
  d.between = known->what;
  const auto epsilon = json.value("layer_norm_epsilon", nlohmann::json(1e-5)),
             deviation = json.value("initializer_range", nlohmann::json(0.02));
  if (!epsilon.is_number() || !deviation.is_number())
    throw error("'layer_norm_epsilon' and 'initializer_range' should be numbers");
  d.epsilon = epsilon.get<f32>(), d.deviation = deviation.get<f32>();
  if (d.width % d.heads)
    throw error(fmt::format("'n_head' {} does not divide 'n_embd' {}", d.heads, d.width));
  return d;
}

}  // namespace detail

/// A model that has been read from a folder.
class pretrained {
 public:
  decoder config;

  /// The weights of the network that `config` builds. Throws file_error for a tensor that is missing, has
  /// another shape, or is unknown.
  weights to_weights(const network& n) {
    weights w(n);
    std::vector<std::string> known;
    for (const detail::gpt2_tensor& t : detail::gpt2_tensors(config.layers)) {
      const std::size_t k = number_of(n, t.ours);
      const parameter& p = n.parameters()[k];
      const auto rows = static_cast<u64>(p.rows), columns = static_cast<u64>(p.columns);
      known.push_back(prefix_ + t.theirs);
      w[k] = in_.numbers(known.back(), t.shape(rows, columns));
      if (t.transposed) w[k] = detail::transposed(w[k], columns, rows);
    }
    for (const std::string& name : in_.names()) {
      if (std::find(known.begin(), known.end(), name) != known.end() || is_buffer(name)) continue;
      if (name != "lm_head.weight")
        throw file_error(fmt::format("wsl: {} has a tensor '{}' that GPT-2 has not", in_.name(), name));
      const auto& table = n.parameters()[0];
      if (in_.numbers(name, {static_cast<u64>(table.rows), static_cast<u64>(table.columns)}) != w[0])
        throw file_error(fmt::format(
            "wsl: {}: lm_head.weight differs from wte.weight; only tied tables are known here", in_.name()));
    }
    return w;
  }

 private:
  friend pretrained read_hugging_face(const std::string& folder);
  pretrained(decoder d, tensor_shards in)
      : config(d), in_(std::move(in)), prefix_(in_.has("wte.weight") ? "" : "transformer.") {}

  static std::size_t number_of(const network& n, const std::string& name) {
    for (std::size_t k = 0; k < n.parameters().size(); ++k)
      if (n.parameters()[k].name == name) return k;
    throw std::invalid_argument(
        fmt::format("wsl: this network has no '{}'; it is not the one that the configuration builds", name));
  }
  // Whether a tensor is one of the masks that older versions saved.
  static bool is_buffer(std::string_view name) {
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  }

  tensor_shards in_;
  std::string prefix_;
};

/// Reads config.json and the headers of model.safetensors, or of the files that model.safetensors.index.json
/// names. Names may begin with "transformer." or not. Throws file_error.
inline pretrained read_hugging_face(const std::string& folder) {
  const decoder d = detail::gpt2_config(folder + "/config.json");
  return {d, tensor_shards(folder)};
}

/// Writes a model for GPT2LMHeadModel.from_pretrained. A bias that the model lacks is written as zeros.
/// Throws std::invalid_argument if the model is not a GPT-2, file_error if the files cannot be
/// written.
inline void write_hugging_face(const std::string& folder, const decoder& d, const network& n,
                               const weights& w) {
  check_is_gpt2(d);
  const auto* activation =
      std::find_if(detail::activation_names.begin(), detail::activation_names.end(),
                   [&](const detail::activation_name& a) { return a.what == d.between; });
  if (activation == detail::activation_names.end())
    throw std::invalid_argument("wsl: GPT-2 of Hugging Face has no such nonlinearity");
  std::vector<std::vector<f32>> numbers;
  std::vector<tensor_view> tensors;
  const auto tables = detail::gpt2_tensors(d.layers);
  numbers.reserve(tables.size());
  std::size_t used = 0;
  for (const detail::gpt2_tensor& t : tables) {
    const auto& all = n.parameters();
    const auto p = std::find_if(all.begin(), all.end(), [&](const parameter& x) { return x.name == t.ours; });
    if (p != all.end()) {
      const auto rows = static_cast<std::size_t>(p->rows), columns = static_cast<std::size_t>(p->columns);
      const std::vector<f32>& x = w[static_cast<std::size_t>(p - all.begin())];
      numbers.push_back(t.transposed ? detail::transposed(x, rows, columns) : x);
      tensors.emplace_back("transformer." + t.theirs, t.shape(rows, columns), numbers.back());
      ++used;
    } else {
      // The weights of a layer come before its bias.
      if (!t.ours.ends_with(".bias"))
        throw std::invalid_argument(fmt::format("wsl: GPT-2 has '{}', this model has not", t.ours));
      numbers.emplace_back(static_cast<std::size_t>(tensors.back().shape.back()));
      tensors.emplace_back("transformer." + t.theirs, std::vector<u64>{numbers.back().size()},
                           numbers.back());
    }
  }
  if (used != n.parameters().size())
    throw std::invalid_argument("wsl: this model has parameters that GPT-2 has not");
  const nlohmann::json config{{"architectures", {"GPT2LMHeadModel"}},
                              {"model_type", "gpt2"},
                              {"vocab_size", d.vocabulary},
                              {"n_positions", d.positions},
                              {"n_ctx", d.positions},
                              {"n_embd", d.width},
                              {"n_layer", d.layers},
                              {"n_head", d.heads},
                              {"n_inner", d.filter ? nlohmann::json(d.filter) : nlohmann::json()},
                              {"activation_function", activation->name},
                              {"layer_norm_epsilon", d.epsilon},
                              {"initializer_range", d.deviation},
                              {"resid_pdrop", 0.},
                              {"embd_pdrop", 0.},
                              {"attn_pdrop", 0.},
                              {"scale_attn_weights", true},
                              {"tie_word_embeddings", true},
                              {"torch_dtype", "float32"}};
  std::error_code why;
  std::filesystem::create_directories(folder, why);
  if (why) throw std::runtime_error(fmt::format("wsl: cannot make the folder {}: {}", folder, why.message()));
  write_safetensors(folder + "/model.safetensors", std::move(tensors));
  support::write_whole_file(folder + "/config.json", config.dump(2) + "\n");
}

}  // namespace wsl::ml
