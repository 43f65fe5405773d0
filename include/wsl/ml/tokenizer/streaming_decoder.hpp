// SPDX-License-Identifier: MIT
// Decodes tokens one at a time, as a model generates them. A character whose bytes are spread over several
// tokens appears when its last byte is there.
//   streaming_decoder out(t);
//   for (i32 id : generated) std::cout << out.put(id);
//   std::cout << out.finish();
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer.hpp"

namespace wsl::ml {

class streaming_decoder {
 public:
  /// Refers to the tokenizer.
  explicit streaming_decoder(const tokenizer& by, decode_options how = {}) : by_(&by), how_(how) {}
  streaming_decoder(tokenizer&&, decode_options = {}) = delete;

  /// The text that a token completes, possibly none. Throws std::invalid_argument for a number that no token
  /// has.
  std::string put(i32 id) {
    by_->token(id);
    if (how_.skip_special_tokens && by_->is_special(id)) return {};
    pending_.push_back(id);
    const std::string text = by_->decode(of_both(), how_);
    // So many bytes without a character are none.
    const bool waits = text.ends_with(replacement) && pending_.size() < 8;
    return waits ? std::string() : release(text);
  }
  /// The rest, with U+FFFD for bytes that have stayed incomplete. The next token begins another text.
  std::string finish() {
    std::string rest = pending_.empty() ? std::string() : release(by_->decode(of_both(), how_));
    before_.clear(), shown_ = 0;
    return rest;
  }

 private:
  static constexpr std::string_view replacement = "\xef\xbf\xbd";

  std::vector<i32> of_both() const {
    std::vector<i32> ids = before_;
    ids.insert(ids.end(), pending_.begin(), pending_.end());
    return ids;
  }
  // Decoders treat the first token of a text in their own way, so what comes next is decoded after the tokens
  // before it.
  std::string release(const std::string& text) {
    std::string fresh = text.substr(std::min(shown_, text.size()));
    before_ = std::exchange(pending_, {});
    shown_ = by_->decode(before_, how_).size();
    return fresh;
  }

  const tokenizer* by_;
  decode_options how_;
  std::vector<i32> before_, pending_;  // shown already; not yet
  std::size_t shown_ = 0;              // the bytes of the text of before_
};

}  // namespace wsl::ml
