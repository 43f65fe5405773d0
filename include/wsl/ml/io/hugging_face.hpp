// SPDX-License-Identifier: MIT
// Models as Hugging Face's transformers keep them: a folder with config.json and model.safetensors, or
// several such files and their index. The families are in hugging_face/, one header each;
// docs/guide/data.md lists them. A model that has been read is a `decoder`, an `encoder` or an
// `encoder_decoder`, and goes back to the same tensors.
//   pretrained p = read_hugging_face("llama");
//   const network n = p.config.build();
//   const weights w = p.to_weights(n);
//   write_hugging_face("export", p.config, n, w);
//   writer text{p.config, p.mapped_weights(n)};                       // reads the weights where they lie
//   pretrained_encoder q = read_hugging_face<encoder>("bert");
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../model/decoder.hpp"
#include "../model/encoder.hpp"
#include "../model/encoder_decoder.hpp"
#include "../model/weights.hpp"
#include "mapped_weights.hpp"
#include "tensor_shards.hpp"

namespace wsl::ml {

struct hugging_face_settings;

namespace hugging_face {

/// A family of decoders, encoders or encoders with decoders: hugging_face/family.hpp.
template <class Model>
struct basic_family;
using family = basic_family<decoder>;
struct tensor_rule;

/// The parameter of a network that a rule is for; null if it has none of that name.
const parameter* find_parameter(const network& n, const std::string& name);

/// A tensor in the form of a family.
struct tensor {
  std::string name;
  std::vector<u64> shape;
  std::vector<f32> numbers;
};
/// The numbers of a model's parameters, or their gradients, as a family's tensors. A bias that the model
/// lacks, and the family has, is zeros. Throws std::invalid_argument if the network is not one of that
/// model, file_error if the family has nothing like it.
template <class Model>
std::vector<tensor> to_tensors(const basic_family<Model>& f, const Model& m, const network& n,
                               const weights& w);

/// The same by rules, which a family of that name has.
std::vector<tensor> to_tensors(const char* model_type, const std::vector<tensor_rule>& rules,
                               const network& n, const weights& w);

/// The tensors in the files of a model, whatever it is.
class model_files {
 public:
  /// Names may begin with the prefix or not; the first rule's tensor tells.
  model_files(std::string model_type, std::string prefix, const std::vector<tensor_rule>& rules,
              tensor_shards in);

  const std::string& model_type() const { return model_type_; }
  /// Throws file_error if the files have another number of layers than the configuration, before a network is
  /// built of these.
  void check_layers(int layers) const;
  /// The weights of a network by the rules. Tensors of a task that the files lack are those of `otherwise`,
  /// if it is given, and those of other tasks are left out. Throws file_error.
  weights to_weights(const network& n, const std::vector<tensor_rule>& rules, const weights* otherwise);
  stored_weights mapped_weights(const network& n, const std::vector<tensor_rule>& rules);

 private:
  /// Calls f(rule, number of the parameter, name in the file) for each tensor that the network needs, and
  /// checks the others.
  template <class F>
  void each_tensor(const network& n, const std::vector<tensor_rule>& rules, bool any_task, F f);
  std::string in_file(const std::string& name) const;
  /// A second name of a parameter has the same numbers.
  void check_copy(const tensor_rule& copy, const std::vector<tensor_rule>& rules, const network& n);
  bool is_of_a_task(const std::string& name) const;
  /// Whether the files have this layer of a task, with as many classes.
  bool is_layer_of(const tensor_rule& r, const parameter& p, const std::string& name);
  /// The first number between dots, as in "model.layers.1.mlp.up_proj.weight"; -1 if there is none.
  static int layer_of(std::string_view name);
  // Whether a tensor is a mask or a table that transformers compute, which older versions saved.
  static bool is_buffer(std::string_view name);

  std::string model_type_, prefix_;
  tensor_shards in_;
  bool has_prefix_ = true;
};

/// Writes the files of a folder. Throws file_error.
void write_model_files(const std::string& folder, const std::vector<tensor>& tensors, nlohmann::json config,
                       const hugging_face_settings& how);

}  // namespace hugging_face

template <class Model>
class basic_pretrained;
/// Reads config.json and the headers of model.safetensors, or of the files that model.safetensors.index.json
/// names. Throws file_error, also for a model of another kind.
template <class Model = decoder>
basic_pretrained<Model> read_hugging_face(const std::string& folder);

/// A model that has been read from a folder.
template <class Model>
class basic_pretrained {
 public:
  Model config;

  /// The family of the model: `model_type` of its config.json.
  const char* model_type() const;

  /// The weights of the network that `config` builds. `rotary_pairs` of a decoder may have been set to the
  /// other kind: rows of queries and keys are permuted. Throws file_error for a tensor that is missing, has
  /// another shape, or is unknown.
  weights to_weights(const network& n);
  /// The same for a network whose task need not be that of the files, such as an encoder whose
  /// `config.task` has been changed: what only another task has is left out, and the layers of this one
  /// that the files lack, or have for other classes, have the numbers of `otherwise`, such as a new
  /// model's.
  weights to_weights(const network& n, const weights& otherwise);
  /// The same weights where they lie in the files, which are mapped: what a writer of text takes its parts
  /// from. Throws what to_weights throws.
  stored_weights mapped_weights(const network& n);

 private:
  friend basic_pretrained read_hugging_face<Model>(const std::string& folder);
  basic_pretrained(const hugging_face::basic_family<Model>& f, Model m, tensor_shards in);
  std::vector<hugging_face::tensor_rule> rules() const;

  Model of_files_;  ///< before `config` was changed
  const hugging_face::basic_family<Model>* family_;
  hugging_face::model_files files_;
};
using pretrained = basic_pretrained<decoder>;
using pretrained_encoder = basic_pretrained<encoder>;
using pretrained_encoder_decoder = basic_pretrained<encoder_decoder>;

/// The family and the model of a config.json. Throws file_error, also for a model of another kind.
template <class Model = decoder>
std::pair<const hugging_face::basic_family<Model>*, Model> read_hugging_face_config(const std::string& name);

/// The numbers of a model's parameters, or their gradients, as the tensors of the family of that name
/// (hugging_face::to_tensors). Throws std::invalid_argument if there is no such family.
template <class Model>
std::vector<hugging_face::tensor> hugging_face_tensors(const std::string& model_type, const Model& m,
                                                       const network& n, const weights& w);

/// Why no family has a model; empty if one has.
template <class Model>
std::string why_no_hugging_face(const Model& m);

/// The form in which a model is written.
struct hugging_face_settings {
  std::string model_type = {};  ///< the family; empty: the first that has the model
  u64 largest_file = 0;         ///< a model of more bytes is written to several files and an index; 0: never
  /// Tokens by the names of config.json, such as "eos_token_id", in place of the family's usual ones.
  std::vector<std::pair<std::string, i32>> tokens = {};
  /// The names of the classes in the order of their numbers (id2label, label2id); empty: LABEL_0 and so on.
  std::vector<std::string> classes = {};
  std::string companions = {};  ///< the folder of which tokenizer and settings of generation are copied
};

/// Writes a model for from_pretrained of transformers. A bias that the model lacks, and its family has, is
/// written as zeros. Throws std::invalid_argument if the family does not have the model, or none has, and
/// file_error if the files cannot be written.
template <class Model>
void write_hugging_face(const std::string& folder, const Model& m, const network& n, const weights& w,
                        const hugging_face_settings& how = {});

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "hugging_face/pretrained.hpp"
#endif
