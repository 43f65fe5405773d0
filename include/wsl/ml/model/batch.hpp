// SPDX-License-Identifier: MIT
// A batch: the examples that the host gives for a step, and the check that they fit the model.
//   t.step({.ids = x, .targets = y, .sequences = 12, .length = 64}, 1e-3);
// A model with several inputs or targets of a kind gets them by the names that it gave them:
//   t.step({.named = {{"left", images}, {"right", others}, {"distance", numbers}}, .sequences = 32}, 1e-3);
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "network.hpp"

namespace wsl::ml {

/// Numbers for one input or target of the model: features, or ids and classes.
struct named_numbers {
  std::string_view name;
  std::span<const f32> features = {};
  std::span<const i32> ids = {};

  named_numbers(std::string_view n, std::span<const f32> x) : name(n), features(x) {}
  named_numbers(std::string_view n, std::span<const i32> x) : name(n), ids(x) {}
};

/// `sequences` sequences of `length` tokens each. A token has ids, or features, or several of both. On
/// another axis of tokens of the model (network::axis) a sequence has as many tokens as there are numbers.
struct batch {
  std::span<const i32> ids = {};       ///< of the only input of ids: (sequences, length)
  std::span<const f32> features = {};  ///< of the only input of features: (sequences, length, its shape)
  std::span<const i32> targets = {};   ///< of the only target of classes: (sequences, length)
  std::span<const f32> mask = {};      ///< weight of each token in the losses; empty: all count 1
  /// The numbers of any input or target, (sequences, length on its axis, its shape).
  std::vector<named_numbers> named = {};
  int sequences = 0, length = 1;
  f32 weight = 0;  ///< 1 / (what counts in the loss), set by `check`
  /// Set by `check` if the model has several losses: what each is multiplied by when they are added up.
  std::vector<f64> loss_factors = {};
  /// Set by the trainer if losses depend on sums over all tokens (loss_stage::statistics).
  std::vector<f64> statistics = {};

  std::size_t tokens() const {
    return static_cast<std::size_t>(sequences) * static_cast<std::size_t>(length);
  }
};

/// The part of every batch that a process needs: the sequences of wafers `first` to `end` - 1 of `of` wafers.
struct batch_part {
  int first = 0, end = 1, of = 1;
  i64 begin_in(i64 sequences) const { return sequences * first / of; }
  i64 end_in(i64 sequences) const { return sequences * end / of; }
};

namespace detail {

inline void fits(const batch& b, const std::string& what, std::size_t has, std::size_t wants) {
  if (has != wants)
    throw std::invalid_argument(fmt::format("wsl: a batch of {} sequences of {} has {} {}, not {}",
                                            b.sequences, b.length, has, what, wants));
}
/// `each` is "id", "target", or "number" for those that have a name.
inline void all_below(const std::string& each, std::span<const i32> numbers, const value_info& v) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if ((numbers[i] < 0 || numbers[i] >= v.ids_below) && v.ignored != numbers[i])
      throw std::invalid_argument(fmt::format("wsl: {} {}{} of the batch is {}, not one of 0 to {}", each, i,
                                              each == "number" ? " of " + v.name : "", numbers[i],
                                              v.ids_below - 1));
}
/// Throws std::invalid_argument for ids of v that do not count up from 0 in each sequence, and perhaps anew.
inline void count_up(std::span<const i32> ids, const value_info& v, int sequences) {
  const std::size_t length = ids.size() / static_cast<std::size_t>(std::max(1, sequences));
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != 0 && (i % length == 0 || ids[i] != ids[i - 1] + 1))
      throw std::invalid_argument(fmt::format(
          "wsl: number {} of {} of the batch is {}: positions count up from 0, and from 0 again where "
          "another document begins",
          i, v.name, ids[i]));
}
/// Whether value v is the only one of its origin and kind, which batches give without a name. Optional
/// numbers have to be named.
inline bool is_only(const network& n, int v) {
  const value_info& x = n.info(v);
  return !x.is_optional && std::count_if(n.values().begin(), n.values().end(), [&](const value_info& y) {
                             return y.from == x.from && y.is_ids() == x.is_ids() && !y.is_optional;
                           }) == 1;
}
inline const named_numbers* named(const batch& b, const std::string& name) {
  const auto at =
      std::find_if(b.named.begin(), b.named.end(), [&](const named_numbers& x) { return x.name == name; });
  return at == b.named.end() ? nullptr : &*at;
}
/// The names of the model's inputs and targets.
inline std::string host_values(const network& n) {
  std::string all;
  for (const value_info& v : n.values())
    if (v.from != origin::computed) all += (all.empty() ? "" : ", ") + v.name;
  return all;
}

}  // namespace detail

