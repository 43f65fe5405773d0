// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fields.hpp>
#include <filesystem>
#include <sstream>
#include <wsl/ml/data/token_shards.hpp>
#include <wsl/ml/data/vocabulary.hpp>
#include <wsl/ml/io/input_file.hpp>
#include <wsl/ml/tokenizer/chat_template.hpp>

#include "documentation.hpp"

namespace gpt_app {
namespace {

namespace fs = std::filesystem;
namespace ml = wsl::ml;

using names = std::vector<std::string>;

bool hold_tokens(const names& files) {
  return !files.empty() &&
         std::all_of(files.begin(), files.end(), [](const fs::path& x) { return x.extension() == ".bin"; });
}

/// The files of a folder whose names end so, in order.
std::vector<fs::path> files_in(const fs::path& folder, std::initializer_list<const char*> ends) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && std::any_of(ends.begin(), ends.end(), [&](const char* end) {
          return entry.path().filename().string().ends_with(end);
        }))
      all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::string text_at(const std::string& where) {
  if (!fs::is_directory(where)) return ml::read_text(where);
  const auto files = files_in(where, {".txt", ".md"});
  if (files.empty())
    throw ml::file_error("wsl: " + where + " has neither train.bin and val.bin nor text (.txt, .md)");
  std::string all;
  for (const fs::path& file : files) all += ml::read_text(file);
  return all;
}

std::string own_text() {
  std::string all;
  for (const train_app::bundled& page : documentation()) all += page.text;
  return all;
}

/// The file and the line of a byte of `text_at(where)`.
std::string place_of(const std::string& where, std::size_t byte) {
  if (where.empty()) return "the text of this project's pages";
  std::vector<fs::path> files{where};
  if (fs::is_directory(where)) files = files_in(where, {".txt", ".md"});
  for (const fs::path& file : files) {
    const std::string text = ml::read_text(file.string());
    if (byte < text.size()) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(byte);
      return file.string() + ":" + std::to_string(1 + std::count(text.begin(), end, '\n'));
    }
    byte -= text.size();
  }
  return where;
}

/// The tokens of a text, whose bytes are those of `text_at(where)` from `begin` on. Throws ml::file_error
/// with the file and the line of a character that the vocabulary lacks.
std::vector<wsl::i32> encoded(const vocabulary& words, std::string_view text, const std::string& where,
                              std::size_t begin) {
  try {
    return words.encode(text);
  } catch (const ml::unknown_character& e) {
    throw ml::file_error("wsl: " + place_of(where, begin + e.at) + ": the character '" + e.character +
                         "' is none of the " + std::to_string(words.size()) +
                         " of the vocabulary, which is that of the text to train with: leave it out of the "
                         "text, or train with a text that has it");
  }
}

/// Tokens as numbers with blanks between them.
std::vector<wsl::i32> numbers_in(std::string_view text) {
  std::vector<wsl::i32> ids;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) {
    wsl::i32 id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc{} || end != word.data() + word.size() || id < 0)
      throw std::invalid_argument(
          "the model's tokens have no words, so a text is numbers such as '12 7 3', and '" + word +
          "' is none: give a folder with the model's tokenizer (--tokenizer_dir), or numbers");
    ids.push_back(id);
  }
  return ids;
}

vocabulary vocabulary_for(const corpus_words& asked, std::string_view text) {
  const std::string kind = !asked.kind.empty()           ? asked.kind
                           : asked.tokenizer_dir.empty() ? "characters"
                                                         : "gpt2";
  if (asked.kind.empty() && asked.tokenizer_dir.empty() && !asked.of_model.empty() && !asked.train.empty())
    throw std::invalid_argument(asked.train + " is a text, and " + asked.of_model +
                                " has no tokenizer to make its tokens: give --tokenizer_dir, or tokens as "
                                "--data_dir; --vocabulary characters takes a text by its characters");
  if (kind == "characters") {
    if (!asked.tokenizer_dir.empty())
      throw std::invalid_argument(
          "train_input.vocabulary is characters, and tokenizer_dir is for gpt2: give one of them");
    if (asked.of_weights.starts_with("characters\n")) return vocabulary::from_saved(asked.of_weights, "");
    return vocabulary(ml::characters::of(text));
  }
  if (asked.tokenizer_dir.empty())
    throw std::invalid_argument(
        "train_input.vocabulary is gpt2: give train_input.tokenizer_dir, a folder with encoder.json and "
        "vocab.bpe, or take --vocabulary characters");
  return vocabulary::gpt2(asked.tokenizer_dir);
}

