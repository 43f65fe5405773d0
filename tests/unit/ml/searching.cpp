// SPDX-License-Identifier: MIT
// Searches for texts, and the writer of encoder-decoders that runs them. A search is compared with that of
// transformers written out plainly, and with all texts that there are; the logits of the writer with those of
// the network's own forward pass; and what it writes with a search that computes everything again for each
// token. ml_data/writing.cpp compares with transformers.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/train/trainer.hpp>
#include <wsl/ml/write/encoder_decoder_writer.hpp>

#include "compare.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

const encoder_decoder small{.vocabulary = 19,
                            .layers = 2,
                            .heads = 4,
                            .width = 24,
                            .positions = 40,
                            .deviation = 0.4f,
                            .buckets = 8,
                            .max_distance = 12};
const std::vector<i32> source{3, 17, 7, 7, 12, 1, 9};

encoder_decoder with(const std::function<void(encoder_decoder&)>& change) {
  encoder_decoder m = small;
  change(m);
  return m;
}
std::vector<i32> numbered(int n, int by) {
  std::vector<i32> ids;
  for (int i = 0; i < n; ++i) ids.push_back((i * by + 5) % small.vocabulary);
  return ids;
}
// --- what a model writes, computed plainly ---

using texts = std::vector<std::vector<i32>>;
/// The logits behind the last token of some texts of one length, (texts, vocabulary).
using next_logits = std::function<std::vector<f32>(const texts&)>;

f64 divisor(const search_settings& how, int length) {
  return std::pow(how.length == length_rule::power ? length : (5. + length) / 6, how.length_penalty);
}
std::vector<f64> log_softmax(std::span<const f32> x) {
  f64 sum = 0;
  for (const f32 v : x) sum += std::exp(static_cast<f64>(v));
  std::vector<f64> y;
  for (const f32 v : x) y.push_back(static_cast<f64>(v) - std::log(sum));
  return y;
}

constexpr f64 none = -1e9;
struct found {
  std::vector<i32> tokens;
  f64 score = none;
  bool is_finished = false;
};
template <class F>
std::vector<found> top(std::vector<found> x, std::size_t n, F score) {
  std::stable_sort(x.begin(), x.end(), [&](const found& a, const found& b) { return score(a) > score(b); });
  x.resize(std::min(n, x.size()));
  return x;
}

/// `_beam_search` of transformers, with arrays of as many entries as there are beams, of which those that do
/// not exist have a very low score.
std::vector<found> plain_beam_search(const next_logits& next, const search_settings& how) {
  const std::size_t beams = static_cast<std::size_t>(how.beams), begin = how.begin.size();
  std::vector<found> running(beams, {how.begin}), finished(beams, {how.begin});
  running[0].score = 0;
  const auto score = [](const found& x) { return x.score; };
  for (int length = 1;; ++length) {
    texts all;
    for (const found& x : running) all.push_back(x.tokens);
    const std::vector<f32> logits = next(all);
    const std::size_t words = logits.size() / beams;
    std::vector<found> candidates;
    for (std::size_t k = 0; k < beams; ++k) {
      const std::vector<f64> p = log_softmax(std::span(logits).subspan(k * words, words));
      for (std::size_t token = 0; token < words; ++token) {
        found x{running[k].tokens, running[k].score + p[token]};
        x.tokens.push_back(static_cast<i32>(token));
        const auto is = [&](const std::vector<i32>& of) {
          return std::find(of.begin(), of.end(), x.tokens.back()) != of.end();
        };
        if (is(how.never) || (length <= how.min_tokens && is(how.end))) x.score = 2 * none;
        x.is_finished = is(how.end) || length == how.max_tokens;
        candidates.push_back(x);
      }
    }
    candidates = top(candidates, beams * std::max<std::size_t>(2, 1 + how.end.size()), score);
    const bool all_hit =
        std::all_of(candidates.begin(), candidates.end(), [](const found& x) { return x.is_finished; });
    running = top(candidates, beams, [](const found& x) { return x.score + (x.is_finished ? none : 0); });
    std::vector<found> merged = finished;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      found x = candidates[k];
      x.is_finished &= k < beams;
      x.score = x.is_finished ? x.score / divisor(how, length) : none;
      merged.push_back(x);
    }
    finished = top(merged, beams, score);
    const bool is_full =
        std::all_of(finished.begin(), finished.end(), [](const found& x) { return x.is_finished; });
    const int best_length =
        how.stop == early_stop::when_impossible && how.length_penalty > 0 ? how.max_tokens : length;
    const bool may_improve = !is_full || running[0].score / divisor(how, best_length) > finished.back().score;
    if (!may_improve || (is_full && how.stop == early_stop::when_full) || all_hit) break;
  }
  std::erase_if(finished, [](const found& x) { return !x.is_finished || x.score < none / 2; });
  for (found& x : finished)
    x.tokens.erase(x.tokens.begin(), x.tokens.begin() + static_cast<std::ptrdiff_t>(begin));
  return finished;
}

