// SPDX-License-Identifier: MIT
// Learning from preferences: log-probabilities of sequences, the losses of pairs wherever both sequences are,
// and the models that learn with them.
#include <catch2/catch.hpp>
#include <cmath>
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/preference.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using Catch::Contains;
using ml::preference_kind;
using how = ml::preference_loss_settings;
constexpr i32 no = ml::decoder::no_label;

const how all_kinds[] = {{.kind = preference_kind::sigmoid, .beta = 0.3f},
                         {.kind = preference_kind::sigmoid, .beta = 0.5f, .label_smoothing = 0.2f},
                         {.kind = preference_kind::sigmoid, .beta = 1, .reference_free = true},
                         {.kind = preference_kind::hinge, .beta = 0.2f},
                         {.kind = preference_kind::ipo, .beta = 0.4f},
                         {.kind = preference_kind::dpop, .beta = 0.3f},
                         {.kind = preference_kind::dpop, .beta = 0.3f, .penalty = 1.5f}};
std::string name_of(const how& h) {
  return fmt::format("kind {}, beta {}, smoothing {}", static_cast<int>(h.kind), h.beta, h.label_smoothing);
}

/// The loss of some pairs as the papers write it, in f64.
f64 plain_loss(const how& h, const std::vector<f64>& p, const std::vector<f64>& q) {
  const auto log_sigmoid = [](f64 x) { return -std::log(1 + std::exp(-x)); };
  const f64 beta = static_cast<f64>(h.beta), wrong = static_cast<f64>(h.label_smoothing);
  f64 sum = 0;
  for (std::size_t k = 0; k < p.size(); k += 2) {
    const f64 margin = (p[k] - p[k + 1]) - (h.reference_free ? 0 : q[k] - q[k + 1]);
    if (h.kind == preference_kind::sigmoid)
      sum -= (1 - wrong) * log_sigmoid(beta * margin) + wrong * log_sigmoid(-beta * margin);
    if (h.kind == preference_kind::hinge) sum += std::max(0., 1 - beta * margin);
    if (h.kind == preference_kind::ipo) sum += std::pow(margin - 1 / (2 * beta), 2);
    if (h.kind == preference_kind::dpop)
      sum -=
          log_sigmoid(beta * (margin - static_cast<f64>(h.penalty.value_or(5)) * std::max(0., q[k] - p[k])));
  }
  return sum / (static_cast<f64>(p.size()) / 2);
}

/// A model whose input are the log-probabilities themselves.
ml::network of_numbers(const how& h) {
  ml::network n;
  n.preference("loss", n.input("numbers", 1, n.axis_of_sequences()), h);
  return n;
}
struct numbers {
  std::vector<f32> p, q;
  explicit numbers(int sequences) {
    for (int k = 0; k < sequences; ++k)
      p.push_back(static_cast<f32>(4 * std::sin(1 + 1.7 * k))),
          q.push_back(static_cast<f32>(4 * std::cos(0.3 + 2.1 * k)));
  }
  ml::batch all(const how& h) const {
    ml::batch b{.sequences = static_cast<int>(p.size()), .length = 1};
    b.named = {{"numbers", std::span(p)}};
    if (!h.reference_free) b.named.emplace_back("reference_log_probs", std::span(q));
    return b;
  }
};

TEST_CASE("The losses of preferences are those of their formulas, with the gradients of differences") {
  for (const how& h : all_kinds) {
    INFO(name_of(h));
    const numbers x(8);
    const ml::network n = of_numbers(h);
    ml::weights w(n), gradients(n);
    ml::batch b = x.all(h);
    const f64 counts = ml::check(n, b);
    ml::activation_store store = ml::store_of(n, b);
    store.gradients_of_inputs = store.random.on = true;
    std::vector<f64> p(x.p.begin(), x.p.end());
    const std::vector<f64> q(x.q.begin(), x.q.end());
    CHECK(ml::serial_forward(n, w, store) / counts == Approx(plain_loss(h, p, q)).epsilon(1e-6));
    ml::serial_backward(n, w, gradients, store);
    for (std::size_t k = 0; k < p.size(); ++k) {
      const f64 at = p[k], step = 1e-5;
      p[k] = at + step;
      const f64 above = plain_loss(h, p, q);
      p[k] = at - step;
      const f64 slope = (above - plain_loss(h, p, q)) / (2 * step);
      p[k] = at;
      CHECK(static_cast<f64>(store.gradient(0)(static_cast<int>(k), 0)) ==
            Approx(slope).epsilon(1e-4).margin(1e-6));
    }
    ml::check_gradients(n).require();
  }
}

