// SPDX-License-Identifier: MIT
// The given encodings of Hugging Face's library (tokenizers), in the data sets, and its training, whose
// corpus was the first half of tinyshakespeare in pieces of 2000 bytes.
#include <wsl/ml/tokenizer/byte_pair_training.hpp>
#include <wsl/ml/tokenizer/streaming_decoder.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;

TEST_CASE("Encodings are those of the reference") {
  for (const char* name : {"gpt2", "llama3", "llama2", "bert", "t5"}) {
    INFO(name);
    const auto file = files::data_set(std::string("hf/tokenizers/") + name + ".json"),
               expected = files::data_set(std::string("hf/tokenizers/") + name + ".encodings.json");
    if (!file || !expected) return;
    const tokenizer t = tokenizer::from_file(*file);
    const auto samples = nlohmann::json::parse(read_whole(*expected));
    CHECK(samples.size() == 27);
    for (const auto& s : samples) {
      const std::string text = s["text"];
      INFO(text);
      const std::vector<i32> ids = s["ids"];
      CHECK(t.encode(text) == ids);
      CHECK(t.decode(ids) == s["decoded"].get<std::string>());
      // The reference shows an unknown token of T5 as the text that it stands for.
      const std::vector<std::string> shown = s["tokens"];
      REQUIRE(shown.size() == ids.size());
      const auto unknown = t.id("<unk>");
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (ids[i] != unknown) CHECK(t.token(ids[i]) == shown[i]);
      streaming_decoder out(t);
      std::string streamed;
      for (i32 id : ids) streamed += out.put(id);
      CHECK(streamed + out.finish() == s["decoded"].get<std::string>());
    }
  }
}

TEST_CASE("Training makes the merges that the reference makes") {
  const auto text = files::data_set("tinyshakespeare/input.txt");
  for (const auto& [name, style] : {std::pair("gpt2", word_style::gpt2), {"llama3", word_style::llama3}}) {
    const auto expected = files::data_set(std::string("hf/tokenizers/") + name + ".json");
    if (!text || !expected) return;
    const bool is_gpt2 = style == word_style::gpt2;
    byte_pair_training training(
        {.size = 600,
         .least_count = 0,
         .special = is_gpt2 ? std::vector<std::string>{"<|endoftext|>"}
                            : std::vector<std::string>{"<|begin_of_text|>", "<|end_of_text|>"},
         .style = style});
    const std::string all = read_text(*text);
    const std::string_view half = std::string_view(all).substr(0, all.size() / 2);
    for (std::size_t at = 0; at < half.size(); at += 2000) training.add(half.substr(at, 2000));
    const auto made = nlohmann::json::parse(training.tokenizer_json()),
               wanted = nlohmann::json::parse(read_whole(*expected));
    CHECK(made["model"]["vocab"] == wanted["model"]["vocab"]);
    CHECK(made["model"]["merges"] == wanted["model"]["merges"]);
    CHECK(made["added_tokens"] == wanted["added_tokens"]);
  }
}

}  // namespace
