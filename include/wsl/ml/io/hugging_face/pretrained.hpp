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

WSL_ML_DATA_COMPILED_PART std::vector<tensor> to_tensors(const family& f, const decoder& d, const network& n,
                                                         const weights& w) {
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

template <class F>
void pretrained::each_tensor(const network& n, F f) {
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

WSL_ML_DATA_COMPILED_PART weights pretrained::to_weights(const network& n) {
  weights w(n);
  each_tensor(n, [&](const hugging_face::tensor_rule& r, std::size_t k, const std::string& name) {
    const parameter& p = n.parameters()[k];
    r.from_theirs(p, w[k], in_.numbers(name, r.shape(p)));
  });
  return w;
}

WSL_ML_DATA_COMPILED_PART stored_weights pretrained::mapped_weights(const network& n) {
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

WSL_ML_DATA_COMPILED_PART pretrained::pretrained(const hugging_face::family& f, decoder d, tensor_shards in)
    : config(d), family_(&f), in_(std::move(in)) {
  check_layers();
  has_prefix_ = in_.has(f.tensors(config).front().theirs);
}

WSL_ML_DATA_COMPILED_PART void pretrained::check_layers() const {
  int layers = 0;
  for (const std::string& name : in_.names()) layers = std::max(layers, 1 + layer_of(name));
  if (layers && layers != config.layers)
    throw file_error(
        fmt::format("wsl: {} has the tensors of {} layers, and config.json says {}: take the "
                    "files of one model",
                    in_.name(), layers, config.layers));
}

WSL_ML_DATA_COMPILED_PART int pretrained::layer_of(std::string_view name) {
  for (std::size_t at = name.find('.'); at != name.npos; at = name.find('.', at + 1)) {
    int layer = 0;
    const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), layer);
    if (error == std::errc{} && layer >= 0 && end != name.data() + name.size() && *end == '.') return layer;
  }
  return -1;
}

WSL_ML_DATA_COMPILED_PART std::string pretrained::in_file(const std::string& name) const {
  return has_prefix_ || !name.starts_with(family_->prefix) ? name : name.substr(std::strlen(family_->prefix));
}

WSL_ML_DATA_COMPILED_PART void pretrained::check_tied(const std::string& name, const network& n) {
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

WSL_ML_DATA_COMPILED_PART std::string pretrained::table_of_tokens() const {
  for (const hugging_face::tensor_rule& r : family_->tensors(config))
    if (r.ours == "embedding.tokens") return r.theirs;
  return "";
}

WSL_ML_DATA_COMPILED_PART bool pretrained::is_buffer(std::string_view name) {
  for (const char* end : {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
                          ".attn.causal_mask", ".rotary_emb.inv_freq", "relative_pe.slopes"})
    if (name.ends_with(end)) return true;
  return false;
}

WSL_ML_DATA_COMPILED_PART const char* pretrained::model_type() const { return family_->model_type; }

WSL_ML_DATA_COMPILED_PART std::pair<const hugging_face::family*, decoder> read_hugging_face_config(
    const std::string& name) {
  const hugging_face::config_file c(name);
  const std::string type = c.text("model_type", "");
  const hugging_face::family* f = hugging_face::find_family(type);
  if (!f)
    throw c.error("'model_type' is {}; known are {}", hugging_face::printable(type),
                  hugging_face::family_names());
  return {f, f->read(c)};
}

WSL_ML_DATA_COMPILED_PART pretrained read_hugging_face(const std::string& folder) {
  const auto [f, d] = read_hugging_face_config(folder + "/config.json");
  return {*f, d, tensor_shards(folder)};
}

WSL_ML_DATA_COMPILED_PART std::string why_no_hugging_face(const decoder& d) {
  using namespace hugging_face;
  if (family_of(d)) return "";
  std::string nearest, what;
  for (const family* f : families)
    if (const std::string lacking = lacks(*f, d); nearest.empty() || lacking.size() < what.size())
      nearest = f->model_type, what = lacking;
  return fmt::format("no family of Hugging Face has this model; the nearest, {}, does not have {}", nearest,
                     what);
}

WSL_ML_DATA_COMPILED_PART void write_hugging_face(const std::string& folder, const decoder& d,
                                                  const network& n, const weights& w,
                                                  const hugging_face_settings& how) {
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
