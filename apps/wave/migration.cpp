// SPDX-License-Identifier: MIT
#include "migration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <wsl/kernel/wave/imaging.hpp>
#include <wsl/support/file_reader.hpp>

#include "../files.hpp"
#include "../ranks.hpp"
#include "exports.hpp"
#include "shot_queue.hpp"
#include "shot_run.hpp"

namespace wave_app {
namespace {

using namespace wsl;

/// All processes migrate the only shot together, each its part of the cells, and those of a list each for
/// itself.
bool is_shared(const options& o) { return o.shots.empty(); }

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
  const app::engine engine{.is_alone = !is_shared(o)};
  const wave25::spread_image i = std::visit(
      [&](const auto& medium) {
        if constexpr (std::is_same_v<std::decay_t<decltype(medium)>, isotropic>)
          return wave25::migrate_on_pes(p, o.steps, residual, how, engine);
        else return wave25::migrate_on_pes(o.in_medium(p, medium), o.steps, residual, how, engine);
      },
      o.medium);
  u64 is_lost = 0;
  grid::each_own_line(i.blocks, i.gradient, [&](int, int, std::span<const f32> line) {
    is_lost |= !std::all_of(line.begin(), line.end(), [](f32 x) { return std::isfinite(x); });
  });
  if (is_shared(o) ? app::largest(is_lost) : is_lost)
    throw std::runtime_error(
        fmt::format("shot {}: 32-bit numbers do not hold its image: scale the data and --amplitude "
                    "down by the same factor",
                    k + 1));
  const auto write = [&](const char* name, const grid::line_array<const f32>& cells) {
    write_volume(folder / name, npy(i.size), {i.size, i.blocks, cells}, !is_shared(o));
  };
  write("image.npy", i.gradient), write("illumination.npy", i.illumination);
  if (!is_shared(o) || app::is_root())
    app::write_file(folder / "misfit.txt", fmt::format("{:.9g}\n", i.misfit));
}

/// Planes of x of an array of cells.
struct planes {
  grid::range x;
  std::vector<f32> numbers;  ///< z fastest, then y
};

/// The sum over all shots, in their order, of some planes of an array of each.
planes sum_of(const options& o, std::size_t shots, const char* name, const cells& size,
              const grid::range& x) {
  const std::size_t begin = size.index({x.from, 0, 0}), n = size.index({x.to, 0, 0}) - begin;
  const std::string head = npy(size).head;
  std::vector<f64> sum(n);
  std::vector<f32> numbers(n);
  std::string found(head.size(), '\0');
  for (std::size_t k = 0; k < shots; ++k) {
    const support::file_reader file((folder_of_shot(o.out, k) / name).string());
    const bool fits = file.size() == head.size() + size.count() * sizeof(f32);
    if (fits) file.read(0, found.data(), found.size());
    if (!fits || found != head)
      refuse("{}: it is of another grid: remove it, and migrate its shot again", file.name());
    file.read(head.size() + begin * sizeof(f32), numbers.data(), n * sizeof(f32));
    for (std::size_t i = 0; i < n; ++i) sum[i] += f64{numbers[i]};
  }
  return {x, {sum.begin(), sum.end()}};
}

/// Minus the Laplacian of an image with the seven points of its cells, in planes which it has with those
/// beside them; beyond the grid the image goes on as at its side.
planes sharpened(const planes& u, const grid::range& x, const cells& n, f64 spacing) {
  planes v{x, {}};
  const auto at = [&](int cx, int y, int z) {
    return u.numbers[n.index(
        {std::clamp(cx, 0, n.x - 1) - u.x.from, std::clamp(y, 0, n.y - 1), std::clamp(z, 0, n.z - 1)})];
  };
  for (int cx = x.from; cx < x.to; ++cx)
    for (int y = 0; y < n.y; ++y)
      for (int z = 0; z < n.z; ++z)
        v.numbers.push_back(
            static_cast<f32>((6 * at(cx, y, z) - at(cx - 1, y, z) - at(cx + 1, y, z) - at(cx, y - 1, z) -
                              at(cx, y + 1, z) - at(cx, y, z - 1) - at(cx, y, z + 1)) /
                             (spacing * spacing)));
  return v;
}

/// The cells of a slice of an image in a file.
std::vector<f32> slice_of_file(const std::filesystem::path& image, const cells& size, const slice& s) {
  const support::file_reader file(image.string());
  const u64 head = npy(size).head.size();
  const cells plane{1, size.y, size.z};
  std::vector<f32> numbers(plane.count()), all;
  for (int x = s.axis == 'x' ? s.at : 0; x < (s.axis == 'x' ? s.at + 1 : size.x); ++x) {
    file.read(head + size.index({x, 0, 0}) * sizeof(f32), numbers.data(), numbers.size() * sizeof(f32));
    const std::vector<f32> some = cells_of_slice(numbers, plane, {s.axis, s.axis == 'x' ? 0 : s.at});
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Of the only shot each process adds up some planes, and of the shots of a list one process all.
void add_up(const options& o, std::size_t shots) {
  const wave25::problem p = o.problem_of(0);
  const cells& size = p.size;
  const int processes = is_shared(o) ? app::ranks() : 1, process = is_shared(o) ? app::rank() : 0;
  std::vector<grid::block> blocks;
  for (int i = 0; i < processes; ++i)
    blocks.push_back({{i, 0}, {grid::share(size.x, processes, i), {0, size.y}}, i == process});
  const grid::range mine = blocks[static_cast<std::size_t>(process)].where.x,
                    around = o.laplacian ? mine.grown(1, size.x) : mine;
  planes image = sum_of(o, shots, "image.npy", size, around);
  const planes light = sum_of(o, shots, "illumination.npy", size, around);
  const auto own = [&](const planes& all) {
    const auto begin =
        all.numbers.begin() + static_cast<std::ptrdiff_t>(size.index({mine.from - all.x.from, 0, 0}));
    return std::vector<f32>(begin, begin + static_cast<std::ptrdiff_t>(size.index({mine.size(), 0, 0})));
  };
  // Minus the gradient, evened out, but not where there was next to no light. One process after the other adds
  // to the mean, in the order of the cells.
  f64 mean = 0;
  for (int i = 0; i < processes; ++i) {
    if (i == process)
      for (const f32 x : own(light)) mean += f64{x} / static_cast<f64>(size.count());
    if (processes > 1) mean = std::bit_cast<f64>(app::largest(i == process ? std::bit_cast<u64>(mean) : 0));
  }
  for (std::size_t i = 0; i < image.numbers.size(); ++i)
    image.numbers[i] =
        mean > 0 ? static_cast<f32>(-f64{image.numbers[i]} / (f64{light.numbers[i]} + 1e-2 * mean)) : 0;
  if (o.laplacian) image = sharpened(image, mine, size, p.spacing);
  const auto write = [&](const char* name, const volume_format& format, const planes& all) {
    write_volume(o.out / name, format, {size, blocks, grid::array_of(size, blocks, own(all))}, !is_shared(o));
  };
  write("illumination.npy", npy(size), light), write("image.vti", vti(size, p.spacing), image);
  write("image.npy", npy(size), image);
  if (is_shared(o) && !app::is_root()) return;
  app::write_file(o.out / "image.svg",
                  figure_of_slice(slice_of_file(o.out / "image.npy", size, o.slice_of(p)), p, o.slice_of(p),
                                  fmt::format("image of {} shot{}", shots, shots > 1 ? "s" : "")));
}

}  // namespace

int migrate_shots(const options& o) {
  const std::size_t shots = std::max<std::size_t>(o.shots.size(), 1);
  const shot_queue q{
      .out = o.out,
      .shots = shots,
      .at_a_time = o.shots_at_a_time,
      .recipe =
          [&](std::size_t k) {
            return fmt::format("rtm {:016x} steps {} every {}\n", o.fingerprint_of(k), o.steps, o.every);
          },
      .make =
          [&](std::size_t k, const std::filesystem::path& folder) {
            const u64 mine = static_cast<u64>(stopped_by), signal = is_shared(o) ? app::largest(mine) : mine;
            if (signal) return 128 + static_cast<int>(signal);
            migrate_shot(o, k, folder);
            fmt::print("shot {} of {} is migrated\n", k + 1, shots);
            std::fflush(stdout);
            return 0;
          }};
  const shots_done done = is_shared(o) ? work_together(q) : work_on(q);
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
