// SPDX-License-Identifier: MIT
// muP's factors beside numbers that were computed by hand from the formulas of the Model Zoo, and beside
// those that it publishes; and the distributions with which weights start.
#include <wsl/ml/model/mup.hpp>
#include <wsl/ml/model/weights.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare.hpp"

namespace {
using namespace wsl;

/// Cerebras-GPT with 111 million parameters.
ml::decoder cerebras_gpt() {
  return {.vocabulary = 61,
          .positions = 16,
          .layers = 10,
          .heads = 12,
          .width = 768,
          .filter = 3072,
          .deviation = 0.08f};
}
std::map<std::string, ml::parameter> named(const ml::network& n) {
  std::map<std::string, ml::parameter> all;
  for (const ml::parameter& p : n.parameters()) all[p.name] = p;
  return all;
}

TEST_CASE("muP's factors are those of the Zoo's formulas") {
  const ml::mup_factors gpt = ml::mup_factors_for(768, 3072, 10, {.width = 256, .filter = 1024});
  // The older form of 111m_mup.yaml has the products with 0.08 in full, and 1 / 3 for logits and learning
  // rates.
  CHECK(0.08 * gpt.inside == Approx(0.046188021535170064).epsilon(1e-14));
  CHECK(0.08 * gpt.projection == Approx(0.010327955589886445).epsilon(1e-14));
  CHECK(0.08 * gpt.down == Approx(0.010327955589886445).epsilon(1e-14));
  for (const f64 third : {gpt.logits, gpt.rate, gpt.rate_down})
    CHECK(third == Approx(0.3333333333333333).epsilon(1e-14));

  // m = 4, m_filter = 2736 / 1024 = 2.671875, 2 L = 48
  const ml::mup_base base{.width = 256, .filter = 1024, .logits = 2.5f};
  const ml::mup_factors gated = ml::mup_factors_for(1024, 2736, 24, base);
  CHECK(gated.inside == 0.5);
  CHECK(gated.projection == Approx(0.07216878364870323).epsilon(1e-12));  // 1 / sqrt(192)
  CHECK(gated.down == Approx(0.08830215713766958).epsilon(1e-12));        // 1 / sqrt(128.25)
  CHECK(gated.logits == 0.625);
  CHECK(gated.rate == 0.25);
  CHECK(gated.rate_down == Approx(0.3742690058479532).epsilon(1e-12));
  CHECK(ml::mup_factors_for(1024, 2736, 24, {256, 1024, 2.5f, true}).logits == 1.25);
}

TEST_CASE("A decoder with muP has these factors, and no other parameter has one") {
  const auto all = named(with_mup(cerebras_gpt(), {.width = 256, .filter = 1024}).build());
  const auto plain = named(cerebras_gpt().build());
  REQUIRE(all.size() == plain.size());
  const std::map<std::string, std::pair<f32, f32>> expected{{"qkv.weight", {0.0461880215f, 1.f / 3}},
                                                            {"up.weight", {0.0461880215f, 1.f / 3}},
                                                            {"projection.weight", {0.0103279556f, 1.f / 3}},
                                                            {"down.weight", {0.0103279556f, 1.f / 3}}};
  int scaled = 0;
  for (const auto& [name, p] : all) {
    INFO(name);
    const std::string layer = name.starts_with("layer ") ? name.substr(name.find(' ', 6) + 1) : name;
    if (const auto found = expected.find(layer); found != expected.end()) {
      CHECK(p.start.size == Approx(found->second.first).epsilon(1e-6));
      CHECK(p.rate_factor == Approx(found->second.second).epsilon(1e-6));
      ++scaled;
    } else {
      CHECK((p.rate_factor == 1 && p.start.how == plain.at(name).start.how &&
             p.start.size == plain.at(name).start.size));
    }
  }
  CHECK(scaled == 40);
  const ml::decoder d = with_mup(cerebras_gpt(), {.width = 256, .filter = 1024});
  CHECK(d.logit_scale == Approx(1. / 3).epsilon(1e-7));
  CHECK(d.attention_scale == 1.f / 64);

  // Starts of the base model keep their kind and their bounds; factors multiply what is there.
  ml::decoder other = cerebras_gpt();
  other.between = ml::nonlinearity::swiglu, other.filter = 2048, other.attention_scale = 0.5f,
  other.logit_scale = 6;
  other.rates.down = 0.5f;
  other.starts.up = ml::initial::truncated_normal(1, -2, 3), other.starts.down = ml::initial::uniform(1);
  other.starts.embedding = ml::initial::normal(0.3f);
  const ml::decoder wide = with_mup(other, {.width = 192, .filter = 512});
  CHECK((wide.attention_scale == 0.5f && wide.logit_scale == 1.5f));
  const auto parts = named(wide.build());
  for (const char* name : {"layer 3 up.weight", "layer 3 gate.weight"}) {
    const ml::initial s = parts.at(name).start;
    CHECK(
        (s.how == ml::initial::kind::truncated_normal && s.size == 0.5f && s.least == -1 && s.most == 1.5f));
    CHECK(parts.at(name).rate_factor == 0.25f);
  }
  const ml::parameter& down = parts.at("layer 3 down.weight");
  CHECK((down.start.how == ml::initial::kind::uniform && down.rate_factor == 0.125f));
  CHECK(down.start.size == Approx(1 / std::sqrt(80.)).epsilon(1e-6));
  for (const char* name : {"embedding.tokens", "embedding.positions"})
    CHECK(parts.at(name).start.size == 0.3f);
}

TEST_CASE("A model of the base's size learns at the base's rates") {
  const ml::decoder d = cerebras_gpt(), same = with_mup(d, {.width = 768, .filter = 3072});
  const auto plain = named(d.build());
  for (const auto& [name, p] : named(same.build())) {
    INFO(name);
    CHECK(p.rate_factor == 1);
    CHECK(p.start.size == Approx(plain.at(name).start.size).epsilon(1e-6));
  }
  CHECK(same.logit_scale == 1);
}

/// BERT of 24 layers, twice as wide as its base in both ways.
ml::encoder bert() {
  return {.vocabulary = 61,
          .positions = 8,
          .layers = 24,
          .heads = 4,
          .width = 64,
          .filter = 512,
          .deviation = 0.02f,
          .task = ml::encoder_task::next_sentence};
}

TEST_CASE("An encoder with muP has the factors of the Zoo's BERT, and no other parameter has one") {
  // m = 2, m_filter = 4, 2 L = 48
  const ml::encoder wide = with_mup(bert(), {.width = 32, .filter = 128, .logits = 3});
  CHECK((wide.logit_scale == 1.5f && wide.attention_scale == 1.f / 16));
  CHECK(with_mup(bert(), {32, 128, 3, true}).logit_scale == Approx(3 / std::sqrt(2.)).epsilon(1e-6));
  const auto all = named(wide.build()), plain = named(bert().build());
  REQUIRE(all.size() == plain.size());
  const std::map<std::string, std::pair<f64, f64>> expected{
      {"qkv.weight", {0.02 / std::sqrt(2.), 0.5}},
      {"up.weight", {0.02 / std::sqrt(2.), 0.5}},
      {"projection.weight", {0.02 / std::sqrt(96.), 0.5}},
      {"down.weight", {0.02 / std::sqrt(192.), 0.25}},
      {"pooler.weight", {0.02 / std::sqrt(2.), 0.5}}};
  int scaled = 0;
  for (const auto& [name, p] : all) {
    INFO(name);
    const std::string layer = name.starts_with("layer ") ? name.substr(name.find(' ', 6) + 1) : name;
    const auto found = expected.find(layer);
    CHECK(p.start.size ==
          Approx(found == expected.end() ? static_cast<f64>(plain.at(name).start.size) : found->second.first)
              .epsilon(1e-6));
    CHECK(p.rate_factor == Approx(found == expected.end() ? 1 : found->second.second).epsilon(1e-6));
    scaled += found != expected.end();
  }
  CHECK(scaled == 97);
}

ml::encoder_decoder t5() {
  return {.vocabulary = 61,
          .layers = 2,
          .heads = 2,
          .width = 64,
          .decoder_layers = 8,
          .filter = 128,
          .head_width = 16,
          .tied = false};
}

TEST_CASE("An encoder with a decoder has the factors of the Zoo's T5") {
  // m = 4, m_filter = 2
  const ml::mup_base base{.width = 16, .filter = 64, .logits = 3, .logits_by_root = true};
  ml::encoder_decoder narrow = t5();
  narrow.attention_scale = 4. / 16, narrow.embedding_scale = 2;
  const ml::encoder_decoder wide = with_mup(narrow, base);
  CHECK((wide.embedding_scale == 16 && wide.logit_scale == 1.5f));
  // 4 / 16 beside the factors m^-1/2 of queries and of keys
  CHECK((wide.scale_of_scores(false) == 1.f / 16 && wide.scale_of_scores(true) == 1.f / 16));
  const ml::network n = wide.build();
  const auto all = named(n);
  const auto has = [&](const std::string& name, f64 deviation, f64 rate) {
    INFO(name);
    CHECK(all.at(name).start.size == Approx(deviation).epsilon(1e-6));
    CHECK(all.at(name).rate_factor == Approx(rate).epsilon(1e-6));
  };
  for (const char* table : {"encoder embedding.tokens", "head.weight"}) has(table, 1. / 8, 0.5);
  CHECK(all.at("encoder layer 0 attention.relative").rate_factor == 0.5f);
  for (const auto& [side, depth] : {std::pair(std::string("encoder "), 4.), {"decoder ", 16.}}) {
    const std::string layer = side + "layer 1 ";
    has(layer + "qkv.weight", 1. / 8, 0.5), has(layer + "projection.weight", 1 / std::sqrt(64 * depth), 0.5);
    has(layer + "up.weight", 1. / 8, 0.25), has(layer + "down.weight", 1 / std::sqrt(128 * depth), 0.5);
    CHECK(all.at(layer + "norm 1.gain").rate_factor == 1);
  }
  has("decoder layer 7 cross queries.weight", 1. / 32, 0.5);
  has("decoder layer 7 cross keys.weight", 1. / 8, 0.5);
  has("decoder layer 7 cross projection.weight", 1. / 32, 0.5);

  // Of queries, keys and values together the first rows, the queries, start smaller by the root of 16.
  const ml::weights w(n, 3);
  const std::size_t at = static_cast<std::size_t>(
      std::find_if(n.parameters().begin(), n.parameters().end(),
                   [](const ml::parameter& p) { return p.name == "encoder layer 0 qkv.weight"; }) -
      n.parameters().begin());
  const auto deviation = [&](int first, int end) {
    f64 sum = 0;
    for (int k = 64 * first; k < 64 * end; ++k)
      sum += std::pow(static_cast<f64>(w[at][static_cast<std::size_t>(k)]), 2);
    return std::sqrt(sum / (64 * (end - first)));
  };
  CHECK(deviation(0, 32) == Approx(1. / 32).epsilon(0.05));
  CHECK(deviation(32, 96) == Approx(1. / 8).epsilon(0.05));

  // Where heads vary, too, they are hidden matrices.
  const ml::encoder_decoder heads = with_mup(t5(), {.width = 16, .filter = 64, .head = 4});
  CHECK((heads.scale_of_scores(false) == 1.f / 16 && heads.scale_of_scores(true) == 1.f / 16));
  CHECK((heads.rates.attention == 0.25f && heads.rates.projection == 0.25f && heads.rates.tables == 0.5f));
  CHECK(heads.encoder_starts.projection->size == Approx(1 / std::sqrt(4. * 32)).epsilon(1e-6));
  CHECK(heads.logit_scale == 0.25f);
}

TEST_CASE("muP without a size says which is missing") {
  CHECK_THROWS_WITH(with_mup(bert(), {.width = 32}),
                    "wsl: muP: the filter of the base model is positive, not 0");
  CHECK_THROWS_WITH(with_mup(t5(), {.filter = 32}),
                    "wsl: muP: the width of the base model is positive, not 0");

  CHECK_THROWS_WITH(with_mup(cerebras_gpt(), {.width = 256}),
                    "wsl: muP: the filter of the base model is positive, not 0");
  CHECK_THROWS_WITH(with_mup(cerebras_gpt(), {.filter = 256}),
                    "wsl: muP: the width of the base model is positive, not 0");
  CHECK_THROWS_WITH(ml::with_mup(ml::decoder(), {.width = 256, .filter = 8}),
                    "wsl: muP: the width of the model is positive, not 0");
  CHECK_THROWS_WITH(with_mup(cerebras_gpt(), {.width = 256, .filter = 8, .logits = -1}),
                    "wsl: muP: the factor of the logits is positive and finite, not -1");
}

TEST_CASE("Truncated normal numbers lie within their bounds and have the variance of the distribution") {
  const auto moments = [](const ml::initial& start) {
    std::vector<f32> x(200000);
    ml::initialize(x, start, 5);
    f64 sum = 0, squares = 0;
    for (const f32 v : x) {
      REQUIRE((v >= start.least && v <= start.most));
      sum += static_cast<f64>(v), squares += static_cast<f64>(v) * static_cast<f64>(v);
    }
    const f64 n = static_cast<f64>(x.size()), mean = sum / n;
    return std::pair(mean, squares / n - mean * mean);
  };
  // The variance within 2 deviations is 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737413.
  const auto [mean, variance] = moments(ml::initial::truncated_normal(0.08f, -0.16f, 0.16f));
  CHECK(std::abs(mean) < 5e-4);
  CHECK(variance == Approx(0.0064 * 0.7737413).epsilon(0.01));
  // Within narrow bounds the distribution is nearly uniform: (b - a)^2 / 12 with its middle at (a + b) / 2.
  const auto [middle, narrow] = moments(ml::initial::truncated_normal(10, -0.1f, 0.3f));
  CHECK(middle == Approx(0.1).epsilon(0.01));
  CHECK(narrow == Approx(0.16 / 12).epsilon(0.01));
  // One-sided: with a bound far away at one side half of the normal distribution is nearly all that is left.
  const auto [right, half] = moments(ml::initial::truncated_normal(1, -1e-6f, 100));
  CHECK(right == Approx(std::sqrt(2 / M_PI)).epsilon(0.01));
  CHECK(half == Approx(1 - 2 / M_PI).epsilon(0.015));
  for (const auto& [deviation, least, most] :
       {std::tuple(0.f, -1.f, 1.f), {1.f, 0.f, 1.f}, {1.f, -1.f, 0.f}, {1.f, 1.f, -1.f}})
    CHECK_THROWS_WITH(
        ml::initial::truncated_normal(deviation, least, most),
        "wsl: a truncated normal distribution has a positive deviation, a bound below 0 and one above it");
}

}  // namespace
