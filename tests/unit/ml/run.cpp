// SPDX-License-Identifier: MIT
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/sequence.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/run/event_file.hpp>
#include <wsl/ml/run/loss_curve.hpp>
#include <wsl/ml/run/memory_profile.hpp>
#include <wsl/ml/run/training_loop.hpp>
#include <wsl/ml/train/pipelined_trainer.hpp>
#include <wsl/ml/train/trainer.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

namespace {

using namespace wsl;

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) / 16];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) % 16];
  }
  return out;
}

}  // namespace

TEST_CASE("Event records are those of TensorBoard") {
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  CHECK(ml::crc32c("123456789") == 0xe3069283);  // RFC 3720, and its appendix B.4
  CHECK(ml::crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(ml::crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(ml::crc32c(rising) == 0x46dd794e);
  // Written by tensorboardX's record writer.
  CHECK(hex(ml::events::first(1.0)) ==
        "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
  CHECK(hex(ml::events::scalar(2.0, "loss", 10, 2.5f)) ==
        "1a00000000000000129bd82d090000000000000040100a2a0d0a0b0a046c6f73731500002040097a8f44");
}

TEST_CASE("Histograms and images are protocol buffers as TensorBoard reads them") {
  // What protoc encodes of messages with the fields of summary.proto.
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  const std::vector<f32> numbers{0.5f, -1, nan, 3, 0.5f};
  const ml::events::histogram h = ml::events::histogram::of(numbers, 2);
  CHECK((h.count == 4 && h.not_finite == 1 && h.limits == std::vector<f64>{1, 3} &&
         h.counts == std::vector<f64>{3, 1}));
  const std::string record = ml::events::of_step(2, "w", 10, ml::events::text(5, h.text()));
  CHECK(hex(record.substr(12, record.size() - 16)) ==
        "090000000000000040100a2a580a560a01772a5109000000000000f0bf110000000000000840190000000000001040"
        "2100000000000008402900000000000025403210000000000000f03f00000000000008403a100000000000000840"
        "000000000000f03f");
  // Equal numbers, and none, have a place, too.
  for (const auto& few : {std::vector<f32>{2, 2}, {}}) {
    const ml::events::histogram flat = ml::events::histogram::of(few);
    f64 sum = 0;
    for (const f64 x : flat.counts) sum += x;
    CHECK((flat.counts.size() == 30 && flat.limits.size() == 30 && sum == static_cast<f64>(few.size())));
  }

  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "wsl_events_of_run";
  std::filesystem::remove_all(folder);
  ml::event_file events(folder);
  events.image("p", 10, 3, 2, 1, "png");
  std::ifstream in(events.name(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string image = hex(bytes).substr(80);  // after the first record
  CHECK(image.substr(24 + 18, 44) == "100a2a120a100a0170220b0802100318012203706e67");
  std::filesystem::remove_all(folder);
}

TEST_CASE("Norms of gradients are those of the serial backward pass") {
  ml::network n = ml::decoder{.vocabulary = 30, .positions = 8, .layers = 2, .heads = 2, .width = 16}.build();
  n.freeze({"layer 0 up.*"});
  std::vector<i32> ids, targets;
  for (int k = 0; k < 48; ++k) ids.push_back(k * 7 % 30), targets.push_back(k * 5 % 30);
  const ml::batch b{.ids = ids, .targets = targets, .sequences = 6, .length = 8};
  ml::weights w(n, 7), gradients(n);
  ml::batch whole = b;
  check(n, whole);
  ml::activation_store store = store_of(n, whole);
  serial_forward(n, w, store), serial_backward(n, w, gradients, store);
  std::vector<f64> right;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    f64 squares = 0;
    for (const f32 x : gradients[k]) squares += static_cast<f64>(x) * static_cast<f64>(x);
    right.push_back(std::sqrt(squares));
  }
  const auto compare = [&](auto& t) {
    CHECK(t.gradient_norms().empty());
    t.measure_gradients(true);
    t.step(b, 1e-3);
    REQUIRE(t.gradient_norms().size() == right.size());
    for (std::size_t k = 0; k < right.size(); ++k) {
      INFO(n.parameters()[k].name);
      CHECK(t.gradient_norms()[k] == Approx(right[k]).epsilon(1e-4));
      CHECK((t.gradient_norms()[k] == 0) == n.parameters()[k].name.starts_with("layer 0 up"));
    }
    t.measure_gradients(false);
    CHECK(t.gradient_norms().empty());
  };
  const auto model = [&] {
    ml::network again =
        ml::decoder{.vocabulary = 30, .positions = 8, .layers = 2, .heads = 2, .width = 16}.build();
    again.freeze({"layer 0 up.*"});
    return again;
  };
  for (const ml::streaming_settings& how :
       {ml::streaming_settings{.workers = 4, .columns = 2, .seed = 7, .threads = 2},
        {.clip_norm = 0.1, .seed = 7, .loss_scaling = 1024., .micro_batch_size = 2}}) {
    ml::trainer t(model(), ml::optimizer::adamw(), how);
    compare(t);
  }
  for (const f64 clip : {0., 0.1}) {
    ml::pipelined_trainer t(model(), ml::optimizer::adamw(), {.strips = 3, .clip_norm = clip, .seed = 7});
    compare(t);
  }
}

TEST_CASE("The memory of the layers is that of the model") {
  const ml::network n =
      ml::decoder{.vocabulary = 30, .positions = 8, .layers = 2, .heads = 2, .width = 16}.build();
  for (const ml::optimizer& rule : {ml::optimizer::sgd(), ml::optimizer::adamw()}) {
    f64 state = 0, activations = 0;
    for (const ml::layer_memory& m : ml::memory_by_layer(n, rule, 3, 8))
      state += m.state, activations += m.activations;
    CHECK(state == ml::state_bytes(n, rule));
    CHECK(activations == Approx(3 * ml::activation_bytes(n, ml::column_cut(n, 1), 8)).epsilon(1e-12));
  }
  const std::string table = ml::memory_table(ml::memory_by_layer(n, ml::optimizer::adamw(), 3, 8), 3);
  CHECK(std::count(table.begin(), table.end(), '\n') == 6);
  CHECK(table.find(" other layers") != std::string::npos);
  CHECK(table.find("  100.00\n") != std::string::npos);
}

TEST_CASE("A loss curve is read back as it was written, and a damaged one is refused") {
  ml::loss_curve curve;
  curve.add({.step = 50, .loss = 2.1, .rate = 1e-3});
  curve.add({.step = 100, .loss = 0.1 + 0.2, .rate = 5e-4});
  curve.add({.step = 100, .loss = 1.9, .evaluated = true});
  CHECK(ml::loss_curve::from_csv(curve.csv()).points() == curve.points());
  CHECK(ml::loss_curve::from_csv(curve.csv()).csv() == curve.csv());
  CHECK_THROWS_WITH(ml::loss_curve::from_csv("step\n50,train,x,1\n"),
                    "wsl: line 2 of the loss curve is not step,kind,loss,learning_rate,mean_loss");
  CHECK_THROWS(ml::loss_curve::from_csv("step\n50,train,1\n"));
  CHECK_THROWS(ml::loss_curve::from_csv("step\n50,train,1,2,3,4\n"));
  CHECK_THROWS(ml::loss_curve::from_csv("step\n50,eval,1,,3\n"));
  // The mean is the line; a table of before, without means, is read as well.
  ml::loss_curve with_means;
  with_means.add({.step = 10, .loss = 3, .rate = 1e-3, .mean = 4});
  with_means.add({.step = 20, .loss = 1, .rate = 1e-3, .mean = 2});
  CHECK(with_means.csv() ==
        "step,kind,loss,learning_rate,mean_loss\n10,train,3,0.001,4\n20,train,1,0.001,2\n");
  CHECK(ml::loss_curve::from_csv(with_means.csv()).points() == with_means.points());
  CHECK(with_means.svg("x").find(">training loss, mean 2, of one batch (pale) 1</text>") !=
        std::string::npos);
  CHECK(ml::loss_curve::from_csv("step,kind,loss,learning_rate\n10,train,3,0.001\n").points().at(0).loss ==
        3);
  const std::string picture = curve.svg("a < b");
  CHECK(picture.find("a &lt; b") != std::string::npos);
  CHECK(picture.find(">loss</text>") != std::string::npos);
  CHECK(picture.find(">training loss 0.3, held-out loss (dots) 1.9</text>") != std::string::npos);
  // the last step is at the right, and the least loss at the bottom
  CHECK(picture.find("L700 356") != std::string::npos);
  curve.keep_until(50);
  CHECK(curve.points().size() == 1);
  CHECK(ml::loss_curve().svg("nothing yet").ends_with("</svg>\n"));
  // A curve that nobody has seen, but a file may have.
  ml::loss_curve strange;
  for (const f64 loss : {1e16, 1e16 + 2, -1e308})
    strange.add({.step = std::numeric_limits<i64>::max(), .loss = loss});
  CHECK(strange.svg("strange").size() < 3000);
  CHECK(ml::loss_curve::from_csv("step\n1,eval,10000000000000000,\n2,eval,10000000000000002,\n")
            .svg("flat")
            .size() < 4000);
}

TEST_CASE("Rates and times") {
  const ml::throughput::clock::time_point start{};
  ml::throughput p(start);
  p.add(100, start + std::chrono::seconds(10));
  CHECK(p.rate() == Approx(10));
  p.skip(std::chrono::seconds(5));
  p.add(100, start + std::chrono::seconds(20));
  CHECK(p.rate() == Approx(20));
  CHECK(p.global_rate() == Approx(200. / 15));
  CHECK(p.time_for(40) == Approx(3));
  CHECK(ml::duration_text(3661.4) == "1:01:01");
  CHECK(ml::duration_text(-1) == "0:00:00");
}

TEST_CASE("The executor trains to its last step, from wherever the trainer stands") {
  constexpr ml::sequence model{ml::linear<1, 2>{}};
  std::vector<f32> x{-1, 1};
  const std::vector<i32> y{0, 1};
  const auto next = [&] { return ml::batch{.features = x, .targets = y, .sequences = 2}; };
  const auto seen_by = [&](ml::trainer& t, i64 steps, const ml::rate::schedule& rate) {
    std::vector<std::string> seen;
    ml::training_loop run{t, {.steps = steps, .log_steps = 2, .checkpoint_steps = 3, .eval_steps = 4}};
    run.on_log([&](const auto& look) { seen.push_back("log " + std::to_string(look.step)); });
    run.on_evaluation([&](i64 step) { seen.push_back("eval " + std::to_string(step)); });
    run.on_checkpoint([&](i64 step) { seen.push_back("save " + std::to_string(step)); });
    run.train(next, rate);
    return seen;
  };
  ml::trainer t(model.build(), ml::optimizer::sgd(), {.workers = 1, .threads = 1});
  CHECK(seen_by(t, 5, ml::rate::constant(0.1)) ==
        std::vector<std::string>{"log 2", "save 3", "log 4", "eval 4", "log 5", "eval 5", "save 5"});
  CHECK(seen_by(t, 7, ml::rate::constant(0.1)) ==
        std::vector<std::string>{"log 6", "save 6", "log 7", "eval 7", "save 7"});
  CHECK(seen_by(t, 7, ml::rate::constant(0.1)).empty());
  CHECK_THROWS_WITH(
      seen_by(t, 20, ml::rate::constant(std::nan(""))),
      "wsl: the learning rate of step 8 is at least 0 and at most 3.4e+38, the largest f32, not nan");
  x[0] = std::nanf("");
  CHECK_THROWS_WITH(seen_by(t, 20, ml::rate::constant(0.1)),
                    Catch::Matchers::Contains("the loss is") && Catch::Matchers::Contains("in step 8"));
}

TEST_CASE("A look has the loss of its step and the mean of those since the last look") {
  struct {
    i64 done = 0;
    f64 step(const ml::batch&, f64) { return static_cast<f64>(++done); }
    i64 steps() const { return done; }
  } counting;
  ml::training_loop run{counting, {.steps = 5, .log_steps = 3}};
  std::vector<f64> seen;
  run.on_log([&](const auto& look) { seen.insert(seen.end(), {look.loss, look.mean_loss}); });
  run.train([] { return ml::batch{.sequences = 1}; }, ml::rate::constant(0.1));
  CHECK(seen == std::vector<f64>{3, 2, 5, 4.5});

  // Stopped between two looks and resumed: the next mean is that of all steps since the last look.
  counting.done = 0, seen.clear();
  ml::training_loop first{counting, {.steps = 5, .log_steps = 3, .checkpoint_steps = 4}};
  ml::training_loop::unlogged saved;
  first.on_checkpoint([&](i64 step) { saved = step == 4 ? first.since_log() : saved; });
  first.train([] { return ml::batch{.sequences = 1}; }, ml::rate::constant(0.1));
  counting.done = 4;
  ml::training_loop second{counting, {.steps = 6, .log_steps = 3}};
  second.resume(saved);
  second.on_log([&](const auto& look) { seen.push_back(look.mean_loss); });
  second.train([] { return ml::batch{.sequences = 1}; }, ml::rate::constant(0.1));
  CHECK(seen == std::vector<f64>{5});
}

TEST_CASE("Whenever a run is asked to stop, the last of its steps has been saved") {
  struct {
    i64 done = 0;
    f64 step(const ml::batch&, f64) { return static_cast<f64>(++done); }
    i64 steps() const { return done; }
  } counting;
  for (int first = 0; first < 40; ++first) {  // the time at which it is asked first, anywhere in a step
    CAPTURE(first);
    counting.done = 0;
    ml::training_loop run{counting, {.steps = 20, .log_steps = 2, .checkpoint_steps = 3, .eval_steps = 4}};
    int asked = 0;
    i64 saved = 0;
    run.on_stop([&](bool) { return asked++ >= first; });
    run.on_evaluation([](i64) {});
    run.on_checkpoint([&](i64 step) { saved = step; });
    run.train([] { return ml::batch{.sequences = 1}; }, ml::rate::constant(0.1));
    CHECK(saved == counting.done);
    CHECK((run.stopped() || counting.done == 20));
  }
}

TEST_CASE("A step that loses its numbers names itself and the layer") {
  constexpr ml::sequence model{ml::linear<2, 3>{}, ml::elementwise<ml::relu>{}, ml::linear<3, 2>{}};
  const std::vector<i32> y{0, 1};
  const auto says = [&](auto&& t, const std::vector<f32>& x) -> std::string {
    try {
      t.step({.features = x, .targets = y, .sequences = 2}, 0.1);
      t.step({.features = x, .targets = y, .sequences = 2}, 0.1);
    } catch (const fault& e) { return e.what(); }
    return "it goes on";
  };
  using Catch::Matchers::Contains;
  const auto rule = ml::optimizer::sgd();
  const std::vector<f32> good{-1, 1, 1, -1}, with_nan{-1, 1, std::nanf(""), -1};
  CHECK(says(ml::trainer(model.build(), rule, {.threads = 1}), good) == "it goes on");
  CHECK_THAT(says(ml::trainer(model.build(), rule, {.threads = 1}), with_nan),
             Contains("in step 1 the loss is NaN, and the first numbers that are not finite are those of the "
                      "features of the batch"));
  CHECK_THAT(says(ml::pipelined_trainer(model.build(), rule, {.threads = 1}), with_nan),
             Contains("in step 1 the loss is NaN, and the first numbers that are not finite are those of the "
                      "features of the batch"));
  const auto weights_of = [](auto& t) {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < t.parameters().size(); ++k)
      if (t.model().parameters()[k].name.ends_with(".weight")) found.push_back(k);
    return found;
  };
  // A weight of 3e38 makes the layer's output infinite, and so the loss a NaN.
  ml::trainer large(model.build(), rule, {.threads = 1});
  const std::size_t first = weights_of(large)[0];
  const std::string name = large.model().parameters()[first].name;
  large.parameters()[first][0] = 3e38f;
  const std::vector<f32> tens{10, 10, 10, 10};
  CHECK_THAT(says(large, tens), Contains("the loss is NaN, and the first numbers that are not finite are "
                                         "those of " +
                                         name.substr(0, name.rfind('.'))));
  ml::pipelined_trainer piped(model.build(), rule, {.strips = 3, .threads = 1});
  piped.parameters()[first][0] = 3e38f;
  CHECK_THAT(says(piped, tens), Contains("the loss is NaN, and the first numbers that are not finite are "
                                         "those of " +
                                         name.substr(0, name.rfind('.'))));
  // Logits and loss are finite, and on the way back 2e38 times 1e9 is not.
  const auto overflows = [&](auto&& t) {
    auto& w = t.parameters();
    for (std::size_t k = 0; k < w.size(); ++k) std::fill(w[k].begin(), w[k].end(), 0.f);
    const std::size_t in = weights_of(t)[0], out = weights_of(t)[1];
    std::fill(w[in].begin(), w[in].end(), 1e-30f);
    std::fill(w[out].begin(), w[out].end(), 2e38f);
    w[out][0] = -2e38f;
    return says(t, std::vector<f32>{1e9f, 1e9f, 1e9f, 1e9f});
  };
  const std::string gradient = "in step 1 the gradient of " + name + " is not finite, with a finite loss";
  CHECK_THAT(overflows(ml::trainer(model.build(), rule, {.threads = 1})), Contains(gradient));
  CHECK_THAT(overflows(ml::trainer(model.build(), rule, {.clip_norm = 1, .threads = 1})), Contains(gradient));
  CHECK_THAT(overflows(ml::pipelined_trainer(model.build(), rule, {.threads = 1})), Contains(gradient));
}

TEST_CASE("A step whose loss is not finite leaves the state as it was") {
  constexpr ml::sequence model{ml::linear<2, 3>{}, ml::elementwise<ml::relu>{}, ml::linear<3, 3>{},
                               ml::elementwise<ml::relu>{}, ml::linear<3, 2>{}};
  const std::vector<i32> y{0, 1, 0, 1};
  const std::vector<f32> good{-1, 1, 1, -1, 1, 1, -1, -1}, with_nan{-1, 1, 1, -1, 1, 1, std::nanf(""), -1};
  const auto batch_of = [&](const std::vector<f32>& x) {
    return ml::batch{.features = x, .targets = y, .sequences = 4};
  };
  const auto numbers_of = [](auto& t) {
    std::vector<f32> found;
    for (const ml::state_array& a : t.state()) found.insert(found.end(), a.numbers.begin(), a.numbers.end());
    return found;
  };
  const auto holds = [&](auto&& t, auto&& undisturbed) {
    t.step(batch_of(good), 0.1), undisturbed.step(batch_of(good), 0.1);
    CHECK_THROWS_WITH(t.step(batch_of(with_nan), 0.1),
                      Catch::Matchers::Contains("in step 2 the loss is NaN"));
    CHECK(t.steps() == 1);
    CHECK(numbers_of(t) == numbers_of(undisturbed));
    // and it goes on as if nothing had happened
    CHECK(t.step(batch_of(good), 0.1) == undisturbed.step(batch_of(good), 0.1));
    CHECK(numbers_of(t) == numbers_of(undisturbed));
  };
  const auto rule = ml::optimizer::adamw();
  const auto streaming = [&](const ml::streaming_settings& how) {
    return ml::trainer(model.build(), rule, how);
  };
  for (const f64 norm : {0., 1.}) {
    for (const int wafers : {1, 2}) {
      const ml::streaming_settings how{.workers = 2, .num_csx = wafers, .clip_norm = norm, .threads = 1};
      holds(streaming(how), streaming(how));
    }
    for (const int strips : {1, 3}) {
      const ml::pipeline_settings how{
          .strips = strips, .micro_batch_size = 1, .clip_norm = norm, .threads = 1};
      holds(ml::pipelined_trainer(model.build(), rule, how), ml::pipelined_trainer(model.build(), rule, how));
    }
  }
}
