// SPDX-License-Identifier: MIT
#include "text_meaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranks.hpp>
#include <wsl/ml/data/text/encode/vocabulary_file.hpp>

#include "../files.hpp"

namespace text_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

constexpr const char *vocabulary_fact = "vocabulary", *classes_fact = "classes", *settings_fact = "texts";

/// The text that the first process has; collective.
std::string shared(std::string text) {
  i64 bytes = static_cast<i64>(text.size());
  ranks::share({&bytes, 1});
  std::vector<i64> letters(text.begin(), text.end());
  letters.resize(static_cast<std::size_t>(bytes));
  ranks::share(letters);
  text.assign(letters.size(), ' ');
  std::transform(letters.begin(), letters.end(), text.begin(), [](i64 c) { return static_cast<char>(c); });
  return text;
}
/// A list in JSON of texts, or of pairs of them.
template <class T>
T read_list(const std::string& checkpoint, const char* fact, const std::string& text) {
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  try {
    return all.get<T>();
  } catch (const nlohmann::json::exception&) {
    throw ml::file_error(fmt::format("{}: '{}' is damaged: {}", checkpoint, fact, text.substr(0, 60)));
  }
}

std::string listed(const std::vector<std::string>& classes) {
  return classes.empty() ? "none" : fmt::format("{}", fmt::join(classes, ", "));
}
/// The first difference in words; empty: there is none.
std::string difference(const text_meaning& ours, const text_meaning& theirs) {
  if (ours.classes != theirs.classes)
    return fmt::format("its classes are {}, and these are {}", listed(theirs.classes), listed(ours.classes));
  for (const auto& [name, value] : ours.settings)
    for (const auto& [other, kept] : theirs.settings)
      if (name == other && value != kept)
        return fmt::format("its {} is {}, and here it is {}", name, kept, value);
  if (ours.vocabulary == theirs.vocabulary) return "";
  const std::string words = ml::difference_of(ours.words(), theirs.words());
  return words.empty() ? "" : "its vocabulary is another one: " + words;
}

}  // namespace

ml::text_by_name text_meaning::facts() const {
  return {{vocabulary_fact, vocabulary},
          {classes_fact, nlohmann::json(classes).dump()},
          {settings_fact, nlohmann::json(settings).dump()}};
}

text_meaning text_meaning::of(const std::string& checkpoint) {
  ml::text_by_name facts;
  if (ranks::root()) {
    facts = ml::checkpoint(checkpoint).facts();
    for (const char* needed : {vocabulary_fact, classes_fact, settings_fact})
      if (!facts.contains(needed))
        throw ml::file_error(
            fmt::format("{}: the checkpoint does not keep its {}: it is of another program "
                        "or of an earlier version, train again",
                        checkpoint, needed));
  }
  const std::string classes = shared(facts[classes_fact]), settings = shared(facts[settings_fact]);
  return {.vocabulary = shared(facts[vocabulary_fact]),
          .classes = read_list<std::vector<std::string>>(checkpoint, classes_fact, classes),
          .settings = read_list<named_words>(checkpoint, settings_fact, settings)};
}

void require_same_meaning(const std::string& checkpoint, const text_meaning& ours, bool override_it) {
  ml::text_by_name facts = ml::checkpoint(checkpoint).facts();
  const text_meaning theirs{
      .vocabulary = facts[vocabulary_fact],
      .classes = read_list<std::vector<std::string>>(checkpoint, classes_fact, facts[classes_fact]),
      .settings = read_list<named_words>(checkpoint, settings_fact, facts[settings_fact])};
  const std::string what = difference(ours, theirs);
  if (what.empty()) return;
  if (!override_it)
    throw std::invalid_argument(fmt::format(
        "the numbers of {} have another meaning: {}: take the data, the vocabulary and the settings of its "
        "run, or begin a run in another --model_dir; --override_model true takes its weights all the same",
        checkpoint, what));
  std::fprintf(stderr, "%s is taken for other numbers: %s\n", checkpoint.c_str(), what.c_str());
}

void write_vocabulary(const std::string& folder, const text_meaning& m, int longest) {
  const auto file = [&](const char* name) { return fmt::format("{}/{}", folder, name); };
  const nlohmann::json all = nlohmann::json::parse(m.vocabulary, nullptr, false);
  if (!std::filesystem::exists(file("tokenizer.json"))) app::write_file(file("tokenizer.json"), all.dump());
  const ml::tokenizer words = m.words();
  const std::string kind = words.model_name();
  if (kind == "WordPiece" || kind == "WordLevel") {
    std::string lines;
    for (wsl::i32 id = 0; id < words.size(); ++id) lines += words.token(id) + "\n";
    app::write_file(file("vocab.txt"), lines);
  }
  if (std::filesystem::exists(file("tokenizer_config.json"))) return;
  const bool is_bert = kind == "WordPiece";
  nlohmann::json config = {{"tokenizer_class", is_bert ? "BertTokenizerFast" : "PreTrainedTokenizerFast"},
                           {"model_max_length", longest}};
  if (is_bert) config["do_lower_case"] = words.normalized("A") == "a";
  const std::pair<const char*, const char*> of_bert[] = {{"unk_token", "[UNK]"},
                                                         {"cls_token", "[CLS]"},
                                                         {"sep_token", "[SEP]"},
                                                         {"pad_token", "[PAD]"},
                                                         {"mask_token", "[MASK]"}},
                                            of_others[] = {{"unk_token", "<unk>"},
                                                           {"pad_token", "<pad>"},
                                                           {"bos_token", "<s>"},
                                                           {"eos_token", "</s>"}};
  const auto add = [&](const auto& roles) {
    for (const auto& [role, token] : roles)
      if (words.id(token)) config[role] = token;
  };
  if (is_bert) add(of_bert);
  else add(of_others);
  for (const auto& [name, token] : m.settings)  // such as eos_token
    if (name.ends_with("_token") && name != "sos_token")
      config[name == "oov_token" ? "unk_token" : name] = token;
  app::write_file(file("tokenizer_config.json"), config.dump(2) + "\n");
}

}  // namespace text_app