void check_same(const std::vector<hypothesis>& x, const std::vector<found>& right, f64 within) {
  REQUIRE(x.size() == right.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    INFO("hypothesis " << k);
    CHECK(x[k].tokens == right[k].tokens);
    CHECK(x[k].score == Approx(right[k].score).epsilon(within));
  }
}

/// A model whose next token depends on the last two, and on the length of the text, so that no two texts have
/// the same probability.
struct table_of_logits {
  static constexpr int lengths = 5;
  int words;
  std::vector<f32> numbers;

  table_of_logits(int n, u64 seed) : words(n), numbers(static_cast<std::size_t>(lengths * n * n * n)) {
    initialize(numbers, initial::normal(1.5f), seed);
  }
  std::vector<f32> operator()(const texts& all) const {
    std::vector<f32> y;
    for (const std::vector<i32>& t : all) {
      const int length = static_cast<int>(t.size()), before = length > 1 ? t[t.size() - 2] : 0;
      const auto row = numbers.begin() + ((length % lengths * words + before) * words + t.back()) * words;
      y.insert(y.end(), row, row + words);
    }
    return y;
  }
};
std::vector<hypothesis> searched(const table_of_logits& m, const search_settings& how, int room = 1000) {
  check_search(how, m.words);
  text_search s(how, room);
  std::map<int, std::vector<i32>> kept;  // the text whose keys and values each place has
  kept[0] = how.begin;
  while (!s.is_done()) {
    for (const text_copy& c : s.copies()) {
      kept[c.to] = kept[c.from];
      CHECK(static_cast<int>(kept[c.to].size()) == c.tokens);
    }
    texts all;
    for (const open_hypothesis& x : s.open()) {
      all.push_back(x.tokens);
      if (x.tokens.size() > how.begin.size()) kept[x.place].push_back(x.tokens.back());
      CHECK(kept[x.place] == x.tokens);
    }
    s.take(m(all));
  }
  return s.best();
}

TEST_CASE("A beam search finds the hypotheses that transformers find") {
  int ended_before_the_limit = 0;
  for (u64 seed = 0; seed < 60; ++seed) {
    const table_of_logits m(7, seed);
    for (const early_stop stop :
         {early_stop::when_unlikely, early_stop::when_full, early_stop::when_impossible})
      for (const f64 penalty : {-0.7, 0., 0.6, 1., 2.})
        for (const int beams : {2, 3, 5}) {
          INFO("seed " << seed << ", penalty " << penalty << ", " << beams << " beams, stop " << int(stop));
          search_settings how{
              .beams = beams, .length_penalty = penalty, .max_tokens = 9, .begin = {0}, .end = {1}};
          how.stop = stop;
          if (seed % 3 == 1) how.end = {1, 4}, how.min_tokens = 3;
          if (seed % 3 == 2) how.never = {2}, how.begin = {0, 5}, how.length = length_rule::published;
          const std::vector<hypothesis> x = searched(m, how);
          check_same(x, plain_beam_search(m, how), 1e-5);
          ended_before_the_limit += x[0].end == text_end::stop_token;
        }
  }
  CHECK(ended_before_the_limit > 1000);
}