/// The ids or classes that a batch has for value v of the model; empty if it has none.
inline std::span<const i32> ids_of(const network& n, const batch& b, int v) {
  const value_info& x = n.info(v);
  if (const named_numbers* of = detail::named(b, x.name)) return of->ids;
  if (!x.is_ids() || !detail::is_only(n, v)) return {};
  return x.from == origin::input ? b.ids : b.targets;
}
/// The features that a batch has for value v of the model, an input or a target; empty if it has none.
inline std::span<const f32> features_of(const network& n, const batch& b, int v) {
  const value_info& x = n.info(v);
  if (const named_numbers* of = detail::named(b, x.name)) return of->features;
  return !x.is_ids() && x.from == origin::input && detail::is_only(n, v) ? b.features
                                                                         : std::span<const f32>{};
}

/// The tokens that a sequence of the batch has on each axis of the model. Throws std::invalid_argument if the
/// batch has no numbers that say it.
inline std::vector<int> lengths_of(const network& n, const batch& b) {
  std::vector<int> lengths{b.length};
  for (int axis = 1; axis < static_cast<int>(n.axes().size()); ++axis) {
    const token_axis& a = n.axes()[static_cast<std::size_t>(axis)];
    int length = a.length;
    for (int v = 0; v < static_cast<int>(n.values().size()) && length == 0; ++v) {
      const value_info& x = n.info(v);
      if (x.axis != axis || x.from == origin::computed || b.sequences == 0) continue;
      const std::size_t all = x.is_ids() ? ids_of(n, b, v).size() : features_of(n, b, v).size(),
                        each = static_cast<std::size_t>(b.sequences) * static_cast<std::size_t>(x.width());
      if (all % each)
        throw std::invalid_argument(fmt::format(
            "wsl: the {} numbers of {} are not as many for each of {} sequences", all, x.name, b.sequences));
      length = static_cast<int>(all / each);
    }
    if (length == 0 && b.sequences > 0)
      throw std::invalid_argument(
          fmt::format("wsl: the batch has no numbers for {}, of which the model takes {}", a.name,
                      detail::host_values(n)));
    lengths.push_back(std::max(length, 1));
  }
  return lengths;
}
/// The tokens of all sequences on the axis of value v.
inline std::size_t tokens_of_value(const network& n, const batch& b, int v) {
  const int axis = n.info(v).axis;
  return static_cast<std::size_t>(b.sequences) *
         static_cast<std::size_t>(axis == 0 ? b.length : lengths_of(n, b)[static_cast<std::size_t>(axis)]);
}

