// SPDX-License-Identifier: MIT
// Tokens with their places in a text, and the tokenizers of vocabulary files.
#include <wsl/ml/data/text/encode/sequences.hpp>
#include <wsl/ml/data/text/encode/vocabulary_file.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;

const char* const bert_words =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncafe\n##s\nplay\n##ing\n##ed\n.\n,\nin\n##t\n##er\n#"
    "\nwork\nof\n"
    "paris\n\xe4\xb8\xad\n\xe5\x9b\xbd\nis\nopen\n";

std::vector<i32> ids_of(const std::vector<text_piece>& all) {
  std::vector<i32> ids;
  for (const text_piece& p : all) ids.push_back(p.id);
  return ids;
}
// The part of the text for which each piece stands.
strings parts_of(const std::vector<text_piece>& all, const std::string& text) {
  strings parts;
  for (const text_piece& p : all) parts.push_back(text.substr(p.begin, p.end - p.begin));
  return parts;
}
strings tokens_of(const tokenizer& t, const std::vector<text_piece>& all) {
  strings tokens;
  for (const text_piece& p : all) tokens.push_back(t.token(p.id));
  return tokens;
}

std::string with_single_spaces(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && (c < 128 || !unicode::is_space(c)))
      out += text.substr(begin, at - begin);
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out.ends_with(' ') ? out.substr(0, out.size() - 1) : out;
}

TEST_CASE("A list of tokens is BERT's tokenizer") {
  const files::folder in;
  files::write(in / "vocab.txt", bert_words);
  const tokenizer t = tokenizer_of(in / "vocab.txt", true);
  CHECK(t.encode("The Caf\xc3\xa9s") == std::vector<i32>{2, 5, 6, 7, 3});
  CHECK(t.encode_pair("the", "is").types == std::vector<i32>{0, 0, 0, 1, 1});
  CHECK(t.is_special(4));
  CHECK(tokenizer_of(in / "vocab.txt", false).encode("The", {.add_special_tokens = false}) ==
        std::vector<i32>{1});
  const auto says = [&](const std::string& text) {
    files::write(in / "v.txt", text);
    return files::refusal([&] { tokenizer_of(in / "v.txt", true); });
  };
  CHECK_THAT(says("[UNK]\n[CLS]\n"), Contains("v.txt: there is no token [SEP]"));
  CHECK_THAT(says("[UNK]\na\nb\na\n"), Contains("v.txt, line 4: the token 'a' is there twice"));
  CHECK_THROWS_WITH(tokenizer_of("", true), Contains("vocab_file is missing"));
}

TEST_CASE("Tokens know the part of the text that they stand for") {
  const files::folder in;
  files::write(in / "vocab.txt", bert_words);
  const piece_encoder encode(tokenizer_of(in / "vocab.txt", true));
  // An accent as a character of its own, a sign, several spaces, and what has no token.
  const std::string text = " The  Caf\xc3\xa9s, play\xcc\x81ing\tin \xe4\xb8\xad\xe5\x9b\xbd Zz.is\n";
  const std::vector<text_piece> all = encode(text);
  CHECK(ids_of(all) == encode.by().encode(text, {.add_special_tokens = false}));
  CHECK(tokens_of(encode.by(), all) == strings{"the", "cafe", "##s", ",", "play", "##ing", "in",
                                               "\xe4\xb8\xad", "\xe5\x9b\xbd", "[UNK]", ".", "is"});
  CHECK(parts_of(all, text) == strings{"The", "Caf\xc3\xa9", "s", ",", "play\xcc\x81", "ing", "in",
                                       "\xe4\xb8\xad", "\xe5\x9b\xbd", "Zz", ".", "is"});
  std::vector<i32> words;
  for (const text_piece& p : all) words.push_back(p.word);
  CHECK(words == std::vector<i32>{0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 5});
  CHECK(encode("").empty());
  CHECK(encode(" \n").empty());
  CHECK_THROWS_WITH(encode("a \xff"), Contains("not UTF-8"));
  // A token written in a text is text.
  CHECK(tokens_of(encode.by(), encode("[SEP]")) == strings{"[UNK]", "[UNK]", "[UNK]"});
}

TEST_CASE("Tokens of words are those of the reference, and cover the text") {
  for (const char* name : {"bert", "t5", "gpt2"}) {
    INFO(name);
    const auto file = files::data_set(std::string("hf/tokenizers/") + name + ".json"),
               expected = files::data_set(std::string("hf/tokenizers/") + name + ".encodings.json");
    if (!file || !expected) return;
    const piece_encoder encode(tokenizer::from_file(*file));
    for (const auto& s : nlohmann::json::parse(read_whole(*expected))) {
      const std::string text = s["text"];
      INFO(text);
      const std::vector<text_piece> all = encode(text);
      // White space divides words, whatever it is and however much.
      CHECK(ids_of(all) == encode.by().encode(with_single_spaces(text),
                                              {.add_special_tokens = false, .match_special_tokens = false}));
      // Places grow, and every character that is neither white space nor left out has one.
      std::size_t begin = 0, end = 0;
      for (const text_piece& p : all) {
        CHECK(p.begin >= begin);
        CHECK(p.end >= p.begin);
        begin = p.begin, end = std::max(end, p.end);
      }
      CHECK(end <= text.size());
      for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] > ' ' && text[i] < 127)
          CHECK(std::any_of(all.begin(), all.end(),
                            [&](const text_piece& p) { return p.begin <= i && i < p.end; }));
    }
  }
}

TEST_CASE("A sequence has the special tokens of its tokenizer") {
  const files::folder in;
  files::write(in / "vocab.txt", bert_words);
  const piece_encoder encode(tokenizer_of(in / "vocab.txt", true));
  const special_tokens special = special_tokens::of(encode.by());
  std::vector<text_piece> a = encode("the cafes"), b = encode("is open in paris");
  const token_sequence s = sequence_of(special, a, b);
  const encoded_pair wanted = encode.by().encode_pair("the cafes", "is open in paris");
  CHECK(s.ids == wanted.ids);
  CHECK(s.types == wanted.types);
  CHECK(s.second == 5);
  CHECK(s.continues ==
        std::vector<bool>{false, false, false, true, false, false, false, false, false, false});
  CHECK(sequence_of(special, a).ids == encode.by().encode("the cafes"));
  shorten(a, b, 5);
  CHECK(a.size() == 3);
  CHECK(b.size() == 2);
  CHECK_THROWS_WITH(check_length(4, special, true),
                    Contains("max_sequence_length is 4; with the special tokens it takes 5"));
  files::write(in / "v.txt", "[UNK]\n[CLS]\n[SEP]\n");
  CHECK_THROWS_WITH(special_tokens::of(tokenizer_of(in / "v.txt", true)), Contains("no token [PAD]"));
}

}  // namespace