TEST_CASE("A search with enough beams finds all texts, the best first") {
  constexpr int words = 5, length = 4;
  const table_of_logits m(words, 3);
  const f64 penalty = GENERATE(0., 0.6, 1.3);
  search_settings how{
      .beams = 400, .length_penalty = penalty, .max_tokens = length, .begin = {0}, .end = {1}};
  std::vector<found> all;
  const std::function<void(const std::vector<i32>&, f64)> visit = [&](const std::vector<i32>& text, f64 p) {
    const int tokens = static_cast<int>(text.size()) - 1;
    if (tokens == length || (tokens && text.back() == 1)) {
      all.push_back({{text.begin() + 1, text.end()}, p / std::pow(tokens, penalty), true});
      return;
    }
    const std::vector<f64> of_next = log_softmax(m({text}));
    for (int token = 0; token < words; ++token) {
      std::vector<i32> longer = text;
      longer.push_back(token);
      visit(longer, p + of_next[static_cast<std::size_t>(token)]);
    }
  };
  visit({0}, 0);
  CHECK(all.size() == 1 + 4 + 16 + 64 * 5);
  check_same(searched(m, how), top(all, all.size(), [](const found& x) { return x.score; }), 1e-6);
}

TEST_CASE("A search honours what must not be written, and ends where nothing is left") {
  const table_of_logits m(7, 11);
  search_settings how{.max_tokens = 40, .begin = {0}};
  const std::vector<i32> greedy = searched(m, how)[0].tokens;
  REQUIRE(greedy.size() == 40);
  const auto largest_repetition = [](std::vector<i32> text, std::ptrdiff_t n) {
    text.insert(text.begin(), 0);
    for (auto a = text.begin(); text.end() - a >= n; ++a)
      for (auto b = a + 1; text.end() - b >= n; ++b)
        if (std::equal(a, a + n, b)) return true;
    return false;
  };
  for (const int beams : {1, 3})
    for (const int n : {1, 2, 3}) {
      how.beams = beams, how.no_repeat_ngram = n;
      const std::vector<hypothesis> x = searched(m, how);
      REQUIRE(!x.empty());
      for (const hypothesis& h : x) CHECK(!largest_repetition(h.tokens, n));
      if (n == 1) CHECK((x[0].end == text_end::no_token_left && x[0].tokens.size() == 6));
    }
  CHECK(largest_repetition(greedy, 3));
  CHECK(name_of(text_end::no_token_left) == "no_token_left");
  how = {.max_tokens = 40, .begin = {0}, .never = {greedy[0], greedy[1]}};
  hypothesis h = searched(m, how)[0];
  for (const i32 token : h.tokens) CHECK((token != greedy[0] && token != greedy[1]));
  how = {.max_tokens = 40, .begin = {0}, .end = {greedy[5]}};
  h = searched(m, how)[0];
  CHECK((h.end == text_end::stop_token && h.tokens.back() == greedy[5]));
  const int at = static_cast<int>(h.tokens.size());
  how.min_tokens = at;
  CHECK(searched(m, how)[0].tokens.size() > static_cast<std::size_t>(at));
  how = {.max_tokens = 40, .begin = {0}};
  CHECK(searched(m, how, 5)[0].end == text_end::context_full);
  CHECK(searched(m, how, 5)[0].tokens.size() == 5);
  how.beams = 2;
  CHECK(searched(m, how, 5)[1].end == text_end::context_full);
}

TEST_CASE("Samples of a search are drawn each for itself, the same however many there are") {
  const table_of_logits m(7, 2);
  search_settings how{.max_tokens = 12, .begin = {0}, .end = {1}};
  how.choice = {.temperature = 1.5}, how.samples = 4, how.seed = 5;
  const std::vector<hypothesis> four = searched(m, how);
  REQUIRE(four.size() == 4);
  how.samples = 2;
  const std::vector<hypothesis> two = searched(m, how);
  for (std::size_t k = 0; k < 2; ++k) CHECK(two[k].tokens == four[k].tokens);
  CHECK((four[0].tokens != four[1].tokens || four[1].tokens != four[2].tokens));
  for (const hypothesis& h : four) {
    std::vector<i32> text{0};
    f64 p = 0;
    for (const i32 token : h.tokens) {
      p += log_softmax(m({text}))[static_cast<std::size_t>(token)];
      text.push_back(token);
    }
    CHECK(h.log_probability == Approx(p).epsilon(1e-5));
    CHECK(h.score == Approx(p / static_cast<f64>(h.tokens.size())).epsilon(1e-5));
  }
  how.choice.top_k = 1;
  const search_settings greedy{.max_tokens = 12, .begin = {0}, .end = {1}};
  CHECK(searched(m, how)[1].tokens == searched(m, greedy)[0].tokens);
}

