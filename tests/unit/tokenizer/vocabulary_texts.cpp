// SPDX-License-Identifier: MIT
// A vocabulary becomes one text and a tokenizer again, and two are told apart by their first difference.
#include <wsl/ml/data/text/encode/vocabulary_file.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl::ml;
using Catch::Matchers::Contains;

tokenizer again(const std::string& json) { return tokenizer::from_json(json, "kept"); }

TEST_CASE("A list of tokens is kept as the text of a tokenizer.json") {
  const files::folder in;
  const std::string list = in / "vocab.txt", json = in / "tokenizer.json";
  files::write(list, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nB\n");
  const std::string kept = vocabulary_json(list, true);
  CHECK(difference_of(again(kept), tokenizer_of(list, true)).empty());
  CHECK(again(kept).encode("A ab") == tokenizer_of(list, true).encode("A ab"));
  files::write(json, kept);
  CHECK(vocabulary_json(json, true) == kept);
  CHECK_THAT(difference_of(again(kept), tokenizer_of(list, false)), Contains("texts become 'aa' here and"));
  CHECK_THROWS_WITH(vocabulary_json("", true), Contains("vocab_file is missing"));
  const std::string words = in / "words.txt";
  files::write(words, "<pad>\n<s>\n</s>\n<unk>\na\nb\n");
  const std::string of_words = vocabulary_json_of_words(words, "<unk>", false);
  CHECK(again(of_words).encode("b zz a") == tokenizer_of_words(words, "<unk>", false).encode("b zz a"));
}

TEST_CASE("The first token in which vocabularies differ is named") {
  const files::folder in;
  const auto words = [&](const std::string& last) {
    files::write(in / "words.txt", "<pad>\n<s>\n</s>\n<unk>\n" + last);
    return tokenizer_of_words(in / "words.txt", "<unk>", false);
  };
  CHECK(difference_of(words("a\nb\n"), words("a\nc\n")) ==
        "token 5 is 'b' here and 'c' there, of 6 and 6 tokens");
  CHECK(difference_of(words("a\n"), words("a\nc\n")) ==
        "token 5 is none here and 'c' there, of 5 and 6 tokens");
  CHECK(difference_of(words("a\n"), words("a\n")).empty());
}

TEST_CASE("A tokenizer.json and a folder that has one are kept as one text, too") {
  for (const char* name : {"hf/tokenizers/t5.json", "hf/tokenizers/bert.json"})
    if (const auto path = files::data_set(name))
      CHECK(difference_of(again(tokenizer::json_of(*path)), tokenizer::from_file(*path)).empty());
  const files::folder in;
  const std::string folder = in / "words", empty = in / "empty";
  std::filesystem::create_directory(folder), std::filesystem::create_directory(empty);
  files::write(folder + "/words.txt", "<pad>\n<s>\n</s>\n<unk>\na\nb\n");
  files::write(folder + "/tokenizer.json", vocabulary_json_of_words(folder + "/words.txt", "<unk>", false));
  CHECK(again(tokenizer::json_of(folder)).encode("b zz a") == tokenizer::from_file(folder).encode("b zz a"));
  CHECK_THAT(files::refusal([&] { tokenizer::json_of(empty); }),
             Contains("there is no tokenizer in this folder"));
}

}  // namespace
