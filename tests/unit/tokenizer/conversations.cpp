// SPDX-License-Identifier: MIT
// Chats in files, the tokens of their answers in the forms of templates, and a decoder that learns them.
#include <nlohmann/json.hpp>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/packed_documents.hpp>
#include <wsl/ml/data/text/encode/conversations.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using nlohmann::json;
using ids = std::vector<i32>;
using files::refusal;
constexpr i32 no = decoder::no_label;

/// The project's own tokenizer with some special tokens more.
std::shared_ptr<const tokenizer> with_tokens(const std::vector<std::string>& more) {
  json all = json::parse(read_whole(std::string(golden_folder) + "/tokenizer/tokenizer.json"));
  json one = all["added_tokens"][0];
  for (const std::string& token : more) {
    one["id"] = all["model"]["vocab"].size() + all["added_tokens"].size() - 2, one["content"] = token;
    all["added_tokens"].push_back(one);
  }
  return std::make_shared<const tokenizer>(tokenizer::from_json(all.dump(), "with tokens"));
}
struct format {
  std::string jinja, begin, end;
  std::vector<std::string> tokens;
};
const format chatml{
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}",
    "",
    "",
    {"<|im_start|>", "<|im_end|>"}},
    llama2{
        "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% if x %}{{ ' '  + content.strip() + ' ' "
        "+ "
        "eos_token }}{% if x %}{{ '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' }}",
        "<s>",
        "</s>",
        {"<s>", "</s>"}},
    llama3{
        "{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ "
        "message['content'] | trim + '<|eot_id|>' %}{{ bos_token }}{% if x %}{{ "
        "'<|start_header_id|>assistant<|end_header_id|>\n\n' }}",
        "<s>",
        "</s>",
        {"<s>", "</s>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}},
    mistral{
        "{{ bos_token }}{% if x %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% if x %}{{ "
        "message['content'] + eos_token "
        "+ ' ' }}",
        "<s>",
        "</s>",
        {"<s>", "</s>"}},
    zephyr{
        "{{ '<|user|>\n' + message['content'] + eos_token }}{% if x %}{{ '<|system|>\n' + eos_token }}{% if "
        "x %}{{ "
        "'<|assistant|>\n'  + message['content'] + eos_token }}",
        "<s>",
        "</s>",
        {"<s>", "</s>", "<|user|>", "<|system|>", "<|assistant|>"}},
    phi3{"{{ '<|user|>\n' + question + '<|end|>\n' + '<|assistant|>\n' }}",
         "<s>",
         "</s>",
         {"<s>", "</s>", "<|user|>", "<|assistant|>", "<|end|>"}};

chat_form form_of(const format& f) {
  return chat_form_of(chat_template(f.jinja, f.begin, f.end, "a test"), with_tokens(f.tokens));
}
/// One token for each byte, so that tokens are read as text.
chat_form bytes_form() {
  return chat_form_of({.end = "\n"}, [](std::string_view text) { return ids(text.begin(), text.end()); });
}
std::string text_of(std::span<const i32> x) {
  std::string text;
  for (const i32 c : x) text += static_cast<char>(c);
  return text;
}

const std::vector<chat_message> dialogue{{"user", "the hat"},
                                         {"assistant", "Hello!\n\nthe"},
                                         {"user", "Why? "},
                                         {"assistant", " \xc3\xa9, the end"}};

TEST_CASE("In every template the tokens of answers are those that a writer has to write, and no others") {
  for (const format* f : {&chatml, &llama2, &llama3, &mistral, &zephyr, &phi3}) {
    INFO(f->jinja);
    const chat_template by(f->jinja, f->begin, f->end, "a test");
    const auto t = with_tokens(f->tokens);
    conversations all({.length = 200}, chat_form_of(by, t));
    REQUIRE(all.add(dialogue));
    const std::vector<conversations::answer>& answers = all.answers(0);
    REQUIRE(answers.size() == 2);
    CHECK(all.joined() == 0);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto tokens = all.tokens(0);
      // Before the answer are the tokens of the prompt; it ends with the token by which a writer stops.
      const std::vector<chat_message> before(dialogue.begin(),
                                             dialogue.begin() + 2 * static_cast<int>(k) + 1);
      CHECK(ids(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(answers[k].begin)) ==
            t->encode(by.prompt(before), {.add_special_tokens = false}));
      CHECK(t->token(tokens[answers[k].end - 1]) == by.end_of_turn());
      const std::string text = t->decode(tokens.subspan(answers[k].begin, answers[k].end - answers[k].begin));
      CHECK_THAT(text, Contains(k ? "\xc3\xa9, the end" : "Hello!\n\nthe"));
      CHECK(text.find("Why?") == text.npos);
    }
    CHECK(answers[1].end == all.tokens(0).size());
    CHECK(all.end() == t->id(by.end_of_turn()));
  }
}

TEST_CASE("Answers have targets, with their ends, and all else has none") {
  conversations all({.length = 64, .padding = 7}, bytes_form());
  REQUIRE(
      all.add({{"system", "Be."}, {"user", "a"}, {"assistant", "b c"}, {"user", "d"}, {"assistant", "e"}}));
  CHECK(text_of(all.tokens(0)) == "System: Be.\nUser: a\nAssistant: b c\nUser: d\nAssistant: e\n");
  std::vector<i32> x(64), y(64);
  all.data().get(0, {.ids = x, .features = {}, .targets = y});
  const std::size_t n = all.tokens(0).size() - 1;
  std::string learnt;
  for (std::size_t t = 0; t < 64; ++t) {
    if (y[t] == no) continue;
    REQUIRE(t < n);
    CHECK(y[t] == all.tokens(0)[t + 1]);
    learnt += static_cast<char>(y[t]);
  }
  CHECK(learnt == " b c\n e\n");
  CHECK((x[n] == 7 && x[63] == 7 && text_of(std::span(x).first(n)) == text_of(all.tokens(0).first(n))));
  CHECK((all.targets() == 8 && all.answers() == 2 && all.largest() == 'y'));
  CHECK(all.about() == "1 chats, 2 answers of 8 tokens");
}

TEST_CASE("A chat that is too long loses its first turns, and keeps the system's message") {
  const std::vector<chat_message> long_chat{
      {"system", "S"},    {"user", "one"},   {"assistant", "1"}, {"user", "two"},
      {"assistant", "2"}, {"user", "three"}, {"assistant", "3"}, {"user", "without an answer"}};
  const auto kept = [&](int length) {
    conversations all({.length = length}, bytes_form());
    return all.add(long_chat) ? text_of(all.tokens(0)) : "left out";
  };
  const std::string system = "System: S\n", one = "User: one\nAssistant: 1\n",
                    two = "User: two\nAssistant: 2\n", three = "User: three\nAssistant: 3\n";
  const auto size = [](const std::string& text) { return static_cast<int>(text.size()); };
  // The last token is a target only.
  const int whole = size(system + one + two + three) - 1, of_two = size(system + two + three) - 1,
            of_one = size(system + three) - 1;
  CHECK(kept(whole) == system + one + two + three);
  CHECK(kept(whole - 1) == system + two + three);
  CHECK(kept(of_two) == system + two + three);
  CHECK(kept(of_two - 1) == system + three);
  CHECK(kept(of_one) == system + three);
  CHECK(kept(of_one - 1) == "left out");
  conversations all({.length = of_two}, bytes_form());
  CHECK(all.add(long_chat));
  CHECK(all.add({{"user", "a"}, {"assistant", "b"}}));
  CHECK_FALSE(all.add({{"user", "a"}, {"assistant", std::string(99, 'b')}}));
  CHECK((all.count() == 2 && all.cut() == 1 && all.turns_lost() == 1 && all.left_out() == 1));
  CHECK_THAT(all.about(),
             Contains("1 chats are too long and have lost 1 turns at their beginning; 1 are left out, whose "
                      "last question and answer have no room"));
}

TEST_CASE("A form that does not append, or whose ends are no tokens, is refused") {
  const auto bytes = [](std::string_view text) { return ids(text.begin(), text.end()); };
  // A template that shortens earlier answers, such as one that strips thoughts.
  chat_form shortens = bytes_form();
  shortens.whole = [](const std::vector<chat_message>& m) {
    std::string text;
    for (const chat_message& x : m) text += (&x == &m.back() ? x.content : x.content.substr(0, 1)) + "\n";
    return text;
  };
  shortens.prompt = shortens.whole;
  conversations all({.length = 99}, shortens);
  const std::vector<chat_message> two{
      {"user", "a"}, {"assistant", "long"}, {"user", "b"}, {"assistant", "c"}};
  CHECK_THROWS_WITH(all.add(two), Contains("message 2: the form of chats writes what is before an answer "
                                           "otherwise when the chat goes on"));
  CHECK(all.count() == 0);
  CHECK_THROWS_WITH(conversations({.length = 9}, chat_form_of({.end = "the end"}, bytes)),
                    Contains("the end of an answer, 'the end', is 7 tokens"));
  CHECK_THROWS_WITH(conversations({.length = 9}, chat_form_of({.end = ""}, bytes)), Contains("is 0 tokens"));
  CHECK_THROWS_WITH(conversations({.length = 0}, bytes_form()), Contains("at least one token, not 0"));
}

TEST_CASE("The end of an answer that a tokenizer joins with its neighbours is refused") {
  const auto t = with_tokens({});
  const auto encode = [&](std::string_view x) { return t->encode(x, {.add_special_tokens = false}); };
  REQUIRE(encode("he").size() == 1);
  conversations all({.length = 99}, chat_form_of({.end = "he"}, encode));
  CHECK(all.add({{"user", "a"}, {"assistant", "b"}}));
  CHECK_THROWS_WITH(all.add({{"user", "a"}, {"assistant", "a t"}}),
                    Contains("message 2: the token 'he' behind the answer is another one in the chat"));
  // A mark that ends an answer would end it earlier in its text.
  CHECK_THROWS_WITH(all.add({{"user", "hehe"}, {"assistant", "b"}}),
                    Contains("message 1: its content has 'he', which ends an answer"));
}

TEST_CASE("A token that has the end of the prompt in it is learnt, and counted") {
  const auto t = with_tokens({"<stop>"});
  const auto encode = [&](std::string_view x) { return t->encode(x, {.add_special_tokens = false}); };
  chat_form form{.prompt = [](const auto& m) { return m[0].content + ">t"; },
                 .whole = [](const auto& m) { return m[0].content + ">t" + m[1].content + "<stop>"; },
                 .end = "<stop>",
                 .encode = encode};
  conversations all({.length = 9}, form);
  CHECK(all.add({{"user", "a"}, {"assistant", "hb"}}));  // a > th b <stop>
  CHECK(all.joined() == 1);
  CHECK(all.answers(0) == std::vector<conversations::answer>{{2, 5}});
  CHECK_THAT(all.about(), Contains("the first token of 1 answers has the end of the prompt in it"));
}

TEST_CASE("A folder says whether it has a chat template") {
  const files::folder here;
  CHECK_FALSE(chat_template::is_in(here / ""));
  files::write(here / "tokenizer_config.json", "{\"model_max_length\": 9, \"chat_template\": null}");
  CHECK_FALSE(chat_template::is_in(here / ""));
  files::write(here / "tokenizer_config.json", "{\"chat_template\": \"{{ messages }}\"}");
  CHECK(chat_template::is_in(here / ""));
  files::write(here / "tokenizer_config.json", "{}");
  files::write(here / "chat_template.jinja", "");
  CHECK(chat_template::is_in(here / ""));
}

chat_list read(const std::string& file, const std::string& lines, const std::string& key = "") {
  files::write(file, lines);
  return chat_list(records({file}), key);
}

bool same(const std::vector<chat_message>& a, const std::vector<chat_message>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.role == y.role && x.content == y.content; });
}

