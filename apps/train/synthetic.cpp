// SPDX-License-Identifier: MIT
#include "synthetic.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace train_app {

void declare_synthetic(fields& f, synthetic_params& p) {
  f.add("num_examples", p.num_examples,
        "examples of SyntheticDataProcessor; null: without end to train with, ten batches to evaluate with")
      .at_least(1);
}

wsl::ml::synthetic_settings synthetic_settings_of(const input_params& in, i64 num_examples, bool trains) {
  constexpr i64 batches_of_evaluation = 10;
  if (!num_examples && !trains) num_examples = batches_of_evaluation * in.batch_size;
  // The held-out examples are never those to train with.
  return {.seed = 2 * static_cast<wsl::u64>(in.shuffle_seed) + (trains ? 0 : 1), .examples = num_examples};
}

void check_synthetic(const char* section, const std::string& data_dir) {
  if (!data_dir.empty())
    throw std::invalid_argument(fmt::format(
        "{0}.data_processor is {1}, which makes its data itself, and {0}.data_dir names files: leave "
        "one of them out",
        section, synthetic_processor));
}

bool is_synthetic(const std::string& train_processor, const std::string& eval_processor,
                  const common_params& p, const synthetic_params& of_train, const synthetic_params& of_eval) {
  const bool trains = train_processor == synthetic_processor,
             evaluates = eval_processor.empty() ? trains : eval_processor == synthetic_processor;
  if (trains != evaluates)
    throw std::invalid_argument(
        fmt::format("{} is {}, and {} is not: both parts of the data are random numbers, or neither is",
                    trains ? "train_input.data_processor" : "eval_input.data_processor", synthetic_processor,
                    trains ? "eval_input.data_processor" : "train_input.data_processor"));
  if (!trains) {
    if (of_train.num_examples || of_eval.num_examples)
      throw std::invalid_argument(fmt::format(
          "num_examples is of data_processor {}: leave it out, or take that", synthetic_processor));
    return false;
  }
  check_synthetic("train_input", p.train_input.data_dir);
  check_synthetic("eval_input", p.eval_input.data_dir);
  return true;
}

}  // namespace train_app
