// SPDX-License-Identifier: MIT
// The localized broadcast with rotating senders computes the bits of the relays, on all engines; how many
// cycles both take.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/fabric/time_report.hpp>
#include <wsl/kernel/wave25/rotating.hpp>

#include <catch2/catch.hpp>

using namespace wsl;
using namespace wsl::wave25;

namespace {

problem shot(const cells& size) {
  problem p{.size = size,
            .sources = {{.at = {size.x / 2, size.y / 3, 3}, .peak_hz = 30, .amplitude = 100, .delay = 0.02}}};
  p.velocity.resize(size.count());
  for (std::size_t i = 0; i < p.velocity.size(); ++i)
    p.velocity[i] = 1500 + static_cast<f32>(i * 7919 % 2000);
  return p;
}

}  // namespace

TEST_CASE("wave25: rotating senders bring the same lines as relays") {
  for (const cells& size : {cells{1, 1, 9}, cells{2, 1, 9}, cells{1, 3, 9}, cells{4, 5, 9}, cells{6, 1, 9},
                            cells{7, 11, 9}, cells{12, 10, 9}}) {
    INFO(text(size));
    const problem p = shot(size);
    wafer_simulation<9> relays{p};
    relays.run(8);
    const auto check = [&](const auto& engine) {
      rotating_simulation<9> rotating{p, wse2, engine};
      rotating.run(5);
      rotating.run(3);
      CHECK(rotating.field() == relays.field());
    };
    for (int threads : {1, 2, 3, 8}) check(threaded{.threads = threads, .pes_per_partition = 5});
    check(reference{});
    check(timed{});
  }
}

TEST_CASE("wave25: cycles of both exchanges") {
  constexpr int nz = 60, steps = 4;
  const problem p = shot({12, 12, nz});
  wafer_simulation<nz> relays{p, wse2, timed{}};
  rotating_simulation<nz> rotating{p, wse2, timed{}};
  const u64 relayed = relays.run(steps) / steps, rotated = rotating.run(steps) / steps;
  // 21 sums and 7 products of a cell, 6 of them of lines in the same banks: two cycles a product
  const u64 computed = step_cycles(wse2, border::reflects, nz);
  CHECK(computed == (21 + 13) * nz + 28 * static_cast<u64>(wse2.operation_setup));
  INFO(relayed << " and " << rotated << " cycles a step");
  // A PE moves a word a cycle: with relays 4 lines out and in on four sides, with rotating senders one out
  // and five in, one of them its own.
  CHECK(relayed >= 32 * nz + computed);
  CHECK(relayed < 32 * nz * 13 / 10 + computed);
  CHECK(rotated >= 24 * nz + computed);
  // what a PE sends waits for its tasks, which have the higher priority
  CHECK(rotated < 24 * nz * 15 / 10 + computed);
  CHECK(rotated < relayed);
  CHECK(!relays.wafer().exchange_only());
  CHECK(to_text(time_report{rotating.wafer()}).find("exchange only") == std::string::npos);
}