TEST_CASE("The losses of preferences are finite where pairs are far apart") {
  for (const how& h : all_kinds)
    for (const f64 far : {-1e4, 1e4}) {
      INFO(name_of(h) << " at " << far);
      const ml::pair_loss x = ml::preference_of_pair(h, far, -far);
      CHECK((std::isfinite(x.loss) && std::isfinite(x.of_chosen) && std::isfinite(x.of_rejected)));
    }
  const ml::pair_loss wrong = ml::preference_of_pair({.beta = 1}, -50, 50);
  CHECK(wrong.loss == Approx(100));
  CHECK(wrong.of_chosen == Approx(-1));
}

/// A model of log-probabilities alone, whose input are the logits.
ml::network of_logits(bool mean, int classes = 7) {
  ml::network n;
  n.predicts(n.log_probability("log-probability", n.input("logits", classes), {.mean = mean}));
  return n;
}

TEST_CASE("Log-probabilities of sequences are sums, or means, over the tokens that count") {
  constexpr int sequences = 4, length = 5, classes = 7;
  std::vector<f32> logits;
  for (int i = 0; i < sequences * length * classes; ++i)
    logits.push_back(static_cast<f32>(3 * std::sin(0.4 * i * i)));
  std::vector<i32> labels;
  for (int i = 0; i < sequences * length; ++i) labels.push_back(i % 3 == 1 ? no : (i * 5) % classes);
  std::fill(labels.begin() + 2 * length, labels.begin() + 3 * length, no);
  for (const bool mean : {false, true}) {
    const ml::network n = of_logits(mean);
    ml::batch b{.sequences = sequences, .length = length};
    b.named = {{"logits", std::span<const f32>(logits)}, {"labels", std::span<const i32>(labels)}};
    ml::check_gradients(n, ml::weights(n), b).require();
    ml::trainer t(of_logits(mean), ml::optimizer::sgd(), {.workers = 2, .columns = 1});
    const std::vector<f32> found = t.predict(b);
    REQUIRE(found.size() == sequences);
    for (std::size_t s = 0; s < sequences; ++s) {
      f64 sum = 0;
      int count = 0;
      for (std::size_t k = s * length; k < (s + 1) * length; ++k) {
        if (labels[k] == no) continue;
        f64 total = 0;
        for (std::size_t c = 0; c < classes; ++c)
          total += std::exp(static_cast<f64>(logits[k * classes + c]));
        sum += static_cast<f64>(logits[k * classes + static_cast<std::size_t>(labels[k])]) - std::log(total);
        ++count;
      }
      CHECK(static_cast<f64>(found[s]) == Approx(mean && count ? sum / count : sum).epsilon(1e-6));
    }
    CHECK(found[2] == 0);
  }
}

ml::decoder small(bool tied = true) {
  return {.vocabulary = 19,
          .positions = 12,
          .layers = 2,
          .heads = 4,
          .width = 16,
          .deviation = 0.2f,
          .tied = tied};
}
/// Pairs of texts, with prompts of several lengths and padding.
struct texts {
  int sequences, length = 9;
  std::vector<i32> ids, labels, seen;
  std::vector<f32> reference;

  explicit texts(int n, bool mean = false) : sequences(n) {
    u32 x = 12345;
    const auto draw = [&](u32 below) {
      x = x * 1664525 + 1013904223;
      return static_cast<i32>((x >> 8) % below);
    };
    for (int s = 0; s < n; ++s) {
      const int prompt = 2 + s / 2 % 3, end = 6 + s % 4;
      for (int t = 0; t < length; ++t) {
        ids.push_back(draw(19));
        labels.push_back(t + 1 >= prompt && t < end ? draw(19) : no);
        seen.push_back(t < end);
      }
      reference.push_back((mean ? -3.f : -15.f) + 0.5f * static_cast<f32>(std::sin(2.3 * s)));
    }
  }
  ml::batch all() const {
    ml::batch b{.sequences = sequences, .length = length};
    b.named = {{"ids", std::span(ids)},
               {"labels", std::span(labels)},
               {"reference_log_probs", std::span(reference)}};
    return b;
  }
  ml::batch scored() const {
    ml::batch b{.sequences = sequences, .length = length};
    b.named = {{"ids", std::span(ids)}, {"attention_mask", std::span(seen)}};
    return b;
  }
};

