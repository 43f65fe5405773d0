// SPDX-License-Identifier: MIT
// Examples of a language model: documents that are packed or not, or pairs of a prompt and its completion.
#include <fmt/format.h>

#include <deque>
#include <wsl/ml/data/packed_sequences.hpp>
#include <wsl/ml/data/text/records.hpp>
#include <wsl/ml/data/vocabulary.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "examples.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// Documents of some files, or pairs of a prompt and its completion.
class documents {
 public:
  explicit documents(const example_conversion& how) : how_(how) {
    namespace fs = std::filesystem;
    for (const std::string& path : how.in) {
      std::vector<fs::path> names{path};
      if (fs::is_directory(path)) names.assign(fs::directory_iterator(path), fs::directory_iterator());
      for (const fs::path& name : names)
        for (const char* kind : {".parquet", ".arrow"})
          if (name.extension() == kind)
            refuse(fmt::format(
                "{}: {} is not read here: make it .jsonl first, for instance with `python3 -c \"import "
                "pandas; pandas.read_{}('{}').to_json('data.jsonl', orient='records', lines=True)\"`",
                name.string(), kind, kind[1] == 'p' ? "parquet" : "feather", name.string()));
    }
    const std::vector<std::string> files = files_of(how.in, {".jsonl", ".csv", ".tsv", ".txt"});
    const auto is_table = [](const std::string& name) {
      const std::string kind = fs::path(name).extension().string();
      return kind == ".jsonl" || kind == ".csv" || kind == ".tsv";
    };
    const auto tables = std::count_if(files.begin(), files.end(), is_table);
    if (tables && tables < std::ssize(files))
      refuse(
          "some files are examples with columns (.jsonl, .csv, .tsv) and some are text: convert them apart");
    if (tables && how.lines)
      refuse(fmt::format("--lines divides texts (.txt), and {} has an example a line already: leave it out",
                         files.front()));
    if (tables) {
      table_.emplace(files);
      for (const std::string& column : columns())
        if (!table_->has(column))
          refuse(fmt::format("{} has no column '{}': name it with {}", files.front(), column,
                             is_pairs() ? "--prompt_key and --completion_key" : "--text_key"));
      count_ = table_->count();
    } else if (is_pairs()) {
      refuse("--prompt_key is a column of .jsonl, .csv or .tsv, and " + files.front() + " is text");
    } else {
      for (const std::string& name : files) {
        if (how.lines) lines_.emplace_back(name), begins_.push_back(count_), count_ += lines_.back().count();
        else texts_.push_back(name), ++count_;
      }
    }
  }

  bool is_pairs() const { return !how_.prompt_key.empty(); }
  std::vector<std::string> columns() const {
    return is_pairs() ? std::vector{how_.prompt_key, how_.completion_key} : std::vector{how_.text_key};
  }
  i64 count() const { return count_; }
  /// Its texts, one or two. May be called by several threads at a time.
  std::vector<std::string> texts(i64 which) const {
    std::vector<std::string> all;
    if (table_)
      for (const std::string& column : columns()) all.push_back(table_->string(which, column));
    else if (how_.lines) {
      const auto k = std::upper_bound(begins_.begin(), begins_.end(), which) - begins_.begin() - 1;
      all.emplace_back(
          lines_[static_cast<std::size_t>(k)].line(which - begins_[static_cast<std::size_t>(k)]));
    } else {
      all.push_back(read_text(texts_[static_cast<std::size_t>(which)]));
    }
    return all;
  }

 private:
  example_conversion how_;
  std::optional<records> table_;
  std::vector<line_file> lines_;
  std::vector<i64> begins_;
  std::vector<std::string> texts_;
  i64 count_ = 0;
};

/// Makes tokens of text, by a tokenizer or by the characters of the texts.
class encoder_of_text {
 public:
  encoder_of_text(const example_conversion& how, const documents& from) {
    const auto id_of = [&](const char* option, const std::string& token) {
      if (const auto id = words_->id(token)) return *id;
      refuse(fmt::format("{}: the tokenizer has no token '{}'", option, token));
    };
    if (how.tokenizer.empty()) {
      for (const auto& [option, token] : {std::pair("--eos_token", how.eos_token),
                                          {"--pad_token", how.pad_token},
                                          {"--sep_token", how.sep_token}})
        if (!token.empty())
          refuse(fmt::format("{} is a token of a tokenizer: give --tokenizer, or leave it out", option));
      std::string seen = "\n";
      for (i64 i = 0; i < from.count(); ++i) {
        for (const std::string& text : from.texts(i)) seen += characters::of(text).letters();
        if (seen.size() > 1 << 20) seen = characters::of(seen).letters();
      }
      letters_ = characters::of(seen);
      end = padding = letters_->encode("\n").front();
      return;
    }
    words_ = tokenizer::from_file(how.tokenizer);
    if (!how.eos_token.empty()) end = id_of("--eos_token", how.eos_token);
    else if (words_->end_of_text()) end = *words_->end_of_text();
    else
      refuse(fmt::format("the tokenizer {} has no token that ends a text: name one with --eos_token",
                         how.tokenizer));
    padding = how.pad_token.empty() ? end : id_of("--pad_token", how.pad_token);
    if (!how.sep_token.empty()) separator = id_of("--sep_token", how.sep_token);
    if (const auto around = words_->encode(""); !around.empty() && around.front() == words_->begin_of_text())
      begin = {around.front()};
  }

  std::vector<i32> begin = {};
  i32 end = 0, padding = 0;
  std::optional<i32> separator = {};

