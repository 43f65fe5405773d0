// SPDX-License-Identifier: MIT
// The forms of examples that the Model Zoo writes, their targets and masks as a language model learns them,
// and what is written here and read again.
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/packed_sequences.hpp>
#include <wsl/ml/data/subset.hpp>

#include "make.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace files;
using Catch::Matchers::Contains;

struct sequence {
  std::vector<i32> ids, targets;
};
sequence example_of(const dataset& d, i64 which) {
  sequence x{std::vector<i32>(static_cast<std::size_t>(d.length)),
             std::vector<i32>(static_cast<std::size_t>(d.length))};
  d.get(which, {.ids = x.ids, .features = {}, .targets = x.targets});
  return x;
}

TEST_CASE("labels and the mask of the loss are taken as the file has them") {
  const folder here;
  make::hdf5(here / "a-1.h5")
      .add("data", {.shape = {2, 3, 4}, .chunk = {1, 3, 4}, .gzip = 4},
           {5,          6, 7, 0, /**/ 0, 1, 1, 0, /**/ 9, 9, 3,    0,
            /*next*/ 1, 2, 3, 4, /**/ 1, 1, 1, 1, /**/ 2, 3, -100, 8})
      .set("n_examples", 2);
  const dataset d = hdf5_text({.paths = {here / "a-1.h5"}, .vocabulary = 10});
  CHECK(d.count == 2);
  CHECK(d.length == 4);
  CHECK(example_of(d, 0).ids == std::vector<i32>{5, 6, 7, 0});
  CHECK(example_of(d, 0).targets == std::vector<i32>{-100, 9, 3, -100});
  CHECK(example_of(d, 1).targets == std::vector<i32>{2, 3, -100, 8});
  const dataset small = hdf5_text({.paths = {here / "a-1.h5"}, .vocabulary = 9});
  CHECK_THROWS_WITH(
      example_of(small, 0),
      "wsl: " + (here / "a-1.h5") +
          ", dataset 'data', row 0: number 1 of 'labels' is 9, none of the model's 9 tokens: take the "
          "vocabulary with which the data were made");
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "a-1.h5"}, .max_sequence_length = 5}),
                    Contains("max_sequence_length is 5, and the examples of") && Contains("have 4 tokens"));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "a-1.h5"}, .use_vsl = true}),
                    Contains("have no 'position_ids' that say where they begin"));
}

