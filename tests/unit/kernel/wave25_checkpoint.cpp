// SPDX-License-Identifier: MIT
// Checkpoints of wave25: written and read back; and damaged bytes, which must throw.
#include <wsl/kernel/wave25.hpp>
#include <wsl/support/whole_file.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <random>

using namespace wsl;
using namespace wsl::wave25;
using Catch::Contains;

namespace {

problem small() {
  return {.size = {7, 5, 9},
          .edge = border::pml,
          .edge_width = 2,
          .sources = {{{3, 2, 4}, 20, 1, 0.02}},
          .receivers = {{1, 1, 1}, {5, 3, 7}}};
}

std::string after(int steps) {
  simulation s{small()};
  s.run(steps);
  return to_bytes(s.save(), small());
}

}  // namespace

TEST_CASE("a checkpoint gives back the state") {
  simulation s{small()};
  s.run(11);
  const state saved = s.save(), read = state_from_bytes(to_bytes(saved, small()), small());
  CHECK(read.time == 11);
  CHECK(read.now == saved.now);
  CHECK(read.before == saved.before);
  CHECK(read.phi == saved.phi);
  CHECK(read.traces == saved.traces);
  simulation t{small()};
  t.restore(read);
  s.run(9), t.run(9);
  CHECK(s.field() == t.field());
}

TEST_CASE("a checkpoint that goes to a file and comes back line by line has the same bytes") {
  const std::string name =
      (std::filesystem::temp_directory_path() / ("wave25_" + std::to_string(::getpid()))).string();
  const auto write = [&](const std::string& bytes) { support::write_whole_file(name, bytes); };
  for (const border sides : {border::reflects, border::pml, border::cpml}) {
    problem p = small();
    p.edge = sides;
    simulation s{p, {.wide = 3, .high = 2}};
    s.run(11);
    support::scattered_file file(name, checkpoint_size(s));
    write_checkpoint(s, file), file.finish();
    const std::string expected = to_bytes(s.save(), p);
    const support::file_reader written(name);
    REQUIRE(written.size() == expected.size());
    std::string bytes(expected.size(), '\0');
    written.read(0, bytes.data(), bytes.size());
    CHECK(bytes == expected);

    simulation t{p, {.wide = 2, .high = 3}};
    t.run(3);
    const std::string before = to_bytes(t.save(), p);
    for (const std::size_t at : {std::size_t{0}, std::size_t{30}, bytes.size() / 2, bytes.size() - 1}) {
      std::string damaged = bytes;
      damaged[at] ^= 1;
      write(damaged);
      CHECK_THROWS_AS(read_checkpoint(t, support::file_reader(name)), std::invalid_argument);
    }
    write(bytes.substr(0, bytes.size() - 12));
    CHECK_THROWS_WITH(read_checkpoint(t, support::file_reader(name)), Contains("cut short or damaged"));
    write("something else");
    CHECK_THROWS_WITH(read_checkpoint(t, support::file_reader(name)),
                      Contains("wave25: " + name + ": this is not a checkpoint of wave25"));
    problem q = p;
    q.sources[0].amplitude = 2;
    write(to_bytes(simulation(q).save(), q));
    CHECK_THROWS_WITH(read_checkpoint(t, support::file_reader(name)),
                      Contains("wave25: the checkpoint " + name + " belongs to another problem: grid, "));
    state cut = s.save();
    cut.before.pop_back();
    write(to_bytes(cut, p));
    CHECK_THROWS_WITH(read_checkpoint(t, support::file_reader(name)), Contains("a number for each cell"));
    cut = s.save(), cut.traces[1].pop_back();
    write(to_bytes(cut, p));
    CHECK_THROWS_WITH(read_checkpoint(t, support::file_reader(name)), Contains("its trace 1 has 10"));
    CHECK(to_bytes(t.save(), p) == before);

    read_checkpoint(t, written);
    s.run(9), t.run(9);
    CHECK(to_bytes(t.save(), p) == to_bytes(s.save(), p));
    // what a border remembers is zero where a state does not say it
    state plain = s.save();
    plain.phi.clear();
    write(to_bytes(plain, p));
    read_checkpoint(t, support::file_reader(name)), s.restore(plain);
    s.run(2), t.run(2);
    CHECK(t.field() == s.field());
  }
  std::filesystem::remove(name);
}

TEST_CASE("wave25: a checkpoint is not written to a file of another size") {
  simulation s{problem{.size = {6, 5, 7}}};
  const auto name = std::filesystem::temp_directory_path() / "wsl_checkpoint_of_another_size";
  for (const int more : {-8, 8}) {
    support::scattered_file file(name, checkpoint_size(s) + static_cast<u64>(more));
    CHECK_THROWS_WITH(write_checkpoint(s, file),
                      Catch::Contains("which checkpoint_size tells, is written to"));
  }
}

