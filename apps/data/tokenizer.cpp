// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <wsl/ml/tokenizer/byte_pair_training.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "../files.hpp"
#include "commands.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

class stopwatch {
 public:
  /// The megabytes of each second that a text of so many bytes took.
  f64 rate(std::size_t bytes) const {
    const std::chrono::duration<f64> s = std::chrono::steady_clock::now() - begin_;
    return static_cast<f64>(bytes) / 1e6 / std::max(s.count(), 1e-9);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

constexpr const char *begin_of_turn = "<|im_start|>", *end_of_turn = "<|im_end|>";

constexpr const char *chat_file = "tokenizer_config.json", *ends_file = "generation_config.json";

/// Throws std::invalid_argument if a training would write over a file, or has no place for the files of
/// chats.
void check_places(const tokenizer_training& how) {
  app::require_free(how.out, "--out");
  if (!how.chats) return;
  const std::filesystem::path file = how.out;
  if (file.filename() != "tokenizer.json")
    throw std::invalid_argument(
        fmt::format("--chat writes files that belong to a tokenizer.json, and --out is {}: end it with "
                    "/tokenizer.json",
                    how.out));
  for (const char* name : {chat_file, ends_file}) app::require_free(file.parent_path() / name, "--out");
}

/// Writes the chat template and the tokens that end a text beside a tokenizer, as transformers read them.
void write_chat_files(const std::string& file, const std::string& end_of_text, const tokenizer& t) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const nlohmann::json config{
      {"tokenizer_class", "PreTrainedTokenizerFast"},
      {"eos_token", end_of_text},
      {"pad_token", end_of_text},
      {"chat_template",
       "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
       "'<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
       "{% endif %}"}};
  const i32 end = t.id(end_of_text).value();
  const nlohmann::json generation{{"eos_token_id", {end, t.id(end_of_turn).value()}}, {"pad_token_id", end}};
  support::write_whole_file((folder / chat_file).string(), config.dump(2) + "\n");
  support::write_whole_file((folder / ends_file).string(), generation.dump(2) + "\n");
}

}  // namespace

void write_tokenizer(const std::string& folder, const std::string& json, const std::string& from) {
  namespace fs = std::filesystem;
  support::write_whole_file(folder + "/tokenizer.json", json);
  const fs::path beside = fs::is_directory(from) ? fs::path(from) : fs::path(from).parent_path();
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"})
    if (fs::exists(beside / name))
      support::write_whole_file(folder + "/" + name, read_text((beside / name).string()));
}

void train_tokenizer(const tokenizer_training& how) {
  check_places(how);
  std::vector<std::string> special = how.special;
  if (how.chats)
    for (const char* token : {begin_of_turn, end_of_turn})
      if (std::find(special.begin(), special.end(), token) == special.end()) special.emplace_back(token);
  byte_pair_training training({.size = how.size,
                               .least_count = static_cast<u64>(how.least_count),
                               .special = special,
                               .style = how.words == "gpt2" ? word_style::gpt2 : word_style::llama3});
  std::size_t bytes = 0;
  for (const std::string& name : how.texts) {
    const std::string text = read_text(name);
    training.add(text), bytes += text.size();
  }
  const std::string json = training.tokenizer_json();
  const tokenizer trained = tokenizer::from_json(json, how.out);
  if (const auto folder = std::filesystem::path(how.out).parent_path(); !folder.empty())
    app::make_folder(folder);
  support::write_whole_file(how.out, json + "\n");
  if (how.chats) write_chat_files(how.out, special.front(), trained);
  print(fmt::format("{}: {} tokens, trained on {} bytes\n", how.out, trained.size(), bytes));
}

void encode(const encoding& how) {
  if (how.file.empty() && !how.has_text)
    throw std::invalid_argument("what is there to encode? give --text or --in");
  if (!how.out.empty()) app::require_free(how.out, "--out");
  const tokenizer by = tokenizer::from_file(how.tokenizer);
  const std::string text = how.file.empty() ? how.text : read_text(how.file);
  const stopwatch since;
  const std::vector<i32> ids =
      by.encode(text, {.add_special_tokens = how.add_special, .match_special_tokens = how.match_special});
  const f64 rate = since.rate(text.size());
  if (how.out.empty()) return print(fmt::format("{}\n", fmt::join(ids, " ")));
  write_tokens(how.out, tokens(ids), how.form, size_in_header(by.size(), how.form));
  print(fmt::format(
      "{}: {} tokens of {} bytes, {:.2f} bytes each; {:.1f} MB/s\n", how.out, ids.size(), text.size(),
      static_cast<f64>(text.size()) / static_cast<f64>(std::max<std::size_t>(ids.size(), 1)), rate));
}

void decode(const std::string& name, const std::vector<int>& ids, const std::string& file, bool special) {
  if (file.empty() && ids.empty())
    throw std::invalid_argument(
        "what is there to decode? give numbers of tokens, or a file of them with --in");
  const tokenizer by = tokenizer::from_file(name);
  std::vector<i32> all = ids;
  if (!file.empty()) {
    const tokens in = read_tokens(file);
    all.resize(static_cast<std::size_t>(in.size()));
    in.copy(0, all);
  }
  print(by.decode(all, {.skip_special_tokens = !special}) + "\n");
}

void show_tokenizer(const std::string& name) {
  const tokenizer t = tokenizer::from_file(name);
  print(fmt::format("{}\n  {}, {} tokens\n", name, t.model_name(), t.size()));
  const auto role = [&](const char* what, std::optional<i32> id) {
    if (id) print(fmt::format("  a text {} with {} {}\n", what, *id, t.token(*id)));
  };
  role("begins", t.begin_of_text()), role("ends", t.end_of_text());
  std::size_t shown = 0;
  for (const added_token& a : t.added()) {
    if (++shown > 16) break;
    print(fmt::format("  {:>7} {}{}\n", a.id, a.text, a.is_special ? ", special" : ""));
  }
  if (t.added().size() > 16) print(fmt::format("  and {} more added tokens\n", t.added().size() - 16));
  print(fmt::format("  around a text: {}\n", fmt::join(t.encode(""), " ")));
}

}  // namespace data_app
