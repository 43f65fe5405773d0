// SPDX-License-Identifier: MIT
// Causal language models as Hugging Face's transformers keep them: a folder with config.json and
// model.safetensors, or several such files and their index. The families are in hugging_face/, one header
// each; docs/guide/data.md lists them. A model that has been read is a `decoder`, and goes back to the same
// tensors.
//   pretrained p = read_hugging_face("llama");
//   const network n = p.config.build();
//   const weights w = p.to_weights(n);
//   write_hugging_face("export", p.config, n, w);
//   writer text{p.config, p.mapped_weights(n)};                       // reads the weights where they lie
#pragma once
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "../model/weights.hpp"
#include "hugging_face/companions.hpp"
#include "hugging_face/match.hpp"
#include "mapped_weights.hpp"
#include "tensor_shards.hpp"

namespace wsl::ml {

namespace hugging_face {

/// The parameter of a network that a rule is for; null if it has none of that name.
inline const parameter* find_parameter(const network& n, const std::string& name) {
  const auto& all = n.parameters();
  const auto p = std::find_if(all.begin(), all.end(), [&](const parameter& x) { return x.name == name; });
  return p == all.end() ? nullptr : &*p;
}

/// A tensor in the form of a family.
struct tensor {
  std::string name;
  std::vector<u64> shape;
  std::vector<f32> numbers;
};
/// The numbers of a model's parameters, or their gradients, as a family's tensors. A bias that the model
/// lacks, and the family has, is zeros. Throws std::invalid_argument if the network is not one of that
/// decoder, file_error if the family has nothing like it.
inline std::vector<tensor> to_tensors(const family& f, const decoder& d, const network& n, const weights& w) {
  std::vector<tensor> all;
  std::set<const parameter*> used;
  u64 outputs = 0;                         // of the last layer, whose bias comes after its weights
  decoder read_back = as_in_family(f, d);  // with all biases that config.json will promise
  read_back.rotary_pairs = d.rotary_pairs;
  for (const tensor_rule& r : f.tensors(read_back)) {
    if (const parameter* p = find_parameter(n, r.ours)) {
      const std::vector<f32>& x = w[static_cast<std::size_t>(p - n.parameters().data())];
      all.push_back({r.theirs, r.shape(*p), r.to_theirs(*p, x)});
      used.insert(p), outputs = r.count(*p);
    } else if (r.ours.ends_with(".bias"))
      all.push_back({r.theirs, {outputs}, std::vector<f32>(static_cast<std::size_t>(outputs))});
    else
      throw std::invalid_argument(fmt::format("wsl: {} has '{}', this model has not", f.model_type, r.ours));
  }
  for (const parameter& p : n.parameters())
    if (!used.contains(&p))
      throw std::invalid_argument(
          fmt::format("wsl: this model has a parameter '{}' that {} has not", p.name, f.model_type));
  return all;
}

}  // namespace hugging_face

/// A model that has been read from a folder.
class pretrained {
 public:
  decoder config;

  /// The family of the model: `model_type` of its config.json.
  const char* model_type() const { return family_->model_type; }

  /// The weights of the network that `config` builds. Its `rotary_pairs` may have been set to the other kind:
  /// rows of queries and keys are permuted. Throws file_error for a tensor that is missing, has another
  /// shape, or is unknown.
  weights to_weights(const network& n) {
    weights w(n);
    each_tensor(n, [&](const hugging_face::tensor_rule& r, std::size_t k, const std::string& name) {
      const parameter& p = n.parameters()[k];
      r.from_theirs(p, w[k], in_.numbers(name, r.shape(p)));
    });
    return w;
  }
  /// The same weights where they lie in the files, which are mapped: what a writer of text takes its parts
  /// from. Throws what to_weights throws.
  stored_weights mapped_weights(const network& n) {
    stored_weights w(n);
    file_mapper files(w);
    each_tensor(n, [&](const hugging_face::tensor_rule& r, std::size_t k, const std::string& name) {
      const parameter& p = n.parameters()[k];
      safetensors_file& in = in_.file_of(name);
      const tensor_info& t = in.get(name, r.shape(p));
      if (r.is_vector()) r.from_theirs(p, files.vector(k, static_cast<std::size_t>(p.size())), in.numbers(t));
      else files.add(k, in, t, r.rows, r.transposed);
    });
    w.complete();
    return w;
  }

 private:
  friend pretrained read_hugging_face(const std::string& folder);
  pretrained(const hugging_face::family& f, decoder d, tensor_shards in)
      : config(d), family_(&f), in_(std::move(in)) {
    check_layers();
    has_prefix_ = in_.has(f.tensors(config).front().theirs);
  }

