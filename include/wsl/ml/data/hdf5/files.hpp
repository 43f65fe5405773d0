// SPDX-License-Identifier: MIT
// Which HDF5 files some paths mean, what is in them, and what data_params.json beside them says.
#pragma once
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "rows.hpp"

namespace wsl::ml {

inline bool is_hdf5_name(const std::filesystem::path& name) {
  return name.extension() == ".h5" || name.extension() == ".hdf5";
}
/// Whether some of the paths are HDF5 files, or folders with some.
inline bool has_hdf5(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    if (!fs::is_directory(path)) return is_hdf5_name(path);
    return std::any_of(fs::directory_iterator(path), fs::directory_iterator(),
                       [](const fs::directory_entry& x) { return is_hdf5_name(x.path()); });
  });
}

/// The files that some paths mean, a folder those in it that end with .h5 or .hdf5, all in the order of their
/// names, as in the Model Zoo. Throws file_error if a path is not there or a folder has no such file.
inline std::vector<std::string> hdf5_files_of(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<fs::path> all;
  for (const std::string& path : paths) {
    if (!file_exists(path)) throw file_error(fmt::format("wsl: {}: there is no such file or folder", path));
    const fs::path named = fs::path(path).lexically_normal();
    for (const fs::path& part : named)
      if (part.extension() == ".unfinished")
        throw file_error(
            fmt::format("wsl: {} is of a conversion that has not finished: give the command of `wsl-data "
                        "convert` again, which goes on, and then read {}",
                        path, part.stem().string()));
    if (!fs::is_directory(path)) {
      all.emplace_back(path);
      continue;
    }
    const std::size_t had = all.size();
    for (const fs::directory_entry& x : fs::directory_iterator(path))
      if (is_hdf5_name(x.path())) all.push_back(x.path());
    if (all.size() == had)
      throw file_error(
          fmt::format("wsl: {}: the folder has no files that end with .h5: `wsl-data convert` "
                      "makes some of texts",
                      path));
  }
  if (all.empty()) throw file_error("wsl: no file or folder of HDF5 is named");
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    throw file_error(fmt::format("wsl: {} is named twice: leave one out", twice->string()));
  return {all.begin(), all.end()};
}

/// The names of the datasets of a file, in their order there, those in groups left out. Throws file_error.
inline std::vector<std::string> hdf5_datasets(const std::string& file) {
  const hdf5_gate gate;
  const hdf5_id in = open_hdf5(file);
  std::vector<std::string> names;
  hsize_t at = 0;
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (H5Literate(in.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &at, +take, &names) < 0)
    throw file_error(
        fmt::format("wsl: {}: its datasets cannot be listed (libhdf5: {}): the file is damaged, "
                    "make or fetch it again",
                    file, hdf5_reason()));
  std::erase_if(names, [&](const std::string& name) {
    const hdf5_id x(H5Oopen(in.get(), name.c_str(), H5P_DEFAULT), &H5Oclose);
    return !x || H5Iget_type(x.get()) != H5I_DATASET;
  });
  return names;
}

/// A whole number that is an attribute of the file; nothing if it has none of that name. Throws file_error
/// for an attribute that is something else.
inline std::optional<i64> hdf5_attribute(const std::string& file, const std::string& name) {
  const hdf5_gate gate;
  const hdf5_id in = open_hdf5(file);
  if (H5Aexists(in.get(), name.c_str()) <= 0) return {};
  const hdf5_id x(H5Aopen(in.get(), name.c_str(), H5P_DEFAULT), &H5Aclose);
  const hdf5_id type(x ? H5Aget_type(x.get()) : -1, &H5Tclose),
      space(x ? H5Aget_space(x.get()) : -1, &H5Sclose);
  i64 value = 0;
  if (!type || !space || H5Tget_class(type.get()) != H5T_INTEGER ||
      H5Sget_simple_extent_npoints(space.get()) != 1 || H5Aread(x.get(), H5T_NATIVE_INT64, &value) < 0)
    throw file_error(
        fmt::format("wsl: {}: its attribute '{}' is no whole number: write it again as one", file, name));
  return value;
}

/// What data_params.json in the folder of a file says; null if there is none. Throws file_error if it is no
/// object in JSON.
inline nlohmann::json hdf5_params(const std::string& file) {
  const std::string name = (std::filesystem::path(file).parent_path() / "data_params.json").string();
  if (!file_exists(name)) return {};
  nlohmann::json all = nlohmann::json::parse(read_whole(name), nullptr, false);
  if (!all.is_object())
    throw file_error(fmt::format("wsl: {}: it is no object in JSON: mend it, or take it away", name));
  return all;
}

/// What examples train for, as `dataset.training_objective` of data_params.json names it: that of decoders is
/// written as "clm", of encoders as "mlm", as in the Model Zoo, and of encoder-decoders as "span_corruption".
/// Empty if it is not said.
inline std::string objective_in_params(const nlohmann::json& params) {
  if (!params.is_object() || !params.contains("dataset") || !params["dataset"].is_object()) return "";
  const nlohmann::json& dataset = params["dataset"];
  return dataset.contains("training_objective") && dataset["training_objective"].is_string()
             ? dataset["training_objective"].get<std::string>()
             : "";
}

/// That examples are of another objective than the reader's, to be thrown: "clm", "mlm" or "span_corruption".
inline file_error other_objective(const std::string& file, std::string_view theirs, std::string_view ours) {
  const auto about = [](std::string_view objective) {
    return objective == "clm"   ? "the next token of a decoder (wsl-gpt and wsl-zoo, --form gpt)"
           : objective == "mlm" ? "the hidden tokens of an encoder (wsl-bert, --form bert)"
                                : "the left-out spans of an encoder-decoder (wsl-t5, --form t5)";
  };
  return file_error(
      fmt::format("wsl: {}: the labels of these examples are {}, and {} are read here: take the program that "
                  "trains for them, or convert the texts again with the --form of this one",
                  file, about(theirs), about(ours)));
}

/// Throws file_error if data_params.json beside some file names an objective that another reader has.
inline void require_objective(const std::vector<std::string>& files, std::string_view ours) {
  const auto folder_of = [](const std::string& file) { return std::filesystem::path(file).parent_path(); };
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string& file = files[k];
    if (k > 0 && folder_of(file) == folder_of(files[k - 1])) continue;
    const std::string theirs = objective_in_params(hdf5_params(file));
    for (const std::string_view other : {"clm", "mlm", "span_corruption"})
      if (theirs == other && other != ours) throw other_objective(file, theirs, ours);
  }
}

/// The names that one of its lists has; empty if there is none. Throws file_error for another value.
inline std::vector<std::string> names_in_params(const nlohmann::json& params, const std::string& key,
                                                const std::string& file) {
  if (!params.is_object() || !params.contains(key)) return {};
  std::vector<std::string> names;
  const nlohmann::json& list = params[key];
  if (list.is_array())
    for (const nlohmann::json& x : list)
      if (x.is_string()) names.push_back(x.get<std::string>());
  if (names.empty() || names.size() != list.size())
    throw file_error(fmt::format("wsl: the data_params.json beside {}: '{}' is a list of names", file, key));
  return names;
}

}  // namespace wsl::ml
