// SPDX-License-Identifier: MIT
// What the tests of waves in other media share: problems with everything, and measures of errors.
#pragma once
#include <wsl/kernel/wave.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

namespace wave_media {

using namespace wsl;
using wave25::point;

inline constexpr f64 pi = 3.14159265358979323846;

template <class Numbers>
f64 largest(const Numbers& u) {
  f64 most = 0;
  for (auto x : u) most = std::max(most, std::abs(static_cast<f64>(x)));
  return most;
}
template <class Numbers, class Others>
f64 relative_error(const Numbers& u, const Others& v) {
  REQUIRE(u.size() == v.size());
  f64 error = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    error = std::max(error, std::abs(static_cast<f64>(u[i]) - static_cast<f64>(v[i])));
  return error / largest(v);
}

/// Whole numbers that look like chance, from 0 to below n.
inline int scattered(std::size_t i, int n) {
  u64 x = (i + 1) * 0x9e3779b97f4a7c15u;
  x ^= x >> 31, x *= 0xbf58476d1ce4e5b9u, x ^= x >> 27;
  return static_cast<int>(x % static_cast<u64>(n));
}

/// A velocity in each cell, sources of all kinds, and receivers near every side.
inline wave25::problem mixture(const grid::cells& size, wave25::border kind, bool free_surface) {
  wave25::problem p{.size = size, .spacing = 10, .edge = kind, .edge_width = 4, .free_surface = free_surface};
  p.velocity.resize(size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 1500 + static_cast<f32>(scattered(i, 2000));
  const f64 wide = (size.x - 1) * 10., deep = (size.y - 1) * 10., low = (size.z - 1) * 10.;
  p.sources = {
      {.peak_hz = 30, .amplitude = 2, .delay = 0.03, .place = point{0.43 * wide, 0.61 * deep, 0.2 * low}},
      {.peak_hz = 20,
       .amplitude = 900,
       .delay = 0.02,
       .place = point{0.9 * wide, 3.5, 4},
       .kind = wave25::source_term::point},
      {.at = {1, 1, size.z / 2}, .wavelet = {1, -2, 3.5f, 0, 1}}};
  p.receivers = {point{0.5 * wide, 0.45 * deep, 0.21 * low},
                 point{0, deep, 13},
                 point{wide - 1, 1, low},
                 {size.x / 2, size.y / 3, size.z - 1}};
  return p;
}

/// Fields and traces of a medium without its property are those of wave25, but for rounding.
template <class Medium>
void is_wave25(const Medium& plain) {
  for (const bool free_surface : {false, true})
    for (const auto border : {wave25::border::reflects, wave25::border::sponge, wave25::border::cpml}) {
      wave25::problem p = mixture({23, 15, 18}, border, free_surface);
      p.step = 0.8 * wave25::largest_stable_step(p.fastest(), p.spacing);
      seismic::simulation s{seismic::problem{p, plain}, {.wide = 2}};
      wave25::simulation expected{p};
      s.run(40), expected.run(40);
      INFO("free surface " << free_surface << ", border " << static_cast<int>(border));
      CHECK(relative_error(s.field(), expected.field()) < 2e-5);
      for (std::size_t i = 0; i < p.receivers.size(); ++i)
        CHECK(relative_error(s.trace(i), expected.trace(i)) < 2e-5);
    }
}

/// The same bits on any number of PEs and threads, with any number of steps between exchanges, and where a
/// run was saved and went on.
template <class Medium>
void has_one_result(const Medium& medium, wave25::border kind) {
  const seismic::problem p{mixture({20, 11, 13}, kind, true), medium};
  seismic::simulation whole{p, {.wide = 1, .high = 1, .depth = 1, .threads = 1}};
  whole.run(130);
  REQUIRE(largest(whole.field()) > 0);
  const auto is_whole = [&](auto& s) {
    CHECK(s.field() == whole.field());
    CHECK(s.slice(1, 4) == whole.slice(1, 4));
    std::vector<f32> blocks(p.shot.size.count());
    s.each_own_block([&](const grid::lines& where, auto line) {
      for (int x = where.x.from; x < where.x.to; ++x)
        for (int y = where.y.from; y < where.y.to; ++y)
          std::ranges::copy(line(x, y), &blocks[p.shot.size.index({x, y, 0})]);
    });
    CHECK(blocks == whole.field());
    for (std::size_t i = 0; i < p.shot.receivers.size(); ++i) CHECK(s.trace(i) == whole.trace(i));
  };
  for (const seismic::options& how :
       {seismic::options{2, 1, 1, 2}, {3, 1, 4, 1}, {5, 2, 2, 3}, {1, 3, 5, 2}, {1, 1, 8, 1}, {}}) {
    INFO(how.wide << " x " << how.high << " PEs, depth " << how.depth << ", " << how.threads << " threads");
    seismic::simulation s{p, how};
    s.run(130);
    is_whole(s);
  }
  seismic::simulation first{p, {.wide = 2, .depth = 3}}, second{p, {.wide = 3, .depth = 2}},
      third{p, {.wide = 2, .high = 2, .depth = 2}};
  first.run(83);
  const std::string bytes = to_bytes(first.save(), p);
  second.restore(seismic::state_from_bytes(bytes, p));
  CHECK(second.time() == 83);
  second.run(47);
  is_whole(second);

  // a checkpoint in a file, line by line
  const std::string name =
      (std::filesystem::temp_directory_path() / ("wave_media_" + std::to_string(::getpid()))).string();
  support::scattered_file file(name, checkpoint_size(first));
  write_checkpoint(first, file), file.finish();
  const support::file_reader written(name);
  REQUIRE(written.size() == bytes.size());
  std::string found(bytes.size(), '\0');
  written.read(0, found.data(), found.size());
  CHECK(found == bytes);
  third.run(5);
  read_checkpoint(third, written);
  CHECK(third.time() == 83);
  third.run(47);
  is_whole(third);
  std::filesystem::remove(name);
}

/// What borders of a long grid send back, over the largest amplitude: a source near a long side, most of whose
/// waves meet the frame at grazing angles, and receivers far from it and at half of the way. The same on a
/// grid so large that nothing comes back is what should be there. `in(beyond)` is the medium of a grid with so
/// many cells more on each side.
struct reflections {
  std::array<f64, 2> of_sponge, of_cpml;
};
template <class MediumOf>
reflections reflected_in(MediumOf in) {
  const auto heard = [&](wave25::border edge, int beyond) {
    wave25::problem p{.size = {100 + 2 * beyond, 28 + 2 * beyond, 28 + 2 * beyond},
                      .step = 2.6e-3,
                      .edge = edge,
                      .edge_width = 8};
    p.sources = {{.at = {14 + beyond, 11 + beyond, 11 + beyond}, .peak_hz = 12, .delay = 0.1}};
    p.receivers = {{86 + beyond, 11 + beyond, 11 + beyond}, {50 + beyond, 14 + beyond, 11 + beyond}};
    seismic::simulation s{seismic::problem{p, in(beyond)}};
    s.run(360);
    return std::array{s.trace(0), s.trace(1)};
  };
  const auto exact = heard(wave25::border::reflects, 42);
  const auto error = [&](wave25::border kind) {
    const auto found = heard(kind, 0);
    return std::array{relative_error(found[0], exact[0]), relative_error(found[1], exact[1])};
  };
  return {error(wave25::border::sponge), error(wave25::border::cpml)};
}

/// With a cpml a field that is no longer fed dies away, if slowly where rock has slow waves. Where epsilon
/// equals delta nothing drives back what rounding leaves in a direction that the medium's matrix maps to zero.
inline constexpr grid::cells dying_waves{21, 20, 22};
template <class Medium>
void dies_away(const Medium& medium) {
  wave25::problem p = mixture(dying_waves, wave25::border::cpml, false);
  p.edge_width = 8;
  p.sources = {{.at = {10, 10, 11}, .peak_hz = 20, .delay = 0.06, .kind = wave25::source_term::point}};
  seismic::simulation s{seismic::problem{p, medium}};
  s.run(110);
  const f64 at_work = largest(s.field());
  s.run(1390);
  const f64 late = largest(s.field());
  s.run(1500);
  const f64 at_last = largest(s.field());
  CHECK(at_last < 0.03 * at_work);
  CHECK(at_last < std::max(late, 0.005 * at_work));
}

/// The crest of a trace: its time in samples, by the parabola through three, and its height.
struct crest {
  f64 at, height;
};
inline crest crest_of(const std::vector<f32>& trace) {
  const auto most = static_cast<std::size_t>(std::max_element(trace.begin(), trace.end()) - trace.begin());
  REQUIRE(most > 0);
  REQUIRE(most + 1 < trace.size());
  const f64 a = f64{trace[most - 1]}, b = f64{trace[most]}, c = f64{trace[most + 1]},
            by = 0.5 * (a - c) / (a - 2 * b + c);
  return {static_cast<f64>(most) + by, b - 0.25 * (a - c) * by};
}

/// The root of the mean square of what a trace is off an exact solution, over that of the solution.
template <class Exact>
f64 off(const std::vector<f32>& trace, f64 dt, Exact exact) {
  f64 wrong = 0, whole = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const f64 right = exact(static_cast<f64>(i + 1) * dt), difference = f64{trace[i]} - right;
    wrong += difference * difference, whole += right * right;
  }
  return std::sqrt(wrong / whole);
}

}  // namespace wave_media
