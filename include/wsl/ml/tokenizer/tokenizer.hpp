// SPDX-License-Identifier: MIT
// Tokenizers of language models: from text to the numbers of tokens and back, as a tokenizer.json of Hugging
// Face describes it (github.com/huggingface/tokenizers): GPT-2, Llama, Mistral, StarCoder, BERT, T5 and
// others. An encoding goes through five stages:
//   text -> special tokens -> normalizer -> pre-tokenizer -> model -> post-processor -> numbers
//         <|endoftext|>      lower case    words         BPE, ...  [CLS] ... [SEP]
// and decoding through one, the decoder.
//   const tokenizer t = tokenizer::from_file("tokenizer.json");
//   const std::vector<i32> ids = t.encode("Hello world");
//   const std::string text = t.decode(ids);
#pragma once
#include <filesystem>
#include <span>

#include "added_tokens.hpp"
#include "byte_pair.hpp"
#include "decoder.hpp"
#include "gpt2_files.hpp"
#include "post_processor.hpp"
#include "sentencepiece.hpp"
#include "unigram.hpp"
#include "word_cache.hpp"
#include "word_piece.hpp"

namespace wsl::ml {

struct encode_options {
  bool add_special_tokens = true;    ///< those of the post-processor, such as a token at the beginning
  bool match_special_tokens = true;  ///< special tokens that are written in a text are tokens, not text
};
struct decode_options {
  bool skip_special_tokens = true;
};

/// Two texts in a row, and the segment of each token (token_type_ids).
struct encoded_pair {
  std::vector<i32> ids, types;
};

class tokenizer {
 public:
  /// From a tokenizer.json, a SentencePiece model (tokenizer.model), or a folder that has one of them or
  /// GPT-2's vocab.json and merges.txt (also called encoder.json and vocab.bpe). Files beside it that
  /// transformers write (tokenizer_config.json, special_tokens_map.json) say which tokens begin and end a
  /// text. Truncation and padding in a tokenizer.json are left to the caller. Throws file_error.
  static tokenizer from_file(const std::string& path) {
    namespace fs = std::filesystem;
    if (fs::is_directory(path)) return from_folder(path);
    const std::string bytes = read_whole(path);
    const bool is_json =
        bytes.find_first_not_of(" \t\r\n") < bytes.size() && bytes[bytes.find_first_not_of(" \t\r\n")] == '{';
    tokenizer t =
        is_json ? from_json(bytes, path) : tokenizer(detail::json_of_sentencepiece(bytes, path), path);
    t.read_roles(fs::path(path).parent_path());
    return t;
  }
  /// Whether a folder has such files.
  static bool is_in(const std::string& folder) {
    const auto has = [&](const char* name) { return std::filesystem::exists(folder + "/" + name); };
    return has("tokenizer.json") || has("tokenizer.model") || has("spiece.model") ||
           ((has("vocab.json") || has("encoder.json")) && (has("merges.txt") || has("vocab.bpe")));
  }
  /// From the text of a tokenizer.json; `name` is for messages.
  static tokenizer from_json(const std::string& text, const std::string& name) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
      throw file_error(
          fmt::format("wsl: {}: it is no tokenizer.json, for it is not one object in JSON", name));
    return tokenizer(json, name);
  }
  /// From GPT-2's two files.
  static tokenizer from_gpt2(const std::string& vocabulary_file, const std::string& merges_file) {
    return tokenizer(detail::json_of_gpt2(vocabulary_file, merges_file), vocabulary_file);
  }

  /// One more than the largest number of a token.
  int size() const { return size_; }
  /// BPE, Unigram, WordPiece or WordLevel.
  const char* model_name() const { return model_->name(); }
  /// The written form of a token, with the signs that its model has for spaces and bytes. Throws
  /// std::invalid_argument for a number that no token has.
  const std::string& token(i32 id) const {
    if (const added_token* t = added_.find(id)) return t->text;
    if (!model_->tokens().has(id))
      throw std::invalid_argument(fmt::format("wsl: there is no token {} in a vocabulary of {}", id, size()));
    return model_->tokens().token(id);
  }
  std::optional<i32> id(std::string_view token) const {
    if (const auto found = added_.id(token)) return found;
    return model_->tokens().id(token);
  }
  const std::vector<added_token>& added() const { return added_.all(); }
  bool is_special(i32 id) const {
    const added_token* t = added_.find(id);
    return t && t->is_special;
  }
  /// The token at the beginning of a text, and the one at its end; that of GPT-2 is both.
  std::optional<i32> begin_of_text() const { return begin_; }
  std::optional<i32> end_of_text() const { return end_; }

