// SPDX-License-Identifier: MIT
// wsl-unet: trains networks that say of each pixel of an image what it belongs to. `wsl-unet train_and_eval`
// needs no data and no file: it draws shapes of its own. `wsl-unet predict` writes what a trained network
// makes of images beside the truth.
#include <cstdio>
#include <filesystem>
#include <tuple>
#include <wsl/ml/data/images/severstal.hpp>
#include <wsl/ml/data/images/shapes.hpp>

#include "../files.hpp"
#include "../train/command.hpp"
#include "../train/ranks.hpp"
#include "../train/session.hpp"
#include "../train/synthetic.hpp"
#include "../train/trainer_main.hpp"
#include "configurations.hpp"
#include "options.hpp"

namespace unet_app {
namespace {

namespace ml = wsl::ml;
using namespace train_app;
using wsl::u8, wsl::u64, wsl::f32;

constexpr int most_drawn_classes = 3;

/// Which images a mode reads.
struct mode_of_images {
  bool trains, evaluates;

  explicit mode_of_images(const std::string& mode)
      : trains(mode == "train" || mode == "train_and_eval" || mode == "validate" || mode == "compile"),
        evaluates(mode != "train" && mode != "compile") {}
};
bool is_severstal(const std::string& folder) {
  return std::filesystem::exists(std::filesystem::path(folder) / "train.csv");
}
/// Whether one folder has the images of both inputs, which train_test_split divides.
bool is_divided(const options& o) { return o.common.train_input.data_dir == o.common.eval_input.data_dir; }

/// Throws std::invalid_argument for an option that the data leave without effect.
void refuse_given(fields& f, const char* name, const std::string& why) {
  for (const field* x : f.named(name))
    if (x->given.starts_with("--"))
      throw std::invalid_argument(fmt::format("{} {}: leave it out", x->given, why));
}
/// Throws std::invalid_argument for inputs that do not fit each other, and for settings without effect.
void check_inputs(fields& f, const options& o, const mode_of_images& now) {
  const std::string &train = o.common.train_input.data_dir, &held_out = o.common.eval_input.data_dir;
  const bool is_drawn = train.empty() && held_out.empty();
  if (o.has_random_images()) {
    for (const char* name : {"drawn_images", "train_test_split", "augment_data", "class_id"})
      refuse_given(f, name, "is of images, and data_processor takes random numbers");
    return;
  }
  o.require_folders(now.trains, now.evaluates);
  if (is_drawn) {
    refuse_given(f, "train_test_split", "divides the images of a data_dir, and there is none");
    if (o.model.classes > most_drawn_classes)
      throw std::invalid_argument(
          fmt::format("model.num_classes {}: drawn images have up to {} classes; give --data_dir for more",
                      o.model.classes, most_drawn_classes));
    return;
  }
  refuse_given(f, "drawn_images", "is of images that are drawn, and data_dir names others");
  if (!is_divided(o)) {
    if (now.trains && now.evaluates)
      refuse_given(f, "train_test_split", "divides one data_dir, and the inputs have different ones");
  } else if (now.evaluates && o.held_out.split == 1)
    throw std::invalid_argument(
        fmt::format("train_test_split 1 leaves no images of {} for evaluation: take a part below 1, or "
                    "another folder for eval_input.data_dir",
                    held_out));
  else if (o.train.split != o.held_out.split)
    throw std::invalid_argument(
        fmt::format("train_input.train_test_split is {} and eval_input.train_test_split is {}: take the same "
                    "for both, so that no image is in both parts",
                    o.train.split, o.held_out.split));
  for (const auto& [folder, images, is_read] :
       {std::tuple(&train, &o.train, now.trains), {&held_out, &o.held_out, now.evaluates}}) {
    if (!is_read || folder->empty()) continue;
    if (!is_severstal(*folder)) refuse_given(f, "class_id", "is of Severstal's train.csv, and there is none");
    else if (images->class_id && o.model.classes != 2)
      throw std::invalid_argument(
          fmt::format("model.num_classes {}: class_id {} makes two classes; take num_classes 2, or class_id "
                      "0 and num_classes 5",
                      o.model.classes, images->class_id));
  }
}

/// All images, and which of them are trained with.
ml::image_source source_of(const options& o, const input_params& in, const image_params& images,
                           bool trains) {
  const int channels = static_cast<int>(images.image_shape[2]), classes = static_cast<int>(o.model.classes);
  if (in.data_dir.empty())
    return ml::in_memory(ml::draw_shapes(images.drawn, {.height = static_cast<int>(images.image_shape[0]),
                                                        .width = static_cast<int>(images.image_shape[1]),
                                                        .classes = std::min(classes, most_drawn_classes),
                                                        .seed = trains ? u64{1} : u64{2}}));
  const ml::image_source all =
      is_severstal(in.data_dir)
          ? ml::read_severstal(in.data_dir, {static_cast<int>(images.class_id), channels})
          : ml::png_folder(in.data_dir, {channels, classes});
  if (images.split == 1 || !is_divided(o)) return all;
  const auto [first, rest] = ml::train_test_split(all, images.split, 1);
  return trains ? first : rest;
}
ml::dataset data_of(const options& o, const input_params& in, const image_params& p, bool trains) {
  if (o.has_random_images())
    return ml::synthetic_features(synthetic_settings_of(in, p.random.num_examples, trains),
                                  static_cast<int>(p.image_shape[0] * p.image_shape[1]),
                                  static_cast<int>(p.image_shape[2]), static_cast<int>(o.model.classes));
  const bool drawn_of_one_channel = !in.data_dir.empty() || p.image_shape[2] == 1;
  if (!drawn_of_one_channel)
    throw std::invalid_argument("image_shape: drawn images have 1 channel; give --data_dir for more");
  ml::image_settings how{
      .height = static_cast<int>(p.image_shape[0]),
      .width = static_cast<int>(p.image_shape[1]),
      .channels = static_cast<int>(p.image_shape[2]),
      .classes = static_cast<int>(o.model.classes),
      .values = choice<ml::pixel_values>(p.normalize, {{"zero_one", ml::pixel_values::zero_one},
                                                       {"zero_centered", ml::pixel_values::zero_centered},
                                                       {"standard_score", ml::pixel_values::standard_score}}),
      .seed = static_cast<u64>(p.augmentation_seed)};
  if (trains && p.augment)
    how.augment = {.flips = true,
                   .quarter_turns = true,
                   .angle = static_cast<f32>(p.angle),
                   .brightness = static_cast<f32>(p.brightness)};
  return ml::examples_of(source_of(o, in, p, trains), how);
}

named_words architecture(const options& o) {
  const ml::unet u = o.unet();
  std::string kernels;
  for (const int k : u.kernels) kernels += (kernels.empty() ? "" : ", ") + std::to_string(k);
  return {{"num_classes", std::to_string(u.classes)},
          {"image_shape", fmt::format("{} x {} x {}", u.height, u.width, u.channels)},
          {"normalize_data_method", o.train.normalize},
          {"convs_per_block", kernels},
          {"downscale_method", o.model.downscale},
          {"norm_layer", o.model.norm},
          {"nonlinearity", o.model.nonlinearity},
          {"skip_connect", o.model.skip ? "true" : "false"},
          {"residual_blocks", o.model.residual ? "true" : "false"}};
}
std::string words_of(const options& o) {
  std::string all =
      fmt::format("{} x {} x {}: ", o.train.image_shape[0], o.train.image_shape[1], o.train.image_shape[2]);
  for (const i64 n : o.model.encoder) all += std::to_string(n) + "-";
  for (const i64 n : o.model.decoder) all += std::to_string(n) + "-";
  return all + fmt::format("{} classes, {}, {}", o.model.classes, o.model.norm, o.model.nonlinearity);
}

/// Images side by side: what is seen, the truth, and what is predicted.
ml::png_pixels side_by_side(const options& o, std::span<const f32> image, std::span<const wsl::i32> truth,
                            std::span<const wsl::i32> predicted) {
  const std::size_t height = static_cast<std::size_t>(o.train.image_shape[0]),
                    width = static_cast<std::size_t>(o.train.image_shape[1]),
                    channels = image.size() / truth.size();
  const int last = static_cast<int>(o.model.classes) - 1;
  const auto [low, high] = std::minmax_element(image.begin(), image.end());
  const f32 range = *high > *low ? *high - *low : 1;
  ml::png_pixels all{static_cast<int>(height), static_cast<int>(3 * width), 1,
                     std::vector<u8>(3 * truth.size())};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    u8* const at = all.numbers.data() + i / width * 3 * width + i % width;
    at[0] = static_cast<u8>(255 * (image[i * channels] - *low) / range);
    at[width] = static_cast<u8>(255 * truth[i] / last);
    at[2 * width] = static_cast<u8>(255 * predicted[i] / last);
  }
  return all;
}

void predict(options& o) {
  const run_params& r = o.common.run;
  const std::string from = checkpoint_to_look_at(r);
  if (from.empty())
    throw std::invalid_argument("there is no checkpoint in " + r.model_dir +
                                ": train first, or give --checkpoint_path");
  require_same_program(from, "wsl-unet"), require_same_model(from, architecture(o), r.override_model);
  ml::network model = o.unet().build();
  freeze(model, o.common.optimizer, {});
  const ml::optimizer rule = optimizer_for(o.common.optimizer, model, {});
  auto t =
      ranks::streaming(std::move(model), rule,
                       {.threads = r.threads, .precision = o.common.precision.format(), .loss_scaling = 1.});
  load(from, *t);
  const ml::dataset data = data_of(o, o.common.eval_input, o.held_out, false);
  app::make_folder(o.out);
  const int channels = static_cast<int>(o.train.image_shape[2]), classes = static_cast<int>(o.model.classes);
  const std::size_t pixels = static_cast<std::size_t>(data.length),
                    logits_of = classes == 2 ? 1 : static_cast<std::size_t>(classes);
  ml::segmentation_score score(classes, o.model.ignored_classes);
  with_average(o.common.optimizer, *t, [&] {
    for (i64 n = 0; n < std::min(o.count, data.count); ++n) {
      std::vector<f32> features(pixels * static_cast<std::size_t>(channels));
      std::vector<wsl::i32> targets(pixels);
      data.get(n, {{}, features, targets});
      const std::vector<f32> logits =
          t->predict({.features = features, .sequences = 1, .length = data.length});
      std::vector<wsl::i32> predicted(pixels);
      for (std::size_t i = 0; i < pixels; ++i) {
        predicted[i] = ml::segmentation_score::predicted(std::span(logits).subspan(i * logits_of, logits_of));
        score.add(targets[i], predicted[i]);
      }
      const std::string file = (std::filesystem::path(o.out) / fmt::format("{:04}.png", n)).string();
      ml::write_png(file, side_by_side(o, features, targets, predicted));
      std::printf("%s\n", file.c_str());
    }
  });
  std::printf("The image, the truth and the prediction side by side: mIOU %.4f, accuracy %.4f\n",
              score.mean_iou(), score.accuracy());
}

/// The modes that read an option.
std::vector<readers> options_of_modes() {
  auto all = common_readers();
  all.push_back({"predict", {"predict"}});
  return all;
}

int run(int argc, char** argv) {
  options o;
  common_params& p = o.common;
  fields f;
  declare(f, o);
  auto modes = common_modes();
  modes.emplace_back("predict", "write images with what is predicted of them");
  int status = 0;
  const program_words words{
      .name = "wsl-unet",
      .about =
          "Trains networks that say of each pixel of an image what it belongs to, by weight "
          "streaming on a\nsimulated wafer. wsl-unet train_and_eval --data_dir steel --model_dir run",
      .modes = modes,
      .configurations = configurations(),
      .options = options_of_modes()};
  const auto mode = parse(argc, argv, words, f, status);
  if (!mode) return status;
  p.run.checkpoint_asked = f.is_asked("checkpoint_path");
  complete(p, ranks::cores(), ranks::memory()), take_classes(f, o), train_app::check(p), check(o);
  const mode_of_images now(*mode);
  check_inputs(f, o, now);
  if (*mode == "predict") {
    if (ranks::size() > 1)
      throw std::invalid_argument("predict is the work of one process: start it without mpirun");
    return predict(o), 0;
  }
  task t{.program = "wsl-unet",
         .model = [u = o.unet()] { return u.build(); },
         .model_words = words_of(o),
         .data_words = o.has_random_images()            ? "random numbers in place of images"
                       : p.train_input.data_dir.empty() ? "shapes that this program draws"
                                                        : "images of " + p.train_input.data_dir,
         .architecture = architecture(o),
         .pixel_classes = static_cast<int>(o.model.classes),
         .ignored_classes = o.model.ignored_classes,
         .draw_picture =
             [&o](std::span<const f32> image, std::span<const wsl::i32> truth,
                  std::span<const wsl::i32> predicted) {
               const ml::png_pixels all = side_by_side(o, image, truth, predicted);
               return picture{all.width, all.height, ml::encoded_png(all)};
             }};
  // Images that a mode does not look at are not read; their number of pixels is that of the others.
  ml::dataset none;
  none.length = static_cast<int>(o.train.image_shape[0] * o.train.image_shape[1]);
  t.train = ranks::read_data([&] { return now.trains ? data_of(o, p.train_input, o.train, true) : none; });
  t.held_out =
      ranks::read_data([&] { return now.evaluates ? data_of(o, p.eval_input, o.held_out, false) : none; });
  session s(p, f.kept_text(), std::move(t));
  run_mode(*mode, s);
  return s.status();
}

}  // namespace
}  // namespace unet_app

int main(int argc, char** argv) { return train_app::run_trainer("wsl-unet", argc, argv, unet_app::run); }
