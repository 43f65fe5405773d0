// SPDX-License-Identifier: MIT
#include <filesystem>

#include "hdf5_input.hpp"

namespace gpt_app {

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
  f.honours("pad_last", {"false"});
}

bool is_hdf5(const hdf5_input& x) {
  namespace fs = std::filesystem;
  if (x.how.data_processor == "GptHDF5MapDataProcessor" || x.how.data_processor == "GptHDF5DataProcessor" ||
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

}  // namespace gpt_app