/// "a.bin", or "a.bin and 3 other files".
std::string words_of(const names& files) {
  return files.size() == 1 ? files.front()
                           : fmt::format("{} and {} other file{}", files.front(), files.size() - 1,
                                         files.size() > 2 ? "s" : "");
}

/// The meaning of the numbers in a token file, and the source of this information.
struct meaning {
  std::string kind, from;  ///< characters, gpt2, llama3; empty if it is not known
  std::optional<ml::characters> letters;
  std::string tokenizer = {};  ///< the folder of the tokenizer; empty: none
  int size = 0;                ///< of another vocabulary, of which only the size is known
};

bool are_same(const meaning& a, const meaning& b) {
  const auto letters_of = [](const meaning& m) { return m.letters ? m.letters->letters() : ""; };
  return a.kind == b.kind && a.size == b.size && letters_of(a) == letters_of(b) &&
         (a.tokenizer.empty() == b.tokenizer.empty()) &&
         (a.tokenizer.empty() || have_same_tokens(a.tokenizer, b.tokenizer));
}

meaning meaning_of(const fs::path& file) {
  const fs::path folder = file.parent_path(), letters = folder / "vocab.json";
  ml::input_file in(file);
  if (in.size() == 0)
    throw ml::file_error("wsl: " + file.string() +
                         " is empty: write it again with `wsl-data tokenize`, or leave it out of data_dir");
  const std::string here = folder.empty() ? "." : folder.string();
  if (ml::tokenizer::is_in(here)) return {"gpt2", "the words beside " + file.string(), {}, here};
  if (fs::exists(letters)) return {"characters", letters.string(), ml::read_characters(letters)};
  if (const int size = ml::vocabulary_of_tokens(file))
    return {"", "the header of " + file.string(), {}, "", size};
  const wsl::i32 magic = in.left() >= 4 ? in.take<wsl::i32>(1, "the magic number")[0] : 0;
  if (magic == ml::gpt2_tokens.magic) return {"gpt2", "the header of " + file.string(), {}};
  if (magic == ml::llama3_tokens.magic) return {"llama3", "the header of " + file.string(), {}};
  return {};
}

[[noreturn]] void contradiction(const std::string& sentence) { throw ml::file_error("wsl: " + sentence); }

/// That of several files.
meaning meaning_of(const names& files) {
  const meaning first = meaning_of(fs::path(files.front()));
  for (const std::string& file : files)
    if (!are_same(meaning_of(fs::path(file)), first))
      contradiction(files.front() + " and " + file +
                    " have tokens of two vocabularies: make both with one tokenizer");
  return first;
}

/// Requires that all tokens are within the vocabulary that the files are said to use.
void check_range(const names& files, const ml::tokens& x, const vocabulary& words, const std::string& by) {
  if (words.size() && x.largest() >= words.size())
    contradiction(words_of(files) + " has token " + std::to_string(x.largest()) + ", and " + by +
                  " has only " + std::to_string(words.size()) + ": they do not belong together");
}

/// Tokens for one part, and none for the other.
[[noreturn]] void one_part_only(const names& train, const names& held_out, const std::string& train_at,
                                const std::string& held_out_at) {
  const bool trains = hold_tokens(train);
  const std::string there = words_of(trains ? train : held_out);
  const std::string& lacks = trains ? held_out_at : train_at;
  const bool same = train_at == held_out_at;
  contradiction(std::string(trains ? "train_input" : "eval_input") + " has tokens, " + there + ", and " +
                (trains ? "eval_input" : "train_input") + " has none: " +
                (lacks.empty()             ? "the text of this project's pages"
                 : fs::is_directory(lacks) ? lacks + " has no " + (trains ? "val.bin" : "train.bin")
                                           : lacks + " is a text") +
                (same ? ": `wsl-data tokenize` writes both, or --" +
                            std::string(trains ? "eval_input" : "train_input") + ".data_dir names a file"
                      : ": both parts are tokens of one vocabulary, or both are texts; `wsl-data tokenize` "
                        "makes tokens of a text"));
}

