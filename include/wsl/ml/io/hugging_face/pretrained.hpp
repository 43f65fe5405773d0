// SPDX-License-Identifier: MIT
// Reads and writes models of Hugging Face's transformers, for ../hugging_face.hpp: a part of the library that
// can be compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "../hugging_face.hpp"
#include "companions.hpp"
#include "match.hpp"

namespace wsl::ml {

namespace hugging_face {

WSL_ML_DATA_COMPILED_PART const parameter* find_parameter(const network& n, const std::string& name) {
  const auto& all = n.parameters();
  const auto p = std::find_if(all.begin(), all.end(), [&](const parameter& x) { return x.name == name; });
  return p == all.end() ? nullptr : &*p;
}

template <class Model>
std::vector<tensor> to_tensors(const basic_family<Model>& f, const Model& m, const network& n,
                               const weights& w) {
  Model read_back = as_in_family(f, m);  // with all biases that config.json will promise
  keep_what_is_free(read_back, m);
  return to_tensors(f.model_type, f.tensors(read_back), n, w);
}

WSL_ML_DATA_COMPILED_PART std::vector<tensor> to_tensors(const char* model_type,
                                                         const std::vector<tensor_rule>& rules,
                                                         const network& n, const weights& w) {
  std::vector<tensor> all;
  std::set<const parameter*> used;
  u64 outputs = 0;  // of the last layer, whose bias comes after its weights
  for (const tensor_rule& r : rules) {
    if (r.is_copy) continue;
    if (const parameter* p = find_parameter(n, r.ours)) {
      const std::vector<f32>& x = w[static_cast<std::size_t>(p - n.parameters().data())];
      all.push_back({r.theirs, r.shape(*p), r.to_theirs(*p, x)});
      used.insert(p), outputs = r.count(*p);
    } else if (r.ours.ends_with(".bias"))
      all.push_back({r.theirs, {outputs}, std::vector<f32>(static_cast<std::size_t>(outputs))});
    else throw std::invalid_argument(fmt::format("wsl: {} has '{}', this model has not", model_type, r.ours));
  }
  for (const parameter& p : n.parameters())
    if (!used.contains(&p))
      throw std::invalid_argument(
          fmt::format("wsl: this model has a parameter '{}' that {} has not", p.name, model_type));
  return all;
}

WSL_ML_DATA_COMPILED_PART model_files::model_files(std::string model_type, std::string prefix,
                                                   const std::vector<tensor_rule>& rules, tensor_shards in)
    : model_type_(std::move(model_type)), prefix_(std::move(prefix)), in_(std::move(in)) {
  has_prefix_ = in_.has(rules.front().theirs);
}

template <class F>
void model_files::each_tensor(const network& n, const std::vector<tensor_rule>& rules, bool any_task, F f) {
  std::set<std::string> known;
  for (const tensor_rule& r : rules) {
    const parameter* p = find_parameter(n, r.ours);
    if (!p)
      throw std::invalid_argument(fmt::format(
          "wsl: this network has no '{}'; it is not the one that the configuration builds", r.ours));
    const std::string name = in_file(r.theirs);
    known.insert(name);
    if (r.is_copy) {
      if (in_.has(name)) check_copy(r, rules, n);
    } else if (!any_task || !r.is_of_task || is_layer_of(r, *p, name))
      f(r, static_cast<std::size_t>(p - n.parameters().data()), name);
  }
  for (const std::string& name : in_.names())
    if (!known.contains(name) && !is_buffer(name) && !(any_task && is_of_a_task(name)))
      throw file_error(
          fmt::format("wsl: {} has a tensor '{}' that {} has not", in_.name(), name, model_type_));
}

WSL_ML_DATA_COMPILED_PART weights model_files::to_weights(const network& n,
                                                          const std::vector<tensor_rule>& rules,
                                                          const weights* otherwise) {
  weights w = otherwise ? *otherwise : weights(n);
  each_tensor(n, rules, otherwise, [&](const tensor_rule& r, std::size_t k, const std::string& name) {
    const parameter& p = n.parameters()[k];
    r.from_theirs(p, w[k], in_.numbers(name, r.shape(p)));
  });
  return w;
}

WSL_ML_DATA_COMPILED_PART stored_weights model_files::mapped_weights(const network& n,
                                                                     const std::vector<tensor_rule>& rules) {
  stored_weights w(n);
  file_mapper files(w);
  each_tensor(n, rules, false, [&](const tensor_rule& r, std::size_t k, const std::string& name) {
    const parameter& p = n.parameters()[k];
    safetensors_file& in = in_.file_of(name);
    const tensor_info& t = in.get(name, r.shape(p));
    if (r.is_vector()) r.from_theirs(p, files.vector(k, static_cast<std::size_t>(p.size())), in.numbers(t));
    else files.add(k, in, t, r.rows, r.transposed);
  });
  w.complete();
  return w;
}

WSL_ML_DATA_COMPILED_PART void model_files::check_layers(int layers) const {
  int found = 0;
  for (const std::string& name : in_.names()) found = std::max(found, 1 + layer_of(name));
  if (found && found != layers)
    throw file_error(
        fmt::format("wsl: {} has the tensors of {} layers, and config.json says {}: take the "
                    "files of one model",
                    in_.name(), found, layers));
}

WSL_ML_DATA_COMPILED_PART int model_files::layer_of(std::string_view name) {
  for (std::size_t at = name.find('.'); at != name.npos; at = name.find('.', at + 1)) {
    int layer = 0;
    const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), layer);
    if (error == std::errc{} && layer >= 0 && end != name.data() + name.size() && *end == '.') return layer;
  }
  return -1;
}

