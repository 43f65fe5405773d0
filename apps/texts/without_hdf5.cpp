// SPDX-License-Identifier: MIT
// The trainers of texts as they are built without libhdf5.
#include "text_input.hpp"

namespace text_app {

void complete_hdf5(wsl::ml::text_processor& p) {
  if (std::holds_alternative<wsl::ml::bert_hdf5_processor>(p) ||
      std::holds_alternative<wsl::ml::t5_hdf5_processor>(p))
    wsl::ml::refuse_hdf5(wsl::ml::name_of(p));
}

}  // namespace text_app
