// SPDX-License-Identifier: MIT
// GPT-2's first files. Words and tokens of the samples are what the regular expression and the encoder of
// openai/gpt-2 give for them (src/encoder.py, Python's regex); token counts and checksums are those that
// nanoGPT and llm.c publish for their Shakespeare files.
#include <nlohmann/json.hpp>
#include <wsl/ml/data/token_file.hpp>
#include <wsl/ml/tokenizer/pre_tokenizer.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "../ml_data/files.hpp"
#include "../ml_data/sha256.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

constexpr encode_options as_text{.add_special_tokens = false, .match_special_tokens = false};

struct sample {
  std::string text;
  std::vector<std::size_t> words;  // their bytes
  std::vector<i32> ids;
};
const std::vector<sample>& samples() {
  // clang-format off
  static const std::vector<sample> all{
      {"Hello world", {5, 6}, {15496, 995}},
      {"  two  spaces \012\012 and\011lines \012",
       {1, 4, 1, 7, 3, 4, 1, 5, 2}, {220, 734, 220, 9029, 220, 628, 290, 197, 6615, 220, 198}},
      {"we'll don't 's''s I'M they've 'twas",
       {2, 3, 4, 2, 2, 1, 2, 1, 2, 1, 1, 5, 3, 2, 4},
       {732, 1183, 836, 470, 705, 82, 7061, 82, 314, 6, 44, 484, 1053, 705, 4246, 292}},
      {"3.14 x\302\262=\302\275 \342\205\247 \331\241\331\242\331\243 1000000",
       {1, 1, 2, 2, 2, 1, 2, 4, 7, 8},
       {18, 13, 1415, 2124, 31185, 28, 23141, 2343, 227, 100, 18923, 94, 149, 95, 149, 96, 1802, 2388}},
      {"na\303\257ve \303\234n\303\257c\303\266d\303\251 \342\200\224 \342\200\234quotes\342\200\235 "
       "\342\200\246",
       {6, 12, 4, 4, 6, 3, 4},
       {2616, 38776, 49363, 77, 26884, 66, 9101, 67, 2634, 851, 564, 250, 421, 6421, 447, 251, 3926}},
      {"\346\227\245\346\234\254\350\252\236\343\201\256\343\203\206\343\202\255\343\202\271\343\203\210 "
       "\344\270\255\346\226\207 \355\225\234\352\265\255\354\226\264",
       {24, 7, 10},
       {33768, 98, 17312, 105, 45739, 252, 5641, 24336, 25084, 43302, 220, 40792, 23877, 229, 220, 47991,
        250, 166, 113, 255, 168, 244, 112}},
      {"\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247\342\200\215\360\237\221\246"
       " emoji \360\237\207\251\360\237\207\252!",
       {25, 6, 10},
       {41840, 102, 447, 235, 41840, 102, 447, 235, 41840, 100, 447, 235, 41840, 99, 44805, 12520, 229, 102,
        8582, 229, 103, 0}},
      {"a\302\240b\342\200\203c \343\200\200 d",
       {1, 2, 1, 3, 1, 4, 2}, {64, 1849, 65, 447, 225, 66, 220, 5099, 222, 288}},
      {"\314\201combining e\314\201", {2, 9, 2, 2}, {136, 223, 24011, 3191, 304, 136, 223}},
      {"<|endoftext|>", {2, 9, 2}, {27, 91, 437, 1659, 5239, 91, 29}},
      {"aaaaaaaaaaaaaaaaaaaaaaa", {23}, {24794, 24794, 24794, 24794, 24794, 46071}},
      {"\015\012\015\012  x", {5, 2}, {201, 198, 201, 198, 220, 2124}},
      {" ", {1}, {220}},
      {"", {}, {}},
      {"  ", {2}, {220, 220}},
      {"\012", {1}, {198}},
      {"x ", {1, 1}, {87, 220}},
      {"x  ", {1, 2}, {87, 220, 220}},
      {" 'll", {2, 2}, {705, 297}},
  };
  // clang-format on
  return all;
}

TEST_CASE("Words are those of GPT-2's regular expression") {
  for (const sample& s : samples()) {
    INFO(s.text);
    std::vector<std::size_t> words;
    pattern::of(ml::detail::gpt2_words).divide(s.text, [&](std::size_t begin, std::size_t end, bool is_word) {
      CHECK(is_word);
      words.push_back(end - begin);
    });
    CHECK(words == s.words);
  }
}

// A vocabulary of the 256 bytes and some words, in the form of the files.
struct small_files {
  files::folder here;
  std::vector<std::string> tokens;

  small_files() {
    for (char32_t c : letters_of_all_bytes()) append_utf8(tokens.emplace_back(), c);
    for (const char* t : {"ab", "abc", "bc", "<|endoftext|>"}) tokens.push_back(t);
    write("a b\nab c\nb c\n");
  }
  void write(const std::string& merges) const {
    nlohmann::json numbers;
    for (std::size_t i = 0; i < tokens.size(); ++i) numbers[tokens[i]] = i;
    write_numbers(numbers.dump(), merges);
  }
  void write_numbers(const std::string& json, const std::string& merges) const {
    files::write(here / "vocab.json", json);
    files::write(here / "merges.txt", "#version: 0.2\n" + merges);
  }
  std::string refusal() const {
    return files::refusal([&] { tokenizer::from_file(here / ""); });
  }
};