TEST_CASE("Chats are read in the forms of the field") {
  const files::folder here;
  const std::vector<chat_message> expected{{"system", "S"}, {"user", "Why?"}, {"assistant", "So.\nThere."}};
  const std::string openai =
      R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Why?"}, )"
      R"({"role": "assistant", "content": "So.\nThere."}], "id": 3})"
      "\n";
  const std::string sharegpt =
      R"({"conversations": [{"from": "system", "value": "S"}, {"from": "human", "value": "Why?"}, )"
      R"({"from": "gpt", "value": "So.\nThere."}]})"
      "\n";
  CHECK(same(read(here / "a.jsonl", openai).messages(0), expected));
  CHECK(same(read(here / "b.jsonl", "\n" + sharegpt).messages(0), expected));
  std::string renamed = openai;
  renamed.replace(renamed.find("messages"), 8, "dialog");
  CHECK(same(read(here / "c.jsonl", renamed, "dialog").messages(0), expected));
  const chat_list alpaca = read(here / "d.jsonl",
                                "{\"instruction\": \"Add.\", \"input\": \"1 2\", \"output\": \"3\"}\n"
                                "{\"instruction\": \"Sing.\", \"input\": \"\", \"output\": \"La.\"}\n"
                                "{\"instruction\": \"Sing.\", \"output\": \"La.\"}\n");
  CHECK((alpaca.count() == 3 && alpaca.key() == "instruction"));
  CHECK(same(alpaca.messages(0), {{"user", "Add.\n\n1 2"}, {"assistant", "3"}}));
  CHECK(same(alpaca.messages(1), {{"user", "Sing."}, {"assistant", "La."}}));
  CHECK(same(alpaca.messages(2), alpaca.messages(1)));
  CHECK(same(read(here / "e.csv", "instruction,input,output\nAdd.,1 2,3\n").messages(0), alpaca.messages(0)));
}

