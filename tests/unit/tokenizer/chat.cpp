// SPDX-License-Identifier: MIT
// Prompts of chats beside those that Jinja makes of the templates (jinja2 3.1 with the settings of
// transformers: blocks trimmed, and a generation prompt).
#include <nlohmann/json.hpp>
#include <wsl/ml/tokenizer/chat_template.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

struct golden {
  chat_format format;
  std::string jinja, question, dialogue;
};
const golden all[]{
    {chat_format::chatml,
     "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message"
     "['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ "
     "'<|im_start|>assistant\n' }}{% endif %}",
     "<|im_start|>user\nHi there <|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi there<|im_end|>\n<"
     "|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_s"
     "tart|>assistant\n"},
    {chat_format::chatml,
     "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system"
     "' %}{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif"
     " %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'"
     " + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
     "}}{% endif %}",
     "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nHi"
     " there <|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi there<|im_end|>\n<"
     "|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_s"
     "tart|>assistant\n"},
    {chat_format::llama2,
     "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{%"
     " set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = "
     "messages %}{% set system_message = false %}{% endif %}{% for message in loop_mes"
     "sages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<"
     "<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else"
     " %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'us"
     "er' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message["
     "'role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif "
     "%}{% endfor %}",
     "<s>[INST] Hi there [/INST]",
     "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi there [/INST] Hello! </s><s>[INST] "
     "Why? [/INST]"},
    {chat_format::llama3,
     "{% set loop_messages = messages %}{% for message in loop_messages %}{% set conte"
     "nt = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message["
     "'content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos"
     "_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prom"
     "pt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
     "<s><|start_header_id|>user<|end_header_id|>\n\nHi there<|eot_id|><|start_header_"
     "id|>assistant<|end_header_id|>\n\n",
     "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_head"
     "er_id|>user<|end_header_id|>\n\nHi there<|eot_id|><|start_header_id|>assistant<|"
     "end_header_id|>\n\nHello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nW"
     "hy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
    {chat_format::mistral,
     "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{"
     " '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assis"
     "tant' %}{{ message['content'] + eos_token}}{% endif %}{% endfor %}",
     "<s>[INST] Hi there  [/INST]", "<s>[INST] Hi there [/INST]Hello!</s>[INST] Why? [/INST]"},
    {chat_format::mistral,
     "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{"
     " '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assis"
     "tant' %}{{ message['content'] + eos_token + ' ' }}{% endif %}{% endfor %}",
     "<s>[INST] Hi there  [/INST]", "<s>[INST] Hi there [/INST]Hello!</s> [INST] Why? [/INST]"},
    {chat_format::zephyr,
     "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>"
     "\n' + message['content'] + eos_token }}\n{% elif message['role'] == 'system' %}"
     "\n{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif message['role']"
     " == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{"
     "% endif %}\n{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}"
     "\n{% endif %}\n{% endfor %}",
     "<|user|>\nHi there </s>\n<|assistant|>\n",
     "<|system|>\nBe brief.</s>\n<|user|>\nHi there</s>\n<|assistant|>\nHello!</s>\n<|"
     "user|>\nWhy?</s>\n<|assistant|>\n"},
    {chat_format::phi3,
     "{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>\n"
     "' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}{{'<|u"
     "ser|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'assista"
     "nt' %}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endf"
     "or %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token"
     " }}{% endif %}",
     "<|user|>\nHi there <|end|>\n<|assistant|>\n",
     "<|system|>\nBe brief.<|end|>\n<|user|>\nHi there<|end|>\n<|assistant|>\nHello!<|"
     "end|>\n<|user|>\nWhy?<|end|>\n<|assistant|>\n"},
};

const std::vector<chat_message> question{{"user", "Hi there "}},
    dialogue{{"system", "Be brief."}, {"user", "Hi there"}, {"assistant", "Hello!"}, {"user", "Why?"}};

TEST_CASE("Prompts of chats are those of the templates") {
  for (const golden& g : all) {
    INFO(g.jinja);
    const chat_template chat(g.jinja, "<s>", "</s>", "here");
    CHECK(chat.format() == g.format);
    CHECK(chat.prompt(question) == g.question);
    const auto without_system = std::vector<chat_message>(dialogue.begin() + 1, dialogue.end());
    CHECK(chat.prompt(g.format == chat_format::mistral ? without_system : dialogue) == g.dialogue);
  }
  const std::string with_begin = "{{ bos_token }}" + all[7].jinja;
  CHECK(chat_template(with_begin, "<s>", "</s>", "").prompt(question) == "<s>" + all[7].question);
  for (const int k : {0, 6})
    CHECK(chat_template("{{ bos_token }}" + all[k].jinja, "<s>", "</s>", "").prompt(question) ==
          "<s>" + all[k].question);
  CHECK(chat_template(all[0].jinja, "", "", "").end_of_turn() == "<|im_end|>");
  CHECK(chat_template(all[4].jinja, "", "</s>", "").end_of_turn() == "</s>");
  CHECK(name_of(chat_format::phi3) == "Phi-3");
}

TEST_CASE("Templates of other formats, and messages out of turn, are refused with a sentence") {
  const auto refusal_of = [](const std::string& jinja) {
    return files::refusal([&] { chat_template(jinja, "", "", "the file"); });
  };
  CHECK_THAT(refusal_of("{{ messages }}"),
             Contains("the file: the chat template is none of the formats that are known here, ChatML"));
  CHECK_THAT(refusal_of(all[4].jinja + "[AVAILABLE_TOOLS]"),
             Contains("the chat template has [AVAILABLE_TOOLS]"));
  CHECK_THAT(refusal_of("<|im_start|>system\n' + x + '<|im_end|>"),
             Contains("composes a message of the system"));
  // A template that has the marks of a format, and says more or other things.
  const auto changed = [&](int which, const std::string& what, const std::string& by) {
    std::string jinja = all[which].jinja;
    REQUIRE(jinja.find(what) != jinja.npos);
    return refusal_of(jinja.replace(jinja.find(what), what.size(), by));
  };
  CHECK_THAT(changed(0, "{% for", "{{ 'You are a pirate. ' }}{% for"),
             Contains("the chat template is like that of ChatML, but writes \"You are a pirate. \", which"));
  CHECK_THAT(changed(0, "{% for", "You are a pirate. {% for"), Contains("but writes \"You are a pirate. \""));
  CHECK_THAT(changed(0, "+ '\n'}}", "+ '\n\n'}}"), Contains("but writes \"<|im_end|>\\n\\n\""));
  CHECK_THAT(changed(0, " + '\n'}}", "}}"), Contains("but writes \"<|im_end|>\""));
  CHECK_THAT(changed(0, "assistant\n", "bot\n"), Contains("but writes \"<|im_start|>bot\\n\""));
  CHECK_THAT(changed(1, "' }}{% endif", "' + 'Be kind.' }}{% endif"),
             Contains("assistant.<|im_end|>\\nBe kind."));
  CHECK_THAT(changed(2, "'\\n<</SYS>>", "'\\n\\n<</SYS>>"), Contains("like that of Llama 2, but writes"));
  CHECK_THAT(changed(3, "<|end_header_id|>\n\n'+", "<|end_header_id|>\n'+"),
             Contains("like that of Llama 3"));
  CHECK_THAT(changed(4, "' [/INST]'", "' [/INST] '"),
             Contains("like that of Mistral, but writes \" [/INST] \""));
  CHECK_THAT(changed(6, "'<|user|>\n'", "'<|user|> '"),
             Contains("like that of Zephyr, but writes \"<|user|> \""));
  CHECK_THAT(changed(7, "{% for", "{% set x = \"Hello\" %}{% for"),
             Contains("like that of Phi-3, but writes \"Hello\""));
  const std::string harmless =
      "{# a note #}{%- if messages[0][\"role\"] == 'tool' -%}\n  {{ raise_exception('No tools.') "
      "}}\n{%- endif -%}\n";
  CHECK(chat_template(harmless + all[0].jinja + "\n", "", "", "").prompt(question) == all[0].question);
  const auto refuses = [](const golden& g, const std::vector<chat_message>& messages, const char* why) {
    const chat_template chat(g.jinja, "<s>", "</s>", "");
    CHECK_THROWS_WITH(chat.prompt(messages), Contains(why));
  };
  refuses(all[0], {}, "in the format of ChatML: the last message is a user's");
  refuses(all[0], {{"user", "a"}, {"assistant", "b"}}, "the last message is a user's");
  refuses(all[0], {{"user", "a"}, {"user", "b"}}, "message 2 is of 'user'; users and assistants take turns");
  refuses(all[0], {{"tool", "a"}, {"user", "b"}}, "message 1 is of 'tool'");
  refuses(all[4], dialogue, "in the format of Mistral: it has no message of the system");
}

TEST_CASE("A template is in tokenizer_config.json, alone or with others, or in a file of its own") {
  const tokenizer t = tokenizer::from_json(
      R"({"added_tokens": [{"id": 0, "content": "<s>", "special": true},
                           {"id": 1, "content": "</s>", "special": true}],
          "model": {"type": "BPE", "vocab": {"a": 2}, "merges": []}})",
      "here");
  const files::folder at;
  CHECK_THAT(files::refusal([&] { chat_template::of_folder(at / "", t); }),
             Contains("has no 'chat_template'"));
  const auto config = [&](const nlohmann::json& what) {
    files::write(at / "tokenizer_config.json", nlohmann::json{{"chat_template", what}}.dump());
    return chat_template::of_folder(at / "", t);
  };
  CHECK(config(all[4].jinja).prompt(question) == all[4].question);
  CHECK(config({{{"name", "tools"}, {"template", "x"}}, {{"name", "default"}, {"template", all[6].jinja}}})
            .prompt(question) == all[6].question);
  files::write(at / "chat_template.jinja", all[3].jinja);
  CHECK(chat_template::of_folder(at / "", t).prompt(question) == all[3].question);
}

}  // namespace
