// SPDX-License-Identifier: MIT
// XSBench's lookups as a dataflow program: tables stay in place, lookups travel. Each PE owns one band of
// energies, and of every nuclide the part of its table in that band. A lookup is one wavelet, its position in
// the random stream, sent to the PE that owns its energy. That PE sorts the lookups that have arrived by
// material and energy, sweeps over its tables, and sends each particle's next lookup to its owner. The front
// end is lookup_fabric; see examples/34_lookups.cpp.
#pragma once
#include <bit>

#include "dispatch.hpp"
#include "reference.hpp"
#include "sweep.hpp"

namespace wsl::monte_carlo {

/// The colors of a grid of up to 32 x 32 PEs.
inline constexpr dispatch<u32, 32, 32> lookup_dispatch{0};

class lookup_pe {
 public:
  /// The host loads the part of the reactor that the PE owns: band x * rows + y of columns * rows equal
  /// ones. With a spectrum, which lives as long as the PE, a band is one of the numbers that stand for
  /// energies.
  void load(const reactor& r, coord at, int columns, int rows, const spectrum* energies = nullptr) {
    columns_ = columns, rows_ = rows, at_ = at, spectrum_ = energies, reactor_materials_ = r.materials.size();
    const f64 width = 1.0 / (columns * rows);
    low_ = (at.x * rows + at.y) * width;
    std::vector<std::size_t> starts(static_cast<std::size_t>(r.nuclides));
    table_.clear();
    for (int n = 0; n < r.nuclides; ++n) {
      starts[static_cast<std::size_t>(n)] = table_.size();
      if (energies) add_table(r.grid(n), energies->energy(low_), energies->energy(low_ + width));
      else add_table(r.grid(n), low_, low_ + width);
    }
    for (std::size_t m = 0; m < r.materials.size(); ++m) {
      contents_[m].clear();
      for (std::size_t i = 0; i < r.materials[m].nuclides.size(); ++i)
        contents_[m].push_back({table_.data() + starts[static_cast<std::size_t>(r.materials[m].nuclides[i])],
                                r.materials[m].densities[i]});
    }
  }
  /// The totals of its lookups since the last call.
  lookup_totals collect() { return std::exchange(found_, {}); }

  // ---- host functions ---------------------------------------------------------------------------

  /// Sends its share of `count` lookups at the positions first, first + apart, ... to their owners.
  void draw(pe& me, u32 first, u32 apart, u32 count) {
    const u64 pes = static_cast<u64>(columns_ * rows_), rank = static_cast<u64>(at_.y * columns_ + at_.x);
    const u32 begin = static_cast<u32>(rank * count / pes),
              end_of = static_cast<u32>((rank + 1) * count / pes);
    const stride to_next = steps(apart);
    u32 position = first + begin * apart;
    u64 state = lookup_states[position];
    for (u32 i = begin; i < end_of; ++i, position += apart, state = to_next(state))
      enqueue(position, uniform(one_step(state)));
    exchange(me);
  }

  /// Does all lookups that have arrived. With `go_on` their particles' next lookups are then ready for
  /// `exchange`.
  void look_up(pe&, bool go_on) {
    if (spectrum_) {
      sort([this](f64 roll) { return pick_evenly(roll, reactor_materials_); });
      for (f64& energy : energies_) energy = spectrum_->energy(energy);
    } else {
      sort([](f64 roll) { return pick_material(roll); });
    }
    positions_.clear();
    std::size_t first = 0;
    for (std::size_t m = 0; m < contents_.size(); ++m) {
      const std::size_t count = ends_[m] - first;
      sweep_material(m, std::span(energies_).subspan(first, count), std::span(sorted_).subspan(first, count),
                     go_on);
      first = ends_[m];
    }
  }

  /// Sends the lookups that are ready: to their owners' columns, and those that have come from other columns
  /// to their owners.
  void exchange(pe& me) {
    for (int i = 0; i < lookup_dispatch.count; ++i) {
      std::vector<u32>& out = outbox_[static_cast<std::size_t>(i)];
      sent_[static_cast<std::size_t>(i)].swap(out);
      out.clear();
      const std::span<u32> words(sent_[static_cast<std::size_t>(i)]);
      if (!words.empty()) me.async(mov(fabout(color<u32>{lookup_dispatch.first + i}), mem(words)));
    }
  }

  /// Receives a lookup: one of this PE, or one of this column, which waits for the next `exchange`. A PE
  /// that passed it on at once might wait for space at PEs that wait for it.
  void take(pe&, u32 position) {
    if (rows_ == 1) positions_.push_back(position);
    else enqueue(position, uniform(one_step(lookup_states[position])));
  }

  using tasks = task_list<launch<&lookup_pe::draw>, launch<&lookup_pe::look_up>, launch<&lookup_pe::exchange>,
                          on<lookup_dispatch, &lookup_pe::take>, sends<lookup_dispatch>>;

 private:
  static constexpr std::size_t materials = 12;

  // One more point on both sides, because the edges of bands are rounded.
  void add_table(nuclide_grid<f64> grid, f64 from, f64 to) {
    const int last = static_cast<int>(grid.size()) - 1;
    const int low = std::max(0, interval_of(grid, from) - 1),
              high = std::min(last, interval_of(grid, to) + 2);
    const std::size_t begin = table_.size();
    table_.resize(begin + static_cast<std::size_t>(high - low + 1));
    fill_rows(std::span(table_).subspan(begin),
              grid.subspan(static_cast<std::size_t>(low), static_cast<std::size_t>(high - low + 1)));
  }