TEST_CASE("The last question of a chat is asked, with or without an answer that is right") {
  const files::folder here;
  const chat_list chats = read(
      here / "a.jsonl",
      R"({"id": 3, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "by": [1]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, )"
      R"({"role": "user", "content": "c"}]})"
      "\n"
      R"({"messages": [{"role": "system", "content": "s"}]})"
      "\n");
  const chat_question first = chats.question(0), second = chats.question(1);
  CHECK((same(first.messages, {{"user", "a"}}) && first.answer == "b"));
  CHECK((same(second.messages, {{"user", "a"}, {"assistant", "b"}, {"user", "c"}}) && !second.answer));
  CHECK_THAT(refusal([&] { chats.question(2); }),
             Contains("a.jsonl, line 3: 'messages': the chat has no question"));
  // In the order of the file, whatever their kind.
  CHECK(chats.fields(0).dump().starts_with(R"({"id":3,"messages":[{"role":"user")"));
  CHECK(chats.fields(0)["by"][0] == 1);
  const chat_list alpaca = read(here / "b.csv", "instruction,output,level\nSing.,,2\nSing.,La.,3\n");
  CHECK((same(alpaca.question(0).messages, {{"user", "Sing."}}) && !alpaca.question(0).answer));
  CHECK((alpaca.question(1).answer == "La." && alpaca.fields(1)["level"] == "3"));
  CHECK_THAT(refusal([&] { alpaca.messages(0); }), Contains("the chat has no answer to learn"));
}

