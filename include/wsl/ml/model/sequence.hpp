// SPDX-License-Identifier: MIT
// A model whose layers follow each other and whose sizes are constants:
//   constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 10>{}};
// Layers that do not fit do not compile, and the message names both layers and their features.
#pragma once
#include <fmt/format.h>

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <cmath>

#include "network.hpp"

namespace wsl::ml {

/// `from` features to `to`. Weights start between -1 / sqrt(from) and 1 / sqrt(from).
template <int from, int to, bool bias = true>
struct linear {
  static constexpr int takes = from, gives = to;
  static_assert(from > 0 && to > 0, "wsl: a layer has at least one feature on each side");
  static constexpr const char* name = "linear";
  static int build(network& n, const std::string& as, int x) {
    return n.linear(as, x, to, bias, initial::uniform(1 / std::sqrt(static_cast<f32>(from))));
  }
};

/// f of every feature: relu, gelu, gelu_tanh or silu.
template <class F>
struct elementwise {
  static constexpr int takes = 0, gives = 0;  // as many as the input has
  static constexpr const char* name = "elementwise";
  static int build(network& n, const std::string& as, int x) { return n.activation<F>(as, x); }
};

template <int width>
struct layer_norm {
  static constexpr int takes = width, gives = width;
  static constexpr const char* name = "norm";
  static int build(network& n, const std::string& as, int x) { return n.norm(as, x, 1e-5f); }
};

template <int width>
struct rms_norm {
  static constexpr int takes = width, gives = width;
  static constexpr const char* name = "norm";
  static int build(network& n, const std::string& as, int x) { return n.norm(as, x, 1e-5f, false); }
};

/// In training each feature becomes 0 with this probability.
struct dropout {
  static constexpr int takes = 0, gives = 0;
  static constexpr const char* name = "dropout";
  f32 probability;
  int build(network& n, const std::string& as, int x) const { return n.dropout(as, x, probability); }
};

namespace detail {

template <class Before, class Layer, int gives, int takes>
consteval bool a_layer_takes_what_the_one_before_gives() {
  static_assert(
      gives == takes,
      "wsl: these two layers do not fit: the second takes another number of features than the first gives");
  return gives == takes;
}

/// Whether each layer takes as many features as the previous layer gives. Elementwise layers keep the number
/// of features.
template <class... Layers>
struct fitting {
  static constexpr bool value = true;
};
template <class Before, class Layer, class... Rest>
struct fitting<Before, Layer, Rest...> {
  static constexpr bool value = [] {
    if constexpr (Before::gives == 0) return fitting<Layer, Rest...>::value;
    else if constexpr (Layer::takes == 0) return fitting<Before, Rest...>::value;
    else if constexpr (!a_layer_takes_what_the_one_before_gives<Before, Layer, Before::gives, Layer::takes>())
      return false;
    else return fitting<Layer, Rest...>::value;
  }();
};

/// A part of a model: layers one after the other.
template <class... Layers>
class chain {
 public:
  static_assert(fitting<Layers...>::value, "wsl: the layers of this sequence do not fit, see above");
  /// 0 if all are elementwise.
  static constexpr int takes = [] {
    int n = 0;
    ((n = n ? n : Layers::takes), ...);
    return n;
  }();
  static constexpr int gives = [] {
    int n = 0;
    ((n = Layers::gives ? Layers::gives : n), ...);
    return n;
  }();

  constexpr explicit chain(Layers... layers) : layers_(layers...) {}

  int build(network& n, const std::string& prefix, int x) const {
    int number = 0;
    boost::hana::for_each(layers_, [&](const auto& layer) {
      x = layer.build(n, fmt::format("{}{} {}", prefix, layer.name, number++), x);
    });
    return x;
  }

 private:
  boost::hana::tuple<Layers...> layers_;
};

}  // namespace detail

template <class First, class... Rest>
class sequence {
 public:
  static_assert(First::takes != 0, "wsl: the first layer of a sequence says how many features it takes");

  constexpr explicit sequence(First first, Rest... rest) : layers_(first, rest...) {}

  /// The features of a row of the input; -1 for a model that begins with an embedding.
  static constexpr int takes = First::takes;

  /// The network: the layers, and the cross-entropy of the outputs of the last one.
  network build() const {
    network n;
    int x = -1;
    if constexpr (takes > 0) x = n.input("input", takes);
    n.cross_entropy("loss", layers_.build(n, "", x));
    return n;
  }

 private:
  detail::chain<First, Rest...> layers_;
};

}  // namespace wsl::ml
