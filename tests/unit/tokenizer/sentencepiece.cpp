// SPDX-License-Identifier: MIT
// Models that SentencePiece's own library trains on this project's pages, of both kinds and with many
// settings: the reader of such models makes the same tokens of a text as that library, and the same text of
// tokens.
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <random>
#include <wsl/ml/data/utf8.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;

// Lines of a page, and strings of characters that normalization, spaces and bytes treat specially.
std::vector<std::string> samples() {
  std::vector<std::string> all{"",
                               " ",
                               "a",
                               "  two  spaces ",
                               "\t tab\nnewline \n",
                               "caf\u00e9 cafe\u0301",
                               "\ufb01 \u2460 \u00bd \uff21\uff22\u3000wide",
                               "\U0001f600 \u4e2d\u6587 \u0661"};
  std::istringstream page(read_text(pages "/README.md"));
  for (std::string line; std::getline(page, line) && all.size() < 150;) all.push_back(line);
  std::mt19937 draw(3);
  static constexpr char32_t some[] =
      U"  \t\n\u3000\u00a0\u2581aetoinsh.,-0123\u00e9\u0301\ufb01\u2460\u4e2d\u00ad"
      U"\uff21\U0001f600\u200d\u0130\u1e9e";
  for (int k = 0; k < 300; ++k) {
    std::string text;
    for (auto n = draw() % 24; n--;) append_utf8(text, some[draw() % (std::size(some) - 1)]);
    all.push_back(text);
  }
  return all;
}

TEST_CASE("Tokens are those of SentencePiece's library") {
  const std::string settings =
      GENERATE("--model_type=unigram --vocab_size=400", "--model_type=bpe --vocab_size=400",
               "--model_type=bpe --vocab_size=600 --byte_fallback=true --normalization_rule_name=identity "
               "--character_coverage=0.99 --split_digits=true",
               "--model_type=unigram --vocab_size=600 --byte_fallback=true --character_coverage=0.99",
               "--model_type=unigram --vocab_size=400 --normalization_rule_name=nmt_nfkc_cf",
               "--model_type=unigram --vocab_size=400 --add_dummy_prefix=false",
               "--model_type=bpe --vocab_size=400 --user_defined_symbols=wafer,## --add_dummy_prefix=false "
               "--remove_extra_whitespaces=false");
  INFO(settings);
  const files::folder here;
  const auto trained = sentencepiece::SentencePieceTrainer::Train(
      settings +
      " --minloglevel=2 --hard_vocab_limit=false --input=" pages "/README.md --model_prefix=" + (here / "m"));
  REQUIRE(trained.ok());
  sentencepiece::SentencePieceProcessor reference;
  REQUIRE(reference.Load(here / "m.model").ok());
  const tokenizer t = tokenizer::from_file(here / "m.model");
  CHECK(t.size() == reference.GetPieceSize());
  for (const std::string& text : samples()) {
    INFO(text);
    std::vector<int> expected;
    REQUIRE(reference.Encode(text, &expected).ok());
    CHECK(t.encode(text, {.add_special_tokens = false}) == expected);
    // An unknown token is left out here, and written as two question marks there. Of signs for a space that
    // are in the text itself, the library drops all at the beginning.
    if (std::count(expected.begin(), expected.end(), reference.unk_id()) ||
        text.find("\xe2\x96\x81") != std::string::npos)
      continue;
    std::string back;
    REQUIRE(reference.Decode(expected, &back).ok());
    CHECK(t.decode(expected) == back);
  }
}

}  // namespace
