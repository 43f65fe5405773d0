// SPDX-License-Identifier: MIT
// Dense passage retrieval: a loss that compares all passages of a batch, wherever they are, and the pair of
// encoders that learns with it.
#include <catch2/catch.hpp>
#include <cmath>
#include <wsl/ml/model/check_gradients.hpp>
#include <wsl/ml/model/dual_encoder.hpp>
#include <wsl/ml/optim/optimizer.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

namespace {
using namespace wsl;
using Catch::Contains;

/// Vectors of questions and of their passages, that of passage k as the input "passage k".
struct vectors {
  int questions, passages, width;
  std::vector<f32> q;
  std::vector<std::vector<f32>> p;
  std::vector<i32> seen;

  vectors(int n, int of_each, int features) : questions(n), passages(of_each), width(features) {
    for (int i = 0; i < n * features; ++i) q.push_back(static_cast<f32>(std::sin(1 + 1.3 * i)));
    p.resize(static_cast<std::size_t>(of_each));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < of_each; ++j) {
        for (int k = 0; k < features; ++k)
          p[static_cast<std::size_t>(j)].push_back(
              static_cast<f32>(std::cos(0.7 * ((i * of_each + j) * features + k))));
        seen.push_back(!(i == 2 && j == 1));
      }
  }
  ml::network model(ml::retrieval_settings how = {}) const {
    ml::network n;
    const int axis = n.axis_of_sequences(), question = n.input("question", width, axis);
    std::vector<int> all;
    for (int j = 0; j < passages; ++j) all.push_back(n.input(fmt::format("passage {}", j), width, axis));
    how.mask = n.optional_ids("seen", 2, passages, axis);
    n.retrieval("loss", question, all, how);
    return n;
  }
  ml::batch all() const {
    ml::batch b{.sequences = questions, .length = 1};
    b.named = {{"question", std::span(q)}, {"seen", std::span(seen)}};
    static constexpr const char* names[] = {"passage 0", "passage 1", "passage 2"};
    for (std::size_t j = 0; j < p.size(); ++j) b.named.emplace_back(names[j], std::span(p[j]));
    return b;
  }
};

/// The loss and its gradients in f64, score by score.
struct plain {
  f64 loss = 0;
  std::vector<f64> dq, dp;  // (questions, width), (questions, passages, width)

  plain(const vectors& v, const ml::retrieval_settings& how) {
    const auto n = static_cast<std::size_t>(v.questions), of_each = static_cast<std::size_t>(v.passages),
               w = static_cast<std::size_t>(v.width);
    std::vector<f64> q(v.q.begin(), v.q.end()), p;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < of_each; ++j)
        p.insert(p.end(), v.p[j].begin() + static_cast<std::ptrdiff_t>(i * w),
                 v.p[j].begin() + static_cast<std::ptrdiff_t>((i + 1) * w));
    dq.resize(q.size()), dp.resize(p.size());
    const f64 t = static_cast<f64>(how.temperature), of_passages = how.mutual ? 1. / (1. + v.passages) : 0;
    // Row i of x chooses among the rows of y, of which number i * step is right.
    const auto choose = [&](const std::vector<f64>& x, std::vector<f64>& dx, std::size_t stride,
                            const std::vector<f64>& y, std::vector<f64>& dy, std::size_t step, f64 share) {
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<f64> e(y.size() / w);
        f64 total = 0;
        for (std::size_t k = 0; k < e.size(); ++k) {
          f64 score = 0;
          for (std::size_t f = 0; f < w; ++f) score += x[i * stride + f] * y[k * w + f];
          const bool counts = &y != &p || k % of_each == 0 || v.seen[k];
          total += e[k] = counts ? std::exp(score / t) : 0;
        }
        loss -= share / v.questions * std::log(e[i * step] / total);
        for (std::size_t k = 0; k < e.size(); ++k) {
          const f64 d = share / v.questions / t * (e[k] / total - (k == i * step));
          for (std::size_t f = 0; f < w; ++f)
            dx[i * stride + f] += d * y[k * w + f], dy[k * w + f] += d * x[i * stride + f];
        }
      }
    };
    choose(q, dq, w, p, dp, of_each, 1 - of_passages);
    if (how.mutual) choose(p, dp, of_each * w, q, dq, 1, of_passages);
  }
};

