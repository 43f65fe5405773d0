// SPDX-License-Identifier: MIT
#include "writing.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <wsl/ml/data/text/encode/chat_form.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/write/writer.hpp>

#include "../files.hpp"
#include "model.hpp"

namespace gpt_app {
namespace {

namespace fs = std::filesystem;
namespace ml = wsl::ml;
using wsl::i32;
using wsl::i64;

std::string prompt_of(const writing_params& p) {
  if (p.prompt_file.empty()) return p.prompt;
  if (!p.prompt.empty())
    throw std::invalid_argument("--prompt and --prompt_file both give the prompt: leave one of them out");
  const std::string text = ml::read_text(p.prompt_file);
  if (text.empty()) throw std::invalid_argument("--prompt_file: " + p.prompt_file + " is empty");
  return text;
}

/// The tokens of a prompt. Throws std::invalid_argument, with the option, for a text that has none of this
/// model.
std::vector<i32> encoded(const std::string& prompt, const writing_params& p, const stored_model& m) {
  const std::string option = p.prompt_file.empty() ? "--prompt" : "--prompt_file " + p.prompt_file;
  std::vector<i32> ids;
  try {
    ids = m.words.encode(prompt);
  } catch (const std::invalid_argument& e) {
    const std::string sentence = e.what();
    throw std::invalid_argument(option + ": " + sentence.substr(sentence.starts_with("wsl: ") ? 5 : 0));
  }
  if (ids.empty())
    throw std::invalid_argument(option + " has no tokens: leave it out, or give a longer text");
  for (const i32 id : ids)
    if (id >= m.config.vocabulary)
      throw std::invalid_argument(option + " has token " + std::to_string(id) + " of a vocabulary of " +
                                  std::to_string(m.config.vocabulary) +
                                  (m.tokenizer.empty() ? "" : ": its tokenizer is another model's"));
  return ids;
}

/// The tokens of a question in the plain form, in which lines of characters are those of the form.
std::vector<i32> in_plain_form(const std::string& system, std::string question, const stored_model& m) {
  std::vector<ml::chat_message> messages{{"user", std::move(question)}};
  if (!system.empty()) messages.insert(messages.begin(), {"system", system});
  const auto& by = m.words.tokens();
  ml::plain_chat plain;
  if (!by) {
    for (ml::chat_message& x : messages) std::ranges::replace(x.content, '\n', ' ');
    return m.words.encode(plain.prompt(messages));
  }
  for (const i32 id : m.words.begin_tokens()) plain.begin += by->token(id);
  return by->encode(plain.prompt(messages), {.add_special_tokens = false});
}

/// The tokens that the model continues. In a chat the prompt is a question, and the end of an answer ends the
/// text, too.
std::vector<i32> ids_of(const std::string& prompt, const writing_params& p, stored_model& m) {
  if (!p.system.empty() && !p.chat)
    throw std::invalid_argument("--system is a part of a chat: give --chat true");
  if (!p.chat) return prompt.empty() ? std::vector<i32>{m.begin} : encoded(prompt, p, m);
  if (prompt.empty()) throw std::invalid_argument("--chat needs a question, --prompt or --prompt_file");
  if (m.plain_chat_end) {
    m.ends.push_back(*m.plain_chat_end);
    return in_plain_form(p.system, prompt, m);
  }
  if (m.tokenizer.empty())
    throw std::invalid_argument(
        "--chat needs a tokenizer and its chat template, and the model has none: give --tokenizer_dir, a "
        "folder with both");
  auto [ids, end] = m.words.chat(m.tokenizer, p.system, prompt);
  if (end && *end < m.config.vocabulary) m.ends.push_back(*end);
  return ids;
}

ml::text_settings settings_of(const writing_params& p, const stored_model& m) {
  if (p.min_tokens > p.tokens)
    throw std::invalid_argument("--min_tokens " + std::to_string(p.min_tokens) + " is more than --tokens " +
                                std::to_string(p.tokens));
  ml::text_settings how{.max_tokens = p.tokens,
                        .temperature = p.temperature,
                        .top_k = p.top_k,
                        .top_p = p.top_p,
                        .min_p = p.min_p,
                        .repetition_penalty = p.repetition_penalty,
                        .stop_tokens = m.ends,
                        .min_tokens = p.min_tokens,
                        .stop_strings = p.stop,
                        .samples = p.samples,
                        .seed = static_cast<wsl::u64>(p.seed),
                        // A vocabulary that was padded to a round number has logits of no word.
                        .known_tokens = std::min(m.words.size(), m.config.vocabulary)};
  for (const i64 id : p.stop_tokens)
    if (id >= m.config.vocabulary)
      throw std::invalid_argument("--stop_tokens has " + std::to_string(id) +
                                  ", the model has tokens up to " + std::to_string(m.config.vocabulary - 1));
    else how.stop_tokens.push_back(static_cast<i32>(id));
  return how;
}

/// Writes with a window over the text: one that fills the model's positions goes on behind its end, of which
/// at least half a window is kept.
class long_writer {
 public:
  using listener = std::function<void(i32)>;

