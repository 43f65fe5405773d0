// SPDX-License-Identifier: MIT
// The params of wsl-mnist, and the network that they describe.
#pragma once
#include <session.hpp>
#include <stdexcept>
#include <synthetic.hpp>
#include <trainer_params.hpp>

namespace mnist_app {

using train_app::common_params, train_app::f64, train_app::i64, train_app::synthetic_params;

struct model_params {
  std::string name = "fc_mnist", activation = "relu";
  std::vector<i64> hidden_sizes;
  i64 depth = 0, hidden_size = 0;
  bool use_bias = true;
  bool uniform_biases = false;  ///< they start as those of PyTorch's nn.Linear
  f64 dropout = 0;

  std::vector<i64> sizes() const {
    for (const auto& [field, size] : {std::pair("depth", depth), {"hidden_size", hidden_size}})
      if (!hidden_sizes.empty() && size)
        throw std::invalid_argument("model has hidden_sizes and " + std::string(field) +
                                    ": give hidden_sizes, or --hidden_sizes null with depth and hidden_size");
    if (!hidden_sizes.empty()) return hidden_sizes;
    if (!depth || !hidden_size)
      throw std::invalid_argument("model.hidden_sizes is missing: give it, or depth and hidden_size");
    return std::vector<i64>(static_cast<std::size_t>(depth), hidden_size);
  }
  train_app::named_words architecture() const {
    std::string all;
    for (const i64 n : sizes()) all += (all.empty() ? "" : ", ") + std::to_string(n);
    return {{"hidden_sizes", "[" + all + "]"},
            {"activation_fn", activation},
            {"use_bias", use_bias ? "true" : "false"}};
  }
  std::string words() const {
    std::string all = "784-";
    for (const i64 n : sizes()) all += std::to_string(n) + "-";
    return all + "10, " + activation;
  }
  wsl::ml::network network() const;
};

/// The images of a part of the data, if they are not those of files.
struct made_images {
  i64 digits;  ///< to draw
  std::string data_processor = {};
  synthetic_params random = {};
};

struct options {
  common_params common;
  model_params model;
  made_images made{.digits = 60000}, made_for_eval{.digits = 10000};  // as many as MNIST has
};

void declare(train_app::fields& f, options& o);
/// Throws std::invalid_argument for files of one part of the data where the other part, which is needed,
/// would be drawn.
void require_files(const options& o, bool trains, bool evaluates);

/// For wsl-zoo.
std::unique_ptr<train_app::trainer_params> new_params();

}  // namespace mnist_app