/// The gradients of the inputs, as `plain` has them.
plain computed(const vectors& v, const ml::retrieval_settings& how) {
  plain all(v, how);
  const ml::network n = v.model(how);
  ml::weights w(n), gradients(n);
  ml::batch b = v.all();
  const f64 counts = ml::check(n, b);
  ml::activation_store store = ml::store_of(n, b);
  store.gradients_of_inputs = true;
  store.random.on = true;
  all.loss = ml::serial_forward(n, w, store) / counts;
  ml::serial_backward(n, w, gradients, store);
  all.dq.clear(), all.dp.clear();
  for (int i = 0; i < v.questions; ++i) {
    for (int f = 0; f < v.width; ++f) all.dq.push_back(static_cast<f64>(store.gradient(0)(i, f)));
    for (int j = 0; j < v.passages; ++j)
      for (int f = 0; f < v.width; ++f) all.dp.push_back(static_cast<f64>(store.gradient(1 + j)(i, f)));
  }
  return all;
}
f64 distance(const std::vector<f64>& a, const std::vector<f64>& b) {
  REQUIRE(a.size() == b.size());
  f64 most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST_CASE("The loss of retrieval and its gradients are those of a sum over all pairs") {
  for (const auto& [questions, passages, width] : {std::tuple{1, 1, 3}, {4, 2, 3}, {5, 1, 8}, {7, 3, 20}})
    for (const ml::retrieval_settings& how :
         {ml::retrieval_settings{}, {.temperature = 0.5f}, {.temperature = 2, .mutual = true}}) {
      INFO(questions << " questions of " << passages << " passages, temperature " << how.temperature);
      const vectors v(questions, passages, width);
      const plain exact(v, how), x = computed(v, how);
      CHECK(x.loss == Approx(exact.loss).epsilon(1e-5).margin(1e-6));
      CHECK(distance(x.dq, exact.dq) < 2e-6);
      CHECK(distance(x.dp, exact.dp) < 2e-6);
      ml::check_gradients(v.model(how)).require();
    }
}

TEST_CASE("The loss of retrieval is that of PyTorch 1.13") {
  // q = sin(1 + 1.3 i), p = cos(0.7 i); passage 1 of question 2 is left out. CrossEntropyLoss()(q p^T / t,
  // 2 arange(4)), and with mutual information 2/3 of it and a third of CrossEntropyLoss()(p[:, 0] q^T / t,
  // arange(4)).
  const vectors v(4, 2, 3);
  const plain first = computed(v, {}), second = computed(v, {.temperature = 0.5f, .mutual = true});
  CHECK(first.loss == Approx(1.187382663494226).epsilon(1e-6));
  CHECK(distance(first.dq, {-0.056002786, -0.054315587, -0.027082918, 0.064551597, -0.069017367, -0.170126384,
                            0.087758657, 0.105407208, 0.073481103, -0.085963822, -0.051270908, 0.007535515}) <
        1e-6);
  CHECK(distance(first.dp, {-0.145807094,
                            -0.081717143,
                            0.102088614,
                            0.018441783,
                            -0.028290986,
                            -0.033577394,
                            0.143421917,
                            0.052184692,
                            -0.115503229,
                            0.064814139,
                            0.103297617,
                            -0.009550156,
                            -0.128869111,
                            0.128182112,
                            0.19744624,
                            0,
                            0,
                            0,
                            0.031736232,
                            -0.145789457,
                            -0.10973325,
                            0.016262135,
                            -0.027866835,
                            -0.031170826}) < 1e-6);
  CHECK(second.loss == Approx(0.7906290666746989).epsilon(1e-6));
  CHECK(distance(second.dq,
                 {0.036081743, 0.020070584, -0.005380084, 0.03190298, -0.054773884, -0.115689734, 0.064956498,
                  0.074562403, 0.049100445, -0.139028244, -0.065889403, 0.038238254}) < 1e-6);
  CHECK(distance(second.dp, {-0.214049961,
                             -0.070511395,
                             0.17632653,
                             0.048380976,
                             -0.06335566,
                             -0.082276106,
                             0.102774743,
                             0.073567684,
                             -0.063416205,
                             0.106098353,
                             0.172090153,
                             -0.014030525,
                             -0.161815617,
                             0.157549614,
                             0.246104292,
                             0,
                             0,
                             0,
                             0.14110596,
                             -0.202317206,
                             -0.249345191,
                             0.044580535,
                             -0.060862624,
                             -0.077141897}) < 1e-6);
}

ml::dual_encoder small(bool shared, int passages, int projection = 0, bool mutual = false) {
  ml::encoder e{.vocabulary = 17, .positions = 9, .layers = 2, .heads = 2, .width = 12, .deviation = 0.3f};
  ml::dual_encoder d{.questions = e, .passages = e, .projection = projection, .shared = shared};
  d.passages_of_question = passages, d.mutual = mutual;
  if (!shared) d.passages.layers = 1, d.passages.filter = 20;
  return d;
}
/// Questions and passages of any tokens, of different lengths.
struct texts {
  int questions;
  std::vector<i32> question, question_seen, passage[2], passage_seen[2], types, seen;

  explicit texts(int n, int length = 4, int length_of_passages = 7) : questions(n), length_(length) {
    u32 x = 12345;
    const auto draw = [&](u32 below) {
      x = x * 1664525 + 1013904223;
      return static_cast<i32>((x >> 8) % below);
    };
    for (int i = 0; i < n * length; ++i)
      question.push_back(draw(17)), question_seen.push_back(i % length < 3), types.push_back(draw(2));
    for (int k = 0; k < 2; ++k)
      for (int i = 0; i < n * length_of_passages; ++i)
        passage[k].push_back(draw(17)), passage_seen[k].push_back(i % length_of_passages < 5 + k);
    for (int i = 0; i < n; ++i) seen.push_back(1), seen.push_back(i % 3 != 1);
  }
  ml::batch all(int passages) const {
    ml::batch b{.sequences = questions, .length = length_};
    b.named = {{"questions_input_ids", std::span(question)},
               {"questions_attention_mask", std::span(question_seen)},
               {"questions_token_type_ids", std::span(types)},
               {"ctx_0_input_ids", std::span(passage[0])},
               {"ctx_0_attention_mask", std::span(passage_seen[0])}};
    if (passages < 2) return b;
    b.named.emplace_back("ctx_1_input_ids", std::span(passage[1]));
    b.named.emplace_back("ctx_1_attention_mask", std::span(passage_seen[1]));
    b.named.emplace_back("ctx_seen", std::span(seen));
    return b;
  }

 private:
  int length_;
};

TEST_CASE("Gradients of two encoders are those of differences") {
  for (const bool shared : {false, true}) {
    INFO("shared " << shared);
    const ml::network n = small(shared, 2, 6).build();
    ml::check_gradients(n, ml::detail::varied_weights(n, 1), texts(3).all(2), {.entries = 8}).require();
  }
}

/// The losses of some steps and of an evaluation, the vectors of questions, and the weights.
struct trained {
  std::vector<f64> numbers;
  ml::weights w;

  /// The largest difference of a weight. Some never move but by rounding: what all passages have in common
  /// does not change the loss.
  f64 distance_of_weights(const trained& other) const {
    f64 most = 0;
    for (std::size_t k = 0; k < w.size(); ++k)
      for (std::size_t i = 0; i < w[k].size(); ++i)
        most = std::max(most, std::abs(static_cast<f64>(w[k][i]) - static_cast<f64>(other.w[k][i])));
    return most;
  }
};
trained train(const ml::dual_encoder& d, const ml::streaming_settings& how, int questions = 6) {
  const texts t(questions);
  ml::trainer by(d.build(), ml::optimizer::sgd({.momentum = 0.9f}), how);
  std::vector<f64> all;
  for (int k = 0; k < 3; ++k) all.push_back(by.step(t.all(d.passages_of_question), 0.02));
  all.push_back(by.evaluate(t.all(d.passages_of_question)));
  const std::vector<f32> vectors = by.predict(t.all(d.passages_of_question));
  CHECK(vectors.size() == static_cast<std::size_t>(questions * d.width()));
  all.insert(all.end(), vectors.begin(), vectors.end());
  return {all, by.parameters()};
}

TEST_CASE("Passages are compared with all questions of the batch on any rows, columns and wafers",
          "[large]") {
  struct variant {
    bool shared;
    int passages, projection;
    bool mutual;
  };
  for (const variant& v :
       {variant{false, 1, 0, false}, {false, 2, 6, false}, {true, 2, 0, true}, {true, 2, 6, false}}) {
    const ml::dual_encoder d = small(v.shared, v.passages, v.projection, v.mutual);
    const trained one = train(d, {.workers = 1, .columns = 1});
    CHECK(one.numbers[2] < one.numbers[0]);
    struct grid {
      int rows, columns, wafers;
    };
    for (const grid& g : {grid{2, 1, 1},
                          {1, 2, 1},
                          {2, 2, 1},
                          {3, 2, 1},
                          {8, 1, 1},
                          {2, 3, 1},
                          {1, 1, 2},
                          {2, 1, 3},
                          {2, 2, 2}}) {
      INFO((v.shared ? "shared, " : "")
           << v.passages << " passages, projection " << v.projection << ": " << g.rows << " x " << g.columns
           << " workers on " << g.wafers << " wafers");
      const trained x = train(d, {.workers = g.rows * g.columns, .columns = g.columns, .num_csx = g.wafers});
      for (std::size_t k = 0; k < x.numbers.size(); ++k)
        CHECK(x.numbers[k] == Approx(one.numbers[k]).epsilon(1e-4).margin(2e-5));
      CHECK(x.distance_of_weights(one) < 2e-5);
    }
  }
}

TEST_CASE(
    "Retrieval gives the same bits on any number of threads, and where activations are computed again") {
  const ml::dual_encoder d = small(false, 2, 6, true);
  const trained one = train(d, {.workers = 6, .columns = 2, .threads = 1});
  for (const int threads : {2, 3}) {
    const trained x = train(d, {.workers = 6, .columns = 2, .threads = threads});
    CHECK(x.numbers == one.numbers);
    CHECK(x.distance_of_weights(one) == 0);
  }
  const trained again = train(d, {.workers = 6, .columns = 2, .threads = 2, .recompute = true});
  CHECK(again.numbers == one.numbers);
  CHECK(again.distance_of_weights(one) == 0);
}

TEST_CASE("A micro-batch has the negatives of its own questions") {
  const ml::dual_encoder d = small(false, 2);
  const texts all(6);
  const auto evaluated = [&](const ml::batch& b, ml::streaming_settings how) {
    return ml::trainer(d.build(), ml::optimizer::sgd(), how).evaluate(b);
  };
  const f64 whole = evaluated(all.all(2), {.workers = 1}),
            in_three = evaluated(all.all(2), {.workers = 1, .micro_batch_size = 2});
  f64 alone = 0;
  for (int k = 0; k < 3; ++k) alone += evaluated(ml::sequences_of(all.all(2), 2 * k, 2), {.workers = 1}) / 3;
  CHECK(in_three == Approx(alone).epsilon(1e-6));
  CHECK(whole > 1.2 * in_three);
  // On two wafers a micro-batch has sequences of both, which do not lie together in the batch.
  const f64 on_two = evaluated(all.all(2), {.workers = 2, .columns = 1, .num_csx = 2, .micro_batch_size = 1});
  f64 pairs = 0;
  for (int k = 0; k < 3; ++k) {
    texts pair(2);
    const auto take = [&](std::vector<i32>& to, const std::vector<i32>& from) {
      const std::size_t each = from.size() / 6;
      for (std::size_t side = 0; side < 2; ++side)
        std::copy_n(
            from.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(k) + 3 * side) * each), each,
            to.begin() + static_cast<std::ptrdiff_t>(side * each));
    };
    take(pair.question, all.question), take(pair.question_seen, all.question_seen);
    take(pair.types, all.types), take(pair.seen, all.seen);
    for (int j = 0; j < 2; ++j)
      take(pair.passage[j], all.passage[j]), take(pair.passage_seen[j], all.passage_seen[j]);
    pairs += evaluated(pair.all(2), {.workers = 1}) / 3;
  }
  CHECK(on_two == Approx(pairs).epsilon(1e-5));
}

