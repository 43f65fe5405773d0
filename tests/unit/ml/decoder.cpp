// SPDX-License-Identifier: MIT
// Every kind of decoder beside the plainest loops in f64, whose differences are the gradients it is compared
// with.
#include <wsl/ml/model/batch.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/op/reference.hpp>

#include <complex>
#include <map>

#include "compare.hpp"

namespace {
using namespace wsl;
namespace plain = ml::reference;

struct grid {
  int rows, columns;
  std::vector<f64> numbers;
  grid(int r, int c) : rows(r), columns(c), numbers(static_cast<std::size_t>(r * c)) {}
  matrix<f64> all() { return {numbers.data(), rows, columns}; }
  f64& operator()(int i, int j) { return numbers[static_cast<std::size_t>(i * columns + j)]; }
};

struct lesson {
  int sequences, length;
  std::vector<i32> ids, targets;
  std::vector<f32> mask;
  ml::batch all() const {
    return {.ids = ids, .targets = targets, .mask = mask, .sequences = sequences, .length = length};
  }
};
lesson some_text(int sequences, int length, int vocabulary) {
  std::mt19937 random(3);
  lesson t{sequences, length, {}, {}, {}};
  for (int i = 0; i < sequences * length; ++i) {
    t.ids.push_back(static_cast<i32>(random() % static_cast<unsigned>(vocabulary)));
    t.targets.push_back(static_cast<i32>(random() % static_cast<unsigned>(vocabulary)));
    t.mask.push_back(i % 3 ? 1.f : 0.25f);
  }
  return t;
}

class plain_decoder {
 public:
  std::map<std::string, std::vector<f64>> numbers;

  plain_decoder(const ml::decoder& d, const ml::network& n, const ml::weights& w) : d_(d) {
    for (std::size_t k = 0; k < w.size(); ++k)
      numbers[n.parameters()[k].name].assign(w[k].begin(), w[k].end());
  }
  /// The logits of one sequence.
  grid logits(std::span<const i32> ids) {
    const int tokens = static_cast<int>(ids.size());
    grid x(tokens, d_.width);
    for (int t = 0; t < tokens; ++t)
      for (int i = 0; i < d_.width; ++i)
        x(t, i) = of("embedding.tokens", ids[static_cast<std::size_t>(t)] * d_.width + i) + learned(t, i) +
                  wave(t, i);
    if (d_.embedding_norm) x = norm("embedding norm", x);
    for (f64& v : x.numbers) v *= static_cast<f64>(d_.embedding_scale);
    for (int l = 0; l < d_.layers; ++l) {
      const std::string name = "layer " + std::to_string(l) + " ";
      grid first = norm(name + "norm 1", x), attended = attention(name, first, l);
      if (d_.order == ml::block_order::sequential) {
        x = sum(x, attended);
        x = sum(x, feed_forward(name, norm(name + "norm 2", x)));
      } else {
        grid beside = d_.order == ml::block_order::parallel ? first : norm(name + "norm 2", x);
        x = sum(sum(x, attended), feed_forward(name, beside));
      }
    }
    grid y = linear(d_.tied ? "embedding.tokens" : "head.weight", "head.bias", norm("last norm", x),
                    d_.vocabulary);
    for (f64& v : y.numbers) v *= static_cast<f64>(d_.logit_scale);
    return y;
  }
  f64 loss(const lesson& l) {
    f64 sum = 0, counts = 0;
    for (int s = 0; s < l.sequences; ++s) {
      const auto part = [&](const auto& all) {
        return std::span(all).subspan(static_cast<std::size_t>(s * l.length),
                                      static_cast<std::size_t>(l.length));
      };
      grid y = logits(part(l.ids));
      const std::vector<f64> mask(part(l.mask).begin(), part(l.mask).end());
      sum += plain::cross_entropy<f64>(y.all(), part(l.targets), mask);
      for (f64 m : mask) counts += m;
    }
    return sum / counts;
  }

