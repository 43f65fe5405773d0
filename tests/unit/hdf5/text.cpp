// SPDX-License-Identifier: MIT
// Examples of encoders and encoder-decoders in HDF5: every form in which the Model Zoo has them, and what
// rows must be.
#include <chrono>
#include <thread>
#include <wsl/ml/data/hdf5/encoder_decoder.hpp>
#include <wsl/ml/data/hdf5/masked.hpp>

#include "make.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace files;
using Catch::Matchers::Contains;

std::vector<std::vector<i32>> example_of(const dataset& d, i64 which) {
  std::vector<std::vector<i32>> all;
  for (const named_field& x : d.named) all.emplace_back(static_cast<std::size_t>(x.count), -7);
  const std::vector<std::span<i32>> rooms(all.begin(), all.end());
  d.get(which, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
  return all;
}
std::vector<i64> joined(const std::vector<std::vector<i64>>& rows) {
  std::vector<i64> all;
  for (const auto& x : rows) all.insert(all.end(), x.begin(), x.end());
  return all;
}
using rows = std::vector<std::vector<i32>>;

TEST_CASE("hidden words are read in every form of the Model Zoo") {
  const std::vector<i64> ids{2, 7, 4, 3, 1}, seen{1, 1, 1, 1, 0}, types{0, 0, 0, 1, 0},
      labels{-100, -100, 8, 9, -100};
  const rows expected{{2, 7, 4, 3, 1}, {1, 1, 1, 1, 0}, {0, 0, 0, 1, 0}, {-100, -100, 8, 9, -100}};
  rows without_types = expected;
  without_types[2] = {0, 0, 0, 0, 0};
  const folder plain, gathered, typed, apart, named;
  // A label for each token, and labels of places with their mask: what the scripts write.
  make::hdf5(plain / "a-0.h5")
      .add("data", {.shape = {1, 2, 5}, .chunk = {1, 2, 5}, .gzip = 4}, joined({ids, seen}))
      .add("labels", {.shape = {1, 1, 5}, .chunk = {1, 1, 5}, .gzip = 4}, labels)
      .set("n_examples", 1);
  make::hdf5(gathered / "a-0.h5")
      .add("data", {.shape = {1, 2, 5}}, joined({ids, seen}))
      .add("labels", {.shape = {1, 3, 3}}, {9, 8, -100, /**/ 3, 2, 0, /**/ 1, 1, 0})
      .set("n_examples", 1);
  files::write(
      gathered / "data_params.json",
      R"({"features": ["input_ids", "attention_mask", "labels", "masked_lm_positions", "masked_lm_mask"],
                   "dataset": {"training_objective": "mlm", "mlm_with_gather": true}})");
  make::hdf5(typed / "a-0.h5")
      .add("data", {.shape = {1, 3, 5}}, joined({ids, seen, types}))
      .add("labels", {.shape = {1, 1, 5}}, labels)
      .add("next_sentence_label", {.shape = {1, 1, 1}}, {1});
  make::hdf5(apart / "a.h5")
      .add("input_ids", {.shape = {1, 5}}, ids)
      .add("attention_mask", {.shape = {1, 5}, .type = H5T_STD_I8LE}, seen)
      .add("token_type_ids", {.shape = {1, 5}}, types)
      .add("labels", {.shape = {1, 5}, .type = H5T_STD_I64LE}, labels)
      .add("next_sentence_label", {.shape = {1}}, {1});
  make::hdf5(named / "a.h5")
      .add("input_ids", {.shape = {1, 5}}, ids)
      .add("attention_mask", {.shape = {1, 5}}, seen)
      .add("masked_lm_positions", {.shape = {1, 3}}, {2, 3, 0})
      .add("masked_lm_weights", {.shape = {1, 3}}, {1, 1, 0})
      .add("labels", {.shape = {1, 3}}, {8, 9, 0});
  const std::pair<const folder*, const rows*> all[]{{&plain, &without_types},
                                                    {&gathered, &without_types},
                                                    {&typed, &expected},
                                                    {&apart, &expected},
                                                    {&named, &without_types}};
  for (const auto& [here, wanted] : all) {
    const text_task t = hdf5_masked({.paths = {*here / ""}, .vocabulary = 10});
    CHECK(t.data.count == 1);
    CHECK(t.data.length == 5);
    CHECK(t.token_types == (wanted == &expected ? 2 : 1));
    CHECK(example_of(t.data, 0) == *wanted);
  }
  rows pairs = expected;
  pairs.push_back({1});
  for (const folder* here : {&typed, &apart})
    CHECK(example_of(hdf5_masked({.paths = {*here / ""}, .next_sentences = true}).data, 0) == pairs);
  CHECK_THROWS_WITH(hdf5_masked({.paths = {plain / ""}, .next_sentences = true}),
                    Contains("have no 'next_sentence_label', one for each: set disable_nsp"));
  CHECK_THROWS_WITH(hdf5_masked({.paths = {plain / ""}, .max_sequence_length = 6}),
                    Contains("max_sequence_length is 6, and the examples of") && Contains("have 5 tokens"));
}

