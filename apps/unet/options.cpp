// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

namespace unet_app {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::f32;

namespace {

std::vector<int> whole(const std::vector<i64>& x) { return {x.begin(), x.end()}; }

/// The side of the windows of "3x3_conv".
int side_of(const std::string& words) {
  for (int side = 1; side <= 15; side += 2)
    if (words == fmt::format("{0}x{0}_conv", side)) return side;
  throw std::invalid_argument(
      "model.convs_per_block is a list of words such as 3x3_conv, with an odd side up to 15, not " + words);
}
class params final : public trainer_params {
 public:
  params() { declare(f, o_); }

  void check(mistakes& found) override {
    check_common(found, o_.common);
    found.of([&] {
      take_classes(f, o_), unet_app::check(o_);
      o_.unet();
    });
    // A file may have nothing to evaluate with, and only train.
    found.of([&] {
      if (!o_.has_random_images()) o_.require_folders(true, f.file_names_section("eval_input"));
    });
  }

 private:
  options o_;
};

void declare_images(fields& f, image_params& p) {
  f.add("image_shape", p.image_shape,
        "height, width and channels of an image; files of another size are resized")
      .at_least(1)
      .at_most(16384);
  f.add("normalize_data_method", p.normalize, "what pixels become")
      .one_of({"zero_one", "zero_centered", "standard_score"});
  f.add("augment_data", p.augment, "flip, rotate and brighten images, each time in another way");
  f.add("augmentation_angle", p.angle, "by how many degrees images are rotated at most")
      .at_least(0)
      .at_most(180);
  f.add("augmentation_brightness", p.brightness, "by which part images become brighter or darker at most")
      .at_least(0)
      .at_most(1);
  f.add("augmentation_seed", p.augmentation_seed, "of these changes").at_least(0);
  f.add("train_test_split", p.split, "the part of the images of data_dir that is trained with")
      .above(0)
      .at_most(1);
  f.add("class_id", p.class_id, "the defects of Severstal that are class 1; 0: each is a class")
      .at_least(0)
      .at_most(4);
  f.add("drawn_images", p.drawn, "how many to draw, if there is no data_dir").at_least(1).at_most(1'000'000);
  f.add("data_processor", p.data_processor,
        "SyntheticDataProcessor takes random numbers for images; of other names the files say what they are");
  declare_synthetic(f, p.random);
  f.add("num_classes", p.classes, "as model.num_classes, in files of the Model Zoo").at_least(2).at_most(256);
  f.honours("aggregate_cartilage", {}, "the data of SKM-TEA are not supported");
  f.honours("echo_type", {}, "the data of SKM-TEA are not supported");
  f.no_effect("true or false", {"use_fast_dataloader", "duplicate_act_worker_data"},
              "the threads of the program read the data");
}

void declare_model(fields& f, model_params& m) {
  f.section("model");
  f.add("name", m.name, "of the model").one_of({"unet"});
  f.add("num_classes", m.classes, "of pixels").at_least(2).at_most(256).once_called("output_classes");
  f.add("encoder_filters", m.encoder, "channels of the blocks on the way down; the last is the bottom")
      .at_least(1)
      .at_most(1 << 16);
  f.add("decoder_filters", m.decoder, "channels of the blocks on the way up").at_least(1).at_most(1 << 16);
  f.add("convs_per_block", m.convs, "the windows of a block's convolutions, such as 3x3_conv");
  f.add("downscale_method", m.downscale, "how images become smaller")
      .one_of({"max_pool", "avg_pool", "strided_conv"});
  f.add("norm_layer", m.norm, "after each convolution")
      .one_of({"batchnorm2d", "group", "instance2d", "none"});
  f.add("norm_groups", m.norm_groups, "of the norm group").at_least(1).once_called("num_groups");
  f.nested("model", "norm_kwargs", "model");
  f.add("nonlinearity", m.nonlinearity, "after each norm")
      .one_of({"ReLU", "relu", "GELU", "gelu", "SiLU", "silu"});
  f.add("skip_connect", m.skip, "join the channels of the way down on the way up");
  f.add("residual_blocks", m.residual, "add what a block gets to what it gives");
  f.add("enable_bias", m.bias, "of convolutions");
  f.add("loss", m.loss, "bce for two classes, ssce for more; null: that").one_of({"bce", "ssce"});
  f.add("initializer", m.initializer,
        "of the weights of convolutions: glorot_uniform, also as the name of a map with a gain");
  f.honours("bias_initializer", {"zeros"});
  f.add("input_channels", m.input_channels, "those of image_shape, which a file may say twice").at_least(1);
  for (const char* no : {"downscale_first_conv", "downscale_bottleneck"}) f.honours(no, {"false"});
  f.honours("downscale_encoder_blocks", {"true"}, "each block but the first halves its images");
  f.add("eval_ignore_classes", m.ignored_classes, "those that mIOU and DSC leave out")
      .at_least(0)
      .at_most(255);
  f.no_effect("true or false", {"compute_eval_metrics"}, "evaluations print all that they measure");
  f.no_effect("true or false", {"to_float16"}, "model.mixed_precision says it");
  f.honours("use_conv3d", {"false"}, "convolutions of three dimensions are not supported");
  f.no_effect("a list", {"metrics", "eval_metrics"}, "evaluations print all that they measure");
}

}  // namespace

ml::unet options::unet() const {
  ml::unet u{.height = static_cast<int>(train.image_shape[0]),
             .width = static_cast<int>(train.image_shape[1]),
             .channels = static_cast<int>(train.image_shape[2]),
             .classes = static_cast<int>(model.classes),
             .encoder_filters = whole(model.encoder),
             .decoder_filters = whole(model.decoder),
             .kernels = {}};
  for (const std::string& words : model.convs) u.kernels.push_back(side_of(words));
  u.down = choice<ml::downscaling>(model.downscale, {{"max_pool", ml::downscaling::max_pool},
                                                     {"avg_pool", ml::downscaling::avg_pool},
                                                     {"strided_conv", ml::downscaling::strided_conv}});
  u.norm = choice<ml::image_norm>(model.norm, {{"batchnorm2d", ml::image_norm::batchnorm2d},
                                               {"group", ml::image_norm::group},
                                               {"instance2d", ml::image_norm::instance},
                                               {"none", ml::image_norm::none}});
  u.between = choice<ml::nonlinearity>(model.nonlinearity, {{"ReLU", ml::nonlinearity::relu},
                                                            {"relu", ml::nonlinearity::relu},
                                                            {"GELU", ml::nonlinearity::gelu},
                                                            {"gelu", ml::nonlinearity::gelu},
                                                            {"SiLU", ml::nonlinearity::silu},
                                                            {"silu", ml::nonlinearity::silu}});
  u.norm_groups = static_cast<int>(model.norm_groups);
  u.gain = static_cast<f32>(model.initializer.gain);
  u.skip_connect = model.skip, u.residual_blocks = model.residual, u.bias = model.bias;
  return u;
}

void declare(fields& f, options& o) {
  common_params& p = o.common;
  o.held_out.drawn = 64;
  f.section("train_input");
  declare_input(f, p.train_input, true), declare_images(f, o.train);
  f.section("eval_input");
  declare_input(f, p.eval_input, false), declare_images(f, o.held_out);
  declare_model(f, o.model), declare_precision(f, p.precision);
  declare_optimizer(f, p.optimizer), declare_sparsity(f, p.sparsity);
  declare_run(f, p.run, p.reports), declare_checkpoint_options(f, p);
  f.options_of("predict");
  f.add("out", o.out, "folder for the images");
  f.add("count", o.count, "how many images").at_least(1);
}

void take_classes(fields& f, options& o) {
  for (const auto& [section, images] : {std::pair("train_input", &o.train), {"eval_input", &o.held_out}}) {
    if (!images->classes) continue;
    field& ours = *f.named("model.num_classes").front();
    if (ours.given.empty())
      f.read_option(ours, std::to_string(images->classes), section + std::string(".num_classes"));
    if (o.model.classes != images->classes)
      throw std::invalid_argument(
          fmt::format("{}.num_classes is {}, and {} says {}: a model has as many for both", section,
                      images->classes, ours.given, o.model.classes));
  }
}

void check(const options& o) {
  for (const image_params* p : {&o.train, &o.held_out})
    if (p->image_shape.size() != 3)
      throw std::invalid_argument(
          "image_shape is a list of height, width and channels, such as [128, 128, 1]");
  if (o.train.image_shape != o.held_out.image_shape)
    throw std::invalid_argument("eval_input.image_shape is another one than that of train_input");
  if (o.train.normalize != o.held_out.normalize)
    throw std::invalid_argument(
        "eval_input.normalize_data_method is another one than that of train_input: a model reads pixels of "
        "one kind");
  if (o.model.loss == "bce" && o.model.classes != 2)
    throw std::invalid_argument("model.loss bce is of 2 classes: take ssce, or num_classes 2");
  if (o.model.loss == "ssce" && o.model.classes == 2)
    throw std::invalid_argument("model.loss ssce is of 3 classes or more: take bce");
  if (o.model.input_channels && o.model.input_channels != o.train.image_shape[2])
    throw std::invalid_argument(
        fmt::format("model.input_channels {} is not the last number of image_shape, {}",
                    o.model.input_channels, o.train.image_shape[2]));
}

void options::require_folders(bool trains, bool evaluates) const {
  const std::string &train_with = common.train_input.data_dir, &held = common.eval_input.data_dir;
  if (evaluates && held.empty() && !train_with.empty())
    throw std::invalid_argument(
        "eval_input.data_dir is missing: name a folder of images to evaluate with, or give --data_dir, of "
        "whose images train_test_split leaves some for evaluation");
  if (trains && train_with.empty() && !held.empty())
    throw std::invalid_argument("train_input.data_dir is missing: name a folder of images to train with");
}

std::unique_ptr<trainer_params> new_params() { return std::make_unique<params>(); }

}  // namespace unet_app