TEST_CASE("Merges in their order") {
  const small_files f;
  const tokenizer small = tokenizer::from_file(f.here / "");
  CHECK(small.size() == 260);
  CHECK(small.end_of_text().value() == 259);
  CHECK(small.encode("abcbc") == std::vector<i32>{257, 258});
  CHECK(small.decode(small.encode("abc \xc3\xa9 fine")) == "abc \xc3\xa9 fine");
  CHECK_THROWS_WITH(small.decode(std::vector<i32>{260}), "wsl: there is no token 260 in a vocabulary of 260");
  CHECK_THROWS_WITH(small.encode("a\xff"), Contains("byte 1 of the text is not UTF-8"));
}

TEST_CASE("A word of a million letters takes no longer than it should") {
  const small_files f;
  const tokenizer small = tokenizer::from_file(f.here / "");
  std::string word;
  while (word.size() < 300'000) word += "abc";
  CHECK(small.encode(word) == std::vector<i32>(100'000, 257));
}

TEST_CASE("Vocabularies that are none are refused") {
  small_files f;
  const auto merges = [&](const std::string& text) {
    f.write(text);
    return f.refusal();
  };
  CHECK_THAT(merges("a b\nab\n"), Contains("merges.txt, line 3: a merge is two tokens"));
  CHECK_THAT(merges("a d\n"), Contains("line 2: 'a d' or what it makes is no token"));
  CHECK_THAT(merges("\xe4\xb8\xad a\n"), Contains("line 2: a character stands for no byte"));
  CHECK(merges("a b\r\nab c\r\n\n") == "it is taken");
  const auto numbers = [&](const std::string& json) {
    f.write_numbers(json, "");
    return f.refusal();
  };
  CHECK_THAT(numbers("[1]"), Contains("vocab.json: it should be one object"));
  CHECK_THAT(numbers("{\"a\":{}}"), Contains("what 'a' has is no number"));
  CHECK_THAT(numbers("{\"a\":-1}"), Contains("what 'a' has is no number"));
  CHECK_THAT(numbers("{\"a\":0,\"a\":1}"), Contains("token 'a' is there twice"));
  CHECK_THAT(numbers("{\"a\":1}"), Contains("numbers from 0 on, each once; 'a' has 1"));
  CHECK_THAT(numbers("{\"a\":18446744073709551615}"), Contains("numbers from 0 on"));
  CHECK_THAT(numbers("{\"a\":0"), Contains("it is no JSON from byte"));
  CHECK_THAT(numbers("{\"a\":0}"), Contains("byte 0 has no token"));
  CHECK_THAT(numbers("{\"\xe4\xb8\xad\":0}"), Contains("stands for no byte"));
  CHECK_THAT(files::refusal([&] { tokenizer::from_file(f.here / "nowhere"); }), Contains("cannot read"));
}

std::string bytes_of(std::span<const i32> ids) {
  return files::bytes_of(std::vector<u16>(ids.begin(), ids.end()));
}

TEST_CASE("GPT-2's tokens") {
  const auto folder = files::data_set("gpt2");
  if (!folder) return;
  const tokenizer gpt2 = tokenizer::from_file(*folder);
  CHECK(gpt2.size() == 50257);
  CHECK(gpt2.end_of_text().value() == 50256);
  for (const sample& s : samples()) {
    INFO(s.text);
    CHECK(gpt2.encode(s.text, as_text) == s.ids);
    CHECK(gpt2.decode(s.ids) == s.text);
  }

  const auto file = files::data_set("tinyshakespeare/input.txt");
  if (!file) return;
  const std::string text = read_text(*file);
  const std::size_t cut = text.size() * 9 / 10;
  const std::vector<i32> train = gpt2.encode(std::string_view(text).substr(0, cut)),
                         rest = gpt2.encode(std::string_view(text).substr(cut));
  CHECK(train.size() == 301'966);
  CHECK(files::sha256(bytes_of(train)) == "502a2bdc8210d1ac5d5674867cb74467dd31db575d25cf6dbb08c8bdbea8680f");
  CHECK(rest.size() == 36'059);
  CHECK(files::sha256(bytes_of(rest)) == "68a53422394c26a655ebe641f5c6f49888e8f4e45fe5d6f02abda63ba3ebd65b");
}

TEST_CASE("Shakespeare section by section, as llm.c has it, in its files") {
  const auto folder = files::data_set("gpt2"), file = files::data_set("tinyshakespeare/input.txt");
  if (!folder || !file) return;
  const std::vector<i32> ids = encode_sections(tokenizer::from_file(*folder), read_text(*file), as_text);
  const files::folder here;
  const auto sum_of = [&](std::span<const i32> part) {
    write_tokens(here / "t.bin", tokens(part), token_format::llmc);
    return files::sha256(read_whole(here / "t.bin"));
  };
  CHECK(sum_of(std::span(ids).first(32768)) ==
        "fe99db720dc7c83e694806d4e047a952909411da1daccde4ccc2e55f40882a62");
  CHECK(sum_of(std::span(ids).subspan(32768)) ==
        "8a70606be574040c26d225694f5f9759973b419852d22f7fe5c118e1b359dcc8");
}

}  // namespace