corpus of_tokens(const names& train, const names& held_out, const corpus_words& asked) {
  const meaning t = meaning_of(train), h = meaning_of(held_out);
  if (!are_same(t, h))
    contradiction(words_of(train) + " and " + words_of(held_out) +
                  " have tokens of two vocabularies: make both with one tokenizer");
  if (!asked.kind.empty() && !t.kind.empty() && asked.kind != t.kind)
    contradiction("train_input.vocabulary is " + asked.kind + ", but by " + t.from + " the tokens are " +
                  t.kind + ": take --vocabulary " + (t.kind == "llama3" ? "null" : t.kind));
  if (t.size && asked.tokenizer_dir.empty() && !asked.kind.empty())
    contradiction("train_input.vocabulary is " + asked.kind + ", but by " + t.from +
                  " the tokens are of another of " + std::to_string(t.size) +
                  ": give its folder with --tokenizer_dir, or take --vocabulary null");
  if (!t.tokenizer.empty() && !asked.tokenizer_dir.empty() &&
      !have_same_tokens(t.tokenizer, asked.tokenizer_dir))
    contradiction(words_of(train) + " has tokens of the tokenizer in " + t.tokenizer +
                  ", and that of the run is in " + asked.tokenizer_dir +
                  ": they are not the same; make the tokens again with `wsl-data tokenize --tokenizer " +
                  asked.tokenizer_dir + "`");
  const std::string& kind = t.kind.empty() ? asked.kind : t.kind;
  if (kind == "characters" && !t.letters)
    contradiction(
        "which characters the tokens of " + words_of(train) +
        " are nobody says: `wsl-data tokenize` writes vocab.json beside them; --vocabulary null takes "
        "them as numbers");
  if (!asked.tokenizer_dir.empty() && kind == "characters")
    contradiction(
        "train_input.tokenizer_dir is " + asked.tokenizer_dir + ", but by " + t.from +
        " the tokens are characters: leave it out" +
        (asked.of_model.empty() ? "" : ", or give --vocabulary characters if the model's are, too"));

  corpus c{.train = ml::read_token_files(train),
           .held_out = ml::read_token_files(held_out),
           .words = {},
           .about = {}};
  const std::string& folder = !asked.tokenizer_dir.empty() ? asked.tokenizer_dir : t.tokenizer;
  if (t.letters) c.words = vocabulary(*t.letters);
  else if (kind == "gpt2" || !folder.empty()) c.words = vocabulary::gpt2(folder);
  if (t.size && c.words.size() && c.words.size() != t.size)
    contradiction("by " + t.from + " the tokens are of a vocabulary of " + std::to_string(t.size) +
                  ", and the tokenizer in " + folder + " has " + std::to_string(c.words.size()) +
                  ": name the one that made them");
  c.vocab_size = t.size, c.tokenizer_dir = folder;
  const std::string by = t.letters        ? t.from
                         : folder.empty() ? "the vocabulary of GPT-2"
                                          : "the tokenizer in " + folder;
  check_range(train, c.train, c.words, by), check_range(held_out, c.held_out, c.words, by);
  const std::string what = !folder.empty() ? " (by " + by + ")"
                           : t.size ? " (of a vocabulary of " + std::to_string(t.size) + ", by their header)"
                           : kind.empty() ? ""
                           : t.letters    ? " (characters)"
                                          : " (" + kind + (t.kind.empty() ? ")" : ", by their header)");
  c.about = "tokens" + what + " of " + words_of(train) + " and " + words_of(held_out);
  return c;
}

}  // namespace

bool have_same_tokens(const std::string& one, const std::string& other) {
  if (fs::equivalent(one, other)) return true;
  const ml::tokenizer a = ml::tokenizer::from_file(one), b = ml::tokenizer::from_file(other);
  const auto token_of = [](const ml::tokenizer& t, wsl::i32 id) {
    try {
      return t.token(id);
    } catch (const std::invalid_argument&) { return std::string(); }  // a number that no token has
  };
  if (a.size() != b.size()) return false;
  for (wsl::i32 id = 0; id < a.size(); ++id)
    if (token_of(a, id) != token_of(b, id)) return false;
  return true;
}