TEST_CASE("rows of hidden words that cannot be are named") {
  const folder here;
  const auto says = [&](std::vector<i64> data, std::vector<i64> labels, i64 next = 0) {
    std::filesystem::remove(here / "a.h5");
    const hsize_t places = labels.size() / 2;
    // The first row is right.
    std::vector<i64> numbers{2, 3, 4, 1, 1, 1, 0, 0, 0}, of_labels(places, -100);
    if (places == 6) of_labels = {4, 5, 0, 1, 1, 0};
    numbers.insert(numbers.end(), data.begin(), data.end());
    of_labels.insert(of_labels.end(), labels.begin() + static_cast<std::ptrdiff_t>(places), labels.end());
    make::hdf5(here / "a.h5")
        .add("data", {.shape = {2, 3, 3}}, numbers)
        .add("labels", {.shape = {2, places == 6 ? hsize_t{3} : 1, places == 6 ? hsize_t{2} : places}},
             of_labels)
        .add("next_sentence_label", {.shape = {2}}, {0, next});
    const text_task t = hdf5_masked({.paths = {here / "a.h5"}, .vocabulary = 9, .next_sentences = true});
    example_of(t.data, 0);
    return refusal([&] { example_of(t.data, 1); });
  };
  const std::string row = "wsl: " + (here / "a.h5") + ", dataset 'data', row 1: ";
  const std::vector<i64> good{2, 3, 4, 1, 1, 0, 0, 1, 0}, none{0, 0, 0, -100, -100, -100};
  CHECK(says(good, none) == "it is taken");
  CHECK(says({2, 9, 4, 1, 1, 0, 0, 0, 0}, none) ==
        row +
            "number 1 of 'input_ids' is 9, none of the model's 9 tokens: take the vocabulary with which the "
            "data were made");
  CHECK(says({2, 3, 4, 1, 2, 0, 0, 0, 0}, none) ==
        row + "number 1 of 'attention_mask' is 2, and a mask is 0 or 1: write the data again");
  CHECK(says({2, 3, 4, 1, 1, 0, 0, 2, 0}, none) ==
        row + "number 1 of 'token_type_ids' is 2, and a token is of text 0 or 1: write the data again");
  CHECK(
      says(good, {0, 0, 0, -100, 9, -100}) ==
      row +
          "number 1 of 'labels' is 9, none of the model's 9 tokens: take the vocabulary with which the data "
          "were made");
  CHECK(says(good, {0, 0, 0, -100, -100, 5}) ==
        row + "number 2 of 'labels' is 5, the label of token 2, which is padding by 'attention_mask'");
  CHECK(
      says(good, none, 2) ==
      row +
          "number 0 of 'next_sentence_label' is 2, and it is 0, or 1 if the second text does not follow the "
          "first");
  // Labels of two places.
  const std::vector<i64> of_first(6);
  const auto gathered = [&](std::vector<i64> x) {
    x.insert(x.begin(), of_first.begin(), of_first.end());
    return says(good, x);
  };
  CHECK(gathered({5, 6, 0, 1, 1, 1}) == "it is taken");
  CHECK(gathered({5, 6, 0, 3, 1, 1}) ==
        row + "number 1 of 'masked_lm_positions' is 3, and an example has fewer tokens");
  CHECK(gathered({5, 6, 0, 1, 1, 2}) ==
        row + "number 1 of 'masked_lm_mask' is 2, and a mask is 0 or 1: write the data again");
  CHECK(gathered({5, 6, 1, 1, 1, 1}) ==
        row + "number 1 of 'masked_lm_positions' is 1, and an earlier label is of that token as well");
}