TEST_CASE("A half of the model gives the vectors of the whole") {
  for (const int columns : {1, 2}) {
    const ml::dual_encoder d = small(false, 1, 6);
    const texts t(5);
    ml::trainer whole(d.build(), ml::optimizer::sgd(), {.workers = 1, .seed = 3});
    const std::vector<f32> right = whole.predict(t.all(1));
    ml::trainer half(d.build_half(true), ml::optimizer::sgd(),
                     {.workers = columns, .columns = columns, .seed = 4});
    for (const ml::parameter& p : half.model().parameters())
      std::ranges::copy(whole.parameter_named(p.name), half.parameter_named(p.name).begin());
    ml::batch b{.sequences = 5, .length = 4};
    b.named = {{"input_ids", std::span(t.question)},
               {"attention_mask", std::span(t.question_seen)},
               {"token_type_ids", std::span(t.types)}};
    const std::vector<f32> found = half.predict(b);
    REQUIRE(found.size() == right.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(right[i]).margin(1e-6));
    CHECK(half.model().parameter_count() + d.build_half(false).parameter_count() ==
          whole.model().parameter_count());
  }
}

TEST_CASE("Retrieval that does not fit is refused") {
  ml::dual_encoder d = small(false, 1);
  d.passages.width = 24;
  CHECK_THROWS_WITH(d.build(), Contains("questions have 12 features and those of passages 24"));
  d.projection = 5;
  CHECK(d.build().width(d.build().logits()) == 5);
  d.shared = true;
  CHECK_THROWS_WITH(d.build(), Contains("describe questions and passages alike"));
  CHECK_THROWS_WITH(small(false, 0).build(), Contains("at least 1 passage"));
  d = small(false, 1), d.temperature = 0;
  CHECK_THROWS_WITH(d.build(), Contains("a temperature above 0, not by 0"));
  CHECK_THROWS_WITH(ml::pipelined_trainer(small(false, 1).build(), ml::optimizer::sgd(), {.strips = 2}),
                    Contains("loss needs sums over the whole batch") &&
                        Contains("it compares all sequences of the batch, so train with weight streaming"));
  ml::network n;
  const int x = n.input("x", 3);
  CHECK_THROWS_WITH(n.retrieval("loss", x, {x}), Contains("one vector of each sequence"));
  n.linear("first", x, 4, true, {});
  CHECK_THROWS_WITH(n.with_parameters_from(0, [&] { return n.linear("second", x, 5, true, {}); }),
                    Contains("second.bias") || Contains("bias, 1 rows of 5, shares the parameter"));
  CHECK_THROWS_WITH(n.with_parameters_from(2, [&] { return n.linear("third", x, 4, true, {}); }),
                    Contains("there are no more"));
}

}  // namespace