TEST_CASE("wave25: states that no run has left, and calls that make no sense, are refused") {
  problem p = small();
  p.edge = border::cpml;
  simulation s{p};
  s.run(5);
  const state good = s.save();
  const auto refuses = [&](auto change, const std::string& sentence) {
    state bad = good;
    change(bad);
    CHECK_THROWS_WITH(s.restore(bad), Contains(sentence));
  };
  const auto belongs = [](const std::string& part, std::size_t has, std::size_t belong) {
    return "not one of this problem: its " + part + " has " + std::to_string(has) +
           " numbers, and that of the problem has " + std::to_string(belong);
  };
  const std::size_t n = p.size.count(), m = good.phi.size();
  refuses([](state& b) { b.now.pop_back(); }, belongs("field `now`", n - 1, n));
  refuses([](state& b) { b.before.clear(); }, belongs("field `before`", 0, n));
  refuses([](state& b) { b.phi.push_back(0); }, belongs("`phi`, what the border remembers,", m + 1, m));
  refuses([](state& b) { b.time = -3; }, "the state is after -3 steps; a run has done at least 0");
  refuses([](state& b) { b.traces.pop_back(); }, "has 1 traces; the problem has 2 receivers");
  refuses([](state& b) { b.traces[1].pop_back(); },
          "is after 5 steps, its trace 0 has 5 numbers and its trace 1 has 4");
  refuses([](state& b) { b.time = 4; }, "is after 4 steps, its trace 0 has 5 numbers");
  const f32 none = std::numeric_limits<f32>::quiet_NaN();
  refuses([=](state& b) { b.now[17] = none; },
          "the field of the state is not a finite number at index 17 of");
  refuses([=](state& b) { b.before[3] = none; }, "the field before of the state");
  refuses([=](state& b) { b.phi.back() = none; }, "what the border remembers of the state");
  CHECK(to_bytes(s.save(), p) == to_bytes(good, p));
  state bare = good;
  bare.traces.clear();
  s.restore(bare), s.run(2);
  CHECK(s.trace(1).size() == 2);
  s.restore(s.save());  // traces that began later than the run
  CHECK_THROWS_WITH(s.trace(5), Contains("there is no receiver 5; the problem has 2"));
  CHECK_THROWS_WITH(s.restore(3, {{1, 2, 3}}, [](const auto&) {}),
                    Contains("after 3 steps and has 1 traces; the problem has 2 receivers"));
  CHECK_THROWS_WITH(s.run(-5), Contains("wave25: run(-5) asks for fewer than 0 steps"));
  CHECK(s.time() == 7);
}

TEST_CASE("a checkpoint of another problem throws") {
  const std::string bytes = after(3);
  const auto throws_with = [&](auto change) {
    problem p = small();
    change(p);
    CHECK_THROWS_WITH(state_from_bytes(bytes, p), Contains("belongs to another problem"));
  };
  throws_with([](problem& p) { p.velocity[0] += 1; });
  throws_with([](problem& p) { p.sources[0].at.x = 2; });
  throws_with([](problem& p) { p.receivers.pop_back(); });
  throws_with([](problem& p) { p.size.z = 10; });
  throws_with([](problem& p) { p.edge_width = 1; });
}

TEST_CASE("a damaged checkpoint throws, whatever the damage") {
  const std::string bytes = after(3);
  CHECK_THROWS_WITH(state_from_bytes("PNG", small()), Contains("not a checkpoint"));
  CHECK_THROWS_WITH(state_from_bytes("", small()), Contains("not a checkpoint"));
  for (std::size_t n = 0; n < bytes.size(); n += 1 + n / 50)
    CHECK_THROWS_AS(state_from_bytes(bytes.substr(0, n), small()), std::invalid_argument);
  CHECK_THROWS_AS(state_from_bytes(bytes + "x", small()), std::invalid_argument);
  std::mt19937 random{1};
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
    CHECK_THROWS_AS(state_from_bytes(changed, small()), std::invalid_argument);
  }
}

TEST_CASE("a checkpoint with a right checksum and wrong counts throws") {
  const std::string bytes = after(3);
  // where the first count stands
  const std::size_t counts = std::string_view("wsl wave25 state 1\n").size() + 2 * sizeof(u64);
  for (const u64 n : {u64{0}, u64{1}, u64{314}, u64{316}, u64{1} << 40, ~u64{0}}) {
    std::string changed = bytes.substr(0, bytes.size() - sizeof(u64));
    std::memcpy(changed.data() + counts, &n, sizeof n);
    support::fingerprint sum;
    sum.add(changed.data(), changed.size());
    const u64 value = sum.value();
    changed.append(reinterpret_cast<const char*>(&value), sizeof value);
    simulation s{small()};
    CHECK_THROWS_AS(s.restore(state_from_bytes(changed, small())), std::invalid_argument);
  }
}