TEST_CASE("the forms of the Model Zoo have the same examples") {
  const std::vector<i64> ids{1, 2, 3, 4}, mask{1, 1, 0, 1}, labels{2, 3, 4, 5};
  const auto joined = [](std::vector<std::vector<i64>> rows) {
    std::vector<i64> all;
    for (const auto& x : rows) all.insert(all.end(), x.begin(), x.end());
    return all;
  };
  const auto check = [&](const folder& here) {
    const dataset d = hdf5_text({.paths = {here / ""}});
    REQUIRE(d.count == 1);
    CHECK(example_of(d, 0).ids == std::vector<i32>{1, 2, 3, 4});
    CHECK(example_of(d, 0).targets == std::vector<i32>{2, 3, -100, 5});
  };
  SECTION("five rows, of which attention over whole sequences takes three") {
    const folder here, there;
    const auto with_positions = [&](const folder& in, const std::vector<i64>& positions) {
      make::hdf5(in / "x.h5")
          .add("data", {.shape = {1, 5, 4}}, joined({ids, mask, labels, {1, 0, 1, 0}, positions}));
      return hdf5_text({.paths = {in / ""}, .use_vsl = true});
    };
    const dataset packed = with_positions(here, {0, 1, 0, 1});
    check(here);
    REQUIRE(packed.named.size() == 3);
    std::vector<i32> of_ids(4), targets(4), positions(4);
    const std::vector<std::span<i32>> rooms{of_ids, targets, positions};
    packed.get(0, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
    CHECK(of_ids == std::vector<i32>{1, 2, 3, 4});
    CHECK(targets == std::vector<i32>{2, 3, -100, 5});
    CHECK(positions == std::vector<i32>{0, 1, 0, 1});
    const dataset wrong = with_positions(there, {0, 1, 3, 0});
    CHECK_THROWS_WITH(wrong.get(0, {.ids = {}, .features = {}, .targets = {}, .named = rooms}),
                      Contains("row 0: number 2 of 'position_ids' is 3: they count up from 0"));
  }
  SECTION("rows in the order of data_params.json") {
    const folder here;
    make::hdf5(here / "x.h5").add("data", {.shape = {1, 3, 4}}, joined({labels, ids, mask}));
    write(here / "data_params.json", R"({"features": ["labels", "input_ids", "attention_mask"]})");
    check(here);
  }
  SECTION("groups of features") {
    const folder here;
    make::hdf5(here / "x.h5")
        .add("data_0", {.shape = {1, 2, 4}}, joined({ids, mask}))
        .add("data_1", {.shape = {1, 1, 4}}, labels);
    write(here / "data_params.json",
          R"({"data_0_features": ["input_ids", "attention_mask"], "data_1_features": ["labels"]})");
    check(here);
  }
  SECTION("a dataset a feature") {
    const folder here;
    make::hdf5(here / "x.h5")
        .add("input_ids", {.shape = {1, 4}}, ids)
        .add("input_mask", {.shape = {1, 4}}, mask)
        .add("labels", {.shape = {1, 4}}, labels);
    check(here);
  }
  SECTION("labels beside the data") {
    const folder here;
    make::hdf5(here / "x.h5")
        .add("data", {.shape = {1, 2, 4}}, joined({ids, mask}))
        .add("labels", {.shape = {1, 1, 4}}, labels);
    check(here);
  }
  SECTION("a dataset an example, the oldest form") {
    const folder here;
    make::hdf5(here / "x.h5")
        .add("example_0", {.shape = {3, 4}}, joined({ids, mask, labels}))
        .set("n_examples", 1);
    check(here);
  }
}

TEST_CASE("tokens in a row are cut into sequences of the length that is asked for, across files") {
  const folder here;
  make::hdf5(here / "a.h5")
      .add("data", {.shape = {10}, .chunk = {4}, .type = H5T_STD_U16LE, .gzip = 1}, make::counted(10));
  make::hdf5(here / "b.h5").add("data", {.shape = {7}, .type = H5T_STD_U16LE}, make::counted(7, 10));
  for (const int length : {1, 3, 5, 16}) {
    const dataset d = hdf5_text({.paths = {here / ""}, .max_sequence_length = length});
    REQUIRE(d.count == 16 / length);
    for (i64 i = 0; i < d.count; ++i)
      for (int t = 0; t < length; ++t) {
        CHECK(example_of(d, i).ids[static_cast<std::size_t>(t)] == i * length + t);
        CHECK(example_of(d, i).targets[static_cast<std::size_t>(t)] == i * length + t + 1);
      }
  }
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "a.h5"}}),
                    Contains("has tokens in a row, which are cut into sequences: give max_sequence_length"));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / ""}, .max_sequence_length = 17}),
                    Contains("17 tokens have no sequence of 17"));
  CHECK_THROWS_WITH(
      example_of(hdf5_text({.paths = {here / ""}, .max_sequence_length = 8, .vocabulary = 12}), 1),
      Contains("b.h5, dataset 'data', row 2: token 12 is none of the model's 12 tokens"));
}

TEST_CASE("files of one run have one form, and say how many examples they have") {
  const folder here;
  make::hdf5(here / "a.h5").add("data", {.shape = {2, 3, 4}}, make::counted(24));
  make::hdf5(here / "b.h5").add("data", {.shape = {2, 3, 5}}, make::counted(30));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / ""}}),
                    Contains("b.h5, dataset 'data': its shape is (2, 3, 5), that of dataset 'data' in " +
                             (here / "a.h5") + " (2, 3, 4)"));
  make::hdf5(here / "b.h5").add("data", {.shape = {2, 3, 4}}, make::counted(24)).set("n_examples", 3);
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / ""}}),
                    Contains("it has 2 rows, but the file says n_examples 3"));
  make::hdf5(here / "b.h5").add("data", {.shape = {2, 6, 4}}, make::counted(48));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "b.h5"}}), Contains("it has 6 rows an example, and 5 names"));
  make::hdf5(here / "b.h5").add("text", {.shape = {2, 4}}, make::counted(8));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "b.h5"}}),
                    Contains("examples have no 'input_ids', but 'text'"));
  make::hdf5(here / "b.h5").add("data", {.shape = {1, 3, 2}}, {1, 2, 0, 7, 3, 4});
  CHECK_THROWS_WITH(example_of(hdf5_text({.paths = {here / "b.h5"}}), 0),
                    Contains("row 0: number 1 of 'attention_mask' is 7"));
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "a.h5", here / "a.h5"}}), Contains("is named twice"));
  std::filesystem::create_directory(here / "nothing");
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "nothing"}}),
                    Contains("the folder has no files that end with .h5"));
  write(here / "data_params.json", R"({"features": 3})");
  CHECK_THROWS_WITH(hdf5_text({.paths = {here / "a.h5"}}), Contains("'features' is a list of names"));
}

