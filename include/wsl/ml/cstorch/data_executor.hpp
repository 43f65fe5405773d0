// SPDX-License-Identifier: MIT
// The loop of a program: it takes batches from a loader, and says which steps log and which save.
//   cstorch::data_executor executor(loader,
//                                   {.num_steps = 1000, .checkpoint_steps = 100, .config = {.num_csx = 2}});
//   for (const auto& [step, batch] : executor) ...
#pragma once
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "../model/batch.hpp"

namespace wsl::ml::cstorch {

struct cs_config {
  int num_csx = 0;  ///< wafers; 0: as the backend says
};

class data_executor {
 public:
  struct settings {
    i64 num_steps = 0;
    i64 checkpoint_steps = 0;  ///< steps between two checkpoints, and the last; 0: none
    i64 log_steps = 1;         ///< steps between two calls of step closures; the last always has one
    cs_config config = {};
  };

  /// A loader has next(), which returns a batch or something with a view() of one, and outlives the executor.
  /// Throws std::invalid_argument for numbers that cannot be.
  template <class Loader>
  data_executor(Loader& loader, const settings& how) : how_(how) {
    if (how.num_steps < 1 || how.checkpoint_steps < 0 || how.log_steps < 1 || how.config.num_csx < 0)
      throw std::invalid_argument(
          fmt::format("wsl: an executor has num_steps and log_steps of at least 1, and checkpoint_steps and "
                      "num_csx of at least "
                      "0, not {}, {}, {} and {}",
                      how.num_steps, how.log_steps, how.checkpoint_steps, how.config.num_csx));
    using numbers = decltype(loader.next());
    take_ = [&loader, kept = std::shared_ptr<numbers>()]() mutable -> batch {
      kept = std::make_shared<numbers>(loader.next());
      if constexpr (requires { kept->view(); }) return kept->view();
      else return *kept;
    };
  }
  data_executor(const data_executor&) = delete;
  ~data_executor() { leave(); }

  /// A step from 0 on, and its batch, which lives until the next.
  struct item {
    i64 step;
    batch numbers;
  };
  class iterator {
   public:
    explicit iterator(data_executor* of) : of_(of) {}
    const item& operator*() const { return of_->item_; }
    iterator& operator++() {
      of_->advance();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return of_->item_.step >= of_->how_.num_steps; }

   private:
    data_executor* of_;
  };
  /// Takes the first batch. Throws std::logic_error while another executor gives batches.
  iterator begin() {
    if (now_)
      throw std::logic_error(
          "wsl: an executor is giving batches while another does: end the loop of one before the other "
          "begins");
    now_ = this;
    item_ = {-1, {}};
    advance();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// The executor whose loop is running. Throws std::logic_error if there is none; `what` needs it.
  static data_executor& running(const char* what) {
    if (!now_)
      throw std::logic_error(fmt::format(
          "wsl: {} is called in the loop of an executor: for (const auto& [step, batch] : executor)", what));
    return *now_;
  }
  const cs_config& config() const { return how_.config; }
  /// Says that steps are only compiled: no closure is called.
  void only_compiles() { runs_ = false; }
  bool logs() const { return runs_ && (is_due(how_.log_steps) || is_last()); }
  bool saves() const {
    return runs_ && how_.checkpoint_steps > 0 && (is_due(how_.checkpoint_steps) || is_last());
  }

 private:
  bool is_due(i64 every) const { return (item_.step + 1) % every == 0; }
  bool is_last() const { return item_.step + 1 == how_.num_steps; }
  void advance() {
    if (++item_.step < how_.num_steps) item_.numbers = take_();
    else leave();
  }
  void leave() {
    if (now_ == this) now_ = nullptr;
  }

  settings how_;
  bool runs_ = true;
  std::function<batch()> take_;
  item item_ = {-1, {}};
  static inline thread_local data_executor* now_ = nullptr;
};

}  // namespace wsl::ml::cstorch