  /// Throws file_error if the files have another number of layers than the configuration, before a network is
  /// built of these.
  void check_layers() const {
    int layers = 0;
    for (const std::string& name : in_.names()) layers = std::max(layers, 1 + layer_of(name));
    if (layers && layers != config.layers)
      throw file_error(
          fmt::format("wsl: {} has the tensors of {} layers, and config.json says {}: take the "
                      "files of one model",
                      in_.name(), layers, config.layers));
  }
  /// The first number between dots, as in "model.layers.1.mlp.up_proj.weight"; -1 if there is none.
  static int layer_of(std::string_view name) {
    for (std::size_t at = name.find('.'); at != name.npos; at = name.find('.', at + 1)) {
      int layer = 0;
      const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), layer);
      if (error == std::errc{} && layer >= 0 && end != name.data() + name.size() && *end == '.') return layer;
    }
    return -1;
  }

  /// Calls f(rule, number of the parameter, name in the file) for each tensor that the network needs, and
  /// checks the others. Throws file_error.
  template <class F>
  void each_tensor(const network& n, F f) {
    std::set<std::string> known;
    for (const hugging_face::tensor_rule& r : family_->tensors(config)) {
      const parameter* p = hugging_face::find_parameter(n, r.ours);
      if (!p)
        throw std::invalid_argument(fmt::format(
            "wsl: this network has no '{}'; it is not the one that the configuration builds", r.ours));
      const std::string name = in_file(r.theirs);
      known.insert(name);
      f(r, static_cast<std::size_t>(p - n.parameters().data()), name);
    }
    for (const std::string& name : in_.names())
      if (!known.contains(name) && !is_buffer(name)) check_tied(name, n);
  }
  /// Names may begin with the family's prefix or not.
  std::string in_file(const std::string& name) const {
    return has_prefix_ || !name.starts_with(family_->prefix) ? name
                                                             : name.substr(std::strlen(family_->prefix));
  }
  /// A tensor without a parameter of its own must be the head of a tied model, equal to the table of tokens.
  void check_tied(const std::string& name, const network& n) {
    if (name != family_->head)
      throw file_error(
          fmt::format("wsl: {} has a tensor '{}' that {} has not", in_.name(), name, family_->model_type));
    const parameter& table = n.parameters()[0];
    const std::vector<u64> shape{static_cast<u64>(table.rows), static_cast<u64>(table.columns)};
    if (in_.numbers(name, shape) != in_.numbers(in_file(table_of_tokens()), shape))
      throw file_error(
          fmt::format("wsl: {}: {} differs from the table of tokens, though config.json says that they are "
                      "tied: set 'tie_word_embeddings' to false",
                      in_.name(), name));
  }
  std::string table_of_tokens() const {
    for (const hugging_face::tensor_rule& r : family_->tensors(config))
      if (r.ours == "embedding.tokens") return r.theirs;
    return "";
  }
  // Whether a tensor is a mask or a table that transformers compute, which older versions saved.
  static bool is_buffer(std::string_view name) {
    for (const char* end : {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
                            ".attn.causal_mask", ".rotary_emb.inv_freq", "relative_pe.slopes"})
      if (name.ends_with(end)) return true;
    return false;
  }

  const hugging_face::family* family_;
  tensor_shards in_;
  bool has_prefix_ = true;
};

/// The family and the decoder of a config.json. Throws file_error.
inline std::pair<const hugging_face::family*, decoder> read_hugging_face_config(const std::string& name) {
  const hugging_face::config_file c(name);
  const std::string type = c.text("model_type", "");
  const hugging_face::family* f = hugging_face::find_family(type);
  if (!f)
    throw c.error("'model_type' is {}; known are {}", hugging_face::printable(type),
                  hugging_face::family_names());
  return {f, f->read(c)};
}

/// Reads config.json and the headers of model.safetensors, or of the files that model.safetensors.index.json
/// names. Throws file_error.
inline pretrained read_hugging_face(const std::string& folder) {
  const auto [f, d] = read_hugging_face_config(folder + "/config.json");
  return {*f, d, tensor_shards(folder)};
}

/// Why no family has a decoder; empty if one has.
inline std::string why_no_hugging_face(const decoder& d) {
  using namespace hugging_face;
  if (family_of(d)) return "";
  std::string nearest, what;
  for (const family* f : families)
    if (const std::string lacking = lacks(*f, d); nearest.empty() || lacking.size() < what.size())
      nearest = f->model_type, what = lacking;
  return fmt::format("no family of Hugging Face has this model; the nearest, {}, does not have {}", nearest,
                     what);
}

/// The form in which a model is written.
struct hugging_face_settings {
  std::string model_type = {};  ///< the family; empty: the first that has the model
  u64 largest_file = 0;         ///< a model of more bytes is written to several files and an index; 0: never
  std::string companions = {};  ///< the folder of which tokenizer and settings of generation are copied
};

/// Writes a model for from_pretrained of transformers. A bias that the model lacks, and its family has, is
/// written as zeros. Throws std::invalid_argument if the family does not have the model, or none has, and
/// file_error if the files cannot be written.
inline void write_hugging_face(const std::string& folder, const decoder& d, const network& n,
                               const weights& w, const hugging_face_settings& how = {}) {
  using namespace hugging_face;
  const family* f = how.model_type.empty() ? family_of(d) : find_family(how.model_type);
  if (!f && how.model_type.empty()) throw std::invalid_argument("wsl: " + why_no_hugging_face(d));
  if (!f)
    throw std::invalid_argument(
        fmt::format("wsl: there is no family '{}'; known are {}", how.model_type, family_names()));
  if (const std::string lacking = lacks(*f, d); !lacking.empty())
    throw std::invalid_argument(fmt::format("wsl: {} does not have this model: {}", f->model_type, lacking));
  const std::vector<tensor> tensors = to_tensors(*f, d, n, w);
  std::vector<tensor_view> views;
  for (const tensor& t : tensors) views.emplace_back(t.name, t.shape, t.numbers);
  json config = f->write(d);
  config["model_type"] = f->model_type, config["architectures"] = {f->architecture};
  config["torch_dtype"] = "float32";
  std::error_code why;
  std::filesystem::create_directories(folder, why);
  if (why) throw std::runtime_error(fmt::format("wsl: cannot make the folder {}: {}", folder, why.message()));
  if (!how.companions.empty()) config.update(copy_companions(how.companions, folder));
  // No configuration is there while there may be tensors of two models.
  std::filesystem::remove(folder + "/config.json", why);
  write_tensor_shards(folder, std::move(views), how.largest_file);
  support::write_whole_file(folder + "/config.json", config.dump(2) + "\n");
}

}  // namespace wsl::ml