TEST_CASE("Gradients of models of preferences are those of differences") {
  for (const how& h : all_kinds) {
    INFO(name_of(h));
    texts t(4, h.kind == preference_kind::ipo);
    ml::batch b = t.all();
    if (h.reference_free) b.named.pop_back();
    const ml::network n = ml::preference_model{small(), h}.build();
    ml::check_gradients(n, ml::weights(n, 5), b, {.tolerance = 5e-3, .entries = 6}).require();
  }
  const ml::network n = ml::reward_model{small()}.build();
  ml::check_gradients(n, ml::detail::varied_weights(n, 1), texts(4).scored(), {.entries = 8}).require();
}

/// The losses of some steps and of an evaluation, what is predicted, and the weights.
struct trained {
  std::vector<f64> numbers;
  ml::weights w;

  f64 distance_of_weights(const trained& other) const {
    f64 most = 0;
    for (std::size_t k = 0; k < w.size(); ++k)
      for (std::size_t i = 0; i < w[k].size(); ++i)
        most = std::max(most, std::abs(static_cast<f64>(w[k][i]) - static_cast<f64>(other.w[k][i])));
    return most;
  }
};
trained train(ml::network n, const ml::batch& b, const ml::streaming_settings& on) {
  ml::trainer by(std::move(n), ml::optimizer::sgd({.momentum = 0.9f}), on);
  std::vector<f64> all;
  for (int k = 0; k < 3; ++k) all.push_back(by.step(b, 0.02));
  all.push_back(by.evaluate(b));
  const std::vector<f32> found = by.predict(b);
  CHECK(found.size() == static_cast<std::size_t>(b.sequences));
  all.insert(all.end(), found.begin(), found.end());
  return {all, by.parameters()};
}
/// A model of preferences of each kind, and a reward model.
template <class F>
void each_model(F f) {
  for (const how& h : all_kinds) {
    if (h.reference_free) continue;
    INFO(name_of(h));
    const texts t(8, h.kind == preference_kind::ipo);
    f([&] { return ml::preference_model{small(h.beta < 0.35f), h}.build(); }, t.all());
  }
  INFO("a reward model");
  const texts t(8);
  f([&] { return ml::reward_model{small()}.build(); }, t.scored());
}

struct grid {
  int rows, columns, wafers;
};
TEST_CASE("Pairs are compared on any rows, columns and wafers") {
  each_model([](auto build, const ml::batch& b) {
    const trained one = train(build(), b, {.workers = 1, .columns = 1});
    CHECK(one.numbers[2] < one.numbers[0]);
    for (const grid& g : {grid{2, 1, 1},
                          {1, 2, 1},
                          {2, 2, 1},
                          {3, 2, 1},
                          {5, 1, 1},
                          {2, 3, 1},
                          {1, 1, 2},
                          {3, 1, 4},
                          {2, 2, 2}}) {
      INFO(g.rows << " x " << g.columns << " workers on " << g.wafers << " wafers");
      const trained x =
          train(build(), b, {.workers = g.rows * g.columns, .columns = g.columns, .num_csx = g.wafers});
      for (std::size_t k = 0; k < x.numbers.size(); ++k)
        CHECK(x.numbers[k] == Approx(one.numbers[k]).epsilon(1e-4).margin(2e-5));
      CHECK(x.distance_of_weights(one) < 2e-5);
    }
  });
}

TEST_CASE("Both sequences of a pair may lie on different wafers") {
  const texts t(6);
  const auto build = [] { return ml::preference_model{small(), {.beta = 0.2f}}.build(); };
  const trained one = train(build(), t.all(), {.workers = 1}),
                x = train(build(), t.all(), {.workers = 2, .columns = 1, .num_csx = 2});
  for (std::size_t k = 0; k < x.numbers.size(); ++k)
    CHECK(x.numbers[k] == Approx(one.numbers[k]).epsilon(1e-5));
  CHECK(x.distance_of_weights(one) < 1e-5);
}