// --- the writer ---

/// The logits of the network's own forward pass.
std::vector<f32> serial_logits(const network& n, weights& w, const source_text& text,
                               const std::vector<i32>& of_decoder) {
  const std::vector<i32> labels(of_decoder.size());
  batch b{.named = {{"input_ids", text.ids}, {"decoder_input_ids", of_decoder}, {"labels", labels}},
          .sequences = 1,
          .length = static_cast<int>(text.ids.size())};
  if (!text.seen.empty()) b.named.emplace_back("attention_mask", text.seen);
  activation_store store = store_of(n, b);
  serial_forward(n, w, store);
  const matrix<f32> y = store.value(n.logits());
  return {y.first(), y.first() + i64{y.rows()} * y.columns()};
}

TEST_CASE("Every kind of encoder-decoder has the logits of its forward pass, on any number of columns") {
  const encoder_decoder m = GENERATE(values<encoder_decoder>({
      small,
      with([](encoder_decoder& x) { x.decoder_layers = 3, x.head_width = 5, x.filter = 7; }),
      with([](encoder_decoder& x) { x.attention_scale = 1, x.logit_scale = 0.3f, x.biases = true; }),
      with([](encoder_decoder& x) { x.between = nonlinearity::geglu_tanh, x.tied = false; }),
      with([](encoder_decoder& x) { x.between = nonlinearity::swiglu, x.shared_embedding = false; }),
      with([](encoder_decoder& x) {
        x.tied = false, x.shared_embedding = false, x.logit_bias = true, x.between = nonlinearity::gelu;
      }),
      with([](encoder_decoder& x) {
        x.position = position_encoding::fixed, x.norm = normalization::layernorm, x.norm_first = false;
        x.biases = x.logit_bias = true, x.embedding_scale = 4.9f;
      }),
      with([](encoder_decoder& x) {
        x.position = position_encoding::learned, x.norm = normalization::layernorm, x.biases = true;
      }),
      with([](encoder_decoder& x) { x.position = position_encoding::learned, x.shared_embedding = false; }),
      with([](encoder_decoder& x) { x.position = position_encoding::relative, x.norm_first = false; }),
      with([](encoder_decoder& x) {  // as the Model Zoo's Transformer
        x.position = position_encoding::fixed, x.norm = normalization::layernorm, x.norm_first = false;
        x.last_norm = true, x.biases = true, x.qkv_biases = x.projection_biases = false;
        x.embedding_scale = 1.7f, x.scales_waves = true;
      }),
      with([](encoder_decoder& x) {
        x.attention_scale = 0.7f, x.decoder_attention_scale = 0.3f, x.last_norm = false;
        x.qkv_biases = true;
      }),
  }));
  const network n = m.build();
  weights w = compare::shaken(n);
  for (const int length : {5, 33})
    for (const bool hides : {false, true}) {
      const std::vector<i32> read = numbered(length, 7), written = numbered(length == 5 ? 21 : 9, 11);
      std::vector<i32> seen;
      for (int t = 0; t < length && hides; ++t) seen.push_back(t % 4 != 1);
      const std::vector<f32> right = serial_logits(n, w, {read, seen}, written);
      for (const int columns : {1, 2, 3, 5}) {
        INFO(length << " tokens, " << columns << " columns");
        encoder_decoder_writer writer(m, w, {.columns = columns});
        CHECK(compare::error(writer.logits({read, seen}, written), right) < 1e-5);
        // The same token by token, behind keys and values that are kept.
        std::vector<f32> steps;
        const search_settings how{.max_tokens = 6, .begin = {written[0], written[1]}};
        const hypothesis h = writer.write({read, seen}, how, [&](const search_step& s) {
          steps.insert(steps.end(), s.logits.begin(), s.logits.end());
        })[0];
        std::vector<i32> text = how.begin;
        text.insert(text.end(), h.tokens.begin(), h.tokens.end() - 1);
        const std::vector<f32> whole = serial_logits(n, w, {read, seen}, text);
        CHECK(compare::error(steps, std::span(whole).subspan(static_cast<std::size_t>(m.vocabulary))) < 1e-5);
      }
    }
}