TEST_CASE("What is no chat is refused with its file, line and field") {
  const files::folder here;
  const std::string fine =
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})";
  const auto says = [&](const std::string& messages) {
    const chat_list chats = read(here / "x.jsonl", fine + "\n{\"messages\": " + messages + "}\n");
    return refusal([&] { chats.messages(1); });
  };
  const auto m = [](const std::string& role, const std::string& content) {
    return json{{"role", role}, {"content", content}}.dump();
  };
  const std::string user = m("user", "a"), gpt = m("assistant", "b");
  const std::string place = here / "x.jsonl" + ", line 2: 'messages': ";
  CHECK_THAT(
      says("[" + user + "," + m("tool", "c") + "]"),
      Contains(place + "message 2: the role 'tool' is none of system, user (human) and assistant (gpt)"));
  CHECK_THAT(says("[" + user + "," + gpt + "," + gpt + "]"),
             Contains(place + "message 3: two answers in a row"));
  CHECK_THAT(says("[" + user + "," + user + "," + gpt + "]"),
             Contains(place + "message 2: two questions in a row"));
  CHECK_THAT(says("[" + user + "," + m("assistant", " \n") + "]"),
             Contains(place + "message 2: its content is empty"));
  CHECK_THAT(says("[" + user + "]"), Contains(place + "the chat has no answer to learn"));
  CHECK_THAT(says("[" + m("system", "s") + "]"), Contains("the chat has no answer to learn"));
  CHECK_THAT(says("[" + gpt + "]"), Contains("message 1: a chat begins with a question"));
  CHECK_THAT(says("[" + user + "," + gpt + "," + m("system", "s") + "]"),
             Contains("message 3: only the first message may be the system's"));
  CHECK_THAT(says("[]"), Contains("a chat is a list of messages"));
  CHECK_THAT(says("\"a text\""), Contains("a chat is a list of messages"));
  CHECK_THAT(says("[3]"), Contains("message 1: it is no object with the texts role and content"));
  CHECK_THAT(says("[{\"role\": \"user\"}]"), Contains("content is missing or no text"));
  CHECK_THAT(says("[" + user + ",{\"role\":\"assistant\",\"content\":\"b\",\"weight\":0}]"),
             Contains("message 2: it has a weight of 0"));
  CHECK_THAT(refusal([&] { read(here / "y.jsonl", "{\"text\": \"a\"}\n"); }),
             Contains("y.jsonl, line 1: 'messages': an example of chats has messages, conversations"));
  const chat_list empty = read(here / "z.jsonl", "{\"instruction\": \"a\", \"output\": \" \"}\n");
  CHECK_THAT(refusal([&] { empty.messages(0); }), Contains("z.jsonl, line 1: 'output': it is empty"));
  // A refusal of the form has its place, too.
  conversations all({.length = 200}, form_of(mistral));
  const chat_list chats = read(
      here / "x.jsonl", fine + "\n{\"messages\": [" + m("system", "s") + "," + user + "," + gpt + "]}\n");
  CHECK_THAT(refusal([&] { all.add(chats); }),
             Contains(place + "a chat in the format of Mistral: it has no message of the system"));
  CHECK(all.count() == 1);
  CHECK_THROWS_WITH(chat_form_of(chat_template(mistral.jinja, "<s>", "", "a test"), with_tokens({})),
                    Contains("in the format of Mistral an answer ends with ''"));
}

TEST_CASE("A decoder learns the answers of chats, packed as if each were alone") {
  conversations all({.length = 40}, form_of(chatml));
  for (const char* question : {"a", "the hat", "he", "o"})
    REQUIRE(all.add({{"user", question}, {"assistant", std::string(question) + "!"}}));
  const packed_documents packed(all.documents(), {.length = 96, .padding = all.end()});
  const decoder d{.vocabulary = all.largest() + 1,
                  .positions = 96,
                  .layers = 1,
                  .heads = 2,
                  .width = 16,
                  .deviation = 0.4f,
                  .packed = true};
  trainer t(d.build(), optimizer::sgd(), {.workers = 2, .columns = 1, .seed = 3});
  const auto mean = [&](const dataset& x) {
    batches from(x, {.size = static_cast<int>(x.count), .shuffle = false});
    return t.evaluate(from.next().view());
  };
  CHECK(packed.sequences() < packed.count());
  CHECK(mean(packed.data()) == Approx(mean(all.data())).epsilon(1e-5));
}

}  // namespace