TEST_CASE(
    "Preferences give the same bits on any number of threads, and where activations are computed again") {
  each_model([](auto build, const ml::batch& b) {
    const trained one = train(build(), b, {.workers = 6, .columns = 2, .threads = 1});
    for (const int threads : {2, 3}) {
      const trained x = train(build(), b, {.workers = 6, .columns = 2, .threads = threads});
      CHECK(x.numbers == one.numbers);
      CHECK(x.distance_of_weights(one) == 0);
    }
    const trained again = train(build(), b, {.workers = 6, .columns = 2, .threads = 2, .recompute = true});
    CHECK(again.numbers == one.numbers);
    CHECK(again.distance_of_weights(one) == 0);
  });
}

TEST_CASE("Micro-batches have whole pairs", "[large]") {
  each_model([](auto build, const ml::batch& b) {
    const trained one = train(build(), b, {.workers = 1});
    // 3 sequences would be a pair and a half.
    for (const auto& [size, wafers] : {std::pair{2, 1}, {3, 1}, {6, 1}, {2, 2}, {4, 1}}) {
      INFO("micro-batches of " << size << " on " << wafers << " wafers");
      const trained x =
          train(build(), b, {.workers = 2, .columns = 1, .num_csx = wafers, .micro_batch_size = size});
      for (std::size_t k = 0; k < x.numbers.size(); ++k)
        CHECK(x.numbers[k] == Approx(one.numbers[k]).epsilon(1e-4).margin(2e-5));
      CHECK(x.distance_of_weights(one) < 2e-5);
    }
  });
}

TEST_CASE("Log-probabilities are not rounded in mixed precision") {
  // Of numbers near -1000 a format of 16 bits keeps every eighth.
  how h{.beta = 0.5f};
  ml::network n;
  const int axis = n.axis_of_sequences();
  n.preference("loss", n.linear("sum", n.input("numbers", 2, axis), 1, false, ml::initial::constant(1)), h);
  ml::trainer t(std::move(n), ml::optimizer::sgd(),
                {.workers = 2, .columns = 1, .precision = ml::precision::bfloat16});
  const std::vector<f32> x{-1024, -1, -1024, -2}, q{-1024, -1024};
  ml::batch b{.sequences = 2, .length = 1};
  b.named = {{"numbers", std::span(x)}, {"reference_log_probs", std::span(q)}};
  CHECK(t.evaluate(b) == Approx(std::log(1 + std::exp(-0.5))).epsilon(1e-6));
}

TEST_CASE("Models of preferences learn what is preferred, and say how far") {
  const texts t(8);
  const ml::preference_model m{small(), {.beta = 0.1f}};
  ml::trainer reference(m.log_probabilities(), ml::optimizer::sgd(), {.workers = 2, .columns = 1}),
      policy(m.build(), ml::optimizer::adam(), {.workers = 4, .columns = 2});
  policy.parameters() = ml::weights(reference.parameters());
  const std::vector<f32> q = ml::reference_log_probabilities(reference, t.all());
  const std::vector<f32> first = ml::reference_log_probabilities(policy, t.all());
  for (std::size_t k = 0; k < q.size(); ++k)
    CHECK(static_cast<f64>(first[k]) == Approx(static_cast<f64>(q[k])).epsilon(1e-6));
  ml::batch b = t.all();
  b.named.back() = {"reference_log_probs", std::span(q)};
  CHECK(policy.evaluate(b) == Approx(std::log(2.)).epsilon(1e-4));
  for (int k = 0; k < 30; ++k) policy.step(b, 2e-3);
  ml::preference_metrics seen;
  const std::vector<f32> p = policy.predict(b);
  seen.add(p, q, 0.1);
  CHECK(seen.pairs() == 4);
  CHECK(seen.accuracy() == 1);
  CHECK(seen.margin() > 0.5);
  CHECK(seen.margin() == Approx(seen.chosen() - seen.rejected()));
  f64 chosen = 0;
  for (std::size_t k = 0; k < p.size(); k += 2)
    chosen += 0.1 * (static_cast<f64>(p[k]) - static_cast<f64>(q[k])) / 4;
  CHECK(seen.chosen() == Approx(chosen));
  CHECK(policy.evaluate(b) < 0.5);
  CHECK_THROWS_WITH(seen.add(std::span(p).first(3), {}, 1), Contains("pairs of sequences"));
}