TEST_CASE("examples that are written are read again, compressed on any number of threads or not at all") {
  const folder here;
  std::vector<i32> numbers(30 * 3 * 16);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<i32>(i * 7919 % 50000);
  std::string first;
  for (const auto& [gzip, threads] : {std::pair(0, 1), {4, 1}, {4, 3}}) {
    const std::string name = here / fmt::format("{}-{}.h5", gzip, threads);
    write_hdf5_examples(name, numbers, {.length = 16, .compression = gzip, .threads = threads});
    const hdf5_rows x(name, "data");
    CHECK(make::read(x, 0, 30) == numbers);
    CHECK(x.about() == (gzip ? "i4 (30, 3, 16), gzip, in chunks of (1, 3, 16)"
                             : "i4 (30, 3, 16), in chunks of (1, 3, 16)"));
    CHECK(hdf5_attribute(name, "n_examples") == 30);
  }
  CHECK(read_whole(here / "4-1.h5") == read_whole(here / "4-3.h5"));
  CHECK_THROWS_WITH(write_hdf5_examples(here / "x.h5", std::vector<i32>(7), {.length = 16}),
                    Contains("7 numbers are no examples"));
  CHECK_THROWS_WITH(write_hdf5_examples("/nowhere/x.h5", numbers, {.length = 16}),
                    Contains("cannot write /nowhere/x.h5: No such file"));
}

TEST_CASE("batches of HDF5 are the same on one wafer, in parts, and after a resume") {
  const folder here;
  std::vector<i32> numbers;
  for (i32 i = 0; i < 24; ++i)
    for (i32 row : {0, 1, 2})
      for (i32 t = 0; t < 5; ++t) numbers.push_back(row == 1 ? 1 : 10 * i + t + (row == 2));
  write_hdf5_examples(here / "a-1.h5", std::span(numbers).first(150), {.length = 5});
  write_hdf5_examples(here / "a-2.h5", std::span(numbers).subspan(150), {.length = 5});
  const dataset d = hdf5_text({.paths = {here / ""}});
  REQUIRE(d.count == 24);
  batches whole(d, {.size = 6, .seed = 5}), later(d, {.size = 6, .seed = 5, .prefetch = 0}),
      left(d, {.size = 6, .seed = 5, .part = {0, 1, 2}}), right(d, {.size = 6, .seed = 5, .part = {1, 2, 2}});
  for (int k = 0; k < 7; ++k) {
    const loaded_batch b = whole.next(), l = left.next(), r = right.next();
    for (std::size_t i = 0; i < b.ids.size(); ++i) {
      CHECK(b.ids[i] == (i < 15 ? l : r).ids[i]);
      CHECK(b.targets[i] == (i < 15 ? l : r).targets[i]);
    }
    if (k < 3) continue;
    if (k == 3) later.resume(left.position()), later.next();
    if (k == 3) continue;
    later.resume(data_position{left.position().seed, left.position().epoch, left.position().example - 6});
    CHECK(later.next().ids == b.ids);
  }
}

TEST_CASE("golden files of the Model Zoo's form have the tokens of Shakespeare and their successors") {
  const auto at = data_set("hf/hdf5");
  if (!at) return;
  const dataset d = hdf5_text({.paths = {*at}, .vocabulary = 256});
  CHECK(d.count == 104);
  CHECK(d.length == 64);
  // As h5py reads them.
  std::vector<i32> first = example_of(d, 0).ids;
  first.resize(4);
  CHECK(first == std::vector<i32>{70, 105, 114, 115});
  const std::array<i64, 3> begins{0, 40, 80}, ends{40, 80, 104}, of_ids{228629, 229926, 133999},
      counted{2500, 2500, 1506};
  for (std::size_t file = 0; file < 3; ++file) {
    i64 sum = 0, counts = 0;
    for (i64 i = begins[file]; i < ends[file]; ++i) {
      const sequence x = example_of(d, i);
      for (i32 id : x.ids) sum += id;
      for (i32 id : x.targets) counts += id != decoder::no_label;
      for (std::size_t t = 0; t + 1 < x.ids.size(); ++t)
        if (x.targets[t] != decoder::no_label) REQUIRE(x.targets[t] == x.ids[t + 1]);
    }
    CHECK(sum == of_ids[file]);
    CHECK(counts == counted[file]);
  }
}

}  // namespace
