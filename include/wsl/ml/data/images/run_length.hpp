// SPDX-License-Identifier: MIT
// Masks as runs of pixels, as Kaggle's competitions write them (Severstal's train.csv): pairs of a first
// pixel and a length, "1 3 10 2". Pixels count from 1, down the first column of the image, then down the
// next.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../../../core/scalar.hpp"

namespace wsl::ml {

/// Sets the pixels of the runs in a mask, (height, width), to a class. Throws std::invalid_argument for words
/// that are no numbers, for a run without a length, and for one beyond the mask.
inline void add_runs(std::span<u8> mask, int height, int width, std::string_view runs, u8 to) {
  const i64 pixels = i64{height} * width;
  const auto next = [&](const char* what) {
    while (runs.starts_with(' ')) runs.remove_prefix(1);
    i64 x = 0;
    const auto [end, error] = std::from_chars(runs.data(), runs.data() + runs.size(), x);
    if (error != std::errc{} || (end != runs.data() + runs.size() && *end != ' ') || x < 1 || x > pixels)
      throw std::invalid_argument(
          fmt::format("wsl: the {} of a run is a number from 1 to {} x {}, not \"{}\"", what, height, width,
                      runs.substr(0, runs.find(' '))));
    runs.remove_prefix(static_cast<std::size_t>(end - runs.data()));
    return x;
  };
  while (runs.find_first_not_of(' ') != std::string_view::npos) {
    const i64 first = next("first pixel") - 1, count = next("length");
    if (first + count > pixels)
      throw std::invalid_argument(fmt::format("wsl: a run of {} from pixel {} on leaves a mask of {} x {}",
                                              count, first + 1, height, width));
    for (i64 k = first; k < first + count; ++k)
      mask[static_cast<std::size_t>(k % height * width + k / height)] = to;
  }
}

/// The runs of a class in a mask, (height, width).
inline std::string runs_of(std::span<const u8> mask, int height, int width, u8 of) {
  std::string all;
  i64 first = -1;
  const i64 pixels = i64{height} * width;
  for (i64 k = 0; k <= pixels; ++k) {
    const bool is_in = k < pixels && mask[static_cast<std::size_t>(k % height * width + k / height)] == of;
    if (is_in && first < 0) first = k;
    if (is_in || first < 0) continue;
    all += fmt::format("{}{} {}", all.empty() ? "" : " ", first + 1, k - first);
    first = -1;
  }
  return all;
}

}  // namespace wsl::ml
