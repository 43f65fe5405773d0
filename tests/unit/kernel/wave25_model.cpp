// SPDX-License-Identifier: MIT
// Velocities that are read where they are needed give what those in memory give.
#include <wsl/kernel/wave25.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <stdexcept>

using namespace wsl;
using Catch::Contains;

namespace {

wave25::problem in_memory(wave25::border sides) {
  wave25::problem p{.size = {30, 26, 19}, .spacing = 10, .edge = sides, .edge_width = 5};
  p.velocity.resize(p.size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 2000.f + static_cast<f32>(i * 7919 % 1000);
  p.sources = {{.at = {15, 13, 9}, .peak_hz = 12, .delay = 0.02},
               {.peak_hz = 9,
                .delay = 0.02,
                .place = wave25::point{102.5, 97, 111},
                .kind = wave25::source_term::point}};
  p.receivers = {{3, 10, 5}, wave25::point{195, 101, 60}};
  return p;
}

/// The same, of which `whole` has the velocities.
wave25::problem read_from(const wave25::problem& whole, std::atomic<int>* reads = nullptr) {
  wave25::problem p = whole;
  p.velocity = {};
  p.model = {whole.slowest(), whole.fastest(),
             support::fingerprint_of_blocks(whole.velocity.data(), whole.velocity.size() * sizeof(f32)),
             [&whole, reads](const grid::lines& some, std::span<f32> to) {
               if (reads) ++*reads;
               auto next = to.begin();
               for (int x = some.x.from; x < some.x.to; ++x)
                 for (int y = some.y.from; y < some.y.to; ++y)
                   for (int z = 0; z < whole.size.z; ++z)
                     *next++ = whole.velocity[whole.size.index({x, y, z})];
               REQUIRE(next == to.end());
             }};
  return p;
}

}  // namespace

TEST_CASE("velocities that are read give the waves of those in memory") {
  for (const wave25::border sides : {wave25::border::reflects, wave25::border::pml, wave25::border::cpml}) {
    const wave25::problem whole = in_memory(sides);
    std::atomic<int> reads = 0;
    const wave25::problem parts = read_from(whole, &reads);
    CHECK(parts.time_step() == whole.time_step());
    CHECK(parts.velocity_at({7, 3, 11}) == whole.velocity_at({7, 3, 11}));
    CHECK_FALSE(parts.is_layered());
    CHECK(wave25::fingerprint_of(parts) == wave25::fingerprint_of(whole));
    wave25::simulation expected{whole, {.wide = 3, .high = 2, .depth = 2, .threads = 2}},
        found{parts, {.wide = 3, .high = 2, .depth = 2, .threads = 2}};
    expected.run(40), found.run(40);
    CHECK(found.field() == expected.field());
    CHECK(found.trace(1) == expected.trace(1));
    CHECK(reads > 30);  // planes of six blocks and what they have of others
    // a checkpoint of one is one of the other
    const auto bytes = wave25::to_bytes(expected.save(), whole);
    CHECK(bytes == wave25::to_bytes(found.save(), parts));
    found.restore(wave25::state_from_bytes(bytes, parts));
    // its blocks are its field
    const std::vector<f32> field = expected.field();
    std::size_t cells = 0;
    bool same = true;
    found.each_own_block([&](const grid::lines& where, auto line) {
      for (int x = where.x.from; x < where.x.to; ++x)
        for (int y = where.y.from; y < where.y.to; ++y) {
          const std::span<const f32> z = line(x, y);
          cells += z.size();
          same &=
              std::equal(z.begin(), z.end(), field.begin() + static_cast<i64>(whole.size.index({x, y, 0})));
        }
    });
    CHECK(cells == whole.size.count());
    CHECK(same);
  }
}

TEST_CASE("each thread prepares the blocks that it runs, and reads their velocities") {
  const wave25::problem whole = in_memory(wave25::border::reflects);
  for (const int threads : {1, 2, 4}) {
    std::mutex alone;
    std::set<long> readers;
    wave25::problem p = read_from(whole);
    p.sources.clear();  // whose cells the host asks for as well
    p.model.read = [&, read = p.model.read](const grid::lines& some, std::span<f32> to) {
      read(some, to);
      const std::scoped_lock now(alone);
      readers.insert(::syscall(SYS_gettid));
    };
    wave25::simulation s{p, {.wide = 4, .depth = 1, .threads = threads}};
    CHECK(readers.size() == static_cast<std::size_t>(threads));
  }
}

TEST_CASE("a model that is no model, or cannot be read, is refused") {
  const wave25::problem whole = in_memory(wave25::border::reflects);
  wave25::problem p = read_from(whole);
  p.model.least = 0;
  CHECK_THROWS_WITH(wave25::simulation(p), Contains("go from 0.000000 to") && Contains("are positive"));
  p = read_from(whole);
  p.model.read = [](const grid::lines&, std::span<f32>) { throw std::runtime_error("the disk is gone"); };
  p.sources.clear();
  for (const int threads : {1, 2})
    CHECK_THROWS_WITH((wave25::simulation{p, {.wide = 4, .threads = threads}}), Contains("the disk is gone"));
}
