// SPDX-License-Identifier: MIT
// A traced function says what a step does; the step runs when it has returned.
//   auto training_step = cstorch::trace([&](const ml::batch& b) {
//     auto loss = model(b);
//     loss.backward();
//     optimizer.step(), optimizer.zero_grad();
//     return loss;
//   });
#pragma once
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "data_executor.hpp"
#include "model.hpp"

namespace wsl::ml::cstorch {

template <class F>
class traced {
 public:
  explicit traced(F f) : f_(std::move(f)) {}

  /// Throws std::logic_error in a closure, if the function's step is not whole, or does something else than
  /// the first time.
  template <class... A>
  auto operator()(A&&... of) {
    data_executor& executor = data_executor::running("a traced function");
    if (in_closure::now())
      throw std::logic_error(
          "wsl: a traced function runs a step, and a closure only reads numbers: call it in the executor's "
          "loop");
    const auto now = std::make_unique<recording>();
    if constexpr (std::is_void_v<std::invoke_result_t<F&, A...>>) {
      f_(std::forward<A>(of)...);
      run(*now, executor);
    } else {
      auto result = f_(std::forward<A>(of)...);
      run(*now, executor);
      return result;
    }
  }

 private:
  void run(const recording& now, data_executor& executor) {
    now.require_whole();
    if (!now.backward && now.model->is_training)
      throw std::logic_error(
          "wsl: a traced function makes no gradients of a model that trains: call loss.backward(), or "
          "model.eval() "
          "before the loop, which leaves dropout out");
    if (now.backward && !now.model->is_training)
      throw std::logic_error(
          "wsl: a traced function makes gradients of a model that evaluates: call model.train() before the "
          "loop");
    if (is_compiled_ && !(is_like_ == shape_of(now)))
      throw std::logic_error(
          "wsl: a traced function does something else than in its first call: it is compiled once, so what "
          "it does must "
          "not depend on the step; write two functions");
    is_compiled_ = true, is_like_ = shape_of(now);
    if (now.model->compile_only) executor.only_compiles();
    now.model->run(now, executor.config().num_csx);
  }
  /// What must not change from call to call.
  struct shape {
    const program* model = nullptr;
    bool logits = false, backward = false, schedules = false;
    f64 clip_norm = 0, clip_value = 0;
    friend bool operator==(const shape&, const shape&) = default;
  };
  static shape shape_of(const recording& r) {
    return {r.model, r.logits != nullptr, r.backward, r.schedules, r.clip_norm, r.clip_value};
  }

  F f_;
  bool is_compiled_ = false;
  shape is_like_ = {};
};

template <class F>
traced<F> trace(F f) {
  return traced<F>(std::move(f));
}

}  // namespace wsl::ml::cstorch