TEST_CASE("A step gives the numbers before it, of all micro-batches") {
  const texts t(8);
  const ml::preference_model m{small(), {.beta = 0.1f, .reference_free = true}};
  ml::batch b = t.all();
  std::erase_if(b.named, [](const ml::named_numbers& x) { return x.name == ml::reference_log_probs; });
  for (const ml::streaming_settings& on :
       {ml::streaming_settings{.workers = 4, .columns = 2},
        {.workers = 2, .columns = 1, .micro_batch_size = 2},
        {.workers = 2, .columns = 1, .num_csx = 2, .micro_batch_size = 3}}) {
    ml::trainer policy(m.build(), ml::optimizer::adam(), on);
    const std::vector<f32> before = policy.predict(b);
    std::vector<f32> seen(before.size());
    policy.step(b, 1e-2, [&](i64 first, std::span<const f32> some) {
      std::copy(some.begin(), some.end(), seen.begin() + first);
    });
    CHECK(seen == before);
    CHECK(policy.predict(b) != before);
  }
}

TEST_CASE("Metrics of preferences go on from those so far") {
  const std::vector<f32> p{1, 2, 4, 3, 0, -1}, q{0, 0, 1, 1, 2, 2};
  const auto part = [](const std::vector<f32>& x, std::size_t first, std::size_t count) {
    return std::span(x).subspan(first, count);
  };
  ml::preference_metrics whole, first;
  whole.add(p, q, 0.5), first.add(part(p, 0, 2), part(q, 0, 2), 0.5);
  ml::preference_metrics rest(first.so_far());
  rest.add(part(p, 2, 4), part(q, 2, 4), 0.5);
  CHECK(rest.pairs() == 3);
  CHECK(rest.accuracy() == whole.accuracy());
  CHECK(rest.accuracy() == Approx(2 / 3.));
  CHECK(rest.margin() == whole.margin());
  CHECK(rest.chosen() == Approx((0.5 + 1.5 - 1) / 3));
  CHECK(rest.log_probability_of_rejected() == Approx(4 / 3.));
}

TEST_CASE("With adapters the reference is the model without them") {
  const texts t(4);
  const ml::preference_model m{small(), {.beta = 0.1f}};
  const ml::adapter_settings adapters{.rank = 2, .layers = {{"layer * qkv"}}};
  const ml::network plain = m.log_probabilities();
  ml::network tuned = m.build(adapters);
  ml::weights w(plain, 3);
  const ml::weights begun = ml::with_adapters(plain, w, tuned, 4);
  ml::trainer policy(std::move(tuned), ml::optimizer::adam(), {.workers = 2, .columns = 1});
  policy.parameters() = begun;
  const std::vector<f32> q = ml::reference_log_probabilities(policy, t.all());
  ml::batch b = t.all();
  b.named.back() = {"reference_log_probs", std::span(q)};
  CHECK(policy.evaluate(b) == Approx(std::log(2.)).epsilon(1e-6));
  for (int k = 0; k < 20; ++k) policy.step(b, 1e-2);
  CHECK(policy.evaluate(b) < 0.6);
  // The weights beneath have not learned.
  ml::trainer reference(m.log_probabilities(), ml::optimizer::sgd(), {.workers = 2, .columns = 1});
  reference.parameters() = ml::beneath_adapters(policy.model(), policy.parameters(), reference.model());
  CHECK(ml::reference_log_probabilities(reference, t.all()) == q);
}