  long_writer(ml::writer& by, const vocabulary& words) : by_(by), words_(words) {
    if (by.max_length() < 2) throw std::invalid_argument("a model with one position cannot write");
  }

  /// Throws std::invalid_argument for what the writer cannot write.
  void check(const std::vector<i32>& prompt, ml::text_settings how) const {
    how.text_of = [](std::span<const i32>) { return std::string(); };
    by_.check(std::span(prompt).last(kept(prompt.size(), how)), how);
  }
  /// The tokens that are kept of a text that leaves no room for another token, which are the last.
  std::size_t kept(std::size_t length, const ml::text_settings& how) const {
    const int positions = by_.max_length();
    if (length < static_cast<std::size_t>(positions)) return length;
    return static_cast<std::size_t>(std::clamp(positions - how.max_tokens, positions / 2, positions - 1));
  }

  std::vector<std::vector<i32>> write(const std::vector<i32>& prompt, ml::text_settings how,
                                      const listener& each) {
    std::vector<std::vector<i32>> all;
    for (ml::written_text& t : pass(prompt, {}, how, each)) {
      all.push_back(std::move(t.tokens));
      const wsl::u64 seed = ml::seed_of(how.seed, all.size());
      for (ml::text_end end = t.end; end == ml::text_end::context_full && left(all.back(), how) > 0;) {
        ml::text_settings rest = how;
        rest.samples = 1, rest.max_tokens = left(all.back(), how),
        rest.seed = ml::seed_of(seed, all.back().size());
        rest.min_tokens = std::max(0, how.min_tokens - static_cast<int>(all.back().size()));
        const std::vector<ml::written_text> more = pass(prompt, all.back(), rest, each);
        all.back().insert(all.back().end(), more[0].tokens.begin(), more[0].tokens.end());
        end = more[0].end;
      }
    }
    return all;
  }

 private:
  static int left(const std::vector<i32>& written, const ml::text_settings& how) {
    return how.max_tokens - static_cast<int>(written.size());
  }
  /// Goes on with a text as far as the window reaches.
  std::vector<ml::written_text> pass(const std::vector<i32>& prompt, const std::vector<i32>& before,
                                     ml::text_settings& how, const listener& each) {
    std::vector<i32> text = prompt;
    text.insert(text.end(), before.begin(), before.end());
    text.erase(text.begin(), text.end() - static_cast<std::ptrdiff_t>(kept(text.size(), how)));
    how.text_of = [&](std::span<const i32> ids) {
      std::vector<i32> whole = before;
      whole.insert(whole.end(), ids.begin(), ids.end());
      return words_.decode(whole);
    };
    return by_.write(text, how, [&](const ml::written_token& t) { each(t.id); });
  }