 private:
  f64 of(const std::string& name, int k) { return numbers.at(name)[static_cast<std::size_t>(k)]; }
  f64 learned(int t, int i) {
    if (d_.position != ml::positioning::learned) return 0;
    return of("embedding.positions", (d_.unused_positions + t) * d_.width + i);
  }
  f64 wave(int t, int i) {
    const f64 angle = t * std::pow(1e4, -static_cast<f64>(i / 2 * 2) / d_.width);
    return d_.position != ml::positioning::fixed ? 0 : i % 2 ? std::cos(angle) : std::sin(angle);
  }
  grid norm(const std::string& name, grid x) {
    grid y(x.rows, x.columns);
    const bool centred = d_.norm == ml::normalization::layernorm;
    plain::norm<f64>(y.all(), x.all(), numbers.at(name + ".gain").data(),
                     numbers.contains(name + ".bias") ? numbers.at(name + ".bias").data() : nullptr,
                     static_cast<f64>(d_.epsilon), centred);
    return y;
  }
  grid linear(const std::string& weight, const std::string& bias, grid x, int outputs) {
    grid y(x.rows, outputs);
    const f64 *w = numbers.at(weight).data(), *b = numbers.contains(bias) ? numbers.at(bias).data() : nullptr;
    for (int t = 0; t < x.rows; ++t)
      for (int o = 0; o < outputs; ++o) {
        f64 sum = b ? b[o] : 0;
        for (int i = 0; i < x.columns; ++i) sum += w[o * x.columns + i] * x(t, i);
        y(t, o) = sum;
      }
    return y;
  }
  grid layer(const std::string& name, const grid& x, int outputs) {
    return linear(name + ".weight", name + ".bias", x, outputs);
  }
  static grid sum(grid a, const grid& b) {
    for (std::size_t k = 0; k < a.numbers.size(); ++k) a.numbers[k] += b.numbers[k];
    return a;
  }
  grid attention(const std::string& name, const grid& x, int l) {
    const int head = d_.head_width ? d_.head_width : d_.width / d_.heads,
              groups = d_.kv_heads ? d_.kv_heads : d_.heads, tokens = x.rows;
    grid qkv = layer(name + "qkv", x, (d_.heads + 2 * groups) * head), y(tokens, d_.heads * head),
         weights(tokens, tokens);
    f64 scale = d_.attention_scale != 0 ? static_cast<f64>(d_.attention_scale) : 1 / std::sqrt(head);
    if (d_.scale_by_layer) scale /= l + 1;
    if (d_.position == ml::positioning::rotary)
      for (int h = 0; h < d_.heads + groups; ++h)
        turn(qkv, h * head, d_.rotary_features ? d_.rotary_features : head);
    for (int h = 0; h < d_.heads; ++h) {
      const int key = (d_.heads + h / (d_.heads / groups)) * head;
      const f64 slope = d_.position == ml::positioning::alibi
                            ? static_cast<f64>(ml::alibi_slopes(d_.heads)[static_cast<std::size_t>(h)])
                            : 0;
      const auto part = [&](grid& g, int from) { return g.all().part(0, from, tokens, head); };
      plain::attention<f64>(part(y, h * head), weights.all(), part(qkv, h * head), part(qkv, key),
                            part(qkv, key + groups * head), scale, slope, d_.window);
    }
    return layer(name + "projection", y, d_.width);
  }
  void turn(grid& x, int from, int features) {
    for (int t = 0; t < x.rows; ++t)
      for (int i = 0; i < features / 2; ++i) {
        f64& a = x(t, from + (d_.rotary_pairs == ml::pairs::neighbours ? 2 * i : i));
        f64& b = x(t, from + (d_.rotary_pairs == ml::pairs::neighbours ? 2 * i + 1 : i + features / 2));
        const std::complex<f64> z =
            std::complex(a, b) * std::polar(1., t * frequency(std::pow(d_.rotary_base, -2. * i / features)));
        a = z.real(), b = z.imag();
      }
  }
  /// By wavelengths, as Llama 3's own code has it.
  f64 frequency(f64 f) const {
    const ml::rotary_scaling& s = d_.rotary_scale;
    const f64 wave = 2 * M_PI / f;
    if (s.how == ml::rotary_scaling::kind::none) return f;
    if (s.how == ml::rotary_scaling::kind::linear || wave > s.positions / s.low) return f / s.factor;
    if (wave < s.positions / s.high) return f;
    const f64 smooth = (s.positions / wave - s.low) / (s.high - s.low);
    return (1 - smooth) * f / s.factor + smooth * f;
  }
  f64 between(f64 x) {
    using ml::nonlinearity;
    switch (d_.between) {
      case nonlinearity::relu:
      case nonlinearity::reglu: return plain::relu::value(x);
      case nonlinearity::quick_gelu: return plain::quick_gelu::value(x);
      case nonlinearity::silu:
      case nonlinearity::swiglu: return plain::silu::value(x);
      case nonlinearity::gelu_tanh:
      case nonlinearity::geglu_tanh: return plain::gelu_tanh::value(x);
      default: return plain::gelu::value(x);
    }
  }
  grid feed_forward(const std::string& name, grid x) {
    if (!d_.experts) return expert(name, x);
    grid scores = layer(name + "router", x, d_.experts);
    grid y(x.rows, d_.width);
    for (int t = 0; t < x.rows; ++t) {
      // The softmax over all experts; of the largest, divided by their sum.
      std::vector<std::pair<f64, int>> p;
      for (int e = 0; e < d_.experts; ++e) p.emplace_back(std::exp(scores(t, e)), e);
      std::sort(p.rbegin(), p.rend());
      p.resize(static_cast<std::size_t>(d_.experts_per_token));
      f64 sum = 0;
      for (const auto& [weight, e] : p) sum += weight;
      grid one(1, x.columns);
      for (int i = 0; i < x.columns; ++i) one(0, i) = x(t, i);
      for (const auto& [weight, e] : p) {
        grid out = expert(name + "expert " + std::to_string(e) + " ", one);
        for (int i = 0; i < d_.width; ++i) y(t, i) += weight / sum * out(0, i);
      }
    }
    return y;
  }
  grid expert(const std::string& name, const grid& x) {
    const int inside = d_.filter ? d_.filter : 4 * d_.width;
    grid up = layer(name + "up", x, inside);
    if (d_.between >= ml::nonlinearity::swiglu) {
      const grid gate = layer(name + "gate", x, inside);
      for (std::size_t k = 0; k < up.numbers.size(); ++k) up.numbers[k] *= between(gate.numbers[k]);
    } else {
      for (f64& v : up.numbers) v = between(v);
    }
    return layer(name + "down", up, d_.width);
  }

