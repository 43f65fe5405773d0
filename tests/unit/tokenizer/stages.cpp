// SPDX-License-Identifier: MIT
// The stages of a tokenizer, with tokenizers small enough to be read. The expectations of the project's own
// one (tests/golden/tokenizer) were worked out by hand; its merges are four.
#include <wsl/ml/tokenizer/byte_pair_training.hpp>
#include <wsl/ml/tokenizer/decoder.hpp>
#include <wsl/ml/tokenizer/streaming_decoder.hpp>

#include <cmath>
#include <random>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using nlohmann::json;
using ids = std::vector<i32>;

tokenizer shipped() { return tokenizer::from_file(std::string(golden_folder) + "/tokenizer/tokenizer.json"); }

// Code points of all kinds, the ones that patterns distinguish among them more often than others.
std::string random_text(std::mt19937& draw, std::size_t length) {
  static constexpr char32_t frequent[] =
      U"  \t\n\r'sStTlLrReEvVdDmMaz09_-.,\u00a0\u0085\u000b\u2028\u3000\u00e9\u0301\u00bd\u0661\u4e2d"
      U"\u017f\u212a\u00df\u2167\U0001f600\u200d\u1e9e\ufb01";
  std::string text;
  while (length--) {
    char32_t c = frequent[draw() % (std::size(frequent) - 1)];
    if (draw() % 3 == 0) {
      const unsigned long below = draw() % 2 ? 0x3000 : 0x110000;
      c = static_cast<char32_t>(draw() % below);
    }
    append_utf8(text, c >= 0xd800 && c < 0xe000 ? U'a' : c);
  }
  return text;
}

TEST_CASE("Patterns on UTF-8 match what ICU's do") {
  std::mt19937 draw(1);
  for (const char* expression :
       {ml::detail::gpt2_words, ml::detail::llama3_words,
        "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| "
        "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
        "|\\s+(?!\\S)|\\s+",
        "\\p{N}", " {2,}", "[a-zA-Z]{2}|\\d+|\\P{L}{0,2}e", "(?:a|e)\\s*\\n|[^a-z\\-]+"}) {
    INFO(expression);
    const pattern fast = pattern::of(expression), by_icu = pattern::of_icu(expression);
    REQUIRE(fast.is_fast());
    const auto parts = [](const pattern& p, std::string_view text) {
      std::vector<std::tuple<std::size_t, std::size_t, bool>> all;
      p.divide(text, [&](std::size_t begin, std::size_t end, bool is) { all.emplace_back(begin, end, is); });
      return all;
    };
    for (int i = 0; i < 300; ++i) {
      const std::string text = random_text(draw, draw() % 60);
      CHECK(parts(fast, text) == parts(by_icu, text));
    }
  }
  CHECK_FALSE(pattern::of("(a+)+b").is_fast());
  CHECK_FALSE(pattern::of("a*").is_fast());
  CHECK_THROWS_WITH(pattern::of("a(b"), Contains("regular expression 'a(b'"));
}

TEST_CASE("The tokenizer of the project: merges, special tokens, and the way back") {
  const tokenizer t = shipped();
  CHECK(t.size() == 262);
  CHECK(std::string(t.model_name()) == "BPE");
  CHECK(t.id("<begin>") == 0);
  CHECK(t.is_special(1));
  const i32 h = t.id("h").value(), x = t.id("x").value();
  CHECK(t.id("th").value() == 258);
  CHECK(t.encode("the thx") == ids{0, 260, 261, x});
  CHECK(t.encode("hhe", {.add_special_tokens = false}) == ids{h, 259});
  CHECK(t.encode("<end>") == ids{0, 1});
  CHECK(t.encode("<end>", {.match_special_tokens = false}).size() == 6);
  CHECK(t.encode("x  <end>  x") == ids{0, x, 1, x});  // it takes the white space around it
  CHECK(t.decode(ids{0, 260, 261, x, 1}) == "the thx");
  CHECK(t.decode(ids{0, 260, 1}, {.skip_special_tokens = false}) == "<begin>the<end>");
  const encoded_pair both = t.encode_pair("x", "h");
  CHECK(both.ids == ids{0, x, 1, h, 1});
  CHECK(both.types == ids{0, 0, 0, 1, 1});
  CHECK_THROWS_WITH(t.encode("a\xff"), Contains("byte 1 of the text is not UTF-8"));
  CHECK_THROWS_WITH(t.decode(ids{262}), "wsl: there is no token 262 in a vocabulary of 262");
}

