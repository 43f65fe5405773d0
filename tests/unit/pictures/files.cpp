// SPDX-License-Identifier: MIT
// Images and masks in PNG files, in folders and as Severstal has them.
#include <wsl/ml/data/images/severstal.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Contains;
using files::folder;
using files::refusal;

png_pixels grey(int height, int width, u8 first = 0) {
  png_pixels x{height, width, 1, {}};
  for (int i = 0; i < height * width; ++i) x.numbers.push_back(static_cast<u8>(first + i));
  return x;
}

TEST_CASE("A PNG that is written is read again, as grey or in colours") {
  const folder here;
  write_png(here / "grey.png", grey(5, 9, 40));
  const png_pixels x = read_png(here / "grey.png", 1);
  CHECK(x.height == 5);
  CHECK(x.width == 9);
  CHECK(x.numbers == grey(5, 9, 40).numbers);
  const png_pixels three = read_png(here / "grey.png", 3);
  CHECK(three.numbers.size() == 135);
  CHECK(three.numbers[3] == 41);
  const png_pixels colours{1, 2, 3, {255, 0, 0, 0, 0, 255}};
  write_png(here / "colours.png", colours);
  CHECK(read_png(here / "colours.png", 3).numbers == colours.numbers);
}

TEST_CASE("Files that are no PNG are named") {
  const folder here;
  files::write(here / "text.png", "no picture");
  CHECK_THAT(refusal([&] { read_png(here / "text.png", 1); }),
             Contains("text.png: this cannot be read as PNG"));
  CHECK_THAT(refusal([&] { read_png(here / "none.png", 1); }), Contains("none.png"));
  write_png(here / "whole.png", grey(64, 64));
  std::ifstream in(here / "whole.png", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  files::write(here / "cut.png", bytes.substr(0, bytes.size() / 2));
  CHECK_THAT(refusal([&] { read_png(here / "cut.png", 1); }),
             Contains("cut.png: the pixels of this PNG cannot be read"));
  CHECK_THAT(refusal([&] { write_png(here / "no/folder.png", grey(1, 1)); }), Contains("cannot be written"));
  CHECK_THROWS_WITH(write_png(here / "x.png", {2, 2, 1, {1}}), Contains("1 numbers are no 2 x 2 pixels"));
  CHECK_THROWS_WITH(read_png(here / "whole.png", 2), Contains("1 or 3 channels"));
}

TEST_CASE("A folder has images and masks of the same names") {
  const folder here;
  CHECK_THAT(refusal([&] { png_folder(here / "", {}); }),
             Contains("images") && Contains("there is no such folder"));
  std::filesystem::create_directories(here / "images"), std::filesystem::create_directories(here / "masks");
  CHECK_THAT(refusal([&] { png_folder(here / "", {}); }), Contains("there are no files *.png"));
  write_png(here / "images/b.png", grey(2, 3)), write_png(here / "images/a.png", grey(4, 5));
  write_png(here / "masks/b.png", {2, 3, 1, {0, 255, 0, 1, 0, 2}});
  CHECK_THAT(refusal([&] { png_folder(here / "", {}); }), Contains("a.png: an image has no mask"));
  write_png(here / "masks/a.png", grey(4, 4));
  const image_source two = png_folder(here / "", {.classes = 2});
  CHECK(two.count == 2);
  CHECK(two.get(1).mask == std::vector<u8>{0, 1, 0, 1, 0, 1});
  CHECK_THAT(refusal([&] { two.get(0); }), Contains("a.png: a mask of 4 x 4 pixels for an image of 4 x 5"));
  const image_source three = png_folder(here / "", {.classes = 3});
  CHECK_THAT(refusal([&] { three.get(1); }),
             Contains("b.png: line 0, pixel 1 has the grey 255, not a class from 0 to 2"));
}

TEST_CASE("The defects of Severstal are runs in a table") {
  const folder here;
  std::filesystem::create_directories(here / "train_images");
  write_png(here / "train_images/one.png", grey(3, 4)), write_png(here / "train_images/two.png", grey(3, 4));
  const auto table = [&](const std::string& text) { files::write(here / "train.csv", text); };
  const auto read = [&](int class_id) { return read_severstal(here / "", {.class_id = class_id}); };
  table("ImageId,ClassId,EncodedPixels\r\none.jpg,3,1 2\r\none.jpg,1,12 1\r\ntwo.jpg,4,4 3\r\n");
  CHECK(read(3).count == 2);
  CHECK(read(3).get(0).mask == std::vector<u8>{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(read(3).get(1).mask == std::vector<u8>(12));
  CHECK(read(0).get(0).mask == std::vector<u8>{3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1});
  CHECK(read(0).get(1).mask == std::vector<u8>{0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0});
  CHECK_THROWS_WITH(read(5), Contains("class_id is one of 1 to 4"));
  table("ImageId,ClassId,EncodedPixels\none.jpg,3,12 2\n");
  CHECK_THAT(refusal([&] { read(3).get(0); }),
             Contains("train.csv: the runs of") && Contains("leaves a mask of 3 x 4"));
  table("ImageId,ClassId,EncodedPixels\none.jpg,7,1 2\n");
  CHECK_THAT(refusal([&] { read(3); }), Contains("train.csv: line 2 is not"));
  table("id,runs\n");
  CHECK_THAT(refusal([&] { read(3); }), Contains("the first line is not ImageId,ClassId,EncodedPixels"));
  table("ImageId,ClassId,EncodedPixels\n");
  CHECK_THAT(refusal([&] { read(3); }), Contains("there are no defects"));
  table("ImageId,ClassId,EncodedPixels\nthree.jpg,3,1 2\n");
  CHECK_THAT(refusal([&] { read(3); }), Contains("three.png: there is no such file"));
}

}  // namespace
