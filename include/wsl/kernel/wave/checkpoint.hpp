// SPDX-License-Identifier: MIT
// A state of a simulation in another medium as bytes and back, and as a file of several processes, as
// wave25/checkpoint.hpp has it for wave25.
#pragma once
#include "../wave25/checkpoint.hpp"
#include "simulation.hpp"

namespace wsl::seismic {

namespace checks {

inline constexpr wave25::checks::checkpoint_bytes of_seismic{
    "seismic", "wsl seismic state 2\n",
    "the medium with its densities or anisotropy, grid, velocities, step, border, sources and receivers"};

template <class Writer, class Array>
void put(Writer& to, u64 fingerprint, i64 time, const std::vector<Array>& now,
         const std::vector<Array>& before, const std::vector<std::vector<f32>>& traces, const Array& border) {
  const auto arrays = [&](const auto& all) {
    to.number(u64{all.size()});
    for (const auto& one : all) to.numbers(one);
  };
  to.text(of_seismic.magic), to.number(fingerprint), to.number(time);
  arrays(now), arrays(before), arrays(traces);
  to.number(u64{1}), to.numbers(border);
}
template <class Medium>
wave25::checks::spread_writer writer_of(simulation<Medium>& s) {
  const grid::state_on_pes<f32> all = s.on_pes();
  wave25::checks::spread_writer to(all);
  put(to, fingerprint_of(s.of()), s.time(), all.now, all.before,
      wave25::checks::traces_of(s, s.of().shot.receivers.size()), all.border);
  return to;
}
template <class Source, class Medium>
wave25::checks::saved_state saved_in(wave25::checks::reader<Source>& in, const problem<Medium>& p) {
  const auto arrays = [&](std::size_t count, auto take) {
    if (const u64 there = in.template number<u64>(); there != count)
      in.what().damaged(support::joined({"it has ", there, " arrays where ", count, " belong"}));
    for (std::size_t i = 0; i < count; ++i) take();
  };
  wave25::checks::saved_state s;
  s.time = in.template number<i64>();
  const u64 n = p.shot.size.count(), samples = static_cast<u64>(std::max<i64>(s.time, 0));
  arrays(std::size_t(Medium::fields), [&] { s.now.push_back(in.pass(n)); });
  arrays(std::size_t(Medium::fields), [&] { s.before.push_back(in.pass(n)); });
  arrays(p.shot.receivers.size(), [&] { s.traces.push_back(in.numbers(samples)); });
  arrays(1, [&] { s.border = in.pass(remembered(p)); });
  if (!in.empty()) in.what().damaged("it goes on after its end");
  return s;
}

}  // namespace checks

template <class Medium>
std::string to_bytes(const state& s, const problem<Medium>& p) {
  wave25::checks::bytes_writer to;
  checks::put(to, fingerprint_of(p), s.time, s.now, s.before, s.traces, s.border);
  return to.sealed();
}

/// Throws std::invalid_argument that names the mistake in the bytes.
template <class Medium>
state state_from_bytes(std::string_view bytes, const problem<Medium>& p) {
  const wave25::checks::bytes_reader of(bytes);
  auto in = wave25::checks::opened(of, bytes, checks::of_seismic, fingerprint_of(p));
  wave25::checks::saved_state saved = checks::saved_in(in, p);
  state s{.time = saved.time, .now = {}, .before = {}, .traces = std::move(saved.traces), .border = {}};
  for (const auto& field : saved.now) s.now.push_back(in.at(field));
  for (const auto& field : saved.before) s.before.push_back(in.at(field));
  s.border = in.at(saved.border);
  return s;
}

/// The bytes of a simulation's checkpoint.
template <class Medium>
u64 checkpoint_size(simulation<Medium>& s) {
  return checks::writer_of(s).size();
}
/// Writes a checkpoint, and continues from one, as those of wave25; collective.
template <class Medium, class File>
void write_checkpoint(simulation<Medium>& s, File& to) {
  checks::writer_of(s).write(to);
}
template <class Medium>
void read_checkpoint(simulation<Medium>& s, const support::file_reader& from) {
  wave25::checks::read_all(s, from, checks::of_seismic.in(from.name()), fingerprint_of(s.of()),
                           [&](auto& in) { return checks::saved_in(in, s.of()); });
}
template <class Medium>
void read_checkpoint(simulation<Medium>& s, const std::string& name) {
  read_checkpoint(s, *wave25::checks::opened_by_all(s, name));
}

}  // namespace wsl::seismic