TEST_CASE("Every text comes back from bytes, also one token at a time") {
  const tokenizer t = shipped();
  std::mt19937 draw(2);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_text(draw, draw() % 80);
    const ids all = t.encode(text);
    CHECK(t.decode(all) == text);
    streaming_decoder out(t);
    std::string streamed;
    for (i32 id : all) {
      const std::string piece = out.put(id);
      // it throws for half a character
      for (std::size_t at = 0; at < piece.size();) next_code_point(piece, at);
      streamed += piece;
    }
    CHECK(streamed + out.finish() == text);
  }
  streaming_decoder out(t);
  CHECK(out.put(t.encode("\xc3\xa9")[1]).empty());
  CHECK(out.finish() == "\xef\xbf\xbd");
}

json models(const char* model) { return json{{"model", json::parse(model)}}; }
tokenizer made(const json& j) { return tokenizer::from_json(j.dump(), "made.json"); }

TEST_CASE("Bytes stand for characters without a token, and unknown ones are fused where that is asked for") {
  json j = models(R"({"type":"BPE","unk_token":"?","fuse_unk":true,)"
                  R"("vocab":{"?":0,"a":1,"b":2,"ab":3},"merges":["a b"]})");
  CHECK(made(j).encode("xabyzb") == ids{0, 3, 0, 2});
  j["model"]["fuse_unk"] = false;
  CHECK(made(j).encode("xabyzb") == ids{0, 3, 0, 0, 2});
  j["model"]["byte_fallback"] = true;
  CHECK(made(j).encode("xa") == ids{0, 1});  // not all bytes have tokens
  for (int b = 0; b < 256; ++b) j["model"]["vocab"][fmt::format("<0x{:02X}>", b)] = 4 + b;
  CHECK(made(j).encode("\xc3\xa9"
                       "ab") == ids{4 + 0xc3, 4 + 0xa9, 3});
  // A long text without words falls into parts; the result is that of the whole.
  j["model"]["vocab"]["abab"] = 260;
  j["model"]["merges"].push_back("ab ab");
  std::string text;
  ids expected;
  for (int i = 0; i < 1000; ++i) text += "ababb", expected.insert(expected.end(), {260, 2});
  CHECK(made(j).encode(text) == expected);
}

TEST_CASE("Affixes of a byte pair encoding, and its decoder") {
  json j = models(R"({"type":"BPE","continuing_subword_prefix":"##","end_of_word_suffix":"</w>","vocab":
    {"a":0,"##b":1,"##c</w>":2,"ab":3,"abc</w>":4,"a</w>":5},"merges":["a ##b","ab ##c</w>"]})");
  j["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  j["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  const tokenizer t = made(j);
  CHECK(t.encode("abc a") == ids{4, 5});
  CHECK(t.decode(ids{4, 5}) == "abc a");
}

TEST_CASE("Whole words, and WordPiece with the longest token first") {
  json j = models(R"({"type":"WordLevel","unk_token":"?","vocab":{"?":0,"one":1,"two":2}})");
  j["pre_tokenizer"] = {{"type", "Whitespace"}};
  CHECK(made(j).encode("one, two") == ids{1, 0, 2});
  CHECK(made(j).decode(ids{1, 2}) == "one two");
  j = models(
      R"({"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":6,
    "vocab":{"?":0,"un":1,"##able":2,"##a":3,"u":4}})");
  CHECK(made(j).encode("unable") == ids{1, 2});
  CHECK(made(j).encode("una") == ids{1, 3});
  CHECK(made(j).encode("unb") == ids{0});
  CHECK(made(j).encode("unaaaaa") == ids{0});  // seven characters
}

TEST_CASE("The unigram model takes the division with the largest score") {
  json j = models(R"({"type":"Unigram","unk_id":0,)"
                  R"("vocab":[["?",0],["a",-1],["b",-1],["ab",-2.5],["abc",-1.5],["c",-1]]})");
  CHECK(made(j).encode("ab") == ids{1, 2});
  CHECK(made(j).encode("abc") == ids{4});
  CHECK(made(j).encode("axyb") == ids{1, 0, 2});  // unknown characters in a row are one token
}

