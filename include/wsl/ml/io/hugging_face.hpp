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
#include <string>
#include <utility>
#include <vector>

#include "../model/decoder.hpp"
#include "../model/weights.hpp"
#include "mapped_weights.hpp"
#include "tensor_shards.hpp"

namespace wsl::ml {

namespace hugging_face {

struct family;  // hugging_face/family.hpp

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
/// decoder, file_error if the family has nothing like it.
std::vector<tensor> to_tensors(const family& f, const decoder& d, const network& n, const weights& w);

}  // namespace hugging_face

/// A model that has been read from a folder.
class pretrained {
 public:
  decoder config;

  /// The family of the model: `model_type` of its config.json.
  const char* model_type() const;

  /// The weights of the network that `config` builds. Its `rotary_pairs` may have been set to the other kind:
  /// rows of queries and keys are permuted. Throws file_error for a tensor that is missing, has another
  /// shape, or is unknown.
  weights to_weights(const network& n);
  /// The same weights where they lie in the files, which are mapped: what a writer of text takes its parts
  /// from. Throws what to_weights throws.
  stored_weights mapped_weights(const network& n);

 private:
  friend pretrained read_hugging_face(const std::string& folder);
  pretrained(const hugging_face::family& f, decoder d, tensor_shards in);

  /// Throws file_error if the files have another number of layers than the configuration, before a network is
  /// built of these.
  void check_layers() const;
  /// The first number between dots, as in "model.layers.1.mlp.up_proj.weight"; -1 if there is none.
  static int layer_of(std::string_view name);

  /// Calls f(rule, number of the parameter, name in the file) for each tensor that the network needs, and
  /// checks the others. Throws file_error.
  template <class F>
  void each_tensor(const network& n, F f);
  /// Names may begin with the family's prefix or not.
  std::string in_file(const std::string& name) const;
  /// A tensor without a parameter of its own must be the head of a tied model, equal to the table of tokens.
  void check_tied(const std::string& name, const network& n);
  std::string table_of_tokens() const;
  // Whether a tensor is a mask or a table that transformers compute, which older versions saved.
  static bool is_buffer(std::string_view name);

  const hugging_face::family* family_;
  tensor_shards in_;
  bool has_prefix_ = true;
};

/// The family and the decoder of a config.json. Throws file_error.
std::pair<const hugging_face::family*, decoder> read_hugging_face_config(const std::string& name);

/// Reads config.json and the headers of model.safetensors, or of the files that model.safetensors.index.json
/// names. Throws file_error.
pretrained read_hugging_face(const std::string& folder);

/// Why no family has a decoder; empty if one has.
std::string why_no_hugging_face(const decoder& d);

/// The form in which a model is written.
struct hugging_face_settings {
  std::string model_type = {};  ///< the family; empty: the first that has the model
  u64 largest_file = 0;         ///< a model of more bytes is written to several files and an index; 0: never
  std::string companions = {};  ///< the folder of which tokenizer and settings of generation are copied
};

/// Writes a model for from_pretrained of transformers. A bias that the model lacks, and its family has, is
/// written as zeros. Throws std::invalid_argument if the family does not have the model, or none has, and
/// file_error if the files cannot be written.
void write_hugging_face(const std::string& folder, const decoder& d, const network& n, const weights& w,
                        const hugging_face_settings& how = {});

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "hugging_face/pretrained.hpp"
#endif
