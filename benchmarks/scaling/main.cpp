// SPDX-License-Identifier: MIT
// How long a step of training takes on n ranks with a wafer each and the same number of sequences a wafer: a model of communication from
// parts that are measured here, checked against 1, 2 and 4 ranks of this computer, and used for 1 to 16 ranks on a network of 100 Gbit/s. mpirun
// starts it on 4 ranks (see run); docs/scaling.md explains the model. Words travel by messages, as between computers.
#include <wsl/fabric/crew.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/trainer.hpp>
#include <wsl/mpi.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace {
using namespace wsl;

/// The first ranks of all, without the memory that they have in common.
struct some_ranks {
  MPI_Comm group = MPI_COMM_NULL;
  explicit some_ranks(int n) { MPI_Comm_split(mpi::world().who.group(), mpi::world().rank() < n ? 0 : MPI_UNDEFINED, 0, &group); }
  some_ranks(const some_ranks&) = delete;
  some_ranks& operator=(const some_ranks&) = delete;
  bool has_me() const { return group != MPI_COMM_NULL; }
  mpi::spread_over all() const { return {mpi::ranks(group), {.threads = 1, .pes_per_band = 1}}; }
};

f64 median_seconds(int runs, const std::function<void()>& run) {
  std::vector<f64> took(static_cast<std::size_t>(runs));
  run();
  for (f64& t : took) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    t = std::chrono::duration<f64>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(took.begin(), took.begin() + runs / 2, took.end());
  return took[static_cast<std::size_t>(runs / 2)];
}

/// Seconds of a message of MPI from one rank to another.
f64 message_seconds(int bytes, MPI_Comm two) {
  int rank = 0;
  MPI_Comm_rank(two, &rank);
  std::vector<char> data(static_cast<std::size_t>(bytes));
  constexpr int turns = 200;
  return median_seconds(7, [&] {
    for (int k = 0; k < turns; ++k) {
      if (rank == k % 2) MPI_Send(data.data(), bytes, MPI_BYTE, 1 - rank, 0, two);
      else MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, two, MPI_STATUS_IGNORE);
    }
  }) / turns;
}

constexpr color<u32> there{0}, back{1};
constexpr int bounces = 2000, words = 1 << 22;

/// Two PEs on two ranks: a word goes to and fro.
template <bool first>
struct end_of_wire {
  static constexpr color<u32> out = first ? there : back, in = first ? back : there;
  int left = 0;

  void bounce(pe& me) {
    left = bounces / 2;
    if constexpr (first) me.send(out, 1u);
  }
  void hear(pe& me, u32 x) {
    if (left-- > 0) me.send(out, x);
  }
  static consteval auto tasks() { return table(launch<&end_of_wire::bounce>(), on<in, &end_of_wire::hear>(), sends<out>()); }
};

/// An array goes over.
template <bool first>
struct end_of_pipe {
  std::vector<u32> array = std::vector<u32>(words, 1);
  void go(pe& me) {
    if constexpr (first) me.async(mov(fabout(there), mem(std::span(array))));
    else me.async(mov(mem(std::span(array)), fabin(there)));
  }
  static consteval auto tasks() {
    if constexpr (first) return table(launch<&end_of_pipe::go>(), sends<there>());
    else return table(launch<&end_of_pipe::go>(), reads<there>());
  }
};

layout wire() {
  layout l{host, 2, 1};
  l.place(column(0), program_v<end_of_wire<true>>).place(column(1), program_v<end_of_wire<false>>);
  l.path(there, column(0), ramp >> east).path(there, column(1), west >> ramp).path(back, column(1), ramp >> west).path(back, column(0), east >> ramp);
  return l;
}
layout pipe() {
  layout l{host, 2, 1};
  l.place(column(0), program_v<end_of_pipe<true>>).place(column(1), program_v<end_of_pipe<false>>);
  l.path(there, column(0), ramp >> east).path(there, column(1), west >> ramp);
  return l;
}

/// Exchanges of a call.
u64 exchanges_of(const std::function<void()>& call) {
  const u64 before = mpi::detail::exchanges;
  call();
  return mpi::detail::exchanges - before;
}

constexpr int sequences = 6, length = 64;  // of a wafer
ml::decoder model() { return {.vocabulary = 65, .positions = length, .layers = 4, .heads = 4, .width = 128, .bias = false}; }

