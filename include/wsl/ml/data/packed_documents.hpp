// SPDX-License-Identifier: MIT
// Several documents in each sequence of a decoder that keeps them apart (decoder::packed), so that little
// of a batch is padding. A document goes into the first sequence that has room for it: first-fit (D. S.
// Johnson, "Near-optimal bin packing algorithms", 1973), in the order of the documents, in a random one, or
// the longest first; for training with sequences of several documents see Krell and others,
// arXiv:2107.02027. Where it goes depends on the lengths of the documents, their order and the seed alone.
//   const packed_documents packed(chats.documents(), {.length = 1024, .padding = 50256});
//   batches train(packed.data(), {.size = 8});   // with ids, targets and position_ids
//   std::puts(packed.about().c_str());           // "50 documents in 14 sequences of 1024, ..."
#pragma once
#include <bit>
#include <numeric>
#include <string>

#include "documents.hpp"
#include "permutation.hpp"

namespace wsl::ml {

/// The order in which documents look for a sequence.
enum class packing_order : u8 { given, shuffled, longest_first };

struct packed_settings {
  int length = 0;   ///< tokens of a sequence
  i32 padding = 0;  ///< the token behind the documents of a sequence
  packing_order order = packing_order::shuffled;
  u64 seed = 1;  ///< of packing_order::shuffled
};

class packed_documents {
 public:
  /// Where a document is.
  struct place {
    i64 sequence = 0;
    int begin = 0, length = 0;  ///< its first token there, and its tokens
    friend bool operator==(const place&, const place&) = default;
  };

  /// Throws std::invalid_argument if there are no documents, or if one has no tokens or more than a
  /// sequence.
  packed_documents(documents from, const packed_settings& how) : how_(how) {
    detail::require_room(from, how.length);
    if (from.count < 1) throw std::invalid_argument("wsl: there are no documents to pack");
    fill(from);
    kept_->from = std::move(from);
  }

  /// The numbers "ids", "targets" and "position_ids" of each sequence. Padding has no targets, and each of
  /// its tokens is a document of its own, which no other token sees.
  dataset data() const {
    const int n = how_.length;
    return {.count = sequences(),
            .length = n,
            .get = [all = kept_, padding = how_.padding](i64 which,
                                                         const example& to) { all->get(which, padding, to); },
            .named = {{"ids", n}, {"targets", n}, {"position_ids", n}}};
  }
  /// The same documents, each in a sequence of its own.
  dataset padded() const { return padded_documents(kept_->from, how_.length, how_.padding); }

  i64 sequences() const { return std::ssize(kept_->begins) - 1; }
  i64 count() const { return kept_->from.count; }
  /// The tokens of all documents, and the share that they are of all tokens, from 0 to 1: packed, and in
  /// sequences of their own.
  i64 tokens() const { return tokens_; }
  f64 share() const { return share_of(sequences()); }
  f64 share_padded() const { return share_of(count()); }
  /// The documents of a sequence, at the mean and at most.
  f64 documents_per_sequence() const { return static_cast<f64>(count()) / static_cast<f64>(sequences()); }
  i64 most_documents() const {
    i64 most = 0;
    for (i64 s = 0; s < sequences(); ++s) most = std::max(most, std::ssize(documents_of(s)));
    return most;
  }
  /// "50 documents in 14 sequences of 1024, 3.6 in each: 98.1 % of the tokens are real, and padded 26.9 %"
  std::string about() const {
    return fmt::format(
        "{} documents in {} sequences of {}, {:.1f} in each: {:.1f} % of the tokens are real, and padded "
        "{:.1f} %",
        count(), sequences(), how_.length, documents_per_sequence(), 100 * share(), 100 * share_padded());
  }

  /// The documents of a sequence, in the order of their places; and the place of a document.
  std::span<const i64> documents_of(i64 sequence) const {
    const auto at = static_cast<std::size_t>(sequence);
    const auto begin = static_cast<std::size_t>(kept_->begins[at]);
    return std::span(kept_->order).subspan(begin, static_cast<std::size_t>(kept_->begins[at + 1]) - begin);
  }
  place place_of(i64 document) const { return places_[static_cast<std::size_t>(document)]; }
  /// The part that belongs to a document of the numbers of all tokens of its sequence, such as logits: as
  /// many for each token.
  template <class T>
  std::span<T> part_of(i64 document, std::span<T> of_sequence) const {
    const place p = place_of(document);
    const std::size_t each = of_sequence.size() / static_cast<std::size_t>(how_.length);
    return of_sequence.subspan(each * static_cast<std::size_t>(p.begin),
                               each * static_cast<std::size_t>(p.length));
  }

