// SPDX-License-Identifier: MIT
// The work of a writer around its model: samples, ends of texts, prompts in blocks, threads, and refusals.
// The oracle of its logits is the network's own forward pass; ml_data/writing.cpp has that of transformers.
#include <catch2/catch.hpp>
#include <functional>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/write/writer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

const decoder small{
    .vocabulary = 37, .positions = 24, .layers = 2, .heads = 4, .width = 24, .deviation = 0.4f};
const std::vector<i32> prompt{3, 30, 7, 7, 12};

writer made(const decoder& d, const writer_settings& how = {.columns = 2}) {
  return {d, weights(d.build(), 5), how};
}
std::string text_of(std::span<const i32> ids) {
  std::string all;
  for (const i32 id : ids) all += static_cast<char>('A' + id);
  return all;
}
/// The logits of the network's own forward pass.
std::vector<f32> serial_logits(const network& n, weights& w, const std::vector<i32>& ids) {
  const std::vector<i32> targets(ids.size());
  activation_store store =
      store_of(n, {.ids = ids, .targets = targets, .sequences = 1, .length = static_cast<int>(ids.size())});
  serial_forward(n, w, store);
  const matrix<f32> y = store.value(n.logits());
  return {y.first(), y.first() + i64{y.rows()} * y.columns()};
}
decoder with(const std::function<void(decoder&)>& change) {
  decoder d = small;
  change(d);
  return d;
}

TEST_CASE("Every kind of decoder has the logits of its forward pass, on any number of columns") {
  const decoder d = GENERATE(values<decoder>({
      small,
      with([](decoder& x) { x.position = positioning::fixed, x.between = nonlinearity::gelu_tanh; }),
      with([](decoder& x) { x.position = positioning::none, x.between = nonlinearity::quick_gelu; }),
      with([](decoder& x) { x.position = positioning::alibi, x.between = nonlinearity::relu; }),
      with([](decoder& x) { x.position = positioning::rotary, x.between = nonlinearity::silu; }),
      with([](decoder& x) { x.position = positioning::rotary, x.rotary_pairs = pairs::halves; }),
      with([](decoder& x) {
        x.position = positioning::rotary, x.rotary_features = 2, x.rotary_base = 100;
        x.rotary_scale = {rotary_scaling::kind::linear, 2};
      }),
      with([](decoder& x) {
        x.position = positioning::rotary, x.rotary_scale = {rotary_scaling::kind::llama3, 8, 1, 4, 12};
      }),
      with([](decoder& x) { x.kv_heads = 1; }),
      with([](decoder& x) { x.kv_heads = 2, x.head_width = 10, x.filter = 7; }),
      with([](decoder& x) { x.window = 5; }),
      with([](decoder& x) { x.order = block_order::parallel, x.bias.norms = false; }),
      with([](decoder& x) { x.order = block_order::parallel_two_norms, x.embedding_norm = true; }),
      with([](decoder& x) { x.between = nonlinearity::swiglu, x.norm = normalization::rmsnorm; }),
      with([](decoder& x) { x.between = nonlinearity::geglu, x.bias = false; }),
      with([](decoder& x) { x.between = nonlinearity::reglu, x.tied = false; }),
      with([](decoder& x) { x.tied = false, x.bias.head = true; }),
      with([](decoder& x) { x.attention_scale = 0.1f, x.scale_by_layer = true; }),
      with([](decoder& x) { x.scale_by_layer = true; }),
      with([](decoder& x) { x.embedding_scale = 3, x.logit_scale = 0.2f; }),
      with([](decoder& x) {
        x.position = positioning::fixed, x.embedding_norm = true, x.embedding_scale = 3;
      }),
      with([](decoder& x) { x.unused_positions = 2; }),
      with([](decoder& x) { x.experts = 4, x.bias = true, x.between = nonlinearity::swiglu; }),
      with([](decoder& x) { x.experts = 3, x.experts_per_token = 1; }),
  }));
  const network n = d.build();
  weights w = compare::shaken(n);
  std::vector<i32> ids;
  for (int i = 0; i < 24; ++i) ids.push_back((i * 11 + 5) % 37);
  const std::vector<f32> right = serial_logits(n, w, ids);
  for (const int columns : {1, 2, 3, 5})
    for (const int block : {1, 5, 24}) {
      INFO(columns << " columns, blocks of " << block);
      CHECK(compare::error(writer(d, w, {.columns = columns, .prompt_block = block}).logits(ids), right) <
            1e-5);
    }
}

