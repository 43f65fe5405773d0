// SPDX-License-Identifier: MIT
// Words and tokens of the samples are what the regular expression and the encoder of openai/gpt-2 give for
// them (src/encoder.py, Python's regex); token counts and checksums are those that nanoGPT and llm.c publish
// for their Shakespeare files.
#include <wsl/ml/data/bpe.hpp>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/token_file.hpp>

#include "files.hpp"
#include "sha256.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

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
    for (std::size_t at = 0; at < s.text.size(); at += words.back()) words.push_back(pretoken_at(s.text, at));
    CHECK(words == s.words);
  }
}

TEST_CASE("Code points are those of Unicode") {
  CHECK((is_letter(U'a') && is_letter(U'\u00e9') && is_letter(U'\u4e2d') && is_letter(0x2ebe0) &&
         !is_letter(0x2ebe1) && !is_letter(U'1') && !is_letter(U'_')));
  CHECK((is_number(U'7') && is_number(U'\u00bd') && is_number(U'\u0661') && !is_number(U'a')));
  CHECK((is_space(U'\t') && is_space(U'\u3000') && !is_space(0x1c) && !is_space(0x200b)));
}

TEST_CASE("UTF-8 is taken apart, put together, and refused where it is none") {
  for (char32_t c : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string text;
    append_utf8(text, c);
    std::size_t at = 0;
    CHECK(next_code_point(text, at) == c);
    CHECK(at == text.size());
  }
  for (const char* wrong :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    std::size_t at = 2;
    CHECK_THROWS_WITH(
        next_code_point(std::string("ab") + wrong, at),
        "wsl: byte 2 of the text is not UTF-8: convert the text, for instance with iconv -t UTF-8");
  }
  const files::folder here;
  files::write(here / "t.txt", "good\xffness");
  CHECK_THAT(files::refusal([&] { read_text(here / "t.txt"); }),
             Contains("t.txt, byte 4: this is not UTF-8"));
}

TEST_CASE("Characters") {
  const characters letters = characters::of("h\xc3\xa9llo hello");
  CHECK(letters.letters() == " ehlo\xc3\xa9");
  CHECK(letters.encode("hol\xc3\xa9") == std::vector<i32>{2, 4, 3, 5});
  CHECK(letters.decode(letters.encode("lol")) == "lol");
  CHECK(characters::in_order(letters.letters()).encode("o") == std::vector<i32>{4});
  CHECK_THROWS_WITH(letters.encode("oh yes"),
                    "wsl: byte 3 of the text: the vocabulary of 6 characters has no 'y'");
  CHECK_THROWS_WITH(letters.decode(std::vector<i32>{6}), "wsl: there is no character 6 in a vocabulary of 6");
  CHECK_THROWS_WITH(characters::in_order("ba"), Contains("in the order of their code points"));
  CHECK(characters::of("").size() == 0);

  const files::folder here;
  write_characters(here / "vocab.json", letters);
  CHECK(read_whole(here / "vocab.json") == "{\" \":0,\"e\":1,\"h\":2,\"l\":3,\"o\":4,\"\xc3\xa9\":5}\n");
  CHECK(read_characters(here / "vocab.json").letters() == letters.letters());
  const auto says = [&](const std::string& json) {
    files::write(here / "vocab.json", json);
    return files::refusal([&] { read_characters(here / "vocab.json"); });
  };
  CHECK_THAT(says("{\"ab\":0}"), Contains("'ab' is not one character"));
  CHECK_THAT(says("{\"b\":0,\"a\":1}"), Contains("not numbered in the order"));
}

// A vocabulary of the 256 bytes and some words, in the form of the files.
struct small_files {
  files::folder here;
  std::vector<std::string> tokens;

  small_files() {
    for (char32_t c : ml::detail::characters_of_bytes()) append_utf8(tokens.emplace_back(), c);
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
    return files::refusal([&] { bpe::in_folder(here / ""); });
  }
};

TEST_CASE("Merges in their order") {
  const small_files f;
  const bpe small = bpe::in_folder(f.here / "");
  CHECK(small.size() == 260);
  CHECK(small.end_of_text() == 259);
  CHECK(small.encode("abcbc") == std::vector<i32>{257, 258});
  CHECK(small.decode(small.encode("abc \xc3\xa9 fine")) == "abc \xc3\xa9 fine");
  CHECK_THROWS_WITH(small.decode(std::vector<i32>{260}), "wsl: there is no token 260 in a vocabulary of 260");
  CHECK_THROWS_WITH(small.encode("a\xff"), Contains("byte 1 of the text is not UTF-8"));
}

TEST_CASE("A word of a million letters takes no longer than it should") {
  const small_files f;
  const bpe small = bpe::in_folder(f.here / "");
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
  CHECK_THAT(files::refusal([&] { bpe::in_folder(f.here / "nowhere"); }), Contains("cannot read"));
}

std::string bytes_of(std::span<const i32> ids) {
  return files::bytes_of(std::vector<u16>(ids.begin(), ids.end()));
}

TEST_CASE("The checksum that the others are compared with") {
  CHECK(files::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(files::sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("Shakespeare by characters, as nanoGPT has it") {
  const auto file = files::data_set("tinyshakespeare/input.txt");
  if (!file) return;
  const std::string text = read_text(*file);
  const characters letters = characters::of(text);
  CHECK(letters.size() == 65);
  const std::vector<i32> ids = letters.encode(text);
  const auto train = std::span(ids).first(ids.size() * 9 / 10), rest = std::span(ids).subspan(train.size());
  CHECK(train.size() == 1'003'854);
  CHECK(files::sha256(bytes_of(train)) == "6ec305602a99ac2802745a134e1f5e33e2231b4855525b00b9aebb730ac2626f");
  CHECK(files::sha256(bytes_of(rest)) == "d37d30cc0c8327c270d493299c3dca54135f6d5f1c9ef60cda78076e311204b1");
}

TEST_CASE("GPT-2's tokens") {
  const auto folder = files::data_set("gpt2");
  if (!folder) return;
  const bpe gpt2 = bpe::in_folder(*folder);
  CHECK(gpt2.size() == 50257);
  CHECK(gpt2.end_of_text() == 50256);
  for (const sample& s : samples()) {
    INFO(s.text);
    CHECK(gpt2.encode(s.text) == s.ids);
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
  const std::vector<i32> ids = encode_sections(bpe::in_folder(*folder), read_text(*file));
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
