// SPDX-License-Identifier: MIT
// Checkpoints of the wave equation. A checksum would stop all that a fuzzer changes, so beginning and end are
// put around its bytes.
#include <wsl/kernel/wave25/checkpoint.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl::wave25;

void wave(std::string_view bytes) {
  static const problem p{.size = {2, 1, 1}, .sources = {{{0, 0, 0}, 20, 1, 0.02}}, .receivers = {{1, 0, 0}}};
  const auto add = [](std::string& to, std::uint64_t n) {
    to.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  std::string all(checks::checkpoint_magic);
  add(all, checks::fingerprint_of(p));
  all += bytes;
  wsl::support::fingerprint sum;
  sum.add(all.data(), all.size());
  add(all, sum.value());
  for (const std::string_view text : {std::string_view(all), bytes}) try {
      const state s = state_from_bytes(text, p);
      fuzz::holds(to_bytes(s, p) == text);
    } catch (const std::invalid_argument& e) { fuzz::holds(std::string_view(e.what()).starts_with("wsl")); }
}

const fuzz::enter table{{"wave", wave}};
}  // namespace