TEST_CASE("A reward model scores single texts, by the last token that is there") {
  texts t(4);
  ml::trainer by(ml::reward_model{small()}.build(), ml::optimizer::adam(), {.workers = 2, .columns = 1});
  for (int k = 0; k < 40; ++k) by.step(t.scored(), 1e-2);
  const std::vector<f32> all = by.predict(t.scored());
  CHECK(all[0] > all[1]);
  CHECK(all[2] > all[3]);
  // Padding changes nothing, and the number of texts may be odd.
  for (std::size_t k = 0; k < t.ids.size(); ++k)
    if (!t.seen[k]) t.ids[k] = 7;
  const ml::batch three = ml::sequences_of(t.scored(), 0, 3);
  const std::vector<f32> some = by.predict(three);
  REQUIRE(some.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(some[k] == Approx(all[k]).epsilon(1e-5));
  std::fill(t.seen.begin(), t.seen.begin() + t.length, 0);
  CHECK_THROWS_WITH(by.predict(t.scored()), Contains("of one it leaves none: leave that sequence out"));
  // With adapters, the score learns as well.
  const ml::network tuned = ml::reward_model{small()}.build({.rank = 2, .layers = {{"layer * qkv"}}});
  CHECK(tuned.trained_count() == 16 + 2 * (2 * 16 + 48 * 2));
}

TEST_CASE("A reward model begins with the weights of a decoder") {
  for (const bool tied : {true, false}) {
    const ml::network plain = small(tied).build();
    const ml::weights w(plain, 3);
    for (const ml::adapter_settings& adapters :
         {ml::adapter_settings{}, {.rank = 2, .layers = {{"layer * qkv"}}}}) {
      const ml::network rewards = ml::reward_model{small(tied)}.build(adapters);
      const ml::weights all = ml::with_score(plain, w, rewards, 4), anew(rewards, 4);
      std::size_t taken = 0;
      for (std::size_t k = 0; k < all.size(); ++k)
        for (std::size_t i = 0; i < w.size(); ++i)
          if (plain.parameters()[i].name == rewards.parameters()[k].name) {
            CHECK(all[k] == w[i]);
            ++taken;
          }
      CHECK(taken == w.size() - !tied);  // all but a head of its own
      CHECK(all[all.size() - 1] == anew[all.size() - 1]);
    }
  }
  const ml::network plain = small().build();
  ml::decoder other = small();
  other.filter = 20;
  CHECK_THROWS_WITH(ml::with_score(plain, ml::weights(plain), ml::reward_model{other}.build(), 1),
                    Contains("take one of the same form"));
}

TEST_CASE("Batches without whole pairs, and settings that cannot be, are refused") {
  const how h{};
  const auto with = [&](int sequences, const ml::streaming_settings& on) {
    const texts t(sequences);
    ml::trainer(ml::preference_model{small(), h}.build(), ml::optimizer::sgd(), on).step(t.all(), 0.1);
  };
  CHECK_THROWS_WITH(
      with(3, {.workers = 1}),
      Contains("loss takes sequences in groups of 2 that follow each other, and the batch has 3"));
  CHECK_THROWS_WITH(with(4, {.workers = 1, .micro_batch_size = 1}),
                    Contains("a micro_batch_size of at least 2"));
  CHECK_THROWS_WITH(with(6, {.workers = 1, .num_csx = 2, .micro_batch_size = 2}),
                    Contains("no whole groups on each of 2 wafers: take a batch that 4 divides"));
  CHECK_THROWS_WITH(ml::pipelined_trainer(ml::preference_model{small(), h}.build(), ml::optimizer::sgd()),
                    Contains("needs sums over the whole batch"));
  const std::pair<how, const char*> wrong[]{
      {{.beta = 0}, "has a beta above 0, not 0"},
      {{.label_smoothing = 0.5f}, "at least 0 and below 0.5, not 0.5"},
      {{.kind = preference_kind::ipo, .label_smoothing = 0.1f}, "which only the loss sigmoid does"},
      {{.penalty = 2.f}, "which only the loss dpop has"},
      {{.kind = preference_kind::dpop, .penalty = -1.f}, "a penalty of at least 0, not -1"},
      {{.kind = preference_kind::dpop, .reference_free = true}, "compares with a reference"},
      {{.reference_free = true, .reference = 0}, "leave one of both out"}};
  for (const auto& [settings, sentence] : wrong) CHECK_THROWS_WITH(of_numbers(settings), Contains(sentence));
  ml::network n;
  const int tokens = n.input("tokens", 1), classes = n.classes("classes", 1);
  CHECK_THROWS_WITH(n.preference("loss", tokens), Contains("compares one number of each sequence"));
  CHECK_THROWS_WITH(n.log_probability("of", tokens, {.targets = classes}),
                    Contains("which a batch has that is predicted"));
}
}  // namespace
