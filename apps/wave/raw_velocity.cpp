// SPDX-License-Identifier: MIT
#include "raw_velocity.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <memory>
#include <wsl/support/file_reader.hpp>
#include <wsl/support/fingerprint.hpp>

#include "../ranks.hpp"
#include "raw_model.hpp"

namespace wave_app {
namespace {

using wsl::u32;
using wsl::u64;
using wsl::support::file_reader;

f32 swapped(f32 x) { return std::bit_cast<f32>(__builtin_bswap32(std::bit_cast<u32>(x))); }

/// The numbers of a file, whose order is that of the grid.
class raw_cells {
 public:
  raw_cells(std::shared_ptr<const file_reader> file, u64 begin, const cells& size, bool big_endian)
      : file_(std::move(file)), begin_(begin), size_(size), big_endian_(big_endian) {}

  u64 count() const { return size_.count(); }
  void read(u64 first, std::span<f32> to) const {
    file_->read(begin_ + sizeof(f32) * first, to.data(), to.size_bytes());
    if (big_endian_)
      for (f32& x : to) x = swapped(x);
  }
  /// Lines along z, planes of which are in one piece.
  void read(const wsl::grid::lines& some, std::span<f32> to) const {
    const std::size_t plane = static_cast<std::size_t>(some.y.size()) * static_cast<std::size_t>(size_.z);
    for (int x = some.x.from; x < some.x.to; ++x)
      read(size_.index({x, some.y.from, 0}),
           to.subspan(static_cast<std::size_t>(x - some.x.from) * plane, plane));
  }

 private:
  std::shared_ptr<const file_reader> file_;
  u64 begin_;  ///< the byte of the first number
  cells size_;
  bool big_endian_;
};

/// A file whose reason for not being read stands behind the option that names it.
std::shared_ptr<const file_reader> opened(const std::string& option, const std::string& name) {
  try {
    return std::make_shared<const file_reader>(name);
  } catch (const wsl::support::file_error& e) {
    refuse("{}: {}", option, std::string_view(e.what()).substr(std::string_view("wsl: ").size()));
  }
}

/// The lines of a text header, which are few.
raw_header header_of(const model_file& file) {
  const auto in = opened(file.option, file.name);
  std::string bytes(static_cast<std::size_t>(std::min<u64>(in->size(), raw_header_length)), '\0');
  in->read(0, bytes.data(), bytes.size());
  const raw_header h = raw_header_of(bytes, file.name);
  if (!h.data.empty() && h.length != in->size())
    refuse("{}: it names the file {} and goes on after its line `end`", file.name, h.data);
  return h;
}

/// The facts about all velocities, once all of them were looked at.
struct findings {
  f64 slowest = std::numeric_limits<f64>::infinity(), fastest = 0;
  u64 fingerprint = 0;
  u64 first_wrong = std::numeric_limits<u64>::max();  ///< number that is no velocity
  bool all_swapped = true;                            ///< all would be velocities in the other byte order

  void add(u64 number, std::span<const f32> block) {
    fingerprint += wsl::support::fingerprint_of_block(number, block.data(), block.size_bytes());
    for (const f32& v : block) {
      if (is_velocity(v)) {
        slowest = std::min(slowest, f64{v}), fastest = std::max(fastest, f64{v});
      } else {
        const u64 at = number * (wsl::support::bytes_of_fingerprint_block / sizeof(f32)) +
                       static_cast<u64>(&v - block.data());
        first_wrong = std::min(first_wrong, at);
      }
      all_swapped = all_swapped && is_velocity(swapped(v));
    }
  }
  /// Those of all processes; collective. The bits of positive numbers have their order.
  void agree() {
    fingerprint = app::sum(fingerprint);
    slowest = std::bit_cast<f64>(~app::largest(~std::bit_cast<u64>(slowest)));
    fastest = std::bit_cast<f64>(app::largest(std::bit_cast<u64>(fastest)));
    first_wrong = ~app::largest(~first_wrong);
    all_swapped = app::sum(!all_swapped) == 0;
  }
};

findings findings_of(const raw_cells& all, bool are_shared) {
  constexpr u64 block = wsl::support::bytes_of_fingerprint_block / sizeof(f32);
  findings found;
  std::vector<f32> numbers;
  const u64 blocks = (all.count() + block - 1) / block;
  const u64 processes = are_shared ? static_cast<u64>(app::ranks()) : 1;
  for (u64 b = are_shared ? static_cast<u64>(app::rank()) : 0; b < blocks; b += processes) {
    numbers.resize(static_cast<std::size_t>(std::min(block, all.count() - b * block)));
    all.read(b * block, numbers);
    found.add(b, numbers);
  }
  if (are_shared) found.agree();
  return found;
}

}  // namespace

void no_velocity(const std::string& what, f32 v) {
  refuse(
      "{} is {:g} m/s; velocities are positive, from {:g} to {:g} m/s, those of sound in matter: take "
      "metres a second",
      what, v, least_velocity, most_velocity);
}

void big_endian_velocities(const model_file& file) {
  refuse("{}: {} is big-endian: write it with little-endian numbers", file.option, file.name);
}

std::optional<wsl::wave25::velocity_source> raw_velocities(const model_file& file,
                                                           const std::vector<f64>& model_spacing,
                                                           run_grid& grid, bool are_shared) {
  std::string name = file.name;
  u64 begin = 0;
  bool big_endian = false;
  if (!is_bare_model(file)) {
    if (!is_headed_model(file)) return {};
    const raw_header h = header_of(file);
    const extent ours{grid.spacing, grid.spacing, grid.spacing};
    const extent theirs =
        model_spacing.empty() ? h.spacing : extent{model_spacing[0], model_spacing[1], model_spacing[2]};
    if (h.order != "zyx" || theirs != ours || (grid.is_given && h.size != grid.size)) return {};
    if (h.data.empty()) begin = h.length;
    else name = (std::filesystem::path(file.name).parent_path() / h.data).string();
    big_endian = h.big_endian;
    grid.size = h.size, grid.is_given = true;
  }
  const auto numbers = opened(file.option, name);
  const u64 there = numbers->size() < begin ? 0 : numbers->size() - begin;
  // in floating point, for sizes that a header only claims
  if (const f64 wanted = 4. * grid.size.x * grid.size.y * grid.size.z; static_cast<f64>(there) != wanted)
    refuse("{}: {} has {} bytes{}; a grid of {} cells takes {:.0f} (4 a cell)", file.option, name, there,
           begin > 0 ? " of numbers" : "", text(grid.size), wanted);
  grid.bytes_of_whole = 0;
  require_room(grid);
  const auto all = std::make_shared<const raw_cells>(numbers, begin, grid.size, big_endian);
  const findings found = findings_of(*all, are_shared);
  if (found.first_wrong < all->count()) {
    if (found.all_swapped) big_endian_velocities(file);
    f32 wrong = 0;
    all->read(found.first_wrong, {&wrong, 1});
    no_velocity(fmt::format("{}: number {} of {}", file.option, found.first_wrong, file.name), wrong);
  }
  return wsl::wave25::velocity_source{
      found.slowest, found.fastest, found.fingerprint,
      [all](const wsl::grid::lines& some, std::span<f32> to) { all->read(some, to); }};
}

}  // namespace wave_app
