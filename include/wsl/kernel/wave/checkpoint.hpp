// SPDX-License-Identifier: MIT
// A state of a simulation in another medium as bytes and back, as wave25/checkpoint.hpp has it for wave25.
#pragma once
#include "../wave25/checkpoint.hpp"
#include "simulation.hpp"

namespace wsl::seismic {

namespace checks {
inline constexpr std::string_view checkpoint_magic = "wsl seismic state 2\n";
}

template <class Medium>
std::string to_bytes(const state& s, const problem<Medium>& p) {
  std::string bytes(checks::checkpoint_magic);
  const auto number = [&](auto n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const auto arrays = [&](const std::vector<std::vector<f32>>& all) {
    number(u64{all.size()});
    for (const std::vector<f32>& v : all) {
      number(u64{v.size()});
      bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(f32));
    }
  };
  number(fingerprint_of(p)), number(s.time);
  arrays(s.now), arrays(s.before), arrays(s.traces), arrays({s.border});
  return wave25::checks::sealed(std::move(bytes));
}

/// Throws std::invalid_argument that names the mistake in the bytes.
template <class Medium>
state state_from_bytes(std::string_view bytes, const problem<Medium>& p) {
  wave25::checks::reader in =
      wave25::checks::opened(bytes, checks::checkpoint_magic, fingerprint_of(p), "seismic");
  const auto arrays = [&](std::size_t count, u64 most) {
    if (const u64 there = in.template number<u64>(); there != count)
      support::bad_argument(
          {"seismic: the checkpoint is damaged: it has ", there, " arrays where ", count, " belong"});
    std::vector<std::vector<f32>> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(in.numbers(most));
    return all;
  };
  state s;
  s.time = in.template number<i64>();
  const u64 n = p.shot.size.count();
  s.now = arrays(std::size_t(Medium::fields), n), s.before = arrays(std::size_t(Medium::fields), n);
  s.traces = arrays(p.shot.receivers.size(), static_cast<u64>(std::max<i64>(s.time, 0)));
  s.border = arrays(1, remembered(p))[0];
  if (!in.empty()) support::bad_argument({"seismic: the checkpoint is damaged: it goes on after its end"});
  return s;
}

}  // namespace wsl::seismic
