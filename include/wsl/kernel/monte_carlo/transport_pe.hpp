// SPDX-License-Identifier: MIT
// Neutrons on a row of PEs. Each PE follows the particles of some blocks, all of which have the same number
// of particles whatever the grid; the tallies of a block are added up in the order of its particles, so
// results have the same bits on any number of PEs and threads. The sites of fission lie in the order of the
// particles that led to them, along the row. For the next generation as many are taken at equal distances as
// there are particles, so each lies near the PE that follows it, and goes there from neighbour to neighbour
// (Romano and Forget, "Parallel fission bank algorithms in Monte Carlo criticality calculations", Nuclear
// Science and Engineering 170, 2012). The front end is transport_fabric; see transport.hpp.
#pragma once
#include <bit>

#include "../../collective/lane.hpp"
#include "transport_history.hpp"

namespace wsl::monte_carlo {

/// Lanes to the next and the previous PE of the row.
inline constexpr lane<u32> eastward{0, east}, westward{2, west};

/// Where neutrons of a fixed source begin.
enum class source_kind {
  uniform,  ///< everywhere in the body, in all directions
  centre,   ///< in the middle of it, in all directions
  beam,     ///< at the face x = 0 of a slab, along x
};

/// What all PEs of a run know.
struct transport_run {
  const medium* material = nullptr;
  body where;
  int bins = 1;
  u64 particles = 0, seed = 0;
  source_kind source = source_kind::uniform;
  f64 source_energy = 0;  ///< in eV; 0 in one group, or for the spectrum of fission
  bool keeps_sites =
      false;  ///< of fission, for the next generation; otherwise these neutrons are followed too
};

class transport_pe {
 public:
  /// More neutrons of one source particle that wait are taken for a chain without an end.
  static constexpr std::size_t most_waiting = 100'000;
  static constexpr u64 block = 256;  ///< particles whose tallies are added up together

  static constexpr u64 blocks_of(u64 particles) { return (particles + block - 1) / block; }

  /// The host tells the PE about a run.
  void load(const transport_run& run, int x, int width) {
    run_ = run;
    const u64 blocks = blocks_of(run.particles);
    const auto edge = [&](int i) {
      return std::min(run.particles, block * (blocks * static_cast<u64>(i) / static_cast<u64>(width)));
    };
    first_ = edge(x), last_ = edge(x + 1);
    sites_.clear(), sources_.clear();
  }
  /// The host begins a generation: the number of its first particle in the stream, and the k by which the
  /// neutrons of a fission are divided; whether they begin at the source.
  void begin(u64 particle, f64 k, bool at_source) { particle_ = particle, k_ = k, at_source_ = at_source; }
  /// Where in the stride from one site to the next the first one is, from 0 to 1.
  void choose(f64 offset) { offset_ = offset; }

  /// The tallies of its blocks, one after the other, with scores + bins numbers each.
  std::span<const f64> tallies() const { return tallies_; }
  u64 sites() const { return sites_.size(); }

  // ---- one generation -----------------------------------------------------------------------------

  void run(pe&) {
    const std::size_t each = scores + static_cast<std::size_t>(run_.bins);
    tallies_.assign(each * blocks_of(last_ - first_), 0);
    sites_.clear();
    for (u64 i = first_; i < last_; ++i)
      follow_particle(i, std::span(tallies_).subspan(each * ((i - first_) / block), each));
  }

  // ---- the next one: where the row's sites begin to count here, and how many there are -------------

  task count(pe& me) {
    const auto own = static_cast<u32>(sites_.size());
    before_ = 0;
    if (eastward.has_previous(me)) co_await mov(&before_, eastward.fabin(me, 1));
    total_ = before_ + own;
    if (eastward.has_next(me)) {
      eastward.send(me, total_);
      co_await mov(&total_, westward.fabin(me, 1));
    }
    if (westward.has_next(me)) westward.send(me, total_);
  }

  /// Chooses sites, and brings them to the PEs of their particles in as many exchanges as there are PEs.
  void deal(pe& me) {
    arrived_.clear(), sources_.assign(static_cast<std::size_t>(last_ - first_), {});
    // The number of a chosen site ascends with that of its particle.
    const f64 n = static_cast<f64>(run_.particles), m = static_cast<f64>(total_);
    const auto site_of = [&](u64 particle) {
      return std::min(u64{total_} - 1, static_cast<u64>((static_cast<f64>(particle) + offset_) * m / n));
    };
    const u64 end = before_ + sites_.size();
    auto particle = static_cast<u64>(std::max(0.0, std::floor(static_cast<f64>(before_) * n / m) - 2));
    while (particle < run_.particles && site_of(particle) < before_) ++particle;
    for (; particle < run_.particles && site_of(particle) < end; ++particle)
      append(arrived_, particle, sites_[static_cast<std::size_t>(site_of(particle) - before_)]);
    rounds_ = me.width();
    me.activate<&transport_pe::exchange>();
  }
  task exchange(pe& me) {
    split();
    if (rounds_-- == 0) co_return;
    pending_ = 1;
    if (eastward.has_next(me))
      ++pending_,
          me.async(mov(eastward.fabout(me), mem(std::span(to_east_))), then<&transport_pe::sent_east>());
    if (westward.has_next(me))
      ++pending_,
          me.async(mov(westward.fabout(me), mem(std::span(to_west_))), then<&transport_pe::sent_west>());
    arrived_.clear();
    for (const lane<u32>* comes : {&eastward, &westward}) {
      if (!comes->has_previous(me)) continue;
      co_await mov(&count_, comes->fabin(me, 1));
      const std::size_t had = arrived_.size();
      arrived_.resize(had + count_);
      co_await mov(mem(std::span(arrived_).subspan(had)), comes->fabin(me));
    }
    if (--pending_ == 0) me.activate<&transport_pe::exchange>();
  }
  void sent_east(pe& me) {
    if (--pending_ == 0) me.activate<&transport_pe::exchange>();
  }
  void sent_west(pe& me) {
    if (--pending_ == 0) me.activate<&transport_pe::exchange>();
  }

