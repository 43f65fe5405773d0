// SPDX-License-Identifier: MIT
// A survey of texts counts how many examples are longer than a sequence, and how many tokens are the one for
// what has none. Readers of texts say it once, in the sentence about their data:
//   37 of 500 examples are longer than max_sequence_length 128: their ends are left out; 7.1 % of the tokens
//   are [UNK]: ...
// Of large data only the first examples are counted, since it takes as long as to encode them.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "../piece.hpp"

namespace wsl::ml {

class text_survey {
 public:
  /// The examples that are counted.
  static constexpr i64 most = 10'000;

  /// Of texts whose unknown tokens have a number, which tokenizers without one leave out.
  explicit text_survey(std::string unknown, i32 unknown_id)
      : unknown_(std::move(unknown)), unknown_id_(unknown_id) {}

  bool is_full() const { return examples_ == most; }
  /// An example as its tokens, of which a sequence has room for so many.
  void add(std::span<const text_piece> tokens, i64 room) {
    add_unknown(tokens), add_example(std::ssize(tokens) > room);
  }
  /// The same in parts: an example, whether it is longer than a sequence, and tokens of it.
  void add_example(bool is_longer) { ++examples_, longer_ += is_longer; }
  void add_unknown(std::span<const text_piece> tokens) {
    tokens_ += std::ssize(tokens);
    unknowns_ +=
        std::count_if(tokens.begin(), tokens.end(), [&](const text_piece& p) { return p.id == unknown_id_; });
  }
  void add_unknown(std::span<const i32> ids) {
    tokens_ += std::ssize(ids), unknowns_ += std::count(ids.begin(), ids.end(), unknown_id_);
  }

  i64 longer() const { return longer_; }
  /// The part of the tokens that are unknown.
  f64 unknown_part() const { return tokens_ ? static_cast<f64>(unknowns_) / static_cast<f64>(tokens_) : 0.; }
  /// The part of a sentence that says so, to go behind another one; empty if nothing is worth saying. `all`
  /// is the number of examples, `setting` the name of the length, and `what` the examples are, if a sentence
  /// is about several kinds of them.
  std::string text(i64 all, const char* setting, int length, const char* what = "") const {
    const char* const examples = *what ? what : "examples";
    const char* const of_first = all > examples_ ? "the first " : "";
    std::string said;
    if (longer_)
      said += fmt::format("; {} of {}{} {} {} longer than {} {}: {} left out", longer_, of_first, examples_,
                          examples, longer_ > 1 ? "are" : "is", setting, length,
                          longer_ > 1 ? "their ends are" : "its end is");
    if (unknowns_)
      said += fmt::format("; {} of the tokens{} are {}{}", percent(unknowns_, tokens_),
                          all > examples_ ? fmt::format(" of the first {} {}", examples_, examples)
                          : *what         ? fmt::format(" of {}", what)
                                          : "",
                          unknown_,
                          unknown_part() > too_many ? ": the vocabulary is hardly that of these texts, or "
                                                      "do_lower is not what it was made with"
                                                    : "");
    return said;
  }

 private:
  static constexpr f64 too_many = 0.05;

  /// A part in words. A rounded one never looks like none or all of them.
  static std::string percent(i64 part, i64 all) {
    const f64 x = 100 * static_cast<f64>(part) / static_cast<f64>(all);
    if (x < 0.01) return "less than 0.01 %";
    if (part < all && x > 99) return "more than 99 %";
    return x < 0.1  ? fmt::format("{:.2f} %", x)
           : x < 10 ? fmt::format("{:.1f} %", x)
                    : fmt::format("{:.0f} %", x);
  }

  std::string unknown_;
  i32 unknown_id_;
  i64 examples_ = 0, longer_ = 0, tokens_ = 0, unknowns_ = 0;
};

}  // namespace wsl::ml
