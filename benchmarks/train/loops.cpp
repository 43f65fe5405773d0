// SPDX-License-Identifier: MIT
#include "loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace loops {
namespace {

struct parameter {
  numbers value, gradient, first, second;
  explicit parameter(numbers v)
      : value(std::move(v)), gradient(value.size()), first(value.size()), second(value.size()) {}
};

std::size_t size(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

// y is (rows, outputs), x (rows, inputs), w (outputs, inputs); no bias is null.
struct linear {
  int inputs, outputs;
  parameter *bias, *weight;

  void forward(numbers& y, const numbers& x) const {
    const int rows = static_cast<int>(x.size()) / inputs;
    const float* w = weight->value.data();
    y.resize(size(rows, outputs));
#pragma omp parallel for
    for (int o = 0; o < outputs; ++o)
      for (int t = 0; t < rows; ++t) {
        float sum = bias ? bias->value[static_cast<std::size_t>(o)] : 0;
        for (int i = 0; i < inputs; ++i)
          sum += w[size(o, inputs) + static_cast<std::size_t>(i)] *
                 x[size(t, inputs) + static_cast<std::size_t>(i)];
        y[size(t, outputs) + static_cast<std::size_t>(o)] = sum;
      }
  }
  /// Adds to dx, if it is not null, and to the parameters' gradients.
  void backward(numbers* dx, const numbers& dy, const numbers& x) const {
    const int rows = static_cast<int>(x.size()) / inputs;
    const float* w = weight->value.data();
    float* dw = weight->gradient.data();
    if (dx) {
#pragma omp parallel for
      for (int t = 0; t < rows; ++t)
        for (int o = 0; o < outputs; ++o)
          for (int i = 0; i < inputs; ++i)
            (*dx)[size(t, inputs) + static_cast<std::size_t>(i)] +=
                dy[size(t, outputs) + static_cast<std::size_t>(o)] *
                w[size(o, inputs) + static_cast<std::size_t>(i)];
    }
#pragma omp parallel for
    for (int o = 0; o < outputs; ++o)
      for (int t = 0; t < rows; ++t) {
        const float d = dy[size(t, outputs) + static_cast<std::size_t>(o)];
        for (int i = 0; i < inputs; ++i)
          dw[size(o, inputs) + static_cast<std::size_t>(i)] +=
              d * x[size(t, inputs) + static_cast<std::size_t>(i)];
        if (bias) bias->gradient[static_cast<std::size_t>(o)] += d;
      }
  }
};

struct norm {
  int width;
  parameter *gain, *bias;
  numbers mean, scale;

  void forward(numbers& y, const numbers& x) {
    const int rows = static_cast<int>(x.size()) / width;
    y.resize(x.size()), mean.resize(size(rows, 1)), scale.resize(size(rows, 1));
#pragma omp parallel for
    for (int t = 0; t < rows; ++t) {
      const std::size_t token = static_cast<std::size_t>(t), n = static_cast<std::size_t>(width);
      float sum = 0, squares = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[token * n + i];
      mean[token] = sum / static_cast<float>(width);
      for (std::size_t i = 0; i < n; ++i)
        squares += (x[token * n + i] - mean[token]) * (x[token * n + i] - mean[token]);
      scale[token] = 1 / std::sqrt(squares / static_cast<float>(width) + 1e-5f);
      for (std::size_t i = 0; i < n; ++i)
        y[token * n + i] =
            (x[token * n + i] - mean[token]) * scale[token] * gain->value[i] + (bias ? bias->value[i] : 0);
    }
  }
  void backward(numbers& dx, const numbers& dy, const numbers& x) const {
    const std::size_t n = static_cast<std::size_t>(width), rows = x.size() / n;
    for (std::size_t t = 0; t < rows; ++t) {
      float d = 0, d_x = 0;
      for (std::size_t i = 0; i < n; ++i)
        d += dy[t * n + i] * gain->value[i],
            d_x += dy[t * n + i] * gain->value[i] * (x[t * n + i] - mean[t]) * scale[t];
      for (std::size_t i = 0; i < n; ++i) {
        const float unit = (x[t * n + i] - mean[t]) * scale[t];
        gain->gradient[i] += dy[t * n + i] * unit;
        if (bias) bias->gradient[i] += dy[t * n + i];
        dx[t * n + i] += (dy[t * n + i] * gain->value[i] - d / static_cast<float>(width) -
                          unit * d_x / static_cast<float>(width)) *
                         scale[t];
      }
    }
  }
};

// Causal: qkv is (sequences * length, 3 * width), weights (sequences, heads, length, length).
struct attention {
  int sequences, length, heads, width;
  numbers weights;

  std::size_t query(int s, int t, int h) const {
    return size(s * length + t, 3 * width) + size(h, width / heads);
  }
  std::size_t result(int s, int t, int h) const {
    return size(s * length + t, width) + size(h, width / heads);
  }
  std::size_t row(int s, int h, int t) const { return size((s * heads + h) * length + t, length); }

  void forward(numbers& y, const numbers& qkv) {
    const std::size_t head = static_cast<std::size_t>(width / heads), all = static_cast<std::size_t>(width);
    const float scale = 1 / std::sqrt(static_cast<float>(head));
    y.assign(size(sequences * length, width), 0), weights.resize(row(sequences, 0, 0));
#pragma omp parallel for collapse(2)
    for (int s = 0; s < sequences; ++s)
      for (int h = 0; h < heads; ++h)
        for (int t = 0; t < length; ++t) {
          float* w = &weights[row(s, h, t)];
          const float* q = &qkv[query(s, t, h)];
          float largest = -1e30f, total = 0;
          for (int u = 0; u <= t; ++u) {
            const float* k = &qkv[query(s, u, h) + all];
            w[u] = 0;
            for (std::size_t i = 0; i < head; ++i) w[u] += q[i] * k[i];
            w[u] *= scale, largest = std::max(largest, w[u]);
          }
          for (int u = 0; u <= t; ++u) total += w[u] = std::exp(w[u] - largest);
          for (int u = 0; u <= t; ++u) {
            const float* v = &qkv[query(s, u, h) + 2 * all];
            w[u] /= total;
            for (std::size_t i = 0; i < head; ++i) y[result(s, t, h) + i] += w[u] * v[i];
          }
        }
  }
  void backward(numbers& d, const numbers& dy, const numbers& qkv) const {
    const std::size_t head = static_cast<std::size_t>(width / heads), all = static_cast<std::size_t>(width);
    const float scale = 1 / std::sqrt(static_cast<float>(head));
#pragma omp parallel for collapse(2)
    for (int s = 0; s < sequences; ++s)
      for (int h = 0; h < heads; ++h) {
        numbers dw(static_cast<std::size_t>(length));
        for (int t = 0; t < length; ++t) {
          const float *w = &weights[row(s, h, t)], *of_y = &dy[result(s, t, h)], *q = &qkv[query(s, t, h)];
          float mean = 0;
          for (int u = 0; u <= t; ++u) {
            float sum = 0;
            for (std::size_t i = 0; i < head; ++i) {
              sum += of_y[i] * qkv[query(s, u, h) + 2 * all + i];
              d[query(s, u, h) + 2 * all + i] += w[u] * of_y[i];
            }
            dw[static_cast<std::size_t>(u)] = sum, mean += w[u] * sum;
          }
          for (int u = 0; u <= t; ++u) {
            const float slope = w[u] * (dw[static_cast<std::size_t>(u)] - mean) * scale;
            for (std::size_t i = 0; i < head; ++i) {
              d[query(s, t, h) + i] += slope * qkv[query(s, u, h) + all + i];
              d[query(s, u, h) + all + i] += slope * q[i];
            }
          }
        }
      }
  }
};

constexpr float root_2_over_pi = 0.797884561f, root_half = 0.707106781f;

float gelu(float x, bool by_tanh) {
  return by_tanh ? 0.5f * x * (1 + std::tanh(root_2_over_pi * (x + 0.044715f * x * x * x)))
                 : 0.5f * x * (1 + std::erf(x * root_half));
}
float gelu_slope(float x, bool by_tanh) {
  if (!by_tanh) return 0.5f * (1 + std::erf(x * root_half)) + x * 0.398942280f * std::exp(-0.5f * x * x);
  const float t = std::tanh(root_2_over_pi * (x + 0.044715f * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * root_2_over_pi * (1 + 3 * 0.044715f * x * x);
}

/// The mean of -log softmax(logits)[target]; the logits become its gradient.
double cross_entropy(numbers& logits, const std::vector<int>& targets) {
  const std::size_t rows = targets.size(), classes = logits.size() / rows;
  double loss = 0;
#pragma omp parallel for reduction(+ : loss)
  for (std::size_t t = 0; t < rows; ++t) {
    float* row = &logits[t * classes];
    const float largest = *std::max_element(row, row + classes), right = row[targets[t]];
    float total = 0;
    for (std::size_t k = 0; k < classes; ++k) total += row[k] = std::exp(row[k] - largest);
    for (std::size_t k = 0; k < classes; ++k) row[k] /= total * static_cast<float>(rows);
    row[targets[t]] -= 1 / static_cast<float>(rows);
    loss += static_cast<double>(std::log(total) + largest - right);
  }
  return loss / static_cast<double>(rows);
}

class with_adam : public trainer {
 public:
  double step(float rate) override {
    for (parameter& p : parameters_) std::fill(p.gradient.begin(), p.gradient.end(), 0.f);
    const double loss = forward_and_back();
    ++steps_;
    const float correct1 = 1 - std::pow(0.9f, static_cast<float>(steps_)),
                correct2 = 1 - std::pow(0.999f, static_cast<float>(steps_));
    for (parameter& p : parameters_)
#pragma omp parallel for
      for (std::size_t i = 0; i < p.value.size(); ++i) {
        p.first[i] = 0.9f * p.first[i] + 0.1f * p.gradient[i];
        p.second[i] = 0.999f * p.second[i] + 0.001f * p.gradient[i] * p.gradient[i];
        p.value[i] -= rate * (p.first[i] / correct1) / (std::sqrt(p.second[i] / correct2) + 1e-8f);
      }
    return loss;
  }

 protected:
  explicit with_adam(std::vector<numbers> parameters) {
    for (numbers& p : parameters) parameters_.emplace_back(std::move(p));
  }
  virtual double forward_and_back() = 0;
  parameter* next() { return &parameters_[next_++]; }
  parameter* next_if(bool there) { return there ? next() : nullptr; }

  std::vector<parameter> parameters_;

 private:
  std::size_t next_ = 0;
  int steps_ = 0;
};

class perceptron_trainer final : public with_adam {
 public:
  perceptron_trainer(std::vector<numbers> parameters, const std::vector<int>& widths, numbers features,
                     std::vector<int> targets)
      : with_adam(std::move(parameters)), targets_(std::move(targets)) {
    values_.push_back(std::move(features));
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      parameter* const bias = next();
      layers_.push_back({widths[l], widths[l + 1], bias, next()});
    }
    values_.resize(layers_.size() + 1);
  }

 private:
  double forward_and_back() override {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      layers_[l].forward(values_[l + 1], values_[l]);
      if (l + 1 < layers_.size())
        for (float& v : values_[l + 1]) v = std::max(v, 0.f);
    }
    numbers d = values_.back(), before;
    const double loss = cross_entropy(d, targets_);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      before.assign(values_[l].size(), 0);
      layers_[l].backward(l ? &before : nullptr, d, values_[l]);
      for (std::size_t i = 0; i < before.size(); ++i) before[i] = values_[l][i] > 0 ? before[i] : 0;
      std::swap(d, before);
    }
    return loss;
  }
  std::vector<linear> layers_;
  std::vector<numbers> values_;
  std::vector<int> targets_;
};

class decoder_trainer final : public with_adam {
 public:
  decoder_trainer(std::vector<numbers> parameters, const decoder_shape& s, std::vector<int> ids,
                  std::vector<int> targets)
      : with_adam(std::move(parameters)),
        of_(s),
        ids_(std::move(ids)),
        targets_(std::move(targets)),
        tokens_(next()),
        positions_(next()) {
    const int w = s.width;
    for (int l = 0; l < s.layers; ++l)
      layers_.push_back({a_norm(),
                         a_linear(w, 3 * w),
                         {s.sequences, s.length, s.heads, w, {}},
                         a_linear(w, w),
                         a_norm(),
                         a_linear(w, 4 * w),
                         a_linear(4 * w, w)});
    last_ = a_norm(), head_ = {w, s.vocabulary, nullptr, tokens_};
  }