std::vector<wsl::i32> vocabulary::encode(std::string_view text) const {
  if (letters_) return letters_->encode(text);
  // A corpus is text, also where it reads like a special token.
  if (words_)
    return words_->encode(text, {.add_special_tokens = of_model_, .match_special_tokens = of_model_});
  return numbers_in(text);
}

std::pair<std::vector<wsl::i32>, std::optional<wsl::i32>> vocabulary::chat(
    const std::string& folder, const std::string& system, const std::string& question) const {
  if (!words_) throw std::invalid_argument("--chat: the model's tokens are no words of a tokenizer");
  const auto by = ml::chat_template::of_folder(folder, *words_);
  std::vector<ml::chat_message> messages{{"user", question}};
  if (!system.empty()) messages.insert(messages.begin(), {"system", system});
  return {words_->encode(by.prompt(messages), {.add_special_tokens = false}), words_->id(by.end_of_turn())};
}

std::vector<wsl::i32> vocabulary::begin_tokens() const {
  std::vector<wsl::i32> around = words_ ? words_->encode("") : std::vector<wsl::i32>();
  if (around.empty() || around.front() != words_->begin_of_text()) return {};
  return {around.front()};
}

std::string vocabulary::decode(std::span<const wsl::i32> ids) const {
  if (letters_) return letters_->decode(ids);
  if (words_) return words_->decode(ids, {.skip_special_tokens = of_model_});
  std::string numbers;
  for (const wsl::i32 id : ids) numbers += std::to_string(id) + " ";
  return numbers;
}

vocabulary vocabulary::from_saved(const std::string& text, const std::string& folder) {
  constexpr std::string_view letters = "characters\n";
  if (text.starts_with(letters))
    return vocabulary(ml::characters::in_order(std::string_view(text).substr(letters.size())));
  return text == "gpt2" || !folder.empty() ? gpt2(folder) : vocabulary();
}

vocabulary vocabulary::gpt2(const std::string& folder) {
  vocabulary v;
  if (!folder.empty()) v.words_ = std::make_shared<const ml::tokenizer>(ml::tokenizer::from_file(folder));
  v.is_gpt2_ = true;
  return v;
}

vocabulary vocabulary::of_model(const std::string& folder) {
  vocabulary v;
  v.words_ = std::make_shared<const ml::tokenizer>(ml::tokenizer::from_file(folder));
  v.of_model_ = true;
  return v;
}

corpus read_corpus(const corpus_words& asked) {
  const std::string held_out = asked.held_out.empty() ? asked.train : asked.held_out;
  const names v = ml::token_files_of(train_app::words_of_list(held_out), "val"),
              t = asked.only_held_out ? v
                                      : ml::token_files_of(train_app::words_of_list(asked.train), "train");
  if (hold_tokens(t) && hold_tokens(v)) return of_tokens(t, v, asked);
  if (hold_tokens(t) || hold_tokens(v)) one_part_only(t, v, asked.train, held_out);
  const std::string& train = asked.only_held_out ? held_out : asked.train;
  for (const std::string& where : {train, held_out})
    if (!where.empty() && !fs::exists(where))
      throw ml::file_error(
          "wsl: data_dir " + where +
          " names several files, which are tokens (.bin) or HDF5: a text is one file or a folder");

  // The last tenth of one text is held out, as nanoGPT does it; a place between two characters.
  std::string text = train.empty() ? own_text() : text_at(train), rest;
  const bool is_one = held_out == asked.train;
  if (!is_one) rest = asked.only_held_out ? text : text_at(held_out);
  if (text.empty()) throw ml::file_error("wsl: " + train + ": there is no text in it");
  const vocabulary words = vocabulary_for(asked, text);
  std::size_t rest_begins = 0;
  if (is_one) {
    std::size_t cut = text.size() / 10 * 9 + text.size() % 10 * 9 / 10;
    while (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) ++cut;
    rest = text.substr(cut), rest_begins = cut;
    text.resize(cut);
  }
  return {.train = ml::tokens(encoded(words, text, train, 0)),
          .held_out = ml::tokens(encoded(words, rest, held_out, rest_begins)),
          .words = words,
          .about = (train.empty() ? "the text of this project's pages" : "the text of " + train) + ", " +
                   std::to_string(text.size() + rest.size()) + " bytes",
          .is_vocabulary_assumed = asked.kind.empty() && asked.tokenizer_dir.empty()};
}

}  // namespace gpt_app