  /// The tokens of a text. Throws std::invalid_argument if it is not UTF-8, or has a gigabyte or more.
  std::vector<i32> encode(std::string_view text, const encode_options& how = {}) const {
    return arranged(how.add_special_tokens ? processor_.single : detail::post_processor{}.single, text, {},
                    how)
        .ids;
  }
  /// The tokens of two texts, as models that compare texts take them.
  encoded_pair encode_pair(std::string_view first, std::string_view second,
                           const encode_options& how = {}) const {
    return arranged(how.add_special_tokens ? processor_.pair : detail::post_processor{}.pair, first, second,
                    how);
  }
  /// The text of tokens. Bytes that are not UTF-8, as at the edges of a part of a text, become U+FFFD. Throws
  /// std::invalid_argument for a number that no token has.
  std::string decode(std::span<const i32> ids, const decode_options& how = {}) const {
    detail::token_texts texts;
    texts.reserve(ids.size());
    for (i32 id : ids) {
      const std::string& text = token(id);
      if (!how.skip_special_tokens || !is_special(id)) texts.push_back(text);
    }
    if (decoder_) texts = decoder_(std::move(texts));
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) all += (i && !decoder_ ? " " : "") + texts[i];
    return all;
  }

 private:
  tokenizer(const nlohmann::json& json, const std::string& name) {
    const detail::json_field all(json, "", name);
    model_ = model_of(all.at("model"));
    if (all.has("normalizer")) normalizer_ = detail::normalizer_of(all.at("normalizer"));
    if (all.has("pre_tokenizer")) pre_tokenizer_ = detail::pre_tokenizer_of(all.at("pre_tokenizer"));
    if (all.has("post_processor")) processor_ = detail::post_processor_of(all.at("post_processor"));
    if (all.has("decoder")) decoder_ = detail::decoder_of(all.at("decoder"));
    if (all.has("added_tokens")) added_ = {all.at("added_tokens"), model_->tokens(), normalizer_};
    size_ = model_->tokens().size();
    for (const added_token& t : added_.all()) size_ = std::max(size_, t.id + 1);
    check_template(all, processor_.single), check_template(all, processor_.pair);
    guess_roles();
  }
  static tokenizer from_folder(const std::string& folder) {
    const auto is_there = [&](const char* name) { return std::filesystem::exists(folder + "/" + name); };
    for (const char* name : {"tokenizer.json", "tokenizer.model", "spiece.model"})
      if (is_there(name)) return from_file(folder + "/" + name);
    if (!is_there("encoder.json") && !is_there("vocab.json"))
      throw file_error(
          fmt::format("wsl: {}: there is no tokenizer in this folder: no tokenizer.json, tokenizer.model, "
                      "spiece.model, vocab.json or encoder.json",
                      folder));
    const auto either = [&](const char* one, const char* other) {
      return folder + "/" + (is_there(other) ? other : one);
    };
    tokenizer t = from_gpt2(either("encoder.json", "vocab.json"), either("vocab.bpe", "merges.txt"));
    t.read_roles(folder);
    return t;
  }

  static std::shared_ptr<const detail::token_model> model_of(const detail::json_field& f) {
    // Files of the first versions do not name the model.
    const std::string type = f.has("type")                                         ? f.at("type").text()
                             : f.has("merges")                                     ? "BPE"
                             : f.has("unk_id") || f.at("vocab").value().is_array() ? "Unigram"
                             : f.has("continuing_subword_prefix")                  ? "WordPiece"
                                                                                   : "WordLevel";
    if (type == "BPE") return std::make_shared<detail::byte_pair>(f);
    if (type == "Unigram") return std::make_shared<detail::unigram>(f);
    if (type == "WordPiece" || type == "WordLevel")
      return std::make_shared<detail::word_piece>(f, type == "WordLevel");
    throw f.at("type").error(
        fmt::format("there is no model '{}' here; known are BPE, Unigram, WordLevel and WordPiece", type));
  }
  void check_template(const detail::json_field& all,
                      const std::vector<detail::template_piece>& pieces) const {
    for (const detail::template_piece& p : pieces)
      for (i32 id : p.ids)
        if (!added_.find(id) && !model_->tokens().has(id))
          throw all.at("post_processor").error(fmt::format("there is no token {}", id));
  }

  std::optional<i32> first_added(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const auto found = added_.id(name)) return found;
    return {};
  }
  void guess_roles() {
    begin_ = first_added({"<s>", "<|begin_of_text|>", "<bos>", "[CLS]", "<|endoftext|>"});
    end_ = first_added({"</s>", "<|end_of_text|>", "<eos>", "[SEP]", "<|endoftext|>"});
  }
  // Where transformers have written which tokens begin and end a text.
  void read_roles(const std::filesystem::path& folder) {
    for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
      const std::string path = (folder / name).string();
      if (!std::filesystem::exists(path)) continue;
      const nlohmann::json json = nlohmann::json::parse(read_whole(path), nullptr, false);
      if (!json.is_object()) throw file_error(fmt::format("wsl: {}: it is not one object in JSON", path));
      const detail::json_field all(json, "", path);
      const auto role = [&](const char* key, std::optional<i32>& to) {
        if (!all.has(key)) return;
        const detail::json_field f = all.at(key);
        const std::string& text = f.value().is_object() ? f.at("content").text() : f.text();
        if (const auto found = id(text)) to = found;
        else throw f.error(fmt::format("there is no token '{}'", text));
      };
      role("bos_token", begin_), role("eos_token", end_);
    }
  }

  encoded_pair arranged(const std::vector<detail::template_piece>& by, std::string_view first,
                        std::string_view second, const encode_options& how) const {
    encoded_pair out;
    for (const detail::template_piece& p : by) {
      if (p.is == detail::template_piece::special) out.ids.insert(out.ids.end(), p.ids.begin(), p.ids.end());
      else append(out.ids, p.is == detail::template_piece::first ? first : second, how);
      out.types.resize(out.ids.size(), p.type);
    }
    return out;
  }
  void append(std::vector<i32>& ids, std::string_view text, const encode_options& how) const {
    if (text.size() >= std::size_t{1} << 30)
      throw std::invalid_argument(fmt::format(
          "wsl: a text of {} bytes is too long to encode at once: encode it in parts", text.size()));
    for (std::size_t at = 0; at < text.size();) next_code_point(text, at);
    detail::word_cache cache;
    const auto token = [&](i32 id) { ids.push_back(id); };
    const auto raw = [&](std::size_t begin, std::size_t end) {
      std::string part(text.substr(begin, end - begin));
      if (normalizer_) part = normalizer_(std::move(part));
      added_.divide(
          part, true, how.match_special_tokens,
          [&](std::size_t from, std::size_t to) {
            const bool is_all = from == 0 && to == part.size();
            append_words(ids, is_all ? std::move(part) : part.substr(from, to - from),
                         begin == 0 && from == 0, cache);
          },
          token);
    };
    added_.divide(text, false, how.match_special_tokens, raw, token);
  }
  void append_words(std::vector<i32>& ids, std::string part, bool begins_input,
                    detail::word_cache& cache) const {
    detail::words w(std::move(part), begins_input);
    if (pre_tokenizer_) pre_tokenizer_(w);
    for (const detail::words::range& r : w.ranges)
      if (r.begin < r.end)
        cache.append(w.of(r), ids, [&](std::string_view word, std::vector<i32>& to) {
          model_->encode(word, w.are_bytes, to);
        });
  }

  std::shared_ptr<const detail::token_model> model_;
  detail::normalizer normalizer_;
  detail::pre_tokenizer pre_tokenizer_;
  detail::post_processor processor_;
  detail::token_decoder decoder_;
  detail::added_tokens added_;
  int size_ = 0;
  std::optional<i32> begin_, end_;
};

/// The tokens of a text with the end of a text before each section; an empty line ends a section. This is how
/// llm.c makes its files of Shakespeare (dev/data/tinyshakespeare.py). Throws std::invalid_argument if no
/// token ends a text.
inline std::vector<i32> encode_sections(const tokenizer& by, std::string_view text,
                                        const encode_options& how = {}) {
  if (!by.end_of_text()) throw std::invalid_argument("wsl: this tokenizer has no token that ends a text");
  std::vector<i32> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t gap = text.find("\n\n", at),
                      end = gap == std::string_view::npos ? text.size() + 1 : gap + 2;
    const std::vector<i32> section = by.encode(text.substr(at, end - at), how);
    ids.push_back(*by.end_of_text());
    ids.insert(ids.end(), section.begin(), section.end());
    at = end;
  }
  return ids;
}

}  // namespace wsl::ml
