// SPDX-License-Identifier: MIT
// Images and masks in PNG files, by libpng. Files of any kind are read as 8 bits of grey or of red, green and
// blue; what is transparent lies on black. A part of the library of its own, wsl::pictures.
//   const masked_image x = {.pixels = read_png("image.png", 1).pixels, ...};
//   const image_source all = png_folder("data", {.channels = 1, .classes = 2});
#pragma once
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "../../../support/file_error.hpp"
#include "masked.hpp"

namespace wsl::ml {

/// The pixels of a file.
struct png_pixels {
  int height = 0, width = 0, channels = 1;
  std::vector<u8> numbers;  ///< (height, width, channels)
};

namespace detail {

[[noreturn]] inline void bad_png(const std::string& file, const std::string& what) {
  throw support::file_error(fmt::format("wsl: {}: {}", file, what));
}

}  // namespace detail

/// Reads a file as 1 or 3 channels. Throws file_error for a file that is no whole PNG, or has more than 2^26
/// pixels.
inline png_pixels read_png(const std::string& file, int channels) {
  if (channels != 1 && channels != 3)
    throw std::invalid_argument(fmt::format("wsl: a PNG is read as 1 or 3 channels, not {}", channels));
  png_image x{};
  x.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&x, file.c_str()))
    detail::bad_png(file, fmt::format("this cannot be read as PNG: {}: if it is an image of another kind, "
                                      "convert it, for instance with mogrify -format png",
                                      x.message));
  constexpr u64 most = u64{1} << 26;
  if (u64{x.width} * x.height > most) {
    const std::string size = fmt::format("{} x {}", x.height, x.width);
    png_image_free(&x);
    detail::bad_png(file, fmt::format("an image has at most {} pixels, not {}", most, size));
  }
  x.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_pixels all{static_cast<int>(x.height), static_cast<int>(x.width), channels, {}};
  all.numbers.resize(PNG_IMAGE_SIZE(x));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&x, &black, all.numbers.data(), 0, nullptr))
    detail::bad_png(file, fmt::format("the pixels of this PNG cannot be read: {}: it is cut short or "
                                      "damaged, take it again from where it comes from",
                                      x.message));
  return all;
}

namespace detail {

/// The description of these pixels, which `what` names in messages.
inline png_image image_of(const png_pixels& pixels, const std::string& what) {
  png_image x{};
  x.version = PNG_IMAGE_VERSION;
  x.width = static_cast<png_uint_32>(pixels.width), x.height = static_cast<png_uint_32>(pixels.height);
  x.format = pixels.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (pixels.numbers.size() != PNG_IMAGE_SIZE(x))
    throw std::invalid_argument(fmt::format("wsl: {}: {} numbers are no {} x {} pixels of {} channels", what,
                                            pixels.numbers.size(), pixels.height, pixels.width,
                                            pixels.channels));
  return x;
}

}  // namespace detail

/// 1 or 3 channels in PNG format.
inline std::string encoded_png(const png_pixels& pixels) {
  png_image x = detail::image_of(pixels, "a PNG");
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(x);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&x, bytes.data(), &size, 0, pixels.numbers.data(), 0, nullptr))
    detail::bad_png("a PNG", fmt::format("this cannot be encoded: {}", x.message));
  bytes.resize(size);
  return bytes;
}

/// Writes 1 or 3 channels. Throws file_error if the file cannot be written.
inline void write_png(const std::string& file, const png_pixels& pixels) {
  png_image x = detail::image_of(pixels, file);
  if (!png_image_write_to_file(&x, file.c_str(), 0, pixels.numbers.data(), 0, nullptr))
    detail::bad_png(file, fmt::format("this file cannot be written: {}", x.message));
}

struct png_settings {
  int channels = 1;
  /// Of masks. With two, whatever is not 0 is class 1; with more a pixel's grey is its class.
  int classes = 2;
};

/// The images of the folder "images" with the masks of the same names in "masks", in the order of these.
/// Throws file_error if there are none, or if one has no mask; `get` for files that do not fit.
inline image_source png_folder(const std::string& folder, const png_settings& how) {
  namespace fs = std::filesystem;
  const fs::path images = fs::path(folder) / "images", masks = fs::path(folder) / "masks";
  for (const fs::path& x : {images, masks})
    if (!fs::is_directory(x))
      detail::bad_png(x.string(),
                      "there is no such folder: images lie in images/ and their masks in masks/, as PNG");
  std::vector<std::string> names;
  for (const fs::directory_entry& x : fs::directory_iterator(images))
    if (x.path().extension() == ".png") names.push_back(x.path().filename().string());
  std::sort(names.begin(), names.end());
  if (names.empty())
    detail::bad_png(images.string(),
                    "there are no files *.png: convert others, for instance with mogrify -format png *.jpg");
  for (const std::string& name : names)
    if (!fs::exists(masks / name))
      detail::bad_png((masks / name).string(),
                      "an image has no mask: give it one of the same name, or take it away");
  const i64 count = static_cast<i64>(names.size());
  return {count, [=, names = std::move(names)](i64 which) {
            const std::string& name = names[static_cast<std::size_t>(which)];
            png_pixels x = read_png((images / name).string(), how.channels);
            const std::string mask_file = (masks / name).string();
            png_pixels mask = read_png(mask_file, 1);
            if (mask.height != x.height || mask.width != x.width)
              detail::bad_png(mask_file, fmt::format("a mask of {} x {} pixels for an image of {} x {}",
                                                     mask.height, mask.width, x.height, x.width));
            for (std::size_t i = 0; i < mask.numbers.size(); ++i) {
              u8& c = mask.numbers[i];
              if (how.classes == 2) c = c != 0;
              else if (c >= how.classes)
                detail::bad_png(mask_file,
                                fmt::format("line {}, pixel {} has the grey {}, not a class from 0 to {}",
                                            i / static_cast<std::size_t>(mask.width),
                                            i % static_cast<std::size_t>(mask.width), c, how.classes - 1));
            }
            return masked_image{x.height, x.width, x.channels, std::move(x.numbers), std::move(mask.numbers)};
          }};
}

}  // namespace wsl::ml
