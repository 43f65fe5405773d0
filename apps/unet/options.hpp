// SPDX-License-Identifier: MIT
// The params of wsl-unet, and the network that they describe.
#pragma once
#include <synthetic.hpp>
#include <trainer_params.hpp>
#include <wsl/ml/model/unet.hpp>

namespace unet_app {

using train_app::common_params, train_app::f64, train_app::i64, train_app::initializer_part,
    train_app::synthetic_params;

/// Of both input sections, which must agree on what an image is.
struct image_params {
  std::vector<i64> image_shape = {128, 128, 1};
  std::string normalize = "zero_centered";
  bool augment = false;
  i64 augmentation_seed = 1, class_id = 3, drawn = 400;
  i64 classes = 0;  ///< num_classes, which the Model Zoo has here; 0: not given
  f64 split = 0.85, angle = 10, brightness = 0.2;
  std::string data_processor = {};
  synthetic_params random = {};
};

struct model_params {
  std::string name = "unet", downscale = "max_pool", norm = "batchnorm2d", nonlinearity = "ReLU", loss;
  std::vector<i64> encoder = {32, 64, 128, 256}, decoder = {128, 64, 32};
  std::vector<std::string> convs = {"3x3_conv", "3x3_conv"};
  i64 classes = 2, norm_groups = 8, input_channels = 0;
  bool skip = true, residual = false, bias = true;
  initializer_part initializer;
  std::vector<i64> ignored_classes;  ///< by the scores of evaluations
};

struct options {
  common_params common;
  image_params train, held_out;
  model_params model;
  std::string out = "predictions";
  i64 count = 8;

  bool has_random_images() const {
    return is_synthetic(train.data_processor, held_out.data_processor, common, train.random, held_out.random);
  }
  wsl::ml::unet unet() const;
  /// Throws std::invalid_argument if one part of the data has a folder, and the other, which is needed, has
  /// none.
  void require_folders(bool trains, bool evaluates) const;
};

/// The value that stands beside a word.
template <class T>
T choice(const std::string& word, std::initializer_list<std::pair<const char*, T>> all) {
  for (const auto& [name, value] : all)
    if (word == name) return value;
  throw std::invalid_argument("there is no " + word);
}

void declare(train_app::fields& f, options& o);
/// Takes the classes that the input sections say if the section of the model says none.
void take_classes(train_app::fields& f, options& o);
/// Throws std::invalid_argument for settings that contradict each other.
void check(const options& o);

/// For wsl-zoo.
std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace unet_app