TEST_CASE("Pre-tokenizers divide as the reference describes it") {
  const auto words = [](const json& stage, const std::string& text) {
    const std::string name = "stage.json";
    ml::detail::words w(text, true);
    ml::detail::pre_tokenizer_of({stage, "pre_tokenizer", name})(w);
    std::vector<std::string> all;
    for (const auto& r : w.ranges) all.emplace_back(w.of(r));
    return all;
  };
  using list = std::vector<std::string>;
  const auto split = [](const char* behavior, bool invert = false) {
    return json{
        {"type", "Split"}, {"pattern", {{"String", "-"}}}, {"behavior", behavior}, {"invert", invert}};
  };
  // The example of the reference's documentation, the-final--countdown.
  const std::string text = "the-final--countdown";
  CHECK(words(split("Removed"), text) == list{"the", "final", "countdown"});
  CHECK(words(split("Removed", true), text) == list{"-", "-", "-"});
  CHECK(words(split("Isolated"), text) == list{"the", "-", "final", "-", "-", "countdown"});
  CHECK(words(split("MergedWithPrevious"), text) == list{"the-", "final-", "-", "countdown"});
  CHECK(words(split("MergedWithNext"), text) == list{"the", "-final", "-", "-countdown"});
  CHECK(words(split("Contiguous"), text) == list{"the", "-", "final", "--", "countdown"});
  CHECK(words({{"type", "Whitespace"}}, "Hey man! a_b 3.5") == list{"Hey", "man", "!", "a_b", "3", ".", "5"});
  CHECK(words({{"type", "Digits"}, {"individual_digits", true}}, "Call 911!") ==
        list{"Call ", "9", "1", "1", "!"});
  CHECK(words({{"type", "Digits"}, {"individual_digits", false}}, "Call 911!") == list{"Call ", "911", "!"});
  CHECK(words({{"type", "Punctuation"}}, "Hello?a") == list{"Hello", "?", "a"});
  CHECK(words({{"type", "BertPreTokenizer"}}, " a,b  c$") == list{"a", ",", "b", "c", "$"});
  CHECK(words({{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}}, "a b") ==
        list{"_a", "_b"});
  CHECK(words({{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "never"}}, "a b") ==
        list{"a", "_b"});
  // StarCoder's.
  CHECK(words({{"type", "Sequence"},
               {"pretokenizers",
                {{{"type", "Digits"}, {"individual_digits", true}},
                 {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}}}},
              "x = 12") == list{"x", " =", " ", "1", "2"});
}

TEST_CASE("Normalizers and decoders") {
  const std::string name = "stage.json";
  const auto normalized = [&](const json& stage, const std::string& text) {
    return ml::detail::normalizer_of({stage, "normalizer", name})(text);
  };
  CHECK(normalized({{"type", "NFD"}}, "\xc3\xa9") == "e\xcc\x81");
  CHECK(normalized({{"type", "NFC"}}, "e\xcc\x81") == "\xc3\xa9");
  CHECK(normalized({{"type", "NFKC"}}, "\xef\xac\x81\xc2\xbd") ==
        "fi1\xe2\x81\x84"
        "2");
  CHECK(normalized({{"type", "NFKD"}}, "\xef\xac\x81") == "fi");
  CHECK(normalized({{"type", "Lowercase"}}, "\xc3\x89\xce\xa3") == "\xc3\xa9\xcf\x83");
  CHECK(normalized({{"type", "Strip"}}, " \t a b\n ") == "a b");
  CHECK(normalized({{"type", "Strip"}, {"strip_left", false}}, "  ") == "");
  CHECK(normalized({{"type", "StripAccents"}}, "e\xcc\x81") == "e");
  CHECK(normalized({{"type", "Nmt"}}, "a\x01\tb") == "a b");
  CHECK(normalized({{"type", "BertNormalizer"}}, "H\xc3\xa9\t\xe4\xb8\xad") == "he  \xe4\xb8\xad ");
  CHECK(normalized({{"type", "Replace"}, {"pattern", {{"Regex", "(a+)+$"}}}, {"content", "b"}}, "caa") ==
        "cb");
  const auto decoded = [&](const json& stage, ml::detail::token_texts tokens) {
    return ml::detail::decoder_of({stage, "decoder", name})(std::move(tokens));
  };
  using list = ml::detail::token_texts;
  CHECK(decoded({{"type", "ByteFallback"}}, {"<0xC3>", "<0xA9>", "a", "<0xA9>", "<0x41>"}) ==
        list{"\xc3\xa9", "a", "\xef\xbf\xbd", "\xef\xbf\xbd"});
  CHECK(decoded({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}, {"do", "##ing", ".", "it"}) ==
        list{"do", "ing", ".", " it"});
  CHECK(decoded({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 1}}, {"  a ", "b"}) ==
        list{" a", "b"});
}

