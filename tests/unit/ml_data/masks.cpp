// SPDX-License-Identifier: MIT
// Images with a class for each pixel: drawn shapes, runs, changes of images, and how well classes are found.
#include <algorithm>
#include <set>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/images/masked.hpp>
#include <wsl/ml/data/images/run_length.hpp>
#include <wsl/ml/data/images/shapes.hpp>
#include <wsl/ml/run/segmentation_score.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Contains;

/// The features and targets of example `which`, in an epoch.
std::pair<std::vector<f32>, std::vector<i32>> example_of(const dataset& d, i64 which, i64 epoch = 0) {
  std::vector<f32> features(static_cast<std::size_t>(d.length * d.width));
  std::vector<i32> targets(static_cast<std::size_t>(d.length));
  d.get(which, {.ids = {}, .features = features, .targets = targets, .epoch = epoch});
  return {features, targets};
}
/// An image of which no two pixels are alike.
masked_image numbered(int height, int width) {
  masked_image x{height, width, 1, {}, {}};
  for (int i = 0; i < height * width; ++i)
    x.pixels.push_back(static_cast<u8>(i)), x.mask.push_back(static_cast<u8>(i % 3));
  return x;
}
image_settings of_size(int height, int width) {
  return {.height = height, .width = width, .classes = 3, .values = pixel_values::zero_one};
}

TEST_CASE("Runs count down the columns, from 1") {
  std::vector<u8> mask(12);  // 3 lines of 4
  add_runs(mask, 3, 4, "1 2 6 2  12 1", 1);
  CHECK(mask == std::vector<u8>{1, 0, 1, 0,  //
                                1, 0, 0, 0,  //
                                0, 1, 0, 1});
  CHECK(runs_of(mask, 3, 4, 1) == "1 2 6 2 12 1");
  add_runs(mask, 3, 4, "", 2), add_runs(mask, 3, 4, "4 1", 2);
  CHECK(runs_of(mask, 3, 4, 2) == "4 1");
  CHECK(runs_of(mask, 3, 4, 3).empty());
  for (const char* wrong : {"0 1", "13 1", "x", "1", "3 x", "1 0", "1.5 2"})
    CHECK_THROWS_WITH(add_runs(mask, 3, 4, wrong, 1), Contains("is a number from 1 to 3 x 4"));
  CHECK_THROWS_WITH(add_runs(mask, 3, 4, "11 3", 1),
                    Contains("a run of 3 from pixel 11 on leaves a mask of 3 x 4"));
  // Any mask comes back from its runs.
  for (u64 seed = 0; seed < 50; ++seed) {
    std::vector<u8> one(35), other(35);
    for (std::size_t i = 0; i < 35; ++i) one[i] = scramble(seed * 100 + i) % 3 == 0;
    add_runs(other, 5, 7, runs_of(one, 5, 7, 1), 1);
    CHECK(other == one);
  }
}

TEST_CASE("An image of the right size comes out as it is, another one resized") {
  const auto [same, classes] = example_of(examples_of(in_memory({numbered(5, 7)}), of_size(5, 7)), 0);
  for (std::size_t i = 0; i < 35; ++i) {
    CHECK(same[i] == static_cast<f32>(i) / 255);
    CHECK(classes[i] == static_cast<i32>(i) % 3);
  }
  // Every pixel of an image twice as large in both directions has a class that was there.
  const auto [twice, of_twice] = example_of(examples_of(in_memory({numbered(5, 7)}), of_size(10, 14)), 0);
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 14; ++x)
      CHECK(of_twice[static_cast<std::size_t>(y * 14 + x)] == (y / 2 * 7 + x / 2) % 3);
  CHECK(twice[0] == 0);
  CHECK(twice[139] == Approx(34. / 255));
}