WSL_ML_DATA_COMPILED_PART std::string model_files::in_file(const std::string& name) const {
  return has_prefix_ || !name.starts_with(prefix_) ? name : name.substr(prefix_.size());
}

WSL_ML_DATA_COMPILED_PART void model_files::check_copy(const tensor_rule& copy,
                                                       const std::vector<tensor_rule>& rules,
                                                       const network& n) {
  const auto original = std::find_if(rules.begin(), rules.end(),
                                     [&](const tensor_rule& r) { return !r.is_copy && r.ours == copy.ours; });
  const std::vector<u64> shape = copy.shape(*find_parameter(n, copy.ours));
  const std::string name = in_file(copy.theirs), other = in_file(original->theirs);
  if (in_.has(other) && in_.numbers(name, shape) != in_.numbers(other, shape))
    throw file_error(
        fmt::format("wsl: {}: {} differs from {}, though config.json says that they are "
                    "tied: set 'tie_word_embeddings' to false",
                    in_.name(), name, copy.ours == "embedding.tokens" ? "the table of tokens" : other));
}

WSL_ML_DATA_COMPILED_PART bool model_files::is_layer_of(const tensor_rule& r, const parameter& p,
                                                        const std::string& name) {
  if (r.is_fresh || !in_.has(name)) return false;
  const tensor_info* const t = in_.file_of(name).find(name);
  return t && t->shape == r.shape(p);
}

WSL_ML_DATA_COMPILED_PART bool model_files::is_of_a_task(const std::string& name) const {
  constexpr std::string_view pooler = "pooler.";
  if (has_prefix_ && !name.starts_with(prefix_)) return true;
  return std::string_view(name).substr(has_prefix_ ? prefix_.size() : 0).starts_with(pooler);
}

WSL_ML_DATA_COMPILED_PART bool model_files::is_buffer(std::string_view name) {
  for (const char* end :
       {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias", ".attn.causal_mask",
        ".rotary_emb.inv_freq", "relative_pe.slopes", "embeddings.position_ids", "embeddings.token_type_ids"})
    if (name.ends_with(end)) return true;
  return false;
}

inline int most_layers(const decoder& d) { return d.layers; }
inline int most_layers(const encoder& e) { return e.layers; }
inline int most_layers(const encoder_decoder& m) { return std::max(m.layers, m.layers_of_decoder()); }

