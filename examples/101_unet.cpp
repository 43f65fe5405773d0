// SPDX-License-Identifier: MIT
// A UNet learns to find drawn shapes: of each pixel it says whether it belongs to one. The images of a batch
// lie on two rows of workers, and batch norm takes the statistics of both.
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/images/masked.hpp>
#include <wsl/ml/data/images/shapes.hpp>
#include <wsl/ml/model/unet.hpp>
#include <wsl/ml/run/segmentation_score.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <cstdio>
using namespace wsl;

constexpr int side = 32;

ml::dataset shapes(i64 count, u64 seed, const ml::augmentation& changes) {
  return ml::examples_of(
      ml::in_memory(ml::draw_shapes(count, {.height = side, .width = side, .most = 2, .seed = seed})),
      {.height = side, .width = side, .augment = changes});
}

int main() {
  const ml::unet model{
      .height = side, .width = side, .encoder_filters = {8, 16}, .decoder_filters = {8}, .kernels = {3}};
  ml::trainer t(model.build(), ml::optimizer::adam(), {.workers = 2, .columns = 1});
  ml::batches lesson(shapes(96, 1, {.flips = true, .quarter_turns = true}), {.size = 8});
  for (int step = 0; step < 60; ++step) t.step(lesson.next().view(), 1e-2);

  const ml::loaded_batch others = ml::batches(shapes(16, 2, {}), {.size = 16}).next();
  ml::segmentation_score score(2);
  t.evaluate(others.view(), [&](i64 first, std::span<const f32> logits) {
    for (std::size_t i = 0; i < logits.size(); ++i)
      score.add(others.targets[static_cast<std::size_t>(first) + i], logits[i] > 0);
  });
  const bool found = score.mean_iou() > 0.85;
  std::printf("of other images the shapes are %s\n", found ? "found" : "not found");
  return found ? 0 : 1;
}