TEST_CASE("Beams hold what a trainer that computes every text anew would find") {
  const encoder_decoder m = GENERATE(values<encoder_decoder>({
      small,
      with([](encoder_decoder& x) {
        x.position = position_encoding::fixed, x.norm = normalization::layernorm, x.norm_first = false;
        x.biases = true;
      }),
  }));
  const weights w = compare::shaken(m.build());
  trainer t(m.build(), optimizer::sgd(), {.workers = 1, .columns = 1, .threads = 1});
  for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
  const std::size_t words = static_cast<std::size_t>(m.vocabulary);
  const next_logits predict = [&](const texts& all) {
    std::vector<i32> read, written;
    for (const std::vector<i32>& x : all) {
      read.insert(read.end(), source.begin(), source.end());
      written.insert(written.end(), x.begin(), x.end());
    }
    const std::vector<f32> y = t.predict({.named = {{"input_ids", std::span<const i32>(read)},
                                                    {"decoder_input_ids", std::span<const i32>(written)}},
                                          .sequences = static_cast<int>(all.size()),
                                          .length = static_cast<int>(source.size())});
    std::vector<f32> last;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto row = y.begin() + static_cast<std::ptrdiff_t>(((k + 1) * all[0].size() - 1) * words);
      last.insert(last.end(), row, row + static_cast<std::ptrdiff_t>(words));
    }
    return last;
  };
  for (const int columns : {1, 3}) {
    encoder_decoder_writer writer(m, w, {.columns = columns});
    for (const int beams : {2, 4, 7})
      for (const f64 penalty : {0., 0.6, 1.5}) {
        INFO(columns << " columns, " << beams << " beams, penalty " << penalty);
        const search_settings how{
            .beams = beams, .length_penalty = penalty, .max_tokens = 8, .begin = {0}, .end = {1, 4}};
        check_same(writer.write(source, how), plain_beam_search(predict, how), 1e-5);
      }
  }
}

TEST_CASE(
    "Texts are written side by side, each as it is alone, with the same bits on any number of threads") {
  const weights w = compare::shaken(small.build());
  const std::vector<i32> second = numbered(20, 3), third{5}, seen{1, 1, 0, 1, 1, 0, 1};
  const std::vector<source_text> all{{source, seen}, second, third, source};
  search_settings how{.beams = 3, .length_penalty = 0.6, .max_tokens = 10, .begin = {0}, .end = {1}};
  if (GENERATE(true, false)) {
    how.beams = 1, how.samples = 3;
    how.choice = {.temperature = 1.2, .top_k = 9};
  }
  std::vector<std::vector<hypothesis>> first;
  for (const int threads : {1, 2, 3}) {
    encoder_decoder_writer writer(small, w, {.columns = 3, .threads = threads});
    const auto found = writer.write_all(all, how);
    REQUIRE(found.size() == all.size());
    if (first.empty()) first = found;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::vector<hypothesis> alone = writer.write(all[k], how);
      REQUIRE((found[k].size() == 3 && alone.size() == 3));
      for (std::size_t i = 0; i < 3; ++i)
        for (const hypothesis& h : {alone[i], first[k][i]})
          CHECK((found[k][i].tokens == h.tokens && found[k][i].log_probability == h.log_probability));
    }
  }
  CHECK(first[0][0].log_probability != first[3][0].log_probability);
}

TEST_CASE("A writer of encoder-decoders is not used from within, and goes on afterwards") {
  const weights w = compare::shaken(small.build());
  encoder_decoder_writer writer(small, w, {.columns = 2});
  const search_settings how{.beams = 2, .max_tokens = 5, .begin = {0}};
  const std::vector<i32> text = writer.write(source, how)[0].tokens;
  CHECK_THROWS_WITH(writer.write(source, how, [&](const search_step&) { writer.write(source, how); }),
                    Contains("on_step must not call write or logits of the same writer"));
  CHECK(writer.write(source, how)[0].tokens == text);
  CHECK(writer.bytes_of_weights() > 0);

  weights damaged = w;
  damaged[0][7] = std::numeric_limits<f32>::quiet_NaN();
  CHECK_THROWS_AS(encoder_decoder_writer(small, damaged, {.columns = 2}).write(source, how), not_finite);
}

