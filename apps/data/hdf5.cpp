// SPDX-License-Identifier: MIT
// Texts to examples in HDF5, and what is in such files.
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>
#include <wsl/ml/data/hdf5/files.hpp>
#include <wsl/ml/data/hdf5/writer.hpp>
#include <wsl/ml/data/packed_sequences.hpp>
#include <wsl/ml/data/text/records.hpp>
#include <wsl/ml/data/vocabulary.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>
#include <wsl/support/progress.hpp>
#include <wsl/support/whole_folder.hpp>

#include "commands.hpp"

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
      for (const std::string& column : columns()) all.push_back(table_->text(which, column));
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
    support::write_whole_file(folder + "/tokenizer.json", tokenizer::json_of(from) + "\n");
    // These say which tokens begin and end a text.
    namespace fs = std::filesystem;
    const fs::path beside = fs::is_directory(from) ? fs::path(from) : fs::path(from).parent_path();
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"})
      if (fs::exists(beside / name))
        support::write_whole_file(folder + "/" + name, read_text((beside / name).string()));
  }

 private:
  std::optional<characters> letters_;
  std::optional<tokenizer> words_;
};

/// Calls f(k) for each k below n on several threads, and throws what one of them throws.
template <class F>
void on_threads(i64 n, int threads, F f) {
  std::atomic<i64> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  const auto work = [&] {
    for (i64 k; (k = next++) < n;) try {
        f(k);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed = std::current_exception(), next = n;
      }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
    work();
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

void convert_to_examples(const example_conversion& how, const std::string& out) {
  if (how.prompt_key.empty() != how.completion_key.empty())
    refuse("--prompt_key and --completion_key belong together: give both, or neither for running text");
  if (how.name.empty() || how.name.find('/') != std::string::npos)
    refuse(fmt::format("--name: '{}' is no name of a file", how.name));
  support::whole_folder folder(out);
  const documents from(how);
  const encoder_of_text by(how, from);
  if (!how.sep_token.empty() && !from.is_pairs())
    refuse("--sep_token is between a prompt and its completion: give --prompt_key, or leave it out");
  example_packer packer({.length = how.length,
                         .begin = by.begin,
                         .end = by.end,
                         .separator = by.separator,
                         .padding = by.padding,
                         .packs = how.packs,
                         .least = how.least});
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  i64 files = 0, written = 0;
  const auto write = [&](i64 count) {
    if (count == 0) return;
    const std::string name = fmt::format("{}-{}.h5", how.name, ++files);
    write_hdf5_examples(folder / name,
                        std::span(packer.examples()).first(static_cast<std::size_t>(count * 3 * how.length)),
                        {.length = how.length, .compression = how.gzip ? 4 : 0, .threads = threads});
    packer.drop(count), written += count;
  };
  support::progress bar("documents", static_cast<u64>(from.count()));
  constexpr i64 together = 256;  // documents whose texts and tokens are in memory
  for (i64 begin = 0; begin < from.count(); begin += together) {
    const i64 n = std::min(together, from.count() - begin);
    std::vector<std::vector<std::vector<i32>>> tokens(static_cast<std::size_t>(n));
    on_threads(n, threads, [&](i64 k) {
      for (const std::string& text : from.texts(begin + k))
        tokens[static_cast<std::size_t>(k)].push_back(by.encode(text));
    });
    for (const auto& x : tokens) {
      if (x.size() == 2) packer.add(x[0], x[1]);
      else packer.add(x[0]);
      while (packer.count() >= how.samples_per_file) write(how.samples_per_file);
    }
    bar.tick(static_cast<u64>(n));
  }
  packer.finish();
  while (packer.count() > 0) write(std::min<i64>(packer.count(), how.samples_per_file));
  if (written == 0)
    throw file_error(
        fmt::format("wsl: {}: there is no example of at least {} tokens in it: take longer texts, or a "
                    "smaller --min_sequence_len",
                    how.in.front(), how.least));
  const std::vector<std::string> features{"input_ids", "attention_mask", "labels"};
  support::write_whole_file(folder / "data_params.json",
                            nlohmann::ordered_json{{"n_examples", written},
                                                   {"features", features},
                                                   {"features_len", features.size()},
                                                   {"max_seq_length", how.length},
                                                   {"max_sequence_length", how.length},
                                                   {"output_dir", out},
                                                   {"dtype", "i4"},
                                                   {"compression", how.gzip ? "gzip" : "none"},
                                                   {"samples_per_file", how.samples_per_file},
                                                   {"vocab_size", by.size()},
                                                   {"eos_id", by.end},
                                                   {"pad_id", by.padding}}
                                    .dump(2) +
                                "\n");
  by.write(folder.unfinished(), how.tokenizer);
  folder.finish();
  std::string text =
      fmt::format("{}: {} examples of {} tokens in {} files {}-*.h5, made of {} {}", out, written, how.length,
                  files, how.name, from.count(), from.is_pairs() ? "pairs" : "documents");
  if (packer.too_short())
    text += fmt::format("; {} sequences of fewer than {} tokens are left out", packer.too_short(), how.least);
  if (packer.too_long())
    text += fmt::format("; {} pairs are left out, which have no room", packer.too_long());
  std::printf("%s\n", text.c_str());
}

void inspect_hdf5(const std::string& path) {
  const auto n = hdf5_attribute(path, "n_examples");
  std::printf("  HDF5%s\n", n ? fmt::format(": n_examples {}", *n).c_str() : "");
  for (const std::string& name : hdf5_datasets(path)) {
    try {
      const hdf5_rows x(path, name);
      std::printf("  %-16s %s\n", name.c_str(), x.about().c_str());
      if (x.count() == 0 || x.row() == 0) continue;
      std::vector<i32> row(static_cast<std::size_t>(x.row()));
      x.read(0, 1, row);
      const std::vector<i64>& shape = x.shape();
      // The first numbers of each line of the first example.
      const std::size_t length = static_cast<std::size_t>(shape.size() > 1 ? shape.back() : 1);
      const std::size_t lines = std::min<std::size_t>(row.size() / length, 5);
      for (std::size_t k = 0; k < lines && shape.size() > 1; ++k) {
        constexpr std::size_t most = 12;
        std::string words;
        for (std::size_t i = 0; i < std::min(length, most); ++i)
          words += fmt::format(" {}", row[k * length + i]);
        std::printf("   %s%s\n", words.c_str(), length > most ? " ..." : "");
      }
    } catch (const file_error& e) {
      const std::string why = e.what();
      std::printf("  %-16s %s\n", name.c_str(), why.substr(why.find("': ") + 3).c_str());
    }
  }
}

}  // namespace data_app