TEST_CASE("forms that are no hidden words are refused") {
  const folder here;
  make::hdf5(here / "a.h5").add("data", {.shape = {1, 2, 4}}, {1, 2, 3, 4, 1, 1, 1, 1});
  CHECK_THAT(refusal([&] { hdf5_masked({.paths = {here / "a.h5"}}); }),
             Contains("examples have no 'labels', but 'input_ids', 'attention_mask'"));
  make::hdf5(here / "b.h5")
      .add("data", {.shape = {1, 2, 4}}, {1, 2, 3, 4, 1, 1, 1, 1})
      .add("labels", {.shape = {1, 1, 3}}, {1, 2, 3});
  CHECK_THAT(refusal([&] { hdf5_masked({.paths = {here / "b.h5"}}); }),
             Contains("'input_ids' are 4 and 'labels' 3 numbers: each token has one of both"));
  make::hdf5(here / "c.h5")
      .add("data", {.shape = {2, 2, 2}}, {1, 2, 1, 1, 1, 2, 1, 1})
      .add("labels", {.shape = {1, 1, 2}}, {1, 2});
  CHECK_THAT(refusal([&] { hdf5_masked({.paths = {here / "c.h5"}}); }),
             Contains("dataset 'labels': it has 1 rows, and dataset 'data' 2"));
  CHECK_THAT(
      refusal([&] { hdf5_masked({.paths = {here / "a.h5", here / "b.h5"}}); }),
      Contains("files that are read together have examples of one form, and these have 'labels' as well"));
  {
    const make::hdf5 in(here / "d.h5");
    const hdf5_id group(H5Gcreate2(in.id(), "example_0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), &H5Gclose);
  }
  CHECK_THAT(
      refusal([&] { hdf5_masked({.paths = {here / "d.h5"}}); }),
      Contains("the file has no datasets outside of groups: make examples of text with `wsl-data convert`"));
}

TEST_CASE("texts that are read and written are taken in every form") {
  const std::vector<i64> ids{5, 6, 7, 1}, seen{1, 1, 1, 0}, words{0, 8, 9}, mask{1, 1, 0}, labels{8, 9, 0};
  const rows expected{{5, 6, 7, 1}, {1, 1, 1, 0}, {0, 8, 9}, {8, 9, -100}};
  const folder groups, apart, one, bare;
  make::hdf5(groups / "a-1.h5")
      .add("data_0", {.shape = {1, 2, 4}, .chunk = {1, 2, 4}, .gzip = 4}, joined({ids, seen}))
      .add("data_1", {.shape = {1, 3, 3}, .chunk = {1, 3, 3}, .gzip = 4}, joined({words, mask, labels}))
      .set("n_examples", 1);
  files::write(groups / "data_params.json",
               R"({"data_0_features": ["input_ids", "attention_mask"],
                   "data_1_features": ["decoder_input_ids", "decoder_attention_mask", "labels"]})");
  make::hdf5(apart / "a.h5")
      .add("input_ids", {.shape = {1, 4}}, ids)
      .add("attention_mask", {.shape = {1, 4}}, seen)
      .add("decoder_input_ids", {.shape = {1, 3}}, words)
      .add("decoder_attention_mask", {.shape = {1, 3}}, mask)
      .add("labels", {.shape = {1, 3}}, labels);
  make::hdf5(bare / "a.h5")
      .add("input_ids", {.shape = {1, 4}}, ids)
      .add("attention_mask", {.shape = {1, 4}}, seen)
      .add("decoder_input_ids", {.shape = {1, 3}}, words)
      .add("labels", {.shape = {1, 3}}, {8, 9, -100});
  make::hdf5(one / "a.h5")
      .add("data", {.shape = {1, 5, 4}}, joined({ids, seen, {0, 8, 9, 0}, {1, 1, 0, 0}, {8, 9, 0, 0}}));
  files::write(one / "data_params.json", R"({"features": ["input_ids", "attention_mask", "decoder_input_ids",
                                                          "decoder_attention_mask", "labels"]})");
  for (const folder* here : {&groups, &apart, &bare}) {
    const text_task t = hdf5_encoder_decoder({.paths = {*here / ""}, .vocabulary = 10});
    CHECK(t.data.length == 4);
    CHECK(example_of(t.data, 0) == expected);
  }
  CHECK(example_of(hdf5_encoder_decoder({.paths = {one / ""}}).data, 0) ==
        rows{{5, 6, 7, 1}, {1, 1, 1, 0}, {0, 8, 9, 0}, {8, 9, -100, -100}});

  const auto says = [&](std::vector<i64> read, std::vector<i64> of_labels, std::vector<i64> of_mask) {
    const folder other;
    make::hdf5(other / "a.h5")
        .add("input_ids", {.shape = {1, 4}}, ids)
        .add("attention_mask", {.shape = {1, 4}}, seen)
        .add("decoder_input_ids", {.shape = {1, 3}}, read)
        .add("decoder_attention_mask", {.shape = {1, 3}}, of_mask)
        .add("labels", {.shape = {1, 3}}, of_labels);
    const text_task t = hdf5_encoder_decoder({.paths = {other / "a.h5"}, .vocabulary = 10});
    const std::string said = refusal([&] { example_of(t.data, 0); });
    return said.substr(std::min(said.size(), said.find("row 0")));
  };
  CHECK(
      says({0, 7, 9}, {8, 9, 0}, {1, 1, 0}) ==
      "row 0: number 1 of 'decoder_input_ids' is 7, and the label before it is 8: a decoder reads the labels "
      "shifted by one token: write the data again");
  CHECK(says({0, 8, 7}, {8, 9, 0}, {1, 1, 0}) == "");  // what follows the last label is padding
  CHECK(
      says({0, 8, 9}, {8, 10, 0}, {1, 1, 0}) ==
      "row 0: number 1 of 'labels' is 10, none of the model's 10 tokens: take the vocabulary with which the "
      "data were made");
  CHECK(
      says({0, 8, 10}, {8, 9, 0}, {1, 1, 0}) ==
      "row 0: number 2 of 'decoder_input_ids' is 10, none of the model's 10 tokens: take the vocabulary with "
      "which the data were made");
  CHECK(says({0, 8, 9}, {8, 9, 0}, {1, 3, 0}) ==
        "row 0: number 1 of 'decoder_attention_mask' is 3, and a mask is 0 or 1: write the data again");
  CHECK_THAT(refusal([&] { hdf5_encoder_decoder({.paths = {groups / ""}}); }), Contains("it is taken"));
}

