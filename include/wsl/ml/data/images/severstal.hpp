// SPDX-License-Identifier: MIT
// The defects of steel of Kaggle's Severstal competition, as the UNet of the Cerebras Model Zoo reads them:
// train.csv has a line "ImageId,ClassId,EncodedPixels" for each defect, its pixels as runs. The images are in
// train_images/, as PNG files: `mogrify -format png train_images/*.jpg` makes them.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "png.hpp"
#include "run_length.hpp"

namespace wsl::ml {

struct severstal_settings {
  int class_id = 3;  ///< of the defects that are class 1; 0: classes 1 to 4 stay apart
  int channels = 1;
};

/// The lines of train.csv: for each image its defects, a class and runs. Throws file_error for a file of
/// another form.
inline std::map<std::string, std::vector<std::pair<int, std::string>>> read_defects(const std::string& file) {
  std::ifstream in(file);
  if (!in) detail::bad_png(file, "this file cannot be opened");
  std::map<std::string, std::vector<std::pair<int, std::string>>> all;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1) {
      if (line != "ImageId,ClassId,EncodedPixels")
        detail::bad_png(
            file, "the first line is not ImageId,ClassId,EncodedPixels: this is not the file of Severstal");
      continue;
    }
    if (line.empty()) continue;
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    int kind = 0;
    const bool has_both = first != std::string::npos && second != std::string::npos && first > 0;
    if (has_both) std::from_chars(line.data() + first + 1, line.data() + second, kind);
    if (!has_both || kind < 1 || kind > 4)
      detail::bad_png(
          file,
          fmt::format("line {} is not an image, a class from 1 to 4 and runs, with commas between", number));
    all[line.substr(0, first)].emplace_back(kind, line.substr(second + 1));
  }
  if (all.empty()) detail::bad_png(file, "there are no defects");
  return all;
}

/// The images of a folder that train.csv names, in the order of their names. Throws file_error for files that
/// are not there or have another form.
inline image_source read_severstal(const std::string& folder, const severstal_settings& how) {
  if (how.class_id < 0 || how.class_id > 4)
    throw std::invalid_argument(
        fmt::format("wsl: class_id is one of 1 to 4, or 0 for all defects, not {}", how.class_id));
  namespace fs = std::filesystem;
  const std::string table = (fs::path(folder) / "train.csv").string();
  auto defects = read_defects(table);
  std::vector<std::pair<std::string, std::vector<std::pair<int, std::string>>>> all;
  for (auto& [id, runs] : defects) {
    const fs::path file = (fs::path(folder) / "train_images" / id).replace_extension(".png");
    if (!fs::exists(file))
      detail::bad_png(file.string(),
                      "there is no such file: the images of train.csv lie in train_images/, as PNG (mogrify "
                      "-format png)");
    all.emplace_back(file.string(), std::move(runs));
  }
  const i64 count = static_cast<i64>(all.size());
  return {count, [all = std::move(all), how, table](i64 which) {
            const auto& [file, runs] = all[static_cast<std::size_t>(which)];
            png_pixels pixels = read_png(file, how.channels);
            masked_image x{pixels.height, pixels.width, pixels.channels, std::move(pixels.numbers), {}};
            x.mask.resize(static_cast<std::size_t>(x.height) * static_cast<std::size_t>(x.width));
            for (const auto& [kind, words] : runs)
              if (how.class_id == 0 || kind == how.class_id) try {
                  add_runs(x.mask, x.height, x.width, words, static_cast<u8>(how.class_id ? 1 : kind));
                } catch (const std::invalid_argument& e) {
                  detail::bad_png(table, fmt::format("the runs of {}: {}", file, e.what()));
                }
            return x;
          }};
}

}  // namespace wsl::ml
