// SPDX-License-Identifier: MIT
// Preferences in files, as texts and as lists of messages, and the tokens that a decoder gets of them.
#include <wsl/ml/data/text/encode/preference_text.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using ids = std::vector<i32>;
constexpr i32 no = decoder::no_label;

struct folder : files::folder {
  folder() {
    files::write(*this / "tokenizer.json", R"({
      "model": {"type": "WordLevel", "unk_token": "<unk>",
                "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "<|im_start|>": 3, "<|im_end|>": 4, "user": 5,
                          "assistant": 6, "why": 7, "rain": 8, "none": 9, "yes": 10}},
      "pre_tokenizer": {"type": "WhitespaceSplit"},
      "added_tokens": [{"id": 1, "content": "<s>", "special": true},
                       {"id": 2, "content": "</s>", "special": true},
                       {"id": 3, "content": "<|im_start|>", "special": true},
                       {"id": 4, "content": "<|im_end|>", "special": true}],
      "post_processor": {"type": "TemplateProcessing",
                         "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                    {"Sequence": {"id": "A", "type_id": 0}}],
                         "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                                  {"Sequence": {"id": "B", "type_id": 1}}],
                         "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}})");
    files::write(*this / "tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
  }
  tokenizer words() const { return tokenizer::from_file(*this / "."); }
  preference_pairs read(const std::string& name, const std::string& text,
                        const chat_template* chat = nullptr) const {
    files::write(*this / name, text);
    return read_preferences({.files = {*this / name}, .length = 8}, words(), chat);
  }
  std::string refusal(const std::string& text, const char* name = "p.jsonl", bool with_chat = true) const {
    const chat_template format = chatml();
    return files::refusal([&] { read(name, text, with_chat ? &format : nullptr); });
  }
  static chat_template chatml() {
    return chat_template(
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message["
        "'content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ "
        "'<|im_start|>assistant\n' }}{% endif %}",
        "<s>", "</s>", "here");
  }
};
/// The ids and the labels of the first pair.
std::pair<ids, ids> first_of(const preference_pairs& p) {
  batches data(p.data(), {.size = 1, .shuffle = false});
  const loaded_batch b = data.next();
  return {b.by_name[0].numbers, b.by_name[1].numbers};
}

TEST_CASE("Preferences are read from objects and from tables") {
  const folder in;
  const std::pair<ids, ids> right{{1, 7, 8, 2, 2, 2, 2, 2, 1, 7, 9, 9, 2, 2, 2, 2},
                                  {no, 8, 2, no, no, no, no, no, no, 9, 9, 2, no, no, no, no}};
  const preference_pairs lines =
      in.read("p.jsonl",
              "{\"prompt\": \"why\", \"chosen\": \"rain\", \"rejected\": \"none none\"}\n"
              "{\"prompt\": \"why why\", \"chosen\": \"yes\", \"rejected\": \"none\"}\n");
  CHECK(lines.count() == 2);
  CHECK(first_of(lines) == right);
  CHECK(lines.about() == "2 pairs, 9 tokens of answers");
  CHECK(first_of(in.read("p.csv", "rejected,prompt,chosen\nnone none,why,rain\n")) == right);
  // A text may begin with a bracket.
  CHECK(first_of(in.read("p.csv", "rejected,prompt,chosen\nnone,[why],rain\n")).first[1] == 0);
}

TEST_CASE("Preferences that are lists of messages are written by the chat template") {
  const folder in;
  const chat_template chat = folder::chatml();
  const std::string prompt = R"([{"role": "user", "content": "why"}])",
                    answer = R"([{"role": "assistant", "content": "rain"}])",
                    other = R"([{"role": "assistant", "content": "none"}])";
  const std::pair<ids, ids> right{{3, 5, 7, 4, 3, 6, 8, 2, 3, 5, 7, 4, 3, 6, 9, 2},
                                  {no, no, no, no, no, 8, 4, no, no, no, no, no, no, 9, 4, no}};
  const preference_pairs apart = in.read(
      "p.jsonl", "{\"prompt\": " + prompt + ", \"chosen\": " + answer + ", \"rejected\": " + other + "}\n",
      &chat);
  CHECK(first_of(apart) == right);
  // The same without a field for the prompt.
  const std::string before = R"([{"role": "user", "content": "why"}, )";
  CHECK(first_of(in.read("p.jsonl",
                         "{\"chosen\": " + before + answer.substr(1) + ", \"rejected\": " + before +
                             other.substr(1) + "}\n",
                         &chat)) == right);
  CHECK(chat.answer("rain") == "rain<|im_end|>\n");
}

TEST_CASE("Mistakes in preferences are told with their file, line and field") {
  const folder in;
  const std::string good = R"({"prompt": "why", "chosen": "rain", "rejected": "none"})";
  const auto user = R"([{"role": "user", "content": "why"}])",
             chat = R"([{"role": "assistant", "content": "rain"}])";
  CHECK_THAT(in.refusal(good + "\n{\"prompt\": \"why\", \"chosen\": \"rain\"}\n"),
             Contains("p.jsonl, line 2: the object lacks 'rejected'"));
  CHECK_THAT(in.refusal(good + "\n\n{\"prompt\": \"why\", \"chosen\": \"\", \"rejected\": \"none\"}\n"),
             Contains("p.jsonl, line 3: 'chosen': the answer is empty"));
  CHECK_THAT(in.refusal("{\"chosen\": \"rain\", \"rejected\": \"none\"}\n"),
             Contains("line 1: 'prompt': there is none"));
  CHECK_THAT(in.refusal("prompt,chosen\nwhy,rain\n", "p.csv"),
             Contains("p.csv, line 1: there is no column 'rejected'"));
  const auto line = [](const std::string& prompt, const std::string& chosen, const std::string& rejected) {
    return "{\"prompt\": " + prompt + ", \"chosen\": " + chosen + ", \"rejected\": " + rejected + "}\n";
  };
  CHECK_THAT(in.refusal(line(user, chat, "\"none\"")),
             Contains("'rejected': one answer is a list of messages"));
  CHECK_THAT(in.refusal(line("\"why\"", chat, chat)),
             Contains("'chosen': of the prompt and the answers some are lists"));
  CHECK_THAT(in.refusal(line(user, user, chat)),
             Contains("'chosen': an answer is one message of the assistant"));
  CHECK_THAT(in.refusal(line(chat, chat, chat)), Contains("the last message is a user's"));
  CHECK_THAT(in.refusal(line(R"([{"role": "user"}])", chat, chat)),
             Contains("'prompt': message 1 should have a text 'role' and a text 'content'"));
  CHECK_THAT(in.refusal(line(user, chat, chat), "p.jsonl", false),
             Contains("the model has no chat template"));
  CHECK_THAT(in.refusal(good + "\n" + line(user, chat, chat)),
             Contains("line 2: 'prompt': of the pairs some are lists"));
  const std::string a = R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "rain"}])",
                    b = R"([{"role": "user", "content": "b"}, {"role": "assistant", "content": "rain"}])";
  CHECK_THAT(in.refusal("{\"chosen\": " + a + ", \"rejected\": " + b + "}\n"),
             Contains("'rejected': its messages before the last are not those of the chosen answer"));
  std::string json = read_whole(in / "tokenizer.json");
  for (std::size_t at = 0; (at = json.find("</s>", at)) != json.npos;) json.replace(at, 4, "[of]");
  const tokenizer endless = tokenizer::from_json(json, "here");
  files::write(in / "p.jsonl", good);
  CHECK_THROWS_WITH(read_preferences({.files = {in / "p.jsonl"}}, endless),
                    Contains("no token that ends a text"));
  CHECK(read_preferences({.files = {in / "p.jsonl"}, .end = 2}, endless).count() == 1);
}
}  // namespace