  int size() const { return letters_ ? letters_->size() : words_->size(); }
  std::vector<i32> encode(std::string_view text) const {
    // A text of characters ends with a line, and its own last end of a line is that.
    if (letters_) return letters_->encode(text.ends_with('\n') ? text.substr(0, text.size() - 1) : text);
    return words_->encode(text, {.add_special_tokens = false, .match_special_tokens = false});
  }
  void write(const std::string& folder, const std::string& from) const {
    if (letters_) return write_characters(folder + "/vocab.json", *letters_);
    write_tokenizer(folder, tokenizer::json_of(from) + "\n", from);
  }

 private:
  std::optional<characters> letters_;
  std::optional<tokenizer> words_;
};

class language_maker final : public example_maker {
 public:
  explicit language_maker(const example_conversion& how)
      : how_(how),
        from_(how),
        by_(how, from_),
        packer_({.length = how.length,
                 .begin = by_.begin,
                 .end = by_.end,
                 .separator = by_.separator,
                 .padding = by_.padding,
                 .packs = how.packs,
                 .least = how.least}) {
    if (!how.sep_token.empty() && !from_.is_pairs())
      refuse("--sep_token is between a prompt and its completion: give --prompt_key, or leave it out");
  }

  std::vector<form> forms() const override { return {{"data", 3, how_.length}}; }
  i64 count() const override { return from_.count(); }
  i64 done() const override { return std::min(next_, from_.count()); }
  const char* what() const override { return from_.is_pairs() ? "pairs" : "documents"; }

  i64 take(i64 most, std::vector<std::vector<i32>>& to) override {
    // Behind the last document, the tokens that wait for others become an example.
    while (packer_.count() < most && next_ <= from_.count()) add();
    const i64 n = std::min(most, packer_.count());
    const auto first = packer_.examples().begin();
    to.assign(1, {first, first + n * 3 * how_.length});
    packer_.drop(n);
    return n;
  }
  // All examples that are left are of the document that was added last: it is added again, and those of its
  // examples that were taken are dropped.
  nlohmann::json state() const override {
    return {{"document", next_ - 1},        {"taken", of_last_ - packer_.count()},
            {"waiting", before_.waiting},   {"too_short", before_.too_short},
            {"too_long", before_.too_long}, {"empty", empty_before_}};
  }
  bool resume(const nlohmann::json& state) override {
    packer_.resume({state.at("waiting").get<std::vector<i32>>(), state.at("too_short").get<i64>(),
                    state.at("too_long").get<i64>()});
    next_ = state.at("document").get<i64>(), empty_ = state.at("empty").get<i64>();
    if (next_ < 0 || next_ > from_.count()) return false;
    add();
    const i64 taken = state.at("taken").get<i64>();
    if (taken < 0 || taken > packer_.count()) return false;
    packer_.drop(taken);
    return true;
  }

  nlohmann::ordered_json params() const override {
    const std::vector<std::string> features{"input_ids", "attention_mask", "labels"};
    return {{"features", features},          {"features_len", features.size()},
            {"max_seq_length", how_.length}, {"max_sequence_length", how_.length},
            {"vocab_size", by_.size()},      {"eos_id", by_.end},
            {"pad_id", by_.padding},         {"dataset", {{"training_objective", "clm"}}}};
  }
  std::string left_out() const override {
    std::string text;
    if (packer_.too_short())
      text +=
          fmt::format("; {} sequences of fewer than {} tokens are left out", packer_.too_short(), how_.least);
    if (packer_.too_long())
      text += fmt::format("; {} pairs are left out, which have no room", packer_.too_long());
    if (empty_) text += fmt::format("; {} documents are left out, which are empty", empty_);
    return text;
  }
  void write_vocabulary(const std::string& folder) const override { by_.write(folder, how_.tokenizer); }

 private:
  void add() {
    before_ = packer_.now(), empty_before_ = empty_;
    const i64 had = packer_.count();
    if (next_ == from_.count()) packer_.finish();
    else if (const auto x = tokens_of(next_); x.size() == 2) packer_.add(x[0], x[1]);
    else if (x[0].empty()) ++empty_;
    else packer_.add(x[0]);
    of_last_ = packer_.count() - had, ++next_;
  }
  /// The tokens of a document, or of a pair. Some are encoded together.
  std::vector<std::vector<i32>> tokens_of(i64 which) {
    if (which != first_encoded_ || encoded_.empty()) {
      constexpr i64 together = 256;  // whose texts and tokens are in memory
      const i64 n = std::min(together, from_.count() - which);
      encoded_.assign(static_cast<std::size_t>(n), {});
      on_all_cores(n, [&](i64 k) {
        for (const std::string& text : from_.texts(which + k))
          encoded_[static_cast<std::size_t>(k)].push_back(by_.encode(text));
      });
    }
    std::vector<std::vector<i32>> x = std::move(encoded_.front());
    encoded_.pop_front(), first_encoded_ = which + 1;
    return x;
  }

  example_conversion how_;
  documents from_;
  encoder_of_text by_;
  example_packer packer_;
  example_packer::state before_;      // the document that was added last
  i64 empty_ = 0, empty_before_ = 0;  // documents without a text, and those before the last document
  i64 next_ = 0, of_last_ = 0;        // the document that comes next, and the examples of the last one
  std::deque<std::vector<std::vector<i32>>> encoded_;
  i64 first_encoded_ = 0;
};

}  // namespace

std::unique_ptr<example_maker> language_examples(const example_conversion& how) {
  return std::make_unique<language_maker>(how);
}

}  // namespace data_app