TEST_CASE("Pixels become numbers in three ways") {
  image_settings how = of_size(1, 4);
  const masked_image x{1, 4, 1, {0, 255, 51, 102}, {0, 1, 2, 0}};
  how.values = pixel_values::zero_centered;
  CHECK(example_of(examples_of(in_memory({x}), how), 0).first == std::vector<f32>{-1, 1, -0.6f, -0.2f});
  how.values = pixel_values::standard_score;
  const std::vector<f32> standard = example_of(examples_of(in_memory({x}), how), 0).first;
  f64 sum = 0, squares = 0;
  for (const f32 v : standard)
    sum += static_cast<f64>(v), squares += static_cast<f64>(v) * static_cast<f64>(v);
  CHECK(std::abs(sum) < 1e-6);
  CHECK(squares == Approx(4));
}

TEST_CASE("Flips and quarter turns permute the pixels, and the mask follows them") {
  image_settings how = of_size(6, 6);
  how.augment = {.flips = true, .quarter_turns = true};
  const dataset d = examples_of(in_memory({numbered(6, 6)}), how);
  std::set<std::vector<f32>> seen;
  for (i64 epoch = 0; epoch < 100; ++epoch) {
    const auto [pixels, classes] = example_of(d, 0, epoch);
    std::vector<f32> sorted = pixels;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < 36; ++i) {
      CHECK(sorted[i] == static_cast<f32>(i) / 255);
      CHECK(classes[i] == static_cast<i32>(std::lround(static_cast<f64>(pixels[i]) * 255)) % 3);
    }
    seen.insert(pixels);
  }
  CHECK(seen.size() == 8);  // the symmetries of a square
}

TEST_CASE("Small rotations, crops and brightness change images a little, and never beyond their range") {
  image_settings how{.height = 32, .width = 32, .values = pixel_values::zero_one};
  const image_source from = in_memory(draw_shapes(1, {.height = 32, .width = 32}));
  const auto plain = example_of(examples_of(from, how), 0);
  for (const augmentation& a :
       {augmentation{.angle = 5}, augmentation{.crop = 0.8f}, augmentation{.brightness = 0.3f}}) {
    how.augment = a;
    const dataset d = examples_of(from, how);
    int agree = 0, all = 0;
    for (i64 epoch = 0; epoch < 20; ++epoch) {
      const auto changed = example_of(d, 0, epoch);
      CHECK(changed.first != plain.first);
      for (std::size_t i = 0; i < changed.first.size(); ++i) {
        CHECK((changed.first[i] >= 0 && changed.first[i] <= 1));
        agree += changed.second[i] == plain.second[i], ++all;
      }
    }
    CHECK(agree > 0.9 * all);
  }
}

TEST_CASE("Changes depend on the seed, the epoch and the image, and on no thread") {
  image_settings how{.height = 16, .width = 16};
  how.augment = {.flips = true, .quarter_turns = true, .angle = 20, .crop = 0.7f, .brightness = 0.5f};
  const image_source from = in_memory(draw_shapes(12, {.height = 16, .width = 16}));
  const auto all = [&](int prefetch, u64 seed) {
    how.seed = seed;
    batches b(examples_of(from, how), {.size = 4, .prefetch = prefetch});
    std::vector<f32> numbers;
    for (int k = 0; k < 9; ++k) {
      const loaded_batch x = b.next();
      numbers.insert(numbers.end(), x.features.begin(), x.features.end());
    }
    return numbers;
  };
  const std::vector<f32> one = all(0, 1);
  CHECK(all(1, 1) == one);
  CHECK(all(8, 1) == one);
  CHECK(all(1, 2) != one);
  // In another epoch the same image is another.
  const dataset d = examples_of(from, how);
  CHECK(example_of(d, 3, 0).first != example_of(d, 3, 1).first);
  // A run that resumes gets the same.
  batches whole(examples_of(from, how), {.size = 4}), later(examples_of(from, how), {.size = 4});
  for (int k = 0; k < 4; ++k) whole.next();
  later.resume(whole.position());
  CHECK(later.next().features == whole.next().features);
}

