// SPDX-License-Identifier: MIT
// Checkpoints of sparse weights: a run goes on bit for bit, sparse ones become dense and dense ones sparse,
// and what has no masks, or those of other parameters, is refused.
#include <map>
#include <wsl/ml/io/safetensors.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "../ml/compare.hpp"
#include "../ml/random_text.hpp"
#include "files.hpp"

namespace {
using namespace wsl;
namespace sp = wsl::ml::sparsity;

ml::network model() {
  return ml::decoder{
      .vocabulary = 40, .positions = 8, .layers = 1, .heads = 2, .width = 32, .bias = false, .tied = true}
      .build();
}

using text = test::random_text<40>;

ml::trainer trainer_of(const sp::settings& how) {
  return ml::trainer(model(), ml::optimizer::adamw(), {.workers = 2, .seed = 5, .sparsity = how});
}
void steps(ml::trainer& t, i64 until) {
  while (t.steps() < until) t.step(text(static_cast<unsigned>(t.steps())).all(), 1e-2);
}
/// All numbers of the state, by the names of their arrays.
std::map<std::string, std::vector<f32>> numbers_of(ml::trainer& t) {
  std::map<std::string, std::vector<f32>> all;
  for (const ml::state_array& a : t.state())
    all.emplace(a.name, std::vector(a.numbers.begin(), a.numbers.end()));
  return all;
}

const std::vector<std::string> feed_forward{"layer 0 up.weight", "layer 0 down.weight"};
const sp::settings rigl = sp::rigl({.sparsity = 0.75, .update = {.freq = 3}, .param_filter = feed_forward});

}  // namespace

TEST_CASE("A sparse run that is saved goes on bit for bit") {
  const files::folder here;
  for (const sp::settings& how :
       {rigl, sp::fixed({.sparsity = 0.75}),
        sp::set({.sparsity = 0.5,
                 .update = {.freq = 2},
                 .drop_fraction = sp::cosine{.init = 0.5, .half_period = 10}}),
        sp::gmp({.sparsity = sp::cycling{{0.2, 0.4, 0.6}}, .update = {.freq = 2, .start = 2}})}) {
    CAPTURE(sp::name_of(how.groups[0].algorithm));
    ml::trainer whole = trainer_of(how), first = trainer_of(how);
    steps(whole, 9);
    // At step 3 weights have just grown, and are zero.
    steps(first, 3);
    const std::string file = ml::save_checkpoint(ml::checkpoints(here / "run"), first);
    ml::trainer second = trainer_of(how);
    ml::load_checkpoint(file, second);
    CHECK(second.steps() == 3);
    CHECK(second.patterns() == first.patterns());
    steps(second, 9);
    CHECK(second.patterns() == whole.patterns());
    CHECK(numbers_of(second) == numbers_of(whole));
  }
}

TEST_CASE("What a checkpoint has of sparse weights") {
  const files::folder here;
  ml::trainer t = trainer_of(rigl);
  steps(t, 4);
  ml::save_checkpoint(ml::checkpoints(here / "run"), t);
  ml::checkpoint c(ml::checkpoints(here / "run").name_of(4));
  CHECK(c.masked() == std::vector<std::string>{"layer 0 down.weight", "layer 0 up.weight"});
  CHECK(ml::patterns_in(c, t.model()) == t.patterns());
  ml::safetensors_file in(c.name());
  CHECK(in.get("layer 0 up.weight_mask", {128, 32}).type.name == "BOOL");
  const std::vector<u8> mask = c.mask_of("layer 0 up.weight", {128, 32});
  CHECK(std::count(mask.begin(), mask.end(), 1) == 1024);
  for (const char* name : {"layer 0 up.weight", "layer 0 up.weight/first", "layer 0 up.weight/second"}) {
    const std::vector<f32> x = in.numbers(name, {128, 32});
    i64 beside = 0, there = 0;
    for (std::size_t i = 0; i < x.size(); ++i) (mask[i] ? there : beside) += x[i] != 0;
    CHECK(beside == 0);
    CHECK(there > 900);
  }
}

