// SPDX-License-Identifier: MIT
// Training on documents of many lengths (docs/guide/finetuning.md), on two threads: several of them in a
// sequence beside one and padding, by weight streaming and in a pipeline, which may leave padding out. The
// lengths are uniform from a tenth of a sequence to all of it, and the longest are packed first. Real
// tokens in a second count; the floor is what the share of real tokens alone would give. Passes over the
// same documents take turns, and the shortest of some is taken, since another program may disturb any. It
// fails if the loss of packed documents is not that of padded ones to 1e-5.
//   bench_packing [<rounds>]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/packed_documents.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;

constexpr int length = 256, vocabulary = 512, batch_size = 8, threads = 2;
constexpr i64 count = 48;

documents some_documents() {
  std::mt19937 draw(7);
  auto texts = std::make_shared<std::vector<std::vector<i32>>>();
  for (i64 k = 0; k < count; ++k) {
    // Of n tokens n - 1 are inputs; lengths are spread evenly, and stand in a random order.
    const f64 share = 0.1 + 0.9 * static_cast<f64>(permutation(count, 3)(k)) / static_cast<f64>(count - 1);
    std::vector<i32>& x = texts->emplace_back(static_cast<std::size_t>(std::lround(share * length)) + 1);
    for (i32& id : x) id = static_cast<i32>(draw() % vocabulary);
  }
  const auto at = [texts](i64 k) -> const std::vector<i32>& { return (*texts)[static_cast<std::size_t>(k)]; };
  return {.count = count,
          .length = [at](i64 k) { return static_cast<int>(at(k).size()) - 1; },
          .get =
              [at](i64 k, std::span<i32> ids, std::span<i32> targets) {
                std::copy_n(at(k).begin(), ids.size(), ids.begin());
                std::copy_n(at(k).begin() + 1, targets.size(), targets.begin());
              }};
}
std::vector<loaded_batch> all_batches(const dataset& d) {
  batches from(d, {.size = batch_size, .shuffle = false, .drop_last = false});
  std::vector<loaded_batch> all;
  for (i64 k = 0; k < from.per_epoch(); ++k) all.push_back(from.next());
  return all;
}
f64 labels_of(const loaded_batch& b) {
  const std::vector<i32>& x = b.by_name.empty() ? b.targets : b.by_name[1].numbers;
  return static_cast<f64>(std::ssize(x) - std::count(x.begin(), x.end(), decoder::no_label));
}

/// A trainer of either kind.
struct machine {
  std::function<f64(const batch&)> evaluate, step;

  template <class T>
  static machine of(std::shared_ptr<T> t) {
    return {[t](const batch& b) { return t->evaluate(b); }, [t](const batch& b) { return t->step(b, 1e-4); }};
  }
};
struct way {
  const char* name;
  machine on;
  const std::vector<loaded_batch>* data;
  f64 seconds = 1e30, tokens = 0, loss = 0;  ///< of full batches; of all
  f64 rate() const { return tokens / seconds; }
};

int run(int rounds) {
  const decoder d{
      .vocabulary = vocabulary, .positions = length, .layers = 4, .heads = 4, .width = 256, .packed = true};
  const packed_documents packed(some_documents(), {.length = length, .order = packing_order::longest_first});
  const std::vector<loaded_batch> together = all_batches(packed.data()), alone = all_batches(packed.padded());
  const auto streaming = [&] {
    const streaming_settings how{.cores = threads, .seed = 1, .threads = threads};
    return machine::of(std::make_shared<trainer>(d.build(), optimizer::adamw(), how));
  };
  const auto pipeline = [&](bool strips) {
    const pipeline_settings how{.strip_padding = strips, .seed = 1, .threads = threads};
    return machine::of(std::make_shared<pipelined_trainer>(d.build(), optimizer::adamw(), how));
  };
  way ways[]{{"weight streaming, padded", streaming(), &alone},
             {"weight streaming, packed", streaming(), &together},
             {"pipeline, padded", pipeline(false), &alone},
             {"pipeline, padded, padding left out", pipeline(true), &alone},
             {"pipeline, packed", pipeline(true), &together}};
  std::printf("%s\n", packed.about().c_str());
  for (way& w : ways) {
    f64 labels = 0;
    for (const loaded_batch& b : *w.data)
      w.loss += w.on.evaluate(b.view()) * labels_of(b), labels += labels_of(b);
    w.loss /= labels;
  }
  for (int r = 0; r < rounds; ++r)
    for (way& w : ways) {
      const auto begin = std::chrono::steady_clock::now();
      w.tokens = 0;
      for (const loaded_batch& b : *w.data) {
        if (b.sequences < batch_size) continue;  // the last one, which is less work for as many PEs
        w.on.step(b.view());
        w.tokens += labels_of(b);  // each real token has a target
      }
      const std::chrono::duration<f64> took = std::chrono::steady_clock::now() - begin;
      w.seconds = std::min(w.seconds, took.count());
    }
  const f64 floor = packed.share() / packed.share_padded();
  std::printf("%-36s %14s %9s %9s\n", "", "real tokens/s", "ratio", "loss");
  for (const way& w : ways) {
    const way& base = w.name[0] == 'w' ? ways[0] : ways[2];
    std::printf("%-36s %14.0f %9.2f %9.6f\n", w.name, w.rate(), w.rate() / base.rate(), w.loss);
  }
  std::printf("%-36s %14s %9.2f\n", "by the share of real tokens", "", floor);
  for (const way& w : ways)
    if (std::abs(w.loss / ways[0].loss - 1) > 1e-5) {
      std::fprintf(stderr, "the loss of %s is not that of %s\n", w.name, ways[0].name);
      return 1;
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? std::atoi(argv[1]) : 5); }
