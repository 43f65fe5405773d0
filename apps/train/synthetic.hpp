// SPDX-License-Identifier: MIT
// Data of random numbers, which a trainer takes in place of files (wsl/ml/data/synthetic.hpp), by the name
// that the Model Zoo has for them.
#pragma once
#include <wsl/ml/data/synthetic.hpp>

#include "fields.hpp"
#include "params.hpp"

namespace train_app {

inline constexpr const char* synthetic_processor = "SyntheticDataProcessor";

struct synthetic_params {
  i64 num_examples = 0;
};
/// Declares the field num_examples of the section that is open.
void declare_synthetic(fields& f, synthetic_params& p);

/// The random numbers of a part of the data. If no number of examples is given, those to train with never
/// end, and there are ten batches to evaluate with.
wsl::ml::synthetic_settings synthetic_settings_of(const input_params& in, i64 num_examples, bool trains);

/// Whether a run takes random numbers: by the data_processor of train_input, or of eval_input if that is all
/// there is. Throws std::invalid_argument if one of both parts does and the other does not, if there is a
/// data_dir as well, and for num_examples of other data.
bool is_synthetic(const std::string& train_processor, const std::string& eval_processor,
                  const common_params& p, const synthetic_params& of_train, const synthetic_params& of_eval);
/// The same of one part of the data, whose data_processor is known.
void check_synthetic(const char* section, const std::string& data_dir);

}  // namespace train_app
