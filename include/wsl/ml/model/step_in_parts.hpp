// SPDX-License-Identifier: MIT
// A step of training without a fabric where a sequence is cut into parts, as rows of workers share it out. A
// stage that reads the tokens before its own (stage::reads_of_prefix) gets them in the prefix of its part, as
// many as its window says, and their gradients go back to the parts that have them. This tells a stage that
// keeps these rules from one that does not; the numbers that travel on a wafer are those of
// train/streaming/prefix_exchange.hpp.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "column_cut.hpp"
#include "serial.hpp"

namespace wsl::ml {

class step_in_parts {
 public:
  /// The parts begin with the tokens `begins` of a sequence, the first of which is 0. Each store has the
  /// tokens of one of them. Throws std::invalid_argument for other numbers of both.
  step_in_parts(const network& n, weights& numbers, const std::vector<int>& begins, int length,
                std::vector<activation_store> stores)
      : n_(n), numbers_(numbers), stores_(std::move(stores)) {
    if (begins.size() != stores_.size() || begins.empty() || begins.front() != 0)
      throw std::invalid_argument(fmt::format(
          "wsl: {} parts of a sequence, of which the first begins with token 0, have as many stores, "
          "not {}",
          begins.size(), stores_.size()));
    for (std::size_t k = 0; k < begins.size(); ++k)
      tokens_.push_back({begins[k], k + 1 < begins.size() ? begins[k + 1] : length});
  }

  std::size_t count() const { return stores_.size(); }
  activation_store& store(std::size_t part) { return stores_[part]; }
  const token_range& tokens(std::size_t part) const { return tokens_[part]; }

  /// The forward pass. Returns the sum of the losses.
  f64 forward() {
    for (activation_store& store : stores_) store.zero_grad();
    for (const auto& s : n_.stages())
      for (std::size_t part = 0; part < count(); ++part) {
        bring(*s, part);
        forward_of_stage(n_, *s, numbers_, stores_[part]);
      }
    f64 loss = 0;
    for (const activation_store& store : stores_) loss += store.loss;
    return loss;
  }
  /// The backward pass: adds the gradients of all parameters to `gradients`.
  void backward(weights& gradients) {
    for (std::size_t k = n_.stages().size(); k-- > 0;) {
      const stage& s = *n_.stages()[k];
      for (std::size_t part = 0; part < count(); ++part) {
        bring(s, part);
        backward_of_stage(n_, s, numbers_, gradients, stores_[part]);
      }
      for (std::size_t part = 0; part < count(); ++part) give_back(s, part);
    }
  }

 private:
  /// The first token that a part of a stage's output depends on.
  int first_needed(const stage& s, std::size_t part) const {
    const int window = s.reads_of_prefix().window, begin = tokens_[part].first;
    return window ? std::max(0, begin - window + 1) : 0;
  }
  static int features(const stage& s) {
    int n = 0, k = 0;
    for (const feature_group& g : s.groups_of_input(0))
      if (k++ >= s.reads_of_prefix().first_group) n += g.units * g.unit;
    return n;
  }
  /// The features that are read, of the tokens from `first` up to before `end` of a part.
  matrix<f32> rows_of(const matrix<f32>& x, const stage& s, std::size_t part, int first, int end) const {
    const int n = features(s);
    return x.part(first - tokens_[part].first, x.columns() - n, end - first, n);
  }
  /// Calls f(part, first token, token after the last) for the earlier parts that a part's output depends on.
  template <class F>
  void each_before(const stage& s, std::size_t part, F f) {
    const int needed = first_needed(s, part);
    for (std::size_t before = 0; before < part; ++before)
      if (const int first = std::max(needed, tokens_[before].first); first < tokens_[before].end)
        f(before, first, tokens_[before].end);
  }

  void bring(const stage& s, std::size_t part) {
    if (part == 0 || !column_cut::reads_prefix(s)) return;
    stores_[part].begin_prefix(tokens_[part].end, features(s));
    const matrix<f32> prefix = stores_[part].prefix();
    const auto copy_rows = [&](std::size_t from, int first, int end) {
      copy(prefix.part(first, 0, end - first, prefix.columns()),
           rows_of(stores_[from].value(s.inputs[0]), s, from, first, end));
    };
    each_before(s, part, copy_rows);
    copy_rows(part, tokens_[part].first, tokens_[part].end);
  }
  void give_back(const stage& s, std::size_t part) {
    if (part == 0 || !column_cut::reads_prefix(s)) return;
    const matrix<f32> gradient = stores_[part].prefix_gradient();
    each_before(s, part, [&](std::size_t to, int first, int end) {
      add(rows_of(stores_[to].gradient(s.inputs[0]), s, to, first, end),
          gradient.part(first, 0, end - first, gradient.columns()));
    });
  }

  const network& n_;
  weights& numbers_;
  std::vector<activation_store> stores_;
  std::vector<token_range> tokens_;
};

}  // namespace wsl::ml
