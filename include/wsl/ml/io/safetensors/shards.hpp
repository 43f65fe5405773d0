// SPDX-License-Identifier: MIT
// Reads and writes the tensors of a model in one file or several, for ../tensor_shards.hpp: a part of the
// library that can be compiled once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../../support/whole_file.hpp"
#include "../tensor_shards.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART bool is_pickle(const std::filesystem::path& file) {
  const std::string end = file.extension().string();
  return end == ".bin" || end == ".pt" || end == ".pth" || end == ".ckpt";
}

WSL_ML_DATA_COMPILED_PART file_error pickle_refusal(const std::string& file) {
  return file_error(fmt::format(
      "wsl: {} is a pickle, which can run any program when it is loaded, so it is not read: convert it with "
      "transformers, AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder, "
      "safe_serialization=True), on a computer where you trust the file",
      file));
}

WSL_ML_DATA_COMPILED_PART bool is_shard(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  constexpr std::string_view form = "model-00000-of-00000.safetensors";
  bool is = name.size() == form.size();
  for (std::size_t i = 0; is && i < form.size(); ++i)
    is = form[i] == '0' ? name[i] >= '0' && name[i] <= '9' : name[i] == form[i];
  return is;
}

WSL_ML_DATA_COMPILED_PART tensor_shards::tensor_shards(const std::string& folder)
    : name_(folder + "/model.safetensors") {
  const std::string index = name_ + ".index.json";
  if (!file_exists(name_) && !file_exists(index)) refuse_others(folder);
  if (file_exists(name_) || !file_exists(index)) {
    files_.emplace_back(name_);
    for (const tensor_info& t : files_[0].tensors()) where_[t.name] = 0;
  } else {
    name_ = index;
    read_index(folder);
  }
}

WSL_ML_DATA_COMPILED_PART std::vector<std::string> tensor_shards::files() const {
  std::vector<std::string> all;
  for (const safetensors_file& f : files_) all.push_back(f.name());
  return all;
}

WSL_ML_DATA_COMPILED_PART std::vector<std::string> tensor_shards::names() const {
  std::vector<std::string> all;
  for (const auto& [tensor, file] : where_) all.push_back(tensor);
  return all;
}

WSL_ML_DATA_COMPILED_PART safetensors_file& tensor_shards::file_of(const std::string& tensor) {
  const auto found = where_.find(tensor);
  if (found == where_.end())
    throw file_error(fmt::format("wsl: {} has no tensor '{}': it is of another model", name_, tensor));
  return files_[found->second];
}

WSL_ML_DATA_COMPILED_PART void tensor_shards::refuse_others(const std::string& folder) const {
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none))
    if (is_shard(file.path()))
      throw file_error(fmt::format(
          "wsl: {} is a part of a model, and there is no {}.index.json, which says where each tensor is: "
          "fetch it, too",
          file.path().string(), name_));
  for (const auto& file : std::filesystem::directory_iterator(folder, none))
    if (is_pickle(file.path()) && !is_of_training(file.path())) throw pickle_refusal(file.path().string());
}

WSL_ML_DATA_COMPILED_PART bool tensor_shards::is_of_training(const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  return name == "training_args" || name == "optimizer" || name == "scheduler" || name == "scaler" ||
         name.starts_with("rng_state");
}

WSL_ML_DATA_COMPILED_PART void tensor_shards::open(const std::string& file) {
  if (!file_exists(file))
    throw file_error(
        fmt::format("wsl: cannot read {}: it is not there, and {} names it: fetch all files of "
                    "the model",
                    file, name_));
  files_.emplace_back(file);
}

WSL_ML_DATA_COMPILED_PART void tensor_shards::read_index(const std::string& folder) {
  input_file in(name_);
  if (in.size() > 10'000'000) throw error("an index has less than ten million bytes");
  const std::string text = in.take_text(in.size(), "the text");
  const auto json = nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object() || map->empty())
    throw error("an index is an object in JSON with a 'weight_map' of tensors and their files");
  std::map<std::string, std::size_t> opened;
  for (const auto& [tensor, file] : map->items()) {
    // A name with a slash could lead out of the folder.
    const std::string stem = file.is_string() ? file.get<std::string>() : "";
    if (!stem.ends_with(".safetensors") ||
        stem.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
      throw error("tensor '{}' should be in a file <name>.safetensors beside the index, not in {}", tensor,
                  file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    const auto [at, is_new] = opened.emplace(stem, files_.size());
    if (is_new) open(folder + "/" + stem);
    if (!files_[at->second].find(tensor))
      throw error("tensor '{}' is not in {}, where it should be: the files are of different models", tensor,
                  stem);
    where_[tensor] = at->second;
  }
  for (std::size_t k = 0; k < files_.size(); ++k)
    for (const tensor_info& t : files_[k].tensors())
      if (const auto found = where_.find(t.name); found == where_.end() || found->second != k)
        throw error(
            "{} has a tensor '{}' that the index does not have there: the files are of different models",
            files_[k].name(), t.name);
}

WSL_ML_DATA_COMPILED_PART void write_tensor_shards(const std::string& folder,
                                                   std::vector<tensor_view> tensors, u64 largest) {
  std::sort(tensors.begin(), tensors.end(),
            [](const tensor_view& a, const tensor_view& b) { return a.name < b.name; });
  std::vector<std::vector<tensor_view>> files;
  u64 total = 0, in_file = 0;
  for (tensor_view& t : tensors) {
    if (files.empty() || (largest && in_file + t.bytes.size() > largest)) files.emplace_back(), in_file = 0;
    total += t.bytes.size(), in_file += t.bytes.size();
    files.back().push_back(std::move(t));
  }
  const std::string whole = folder + "/model.safetensors", index = whole + ".index.json";
  std::error_code none;
  std::vector<std::filesystem::path> before;
  for (const auto& file : std::filesystem::directory_iterator(folder, none))
    if (is_shard(file.path())) before.push_back(file.path());
  const auto remove_parts = [&] {
    std::filesystem::remove(index, none);
    for (const std::filesystem::path& part : before) std::filesystem::remove(part, none);
  };
  if (files.size() < 2) {
    write_safetensors(whole, files.empty() ? std::vector<tensor_view>{} : std::move(files[0]));
    return remove_parts();
  }
  remove_parts();
  nlohmann::json map;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", k + 1, files.size());
    for (const tensor_view& t : files[k]) map[t.name] = name;
    write_safetensors(folder + "/" + name, std::move(files[k]));
  }
  const nlohmann::json all{{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  support::write_whole_file(index, all.dump(2) + "\n");
  std::filesystem::remove(whole, none);
}

}  // namespace wsl::ml