TEST_CASE("Samples are written side by side, each as it is alone, on any number of threads") {
  const text_settings how{.max_tokens = 15, .temperature = 1.5, .top_k = 12, .samples = 3, .seed = 7};
  std::vector<std::vector<i32>> first;
  for (const int threads : {1, 2, 3}) {
    writer w = made(small, {.columns = 3, .threads = threads, .prompt_block = 2});
    std::vector<std::vector<i32>> streamed(3), texts;
    std::vector<int> order;
    for (const written_text& t : w.write(prompt, how, [&](const written_token& t) {
           CHECK(t.index == static_cast<int>(streamed[static_cast<std::size_t>(t.sample)].size()));
           CHECK(t.logits.size() == 37);
           streamed[static_cast<std::size_t>(t.sample)].push_back(t.id), order.push_back(t.sample);
         }))
      texts.push_back(t.tokens);
    CHECK(streamed == texts);
    CHECK(std::vector<int>(order.begin(), order.begin() + 6) == std::vector<int>{0, 1, 2, 0, 1, 2});
    if (first.empty()) first = texts;
    CHECK(texts == first);
  }
  CHECK((first[0].size() == 15 && first[0] != first[1] && first[1] != first[2]));
  text_settings one = how;
  one.samples = 1;
  CHECK(made(small, {.columns = 3, .prompt_block = 2}).write(prompt, one)[0].tokens == first[0]);
  one.seed = 8;
  CHECK(made(small, {.columns = 3, .prompt_block = 2}).write(prompt, one)[0].tokens != first[0]);
}

TEST_CASE("A text ends with a stop token, a stop string, as many tokens as asked for, or a full context") {
  writer w = made(small);
  const std::vector<i32> all = w.write(prompt, {.max_tokens = 10, .temperature = 0})[0].tokens;
  REQUIRE(all.size() == 10);

  text_settings how{.max_tokens = 10, .temperature = 0, .stop_tokens = {all[3]}};
  const auto begin = all.begin();
  const auto until = [&](std::ptrdiff_t n) { return std::vector<i32>(begin, begin + n); };
  const std::ptrdiff_t at = std::find(begin, all.end(), all[3]) - begin;
  written_text t = w.write(prompt, how)[0];
  CHECK((t.end == text_end::stop_token && t.tokens == until(at + 1)));
  how.min_tokens = static_cast<int>(at) + 1;
  t = w.write(prompt, how)[0];
  CHECK(t.tokens.size() > static_cast<std::size_t>(at));
  CHECK(std::count(t.tokens.begin(), t.tokens.begin() + at + 1, all[3]) == 0);

  const std::string text = text_of(all), stop = text.substr(4, 2);
  how = {.max_tokens = 10, .temperature = 0, .stop_strings = {"??", stop}, .text_of = text_of};
  t = w.write(prompt, how)[0];
  CHECK((t.end == text_end::stop_string && t.stop == stop));
  CHECK(t.tokens == until(static_cast<std::ptrdiff_t>(text.find(stop)) + 2));

  t = w.write(prompt, {.max_tokens = 100, .temperature = 0})[0];
  CHECK((t.end == text_end::context_full && t.tokens.size() == 24 - prompt.size()));
  CHECK(w.write(std::vector<i32>(24, 1))[0].end == text_end::context_full);
  CHECK(w.write(std::vector<i32>(24, 1))[0].tokens.empty());
  CHECK(made(small, {.columns = 2, .max_length = 8}).write(prompt)[0].tokens.size() == 3);
  t = w.write(prompt, {.max_tokens = 0})[0];
  CHECK((t.end == text_end::max_tokens && t.tokens.empty()));
  CHECK(name_of(text_end::context_full) == "context_full");
}

