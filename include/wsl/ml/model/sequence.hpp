// SPDX-License-Identifier: MIT
// A model whose layers follow each other and whose sizes are constants:
//   constexpr ml::sequence net{ml::linear<784, 500>{}, ml::elementwise<ml::relu>{}, ml::linear<500, 10>{}};
// Layers that do not fit do not compile, and the message names both layers and their features.
//
// A layer is any type with
//   static constexpr ml::shape takes{28, 28, 1}, gives{28, 28, 8};  // for a token; a width is an int, too
//   static constexpr const char* name = "convolution";
//   static int build(ml::network& n, const std::string& as, int x); // adds its stages, returns its output
// Where `takes` and `gives` are 0 it takes any shape and gives the same. See docs/guide/layers.md.
#pragma once
#include <fmt/format.h>

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <cmath>
#include <utility>

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

/// The features of a layer's input or output, as a message shows them.
template <int... axes>
struct features {};

/// Whether a layer takes, or gives, whatever comes.
constexpr bool is_any(const shape& s) { return s == shape(0); }

template <class Before, class Layer, class Gives, class Takes>
consteval bool a_layer_takes_what_the_one_before_gives() {
  constexpr bool fit = fits(shape(Before::gives), shape(Layer::takes));
  static_assert(
      fit,
      "wsl: these two layers do not fit: the second takes another number of features than the first gives");
  return fit;
}

template <class Layer, std::size_t... axis>
features<shape(Layer::gives)[axis]...> given_by(std::index_sequence<axis...>);
template <class Layer, std::size_t... axis>
features<shape(Layer::takes)[axis]...> taken_by(std::index_sequence<axis...>);
template <class Layer>
using gives_of = decltype(given_by<Layer>(
    std::make_index_sequence<static_cast<std::size_t>(shape(Layer::gives).axes())>()));
template <class Layer>
using takes_of = decltype(taken_by<Layer>(
    std::make_index_sequence<static_cast<std::size_t>(shape(Layer::takes).axes())>()));

/// Whether each layer takes the features that the previous layer gives. Elementwise layers keep them.
template <class... Layers>
struct fitting {
  static constexpr bool value = true;
};
template <class Before, class Layer, class... Rest>
struct fitting<Before, Layer, Rest...> {
  static constexpr bool value = [] {
    if constexpr (is_any(Before::gives)) return fitting<Layer, Rest...>::value;
    else if constexpr (is_any(Layer::takes)) return fitting<Before, Rest...>::value;
    else if constexpr (!a_layer_takes_what_the_one_before_gives<Before, Layer, gives_of<Before>,
                                                                takes_of<Layer>>())
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
  static constexpr shape takes = [] {
    shape n = 0;
    ((n = is_any(n) ? shape(Layers::takes) : n), ...);
    return n;
  }();
  static constexpr shape gives = [] {
    shape n = 0;
    ((n = is_any(Layers::gives) ? n : shape(Layers::gives)), ...);
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
  static_assert(!detail::is_any(First::takes),
                "wsl: the first layer of a sequence says how many features it takes");

  constexpr explicit sequence(First first, Rest... rest) : layers_(first, rest...) {}

  /// The features of a token of the input; -1 for a model that begins with an embedding.
  static constexpr shape takes = First::takes;

  /// The network: the layers, and the cross-entropy of the outputs of the last one.
  network build() const {
    return build([](network& n, int y) { n.cross_entropy("loss", y); });
  }
  /// The network with other losses: loss(network, output of the last layer) adds them.
  template <class Loss>
  network build(Loss loss) const {
    network n;
    int x = -1;
    if constexpr (takes != shape(-1)) x = n.input("input", takes);
    const int y = layers_.build(n, "", x);
    n.predicts(y);
    loss(n, y);
    return n;
  }

 private:
  detail::chain<First, Rest...> layers_;
};

}  // namespace wsl::ml
