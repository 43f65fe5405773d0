// SPDX-License-Identifier: MIT
#include <zlib.h>

#include <numeric>
#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/data/idx.hpp>
#include <wsl/ml/data/token_file.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

void write_gzip(const std::string& name, const std::string& bytes) {
  const gzFile f = ::gzopen(name.c_str(), "wb");
  REQUIRE(::gzwrite(f, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(::gzclose(f) == Z_OK);
}

TEST_CASE("IDX of every type and rank comes back, compressed or not") {
  const files::folder here;
  const auto there_and_back = [&](const idx_array& x) {
    write_idx(here / "x", x);
    write_gzip(here / "x.gz", read_whole(here / "x"));
    for (const char* name : {"x", "x.gz"}) {
      const idx_array y = read_idx(here / name);
      CHECK(y.shape == x.shape);
      CHECK(y.numbers == x.numbers);
    }
  };
  there_and_back({{2, 3}, std::vector<u8>{1, 2, 3, 4, 5, 255}});
  there_and_back({{2}, std::vector<i8>{-128, 127}});
  there_and_back({{1, 1, 2}, std::vector<i16>{-2, 300}});
  there_and_back({{2}, std::vector<i32>{-70000, 70000}});
  there_and_back({{}, std::vector<f32>{1.5f}});
  there_and_back({{2}, std::vector<f64>{-0.1, 1e300}});
  there_and_back({{3, 0}, std::vector<u8>{}});
  CHECK_THROWS_WITH(write_idx(here / "x", {{2}, std::vector<u8>{1}}),
                    Contains("an array of 1 numbers has a shape of 2"));
}

TEST_CASE("IDX has the bytes of MNIST's description") {
  const files::folder here;
  write_idx(here / "x", {{1, 2}, std::vector<i16>{1, -2}});
  CHECK(read_whole(here / "x") == std::string("\0\0\x0b\x02\0\0\0\x01\0\0\0\x02\0\x01\xff\xfe", 16));
}

TEST_CASE("IDX files that are none are refused") {
  const files::folder here;
  const auto says = [&](std::initializer_list<int> bytes) {
    files::write(here / "x", std::string(bytes.begin(), bytes.end()));
    return files::refusal([&] { read_idx(here / "x"); });
  };
  CHECK(says({0, 0, 8, 1, 0, 0, 0, 2, 7, 7}) == "it is taken");
  CHECK_THAT(says({}), Contains("the magic number should follow"));
  CHECK_THAT(says({0, 0, 7, 1}), Contains("this is no IDX file"));
  CHECK_THAT(says({1, 0, 8, 1}), Contains("this is no IDX file"));
  CHECK_THAT(says({0, 0, 8, 255, 1}), Contains("the shape should follow, but the file ends"));
  CHECK_THAT(says({0, 0, 8, 1, 0, 0, 0, 2, 7}),
             Contains("the numbers should follow, but the file ends: it is cut short, fetch it again"));
  CHECK_THAT(says({0, 0, 8, 1, 0, 0, 0, 2, 7, 7, 7}), Contains("more follow"));
  // Neither four thousand million numbers nor 2^96 are made room for.
  CHECK_THAT(says({0, 0, 14, 1, 255, 255, 255, 255, 7}), Contains("cut short"));
  CHECK_THAT(says({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}),
             Contains("more numbers than any file"));
  CHECK_THAT(files::refusal([&] { read_idx(here / "y"); }), Contains("cannot read " + here / "y"));
}

TEST_CASE("A damaged gzip file is named") {
  const files::folder here;
  write_idx(here / "x", {{1000}, std::vector<u8>(1000, 3)});
  write_gzip(here / "x.gz", read_whole(here / "x"));
  const std::string whole = read_whole(here / "x.gz");
  files::write(here / "short.gz", whole.substr(0, whole.size() / 2));
  CHECK_THAT(files::refusal([&] { read_idx(here / "short.gz"); }),
             Contains("short.gz") && (Contains("cut short")));
  std::string damaged = whole;
  damaged[12] = static_cast<char>(damaged[12] ^ 0xff);
  files::write(here / "damaged.gz", damaged);
  CHECK_THAT(files::refusal([&] { read_idx(here / "damaged.gz"); }), Contains("cannot be decompressed"));
  std::string checksum = whole;
  checksum[whole.size() - 8] = static_cast<char>(checksum[whole.size() - 8] ^ 1);
  files::write(here / "checksum.gz", checksum);
  CHECK_THAT(files::refusal([&] { read_idx(here / "checksum.gz"); }), Contains("incorrect data check"));
}

TEST_CASE("Images and labels that do not belong together are refused") {
  const files::folder here;
  write_images(here / "i", here / "l", draw_digits(3, 1));
  write_idx(here / "four", {{4}, std::vector<u8>{1, 2, 3, 4}});
  write_idx(here / "wide", {{3}, std::vector<i32>{1, 2, 3}});
  CHECK(read_images(here / "i", here / "l").count() == 3);
  CHECK_THAT(files::refusal([&] { read_images(here / "i", here / "four"); }),
             Contains("there are 4 labels for the 3 images"));
  CHECK_THAT(files::refusal([&] { read_images(here / "i", here / "wide"); }),
             Contains("bytes in 1 dimensions are wanted"));
  CHECK_THAT(files::refusal([&] { read_images(here / "l", here / "l"); }),
             Contains("bytes in 3 dimensions are wanted; this file has 1"));
  CHECK_THAT(files::refusal([&] { read_mnist(here / "", mnist_part::test); }),
             Contains("there is no t10k-images-idx3-ubyte, with or without .gz"));
}

TEST_CASE("Drawn digits are the same every time, image by image, and as varied as they should be") {
  const images a = draw_digits(300, 5), b = draw_digits(200, 5), c = draw_digits(200, 6);
  CHECK(std::equal(b.pixels.begin(), b.pixels.end(), a.pixels.begin()));
  CHECK(b.pixels != c.pixels);
  std::array<int, 10> of_digit{};
  for (u8 l : a.labels) ++of_digit.at(l);
  for (int n : of_digit) CHECK((n > 12 && n < 55));
  const f64 ink = std::accumulate(a.pixels.begin(), a.pixels.end(), 0.) / 255 / 784 / 300;
  CHECK((ink > 0.08 && ink < 0.2));  // MNIST: 0.13
  CHECK(::crc32(0, b.pixels.data(), static_cast<unsigned>(b.pixels.size())) == 0x98d41b20);
  CHECK(draw_digits(0, 1).count() == 0);
}

TEST_CASE("MNIST") {
  const auto folder = files::data_set("mnist");
  if (!folder) return;
  const images train = read_mnist(*folder, mnist_part::train), test = read_mnist(*folder, mnist_part::test);
  CHECK(train.count() == 60000);
  CHECK(test.count() == 10000);
  CHECK((train.rows == 28 && train.columns == 28));
  const std::vector<u8> first(train.labels.begin(), train.labels.begin() + 10);
  CHECK(first == std::vector<u8>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  f64 sum = 0, squares = 0;
  for (u8 p : train.pixels) sum += p / 255., squares += p / 255. * (p / 255.);
  const f64 n = static_cast<f64>(train.pixels.size()), mean = sum / n;
  CHECK(mean == Approx(0.1307).epsilon(1e-3));  // the published normalization
  CHECK(std::sqrt(squares / n - mean * mean) == Approx(0.3081).epsilon(1e-3));
}

TEST_CASE("Images become examples: pixels from 0 to 1, less the mean, by the deviation") {
  const images x = draw_digits(5, 3);
  const dataset d = examples_of(x, {.mean = 0.5f, .deviation = 0.25f});
  CHECK((d.count == 5 && d.length == 1 && d.width == 784));
  std::vector<f32> features(784);
  std::vector<i32> target(1);
  d.get(3, {{}, features, target});
  CHECK(target[0] == x.labels[3]);
  for (std::size_t k : {0u, 300u, 400u, 783u})
    CHECK(features[k] == Approx((x.pixels[3 * 784 + k] / 255. - 0.5) / 0.25).margin(1e-6));
}

TEST_CASE("Tokens are written and read as llm.c and nanoGPT have them") {
  const files::folder here;
  const std::string name = here / "t.bin";
  const tokens small(std::vector<i32>{0, 1, 50256, 65535}), large(std::vector<i32>{7, 128255});
  for (token_format how : {token_format::llmc, token_format::raw, token_format::llmc_llama3}) {
    write_tokens(name, small, how);
    const tokens back = read_tokens(name);
    REQUIRE(back.size() == 4);
    for (i64 i = 0; i < 4; ++i) CHECK(back[i] == small[i]);
  }
  CHECK(std::filesystem::file_size(name) == 1024 + 16);
  write_tokens(name, large, token_format::llmc_llama3);
  CHECK(read_tokens(name)[1] == 128255);
  CHECK_THROWS_WITH(write_tokens(name, large, token_format::raw),
                    Contains("token 128255 does not fit 16 bits"));
  const tokens open = read_tokens(name);
  CHECK(open[1] == 128255);  // what was there stays
  write_tokens(name, small, token_format::raw);
  CHECK(open[1] == 128255);  // also in tokens that were opened before
  files::write(name, "");
  CHECK(read_tokens(name).size() == 0);
  for (token_format how : {token_format::llmc, token_format::raw, token_format::llmc_llama3}) {
    write_tokens(name, tokens(std::vector<i32>{0, 299}), how, 300);
    CHECK(vocabulary_of_tokens(name) == (how == token_format::raw ? 0 : 300));
    CHECK(read_tokens(name)[1] == 299);
    write_tokens(name, small, how);
    CHECK(vocabulary_of_tokens(name) == 0);
  }
}

TEST_CASE("Token files that are none are refused") {
  const files::folder here;
  const std::string name = here / "t.bin";
  const auto says = [&](std::vector<i32> header, const std::string& rest) {
    files::write(name, files::bytes_of(header) + rest);
    return files::refusal([&] { read_tokens(name); });
  };
  std::vector<i32> header(256);
  header[0] = 20240520, header[1] = 1, header[2] = 3;
  CHECK(says(header, "abcdef") == "it is taken");
  CHECK_THAT(says(header, "abcd"),
             Contains("byte 1024: tokens should follow, 3 x 2 bytes, but only 4 are left"));
  CHECK_THAT(says(header, "abcdefgh"), Contains("2 bytes follow"));
  CHECK_THAT(says({20240520, 1}, ""), Contains("the header of 256 words should follow"));
  CHECK_THAT(says({}, "abc"), Contains("an even number of bytes, not 3"));
  header[2] = 2147483647;
  CHECK_THAT(says(header, ""), Contains("cut short"));
  header[2] = -1;
  CHECK_THAT(says(header, ""), Contains("-1 tokens"));
  header[1] = 2;
  CHECK_THAT(says(header, ""), Contains("version 1, not 2"));
  header[0] = 20240801, header[1] = 7, header[2] = 1;
  CHECK_THAT(says(header, "\xff\xff\xff\xff"), Contains("more than 31 bits"));
  CHECK_THAT(files::refusal([&] { read_tokens(here / "nothing"); }),
             Contains("cannot read " + here / "nothing: No such file"));
  CHECK_THAT(files::refusal([&] { read_tokens(here / ""); }), Contains("no regular file"));
}

}  // namespace