namespace detail {

/// Checks the numbers for the values of one origin.
inline void check_values(const network& n, const batch& b, origin from) {
  for (int v = 0; v < static_cast<int>(n.values().size()); ++v) {
    const value_info& x = n.info(v);
    if (x.from != from) continue;
    const bool unnamed = !named(b, x.name) && is_only(n, v);
    const std::size_t wants = tokens_of_value(n, b, v) * static_cast<std::size_t>(x.width());
    if (x.is_ids()) {
      if (x.is_optional && ids_of(n, b, v).empty()) continue;
      const char* kind = from == origin::input ? "id" : "target";
      fits(b, unnamed ? std::string(kind) + "s" : "ids of " + x.name, ids_of(n, b, v).size(), wants);
      all_below(unnamed ? kind : "number", ids_of(n, b, v), x);
      if (x.counts_up) count_up(ids_of(n, b, v), x, b.sequences);
    } else {
      fits(b, unnamed && from == origin::input ? "features" : "features of " + x.name,
           features_of(n, b, v).size(), wants);
    }
  }
}
inline void check_size(const batch& b) {
  if (b.sequences < 0 || b.length < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: a batch has 0 or more sequences of at least one token, not {} of {}", b.sequences, b.length));
  const bool has_numbers = !b.ids.empty() || !b.features.empty() || !b.targets.empty() ||
                           std::any_of(b.named.begin(), b.named.end(), [](const named_numbers& x) {
                             return !x.ids.empty() || !x.features.empty();
                           });
  if (b.sequences == 0 && has_numbers)
    throw std::invalid_argument(
        "wsl: the batch has numbers, but no sequences: set batch::sequences, and batch::length if a sequence "
        "has several tokens");
}
/// A batch has no numbers that the model does not take.
inline void check_names(const network& n, const batch& b) {
  const auto takes = [&](origin from, bool ids) {
    return std::count_if(n.values().begin(), n.values().end(), [&](const value_info& v) {
      return v.from == from && v.is_ids() == ids && !v.is_optional;
    });
  };
  if (!b.ids.empty() && takes(origin::input, true) == 0)
    throw std::invalid_argument(
        "wsl: the batch has an id for each token, but the model has no embedding: give it features");
  if (!b.features.empty() && takes(origin::input, false) == 0)
    throw std::invalid_argument("wsl: the batch has features, but the model has no input of features");
  if ((!b.ids.empty() && takes(origin::input, true) > 1) ||
      (!b.features.empty() && takes(origin::input, false) > 1) ||
      (!b.targets.empty() && takes(origin::target, true) > 1))
    throw std::invalid_argument(
        fmt::format("wsl: the model has several inputs or targets of a kind: the batch names each of {}",
                    host_values(n)));
  for (auto x = b.named.begin(); x != b.named.end(); ++x)
    if (std::any_of(b.named.begin(), x, [&](const named_numbers& other) { return other.name == x->name; }))
      throw std::invalid_argument(fmt::format("wsl: the batch has two sets of numbers called {}", x->name));
  for (const named_numbers& x : b.named)
    if (std::none_of(n.values().begin(), n.values().end(),
                     [&](const value_info& v) { return v.from != origin::computed && v.name == x.name; }))
      throw std::invalid_argument(fmt::format("wsl: the batch has numbers called {}, but the model takes {}",
                                              x.name, host_values(n)));
}
/// The number by which the sum of a loss is divided: the mask times the loss's count, over the tokens.
inline f64 counts_of(const network& n, const batch& b, const loss_stage& loss) {
  if (loss.is_of_sequences()) return b.sequences;
  const int right = loss.inputs.size() > 1 ? loss.inputs[1] : -1, width = n.width(loss.inputs[0]);
  const std::span<const i32> classes = right < 0 ? std::span<const i32>{} : ids_of(n, b, right);
  const std::size_t tokens = tokens_of_value(n, b, loss.inputs[0]),
                    each = classes.size() / std::max<std::size_t>(1, tokens);
  std::span<const f32> mask = loss.mask < 0 ? b.mask : features_of(n, b, loss.mask);
  if (!loss.is_masked()) mask = {};
  f64 counts = 0;
  for (std::size_t t = 0; t < tokens; ++t)
    counts +=
        (mask.empty() ? 1 : static_cast<f64>(mask[t])) * loss.counts(classes.subspan(t * each, each), width);
  return counts;
}

}  // namespace detail

/// Checks the input of a model. Throws std::invalid_argument.
inline void check_input(const network& n, const batch& b) {
  detail::check_size(b);
  detail::check_names(n, b);
  detail::check_values(n, b, origin::input);
  const std::vector<int> lengths = lengths_of(n, b);
  if (const token_axis& a = n.axes().front(); a.length && b.sequences > 0 && b.length != a.length)
    throw std::invalid_argument(
        fmt::format("wsl: batch::length is {} for {}, not {}", a.length, a.name, b.length));
  for (std::size_t axis = 0; axis < lengths.size(); ++axis)
    if (const token_axis& a = n.axes()[axis]; a.positions && lengths[axis] > a.positions)
      throw std::invalid_argument(
          fmt::format("wsl: a sequence of {} tokens{} is longer than the {} positions of the model",
                      lengths[axis], axis ? " of " + a.name : "", a.positions));
}
/// The number by which the sum of each loss of the model is divided. The batch must fit the model.
inline std::vector<f64> counts_of_losses(const network& n, const batch& b) {
  std::vector<f64> counts;
  for (const loss_stage* x : n.losses()) counts.push_back(detail::counts_of(n, b, *x));
  return counts;
}
/// How many sequences of a batch belong together (loss_stage::sequences_together).
inline int sequences_together(const network& n) {
  int all = 1;
  for (const loss_stage* x : n.losses()) all = std::lcm(all, x->sequences_together());
  return all;
}
/// Checks a batch with targets, sets its weight and the factors of its losses, and returns the number by
/// which the sum of the loss is divided. Throws std::invalid_argument.
inline f64 check(const network& n, batch& b) {
  if (n.losses().empty()) throw std::invalid_argument("wsl: the model has no loss to train with");
  detail::check_size(b);
  detail::check_names(n, b);
  detail::check_values(n, b, origin::target);
  check_input(n, b);
  for (const loss_stage* x : n.losses())
    if (!b.mask.empty() && x->is_masked() && x->mask < 0)
      detail::fits(b, "numbers of the mask", b.mask.size(), tokens_of_value(n, b, x->inputs[0]));
  for (const loss_stage* x : n.losses())
    if (const int together = x->sequences_together(); b.sequences % together)
      throw std::invalid_argument(
          fmt::format("wsl: {} takes sequences in groups of {} that follow each other, and the batch has {}: "
                      "give it whole "
                      "groups",
                      x->name, together, b.sequences));
  for (const f32 x : b.mask)
    if (!(x >= 0) || std::isinf(x))
      throw std::invalid_argument(
          fmt::format("wsl: the mask weighs each token with a finite number of at least 0, not with {}", x));
  const std::vector<f64> of = counts_of_losses(n, b);
  const auto first = std::find_if(of.begin(), of.end(), [](f64 x) { return x > 0; });
  if (first == of.end())
    throw std::invalid_argument(
        "wsl: no token of the batch counts: it is empty, or its mask is 0 everywhere");
  // The sum of the losses is divided by what counts in one of them.
  b.loss_factors.clear();
  for (std::size_t k = 0; k < of.size(); ++k) {
    const loss_stage& x = *n.losses()[k];
    const f64 divided_by = x.by_sequences ? b.sequences : of[k];
    b.loss_factors.push_back(of[k] > 0 ? static_cast<f64>(x.factor) * *first / divided_by : 0);
  }
  b.weight = static_cast<f32>(1 / *first);
  return *first;
}

/// The batch without what only losses read.
inline batch without_targets(const network& n, batch b) {
  b.targets = {}, b.mask = {};
  std::erase_if(b.named, [&](const named_numbers& x) {
    return std::any_of(n.values().begin(), n.values().end(),
                       [&](const value_info& v) { return v.from == origin::target && v.name == x.name; });
  });
  return b;
}

/// The part of a batch that belongs to `count` of its sequences, from number `first` on.
inline batch sequences_of(const batch& all, int first, int count) {
  const auto part = [&](auto x) {
    const std::size_t each = x.size() / static_cast<std::size_t>(std::max(1, all.sequences));
    return x.subspan(static_cast<std::size_t>(first) * each, static_cast<std::size_t>(count) * each);
  };
  batch b = all;
  b.ids = part(all.ids), b.features = part(all.features), b.targets = part(all.targets),
  b.mask = part(all.mask), b.sequences = count;
  for (named_numbers& x : b.named) x.features = part(x.features), x.ids = part(x.ids);
  return b;
}

/// Gives the tokens of a batch to a store: a step begins. The store keeps the spans of ids and the mask;
/// features are copied. Without `inputs`, the features of inputs come from elsewhere, and only ids and
/// targets are given.
inline void give(activation_store& to, const network& n, const batch& b, bool inputs = true) {
  if (to.sequences() != b.sequences || (b.sequences > 0 && !to.fits(b.sequences, lengths_of(n, b))))
    throw std::invalid_argument(fmt::format("wsl: a store of {} sequences of {} is given {} of {}",
                                            to.sequences(), to.length_of_axis(0), b.sequences, b.length));
  to.give_mask(b.mask);
  to.sequences_of_pass = b.sequences, to.first_of_pass = 0, to.part_of_batch = 1;
  to.weight = b.weight, to.loss_factors = b.loss_factors, to.statistics = b.statistics;
  for (int v = 0; v < static_cast<int>(n.values().size()); ++v) {
    const value_info& x = n.info(v);
    if (x.from == origin::computed) continue;
    if (x.is_ids()) to.give_ids(v, ids_of(n, b, v));
    else if (inputs || x.from == origin::target) to.give_features(v, features_of(n, b, v));
  }
  to.zero_grad();
}
/// The widths of the values of a model on a PE that has all of their features.
inline std::vector<value_width> widths_of(const network& n) {
  std::vector<value_width> all;
  for (std::size_t v = 0; v < n.values().size(); ++v)
    all.push_back({n.widths()[v], n.widths()[v], 0, n.values()[v].axis, {}});
  return all;
}
/// A store for a whole batch.
inline activation_store store_of(const network& n, const batch& b) {
  activation_store store;
  store.resize(widths_of(n), n.stages().size(), b.sequences, lengths_of(n, b));
  give(store, n, b);
  return store;
}

}  // namespace wsl::ml
