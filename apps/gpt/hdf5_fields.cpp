// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "hdf5_input.hpp"

namespace gpt_app {
namespace {

constexpr std::array of_hdf5{"GptHDF5MapDataProcessor", "GptHDF5DataProcessor"};

}  // namespace

void declare_hdf5(train_app::fields& f, hdf5_params& p) {
  f.named("data_dir").back()->may_be_list = true;
  f.add("data_processor", p.data_processor,
        "the Model Zoo's name of the data's form: GptHDF5MapDataProcessor and GptHDF5DataProcessor are HDF5, "
        "SyntheticDataProcessor is random tokens and no files; of others the files say what they are");
  declare_synthetic(f, p.random);
  f.add("data_subset", p.data_subset,
        "parts of the data in HDF5, from 0 to 1, such as 0.0-0.75 or 0.1-0.3,0.7-1.0; null: all");
  f.add("mixture", p.mixture,
        "several data in HDF5, a list of maps with data_dir, weight and data_subset, instead of data_dir");
  f.honours("sort_files", {"true"});
  f.honours("data_transforms", {}, "examples are read as they are");
  f.no_effect("a number", {"vocab_size"}, "model.vocab_size says it");
  f.honours("pad_last", {"false"});
}

void check_processor(const std::string& section, const std::string& name) {
  if (name == "DpoHDF5DataProcessor")
    throw std::invalid_argument(fmt::format(
        "{}.data_processor DpoHDF5DataProcessor: preferences in HDF5 are not read: give the .jsonl, "
        ".csv or .tsv of which they were made, with chosen_key and rejected_key",
        section));
  if (name.empty() || name == train_app::synthetic_processor ||
      std::find(of_hdf5.begin(), of_hdf5.end(), name) != of_hdf5.end())
    return;
  throw std::invalid_argument(fmt::format(
      "{0}.data_processor: a language model has no '{1}'; known are {2} and {3}: take one of them, or "
      "leave it out, and the files say what they are",
      section, name, fmt::join(of_hdf5, ", "), train_app::synthetic_processor));
}

bool is_hdf5(const hdf5_input& x) {
  namespace fs = std::filesystem;
  if (std::find(of_hdf5.begin(), of_hdf5.end(), x.how.data_processor) != of_hdf5.end() ||
      !x.how.mixture.empty())
    return true;
  const auto is_name = [](const fs::path& p) { return p.extension() == ".h5" || p.extension() == ".hdf5"; };
  for (const std::string& path : train_app::words_of_list(x.data_dir)) {
    if (!fs::is_directory(path)) {
      if (is_name(path)) return true;
    } else {
      for (const fs::directory_entry& file : fs::directory_iterator(path))
        if (is_name(file.path())) return true;
    }
  }
  return false;
}

void require_files(const hdf5_input& x) {
  if (train_app::words_of_list(x.data_dir).empty() && x.how.mixture.empty())
    throw std::invalid_argument("train_input.data_dir is missing: name a folder with files of HDF5");
}

}  // namespace gpt_app