TEST_CASE("SentencePiece's table of replacements") {
  // The trie has one key, A, whose replacement is b: the root's children are at 0 ^ 64; 65 leads to its leaf.
  std::vector<u32> units(128, 0);
  units[0] = 0;
  units[65] = 'A' | 1u << 8 | (65u ^ 70u) << 10;
  units[70] = 1u << 31;
  std::string bytes(4, '\0');
  const u32 size = static_cast<u32>(4 * units.size());
  std::memcpy(bytes.data(), &size, 4);
  bytes.append(reinterpret_cast<const char*>(units.data()), size);
  bytes += std::string("b\0", 2);
  const auto again = ml::detail::from_base64(ml::detail::to_base64(bytes));
  REQUIRE(again == bytes);
  CHECK(ml::detail::charsmap(bytes).applied("xAA\xc3\xa9") == "xbb\xc3\xa9");
  CHECK_THROWS_WITH(ml::detail::charsmap("ab"), Contains("no table of replacements"));
}

// A field of a protocol buffer.
std::string proto(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string proto(int number, char value) { return {static_cast<char>(number << 3), value}; }
std::string piece(const std::string& text, f32 score, char type) {
  std::string four(4, '\0');
  std::memcpy(four.data(), &score, 4);
  return proto(1, proto(1, text) + std::string(1, 2 << 3 | 5) + four + proto(3, type));
}

TEST_CASE("A SentencePiece model") {
  const std::string space = "\xe2\x96\x81";
  const files::folder here;
  std::string model = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);
  i32 score = 0;
  for (const std::string& text :
       {space, std::string("a"), std::string("b"), "a" + std::string("b"), space + "ab"})
    model += piece(text, static_cast<f32>(--score), 1);
  files::write(here / "tokenizer.model", model + proto(2, proto(3, 2)));
  const tokenizer bpe = tokenizer::from_file(here / "");
  CHECK(bpe.encode("ab  b") == ids{1, 7, 3, 5});
  CHECK(bpe.encode("") == ids{1});
  CHECK(bpe.decode(ids{1, 7, 3, 5}) == "ab b");
  files::write(here / "tokenizer.model", model + proto(2, proto(3, 1)));
  const tokenizer unigram = tokenizer::from_file(here / "tokenizer.model");
  CHECK(unigram.encode("ab b") == ids{7, 3, 5, 2});
  files::write(here / "tokenizer.model", model.substr(0, model.size() - 3));
  CHECK_THAT(files::refusal([&] { tokenizer::from_file(here / "tokenizer.model"); }),
             Contains("neither a tokenizer.json nor a SentencePiece model"));
  files::write(here / "tokenizer.model", model + piece("c", std::nanf(""), 1));
  CHECK_THAT(files::refusal([&] { tokenizer::from_file(here / "tokenizer.model"); }),
             Contains("piece 8 has the score nan"));
  files::write(here / "tokenizer.model", model + piece("c", 0, 4));
  CHECK_THAT(files::refusal([&] { tokenizer::from_file(here / "tokenizer.model"); }),
             Contains("piece 8, 'c', is defined by the user") && Contains("give the tokenizer.json"));
}

TEST_CASE("The names of the tokens at the ends of a text are read beside the file") {
  const files::folder here;
  json j = models(R"({"type":"WordLevel","unk_token":"?","vocab":{"?":0,"go":1,"stop":2}})");
  files::write(here / "tokenizer.json", j.dump());
  CHECK_FALSE(tokenizer::from_file(here / "").begin_of_text());
  files::write(here / "tokenizer_config.json", R"({"bos_token":"go","eos_token":{"content":"stop"}})");
  CHECK(tokenizer::from_file(here / "tokenizer.json").begin_of_text().value() == 1);
  CHECK(tokenizer::from_file(here / "").end_of_text().value() == 2);
  files::write(here / "tokenizer_config.json", R"({"bos_token":"no"})");
  CHECK_THAT(files::refusal([&] { tokenizer::from_file(here / ""); }),
             Contains("tokenizer_config.json: bos_token: there is no token 'no'"));
}

