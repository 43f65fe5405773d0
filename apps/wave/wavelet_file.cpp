// SPDX-License-Identifier: MIT
#include "wavelet_file.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <wsl/kernel/wave25/place.hpp>

#include "../files.hpp"
#include "../memory.hpp"
#include "../npy.hpp"

namespace wave_app {
namespace {

constexpr std::string_view blanks = " \t\r,";

/// The numbers of a line.
std::vector<f64> numbers_of(std::string_view line, const std::string& name, i64 number) {
  line = line.substr(0, line.find('#'));
  std::vector<f64> all;
  while (true) {
    const std::size_t from = line.find_first_not_of(blanks);
    if (from == line.npos) return all;
    line.remove_prefix(from);
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    f64 x = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(static_cast<f32>(x)))
      refuse("{}, line {}: '{}' is no number of 32 bits", name, number, word.substr(0, 40));
    all.push_back(x);
    line.remove_prefix(word.size());
  }
}

}  // namespace

signal signal_from_text(std::string_view text, const std::string& name) {
  signal s;
  std::vector<f64> times;
  i64 number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto x = numbers_of(line, name, ++number);
    if (x.empty()) continue;
    if (x.size() > 2 || (!s.samples.empty() && (x.size() == 2) != !times.empty()))
      refuse("{}, line {}: {} numbers; each line has one, or each a time in s and one", name, number,
             x.size());
    if (x.size() == 2) times.push_back(x[0]);
    s.samples.push_back(static_cast<f32>(x.back()));
  }
  if (s.samples.empty()) refuse("{}: there is no number in it", name);
  if (times.empty()) return s;
  if (times.size() < 2)
    refuse("{}: with times there are at least two lines, whose distance is the interval", name);
  s.first = times[0];
  s.interval = (times.back() - times[0]) / static_cast<f64>(times.size() - 1);
  if (!(s.interval > 0)) refuse("{}: its times do not grow", name);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (std::abs(times[i] - (s.first + static_cast<f64>(i) * s.interval)) > 1e-3 * s.interval)
      refuse("{}: time {} is {:g} s, and with equal distances it would be {:g} s", name, i + 1, times[i],
             s.first + static_cast<f64>(i) * s.interval);
  return s;
}

signal read_wavelet(const std::string& file, f64 interval) {
  std::error_code why;
  const auto size = std::filesystem::file_size(file, why);
  if (why) refuse("--wavelet-file: cannot read {}: {}", file, why.message());
  if (8 * static_cast<f64>(size) > app::memory_there())
    refuse("--wavelet-file: {} has {}, which is no wavelet", file, app::size_text(static_cast<f64>(size)));
  const std::string bytes = app::read_file(file);
  signal s;
  if (bytes.starts_with("\x93NUMPY")) {
    app::number_array<f32> a = app::npy_from_bytes<f32>(bytes, file);
    if (a.numbers.empty()) refuse("{}: there is no number in it", file);
    if (a.shape.size() != 1)
      refuse("{}: a wavelet is an array with one axis, and this one has {}", file, a.shape.size());
    s.samples = std::move(a.numbers);
  } else s = signal_from_text(bytes, file);
  for (std::size_t i = 0; i < s.samples.size(); ++i)
    if (!std::isfinite(s.samples[i])) refuse("{}: number {} is not finite", file, i);
  if (s.interval > 0 && interval > 0) refuse("--wavelet-interval: {} has times of its own", file);
  if (s.interval == 0) s.interval = interval;
  return s;
}

std::vector<f32> at_times(const signal& s, f64 first, f64 interval, std::size_t n) {
  std::vector<f32> v(n);
  const int there = static_cast<int>(s.samples.size());
  for (std::size_t i = 0; i < n; ++i) {
    const f64 at = (first + static_cast<f64>(i) * interval - s.first) / s.interval;
    if (at < -wsl::wave25::most_taps || at > there + wsl::wave25::most_taps) continue;
    const wsl::wave25::taps t = wsl::wave25::taps_of(at, there, false);
    f64 sum = 0;
    for (int k = 0; k < t.count; ++k)
      sum += t.weight[static_cast<std::size_t>(k)] * f64{s.samples[static_cast<std::size_t>(t.first + k)]};
    v[i] = static_cast<f32>(sum);
  }
  return v;
}

}  // namespace wave_app