  ml::writer& by_;
  const vocabulary& words_;
};

void show(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

void declare_writing(train_app::fields& f, writing_params& p) {
  f.options_of("sample");
  f.add("prompt", p.prompt, "what the text begins with");
  f.add("prompt_file", p.prompt_file, "a file with the prompt");
  f.add("chat", p.chat,
        "the prompt is a question to a model that was trained to chat, in the format of the template beside "
        "its tokenizer");
  f.add("system", p.system, "what a chat tells the model before the question");
  f.add("tokens", p.tokens, "how many to write").at_least(1).at_most(1 << 20);
  f.add("min_tokens", p.min_tokens, "no token ends the text before so many").at_least(0).at_most(1 << 20);
  f.add("temperature", p.temperature, "0 takes the argmax").at_least(0);
  f.add("top_k", p.top_k, "only the tokens with so many of the largest probabilities; 0: all").at_least(0);
  f.add("top_p", p.top_p, "only the largest probabilities that have this sum").at_least(0).at_most(1);
  f.add("min_p", p.min_p, "only tokens with this part of the largest probability").at_least(0).at_most(1);
  f.add("repetition_penalty", p.repetition_penalty,
        "above 1, tokens that the text has already become less likely")
      .above(0);
  f.add("stop", p.stop, "the text ends with the first of these strings");
  f.add("stop_tokens", p.stop_tokens, "the text ends with the first of these tokens").at_least(0);
  f.add("samples", p.samples, "so many texts, written side by side").at_least(1).at_most(1024);
  f.add("sample_seed", p.seed, "of what is drawn").at_least(0);
  f.add("sample_columns", p.columns, "PEs that share out the model; texts of equal numbers are equal")
      .at_least(1)
      .at_most(64);
}

std::vector<i32> tokens_in(const std::string& folder, const char* field) {
  for (const char* name : {"/generation_config.json", "/config.json"}) {
    if (!fs::exists(folder + name)) continue;
    const nlohmann::json all = nlohmann::json::parse(app::read_file(folder + name), nullptr, false);
    if (!all.is_object() || !all.contains(field) || all[field].is_null()) continue;
    const nlohmann::json& ids = all[field];
    std::vector<i32> found;
    for (const nlohmann::json& id : ids.is_array() ? ids : nlohmann::json::array({ids})) {
      if (!id.is_number_integer())
        throw ml::file_error("wsl: " + folder + name + ": '" + field + "' is a number or a list of numbers");
      found.push_back(id.get<i32>());
    }
    return found;
  }
  return {};
}

namespace {

/// The numbers of a network's parameters in a checkpoint; of those that are not frozen, under their names
/// with this suffix.
ml::weights read_weights(const std::string& checkpoint, const ml::network& n, const std::string& suffix) {
  ml::safetensors_file in(checkpoint);
  ml::weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const ml::parameter& p = n.parameters()[k];
    w[k] = in.numbers(p.frozen ? p.name : p.name + suffix,
                      {static_cast<wsl::u64>(p.rows), static_cast<wsl::u64>(p.columns)});
  }
  return w;
}

}  // namespace

stored_model model_of_checkpoint(const std::string& checkpoint, const adapted_model& m,
                                 const ml::network& trained, vocabulary words, bool average) {
  const std::string suffix = average ? "/ema" : "";
  return {.config = m.config(),
          .weights = m.has_adapters()
                         ? ml::stored_weights(m.plain(), m.folded(read_weights(checkpoint, trained, suffix)))
                         : ml::mapped_weights(checkpoint, trained, suffix),
          .name = checkpoint,
          .words = std::move(words)};
}

void take_words(stored_model& m, const std::string& folder, const std::string& tokenizer_dir) {
  const std::string of_words = tokenizer_dir.empty() ? folder : tokenizer_dir;
  if (!tokenizer_dir.empty() || ml::tokenizer::is_in(folder))
    m.words = vocabulary::of_model(of_words), m.tokenizer = of_words;
  const std::vector<i32> begins = tokens_in(folder, "bos_token_id");
  m.begin = m.words.begin_of_text().value_or(begins.empty() ? 0 : begins.front());
  if (m.begin < 0 || m.begin >= m.config.vocabulary) m.begin = 0;
  m.ends = tokens_in(folder, "eos_token_id");
  std::erase_if(m.ends, [&](i32 id) { return id < 0 || id >= m.config.vocabulary; });
}

stored_model pretrained_model(const std::string& folder, const std::string& tokenizer_dir,
                              const std::string& adapter) {
  if (!fs::is_directory(folder))
    throw ml::file_error("--pretrained: " + folder + " is no folder with config.json and model.safetensors");
  ml::pretrained p = ml::read_hugging_face(folder);
  const ml::network model = network_of(p.config);
  stored_model m{.config = p.config,
                 .weights = adapter.empty()
                                ? p.mapped_weights(model)
                                : ml::stored_weights(
                                      model, folded(adapter, p.config, p.model_type(), p.to_weights(model))),
                 .name = folder};
  take_words(m, folder, tokenizer_dir);
  return m;
}

namespace {

void write(stored_model& m, const writing_params& p, ml::precision format, int threads) {
  const std::string prompt = prompt_of(p);
  const std::vector<i32> ids = ids_of(prompt, p, m);
  const ml::text_settings how = settings_of(p, m);
  // The weights of a computation in float16 or cbfloat16 are those of f32, rounded.
  if (format != ml::precision::bfloat16) format = ml::precision::f32;
  ml::writer by(m.config, std::move(m.weights),
                {.columns = p.columns, .precision = format, .threads = threads});
  long_writer writer(by, m.words);
  writer.check(ids, how);
  if (const std::size_t kept = writer.kept(ids.size(), how); kept < ids.size())
    std::fprintf(stderr,
                 "The prompt has %zu tokens, and the model's sequences %d: it goes on from the last %zu.\n",
                 ids.size(), by.max_length(), kept);
  const auto begin = [&] {
    text_stream stream(m.words);
    if (!prompt.empty() && !p.chat)
      for (const i32 id : ids) show(stream.put(id));
    return stream;
  };
  if (p.samples == 1) {
    text_stream stream = begin();
    writer.write(ids, how, [&](i32 id) { show(stream.put(id)); });
    return show(stream.finish() + "\n");
  }
  const auto texts = writer.write(ids, how, [](i32) {});
  for (std::size_t k = 0; k < texts.size(); ++k) {
    std::printf("--- %zu of %zu ---\n", k + 1, texts.size());
    text_stream stream = begin();
    for (const i32 id : texts[k]) show(stream.put(id));
    show(stream.finish() + "\n");
  }
}

}  // namespace

void write_texts(stored_model m, const writing_params& p, ml::precision format, int threads) {
  try {
    write(m, p, format, threads);
  } catch (const ml::not_finite& e) { throw ml::file_error(m.name + ": " + std::string(e.what()).substr(5)); }
}

}  // namespace gpt_app