  coord owner(f64 energy) const {
    const int bands = columns_ * rows_, band = std::min(bands - 1, static_cast<int>(energy * bands));
    return {band / rows_, band % rows_};
  }
  void enqueue(u32 position, f64 energy) {
    const coord to = owner(energy);
    if (to.x != at_.x) outbox_[static_cast<std::size_t>(to.x)].push_back(position);
    else if (to.y != at_.y)
      outbox_[static_cast<std::size_t>(lookup_dispatch.to_row(to.y).id - lookup_dispatch.first)].push_back(
          position);
    else positions_.push_back(position);
  }

  // By material and, within it, by energy: first into about as many bins as lookups, then each to its exact
  // position, which is near.
  template <class Pick>
  void sort(Pick pick) {
    const std::size_t n = positions_.size();
    drawn_.resize(n), materials_.resize(n), keys_.resize(n), energies_.resize(n), sorted_.resize(n);
    std::array<std::size_t, materials> count{}, first_bin{};
    for (std::size_t i = 0; i < n; ++i) {
      random_stream draw{lookup_states[positions_[i]]};
      drawn_[i] = draw.next();
      ++count[materials_[i] = static_cast<u8>(pick(draw.next()))];
    }
    std::size_t bins = 0;
    std::array<f64, materials> scale{};
    for (std::size_t m = 0, end_of = 0; m < materials; bins += count[m++] + 1) {
      first_bin[m] = bins, ends_[m] = end_of += count[m];
      scale[m] = static_cast<f64>(count[m]) * columns_ * rows_;
    }
    starts_.assign(bins + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t m = materials_[i];
      const f64 bin = std::clamp((drawn_[i] - low_) * scale[m], 0.0, static_cast<f64>(count[m]));
      ++starts_[1 + (keys_[i] = static_cast<u32>(first_bin[m]) + static_cast<u32>(static_cast<i32>(bin)))];
    }
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t to = starts_[keys_[i]]++;
      energies_[to] = drawn_[i], sorted_[to] = positions_[i];
    }
    for (std::size_t m = 0, from = 0; m < materials; from = ends_[m++]) finish_sorting(from, ends_[m]);
  }
  void finish_sorting(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const f64 energy = energies_[i];
      const u32 position = sorted_[i];
      std::size_t j = i;
      for (; j > from && energies_[j - 1] > energy; --j)
        energies_[j] = energies_[j - 1], sorted_[j] = sorted_[j - 1];
      energies_[j] = energy, sorted_[j] = position;
    }
  }

  void sweep_material(std::size_t m, std::span<const f64> energies, std::span<u32> places, bool go_on) {
    nuclides_ = contents_[m];
    u64 largest = 0;
    sweep(energies, std::span(nuclides_),
          [&](std::size_t first, int count, const lane_sums<f64>& xs) __attribute__((always_inline)) {
            f64 best[lanes<f64>];
            i64 channel[lanes<f64>], above[lanes<f64>];
            each_lane<f64>([&](int i) { best[i] = xs.of[0][i], channel[i] = 1, above[i] = xs.of[0][i] > 1; });
            for (int k = 1; k < channels; ++k)
              each_lane<f64>([&](int i) {
                const f64 x = xs.of[k][i];
                channel[i] = x > best[i] ? k + 1 : channel[i];
                best[i] = x > best[i] ? x : best[i];
                above[i] += x > 1;
              });
            for (int i = 0; i < count; ++i) largest += static_cast<u64>(channel[i]);
            if (go_on)
              for (int i = 0; i < count; ++i)
                places[first + static_cast<std::size_t>(i)] += 2 + static_cast<u32>(above[i]);
          });
    found_ = found_ + lookup_totals{energies.size(), largest};
    if (go_on)
      for (u32 position : places) enqueue(position, uniform(one_step(lookup_states[position])));
  }

  int columns_ = 1, rows_ = 1;
  coord at_;
  f64 low_ = 0;  ///< the lower end of its band
  const spectrum* spectrum_ = nullptr;
  std::size_t reactor_materials_ = materials;
  std::vector<table_row<f64>> table_;  ///< nuclide after nuclide
  std::array<std::vector<ingredient<f64>>, materials> contents_;
  std::vector<ingredient<f64>> nuclides_;  ///< the nuclides of the current sweep
  std::vector<u32> positions_;             ///< lookups that have arrived
  std::array<std::vector<u32>, lookup_dispatch.count> outbox_, sent_;
  std::vector<f64> drawn_, energies_;  ///< the energies of the lookups in the order of arrival, and sorted
  std::vector<u8> materials_;
  std::vector<u32> keys_, starts_, sorted_;
  std::array<std::size_t, materials> ends_{};
  lookup_totals found_;
};

constexpr layout lookup_layout(int columns, int rows) {
  layout l{host, columns, rows};
  l.place<lookup_pe>(all);
  lookup_dispatch.wire(l);
  return l;
}

}  // namespace wsl::monte_carlo
