// SPDX-License-Identifier: MIT
// The settings of a writer and of a text that it writes, and what is said of a text that has been written. A
// program that only passes settings on includes this header and compiles no writer.
#pragma once
#include <functional>
#include <string>

#include "../op/precision.hpp"
#include "../run/sample.hpp"

namespace wsl::ml {

/// How a writer keeps a model.
struct writer_settings {
  /// PEs in a row, which share out heads, features and vocabulary; 0: as many as threads. The sums of a
  /// product have an order of their own for each number of columns, so logits agree to rounding.
  int columns = 0;
  /// The format of the weights: f32, or bfloat16, which takes half the memory and half the time of a token.
  /// Sums, keys and values are f32.
  ml::precision precision = ml::precision::f32;
  int max_length = 0;      ///< tokens of the longest text, with its prompt; 0: the model's positions
  int threads = 0;         ///< 0: WSL_THREADS, or one a core; no result depends on it
  int prompt_block = 128;  ///< tokens of a prompt that go through the layers together
  /// Reads weights where they lie, if they have the right format and order there: in a file that is mapped
  /// this saves the time and the memory of a copy, but every token takes longer, as memory that is mapped
  /// from a file has small pages.
  bool in_place = false;
};

/// The settings of a text that is to be written. Those of the choice of a token are those of `sampling`.
struct text_settings {
  int max_tokens = 128;  ///< of the continuation
  f64 temperature = 1;   ///< 0: always the best token
  int top_k = 0;
  f64 top_p = 1, min_p = 0, repetition_penalty = 1;
  std::vector<i32> stop_tokens = {};  ///< a text ends with the first of these
  int min_tokens = 0;                 ///< a stop token is not drawn before the text has so many
  /// A text ends when what it continues the prompt with has one of these strings. It takes `text_of`.
  std::vector<std::string> stop_strings = {};
  std::function<std::string(std::span<const i32>)> text_of = {};  ///< decodes the tokens of a continuation
  int samples = 1;  ///< continuations, which are written side by side
  u64 seed = 1;     ///< of all that is drawn; sample k draws the same however many there are
  /// Tokens from this one on are never written: a vocabulary that was padded has logits of no word. 0: all
  /// may be.
  int known_tokens = 0;

  sampling choice() const { return {temperature, top_k, top_p, min_p, repetition_penalty}; }
};

/// A token as it is written.
struct written_token {
  i32 id;
  int sample, index;            ///< of which continuation, and its place there
  std::span<const f32> logits;  ///< from which it was drawn; valid during the call
};

/// Why a text ends.
enum class text_end : u8 { max_tokens, stop_token, stop_string, context_full, no_token_left };

constexpr std::string_view name_of(text_end e) {
  return e == text_end::max_tokens      ? "max_tokens"
         : e == text_end::stop_token    ? "stop_token"
         : e == text_end::stop_string   ? "stop_string"
         : e == text_end::no_token_left ? "no_token_left"
                                        : "context_full";
}

/// A continuation of a prompt.
struct written_text {
  std::vector<i32> tokens;  ///< without the prompt; with the stop token, or those of the stop string
  text_end end = text_end::max_tokens;
  std::string stop = {};  ///< the stop string that was found
};

}  // namespace wsl::ml
