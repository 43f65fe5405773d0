// SPDX-License-Identifier: MIT
#include "records.hpp"

#include <algorithm>
#include <cmath>
#include <wsl/support/file_reader.hpp>
#include <wsl/support/fingerprint.hpp>

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

/// How SEG-Y has traces of so many steps: s between its samples, and how many.
struct sampling {
  f64 interval = 0;
  std::size_t samples = 0;
};
sampling sampling_of(f64 dt, f64 steps, f64 interval) {
  const f64 whole = std::max(1., std::floor(dt * 1e6 + 1e-6)) * 1e-6, apart = interval > 0 ? interval : whole;
  return {apart, static_cast<std::size_t>(steps * dt / apart + 1e-6) + 1};
}

gather gather_of(const std::vector<std::vector<f32>>& traces, const problem& p, f64 interval, int number) {
  const f64 dt = p.time_step();
  const auto [apart, samples] = sampling_of(dt, static_cast<f64>(traces.front().size()), interval);
  gather g{number, apart, 0, p.sources.front().position(p.spacing), places_of(p), {}};
  for (const auto& trace : traces) g.traces.push_back(at_times({dt, dt, trace}, 0, apart, samples));
  return g;
}

/// Throws if samples at these times are no record of a run of so many steps.
void require_times(const std::string& file, f64 first, f64 interval, std::size_t samples, const problem& p,
                   i64 steps) {
  const f64 dt = p.time_step(), end = first + static_cast<f64>(samples - 1) * interval,
            end_of_run = static_cast<f64>(steps) * dt;
  // A wavelet of the user's has its own frequencies. Of others the record must be able to have the main one.
  const wsl::wave25::source& s = p.sources.front();
  if (s.wavelet.empty() && interval > 1.01 * dt && 2 * interval * s.peak_hz > 1)
    refuse(
        "{}: its samples are {:g} s apart, and a wave of --frequency {:g} Hz has fewer than two of them in a "
        "period: the interval between samples is in seconds",
        file, interval, s.peak_hz);
  if (interval > 1.01 * dt && end_of_run < 4 * interval)
    refuse(
        "{}: its samples are {:g} s apart, and the run ends after {:g} s: the interval between samples is in "
        "seconds",
        file, interval, end_of_run);
  // The last sample of a record may come up to an interval before the end of its run.
  if (end_of_run - end > interval * (1 - 1e-6))
    refuse(
        "{}: it ends after {:g} s ({} samples, {:g} s apart), and the run after {:g} s ({} steps): give "
        "--steps {} or fewer, or longer records",
        file, end, samples, interval, end_of_run, steps,
        std::max<i64>(1, static_cast<i64>(end / dt * (1 + 1e-9))));
}

/// Traces of a file at the times of the steps.
std::vector<std::vector<f32>> at_steps(const std::string& file, const std::vector<std::vector<f32>>& traces,
                                       f64 first, f64 interval, const problem& p, i64 steps) {
  require_times(file, first, interval, traces.front().size(), p, steps);
  std::vector<std::vector<f32>> all;
  const f64 dt = p.time_step();
  const bool same = std::abs(first - dt) < 1e-9 * dt && std::abs(interval - dt) < 1e-9 * dt;
  for (const auto& trace : traces) {
    std::vector<f32> v =
        same ? trace : at_times({first, interval, trace}, dt, dt, static_cast<std::size_t>(steps));
    v.resize(static_cast<std::size_t>(steps));
    all.push_back(std::move(v));
  }
  return all;
}

