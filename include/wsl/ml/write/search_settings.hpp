// SPDX-License-Identifier: MIT
// The settings of an encoder-decoder's writer and of a search for the text that it writes, and the hypotheses
// that a search finds. The search is that of Hugging Face's transformers (generation/utils.py,
// `_beam_search`), whose names of settings stand beside ours. A program that only passes settings on includes
// this header and compiles no writer.
#pragma once
#include "settings.hpp"

namespace wsl::ml {

/// How an encoder-decoder's writer keeps a model. All are those of `writer_settings`.
struct encoder_decoder_writer_settings {
  int columns = 0;                               ///< PEs in a row; 0: as many as threads
  ml::precision precision = ml::precision::f32;  ///< of the weights: f32 or bfloat16
  int threads = 0;                               ///< 0: WSL_THREADS, or one a core; no result depends on it
  bool in_place = false;                         ///< reads weights where they lie
};

/// The score of a hypothesis is the logarithm of its probability, divided by its length to the power of the
/// penalty (transformers), or by ((5 + length) / 6) to that power (arXiv:1609.08144), as the Transformer and
/// T5 were published.
enum class length_rule : u8 { power, published };

/// When a search ends that has found as many hypotheses as there are beams: if the best that is open would
/// not be among them if it ended now (`early_stopping` False); at once (True); or if it could not even with
/// the largest length (never).
enum class early_stop : u8 { when_unlikely, when_full, when_impossible };

struct search_settings {
  int beams = 1;           ///< `num_beams`; 1: one text, of the best token each time
  f64 length_penalty = 1;  ///< above 0 it favours long texts; 0: scores are log-probabilities
  int max_tokens = 128;    ///< `max_new_tokens`, with the one that ends a text
  std::vector<i32> begin =
      {};                     ///< the decoder's text begins with these: `decoder_start_token_id`, and others
  std::vector<i32> end = {};  ///< tokens that end a text: `eos_token_id`
  int min_tokens = 0;         ///< `min_new_tokens`: a text does not end before it has so many
  length_rule length = length_rule::power;
  early_stop stop = early_stop::when_unlikely;
  int no_repeat_ngram = 0;      ///< `no_repeat_ngram_size`: no run of so many tokens occurs twice; 0: any may
  std::vector<i32> never = {};  ///< tokens that are never written
  /// With one beam, the choice of a token; temperature 0 takes the best.
  sampling choice = {.temperature = 0};
  int samples = 1;  ///< with one beam, texts that are drawn side by side
  u64 seed = 1;     ///< of all that is drawn; sample k draws the same however many there are
};

/// A text that a search has found.
struct hypothesis {
  std::vector<i32> tokens;  ///< without those of `begin`; with the token that ends it
  f64 log_probability = 0;  ///< the logarithm of the probability that the model gives these tokens
  f64 score = 0;            ///< the same, divided by what the length rule says
  /// Why it ends: max_tokens; stop_token; context_full at the model's last position; or no_token_left if the
  /// settings rule out all tokens.
  text_end end = text_end::max_tokens;
};

/// A text of the decoder that goes on.
struct open_hypothesis {
  std::vector<i32> tokens;  ///< with those of `begin`
  f64 log_probability = 0;
  int place = 0;  ///< of its keys and values, among those of its search
};

/// A step of a search, before its tokens are chosen.
struct search_step {
  int text;                                     ///< of those that are written side by side
  std::span<const open_hypothesis> hypotheses;  ///< best first; valid during the call, as the logits
  std::span<const f32> logits;                  ///< behind each, (hypotheses, vocabulary)
};

}  // namespace wsl::ml
