// SPDX-License-Identifier: MIT
#include "migration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <wsl/kernel/wave/imaging.hpp>
#include <wsl/support/file_reader.hpp>
#include <wsl/support/fingerprint.hpp>

#include "../files.hpp"
#include "../ranks.hpp"
#include "alike.hpp"
#include "exports.hpp"
#include "shot_queue.hpp"
#include "shot_run.hpp"

namespace wave_app {
namespace {

using namespace wsl;

/// All processes migrate the only shot together, each its part of the cells, and those of a list each for
/// itself.
bool is_shared(const options& o) { return o.shots.empty(); }

/// Does what is not collective: of the only shot all processes do it and agree on its failure.
template <class F>
void do_each(const options& o, F f) {
  do_alike(is_shared(o), f);
}
/// Does what one process does for the others.
template <class F>
void do_once(const options& o, F f) {
  if (!is_shared(o)) return f();
  app::together([&] {
    if (app::is_root()) f();
  });
}

/// The signal that ends the work, or 0.
int signalled(const options& o) {
  const u64 mine = static_cast<u64>(stopped_by);
  return static_cast<int>(is_shared(o) ? app::largest(mine) : mine);
}
/// Thrown between two steps of a shot.
struct stopped {
  int signal;
};

std::filesystem::path data_of_shot(const options& o, std::size_t k) {
  return o.shots.empty() ? o.data : folder_of_shot(o.data, k);
}

void migrate_shot(const options& o, std::size_t k, const std::filesystem::path& folder) {
  const wave25::problem p = o.problem_of(k);
  wave25::traces recorded;
  do_each(o, [&] { recorded = read_records(data_of_shot(o, k), p, o.steps, o.data_interval); });
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
      .how = {.wide = o.how.wide, .depth = o.how.depth, .threads = o.how.threads},
      .between = [&] {
        if (const int signal = signalled(o)) throw stopped{signal};
      }};
  const app::engine engine{.is_alone = !is_shared(o)};
  const wave25::spread_image i = [&] {
    try {
      return std::visit(
          [&](const auto& medium) {
            if constexpr (std::is_same_v<std::decay_t<decltype(medium)>, isotropic>)
              return wave25::migrate_on_pes(p, o.steps, residual, how, engine);
            else return wave25::migrate_on_pes(o.in_medium(p, medium), o.steps, residual, how, engine);
          },
          o.medium);
    } catch (const std::invalid_argument& e) {
      const std::string sentence = sentence_of(e);
      if (sentence.starts_with("imaging needs memory")) refuse("--memory: {}", sentence);
      throw;
    }
  }();
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
  do_once(o, [&] { app::write_file(folder / "misfit.txt", fmt::format("{:.9g}\n", i.misfit)); });
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
  planes image, light;
  do_each(o, [&] {
    image = sum_of(o, shots, "image.npy", size, around);
    light = sum_of(o, shots, "illumination.npy", size, around);
  });
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
  do_once(o, [&] {
    app::write_file(o.out / "image.svg",
                    figure_of_slice(slice_of_file(o.out / "image.npy", size, o.slice_of(p)), p, o.slice_of(p),
                                    fmt::format("image of {} shot{}", shots, shots > 1 ? "s" : "")));
  });
}

/// The recipes of shots. Data are read for them once only.
class recipes {
 public:
  explicit recipes(const options& o, std::size_t shots) : of_(o), known_(shots) {}

  std::string operator()(std::size_t k) {
    const std::lock_guard held(gate_);
    if (!known_[k])
      known_[k] =
          fmt::format("rtm {:016x} steps {} every {} data {:016x}\n", of_.fingerprint_of(k), of_.steps,
                      of_.every, fingerprint_of_records(data_of_shot(of_, k), of_.data_interval));
    return *known_[k];
  }
  /// Of the sum of all shots.
  std::string of_image() {
    support::fingerprint all;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      const std::string one = (*this)(k);
      all.add(one.data(), one.size());
    }
    return fmt::format("image of {} shots {:016x} laplacian {} slice {} {}\n", known_.size(), all.value(),
                       of_.laplacian, of_.drawn.axis, of_.slice_is_given ? of_.drawn.at : -1);
  }

 private:
  const options& of_;
  std::mutex gate_;
  std::vector<std::optional<std::string>> known_;
};

/// Whether the image of this recipe is in the folder.
bool has_image(const options& o, const std::string& recipe) {
  for (const char* name : {"image.npy", "image.vti", "image.svg", "illumination.npy", "image.recipe"})
    if (!std::filesystem::exists(o.out / name)) return false;
  return app::read_file(o.out / "image.recipe") == recipe;
}

/// Adds the shots up, all of which are finished, unless another process has done so. Processes of several
/// commands may come here at the same time. Returns whether this one did.
bool add_up_once(const options& o, recipes& made, std::size_t shots) {
  std::unique_ptr<support::folder_lock> lock;
  std::string recipe;
  u64 is_there = 0;
  do_once(o, [&] {
    // One that adds them up is awaited, for it may be killed.
    while (!(lock = lock_of(o.out)))
      if (stopped_by)
        throw std::runtime_error(fmt::format("stopped, while another process{} adds the shots up in {}",
                                             holder_of(o.out), o.out.string()));
    recipe = made.of_image(), is_there = has_image(o, recipe);
  });
  if (is_shared(o) ? app::largest(is_there) : is_there) return false;
  add_up(o, shots);
  do_once(o, [&] { app::write_file(o.out / "image.recipe", recipe); });
  return true;
}

}  // namespace

int migrate_shots(const options& o) {
  const std::size_t shots = std::max<std::size_t>(o.shots.size(), 1);
  recipes made(o, shots);
  const shot_queue q{.out = o.out,
                     .shots = shots,
                     .at_a_time = o.shots_at_a_time,
                     .recipe = [&](std::size_t k) { return made(k); },
                     .differs = "with other options, another model or other data",
                     .make =
                         [&](std::size_t k, const std::filesystem::path& folder) {
                           if (const int signal = signalled(o)) return 128 + signal;
                           try {
                             migrate_shot(o, k, folder);
                           } catch (const stopped& by) {
                             fmt::print("stopped in shot {} of {}; the same command begins it again\n", k + 1,
                                        shots);
                             return 128 + by.signal;
                           }
                           fmt::print("shot {} of {} is migrated\n", k + 1, shots);
                           std::fflush(stdout);
                           return 0;
                         }};
  bool missing = false;
  shots_done done;
  if (is_shared(o)) done = work_together(q), missing = done.elsewhere > 0;
  else done = work_beside_others(q, missing);
  if (done.status) return done.status;
  if (missing) {
    if (app::is_root())
      fmt::print("{} of {} shots are in work in other processes{}; the one that ends last adds them up\n",
                 done.elsewhere, shots, is_shared(o) ? holder_of(folder_of_shot(o.out, 0)) : "");
    return status_of_missing;
  }
  u64 is_new = 0;
  if (is_shared(o)) is_new = add_up_once(o, made, shots);
  else
    app::together([&] {
      if (app::is_root()) is_new = add_up_once(o, made, shots);
    });
  if (app::is_root() && (is_new || done.before == shots))
    fmt::print("the image is in {}\n", (o.out / "image.npy").string());
  return 0;
}

}  // namespace wave_app