struct one_step {
  f64 seconds = 0;
  u64 epochs = 0, out = 0, in = 0;  ///< bytes of weights and of gradients
};
one_step step_on(const mpi::spread_over& all, int wafers, int runs) {
  ml::trainer t(model().build(), ml::optimizer::adam(), {.num_csx = wafers, .threads = 1}, all);
  std::vector<i32> ids(static_cast<std::size_t>(wafers * sequences * length));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<i32>(i * i % 65);
  const auto go = [&] { t.step({.ids = ids, .targets = ids, .sequences = wafers * sequences, .length = length}, 1e-4); };
  one_step s;
  s.epochs = exchanges_of(go);
  if (runs) s.seconds = median_seconds(runs, go);
  s.out = t.report().sent_forward + t.report().sent_back, s.in = t.report().returned;
  return s;
}

int doublings(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

struct parts {
  f64 latency = 0, per_byte = 0;     ///< of a message
  f64 epoch = 0, copies = 0;         ///< what an exchange costs without messages; what a byte costs besides
  one_step alone;
};
struct prediction {
  f64 compute, epochs, bytes;
  f64 all() const { return compute + epochs + bytes; }
};
prediction predict(const parts& p, int n, u64 epochs, f64 latency, f64 per_byte, int wafers_at_once) {
  if (n == 1) return {p.alone.seconds, 0, 0};
  const f64 one = p.epoch + latency * (n > 2 ? 1 + doublings(n) : 1);
  const f64 moved = static_cast<f64>(p.alone.out) * (n - 1) + static_cast<f64>(p.alone.in) * doublings(n);
  return {p.alone.seconds * std::max(1., f64(n) / wafers_at_once), static_cast<f64>(epochs) * one, moved * (p.copies + per_byte)};
}

parts measure(const some_ranks& one, const some_ranks& two) {
  parts p;
  if (one.has_me()) p.alone = step_on(one.all(), 1, 9);
  if (!two.has_me()) return p;
  p.latency = message_seconds(8, two.group);
  p.per_byte = message_seconds(1 << 16, two.group) / (1 << 16);
  fabric bouncing{wire(), two.all()}, moving{pipe(), two.all()};
  const auto bounce = [&] { bouncing.launch<&end_of_wire<true>::bounce>(column(0)); };
  p.epoch = std::max(0., median_seconds(7, [&] { bouncing.start<&end_of_wire<false>::bounce>(column(1)), bounce(); }) / bounces - p.latency);
  const auto move = [&] { moving.start<&end_of_pipe<true>::go>(column(0)), moving.launch<&end_of_pipe<false>::go>(column(1)); };
  const u64 epochs = exchanges_of(move);
  p.copies = std::max(0., (median_seconds(7, move) - static_cast<f64>(epochs) * (p.epoch + p.latency)) / (4. * words) - p.per_byte);
  return p;
}

}  // namespace

int main() {
  const mpi::spread_over world = mpi::world();
  const some_ranks one(1), two(2);
  const auto wait = [&] {  // without taking the others' cores
    MPI_Request all;
    MPI_Ibarrier(world.who.group(), &all);
    for (int done = 0; !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE)) {
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
  };
  const parts p = measure(one, two);
  wait();
  if (world.root()) {
    std::printf("measured: a message %.2f us and %.2f GB/s; an exchange %.2f us besides, a byte %.3f ns besides\n", 1e6 * p.latency, 1e-9 / p.per_byte, 1e6 * p.epoch, 1e9 * p.copies);
    std::printf("a step of one wafer: %.1f ms, %.2f MB of weights out, %.2f MB of gradients in\n\n", 1e3 * p.alone.seconds, 1e-6 * static_cast<f64>(p.alone.out), 1e-6 * static_cast<f64>(p.alone.in));
    std::printf("ranks  epochs   here, ms:  measured  predicted   off    100 Gbit/s, ms:  predicted  computing  epochs   bytes  efficiency\n");
  }
  for (int n = 1; n <= 16; n *= 2) {
    const bool runs_here = n <= world.size();
    const some_ranks some(std::min(n, world.size()));
    one_step here;
    if (runs_here && some.has_me()) here = step_on(some.all(), n, 9);
    wait();
    if (world.root()) {
      const u64 epochs = step_on(one.all(), n, 0).epochs;
      const int cores = engines::available_cores();
      const prediction local = predict(p, n, epochs, p.latency, p.per_byte, cores), network = predict(p, n, epochs, 2e-6, 1 / 12.5e9, n);
      std::printf("%5d %7llu ", n, static_cast<unsigned long long>(epochs));
      if (runs_here) std::printf("%20.1f %10.1f %5.0f %%", 1e3 * here.seconds, 1e3 * local.all(), 100 * (local.all() / here.seconds - 1));
      else std::printf("%39s", "");
      std::printf(" %26.1f %10.1f %7.1f %7.1f %9.0f %%\n", 1e3 * network.all(), 1e3 * network.compute, 1e3 * network.epochs, 1e3 * network.bytes, 100 * network.compute / network.all());
    }
    wait();
  }
}
