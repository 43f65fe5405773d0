// SPDX-License-Identifier: MIT
// Reads and writes images and their labels, for ../images.hpp: a part of the library that can be compiled
// once, see ml/data/compiled.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <range/v3/view/cartesian_product.hpp>
#include <utility>
#include <variant>

#include "../idx.hpp"
#include "../images.hpp"

namespace wsl::ml {

WSL_ML_DATA_COMPILED_PART images read_images(const std::string& pixel_file, const std::string& label_file) {
  idx_array pixels = read_idx(pixel_file), labels = read_idx(label_file);
  const auto bytes = [](idx_array& x, const std::string& name, std::size_t rank) -> std::vector<u8>& {
    auto* numbers = std::get_if<std::vector<u8>>(&x.numbers);
    if (!numbers || x.shape.size() != rank)
      throw file_error(fmt::format("wsl: {}: bytes in {} dimensions are wanted; this file has {}{}", name,
                                   rank, x.shape.size(), numbers ? "" : " and other numbers"));
    return *numbers;
  };
  std::vector<u8>& p = bytes(pixels, pixel_file, 3);
  std::vector<u8>& l = bytes(labels, label_file, 1);
  if (pixels.shape[0] != labels.shape[0])
    throw file_error(fmt::format(
        "wsl: {}: there are {} labels for the {} images of {}: these files do not belong together",
        label_file, labels.shape[0], pixels.shape[0], pixel_file));
  if (pixels.shape[1] > 16384 || pixels.shape[2] > 16384)
    throw file_error(fmt::format("wsl: {}: images have at most 16384 x 16384 pixels, not {} x {}", pixel_file,
                                 pixels.shape[1], pixels.shape[2]));
  return {static_cast<int>(pixels.shape[1]), static_cast<int>(pixels.shape[2]), std::move(p), std::move(l)};
}

WSL_ML_DATA_COMPILED_PART void write_images(const std::string& pixel_file, const std::string& label_file,
                                            const images& x) {
  write_idx(pixel_file,
            {{static_cast<u32>(x.count()), static_cast<u32>(x.rows), static_cast<u32>(x.columns)}, x.pixels});
  write_idx(label_file, {{static_cast<u32>(x.count())}, x.labels});
}

WSL_ML_DATA_COMPILED_PART dataset examples_of(images x, const pixel_scale& by) {
  const auto all = std::make_shared<const images>(std::move(x));
  std::array<f32, 256> feature_of{};
  for (std::size_t p = 0; p < 256; ++p) feature_of[p] = (static_cast<f32>(p) / 255 - by.mean) / by.deviation;
  return {.count = all->count(),
          .length = 1,
          .width = all->size(),
          .get = [all, feature_of](i64 which, const example& to) {
            const u8* pixels = all->pixels.data() + which * all->size();
            for (std::size_t i = 0; i < to.features.size(); ++i) to.features[i] = feature_of[pixels[i]];
            to.targets[0] = all->labels[static_cast<std::size_t>(which)];
          }};
}

WSL_ML_DATA_COMPILED_PART images read_mnist(const std::string& folder, mnist_part part) {
  const std::string stem = part == mnist_part::train ? "train" : "t10k";
  constexpr std::array folders{"/", "/MNIST/raw/"}, separators{"-", "."}, endings{"", ".gz"};
  const auto find = [&](const std::string& what, const std::string& kind) {
    for (const auto [in, between, packed] : ranges::views::cartesian_product(folders, separators, endings))
      if (const std::string name =
              fmt::format("{}{}{}-{}{}{}-ubyte{}", folder, in, stem, what, between, kind, packed);
          std::filesystem::exists(name))
        return name;
    throw file_error(
        fmt::format("wsl: there is no {}-{}-{}-ubyte, with or without .gz, in {}", stem, what, kind, folder));
  };
  const std::string pixels = find("images", "idx3"), labels = find("labels", "idx1");
  images all = read_images(pixels, labels);
  constexpr int digits = 10;
  if (const auto wrong = std::find_if(all.labels.begin(), all.labels.end(), [](u8 l) { return l >= digits; });
      wrong != all.labels.end())
    throw file_error("wsl: " + labels + ": image " + std::to_string(wrong - all.labels.begin()) + " of " +
                     std::to_string(all.count()) + " has the label " + std::to_string(*wrong) +
                     ", not a digit from 0 to 9: the file is damaged, or not of MNIST");
  return all;
}

}  // namespace wsl::ml