/// Marks the layers that have another meaning for the task of a model than for that of its files.
inline void mark_fresh(std::vector<tensor_rule>& rules, const encoder& of_files, const encoder& now) {
  if (of_files.task == now.task) return;
  for (tensor_rule& r : rules) r.is_fresh = r.is_of_task && r.ours.starts_with("classifier.");
}
template <class Model>
void mark_fresh(std::vector<tensor_rule>&, const Model&, const Model&) {}

/// The rules of a model. If its head is the table of tokens, files may have that a second time.
template <class Model>
std::vector<tensor_rule> rules_of(const basic_family<Model>& f, const Model& m) {
  tensor_rules r{f.tensors(m)};
  if (f.head &&
      std::none_of(r.all.begin(), r.all.end(), [&](const tensor_rule& x) { return x.theirs == f.head; }))
    r.copy(f.head, "embedding.tokens");
  return std::move(r.all);
}

WSL_ML_DATA_COMPILED_PART void write_model_files(const std::string& folder,
                                                 const std::vector<tensor>& tensors, json config,
                                                 const hugging_face_settings& how) {
  std::vector<tensor_view> views;
  for (const tensor& t : tensors) views.emplace_back(t.name, t.shape, t.numbers);
  std::error_code why;
  std::filesystem::create_directories(folder, why);
  if (why) throw std::runtime_error(fmt::format("wsl: cannot make the folder {}: {}", folder, why.message()));
  if (!how.companions.empty()) config.update(copy_companions(how.companions, folder));
  for (const auto& [name, id] : how.tokens) config[name] = id;
  // No configuration is there while there may be tensors of two models.
  std::filesystem::remove(folder + "/config.json", why);
  write_tensor_shards(folder, std::move(views), how.largest_file);
  support::write_whole_file(folder + "/config.json", config.dump(2) + "\n");
}

}  // namespace hugging_face

template <class Model>
basic_pretrained<Model>::basic_pretrained(const hugging_face::basic_family<Model>& f, Model m,
                                          tensor_shards in)
    : config(m),
      of_files_(std::move(m)),
      family_(&f),
      files_(f.model_type, f.prefix, f.tensors(config), std::move(in)) {
  files_.check_layers(hugging_face::most_layers(config));
}

template <class Model>
std::vector<hugging_face::tensor_rule> basic_pretrained<Model>::rules() const {
  std::vector<hugging_face::tensor_rule> all = hugging_face::rules_of(*family_, config);
  hugging_face::mark_fresh(all, of_files_, config);
  return all;
}
template <class Model>
const char* basic_pretrained<Model>::model_type() const {
  return family_->model_type;
}
template <class Model>
weights basic_pretrained<Model>::to_weights(const network& n) {
  return files_.to_weights(n, rules(), nullptr);
}
template <class Model>
weights basic_pretrained<Model>::to_weights(const network& n, const weights& otherwise) {
  return files_.to_weights(n, rules(), &otherwise);
}
template <class Model>
stored_weights basic_pretrained<Model>::mapped_weights(const network& n) {
  return files_.mapped_weights(n, rules());
}

template <class Model>
std::pair<const hugging_face::basic_family<Model>*, Model> read_hugging_face_config(const std::string& name) {
  using namespace hugging_face;
  const config_file c(name);
  const std::string type = c.text("model_type", "");
  if (const basic_family<Model>* f = find_family<Model>(type)) return {f, f->read(c)};
  const char* const other = kind_of_family(type);
  throw c.error("'model_type' is {}{}; known are {}", printable(type),
                other ? fmt::format(", {}, and here it should be {}", other, kind<Model>::name) : "",
                family_names<Model>());
}

template <class Model>
basic_pretrained<Model> read_hugging_face(const std::string& folder) {
  const auto [f, m] = read_hugging_face_config<Model>(folder + "/config.json");
  return {*f, m, tensor_shards(folder)};
}

template <class Model>
std::vector<hugging_face::tensor> hugging_face_tensors(const std::string& model_type, const Model& m,
                                                       const network& n, const weights& w) {
  return hugging_face::to_tensors(hugging_face::family_called<Model>(model_type), m, n, w);
}

