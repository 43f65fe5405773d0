// SPDX-License-Identifier: MIT
// Host streams: words that enter and leave the grid at its edge, on the colors that the layout bound with
// `stream_in` and `stream_out`. A stream over several PEs takes equal parts, one part after the other in the
// row-major order of its PEs. Users access them through the device: `d.stream_in(red, x)`,
// `d.stream_out(blue, y)`.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "../fabric/fabric.hpp"
#include "../support/text.hpp"

namespace wsl::detail {

class host_streams {
 public:
  explicit host_streams(fabric& f) : fabric_(f) {}

  /// Writes words to the stream; they enter when the fabric runs.
  template <payload T>
  void stream_in(color<T> c, std::span<const T> words) {
    fabric_.must_not_have_stopped();
    const std::vector<coord> to = ends(c.id, true, payload_type_of<T>);
    const std::size_t n = part(c.id, words.size(), to.size());
    std::vector<u32> bits(n);
    for (std::size_t k = 0; k < to.size(); ++k) {
      std::transform(words.begin() + offset(k * n), words.begin() + offset(k * n + n), bits.begin(),
                     to_bits<T>);
      fabric_.resting_engine().stream_write(c.id, to[k], bits);
    }
  }

  /// Takes words that have left the grid, after a run of the fabric if there are too few. Returns the outcome
  /// of that run.
  template <payload T>
  outcome stream_out(color<T> c, std::span<T> words) {
    inbox& box = open(c.id, payload_type_of<T>);
    const std::size_t n = part(c.id, words.size(), box.at.size());
    const outcome ran = collect(box, n) ? outcome{} : run_for(box, n);
    for (std::size_t k = 0; k < box.at.size(); ++k) {
      std::vector<u32>& from = box.words[k];
      std::transform(from.begin(), from.begin() + offset(n), words.begin() + offset(k * n), from_bits<T>);
      from.erase(from.begin(), from.begin() + offset(n));
    }
    return ran;
  }

  /// Words that have left the grid and wait for a stream_out, of all PEs of the stream together.
  template <payload T>
  std::size_t ready(color<T> c) {
    inbox& box = open(c.id, payload_type_of<T>);
    collect(box, ~std::size_t{0});
    std::size_t total = 0;
    for (const std::vector<u32>& words : box.words) total += words.size();
    return total;
  }

 private:
  // Words that were taken from the engine and not yet read, so that a read that fails for one PE loses no
  // words of the others.
  struct inbox {
    int color;
    std::vector<coord> at;
    std::vector<std::vector<u32>> words;
  };

  static std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  inbox& open(int color, const payload_type& type) {
    std::vector<coord> at = ends(color, false, type);
    for (inbox& box : inboxes_)
      if (box.color == color) return box;
    const std::size_t n = at.size();
    return inboxes_.emplace_back(inbox{color, std::move(at), std::vector<std::vector<u32>>(n)});
  }

  /// Fetches up to n words a PE, as far as they have arrived; returns whether every PE has n.
  bool collect(inbox& box, std::size_t n) {
    bool enough = true;
    for (std::size_t k = 0; k < box.at.size(); ++k) enough &= fetch(box.color, box.at[k], box.words[k], n);
    return enough;
  }
  bool fetch(int color, coord c, std::vector<u32>& words, std::size_t n) {
    u32 chunk[256];
    while (words.size() < n) {
      const std::size_t wanted = std::min(n - words.size(), std::size(chunk));
      const std::size_t got = fabric_.resting_engine().stream_read(color, c, std::span<u32>(chunk, wanted));
      words.insert(words.end(), chunk, chunk + got);
      if (got < wanted) break;
    }
    return words.size() >= n;
  }

  // A program in the middle of a long operation waits for words that the host may only write after this read.
  outcome run_for(inbox& box, std::size_t n) {
    outcome ran;
    try {
      ran = fabric_.run();
    } catch (const deadlock&) {
      if (!collect(box, n)) throw;
    }
    if (!collect(box, n)) too_few(box, n);
    return ran;
  }

  [[noreturn]] static void too_few(const inbox& box, std::size_t n) {
    std::size_t k = 0;
    while (box.words[k].size() >= n) ++k;
    throw fault(support::joined({"wsl: the stream of color ", box.color, " has ",
                                 support::counted(box.words[k].size(), "word"), " at ", text_of(box.at[k]),
                                 ", the host reads ", n, " there, and nothing moves any more"}));
  }

  static std::size_t part(int color, std::size_t words, std::size_t pes) {
    if (words % pes == 0) return words / pes;
    throw fault(support::joined({"wsl: the stream of color ", color, " has ", support::counted(pes, "PE"),
                                 ", which cannot share ", support::counted(words, "word"), " equally"}));
  }

  /// The PEs of a stream; throws if there is no such stream or it carries another type.
  std::vector<coord> ends(int color, bool inbound, const payload_type& type) const {
    std::vector<coord> at;
    for (const stream_record& s : fabric_.plan().streams()) {
      if (s.color != color || s.inbound != inbound) continue;
      if (s.type != &type)
        throw fault(support::joined(
            {"wsl: the stream of color ", color, " carries ", s.type->name, ", not ", type.name}));
      for (int i = 0; i < s.where.count(); ++i) at.push_back(s.where.nth(i));
    }
    if (at.empty()) no_such_stream(color, inbound);
    return at;
  }

  [[noreturn]] void no_such_stream(int color, bool inbound) const {
    std::string known;
    for (const stream_record& s : fabric_.plan().streams())
      known += support::joined(
          {known.empty() ? "" : ", ", s.inbound ? "in" : "out", " color ", s.color, " of ", s.type->name});
    throw fault(
        support::joined({"wsl: no host stream leads ", inbound ? "into" : "out of", " the grid on color ",
                         color, "; the layout's streams: ", known.empty() ? "none" : known}));
  }

  fabric& fabric_;
  std::vector<inbox> inboxes_;
};

}  // namespace wsl::detail
