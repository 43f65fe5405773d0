// SPDX-License-Identifier: MIT
// A reference of every operation: the plainest loops, for any floating-point type. In f64 the tests compare
// the fast operations with them. Backward functions set their results here; the fast ones add to them.
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "../../linalg/matrix.hpp"

namespace wsl::ml::reference {

/// c += a b
template <class T>
void multiply_add(const matrix<T>& c, const matrix<const T>& a, const matrix<const T>& b) {
  for (int i = 0; i < c.rows(); ++i)
    for (int j = 0; j < c.columns(); ++j)
      for (int k = 0; k < a.columns(); ++k) c(i, j) += a(i, k) * b(k, j);
}

struct relu {
  template <class T>
  static T value(T x) {
    return x <= 0 ? 0 : x;
  }
  template <class T>
  static T slope(T x) {
    return x <= 0 ? 0 : 1;
  }
};
struct gelu {
  template <class T>
  static T value(T x) {
    return x * std::erfc(-x / std::sqrt(T(2))) / 2;
  }
  template <class T>
  static T slope(T x) {
    return std::erfc(-x / std::sqrt(T(2))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * T(M_PI));
  }
};
struct gelu_tanh {
  template <class T>
  static T value(T x) {
    return x / 2 * (1 + std::tanh(inner(x)));
  }
  template <class T>
  static T slope(T x) {
    const T t = std::tanh(inner(x));
    return (1 + t) / 2 + x / 2 * (1 - t * t) * std::sqrt(2 / T(M_PI)) * (1 + 3 * T(0.044715) * x * x);
  }
  template <class T>
  static T inner(T x) {
    return std::sqrt(2 / T(M_PI)) * (x + T(0.044715) * x * x * x);
  }
};
struct quick_gelu {
  template <class T>
  static T value(T x) {
    return x / (1 + std::exp(-T(1.702) * x));
  }
  template <class T>
  static T slope(T x) {
    const T s = 1 / (1 + std::exp(-T(1.702) * x));
    return s * (1 + T(1.702) * x * (1 - s));
  }
};
struct silu {
  template <class T>
  static T value(T x) {
    return x / (1 + std::exp(-x));
  }
  template <class T>
  static T slope(T x) {
    const T s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
};

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias; an rmsnorm if not centred. The bias may be null.
template <class T>
void norm(const matrix<T>& y, const matrix<const T>& x, const T* gain, const T* bias, T epsilon,
          bool centred) {
  const int n = x.columns();
  for (int t = 0; t < x.rows(); ++t) {
    T mean = 0, variance = 0;
    for (int i = 0; i < n && centred; ++i) mean += x(t, i) / n;
    for (int i = 0; i < n; ++i) variance += (x(t, i) - mean) * (x(t, i) - mean) / n;
    for (int i = 0; i < n; ++i)
      y(t, i) = (x(t, i) - mean) / std::sqrt(variance + epsilon) * gain[i] + (bias ? bias[i] : 0);
  }
}
template <class T>
void norm_backward(const matrix<T>& dx, T* dgain, T* dbias, const matrix<const T>& dy,
                   const matrix<const T>& x, const T* gain, T epsilon, bool centred) {
  const int n = x.columns();
  for (int i = 0; i < n; ++i) dgain[i] = dbias[i] = 0;
  for (int t = 0; t < x.rows(); ++t) {
    T mean = 0, variance = 0, d = 0, d_x = 0;
    for (int i = 0; i < n && centred; ++i) mean += x(t, i) / n;
    for (int i = 0; i < n; ++i) variance += (x(t, i) - mean) * (x(t, i) - mean) / n;
    const T scale = 1 / std::sqrt(variance + epsilon);
    for (int i = 0; i < n; ++i) {
      const T unit = (x(t, i) - mean) * scale;
      dgain[i] += dy(t, i) * unit;
      dbias[i] += dy(t, i);
      d += centred ? dy(t, i) * gain[i] / n : 0;
      d_x += dy(t, i) * gain[i] * unit / n;
    }
    for (int i = 0; i < n; ++i) dx(t, i) = (dy(t, i) * gain[i] - d - (x(t, i) - mean) * scale * d_x) * scale;
  }
}

template <class T>
void softmax(const matrix<T>& y, const matrix<const T>& x) {
  for (int t = 0; t < x.rows(); ++t) {
    T largest = x(t, 0), total = 0;
    for (int i = 0; i < x.columns(); ++i) largest = std::max(largest, x(t, i));
    for (int i = 0; i < x.columns(); ++i) total += y(t, i) = std::exp(x(t, i) - largest);
    for (int i = 0; i < x.columns(); ++i) y(t, i) /= total;
  }
}
template <class T>
void softmax_backward(const matrix<T>& dx, const matrix<const T>& dy, const matrix<const T>& y) {
  for (int t = 0; t < y.rows(); ++t)
    for (int i = 0; i < y.columns(); ++i) {
      dx(t, i) = 0;
      for (int j = 0; j < y.columns(); ++j) dx(t, i) += dy(t, j) * y(t, j) * ((i == j) - y(t, i));
    }
}

/// The sum of -mask log softmax(logits)[target].
template <class T>
T cross_entropy(const matrix<const T>& logits, std::span<const i32> target, std::span<const T> mask) {
  T loss = 0;
  for (int t = 0; t < logits.rows(); ++t) {
    T total = 0;
    for (int i = 0; i < logits.columns(); ++i) total += std::exp(logits(t, i));
    const std::size_t token = static_cast<std::size_t>(t);
    loss += mask[token] * (std::log(total) - logits(t, target[token]));
  }
  return loss;
}

/// y[t] = sum over s <= t of softmax(scale * q[t] . k[s] - slope * (t - s)) v[s], with t - s below the window
/// if it is not 0. `weights` is (tokens, tokens): it keeps the softmax.
template <class T>
void attention(const matrix<T>& y, const matrix<T>& weights, const matrix<const T>& q,
               const matrix<const T>& k, const matrix<const T>& v, T scale, T slope = 0, int window = 0) {
  for (int t = 0; t < q.rows(); ++t) {
    const matrix<T> row = weights.part(t, 0, 1, t + 1);
    for (int s = 0; s <= t; ++s) {
      row(0, s) = window && t - s >= window ? T(-1e30) : slope * (s - t);
      for (int i = 0; i < q.columns(); ++i) row(0, s) += scale * q(t, i) * k(s, i);
    }
    softmax<T>(row, row);
    for (int i = 0; i < v.columns(); ++i) {
      y(t, i) = 0;
      for (int s = 0; s <= t; ++s) y(t, i) += row(0, s) * v(s, i);
    }
  }
}
template <class T>
void attention_backward(const matrix<T>& dq, const matrix<T>& dk, const matrix<T>& dv,
                        const matrix<const T>& dy, const matrix<const T>& weights, const matrix<const T>& q,
                        const matrix<const T>& k, const matrix<const T>& v, T scale) {
  for (const matrix<T>* d : {&dq, &dk, &dv})
    for (int t = 0; t < d->rows(); ++t)
      for (int i = 0; i < d->columns(); ++i) (*d)(t, i) = 0;
  std::vector<T> dw(static_cast<std::size_t>(q.rows())), ds(dw);
  for (int t = 0; t < q.rows(); ++t) {
    const matrix<T> of_weights(dw.data(), 1, t + 1), of_scores(ds.data(), 1, t + 1);
    for (int s = 0; s <= t; ++s) {
      of_weights(0, s) = 0;
      for (int i = 0; i < v.columns(); ++i) {
        of_weights(0, s) += dy(t, i) * v(s, i);
        dv(s, i) += weights(t, s) * dy(t, i);
      }
    }
    softmax_backward<T>(of_scores, of_weights, weights.part(t, 0, 1, t + 1));
    for (int s = 0; s <= t; ++s)
      for (int i = 0; i < q.columns(); ++i) {
        dq(t, i) += scale * of_scores(0, s) * k(s, i);
        dk(s, i) += scale * of_scores(0, s) * q(t, i);
      }
  }
}

}  // namespace wsl::ml::reference