 private:
  struct block {
    norm norm1;
    linear qkv;
    attention heads;
    linear projection;
    norm norm2;
    linear up, down;
    numbers x = {}, n1 = {}, of_qkv = {}, attended = {}, x2 = {}, n2 = {}, of_up = {}, active = {};
  };
  norm a_norm() {
    parameter* const gain = next();
    return {of_.width, gain, next_if(of_.bias), {}, {}};
  }
  linear a_linear(int inputs, int outputs) {
    parameter* const bias = next_if(of_.bias);
    return {inputs, outputs, bias, next()};
  }

  double forward_and_back() override {
    const std::size_t w = static_cast<std::size_t>(of_.width);
    numbers x(ids_.size() * w), y;
    for (std::size_t t = 0; t < ids_.size(); ++t)
      for (std::size_t i = 0; i < w; ++i)
        x[t * w + i] = tokens_->value[size(ids_[t], of_.width) + i] +
                       positions_->value[t % static_cast<std::size_t>(of_.length) * w + i];
    for (block& b : layers_) forward(b, x, y);
    numbers n, logits, d(x.size());
    last_.forward(n, x);
    head_.forward(logits, n);
    const double loss = cross_entropy(logits, targets_);
    numbers dn(n.size());
    head_.backward(&dn, logits, n);
    last_.backward(d, dn, x);
    for (std::size_t l = layers_.size(); l-- > 0;) backward(layers_[l], d);
    for (std::size_t t = 0; t < ids_.size(); ++t)
      for (std::size_t i = 0; i < w; ++i) {
        tokens_->gradient[size(ids_[t], of_.width) + i] += d[t * w + i];
        positions_->gradient[t % static_cast<std::size_t>(of_.length) * w + i] += d[t * w + i];
      }
    return loss;
  }
  void forward(block& b, numbers& x, numbers& y) const {
    const auto add = [&] {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    };
    b.x = x;
    b.norm1.forward(b.n1, x), b.qkv.forward(b.of_qkv, b.n1), b.heads.forward(b.attended, b.of_qkv),
        b.projection.forward(y, b.attended);
    add();
    b.x2 = x;
    b.norm2.forward(b.n2, x), b.up.forward(b.of_up, b.n2);
    b.active.resize(b.of_up.size());
#pragma omp parallel for
    for (std::size_t i = 0; i < b.active.size(); ++i) b.active[i] = gelu(b.of_up[i], of_.tanh);
    b.down.forward(y, b.active);
    add();
  }
  /// d is the gradient of the block's output, and becomes that of its input.
  void backward(const block& b, numbers& d) const {
    numbers d_active(b.active.size()), dn(b.n2.size());
    b.down.backward(&d_active, d, b.active);
#pragma omp parallel for
    for (std::size_t i = 0; i < d_active.size(); ++i) d_active[i] *= gelu_slope(b.of_up[i], of_.tanh);
    b.up.backward(&dn, d_active, b.n2);
    b.norm2.backward(d, dn, b.x2);
    numbers d_attended(b.attended.size()), d_qkv(b.of_qkv.size());
    b.projection.backward(&d_attended, d, b.attended);
    b.heads.backward(d_qkv, d_attended, b.of_qkv);
    std::fill(dn.begin(), dn.end(), 0.f);
    b.qkv.backward(&dn, d_qkv, b.n1);
    b.norm1.backward(d, dn, b.x);
  }

  decoder_shape of_;
  std::vector<int> ids_, targets_;
  parameter *tokens_, *positions_;
  std::vector<block> layers_;
  norm last_;
  linear head_;
};

}  // namespace

std::unique_ptr<trainer> perceptron(std::vector<numbers> parameters, std::vector<int> widths,
                                    numbers features, std::vector<int> targets) {
  return std::make_unique<perceptron_trainer>(std::move(parameters), widths, std::move(features),
                                              std::move(targets));
}
std::unique_ptr<trainer> decoder(std::vector<numbers> parameters, const decoder_shape& shape,
                                 std::vector<int> ids, std::vector<int> targets) {
  return std::make_unique<decoder_trainer>(std::move(parameters), shape, std::move(ids), std::move(targets));
}

}  // namespace loops
