// SPDX-License-Identifier: MIT
// The data of a task on text: examples under the names that the model gives its inputs and targets, the
// classes, if the targets are some, and a sentence about them. Batches come as of any dataset: their order
// and their random choices are functions of the seed and of the place in the data, and a run resumes with
// its data_position.
//   text_task t = ...;
//   batches train(t.data, {.size = 32, .seed = 7});
//   trainer.step(train.next().view(), rate);
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../dataset.hpp"
#include "label_map.hpp"

namespace wsl::ml {

/// The purpose for which texts are read. It says which files of a folder are meant, and whether each text has
/// its label: texts to predict may have none.
enum class text_use : u8 { training, evaluation, prediction };

/// An example as it stands in its file.
struct text_source {
  /// One text or two, the words of a sentence, or the sentences of a document.
  std::vector<std::string> texts;
  /// That of the texts, or those of each word or sentence, as many as there are; none: the file does not say.
  std::vector<std::string> labels;
};

struct text_task {
  dataset data;
  label_map classes = {};  ///< none if the targets are tokens or places
  int vocabulary = 0;      ///< tokens that the model has numbers for, at least
  int token_types = 1;     ///< types that tokens have ("token_type_ids"): 2 where texts come in pairs
  std::string about = {};  ///< for people: what was read, and the numbers of the classes
  /// An example for people; none of tasks whose texts change in each epoch, and of questions.
  std::function<text_source(i64 which)> source = {};
};

namespace detail {

/// Puts numbers at the beginning of a room, and the padding behind them. Those without room are left out.
inline void fill(std::span<i32> room, std::span<const i32> with, i32 padding) {
  const auto n = static_cast<std::ptrdiff_t>(std::min(room.size(), with.size()));
  std::fill(std::copy_n(with.begin(), n, room.begin()), room.end(), padding);
}
/// 1 for each of the first n tokens, 0 for the padding.
inline void fill_mask(std::span<i32> room, std::size_t n) {
  std::fill(room.begin(), room.end(), 0);
  std::fill_n(room.begin(), std::min(n, room.size()), 1);
}

}  // namespace detail

/// The task without the numbers of one name, for a model that does not take them, such as "token_type_ids"
/// of one without token types.
inline text_task without(text_task t, const std::string& name) {
  const auto at = std::find_if(t.data.named.begin(), t.data.named.end(),
                               [&](const named_field& x) { return x.name == name; });
  if (at == t.data.named.end()) return t;
  const auto gap = static_cast<std::size_t>(at - t.data.named.begin());
  const auto room = static_cast<std::size_t>(at->count);
  t.data.named.erase(at);
  t.data.get = [get = std::move(t.data.get), gap, room](i64 which, const example& to) {
    std::vector<i32> unseen(room);
    std::vector<std::span<i32>> all(to.named.begin(), to.named.end());
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(gap), unseen);
    example whole = to;
    whole.named = all;
    get(which, whole);
  };
  return t;
}

}  // namespace wsl::ml