template <class Model>
std::string why_no_hugging_face(const Model& m) {
  using namespace hugging_face;
  if (family_of(m)) return "";
  std::string nearest, what;
  for (const basic_family<Model>* f : kind<Model>::families)
    if (const std::string lacking = lacks(*f, m); nearest.empty() || lacking.size() < what.size())
      nearest = f->model_type, what = lacking;
  return fmt::format("no family of Hugging Face has this model; the nearest, {}, does not have {}", nearest,
                     what);
}

template <class Model>
void write_hugging_face(const std::string& folder, const Model& m, const network& n, const weights& w,
                        const hugging_face_settings& how) {
  using namespace hugging_face;
  const basic_family<Model>* f =
      how.model_type.empty() ? family_of(m) : &family_called<Model>(how.model_type);
  if (!f) throw std::invalid_argument("wsl: " + why_no_hugging_face(m));
  if (const std::string lacking = lacks(*f, m); !lacking.empty())
    throw std::invalid_argument(fmt::format("wsl: {} does not have this model: {}", f->model_type, lacking));
  json config = f->write(m);
  config["model_type"] = f->model_type, config["torch_dtype"] = "float32";
  if (!config.contains("architectures")) config["architectures"] = {f->architecture};
  if (!how.classes.empty()) {
    config["id2label"] = config["label2id"] = json::object();
    for (std::size_t k = 0; k < how.classes.size(); ++k)
      config["id2label"][std::to_string(k)] = how.classes[k], config["label2id"][how.classes[k]] = k;
  }
  write_model_files(folder, to_tensors(*f, m, n, w), std::move(config), how);
}

#ifdef WSL_ML_DATA_COMPILED
template class basic_pretrained<decoder>;
template basic_pretrained<decoder> read_hugging_face(const std::string&);
template std::pair<const hugging_face::basic_family<decoder>*, decoder> read_hugging_face_config(
    const std::string&);
template std::vector<hugging_face::tensor> hugging_face_tensors(const std::string&, const decoder&,
                                                                const network&, const weights&);
template std::string why_no_hugging_face(const decoder&);
template void write_hugging_face(const std::string&, const decoder&, const network&, const weights&,
                                 const hugging_face_settings&);
template std::vector<hugging_face::tensor> hugging_face::to_tensors(const basic_family<decoder>&,
                                                                    const decoder&, const network&,
                                                                    const weights&);
template class basic_pretrained<encoder>;
template basic_pretrained<encoder> read_hugging_face(const std::string&);
template std::pair<const hugging_face::basic_family<encoder>*, encoder> read_hugging_face_config(
    const std::string&);
template std::vector<hugging_face::tensor> hugging_face_tensors(const std::string&, const encoder&,
                                                                const network&, const weights&);
template std::string why_no_hugging_face(const encoder&);
template void write_hugging_face(const std::string&, const encoder&, const network&, const weights&,
                                 const hugging_face_settings&);
template std::vector<hugging_face::tensor> hugging_face::to_tensors(const basic_family<encoder>&,
                                                                    const encoder&, const network&,
                                                                    const weights&);
template class basic_pretrained<encoder_decoder>;
template basic_pretrained<encoder_decoder> read_hugging_face(const std::string&);
template std::pair<const hugging_face::basic_family<encoder_decoder>*, encoder_decoder>
read_hugging_face_config(const std::string&);
template std::vector<hugging_face::tensor> hugging_face_tensors(const std::string&, const encoder_decoder&,
                                                                const network&, const weights&);
template std::string why_no_hugging_face(const encoder_decoder&);
template void write_hugging_face(const std::string&, const encoder_decoder&, const network&, const weights&,
                                 const hugging_face_settings&);
template std::vector<hugging_face::tensor> hugging_face::to_tensors(const basic_family<encoder_decoder>&,
                                                                    const encoder_decoder&, const network&,
                                                                    const weights&);
#endif

}  // namespace wsl::ml