TEST_CASE("Texts, settings and weights that a writer of encoder-decoders cannot take are refused") {
  const weights w(small.build(), 5);
  encoder_decoder_writer writer(small, w, {.columns = 2});
  const search_settings usual{.beams = 2, .max_tokens = 5, .begin = {0}, .end = {1}};
  const auto refuses = [&](const std::function<void(search_settings&)>& change, const char* sentence) {
    search_settings how = usual;
    change(how);
    CHECK_THROWS_WITH(writer.write(source, how), Contains(sentence));
  };
  refuses([](search_settings& x) { x.beams = 0; }, "beams is 1 to 1024, not 0");
  refuses([](search_settings& x) { x.samples = 0; }, "samples is 1 to 1024, not 0");
  refuses([](search_settings& x) { x.samples = 2; }, "samples are for one beam");
  refuses([](search_settings& x) { x.choice.temperature = 1; }, "a temperature, a repetition penalty");
  refuses([](search_settings& x) { x.choice.temperature = -1; }, "the temperature is 0");
  refuses([](search_settings& x) { x.length_penalty = std::nan(""); }, "length_penalty is a finite number");
  refuses([](search_settings& x) { x.max_tokens = 0; }, "max_tokens is 1 or more, not 0");
  refuses([](search_settings& x) { x.min_tokens = 6; }, "min_tokens is 0 to max_tokens, 5, not 6");
  refuses([](search_settings& x) { x.no_repeat_ngram = -1; }, "no_repeat_ngram is 0, which allows all");
  refuses([](search_settings& x) { x.begin = {}; }, "begin has no token");
  refuses([](search_settings& x) { x.begin = {19}; }, "begin is of tokens of a vocabulary of 19, not 19");
  refuses([](search_settings& x) { x.end = {-1}; }, "end is of tokens of a vocabulary of 19, not -1");
  refuses([](search_settings& x) { x.never = {20}; }, "never is of tokens of a vocabulary of 19, not 20");

  const auto no_text = [&](const source_text& x, const char* sentence) {
    CHECK_THROWS_WITH(writer.write(x, usual), Contains(sentence));
  };
  const std::vector<i32> empty, unknown{3, 19}, short_mask{1, 1}, hides_all(source.size());
  no_text(empty, "has at least one token");
  no_text(unknown, "the text has token 19 of a vocabulary of 19");
  no_text({source, short_mask}, "`seen` has 2 numbers for a text of 7 tokens");
  no_text({source, hides_all}, "`seen` hides all tokens");

  encoder_decoder fixed = small;
  fixed.position = position_encoding::fixed;
  encoder_decoder_writer limited(fixed, weights(fixed.build(), 5), {.columns = 1});
  const std::vector<i32> too_long = numbered(41, 3);
  CHECK_THROWS_WITH(limited.write(too_long, usual), Contains("longer than the 40 positions"));
  search_settings long_begin = usual;
  long_begin.begin.assign(40, 1);
  CHECK_THROWS_WITH(limited.write(source, long_begin), Contains("leaves none of the 40 positions"));
  CHECK(limited.write(source, {.max_tokens = 100, .begin = {0}})[0].tokens.size() == 39);

  CHECK_THROWS_WITH(encoder_decoder_writer(small, w, {.columns = 65}), Contains("not 65"));
  CHECK_THROWS_WITH(encoder_decoder_writer(small, w, {.precision = precision::float16}),
                    Contains("not as f16"));
  CHECK_THROWS_WITH(encoder_decoder_writer(with([](encoder_decoder& x) { x.width = 32; }), w),
                    Contains("these weights are of another model: they have ") &&
                        Contains("numbers for 'encoder embedding.tokens', which is ") &&
                        Contains(" x 32 here"));
  using list = std::vector<i32>;
  static_assert(std::is_constructible_v<source_text, const list&, const list&>);
  static_assert(!std::is_constructible_v<source_text, list> &&
                !std::is_constructible_v<source_text, list&, list>);
}

}  // namespace
