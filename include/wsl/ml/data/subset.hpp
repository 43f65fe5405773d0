// SPDX-License-Identifier: MIT
// Parts of datasets, and several as one, as the data_subset and the mixture of
// the Cerebras Model Zoo. The order of examples follows from numbers alone, so that a run goes on exactly
// (batches.hpp).
//   const dataset most = subset_of(all, "0.0-0.75");
//   const dataset both = mixture_of({{english, 0.6}, {spanish, 0.4}});
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset.hpp"

namespace wsl::ml {

/// The examples of some ranges, such as "0.0-0.5" or "0.1-0.3,0.7-1.0": of n those from n x begin to n x end,
/// both rounded down. Throws std::invalid_argument for another text, and if no example is left.
inline dataset subset_of(dataset all, const std::string& ranges) {
  const auto refuse = [&](const char* why) -> std::invalid_argument {
    return std::invalid_argument(
        fmt::format("wsl: data_subset '{}': {}; ranges are parts from 0 to 1 in rising order, such as "
                    "'0.0-0.5' or '0.1-0.3,0.7-1.0'",
                    ranges, why));
  };
  struct part {
    i64 first, count, before;  // `before` of the subset
  };
  std::vector<part> parts;
  i64 count = 0;
  f64 last = 0;
  const f64 n = static_cast<f64>(all.count);
  for (std::string_view rest = ranges;;) {
    const std::size_t comma = rest.find(',');
    std::string_view range = rest.substr(0, comma);
    const auto trim = [](std::string_view x) {
      while (x.starts_with(' ')) x.remove_prefix(1);
      while (x.ends_with(' ')) x.remove_suffix(1);
      return x;
    };
    range = trim(range);
    const std::size_t dash = range.find('-');
    const auto number = [&](std::string_view text) {
      text = trim(text);
      f64 x = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
      if (error != std::errc{} || end != text.data() + text.size() || !(x >= 0 && x <= 1))
        throw refuse("a range has two numbers from 0 to 1 with a dash between");
      return x;
    };
    if (dash == range.npos) throw refuse("a range has two numbers from 0 to 1 with a dash between");
    const f64 begin = number(range.substr(0, dash)), end = number(range.substr(dash + 1));
    if (begin < last || end < begin) throw refuse("a range begins where the one before it ends, or later");
    const i64 from = static_cast<i64>(n * begin), to = static_cast<i64>(n * end);
    if (to > from) parts.push_back({from, to - from, count});
    count += to - from, last = end;
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (count == 0) throw refuse(fmt::format("of {} examples none is left", all.count).c_str());
  dataset x = all;
  x.count = count;
  x.get = [get = std::move(all.get), parts = std::move(parts)](i64 which, const example& to) {
    const auto at = std::prev(std::upper_bound(parts.begin(), parts.end(), which,
                                               [](i64 i, const part& p) { return i < p.before; }));
    get(at->first + which - at->before, to);
  };
  return x;
}

/// A dataset of a mixture.
struct mixture_part {
  dataset data;
  f64 weight = 1;  ///< its part of the examples is this over the sum of the weights
};

/// Several datasets of one shape as one, in which each has its part everywhere: example i and those before it
/// have of each dataset as many as its weight asks for, rounded. An epoch is long enough to have every
/// example of each dataset with more than a twentieth of the weights; others are read in part, and those
/// whose weight is more than their size several times. Throws std::invalid_argument for weights below 0 or
/// all 0, and for shapes that differ.
inline dataset mixture_of(std::vector<mixture_part> parts) {
  f64 sum = 0;
  for (const mixture_part& p : parts) {
    if (!(p.weight >= 0) || std::isinf(p.weight))
      throw std::invalid_argument(fmt::format("wsl: a weight of a mixture is at least 0, not {}", p.weight));
    sum += p.weight;
  }
  std::erase_if(parts, [](const mixture_part& p) { return p.weight == 0; });
  if (parts.empty()) throw std::invalid_argument("wsl: a mixture has a dataset with a weight above 0");
  const dataset& first = parts.front().data;
  for (const mixture_part& p : parts) {
    const auto same = [](const named_field& a, const named_field& b) {
      return a.name == b.name && a.count == b.count;
    };
    if (p.data.length != first.length || p.data.width != first.width ||
        !std::equal(p.data.named.begin(), p.data.named.end(), first.named.begin(), first.named.end(), same))
      throw std::invalid_argument(fmt::format(
          "wsl: the examples of a mixture have one shape, and here some have {} tokens and some {}",
          first.length, p.data.length));
  }
  constexpr f64 counts_for_length = 0.05;
  f64 total = 0;
  for (const bool any : {false, true})
    for (const mixture_part& p : parts)
      if (p.weight / sum > counts_for_length || (any && total == 0))
        total = std::max(total, static_cast<f64>(p.data.count) * sum / p.weight);
  struct share {
    std::function<void(i64, const example&)> get;
    i64 has, of_epoch;
  };
  auto shares = std::make_shared<std::vector<share>>();
  dataset x = first;
  x.count = 0;
  for (mixture_part& p : parts) {
    // A number that is whole but for rounding is taken as whole.
    const i64 n = static_cast<i64>(total * (p.weight / sum) + 1e-6);
    if (n == 0) continue;
    shares->push_back({std::move(p.data.get), p.data.count, n});
    x.count += n;
  }
  __extension__ typedef __int128 wide;
  x.get = [shares, count = x.count](i64 which, const example& to) {
    // Of the datasets from number k on, `left` examples are dealt out evenly: number k has those at which its
    // part of the first `which` grows.
    i64 left = count;
    for (const share& s : *shares) {
      const auto dealt = [&](i64 i) { return static_cast<i64>(static_cast<wide>(i) * s.of_epoch / left); };
      const i64 before = dealt(which);
      if (dealt(which + 1) > before) return s.get(before % s.has, to);
      which -= before, left -= s.of_epoch;
    }
  };
  return x;
}

}  // namespace wsl::ml