TEST_CASE("Settings of a text reach the choice of its tokens") {
  writer w = made(small);
  const text_settings hot{.max_tokens = 19, .temperature = 3};
  const auto written = [&](auto change) {
    text_settings how = hot;
    change(how);
    return w.write(prompt, how)[0].tokens;
  };
  const std::vector<i32> greedy = written([](text_settings& s) { s.temperature = 0; });
  CHECK(written([](text_settings&) {}) != greedy);
  CHECK(written([](text_settings& s) { s.top_k = 1; }) == greedy);
  CHECK(written([](text_settings& s) { s.top_p = 0; }) == greedy);
  CHECK(written([](text_settings& s) { s.min_p = 1; }) == greedy);
  const std::vector<i32> once =
      written([](text_settings& s) { s.temperature = 0, s.repetition_penalty = 1e6; });
  for (const i32 id : written([](text_settings& s) { s.known_tokens = 5; })) CHECK(id < 5);
  CHECK(once != greedy);
}

TEST_CASE(
    "A writer refuses to be used from within on_token, goes on afterwards, and refuses a model of NaNs") {
  writer w = made(small);
  const text_settings how{.max_tokens = 6, .temperature = 0};
  const std::vector<i32> text = w.write(prompt, how)[0].tokens;
  const auto nested = [&](const std::function<void()>& use) {
    CHECK_THROWS_WITH(w.write(prompt, how, [&](const written_token&) { use(); }),
                      Contains("on_token must not call write or logits of the same writer"));
    CHECK(w.write(prompt, how)[0].tokens == text);
  };
  nested([&] { w.logits(prompt); });
  nested([&] { w.write(prompt); });

  weights damaged(small.build(), 5);
  damaged[0][7] = std::numeric_limits<f32>::quiet_NaN();
  for (const f64 temperature : {0., 0.8})
    CHECK_THROWS_AS(writer(small, damaged, {.columns = 2}).write(prompt, {.temperature = temperature}),
                    not_finite);
}

TEST_CASE("Prompts, settings and weights that a writer cannot take are refused with a sentence") {
  writer w = made(small);
  const auto refuses = [&](const text_settings& how, const char* sentence) {
    CHECK_THROWS_WITH(w.write(prompt, how), Contains(sentence));
  };
  refuses({.max_tokens = -1}, "a text is continued with 0 or more tokens, not -1");
  refuses({.temperature = -1}, "sampling: the temperature is 0");
  refuses({.stop_tokens = {37}}, "stop_tokens has token 37 of a vocabulary of 37");
  refuses({.min_tokens = -1}, "min_tokens is 0 to max_tokens, 128, not -1");
  refuses({.max_tokens = 3, .min_tokens = 4}, "min_tokens is 0 to max_tokens, 3, not 4");
  refuses({.stop_strings = {"x"}}, "stop_strings needs text_of");
  refuses({.stop_strings = {""}, .text_of = text_of}, "a stop string has at least one letter");
  refuses({.samples = 0}, "1 to 1024 samples are written, not 0");
  refuses({.known_tokens = 38}, "known_tokens is at most the vocabulary of 37, not 38");
  CHECK_THROWS_WITH(w.write({}), Contains("a prompt has at least one token"));
  CHECK_THROWS_WITH(w.write(std::vector<i32>{1, 37}),
                    Contains("the prompt has token 37 of a vocabulary of 37"));
  CHECK_THROWS_WITH(w.write(std::vector<i32>{-1}), Contains("the prompt has token -1"));
  CHECK_THROWS_WITH(w.write(std::vector<i32>(25, 1)),
                    Contains("a prompt of 25 tokens is longer than max_length, 24"));

  const auto no_writer = [&](const writer_settings& how, const char* sentence) {
    CHECK_THROWS_WITH(made(small, how), Contains(sentence));
  };
  no_writer({.columns = -1}, "a writer has 1 to 64 columns, or 0 for as many as threads, not -1");
  no_writer({.columns = 65}, "not 65");
  no_writer({.precision = precision::float16}, "as f32 or bfloat16, not as f16");
  no_writer({.max_length = 25},
            "max_length is at most the model's 24 positions, or 0 for all of them, not 25");
  no_writer({.max_length = -1}, "not -1");
  no_writer({.prompt_block = 0}, "prompt_block is 1 or more tokens, not 0");
  decoder other = small;
  other.width = 32;
  CHECK_THROWS_WITH(writer(other, weights(small.build())), Contains("these weights are of another model"));
  CHECK_THROWS_WITH(writer(other, stored_weights(small.build(), weights(small.build()))),
                    Contains("these weights are of another model"));
}

}  // namespace
