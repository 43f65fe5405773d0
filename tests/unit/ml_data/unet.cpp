// SPDX-License-Identifier: MIT
// UNet beside PyTorch: the golden state in WSL_DATA_DIR/hf/unet, two levels with batch norm in training,
// which was computed in f64 and rounded once.
#include <wsl/ml/io/safetensors.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/model/unet.hpp>
#include <wsl/ml/train/trainer.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;

/// The tensor of a parameter, and whether it is that of a transposed convolution.
std::pair<std::string, bool> tensor_of(const std::string& parameter) {
  const std::size_t dot = parameter.rfind('.');
  std::string layer = parameter.substr(0, dot), kind = parameter.substr(dot + 1);
  if (kind == "gain") kind = "weight";
  if (kind == "running mean") kind = "running_mean";
  if (kind == "running variance") kind = "running_var";
  if (layer == "head") return {"out." + kind, false};
  if (layer.ends_with(" scale")) return {"up" + layer.substr(3, 1) + "." + kind, true};
  const std::string of = layer.substr(0, layer.find(' '));
  const bool is_bottom = of == "bottom";
  const std::string where = is_bottom ? of : (of == "down" ? "down" : "dec") + layer.substr(of.size() + 1, 1);
  const std::string rest = layer.substr(is_bottom ? 7 : of.size() + 3);  // "conv 1"
  return {where + "." + rest.substr(0, 4) + rest.substr(5) + "." + kind, false};
}
/// A parameter, (outputs, lines, pixels, inputs), of a tensor: (outputs, inputs, lines, pixels), or of a
/// transposed convolution (inputs, outputs, lines, pixels).
std::vector<f32> from_tensor(const std::vector<f32>& x, const parameter& p, const std::vector<u64>& axes,
                             bool is_transposed) {
  if (p.rows == 1 && axes.size() < 4) return x;
  const std::size_t taps = axes[2] * axes[3], outputs = axes[is_transposed ? 1 : 0],
                    inputs = axes[is_transposed ? 0 : 1];
  std::vector<f32> y(x.size());
  for (std::size_t o = 0; o < outputs; ++o)
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t tap = 0; tap < taps; ++tap)
        y[(o * taps + tap) * inputs + i] = x[(is_transposed ? i * outputs + o : o * inputs + i) * taps + tap];
  return y;
}
weights read_parameters(const network& n, safetensors_file& in, const std::string& prefix) {
  weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const parameter& p = n.parameters()[k];
    if (p.follows > 0 && !prefix.empty()) continue;
    const auto [name, is_transposed] = tensor_of(p.name);
    INFO(p.name << " " << name);
    const tensor_info* t = in.find(prefix + name);
    REQUIRE(t);
    const std::vector<f32> x =
        from_tensor(in.numbers(*t), p, {t->shape.begin(), t->shape.end()}, is_transposed);
    REQUIRE(x.size() == w[k].size());
    w[k] = x;
  }
  return w;
}
/// The largest difference, for the largest number.
f64 off(std::span<const f32> x, std::span<const f32> right) {
  REQUIRE(x.size() == right.size());
  f64 most = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(static_cast<f64>(x[i]) - static_cast<f64>(right[i])));
    largest = std::max(largest, std::abs(static_cast<f64>(right[i])));
  }
  return most / largest;
}
unet of_golden() {
  return {.height = 16, .width = 24, .encoder_filters = {4, 8, 16}, .decoder_filters = {8, 4}};
}

TEST_CASE("A UNet has the logits, gradients and losses of PyTorch's") {
  const auto path = files::data_set("hf/unet");
  if (!path) return;
  safetensors_file golden(*path + "/golden.safetensors"), model(*path + "/model.safetensors");
  const network n = of_golden().build();
  weights w = read_parameters(n, model, "");
  const weights right = read_parameters(n, golden, "grad.");
  const std::vector<f32> image = golden.numbers(*golden.find("image")),
                         mask = golden.numbers(*golden.find("mask"));
  const std::vector<i32> targets(mask.begin(), mask.end());
  batch b{.features = image, .targets = targets, .sequences = 2, .length = 16 * 24};

  const f64 counts = check(n, b);
  activation_store store = store_of(n, b);
  store.random.on = true;
  const f64 loss = serial_forward(n, w, store) / counts;
  weights gradients(n);
  serial_backward(n, w, gradients, store);
  store.enter(n.logits());
  const matrix<f32> y = store.value(n.logits());
  CHECK(off({y.first(), static_cast<std::size_t>(y.rows())}, golden.numbers(*golden.find("logits"))) < 1e-5);
  CHECK(loss == Approx(static_cast<f64>(golden.numbers(*golden.find("loss"))[0])).epsilon(1e-5));
  // Batch norm takes away what the bias of a convolution before it adds, so that has no gradient.
  const auto has_gradient = [&](std::size_t k) {
    const std::string& name = n.parameters()[k].name;
    return n.parameters()[k].follows == 0 &&
           !(name.ends_with(".bias") && name.find("conv") != std::string::npos);
  };
  for (std::size_t k = 0; k < w.size(); ++k) {
    INFO(n.parameters()[k].name);
    if (has_gradient(k)) CHECK(off(gradients[k], right[k]) < 1e-5);
  }

  const std::vector<f32> losses = golden.numbers(*golden.find("losses_adamw"));
  // With more rows than images, rows share them.
  for (const auto& [workers, columns] :
       {std::pair{1, 1}, {2, 1}, {2, 2}, {4, 2}, {3, 1}, {4, 1}, {8, 2}, {9, 3}, {16, 2}}) {
    INFO(workers << " workers in columns " << columns);
    trainer t(of_golden().build(), optimizer::adamw(), {.workers = workers, .columns = columns});
    for (std::size_t k = 0; k < w.size(); ++k) std::copy(w[k].begin(), w[k].end(), t.parameters()[k].begin());
    // A step of SGD with a large rate shows the gradients on this grid.
    trainer plain(of_golden().build(), optimizer::sgd(), {.workers = workers, .columns = columns});
    for (std::size_t k = 0; k < w.size(); ++k)
      std::copy(w[k].begin(), w[k].end(), plain.parameters()[k].begin());
    plain.step(b, 64);
    for (std::size_t k = 0; k < w.size(); ++k) {
      INFO(n.parameters()[k].name);
      std::vector<f32> gradient(w[k].size());
      for (std::size_t i = 0; i < gradient.size(); ++i)
        gradient[i] = (w[k][i] - plain.parameters()[k][i]) / 64;
      if (has_gradient(k)) CHECK(off(gradient, right[k]) < 1e-5);
    }
    for (const f32 of_step : losses)
      CHECK(t.step(b, 1e-3) == Approx(static_cast<f64>(of_step)).epsilon(1e-4));
  }
}

}  // namespace