  using tasks =
      task_list<launch<&transport_pe::run>, launch<&transport_pe::count>, launch<&transport_pe::deal>,
                local<&transport_pe::exchange>, local<&transport_pe::sent_east>,
                local<&transport_pe::sent_west>, sends<eastward, westward>, reads<eastward, westward>>;

 private:
  /// A site as words: the particle that begins there, and four numbers of 64 bits.
  static constexpr std::size_t words = 2 + 2 * 4;
  static void append(std::vector<u32>& to, u64 particle, const site& s) {
    for (const u64 x : {particle, std::bit_cast<u64>(s.at.x), std::bit_cast<u64>(s.at.y),
                        std::bit_cast<u64>(s.at.z), std::bit_cast<u64>(s.energy)})
      to.push_back(static_cast<u32>(x)), to.push_back(static_cast<u32>(x >> 32));
  }

  void follow_particle(u64 i, std::span<f64> tallies) {
    random_stream numbers = numbers_of(run_.seed, particle_ + i);
    site from = at_source_ ? source(numbers) : sources_[static_cast<std::size_t>(i - first_)];
    vector3 direction{1, 0, 0};
    if (!at_source_ || run_.source != source_kind::beam) direction = any_direction(numbers);
    if (run_.keeps_sites)
      return void(follow(*run_.material, run_.where, from, direction, k_, numbers, tallies, sites_));
    std::vector<site>& waiting = sites_;  // neutrons of this particle's chain
    u64 collisions = follow(*run_.material, run_.where, from, direction, 1, numbers, tallies, waiting);
    while (!waiting.empty()) {
      if (collisions > most_collisions || waiting.size() > most_waiting)
        throw fault(
            support::joined({"wsl: the chain of one source particle has had ", collisions,
                             " collisions and goes on: with a fixed source the body is subcritical"}));
      from = waiting.back();
      waiting.pop_back();
      direction = any_direction(numbers);
      collisions += follow(*run_.material, run_.where, from, direction, 1, numbers, tallies, waiting);
    }
  }
  site source(random_stream& numbers) const {
    site s;
    if (run_.source == source_kind::uniform) s.at = run_.where.any_point(numbers);
    if (run_.source == source_kind::centre && run_.where.form == shape::slab) s.at.x = run_.where.size / 2;
    s.energy =
        run_.source_energy > 0 ? run_.material->limited(run_.source_energy) : run_.material->born(numbers);
    return s;
  }

  /// Each site that has arrived stays here or goes on.
  void split() {
    to_east_.assign(1, 0), to_west_.assign(1, 0);
    for (std::size_t i = 0; i < arrived_.size(); i += words) {
      const auto number = [&](std::size_t k) {
        return u64{arrived_[i + 2 * k]} | u64{arrived_[i + 2 * k + 1]} << 32;
      };
      const u64 particle = number(0);
      if (particle >= first_ && particle < last_)
        sources_[static_cast<std::size_t>(particle - first_)] = {
            {std::bit_cast<f64>(number(1)), std::bit_cast<f64>(number(2)), std::bit_cast<f64>(number(3))},
            std::bit_cast<f64>(number(4))};
      else {
        std::vector<u32>& to = particle < first_ ? to_west_ : to_east_;
        to.insert(to.end(), arrived_.begin() + static_cast<std::ptrdiff_t>(i),
                  arrived_.begin() + static_cast<std::ptrdiff_t>(i + words));
      }
    }
    for (std::vector<u32>* to : {&to_east_, &to_west_}) (*to)[0] = static_cast<u32>(to->size() - 1);
    arrived_.clear();
  }

  transport_run run_;
  u64 first_ = 0, last_ = 0;  ///< its particles
  u64 particle_ = 0;
  f64 k_ = 1, offset_ = 0;
  bool at_source_ = true;
  std::vector<f64> tallies_;
  std::vector<site> sites_, sources_;  ///< of fission, and where its particles begin
  u32 before_ = 0, total_ = 0, count_ = 0;
  std::vector<u32> arrived_, to_east_, to_west_;
  int rounds_ = 0, pending_ = 0;
};

constexpr layout transport_layout(int columns) {
  layout l{host, columns, 1};
  l.place<transport_pe>(all);
  return l.wire(eastward, westward);
}

}  // namespace wsl::monte_carlo
