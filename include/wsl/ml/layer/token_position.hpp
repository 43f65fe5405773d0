// SPDX-License-Identifier: MIT
// The position of a token: in its sequence, or, where several documents are packed in a sequence and the
// batch says their positions (network::position_ids), in its document.
#pragma once
#include "stage.hpp"

namespace wsl::ml {

/// The position of token t for a stage whose second input, if it has one, says the positions.
inline int position_of(const activation_store& store, const stage& s, int t) {
  if (s.inputs.size() < 2 || !store.has(s.inputs[1])) return store.position(t);
  return store.ids(s.inputs[1])[static_cast<std::size_t>(t)];
}

}  // namespace wsl::ml
