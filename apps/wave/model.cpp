// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "../files.hpp"
#include "../memory.hpp"
#include "../npy.hpp"
#include "hdf5_volume.hpp"
#include "raw_model.hpp"
#include "segy.hpp"

namespace wave_app {
namespace {

enum class kind { bare, npy, hdf5, segy, headed };

std::string first_bytes(const model_file& file) {
  std::ifstream in(file.name, std::ios::binary);
  if (!in) refuse("{}: cannot read {}: {}", file.option, file.name, std::strerror(errno));
  std::string bytes(16, '\0');
  in.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

kind kind_of(const model_file& file) {
  const std::string bytes = first_bytes(file), ending = std::filesystem::path(file.name).extension().string();
  if (bytes.starts_with("\x93NUMPY")) return kind::npy;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) return kind::hdf5;
  if (bytes.starts_with(raw_header_begins)) return kind::headed;
  for (const char* segy : {".sgy", ".segy", ".SGY", ".SEGY"})
    if (ending == segy) return kind::segy;
  // What an ending promises, the bytes must keep.
  for (const char* other : {".npy", ".h5", ".hdf5"})
    if (ending == other)
      refuse("{}: {} does not begin as files of this kind do: it is damaged or of another kind", file.option,
             file.name);
  return kind::bare;
}

std::string read(const std::string& file, const std::string& option) {
  std::error_code why;
  const auto size = std::filesystem::file_size(file, why);
  if (why) refuse("{}: cannot read {}: {}", option, file, why.message());
  if (const f64 bytes = 2 * static_cast<f64>(size); bytes > app::memory_there())
    refuse("{}: {} has {}; this computer has {} of memory", option, file, app::size_text(bytes),
           app::size_text(app::memory_there()));
  return app::read_file(file);
}

volume of_npy(const std::string& file, const std::string& option) {
  app::number_array<f32> a = app::npy_from_bytes<f32>(read(file, option), file);
  for (const std::size_t n : a.shape)
    if (n < 1 || n > 1'000'000) refuse("{}: an axis of its array has {} cells", file, n);
  const auto size = [&](std::size_t axis) { return static_cast<int>(a.shape[axis]); };
  switch (a.shape.size()) {
    case 1: return {{1, 1, size(0)}, {}, std::move(a.numbers)};
    case 2: return {{size(0), 1, size(1)}, {}, std::move(a.numbers)};
    case 3: return {{size(0), size(1), size(2)}, {}, std::move(a.numbers)};
    default:
      refuse("{}: its array has {} axes; a model has z, or x and z, or x, y and z", file, a.shape.size());
  }
}

volume of_header(const std::string& file, const std::string& option) {
  std::string bytes = read(file, option);
  const raw_header h = raw_header_of(bytes, file);
  if (h.data.empty()) return raw_volume(h, std::string_view(bytes).substr(h.length), file);
  if (h.length != bytes.size())
    refuse("{}: it names the file {} and goes on after its line `end`", file, h.data);
  const std::string data = (std::filesystem::path(file).parent_path() / h.data).string();
  return raw_volume(h, read(data, option), data);
}

/// For each cell of an axis the cell of the model before it, and the share of the next one.
struct between {
  std::vector<int> before;
  std::vector<f32> share;
};
between along(int n, f64 spacing, int of_model, f64 model_spacing, char axis, const std::string& name) {
  between b;
  if (of_model > 1 && (n - 1) * spacing > (of_model - 0.5) * model_spacing)
    refuse("{} ends at {} = {:g} m, and the grid at {:g} m: take a smaller --grid", name, axis,
           (of_model - 1) * model_spacing, (n - 1) * spacing);
  for (int i = 0; i < n; ++i) {
    const f64 at = of_model > 1 ? std::clamp(i * spacing / model_spacing, 0., of_model - 1.) : 0;
    const int before = std::min(static_cast<int>(at), std::max(of_model - 2, 0));
    b.before.push_back(before), b.share.push_back(static_cast<f32>(at - before));
  }
  return b;
}

}  // namespace

bool is_bare_model(const model_file& file) { return kind_of(file) == kind::bare; }
bool is_headed_model(const model_file& file) { return kind_of(file) == kind::headed; }

volume read_model(const model_file& file) {
  switch (kind_of(file)) {
    case kind::npy: return of_npy(file.name, file.option);
    case kind::hdf5: return hdf5_volume(file.name, file.dataset);
    case kind::segy: return segy_volume(file.name);
    default: return of_header(file.name, file.option);
  }
}

std::vector<f32> resampled(const volume& m, const cells& size, f64 spacing, const std::string& name) {
  const between x = along(size.x, spacing, m.size.x, m.spacing.x, 'x', name),
                y = along(size.y, spacing, m.size.y, m.spacing.y, 'y', name),
                z = along(size.z, spacing, m.size.z, m.spacing.z, 'z', name);
  std::vector<f32> v;
  v.reserve(size.count());
  const std::size_t next_x = m.size.x > 1
                                 ? static_cast<std::size_t>(m.size.y) * static_cast<std::size_t>(m.size.z)
                                 : 0,
                    next_y = m.size.y > 1 ? static_cast<std::size_t>(m.size.z) : 0, next_z = m.size.z > 1;
  for (std::size_t i = 0; i < x.before.size(); ++i)
    for (std::size_t j = 0; j < y.before.size(); ++j)
      for (std::size_t k = 0; k < z.before.size(); ++k) {
        const f32* at = &m.numbers[m.size.index({x.before[i], y.before[j], z.before[k]})];
        const auto line = [&](const f32* from) { return from[0] + z.share[k] * (from[next_z] - from[0]); };
        const auto plane = [&](const f32* from) {
          return line(from) + y.share[j] * (line(from + next_y) - line(from));
        };
        v.push_back(plane(at) + x.share[i] * (plane(at + next_x) - plane(at)));
      }
  return v;
}

}  // namespace wave_app
