// SPDX-License-Identifier: MIT
#include "film.hpp"

#include <png.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

#include "volume.hpp"

namespace wave_app {
namespace {

struct frame {
  int width = 0, height = 0;
  std::vector<wsl::u8> rgba;
};

frame read_png(const std::filesystem::path& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, file.string().c_str()))
    refuse("--film: cannot read {}: {}", file.string(), image.message);
  image.format = PNG_FORMAT_RGBA;
  frame f{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  if (f.width < 1 || f.height < 1 || f.width > WEBP_MAX_DIMENSION || f.height > WEBP_MAX_DIMENSION) {
    png_image_free(&image);
    refuse("--film: {} has {} x {} pixels; a film has at most {} a side", file.string(), f.width, f.height,
           WEBP_MAX_DIMENSION);
  }
  f.rgba.resize(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, f.rgba.data(), 0, nullptr))
    refuse("--film: cannot read {}: {}", file.string(), image.message);
  return f;
}

void must(bool done) {
  if (!done) throw std::runtime_error("--film: libwebp fails: is there not enough memory?");
}

}  // namespace

void require_film() {}

std::string film_bytes(const std::vector<std::filesystem::path>& pictures, int milliseconds) {
  std::unique_ptr<WebPAnimEncoder, void (*)(WebPAnimEncoder*)> film(nullptr, &WebPAnimEncoderDelete);
  int width = 0, height = 0, time = 0;
  for (const auto& file : pictures) {
    const frame f = read_png(file);
    if (!film) {
      width = f.width, height = f.height;
      WebPAnimEncoderOptions how;
      must(WebPAnimEncoderOptionsInit(&how));
      film.reset(WebPAnimEncoderNew(width, height, &how));
      must(film != nullptr);
    }
    if (f.width != width || f.height != height)
      refuse("--film: {} has {} x {} pixels, and the pictures before it {} x {}: remove those of other runs",
             file.string(), f.width, f.height, width, height);
    WebPConfig config;
    must(WebPConfigInit(&config));
    config.lossless = 1;
    WebPPicture picture;
    must(WebPPictureInit(&picture));
    picture.use_argb = 1, picture.width = width, picture.height = height;
    const std::unique_ptr<WebPPicture, void (*)(WebPPicture*)> freed(&picture, &WebPPictureFree);
    must(WebPPictureImportRGBA(&picture, f.rgba.data(), 4 * width));
    must(WebPAnimEncoderAdd(film.get(), &picture, time, &config));
    time += milliseconds;
  }
  if (!film) refuse("--film: there is no picture: the run is shorter than --snapshot-every");
  must(WebPAnimEncoderAdd(film.get(), nullptr, time, nullptr));
  WebPData data;
  WebPDataInit(&data);
  const std::unique_ptr<WebPData, void (*)(WebPData*)> freed(&data, &WebPDataClear);
  must(WebPAnimEncoderAssemble(film.get(), &data));
  return {reinterpret_cast<const char*>(data.bytes), data.size};
}

}  // namespace wave_app
