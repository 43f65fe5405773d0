// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "../npy.hpp"
#include "hdf5_volume.hpp"
#include "raw_model.hpp"
#include "segy.hpp"
#include "stored_numbers.hpp"

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

/// The first bytes of a file, in which its header ends.
std::string beginning(const wsl::support::file_reader& in, std::size_t most) {
  std::string bytes(static_cast<std::size_t>(std::min<wsl::u64>(in.size(), most)), '\0');
  in.read(0, bytes.data(), bytes.size());
  return bytes;
}

stored_volume of_npy(const model_file& file) {
  constexpr std::size_t longest_header = 70'000;  // of version 1
  const auto in = opened(file.option, file.name);
  const app::npy_place at = app::npy_place_of(beginning(*in, longest_header), in->size(), file.name);
  for (const std::size_t n : at.shape)
    if (n < 1 || n > 1'000'000) refuse("{}: an axis of its array has {} cells", file.name, n);
  const auto n = [&](std::size_t axis) { return static_cast<int>(at.shape[axis]); };
  const std::size_t axes = at.shape.size();
  if (axes < 1 || axes > 3)
    refuse("{}: its array has {} axes; a model has z, or x and z, or x, y and z", file.name, axes);
  const cells size = axes == 1   ? cells{1, 1, n(0)}
                     : axes == 2 ? cells{n(0), 1, n(1)}
                                 : cells{n(0), n(1), n(2)};
  return stored_numbers(in, at.begin, size, {},
                        {at.bytes_of_number == 8, at.is_swapped, at.is_fortran ? "xyz" : "zyx"});
}

stored_volume of_raw(const model_file& file, const std::string& name, wsl::u64 begin, const cells& size,
                     const extent& spacing, const number_format& how) {
  auto in = opened(file.option, name);
  const wsl::u64 there = in->size() < begin ? 0 : in->size() - begin;
  // in floating point, for sizes that a header only claims
  if (const f64 wanted = 4. * size.x * size.y * size.z; static_cast<f64>(there) != wanted)
    refuse("{}: {} has {} bytes{}; a grid of {} cells takes {:.0f} (4 a cell)", file.option, name, there,
           begin > 0 ? " of numbers" : "", text(size), wanted);
  return stored_numbers(std::move(in), begin, size, spacing, how);
}

stored_volume of_header(const model_file& file) {
  const auto in = opened(file.option, file.name);
  const raw_header h = raw_header_of(beginning(*in, raw_header_length), file.name);
  if (!h.data.empty() && h.length != in->size())
    refuse("{}: it names the file {} and goes on after its line `end`", file.name, h.data);
  const std::string name =
      h.data.empty() ? file.name : (std::filesystem::path(file.name).parent_path() / h.data).string();
  if (std::error_code why; !h.data.empty() && !std::filesystem::exists(name, why))
    refuse("{}: the header {} has the line `data {}`, and there is no file {}", file.option, file.name,
           h.data, name);
  const std::size_t begin = h.data.empty() ? h.length : 0;
  return of_raw(file, name, begin, h.size, h.spacing, {.is_swapped = h.big_endian, .order = h.order});
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

stored_volume open_model(const model_file& file, const cells& grid, f64 spacing) {
  switch (kind_of(file)) {
    case kind::npy: return of_npy(file);
    case kind::hdf5: return hdf5_volume(file.name, file.dataset);
    case kind::segy: return segy_volume(file.name);
    case kind::headed: return of_header(file);
    case kind::bare: break;
  }
  return of_raw(file, file.name, 0, grid, {spacing, spacing, spacing}, {});
}

stored_volume resampled(stored_volume m, const cells& size, f64 spacing, const std::string& name) {
  const auto axis = [&](int n, int of_model, f64 model_spacing, char letter) {
    return along(n, spacing, of_model, model_spacing, letter, name);
  };
  auto read = [x = axis(size.x, m.size.x, m.spacing.x, 'x'), y = axis(size.y, m.size.y, m.spacing.y, 'y'),
               z = axis(size.z, m.size.z, m.spacing.z, 'z'), n = m.size,
               from = std::move(m.read)](const wsl::grid::lines& some, std::span<f32> to) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const wsl::grid::range rows{y.before[at(some.y.from)], std::min(y.before[at(some.y.to - 1)] + 2, n.y)};
    const std::size_t nz = at(n.z), next_y = n.y > 1 ? nz : 0, next_z = n.z > 1;
    std::vector<f32> planes[2];  // those before and behind a plane of the grid
    int first = -1;
    auto next = to.begin();
    for (int i = some.x.from; i < some.x.to; ++i) {
      const int before = x.before[at(i)];
      if (before != first)
        for (int k = 0; k < (n.x > 1 ? 2 : 1); ++k) {
          planes[k].resize(at(rows.size()) * nz);
          from({{before + k, before + k + 1}, rows}, planes[k]);
        }
      first = before;
      const std::vector<f32>& behind = planes[n.x > 1];
      for (int j = some.y.from; j < some.y.to; ++j) {
        const std::size_t line = at(y.before[at(j)] - rows.from) * nz;
        for (std::size_t k = 0; k < z.before.size(); ++k) {
          const auto in_line = [&](const f32* p) { return p[0] + z.share[k] * (p[next_z] - p[0]); };
          const auto in_plane = [&](const std::vector<f32>& plane) {
            const f32* const p = &plane[line + at(z.before[k])];
            return in_line(p) + y.share[at(j)] * (in_line(p + next_y) - in_line(p));
          };
          *next++ = in_plane(planes[0]) + x.share[at(i)] * (in_plane(behind) - in_plane(planes[0]));
        }
      }
    }
  };
  return {.size = size,
          .spacing = {spacing, spacing, spacing},
          .read = std::move(read),
          .bytes_kept = m.bytes_kept};
}

}  // namespace wave_app
