// SPDX-License-Identifier: MIT
// UNet (arXiv:1505.04597): a class for each pixel of an image. Blocks of convolutions make the image smaller
// on the way down, and larger again on the way up, where the channels of the same size on the way down join
// by a skip connection. The settings are those of the Cerebras Model Zoo (vision/pytorch/unet). The input is
// "image", (pixels, channels) line by line, the target "targets", a class for each pixel; a token of the
// batch is a pixel, so batch::length is height * width.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "decoder.hpp"

namespace wsl::ml {

enum class downscaling : u8 { max_pool, avg_pool, strided_conv };
enum class image_norm : u8 { batchnorm2d, group, instance, none };

struct unet {
  int height = 0, width = 0, channels = 1;
  /// Two classes have one logit and the binary cross-entropy, more have a logit each and the cross-entropy.
  int classes = 2;
  /// Channels of the blocks on the way down, of which the last is the bottom, and on the way up.
  std::vector<int> encoder_filters = {32, 64, 128, 256}, decoder_filters = {128, 64, 32};
  std::vector<int> kernels = {3, 3};  ///< the sides of the windows of a block's convolutions: odd numbers
  downscaling down = downscaling::max_pool;
  image_norm norm = image_norm::batchnorm2d;
  int norm_groups = 8;
  nonlinearity between = nonlinearity::relu;
  bool skip_connect = true;
  bool residual_blocks = false;  ///< what a block gets is added to what it gives
  bool bias = true;
  f32 gain = 1;  ///< of the initial weights, which are uniform (Glorot and Bengio)
  f32 momentum = 0.1f, epsilon = 1e-5f;

  friend bool operator==(const unet&, const unet&) = default;

  /// The network, with the loss as its last stage. Throws std::invalid_argument for sizes that do not fit.
  network build() const {
    check();
    network n;
    n.tokens_are_pixels(height, width);
    int x = n.input("image", channels);
    std::vector<int> skips;
    const int levels = static_cast<int>(decoder_filters.size());
    for (int l = 0; l < levels; ++l) {
      const std::string name = fmt::format("down {} ", l + 1);
      x = block(n, name, x, encoder_filters[static_cast<std::size_t>(l)]);
      skips.push_back(x);
      x = smaller(n, name + "scale", x);
    }
    x = block(n, "bottom ", x, encoder_filters.back());
    for (int l = levels; l-- > 0;) {
      const std::string name = fmt::format("up {} ", l + 1);
      const int filters = decoder_filters[static_cast<std::size_t>(levels - 1 - l)];
      const image_size half = n.image_of(x), whole = n.image_of(skips[static_cast<std::size_t>(l)]);
      x = n.transposed_convolution(
          name + "scale", x, filters,
          {.over = {2, 2, 2, 0, 1},
           .bias = bias,
           .start = start(n.width(x), filters, 2),
           .output_padding = {whole.height - 2 * half.height, whole.width - 2 * half.width}});
      if (skip_connect) x = n.concatenation(name + "skip", {skips[static_cast<std::size_t>(l)], x});
      x = block(n, name, x, filters);
    }
    const int logits = classes == 2 ? 1 : classes;
    x = n.convolution("head", x, logits,
                      {.over = {1, 1, 1, 0, 1}, .bias = bias, .start = start(n.width(x), logits, 1)});
    const int targets = n.classes("targets", classes);
    if (classes == 2) n.binary_cross_entropy("loss", x, {.targets = targets});
    else n.cross_entropy("loss", x, {.targets = targets});
    return n;
  }

 private:
  void check() const {
    if (encoder_filters.size() != decoder_filters.size() + 1)
      throw std::invalid_argument(
          fmt::format("wsl: a UNet has one block more on the way down than on the way up, not {} and {}",
                      encoder_filters.size(), decoder_filters.size()));
    if (kernels.empty()) throw std::invalid_argument("wsl: a block of a UNet has at least one convolution");
    for (const int k : kernels)
      if (k < 1 || k % 2 == 0)
        throw std::invalid_argument(
            fmt::format("wsl: the windows of a UNet have a middle: their side is an odd number, not {}", k));
    if (classes < 2)
      throw std::invalid_argument(fmt::format("wsl: a UNet has at least 2 classes, not {}", classes));
    if (const int least = 1 << decoder_filters.size(); height < least || width < least)
      throw std::invalid_argument(fmt::format("wsl: an image of {} x {} pixels cannot be halved {} times",
                                              height, width, decoder_filters.size()));
    if (norm == image_norm::group) check_groups();
  }
  void check_groups() const {
    int common = 0;  // the largest number that divides the channels of all blocks
    for (const std::vector<int>* filters : {&encoder_filters, &decoder_filters})
      for (const int width_of_block : *filters) common = std::gcd(common, width_of_block);
    std::string fitting;
    for (int k = 1; k <= common; ++k)
      if (common % k == 0) fitting += fmt::format("{}{}", k > 1 ? ", " : "", k);
    for (const std::vector<int>* filters : {&encoder_filters, &decoder_filters})
      for (const int width_of_block : *filters)
        if (norm_groups < 1 || width_of_block % norm_groups)
          throw std::invalid_argument(
              fmt::format("wsl: norm_groups {} does not divide the {} channels of a block: take one of {}, "
                          "which divide those of all blocks",
                          norm_groups, width_of_block, fitting));
  }
  initial start(int inputs, int outputs, int kernel) const {
    return initial::uniform(gain * std::sqrt(6 / static_cast<f32>((inputs + outputs) * kernel * kernel)));
  }
  int block(network& n, const std::string& name, int x, int filters) const {
    const int before = x;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::string number = " " + std::to_string(k + 1);
      const int side = kernels[k];
      x = n.convolution(
          name + "conv" + number, x, filters,
          {.over = {side, side, 1, side / 2, 1}, .bias = bias, .start = start(n.width(x), filters, side)});
      x = normalized(n, name + "norm" + number, x);
      if (residual_blocks && k + 1 == kernels.size())
        x = n.sum(name + "sum", x, projected(n, name, before, filters));
      x = activated(n, name + "between" + number, x, between);
    }
    return x;
  }
  /// The input of a block, with as many channels as its output.
  int projected(network& n, const std::string& name, int x, int filters) const {
    if (n.width(x) == filters) return x;
    return n.convolution(name + "projection", x, filters,
                         {.over = {1, 1, 1, 0, 1}, .bias = bias, .start = start(n.width(x), filters, 1)});
  }
  int normalized(network& n, const std::string& name, int x) const {
    switch (norm) {
      case image_norm::batchnorm2d: return n.batch_norm(name, x, epsilon, momentum);
      case image_norm::group: return n.group_norm(name, x, norm_groups, epsilon);
      case image_norm::instance: return n.instance_norm(name, x, epsilon);
      case image_norm::none: break;
    }
    return x;
  }
  int smaller(network& n, const std::string& name, int x) const {
    const sliding_window halves{2, 2, 2, 0, 1};
    if (down == downscaling::strided_conv)
      return n.convolution(name, x, n.width(x),
                           {.over = halves, .bias = bias, .start = start(n.width(x), n.width(x), 2)});
    return n.pool(name, x, down == downscaling::max_pool ? pooling::largest : pooling::mean, halves);
  }
};

}  // namespace wsl::ml
