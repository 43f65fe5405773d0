// SPDX-License-Identifier: MIT
// Batches without the padding at the end of their sequences: the tokens that count in no loss and that no
// token of another place sees. What is left is computed as before. A pipeline takes each of its micro-batches
// so, and computes real tokens only ("variable tensor shape" of the Cerebras Model Zoo). Each axis of tokens
// has padding of its own: of an encoder-decoder, what is read and what is written.
#pragma once
#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "batch.hpp"

namespace wsl::ml {

namespace detail {

/// The value that says which tokens of an axis a stage sees; -1: none, or one of another axis.
inline int padding_mask_of(const network& n, const stage& s, int axis) {
  const int v = s.padding_mask() < 0 ? -1 : s.inputs[static_cast<std::size_t>(s.padding_mask())];
  return v >= 0 && n.info(v).axis == axis ? v : -1;
}
/// Whether padding of an axis may be left out at all: no stage sees it, or the batch says with a mask which
/// it sees, and no loss counts it.
inline bool may_leave_out_padding(const network& n, int axis) {
  if (n.axes()[static_cast<std::size_t>(axis)].length > 0 || n.statistics() > 0) return false;
  return std::all_of(n.stages().begin(), n.stages().end(), [&](const auto& s) {
    const auto* const loss = dynamic_cast<const loss_stage*>(s.get());
    for (std::size_t k = 0; k < s->inputs.size(); ++k) {
      if (n.info(s->inputs[k]).axis != axis) continue;
      if (s->needs_sums() || (loss && !loss->is_masked())) return false;
      if (!loss && s->sees_padding_of(static_cast<int>(k)) && padding_mask_of(n, *s, axis) < 0) return false;
    }
    return true;
  });
}
/// The tokens of the longest sequence on an axis without its padding, at least 1; all of `length` if nothing
/// says which tokens are padding.
inline int length_without_padding(const network& n, const batch& b, int axis, int length) {
  const std::size_t each_sequence = static_cast<std::size_t>(length),
                    all = static_cast<std::size_t>(b.sequences) * each_sequence;
  std::vector<bool> counts(all);
  bool is_known = false;
  for (const loss_stage* x : n.losses()) {
    if (n.info(x->inputs[0]).axis != axis) continue;
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
    if (const int v = padding_mask_of(n, *s, axis); v >= 0) {
      const std::span<const i32> seen = ids_of(n, b, v);
      if (seen.empty()) return length;
      is_known = true;
      for (std::size_t t = 0; t < all; ++t)
        if (seen[t]) counts[t] = true;
    }
  if (!is_known) return length;
  std::size_t longest = 1;
  for (std::size_t t = 0; t < all; ++t)
    if (counts[t]) longest = std::max(longest, t % each_sequence + 1);
  return static_cast<int>(longest);
}
/// The axis of the only value of an origin and a kind, which batches give without a name.
inline int axis_of_only(const network& n, origin from, bool ids) {
  for (int v = 0; v < static_cast<int>(n.values().size()); ++v)
    if (n.info(v).from == from && n.info(v).is_ids() == ids && is_only(n, v)) return n.info(v).axis;
  return 0;
}
/// That of the mask of the losses.
inline int axis_of_mask(const network& n) {
  for (const loss_stage* x : n.losses())
    if (x->is_masked() && x->mask < 0) return n.info(x->inputs[0]).axis;
  return 0;
}

}  // namespace detail

/// The tokens of the longest sequence of a batch without its padding on each axis, at least 1: all of them if
/// the model sees padding there, or if nothing says which tokens it is.
inline std::vector<int> lengths_without_padding(const network& n, const batch& b) {
  std::vector<int> lengths = lengths_of(n, b);
  if (b.sequences == 0) return lengths;
  for (int axis = 0; axis < static_cast<int>(lengths.size()); ++axis)
    if (int& length = lengths[static_cast<std::size_t>(axis)]; detail::may_leave_out_padding(n, axis))
      length = detail::length_without_padding(n, b, axis, length);
  return lengths;
}

/// A batch of which only the first tokens of each sequence are left, so many on each axis. It refers to the
/// numbers of the other one where they lie together, and has copies of the rest.
class shortened_batch {
 public:
  shortened_batch(const network& n, const batch& all, const std::vector<int>& lengths) : batch_(all) {
    batch_.length = lengths.front();
    const std::vector<int> before = lengths_of(n, all);
    if (before == lengths) return;
    const std::size_t sequences = static_cast<std::size_t>(all.sequences);
    const auto first = [&](auto& numbers, int axis) {
      using T = std::remove_const_t<typename std::remove_reference_t<decltype(numbers)>::element_type>;
      const auto of = [&](const std::vector<int>& x) {
        return static_cast<std::size_t>(x[static_cast<std::size_t>(axis)]);
      };
      if (numbers.empty() || of(before) == of(lengths)) return;
      const std::size_t of_sequence = numbers.size() / sequences,
                        kept = of_sequence / of(before) * of(lengths);
      if (sequences == 1) return void(numbers = numbers.first(kept));
      std::vector<T>& copy = std::get<copies<T>>(copies_).emplace_back();
      for (std::size_t s = 0; s < sequences; ++s) {
        const auto part = numbers.subspan(s * of_sequence, kept);
        copy.insert(copy.end(), part.begin(), part.end());
      }
      numbers = copy;
    };
    first(batch_.ids, detail::axis_of_only(n, origin::input, true));
    first(batch_.features, detail::axis_of_only(n, origin::input, false));
    first(batch_.targets, detail::axis_of_only(n, origin::target, true));
    first(batch_.mask, detail::axis_of_mask(n));
    for (named_numbers& x : batch_.named)
      for (const value_info& v : n.values())
        if (v.name == x.name && v.from != origin::computed) first(x.ids, v.axis), first(x.features, v.axis);
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
