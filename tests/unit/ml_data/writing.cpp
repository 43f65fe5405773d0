// SPDX-License-Identifier: MIT
// Writing text with a cache of keys and values: the logits of each token, and the greedy texts, are those
// of transformers for a tiny model of each family, whatever the number of columns, wherever the weights lie,
// and however the prompt is cut into blocks. The same holds for encoder-decoders.
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/run/golden_state.hpp>
#include <wsl/ml/write/encoder_decoder_writer.hpp>
#include <wsl/ml/write/writer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;

std::vector<i32> small(const std::vector<i64>& x) { return {x.begin(), x.end()}; }

/// The results of transformers for a model: logits of some texts, and the greedy continuation of the first,
/// which that of Mixtral lacks.
struct golden {
  int texts, length;
  std::vector<i32> ids, greedy;
  std::vector<f32> logits;

  explicit golden(const std::string& folder) {
    safetensors_file in(folder + "/golden.safetensors");
    const tensor_info& all = *in.find("input_ids");
    texts = static_cast<int>(all.shape[0]), length = static_cast<int>(all.shape[1]);
    ids = small(in.read<i64>(all));
    if (const tensor_info* t = in.find("greedy")) greedy = small(in.read<i64>(*t));
    logits = in.numbers(*in.find("logits"));
  }
  std::span<const i32> text(int k) const {
    return std::span(ids).subspan(static_cast<std::size_t>(k * length), static_cast<std::size_t>(length));
  }
  std::span<const f32> logits_of(int k) const {
    const std::size_t n = logits.size() / static_cast<std::size_t>(texts);
    return std::span(logits).subspan(static_cast<std::size_t>(k) * n, n);
  }
};

void check(writer& w, const golden& g) {
  for (int k = 0; k < g.texts; ++k) CHECK(relative_error(w.logits(g.text(k)), g.logits_of(k)) < 1e-5);
  if (g.greedy.empty()) return;
  const std::span<const i32> prompt = std::span(g.greedy).first(6);
  std::vector<f32> written;
  // The end of a text, 1, has been ruled out there.
  const text_settings how{.max_tokens = 12, .temperature = 0, .stop_tokens = {1}, .min_tokens = 12};
  const auto texts = w.write(prompt, how, [&](const written_token& t) {
    written.insert(written.end(), t.logits.begin(), t.logits.end());
  });
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].tokens == std::vector<i32>(g.greedy.begin() + 6, g.greedy.end()));
  CHECK(texts[0].end == text_end::max_tokens);
  // Token by token, behind the prompt, as all at once.
  const std::size_t v = static_cast<std::size_t>(w.config().vocabulary);
  const std::vector<f32> whole = w.logits(std::span(g.greedy).first(17));
  CHECK(relative_error(written, std::span(whole).subspan(5 * v)) < 1e-5);
}

TEST_CASE("A writer writes what transformers write, for each family") {
  const char* name =
      GENERATE("gpt2", "gpt_neox", "gptj", "codegen", "llama", "llama3_rope", "mistral", "qwen2", "falcon_7b",
               "falcon_40b", "bloom", "mpt", "gpt_bigcode", "starcoder2", "phi", "opt", "mixtral");
  const auto folder = files::data_set(std::string("hf/") + name);
  if (!folder) return;
  INFO(name);
  const golden g(*folder);
  CHECK(g.greedy.empty() == (name == std::string("mixtral")));
  pretrained p = read_hugging_face(*folder);
  const network n = p.config.build();
  for (int columns : {1, 2, 3}) {
    INFO(columns << " columns");
    writer w(p.config, p.to_weights(n), {.columns = columns, .threads = 1});
    check(w, g);
    writer in_place(p.config, p.mapped_weights(n),
                    {.columns = columns, .threads = 2, .prompt_block = 5, .in_place = true});
    check(in_place, g);
    writer halves(p.config, p.mapped_weights(n), {.columns = columns, .precision = precision::bfloat16});
    CHECK(relative_error(halves.logits(g.text(0)), g.logits_of(0)) < 0.03);
    CHECK(relative_error(halves.logits(g.text(0)), g.logits_of(0)) > 1e-4);
  }
}

/// The part of a batch's numbers that belongs to one of its sequences.
std::span<const i32> row_of_batch(const batch& b, std::string_view name, int k) {
  for (const named_numbers& x : b.named)
    if (x.name == name) {
      const std::size_t n = x.ids.size() / static_cast<std::size_t>(b.sequences);
      return x.ids.subspan(static_cast<std::size_t>(k) * n, n);
    }
  FAIL("the golden state has no " << name);
  return {};
}

void check(encoder_decoder_writer& w, const golden_state& g) {
  const batch b = g.inputs();
  const auto text = [&](int k) {
    return source_text(row_of_batch(b, "input_ids", k), row_of_batch(b, "attention_mask", k));
  };
  const std::size_t each = g.logits.size() / static_cast<std::size_t>(b.sequences);
  for (int k = 0; k < b.sequences; ++k)
    CHECK(relative_error(w.logits(text(k), row_of_batch(b, "decoder_input_ids", k)),
                         std::span(g.logits).subspan(static_cast<std::size_t>(k) * each, each)) < 1e-5);
  REQUIRE((g.prompt == 1 && g.greedy.size() == 13));
  search_settings how{.max_tokens = 12, .begin = {g.greedy[0]}};
  how.never.assign(g.never.begin(), g.never.end());
  const std::vector<hypothesis> found = w.write(text(0), how);
  REQUIRE(found.size() == 1);
  CHECK(found[0].tokens == std::vector<i32>(g.greedy.begin() + 1, g.greedy.end()));
  CHECK(found[0].end == text_end::max_tokens);
  how.beams = 4;
  CHECK(w.write(text(0), how)[0].log_probability >= found[0].log_probability);
}

TEST_CASE("A writer of encoder-decoders writes what transformers write") {
  const char* name = GENERATE("t5", "flan_t5", "transformer");
  const auto folder = files::data_set(std::string("hf/") + name);
  if (!folder) return;
  INFO(name);
  pretrained_encoder_decoder p = read_hugging_face<encoder_decoder>(*folder);
  const network n = p.config.build();
  const golden_state g = golden_state::of_folder(*folder, n);
  const batch b = g.inputs();
  const source_text text(row_of_batch(b, "input_ids", 0), row_of_batch(b, "attention_mask", 0));
  const std::span<const i32> of_decoder = row_of_batch(b, "decoder_input_ids", 0);
  for (int columns : {1, 2, 3}) {
    INFO(columns << " columns");
    encoder_decoder_writer w(p.config, p.to_weights(n), {.columns = columns, .threads = 1});
    check(w, g);
    encoder_decoder_writer in_place(p.config, p.mapped_weights(n),
                                    {.columns = columns, .threads = 2, .in_place = true});
    check(in_place, g);
    encoder_decoder_writer halves(p.config, p.mapped_weights(n),
                                  {.columns = columns, .precision = precision::bfloat16});
    const f64 off = relative_error(halves.logits(text, of_decoder), w.logits(text, of_decoder));
    CHECK((off > 1e-4 && off < 0.03));
  }
}

}  // namespace