TEST_CASE("Mistakes in a tokenizer.json are named with their place") {
  const auto says = [](const json& j) { return files::refusal([&] { made(j); }); };
  const json good = json::parse(read_whole(std::string(golden_folder) + "/tokenizer/tokenizer.json"));
  const auto with = [&](const char* place, const json& value) {
    json j = good;
    j[json::json_pointer(place)] = value;
    return says(j);
  };
  CHECK(says(good) == "it is taken");
  CHECK_THAT(files::refusal([] { tokenizer::from_json("{", "x.json"); }),
             Contains("x.json: it is no tokenizer.json"));
  CHECK_THAT(says(json::object()), Contains("made.json: the document: it lacks 'model'"));
  CHECK_THAT(with("/model/type", "Markov"),
             Contains("model.type: there is no model 'Markov' here; known are BPE"));
  CHECK_THAT(with("/model/vocab/the", "x"), Contains("model.vocab.the: it should be a whole number"));
  CHECK_THAT(with("/model/vocab/the", -1), Contains("whole number"));
  CHECK_THAT(with("/model/vocab/the", 16777215), Contains("too large for a vocabulary"));
  CHECK_THAT(with("/model/vocab/the", 258), Contains("has the number 258 already"));
  CHECK_THAT(with("/model/merges/0", "t"), Contains("model.merges[0]: it should be two tokens"));
  CHECK_THAT(with("/model/merges/0", "t q"), Contains("model.merges[0]: the vocabulary has no 'tq'"));
  CHECK_THAT(with("/model/unk_token", "no"), Contains("model.unk_token: the vocabulary has no 'no'"));
  CHECK_THAT(with("/model/dropout", 0.5), Contains("model.dropout: tokens are not chosen at random here"));
  CHECK_THAT(with("/normalizer", {{"type", "Upper"}}),
             Contains("normalizer: there is no normalizer 'Upper'"));
  CHECK_THAT(
      with("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(("}}}, {"behavior", "Isolated"}}),
      Contains("pre_tokenizer.pattern: character"));
  CHECK_THAT(with("/pre_tokenizer/type", 3), Contains("pre_tokenizer.type: it should be a text, not 3"));
  CHECK_THAT(with("/decoder", {{"type", "Magic"}}), Contains("decoder: there is no decoder 'Magic'"));
  CHECK_THAT(with("/post_processor/type", "Other"),
             Contains("post_processor: there is no post-processor 'Other'"));
  CHECK_THAT(with("/post_processor/special_tokens/<begin>/ids/0", 999), Contains("there is no token 999"));
  CHECK_THAT(with("/added_tokens/0/id", 5),
             Contains("added_tokens[0]: '<begin>' has the number 5 here and 0"));
  CHECK_THAT(with("/added_tokens/0/content", ""),
             Contains("added_tokens[0].content: an added token has a text"));
  json deep = {{"type", "NFC"}};
  for (int i = 0; i < 12; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  CHECK_THAT(with("/normalizer", deep), Contains("sequences are nested more than 8 deep"));
}

TEST_CASE("Training on words that are counted by hand") {
  // hug 3, pug 2, hugs 1: u g is the most frequent pair (6), then h ug (4), then p ug (2).
  byte_pair_training training({.size = 260, .least_count = 2, .special = {"<end>"}});
  training.add("hug"), training.add("hug"), training.add("hug"), training.add("pug"), training.add("pug");
  training.add("hugs");
  const json j = json::parse(training.tokenizer_json());
  CHECK(j["model"]["merges"] == json::parse(R"([["u","g"],["h","ug"],["p","ug"]])"));
  const tokenizer t = made(j);
  CHECK(t.size() == 260);
  CHECK(t.encode("hugs") == ids{258, t.id("s").value()});
  CHECK_THROWS_WITH(byte_pair_training({.size = 256}), Contains("it has 257 at least"));
  CHECK_THROWS_WITH(byte_pair_training({.special = {"x", "x"}}), Contains("the special token 'x'"));
}

}  // namespace