/// The file of a folder with its traces. SEG-Y comes first, for it says where and when they were recorded.
std::filesystem::path records_in(const std::filesystem::path& folder) {
  if (std::filesystem::is_regular_file(folder))
    refuse("--data: {} is a file: give the folder in which it is shot.sgy or shot.npy", folder.string());
  for (const char* name : {"shot.sgy", "shot.npy"})
    if (std::filesystem::exists(folder / name)) return folder / name;
  refuse("--data: {} has neither shot.sgy nor shot.npy: record with --record-format segy or npy",
         folder.string());
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

void require_segy_holds(const problem& p, i64 steps, f64 interval) {
  constexpr f64 most = 32767;  // its headers have 16 bits
  const f64 dt = p.time_step();
  const auto [apart, samples] = sampling_of(dt, static_cast<f64>(steps), interval);
  if (apart * 1e6 < 1 - 1e-6 || std::abs(apart * 1e6 - std::round(apart * 1e6)) > 1e-6)
    refuse("--sample-interval: SEG-Y has whole microseconds between two samples, not {:g}", apart * 1e6);
  if (apart * 1e6 > most + 0.5)
    refuse(
        "{}: SEG-Y holds at most {:.0f} microseconds between two samples, not {:.0f}: give "
        "--sample-interval {:g} or less",
        interval > 0 ? "--sample-interval" : "--record-format segy", most, apart * 1e6, most * 1e-6);
  if (static_cast<f64>(samples) > most) {
    const f64 longer = std::ceil(static_cast<f64>(steps) * dt / (most - 1) * 1e6);
    refuse("--record-format segy: {} steps are {} samples a trace, and SEG-Y holds {:.0f}: {}", steps,
           samples, most,
           longer <= most ? fmt::format("give --sample-interval {:g} or more", longer * 1e-6)
                          : "record with npy");
  }
}

std::vector<std::vector<f32>> read_records(const std::filesystem::path& folder, const problem& p, i64 steps,
                                           f64 interval) {
  const auto file = records_in(folder);
  const std::string name = file.string();
  const std::size_t n = p.receivers.size();
  if (file.extension() == ".sgy") {
    const gather g = segy_gather(name);
    if (g.traces.size() != n)
      refuse("{}: it has {} traces, and the shot {} receivers", name, g.traces.size(), n);
    const auto is_there = [&](const point& a, const point& b) {
      return std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z) <= 0.01 * p.spacing + 0.002;
    };
    if (const point &a = g.source, b = p.sources.front().position(p.spacing); !is_there(a, b))
      refuse(
          "{}: its source was at ({:g}, {:g}, {:g}) m, and that of the shot is at ({:g}, {:g}, {:g}) m: "
          "give the place of the data, with --source-at or --shots",
          name, a.x, a.y, a.z, b.x, b.y, b.z);
    const auto places = places_of(p);
    for (std::size_t i = 0; i < n; ++i)
      if (const point &a = g.receivers[i], &b = places[i]; !is_there(a, b))
        refuse(
            "{}, trace {}: it was recorded at ({:g}, {:g}, {:g}) m, and receiver {} of the shot is at ({:g}, "
            "{:g}, {:g}) m",
            name, i + 1, a.x, a.y, a.z, i + 1, b.x, b.y, b.z);
    return at_steps(name, g.traces, g.first, g.interval, p, steps);
  }
  const app::number_array<f32> a = app::npy_from_bytes<f32>(app::read_file(file), name);
  if (a.shape.size() != 2 || a.shape[0] != n || a.shape[1] == 0)
    refuse("{}: its array is ({}), and the shot has {} receivers: it is (receivers, samples)", name,
           fmt::join(a.shape, ", "), n);
  if (!(interval > 0))
    refuse("{}: an array does not say the time between two samples: give it with --data-interval", name);
  std::vector<std::vector<f32>> traces;
  for (std::size_t i = 0; i < n; ++i) {
    const auto from = a.numbers.begin() + static_cast<std::ptrdiff_t>(i * a.shape[1]);
    traces.emplace_back(from, from + static_cast<std::ptrdiff_t>(a.shape[1]));
  }
  return at_steps(name, traces, interval, interval, p, steps);
}

wsl::u64 fingerprint_of_records(const std::filesystem::path& folder, f64 interval) {
  const auto file = records_in(folder);
  const wsl::support::file_reader in(file.string());
  wsl::support::fingerprint sum;
  std::vector<char> some(std::size_t{1} << 20);
  for (wsl::u64 at = 0; at < in.size(); at += some.size()) {
    const auto n = static_cast<std::size_t>(std::min<wsl::u64>(some.size(), in.size() - at));
    in.read(at, some.data(), n), sum.add(some.data(), n);
  }
  sum.add(file.extension() == ".sgy" ? 0 : interval);  // SEG-Y says its own
  return sum.value();
}

}  // namespace wave_app