  ml::decoder d_;
};

void check_decoder(const char* kind, ml::decoder d) {
  INFO(kind);
  d.deviation = 0.3f;
  const ml::network n = d.build();
  ml::weights w(n, 1), gradients(n);
  for (std::size_t k = 0; k < w.size(); ++k)  // biases and gains, which start equal, differ
    if (n.parameters()[k].rows == 1)
      for (std::size_t i = 0; i < w[k].size(); ++i) w[k][i] += 0.1f * static_cast<f32>(i % 5) - 0.2f;
  plain_decoder exact(d, n, w);
  const lesson l = some_text(2, 9, d.vocabulary);
  ml::batch b = l.all();
  const f64 counts = check(n, b);
  ml::activation_store at = store_of(n, b);
  CHECK(serial_forward(n, w, at) / counts == Approx(exact.loss(l)).epsilon(2e-6));
  serial_backward(n, w, gradients, at);
  std::mt19937 random(5);
  for (std::size_t k = 0; k < w.size(); ++k) {
    INFO(n.parameters()[k].name);
    f64 size = 1e-4;  // a key's bias has no gradient
    for (f32 g : gradients[k]) size = std::max(size, std::abs(static_cast<f64>(g)));
    for (int sample = 0; sample < 4; ++sample) {
      const std::size_t i = random() % w[k].size();
      f64& v = exact.numbers.at(n.parameters()[k].name)[i];
      const f64 was = v, h = 1e-5;
      v = was + h;
      const f64 above = exact.loss(l);
      v = was - h;
      const f64 below = exact.loss(l);
      v = was;
      CHECK(std::abs(static_cast<f64>(gradients[k][i]) - (above - below) / (2 * h)) < 1e-5 * size);
    }
  }
}

TEST_CASE("Every kind of decoder does what plain loops in f64 do, and its gradients are their differences") {
  using namespace ml;
  const decoder base{.vocabulary = 11, .positions = 9, .layers = 2, .heads = 4, .width = 16, .filter = 20};
  const auto with = [&](auto change) {
    decoder d = base;
    change(d);
    return d;
  };
  check_decoder("GPT-2", base);
  check_decoder("Llama", with([](decoder& d) {
                  d.norm = normalization::rmsnorm, d.between = nonlinearity::swiglu,
                  d.position = positioning::rotary, d.kv_heads = 2, d.bias = false, d.tied = false;
                }));
  check_decoder("GPT-J", with([](decoder& d) {
                  d.position = positioning::rotary, d.rotary_features = 2, d.order = block_order::parallel,
                  d.between = nonlinearity::gelu_tanh;
                }));
  check_decoder("GPT-NeoX", with([](decoder& d) {
                  d.position = positioning::rotary, d.rotary_pairs = pairs::halves, d.rotary_base = 100,
                  d.order = block_order::parallel_two_norms, d.tied = false;
                }));
  check_decoder("MPT", with([](decoder& d) {
                  d.position = positioning::alibi, d.heads = 2, d.bias = false,
                  d.between = nonlinearity::silu;
                }));
  check_decoder("StarCoder", with([](decoder& d) { d.kv_heads = 1, d.between = nonlinearity::relu; }));
  check_decoder("fixed positions",
                with([](decoder& d) { d.position = positioning::fixed, d.between = nonlinearity::reglu; }));
  check_decoder("a factor of tokens, positions and their norm", with([](decoder& d) {
                  d.position = positioning::fixed, d.embedding_norm = true, d.embedding_scale = 3;
                }));
  check_decoder("Bloom", with([](decoder& d) {
                  d.position = positioning::alibi, d.embedding_norm = true,
                  d.between = nonlinearity::quick_gelu;
                }));
  for (const int count : {1, 2, 3})
    check_decoder("Mixtral", with([&](decoder& d) {
                    d.norm = normalization::rmsnorm, d.position = positioning::rotary, d.tied = false;
                    d.between = nonlinearity::swiglu, d.experts = 3, d.experts_per_token = count;
                  }));
  check_decoder("Mistral", with([](decoder& d) {
                  d.norm = normalization::rmsnorm, d.between = nonlinearity::swiglu, d.bias = false,
                  d.position = positioning::rotary, d.rotary_pairs = pairs::halves, d.kv_heads = 2,
                  d.tied = false, d.window = 3, d.head_width = 6;
                  d.rotary_scale = {rotary_scaling::kind::linear, 2.5};
                }));
  check_decoder("Llama 3", with([](decoder& d) {
                  d.position = positioning::rotary, d.rotary_base = 50, d.tied = false, d.bias = false;
                  d.bias.qkv = d.bias.head = true;
                  d.rotary_scale = {rotary_scaling::kind::llama3, 8, 1, 4, 16};
                }));
  check_decoder("OPT", with([](decoder& d) {
                  d.unused_positions = 2, d.scale_by_layer = true, d.between = nonlinearity::relu;
                }));
  check_decoder("BTLM", with([](decoder& d) {
                  d.position = positioning::alibi, d.between = nonlinearity::swiglu;
                  d.attention_scale = 0.25f, d.embedding_scale = 3, d.logit_scale = 0.5f;
                }));
  check_decoder("Gemma", with([](decoder& d) { d.between = nonlinearity::geglu_tanh, d.bias = false; }));
  check_decoder("no positions", with([](decoder& d) {
                  d.position = positioning::none, d.between = nonlinearity::geglu,
                  d.norm = normalization::rmsnorm, d.layers = 1;
                }));
}

ml::decoder llama(f32 dropout = 0) {
  return {.vocabulary = 17,
          .positions = 12,
          .layers = 2,
          .heads = 4,
          .width = 32,
          .filter = 48,
          .bias = false,
          .between = ml::nonlinearity::swiglu,
          .deviation = 0.05f,
          .kv_heads = 2,
          .norm = ml::normalization::rmsnorm,
          .position = ml::positioning::rotary,
          .tied = false,
          .dropout = dropout,
          .attention_dropout = dropout};
}
TEST_CASE("A decoder that cannot be says why") {
  ml::decoder d = llama();
  d.kv_heads = 3;
  CHECK_THROWS_WITH(
      d.build(),
      "wsl: heads must divide the features, and heads of keys those of queries: layer 0 rotary "
      "shares out the 80 features of layer 0 qkv to 4 heads of queries, 3 of keys and 3 of values");
  d = llama();
  d.rotary_features = 3;
  CHECK_THROWS_WITH(d.build(),
                    "wsl: layer 0 rotary turns 3 of the 8 features of a head: an even number of at least 2");
  d = llama(1);
  d = llama();
  d.experts = -1;
  CHECK_THROWS_WITH(d.build(), "wsl: a block has -1 experts: at least 1, or 0 for no router");
  for (const int count : {0, 5}) {
    d.experts = 4, d.experts_per_token = count;
    CHECK_THROWS_WITH(d.build(), "wsl: layer 0 routes sends each token to " + std::to_string(count) +
                                     " experts: from 1 to all 4");
  }
  d = llama(1);
  CHECK_THROWS_WITH(d.build(), "wsl: dropout drops with a probability of at least 0 and below 1, not 1");
}

}  // namespace
