// SPDX-License-Identifier: MIT
// The tensors of a model in a folder, in one file or in several: model.safetensors, or the files that
// model.safetensors.index.json names, as Hugging Face's transformers write them for large models:
// {"metadata": {...}, "weight_map": {tensor: file}}. The index is trusted as little as the files: each tensor
// must be where the index says, and nothing else may be there.
//   tensor_shards in("llama");
//   const std::vector<f32> w = in.numbers("transformer.wte.weight", {50257, 768});
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "safetensors.hpp"

namespace wsl::ml {

/// Whether a file is a pickle by its name. A pickle is a program that runs when it is loaded, so none is
/// read.
bool is_pickle(const std::filesystem::path& file);
/// The error with which one is refused.
file_error pickle_refusal(const std::string& file);

/// Whether a file is one of several of a model by its name: model-<number>-of-<number>.safetensors.
bool is_shard(const std::filesystem::path& file);

class tensor_shards {
 public:
  /// Reads the headers of a folder's files. If there is a single file, an index is not read. Throws
  /// file_error.
  explicit tensor_shards(const std::string& folder);

  /// The name of the file, or of the index.
  const std::string& name() const { return name_; }
  /// The names of the files that have the tensors.
  std::vector<std::string> files() const;
  /// The names of all tensors, sorted.
  std::vector<std::string> names() const;
  bool has(const std::string& tensor) const { return where_.contains(tensor); }

  /// Throws file_error if there is no tensor of that name, one of another shape, or one that has no
  /// floating-point numbers.
  std::vector<f32> numbers(const std::string& tensor, const std::vector<u64>& shape) {
    return file_of(tensor).numbers(tensor, shape);
  }
  /// The file that has a tensor. Throws file_error if there is none.
  safetensors_file& file_of(const std::string& tensor);

 private:
  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(fmt::format("wsl: {}: {}", name_, fmt::format(text, std::forward<T>(x)...)));
  }

  /// Throws file_error if a folder without a file and without an index has parts of a model, or a model as a
  /// pickle.
  void refuse_others(const std::string& folder) const;
  /// Whether a file keeps the state of a training run of transformers, and no model.
  static bool is_of_training(const std::filesystem::path& file);
  /// Opens a file that the index names.
  void open(const std::string& file);
  void read_index(const std::string& folder);

  std::string name_;
  std::vector<safetensors_file> files_;
  std::map<std::string, std::size_t> where_;  // the file of each tensor
};

/// Writes tensors to model.safetensors in a folder, or, if they have more than `largest` bytes and that is
/// not 0, to files of at most that size (larger for a single tensor) and their index. Files of another
/// division that are there are removed, and before parts are written also the index: if writing fails, the
/// folder has no mixture of two models that could be read. Throws file_error if the files cannot be written.
void write_tensor_shards(const std::string& folder, std::vector<tensor_view> tensors, u64 largest = 0);

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "safetensors/shards.hpp"
#endif
