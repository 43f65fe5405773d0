// SPDX-License-Identifier: MIT
#include "records.hpp"

#include <cmath>

#include "../files.hpp"
#include "../npy.hpp"
#include "exports.hpp"
#include "figures.hpp"
#include "segy.hpp"
#include "wavelet_file.hpp"

namespace wave_app {
namespace {

using wsl::wave25::point;
using wsl::wave25::problem;

std::vector<point> places_of(const problem& p) {
  std::vector<point> all;
  for (const auto& r : p.receivers) all.push_back(r.position(p.spacing));
  return all;
}

gather gather_of(const std::vector<std::vector<f32>>& traces, const problem& p, f64 interval, int number) {
  const f64 dt = p.time_step(), whole = std::max(1., std::floor(dt * 1e6 + 1e-6)) * 1e-6;
  gather g{number, interval > 0 ? interval : whole, 0, p.sources.front().position(p.spacing), places_of(p),
           {}};
  const auto samples =
      static_cast<std::size_t>(static_cast<f64>(traces.front().size()) * dt / g.interval + 1e-6) + 1;
  for (const auto& trace : traces) g.traces.push_back(at_times({dt, dt, trace}, 0, g.interval, samples));
  return g;
}

/// Traces of a file at the times of the steps.
std::vector<std::vector<f32>> at_steps(const std::vector<std::vector<f32>>& traces, f64 first, f64 interval,
                                       f64 dt, i64 steps) {
  std::vector<std::vector<f32>> all;
  const bool same = std::abs(first - dt) < 1e-9 * dt && std::abs(interval - dt) < 1e-9 * dt;
  for (const auto& trace : traces) {
    std::vector<f32> v =
        same ? trace : at_times({first, interval, trace}, dt, dt, static_cast<std::size_t>(steps));
    v.resize(static_cast<std::size_t>(steps));
    all.push_back(std::move(v));
  }
  return all;
}

}  // namespace

void write_records(const std::filesystem::path& folder, const std::vector<std::vector<f32>>& traces,
                   const problem& p, const record_formats& formats, f64 interval, int number) {
  if (formats.csv) app::write_file(folder / "shot.csv", csv(traces, p));
  if (formats.svg) app::write_file(folder / "shot.svg", figure_of_traces(traces, p));
  if (formats.segy) app::write_file(folder / "shot.sgy", segy_bytes(gather_of(traces, p, interval, number)));
  if (formats.npy) {
    std::vector<f32> all;
    for (const auto& trace : traces) all.insert(all.end(), trace.begin(), trace.end());
    app::write_file(folder / "shot.npy", app::npy_bytes<f32>({traces.size(), traces.front().size()}, all));
  }
}

std::vector<std::vector<f32>> read_records(const std::filesystem::path& folder, const problem& p, i64 steps,
                                           f64 interval) {
  const auto segy = folder / "shot.sgy", npy = folder / "shot.npy";
  const std::size_t n = p.receivers.size();
  if (std::filesystem::exists(segy)) {
    const gather g = segy_gather(segy.string());
    if (g.traces.size() != n)
      refuse("{}: it has {} traces, and the shot {} receivers", segy.string(), g.traces.size(), n);
    const auto places = places_of(p);
    for (std::size_t i = 0; i < n; ++i) {
      const point &a = g.receivers[i], &b = places[i];
      if (std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z) > 0.01 * p.spacing + 0.002)
        refuse(
            "{}, trace {}: it was recorded at ({:g}, {:g}, {:g}) m, and receiver {} of the shot is at ({:g}, "
            "{:g}, "
            "{:g}) m",
            segy.string(), i + 1, a.x, a.y, a.z, i + 1, b.x, b.y, b.z);
    }
    return at_steps(g.traces, g.first, g.interval, p.time_step(), steps);
  }
  if (!std::filesystem::exists(npy))
    refuse("--data: {} has neither shot.sgy nor shot.npy: record with --record-format segy or npy",
           folder.string());
  const app::number_array<f32> a = app::npy_from_bytes<f32>(app::read_file(npy), npy.string());
  if (a.shape.size() != 2 || a.shape[0] != n || a.shape[1] == 0)
    refuse("{}: its array is ({}), and the shot has {} receivers: it is (receivers, samples)", npy.string(),
           fmt::join(a.shape, ", "), n);
  if (!(interval > 0))
    refuse("{}: an array does not say the time between two samples: give it with --data-interval",
           npy.string());
  std::vector<std::vector<f32>> traces;
  for (std::size_t i = 0; i < n; ++i) {
    const auto from = a.numbers.begin() + static_cast<std::ptrdiff_t>(i * a.shape[1]);
    traces.emplace_back(from, from + static_cast<std::ptrdiff_t>(a.shape[1]));
  }
  return at_steps(traces, interval, interval, p.time_step(), steps);
}

}  // namespace wave_app
