// SPDX-License-Identifier: MIT
// Files that a run leaves beside its checkpoints: activations, and the lines of an offline run.
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/run/activation_dump.hpp>
#include <wsl/ml/run/offline_run.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>

namespace {
using namespace wsl;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

/// A folder that is empty at first, and gone at the end.
struct own_folder {
  fs::path path = fs::temp_directory_path() / fmt::format("wsl_run_files_{}", ::getpid());
  own_folder() { fs::remove_all(path), fs::create_directories(path); }
  ~own_folder() { fs::remove_all(path); }
};
std::vector<nlohmann::json> lines_of(const fs::path& file) {
  std::vector<nlohmann::json> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

TEST_CASE("Activations of a batch are those that the trainer has, by the names of their layers") {
  const own_folder here;
  ml::trainer t(
      ml::decoder{.vocabulary = 30, .positions = 8, .layers = 2, .heads = 2, .width = 16, .dropout = 0.5f}
          .build(),
      ml::optimizer::adamw(), {.threads = 1});
  std::vector<i32> ids, targets;
  for (int k = 0; k < 16; ++k) ids.push_back(k * 7 % 30), targets.push_back(k * 5 % 30);
  const ml::batch b{.ids = ids, .targets = targets, .sequences = 2, .length = 8};
  t.step(b, 1e-2);
  const std::string file = here.path / "some.safetensors";
  ml::dump_activations(file, t, b, {"layer * qkv", "head"}, {{"step", "1"}});
  ml::safetensors_file dump(file);
  REQUIRE(dump.tensors().size() == 3);
  CHECK(dump.metadata().at("step") == "1");
  const std::vector<f32> logits = t.predict(b);  // without dropout, as the dump
  for (const ml::tensor_info& x : dump.tensors()) {
    CHECK(x.shape == std::vector<u64>{2, 8, x.name == "head" ? 30u : 48u});
    if (x.name != "head") continue;
    const std::vector<f32> y = dump.read<f32>(x);
    REQUIRE(y.size() == logits.size());
    for (std::size_t k = 0; k < y.size(); ++k) CHECK(y[k] == Approx(logits[k]).margin(1e-5));
  }
  ml::dump_activations(file, t, b);
  const ml::safetensors_file every(file);
  CHECK(every.tensors().size() == t.model().stages().size() - 1);  // all but the loss

  CHECK_THROWS_WITH(ml::dump_activations(file, t, b, {"head", "heads"}),
                    Contains("no layer that gives activations is called heads; the first is embedding"));
  CHECK_THROWS_WITH(ml::dump_activations(file, t, b, {"loss"}), Contains("is called loss"));
  CHECK_THROWS_AS(ml::dump_activations(here.path / "no" / "file", t, b), ml::file_error);
}

TEST_CASE("An offline run has a line a step, its last values and what names it") {
  const own_folder here;
  fs::path folder;
  {
    ml::offline_run run(here.path, {.project = "pages", .name = "first", .tags = {"a", "b"}}, "model: {}\n");
    folder = run.folder();
    run.scalar("train/loss", 10, 2.5), run.scalar("train/lr", 10, 1e-3);
    CHECK(lines_of(folder / "wandb-history.jsonl").empty());
    run.scalar("train/loss", 20, std::numeric_limits<f64>::quiet_NaN());
    CHECK(lines_of(folder / "wandb-history.jsonl").size() == 1);
    run.scalar("eval/loss", 20, std::numeric_limits<f64>::infinity());
  }
  CHECK(folder.parent_path().filename().string().starts_with("offline-run-20"));
  const auto lines = lines_of(folder / "wandb-history.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK((lines[0]["_step"] == 10 && lines[0]["train/loss"] == 2.5 && lines[0]["train/lr"] == 1e-3));
  CHECK((lines[0]["_runtime"] >= 0. && lines[0]["_timestamp"] > 1e9));
  CHECK((lines[1]["_step"] == 20 && lines[1]["train/loss"] == "NaN" && lines[1]["eval/loss"] == "Infinity"));
  const auto last = lines_of(folder / "wandb-summary.json").at(0);
  CHECK((last["_step"] == 20 && last["train/lr"] == 1e-3 && last["train/loss"] == "NaN"));
  std::ifstream config(folder / "config.yaml"), about(folder / "wandb-metadata.json");
  CHECK(std::string(std::istreambuf_iterator<char>(config), {}) == "model: {}\n");
  const auto names = nlohmann::json::parse(about);
  CHECK((names["project"] == "pages" && names["name"] == "first" && names["tags"].size() == 2));
  CHECK_FALSE(names.contains("group"));

  std::ofstream(here.path / "file") << "in the way";
  CHECK_THROWS_WITH(ml::offline_run(here.path / "file", {}, ""), Contains("cannot make"));
}

}  // namespace
