// SPDX-License-Identifier: MIT
// The batches of a run, epoch after epoch, prefetched on threads of the host. The examples of a batch depend
// only on the seed and on the position in the data, not on threads, workers or wafers, so a run can resume
// exactly.
//   batches train(windows(read_tokens("train.bin"), 64), {.size = 12, .seed = 7});
//   const loaded_batch b = train.next();
//   t.step(b.view(), rate);
//   const data_position p = train.position();  // saved with a checkpoint; later train.resume(p)
#pragma once
#include <fmt/format.h>

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "../model/batch.hpp"
#include "data_position.hpp"
#include "dataset.hpp"
#include "permutation.hpp"
#include "task.hpp"

namespace wsl::ml {

struct batch_settings {
  int size = 1;         ///< examples of a batch, for all wafers together
  bool shuffle = true;  ///< each epoch in another order; false: in the order of the data
  u64 seed = 1;         ///< the seed of the orders of all epochs
  /// Leaves out the examples at the end of an epoch that do not fill a batch; false: they become a smaller
  /// batch.
  bool drop_last = true;
  int prefetch = 2;  ///< batches made ahead of time, each by a thread; 0: none
  /// The part of each batch that is read; the rest is zeros. Numbers by name are read for the whole batch,
  /// since labels among them say by what the loss is divided.
  batch_part part = {};
};

/// A batch that owns its numbers.
struct loaded_batch {
  /// Those of one field of the dataset, (sequences, count of the field).
  struct named {
    std::string name;
    std::vector<i32> numbers;
  };
  std::vector<i32> ids, targets;
  std::vector<f32> features;
  std::vector<named> by_name = {};
  int sequences = 0, length = 1;

  batch view() const {
    batch b{.ids = ids, .features = features, .targets = targets, .sequences = sequences, .length = length};
    for (const named& x : by_name) b.named.emplace_back(x.name, std::span<const i32>(x.numbers));
    return b;
  }
};

/// One of the batches of a run. It depends on nothing else, so any thread or process can make it.
struct batch_request {
  data_position at;  ///< of its first example
  i64 size = 1;
  bool shuffle = true;
  batch_part part = {};  ///< as of batch_settings
};
using batch_maker = std::function<loaded_batch(const batch_request&)>;

/// The batch of these data.
inline loaded_batch batch_of(const dataset& from, const batch_request& what) {
  const auto& [at, size, shuffle, part_of_all] = what;
  batch_part mine = part_of_all;
  const u64 of_epoch = at.seed ^ scramble(static_cast<u64>(at.epoch)), key = scramble(~of_epoch);
  const permutation order(from.count, of_epoch);
  const auto n = static_cast<std::size_t>(size), length = static_cast<std::size_t>(from.length),
             width = static_cast<std::size_t>(from.width);
  loaded_batch b;
  b.sequences = static_cast<int>(size), b.length = from.length;
  const bool is_named = !from.named.empty();
  for (const named_field& x : from.named)
    b.by_name.push_back({x.name, std::vector<i32>(n * static_cast<std::size_t>(x.count))});
  if (!is_named) b.targets.resize(n * length);
  if (width) b.features.resize(n * length * width);
  else if (!is_named) b.ids.resize(n * length);
  const auto part = [&](auto& all, std::size_t i) {
    return std::span(all).subspan(i * all.size() / n, all.size() / n);
  };
  const int tasks = mine.of;
  int task = 0;  // the wafer to whose part an example belongs
  if (is_named) mine = {};
  for (i64 i = mine.begin_in(size); i < mine.end_in(size); ++i) {
    const i64 which = at.example + i;
    const auto k = static_cast<std::size_t>(i);
    while (i >= size * (task + 1) / tasks) ++task;
    const task_scope of_wafer(tasks, task);
    std::vector<std::span<i32>> named;
    for (loaded_batch::named& x : b.by_name) named.push_back(part(x.numbers, k));
    from.get(shuffle ? order(which) : which,
             {part(b.ids, k), part(b.features, k), part(b.targets, k), named, key, at.epoch});
  }
  return b;
}

class batches {
 public:
  /// Batches are made by `by`, which may ask another process for them; none: here. Throws
  /// std::invalid_argument if the data do not fill one batch.
  batches(dataset from, const batch_settings& how, batch_maker by = {})
      : from_(std::make_shared<const dataset>(std::move(from))),
        how_(how),
        make_(by ? std::move(by) : [d = from_](const batch_request& what) { return batch_of(*d, what); }),
        given_{.seed = how.seed},
        made_(given_) {
    if (how.size < 1 || how.prefetch < 0)
      throw std::invalid_argument(
          fmt::format("wsl: a batch has at least one example and 0 or more are made ahead, not {} and {}",
                      how.size, how.prefetch));
    if (per_epoch() < 1)
      throw std::invalid_argument(
          fmt::format("wsl: the data have {} examples, a batch {}: take a smaller batch or more data",
                      count(), how.size));
  }

  i64 count() const { return from_->count; }
  /// Batches of an epoch.
  i64 per_epoch() const {
    return how_.drop_last ? count() / how_.size : (count() + how_.size - 1) / how_.size;
  }

  /// The next batch. Passes on an exception of `dataset::get`; the next call then tries the same batch again.
  loaded_batch next() {
    while (static_cast<int>(coming_.size()) < how_.prefetch) begin_one();
    if (coming_.empty()) begin_one();
    std::future<loaded_batch> first = std::move(coming_.front());
    coming_.pop_front();
    try {
      loaded_batch b = first.get();
      given_ = after(given_);
      return b;
    } catch (...) {
      resume(given_);
      throw;
    }
  }

  /// The place after the last batch that `next` returned.
  data_position position() const { return given_; }
  /// Goes to a place in the data. Throws std::invalid_argument if these data do not have it.
  void resume(const data_position& p) {
    if (p.epoch < 0 || p.example < 0 || p.example > count())
      throw std::invalid_argument(fmt::format(
          "wsl: a run cannot go on at example {} of epoch {} of {} examples: these are other data", p.example,
          p.epoch, count()));
    coming_.clear();
    given_ = made_ = p;
  }

 private:
  // The size of the batch at p, and where the next one begins. An epoch with too few examples left is over.
  i64 size_at(const data_position& p) const { return std::min<i64>(how_.size, count() - p.example); }
  bool is_over(const data_position& p) const { return size_at(p) < (how_.drop_last ? how_.size : 1); }
  data_position begin_of(data_position p) const {
    return is_over(p) ? data_position{p.seed, p.epoch + 1, 0} : p;
  }
  data_position after(const data_position& p) const {
    data_position b = begin_of(p);
    b.example += size_at(b);
    return b;
  }

  void begin_one() {
    const data_position at = begin_of(made_);
    const auto policy = how_.prefetch ? std::launch::async : std::launch::deferred;
    coming_.push_back(std::async(policy, make_, batch_request{at, size_at(at), how_.shuffle, how_.part}));
    made_ = after(made_);
  }

  std::shared_ptr<const dataset> from_;
  batch_settings how_;
  batch_maker make_;
  data_position given_, made_;
  std::deque<std::future<loaded_batch>> coming_;
};

}  // namespace wsl::ml
