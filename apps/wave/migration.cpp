// SPDX-License-Identifier: MIT
#include "migration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <wsl/kernel/wave/imaging.hpp>

#include "../files.hpp"
#include "../npy.hpp"
#include "exports.hpp"
#include "shot_queue.hpp"
#include "shot_run.hpp"

namespace wave_app {
namespace {

using namespace wsl;

std::vector<std::size_t> shape_of(const cells& size) {
  return {static_cast<std::size_t>(size.x), static_cast<std::size_t>(size.y),
          static_cast<std::size_t>(size.z)};
}

void migrate_shot(const options& o, std::size_t k, const std::filesystem::path& folder) {
  const wave25::problem p = o.problem_of(k);
  const auto recorded =
      read_records(o.shots.empty() ? o.data : folder_of_shot(o.data, k), p, o.steps, o.data_interval);
  // What the model explains by itself, such as the direct wave, is no reflection that is missing.
  const auto residual = [&](const wave25::traces& synthetic) {
    wave25::traces rest = synthetic;
    for (std::size_t i = 0; i < rest.size(); ++i)
      for (std::size_t n = 0; n < rest[i].size(); ++n) rest[i][n] -= recorded[i][n];
    return rest;
  };
  const wave25::imaging_options how{
      .memory = o.memory,
      .every = o.every,
      .how = {.wide = o.how.wide, .depth = o.how.depth, .threads = o.how.threads}};
  const wave25::image i = std::visit(
      [&](const auto& medium) {
        if constexpr (std::is_same_v<std::decay_t<decltype(medium)>, isotropic>)
          return wave25::migrate(p, o.steps, residual, how);
        else return wave25::migrate(o.in_medium(p, medium), o.steps, residual, how);
      },
      o.medium);
  if (!std::all_of(i.gradient.begin(), i.gradient.end(), [](f32 x) { return std::isfinite(x); }))
    throw std::runtime_error(
        fmt::format("shot {}: 32-bit numbers do not hold its image: scale the data and --amplitude "
                    "down by the same factor",
                    k + 1));
  app::write_file(folder / "image.npy", app::npy_bytes<f32>(shape_of(p.size), i.gradient));
  app::write_file(folder / "illumination.npy", app::npy_bytes<f32>(shape_of(p.size), i.illumination));
  app::write_file(folder / "misfit.txt", fmt::format("{:.9g}\n", i.misfit));
}

/// The sum over all shots, in their order, of an array of each.
std::vector<f32> sum_of(const options& o, std::size_t shots, const char* name) {
  std::vector<f64> sum(o.problem.size.count());
  for (std::size_t k = 0; k < shots; ++k) {
    const std::string file = (folder_of_shot(o.out, k) / name).string();
    const app::number_array<f32> a = app::npy_from_bytes<f32>(app::read_file(file), file);
    if (a.numbers.size() != sum.size())
      refuse("{}: it is of another grid: remove it, and migrate its shot again", file);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += f64{a.numbers[i]};
  }
  return {sum.begin(), sum.end()};
}

/// Minus the Laplacian of an image with the seven points of its cells; beyond the grid the image goes on as
/// at its side.
std::vector<f32> sharpened(const std::vector<f32>& u, const cells& n, f64 spacing) {
  std::vector<f32> v(u.size());
  const auto at = [&](int x, int y, int z) {
    return u[n.index({std::clamp(x, 0, n.x - 1), std::clamp(y, 0, n.y - 1), std::clamp(z, 0, n.z - 1)})];
  };
  for (int x = 0; x < n.x; ++x)
    for (int y = 0; y < n.y; ++y)
      for (int z = 0; z < n.z; ++z)
        v[n.index({x, y, z})] =
            static_cast<f32>((6 * at(x, y, z) - at(x - 1, y, z) - at(x + 1, y, z) - at(x, y - 1, z) -
                              at(x, y + 1, z) - at(x, y, z - 1) - at(x, y, z + 1)) /
                             (spacing * spacing));
  return v;
}

void add_up(const options& o, std::size_t shots) {
  std::vector<f32> image = sum_of(o, shots, "image.npy");
  const std::vector<f32> light = sum_of(o, shots, "illumination.npy");
  // Minus the gradient, evened out, but not where there was next to no light.
  f64 mean = 0;
  for (const f32 x : light) mean += f64{x} / static_cast<f64>(light.size());
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = mean > 0 ? static_cast<f32>(-f64{image[i]} / (f64{light[i]} + 1e-2 * mean)) : 0;
  const wave25::problem p = o.problem_of(0);
  if (o.laplacian) image = sharpened(image, p.size, p.spacing);
  app::write_file(o.out / "illumination.npy", app::npy_bytes<f32>(shape_of(p.size), light));
  write_volume(o.out / "image.vti", vti(p.size, p.spacing), p.size, {whole_field(image, p.size)}, true);
  app::write_file(o.out / "image.svg",
                  figure_of_slice(cells_of_slice(image, p.size, o.slice_of(p)), p, o.slice_of(p),
                                  fmt::format("image of {} shot{}", shots, shots > 1 ? "s" : "")));
  app::write_file(o.out / "image.npy", app::npy_bytes<f32>(shape_of(p.size), image));
}

}  // namespace

int migrate_shots(const options& o) {
  const std::size_t shots = std::max<std::size_t>(o.shots.size(), 1);
  const shot_queue q{.out = o.out,
                     .shots = shots,
                     .at_a_time = o.shots_at_a_time,
                     .recipe =
                         [&](std::size_t k) {
                           return fmt::format("rtm {:016x} steps {} every {}\n", o.fingerprint_of(k), o.steps,
                                              o.every);
                         },
                     .make =
                         [&](std::size_t k, const std::filesystem::path& folder) {
                           if (stopped_by) return 128 + static_cast<int>(stopped_by);
                           migrate_shot(o, k, folder);
                           fmt::print("shot {} of {} is migrated\n", k + 1, shots);
                           std::fflush(stdout);
                           return 0;
                         }};
  const shots_done done = work_on(q);
  if (done.status) return done.status;
  if (done.elsewhere && !all_finished(q)) {
    fmt::print("{} shots are in work elsewhere; the process that ends last adds them up\n", done.elsewhere);
    return 0;
  }
  add_up(o, shots);
  fmt::print("the image is in {}\n", (o.out / "image.npy").string());
  return 0;
}

}  // namespace wave_app