 private:
  // Datasets share this: the documents in the order of their places, and where each sequence begins in it.
  struct contents {
    documents from = {};
    std::vector<i64> order = {}, begins = {};

    void get(i64 which, i32 padding, const example& to) const {
      const std::span<i32> ids = to.named[0], targets = to.named[1], positions = to.named[2];
      std::size_t at = 0;
      for (i64 k = begins[static_cast<std::size_t>(which)]; k < begins[static_cast<std::size_t>(which) + 1];
           ++k) {
        const i64 document = order[static_cast<std::size_t>(k)];
        const auto n = static_cast<std::size_t>(from.length(document));
        from.get(document, ids.subspan(at, n), targets.subspan(at, n));
        std::iota(positions.begin() + static_cast<std::ptrdiff_t>(at),
                  positions.begin() + static_cast<std::ptrdiff_t>(at + n), 0);
        at += n;
      }
      const auto end = static_cast<std::ptrdiff_t>(at);
      std::fill(ids.begin() + end, ids.end(), padding);
      std::fill(targets.begin() + end, targets.end(), decoder::no_label);
      std::fill(positions.begin() + end, positions.end(), 0);
    }
  };
  // The sequences with the room that each has. A tree over them has the largest room below each node, so
  // that the first with enough is found in as many steps as the tree is high.
  class first_fit {
   public:
    first_fit(i64 most, int length)
        : leaves_(std::bit_ceil(static_cast<std::size_t>(std::max<i64>(1, most)))),
          room_(2 * leaves_, length) {}
    i64 take(int tokens) {
      std::size_t node = 1;
      while (node < leaves_) node = 2 * node + (room_[2 * node] < tokens);
      const std::size_t found = node - leaves_;
      room_[node] -= tokens;
      while (node /= 2) room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
      return static_cast<i64>(found);
    }

   private:
    std::size_t leaves_;
    std::vector<int> room_;
  };

  std::vector<i64> order_of(const documents& from) const {
    std::vector<i64> order(static_cast<std::size_t>(from.count));
    std::iota(order.begin(), order.end(), i64{0});
    if (how_.order == packing_order::shuffled) {
      const permutation shuffled(from.count, how_.seed);
      for (i64& k : order) k = shuffled(k);
    }
    if (how_.order == packing_order::longest_first)
      std::sort(order.begin(), order.end(), [&](i64 a, i64 b) {
        const int of_a = from.length(a), of_b = from.length(b);
        return of_a != of_b ? of_a > of_b : a < b;
      });
    return order;
  }
  void fill(const documents& from) {
    const std::vector<i64> order = order_of(from);
    first_fit rooms(from.count, how_.length);
    places_.resize(order.size());
    std::vector<i64> counts;
    std::vector<int> used;
    for (const i64 document : order) {
      const int n = from.length(document);
      const i64 sequence = rooms.take(n);
      const auto s = static_cast<std::size_t>(sequence);
      if (s == counts.size()) counts.push_back(0), used.push_back(0);
      places_[static_cast<std::size_t>(document)] = {sequence, used[s], n};
      ++counts[s], used[s] += n, tokens_ += n;
    }
    kept_->begins.assign(1, 0);
    for (const i64 n : counts) kept_->begins.push_back(kept_->begins.back() + n);
    std::vector<i64> next(kept_->begins);
    kept_->order.resize(order.size());
    for (const i64 document : order) {
      const auto s = static_cast<std::size_t>(place_of(document).sequence);
      kept_->order[static_cast<std::size_t>(next[s]++)] = document;
    }
  }
  f64 share_of(i64 rows) const {
    return static_cast<f64>(tokens_) / (static_cast<f64>(rows) * static_cast<f64>(how_.length));
  }

  packed_settings how_;
  std::shared_ptr<contents> kept_ = std::make_shared<contents>();
  std::vector<place> places_;
  i64 tokens_ = 0;
};

}  // namespace wsl::ml