TEST_CASE("A dense run goes on from a sparse one, and may fill its zeros") {
  const files::folder here;
  ml::trainer sparse = trainer_of(rigl);
  steps(sparse, 4);
  const std::string file = ml::save_checkpoint(ml::checkpoints(here / "run"), sparse);
  ml::trainer resumed = trainer_of({}), begun = trainer_of({});
  ml::load_checkpoint(file, resumed);
  CHECK(resumed.steps() == 4);
  CHECK(numbers_of(resumed) == numbers_of(sparse));
  ml::load_weights(file, begun);
  CHECK(begun.steps() == 0);
  for (ml::trainer* t : {&resumed, &begun}) {
    CHECK(compare::distance(t->parameters(), sparse.parameters()) == 0);
    steps(*t, t->steps() + 2);
    const auto up = t->parameter_named("layer 0 up.weight");
    CHECK(std::count(up.begin(), up.end(), 0.f) < 10);
  }
  // To evaluate, it does not matter which of them the trainer is.
  ml::trainer one = trainer_of({}), other = trainer_of(rigl);
  ml::load_model(file, one), ml::load_model(file, other);
  CHECK(other.patterns() == sparse.patterns());
  CHECK(one.evaluate(text(9).all()) == Approx(other.evaluate(text(9).all())).epsilon(1e-5));
}

TEST_CASE("A sparse run begins with dense weights only where that is wanted") {
  const files::folder here;
  ml::trainer dense = trainer_of({});
  steps(dense, 4);
  const std::string file = ml::save_checkpoint(ml::checkpoints(here / "run"), dense);
  const sp::settings pruned =
      sp::fixed({.sparsity = 0.75, .init_method = sp::init_method::topk, .param_filter = feed_forward});
  ml::trainer refuses = trainer_of(pruned);
  const auto before = numbers_of(refuses);
  for (const auto& way : {std::function<void()>([&] { ml::load_checkpoint(file, refuses); }),
                          std::function<void()>([&] { ml::load_weights(file, refuses); }),
                          std::function<void()>([&] { ml::load_model(file, refuses); })})
    CHECK(files::refusal(way).find(
              "Did not find any sparsity masks in the model checkpoint. Take one of a run with") !=
          std::string::npos);
  CHECK(refuses.steps() == 0);
  CHECK(numbers_of(refuses) == before);

  ml::trainer resumed = trainer_of(pruned), begun = trainer_of(pruned);
  ml::load_checkpoint(file, resumed, ml::without_masks::made);
  ml::load_weights(file, begun, ml::without_masks::made);
  CHECK(resumed.steps() == 4);
  for (ml::trainer* t : {&resumed, &begun}) {
    const auto up = dense.parameter_named("layer 0 up.weight");
    CHECK(t->patterns().at("layer 0 up.weight") ==
          sp::initial_pattern(pruned.groups[0], "layer 0 up.weight", 128, 32, up));
    std::vector<f32> kept(up.begin(), up.end());
    clear_elsewhere(kept, t->patterns().at("layer 0 up.weight"));
    const auto theirs = t->parameter_named("layer 0 up.weight");
    CHECK(std::equal(kept.begin(), kept.end(), theirs.begin()));
    steps(*t, t->steps() + 2);
  }
}

TEST_CASE("Masks of other parameters are refused") {
  const files::folder here;
  ml::trainer t = trainer_of(rigl);
  steps(t, 2);
  const std::string file = ml::save_checkpoint(ml::checkpoints(here / "run"), t);
  ml::trainer fewer = trainer_of(sp::rigl({.sparsity = 0.75, .param_filter = {"layer 0 up.weight"}})),
              more = trainer_of(sp::rigl({.sparsity = 0.75}));
  const auto before = numbers_of(fewer);
  CHECK(files::refusal([&] {
          ml::load_checkpoint(file, fewer);
        }).find("layer 0 down.weight is sparse there, and dense") != std::string::npos);
  CHECK(numbers_of(fewer) == before);
  CHECK(files::refusal([&] {
          ml::load_weights(file, more);
        }).find("is dense there, and sparse in these settings") != std::string::npos);
}
