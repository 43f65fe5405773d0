// SPDX-License-Identifier: MIT
// Batches without the padding at the end of their sequences: the tokens that count in no loss and that no
// token of another place sees. What is left is computed as before. A pipeline takes each of its micro-batches
// so, and computes real tokens only ("variable tensor shape" of the Cerebras Model Zoo).
#pragma once
#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "batch.hpp"

namespace wsl::ml {

namespace detail {

/// Whether padding may be left out at all: no stage sees it, or the batch says with a mask which it sees, and
/// no loss counts it.
inline bool may_leave_out_padding(const network& n) {
  if (n.axes().front().length > 0 || n.statistics() > 0) return false;
  return std::all_of(n.stages().begin(), n.stages().end(), [&](const auto& s) {
    const auto* const loss = dynamic_cast<const loss_stage*>(s.get());
    const bool is_here =
        std::any_of(s->inputs.begin(), s->inputs.end(), [&](int v) { return n.info(v).axis == 0; });
    if (!is_here) return true;
    return !s->needs_sums() && (loss ? loss->is_masked() : !s->sees_padding() || s->padding_mask() >= 0);
  });
}
/// The value that says which tokens of axis 0 a stage sees; -1: none, or one of another axis.
inline int padding_mask_of(const network& n, const stage& s) {
  const int v = s.padding_mask() < 0 ? -1 : s.inputs[static_cast<std::size_t>(s.padding_mask())];
  return v >= 0 && n.info(v).axis == 0 ? v : -1;
}

}  // namespace detail

/// The length of the longest sequence of a batch without its padding, at least 1: all of it if the model sees
/// padding, or if nothing says which tokens it is.
inline int length_without_padding(const network& n, const batch& b) {
  if (b.sequences == 0 || !detail::may_leave_out_padding(n)) return b.length;
  const std::size_t all = b.tokens(), length = static_cast<std::size_t>(b.length);
  std::vector<bool> counts(all);
  bool is_known = false;
  for (const loss_stage* x : n.losses()) {
    if (n.info(x->inputs[0]).axis != 0) continue;
    const int right = x->inputs.size() > 1 ? x->inputs[1] : -1, width = n.width(x->inputs[0]);
    const std::span<const i32> classes = right < 0 ? std::span<const i32>{} : ids_of(n, b, right);
    const std::span<const f32> mask = x->mask < 0 ? b.mask : features_of(n, b, x->mask);
    if (classes.empty() && mask.empty()) continue;  // nothing is to be learnt here
    is_known = true;
    const std::size_t each = classes.size() / all;
    for (std::size_t t = 0; t < all; ++t)
      if ((mask.empty() || mask[t] != 0) && x->counts(classes.subspan(t * each, each), width) > 0)
        counts[t] = true;
  }
  for (const auto& s : n.stages())
    if (const int v = detail::padding_mask_of(n, *s); v >= 0) {
      const std::span<const i32> seen = ids_of(n, b, v);
      if (seen.empty()) return b.length;
      is_known = true;
      for (std::size_t t = 0; t < all; ++t)
        if (seen[t]) counts[t] = true;
    }
  if (!is_known) return b.length;
  std::size_t longest = 1;
  for (std::size_t t = 0; t < all; ++t)
    if (counts[t]) longest = std::max(longest, t % length + 1);
  return static_cast<int>(longest);
}

/// A batch of which only the first tokens of each sequence are left. It refers to the numbers of the other
/// one where they lie together, and has copies of the rest.
class shortened_batch {
 public:
  shortened_batch(const network& n, const batch& all, int length) : batch_(all) {
    batch_.length = length;
    if (length == all.length) return;
    const std::size_t sequences = static_cast<std::size_t>(all.sequences), tokens = all.tokens();
    const auto first = [&](auto& numbers) {
      using T = std::remove_const_t<typename std::remove_reference_t<decltype(numbers)>::element_type>;
      if (numbers.empty()) return;
      const std::size_t each = numbers.size() / tokens,
                        of_sequence = each * static_cast<std::size_t>(all.length),
                        kept = each * static_cast<std::size_t>(length);
      if (sequences == 1) return void(numbers = numbers.first(kept));
      std::vector<T>& copy = std::get<copies<T>>(copies_).emplace_back();
      for (std::size_t s = 0; s < sequences; ++s) {
        const auto part = numbers.subspan(s * of_sequence, kept);
        copy.insert(copy.end(), part.begin(), part.end());
      }
      numbers = copy;
    };
    first(batch_.ids), first(batch_.features), first(batch_.targets), first(batch_.mask);
    for (named_numbers& x : batch_.named)
      for (const value_info& v : n.values())
        if (v.name == x.name && v.axis == 0) first(x.ids), first(x.features);
  }
  shortened_batch(shortened_batch&&) = default;
  shortened_batch(const shortened_batch&) = delete;

  const batch& view() const { return batch_; }

 private:
  template <class T>
  using copies = std::deque<std::vector<T>>;

  batch batch_;
  std::tuple<copies<i32>, copies<f32>> copies_;
};

}  // namespace wsl::ml