TEST_CASE("several datasets are written to a file that is read again") {
  const folder here;
  std::vector<i32> data(2 * 2 * 5), labels(2 * 5, -100), next{1, 0};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = i % 10 < 5 ? static_cast<i32>(i % 7) : 1;
  labels[3] = 6;
  for (const int compression : {0, 4}) {
    write_hdf5(here / "a.h5", {{"data", data, 2, 5}, {"labels", labels, 1, 5}, {"next_sentence_label", next}},
               {.compression = compression, .threads = 2});
    const text_task t = hdf5_masked({.paths = {here / "a.h5"}, .vocabulary = 7, .next_sentences = true});
    CHECK(t.data.count == 2);
    CHECK(example_of(t.data, 0)[3] == std::vector<i32>{-100, -100, -100, 6, -100});
    CHECK(example_of(t.data, 0)[4][0] == 1);
    CHECK(example_of(t.data, 1)[4][0] == 0);
    CHECK(hdf5_attribute(here / "a.h5", "n_examples") == 2);
  }
  // The same examples are the same bytes, at any time.
  const auto bytes_now = [&] {
    write_hdf5(here / "c.h5", {{"data", data, 2, 5}, {"next_sentence_label", next}}, {});
    return read_whole(here / "c.h5");
  };
  const std::string before = bytes_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // libhdf5 counts seconds
  CHECK(bytes_now() == before);
  CHECK_THROWS_WITH(write_hdf5(here / "b.h5", {{"data", data, 2, 5}, {"labels", next}, {"x", labels}}, {}),
                    Contains("dataset 'x' has 10 examples, and 'data' 2"));
  CHECK_THROWS_WITH(write_hdf5(here / "b.h5", {{"data", data, 2, 3}}, {}),
                    Contains("20 numbers are no examples of 2 features and 3 tokens"));
  CHECK(!std::filesystem::exists(here / "b.h5"));
}

}  // namespace
