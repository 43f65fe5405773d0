// SPDX-License-Identifier: MIT
// The files of the wave equation: checkpoints, and what wsl-wave reads: arrays of NumPy, models, lists of
// shots, wavelets and SEG-Y. A checksum would stop all that a fuzzer changes in a checkpoint, so beginning
// and end are put around its bytes.
#include <cstring>
#include <wsl/kernel/wave25/checkpoint.hpp>

#include "../../apps/npy.hpp"
#include "../../apps/wave/model.hpp"
#include "../../apps/wave/raw_model.hpp"
#include "../../apps/wave/segy.hpp"
#include "../../apps/wave/shots.hpp"
#include "../../apps/wave/wavelet_file.hpp"
#include "fuzz.hpp"

namespace {
using namespace wsl::wave25;

void wave(std::string_view bytes) {
  static const problem p{.size = {2, 1, 1}, .sources = {{{0, 0, 0}, 20, 1, 0.02}}, .receivers = {{1, 0, 0}}};
  const auto add = [](std::string& to, std::uint64_t n) {
    to.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  std::string all(checks::checkpoint_magic);
  add(all, fingerprint_of(p));
  all += bytes;
  wsl::support::fingerprint sum;
  sum.add(all.data(), all.size());
  add(all, sum.value());
  for (const std::string_view text : {std::string_view(all), bytes}) try {
      const state s = state_from_bytes(text, p);
      fuzz::holds(to_bytes(s, p) == text);
    } catch (const std::invalid_argument& e) { fuzz::holds(std::string_view(e.what()).starts_with("wsl")); }
}

/// A reader that takes bytes, or says what is wrong with them in a sentence that names their file.
template <class F>
void takes_or_names(const std::string& name, F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    fuzz::holds(std::string_view(e.what()).find(name) != std::string_view::npos);
  }
}

/// An array that is read as T comes back as it is written.
template <class T>
void npy_of(std::string_view bytes) {
  takes_or_names("a.npy", [&] {
    const app::number_array<T> a = app::npy_from_bytes<T>(bytes, "a.npy");
    fuzz::holds(app::takes<T>(app::npy_about(bytes, "a.npy").kind));
    if constexpr (std::is_same_v<T, wsl::f32>) {
      const app::npy_place at = app::npy_place_of(bytes, bytes.size(), "a.npy");
      fuzz::holds(at.shape == a.shape && at.begin + at.bytes_of_number * a.numbers.size() == bytes.size());
    }
    const app::number_array<T> again = app::npy_from_bytes<T>(app::npy_bytes<T>(a.shape, a.numbers), "a.npy");
    fuzz::holds(again.shape == a.shape && again.numbers.size() == a.numbers.size());
    fuzz::holds(a.numbers.empty() ||
                std::memcmp(a.numbers.data(), again.numbers.data(), a.numbers.size() * sizeof(T)) == 0);
  });
}
void npy(std::string_view bytes) {
  npy_of<wsl::f32>(bytes), npy_of<std::complex<wsl::f32>>(bytes), npy_of<wsl::i64>(bytes);
}
void wave_model(std::string_view bytes) {
  takes_or_names("model", [&] {
    const wave_app::raw_header h = wave_app::raw_header_of(bytes, "model");
    fuzz::holds(h.length <= bytes.size() && h.data.find('/') == std::string::npos);
  });
  const fuzz::memory_file f(bytes);
  takes_or_names(f.name(), [&] {
    const wave_app::stored_volume v = wave_app::open_model({"--model", f.name(), ""}, {2, 3, 1}, 10);
    fuzz::holds(wave_app::numbers_of(v).size() == v.size.count());
  });
}
void shots(std::string_view bytes) {
  takes_or_names("shots", [&] {
    for (const wave_app::shot& s : wave_app::shots_from_text(bytes, "shots"))
      for (const wave_app::receiver_line& l : s.receivers) fuzz::holds(l.count >= 1 && l.count <= 1'000'001);
  });
}
void wavelet(std::string_view bytes) {
  takes_or_names("wavelet", [&] {
    const wave_app::signal s = wave_app::signal_from_text(bytes, "wavelet");
    if (s.interval > 0) fuzz::holds(wave_app::at_times(s, s.first, s.interval, 100).size() == 100);
  });
}
void segy(std::string_view bytes) {
  const fuzz::memory_file f(bytes);
  takes_or_names(f.name(), [&] {
    const wave_app::stored_volume v = wave_app::segy_volume(f.name());
    fuzz::holds(wave_app::numbers_of(v).size() == v.size.count());
  });
  takes_or_names(f.name(), [&] {
    const wave_app::gather g = wave_app::segy_gather(f.name());
    fuzz::holds(g.traces.size() == g.receivers.size());
  });
}

const fuzz::enter table{{"wave", wave},   {"npy", npy},         {"wave_model", wave_model},
                        {"shots", shots}, {"wavelet", wavelet}, {"segy", segy}};
}  // namespace