TEST_CASE("A source is cut into two parts that have every image once") {
  std::vector<masked_image> all;
  for (int i = 0; i < 20; ++i) all.push_back({1, 1, 1, {static_cast<u8>(i)}, {0}});
  const auto [train, test] = train_test_split(in_memory(all), 0.75, 3);
  CHECK(train.count == 15);
  CHECK(test.count == 5);
  std::set<int> seen;
  for (i64 i = 0; i < 15; ++i) seen.insert(train.get(i).pixels[0]);
  for (i64 i = 0; i < 5; ++i) seen.insert(test.get(i).pixels[0]);
  CHECK(seen.size() == 20);
  for (const f64 part : {0., 1., -1., 0.01, 2.})
    CHECK_THROWS_WITH(train_test_split(in_memory(all), part, 1), Contains("train_test_split"));
}

TEST_CASE("Drawn shapes are the same for a seed, and differ from the background") {
  const auto one = draw_shapes(20, {.classes = 3, .seed = 4}),
             again = draw_shapes(10, {.classes = 3, .seed = 4});
  CHECK(one[7].pixels == again[7].pixels);
  CHECK(one[7].mask == again[7].mask);
  CHECK(one[7].pixels != one[8].pixels);
  i64 counts[3] = {}, sums[3] = {};
  for (const masked_image& x : one)
    for (std::size_t i = 0; i < x.mask.size(); ++i) ++counts[x.mask[i]], sums[x.mask[i]] += x.pixels[i];
  for (int c = 1; c < 3; ++c) {
    CHECK(counts[c] > 1000);
    CHECK(sums[c] / counts[c] > sums[0] / counts[0] + 30);
  }
  for (const masked_image& x : draw_shapes(5)) CHECK(*std::max_element(x.mask.begin(), x.mask.end()) == 1);
  CHECK_THROWS_WITH(draw_shapes(1, {.classes = 4}), Contains("2 or 3 classes"));
}

TEST_CASE("Images that do not fit are refused by number and place") {
  const auto get = [](const masked_image& x, const image_settings& how) {
    example_of(examples_of(in_memory({x}), how), 0);
  };
  CHECK_THROWS_WITH(get({1, 2, 1, {1, 2}, {0, 7}}, of_size(1, 2)),
                    Contains("the mask of image 0 has the class 7 in line 0, pixel 1"));
  CHECK_THROWS_WITH(get({1, 2, 1, {1, 2, 3}, {0, 0}}, of_size(1, 2)), Contains("3 numbers"));
  CHECK_THROWS_WITH(get({1, 1, 3, {1, 2, 3}, {0}}, of_size(1, 1)), Contains("3 channels"));
  CHECK_THROWS_WITH(examples_of(in_memory({}), {.height = 0, .width = 1}), Contains("0 x 1"));
  CHECK_THROWS_WITH(examples_of(in_memory({}), {.height = 1, .width = 1, .augment = {.crop = 0}}),
                    Contains("cropped"));
}

TEST_CASE("Scores of pixels are those of their counts") {
  segmentation_score s(3);
  // Class 0: 3 of 4 right; class 1: 1 of 2 right, the other said to be 0; class 2 is nowhere.
  for (int i = 0; i < 3; ++i) s.add(0, 0);
  s.add(0, 1), s.add(1, 1), s.add(1, 0);
  CHECK(s.accuracy() == Approx(4. / 6));
  CHECK(s.mean_class_accuracy() == Approx((3. / 4 + 1. / 2) / 2));
  CHECK(s.mean_iou() == Approx((3. / 5 + 1. / 3) / 2));
  CHECK(s.dice() == Approx((6. / 8 + 2. / 4) / 2));
  CHECK(s.iou(1) == Approx(1. / 3));
  CHECK(s.iou(2) == 0);
  const f32 one_logit[] = {-0.1f}, three[] = {1, 3, 2};
  CHECK(segmentation_score::predicted(one_logit) == 0);
  CHECK(segmentation_score::predicted(three) == 1);
  // Means without a class are those of the others; what its pixels were predicted to be counts for these.
  segmentation_score without(3, {1});
  std::copy_n(s.counts().begin(), 9, without.counts().begin());
  CHECK(without.mean_iou() == Approx(3. / 5));
  CHECK(without.accuracy() == s.accuracy());
  CHECK(without.mean_class_accuracy() == s.mean_class_accuracy());
  CHECK_THROWS_WITH(segmentation_score(1), Contains("at least 2 classes"));
}

}  // namespace
