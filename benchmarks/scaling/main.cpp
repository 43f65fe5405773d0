// SPDX-License-Identifier: MIT
// The time of a step of training on n ranks with a wafer each and the same number of sequences a wafer: a
// model of communication from parts that are measured here, checked against 1, 2 and 4 ranks of this
// computer, and used to predict 1 to 16 ranks on a network of 100 Gbit/s. mpirun starts it on 4 ranks (see
// run); docs/scaling.md explains the model. Words travel by messages, as between computers.
#include <wsl/engine/threaded/thread_pool.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/trainer.hpp>
#include <wsl/mpi.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

namespace {
using namespace wsl;

/// The first ranks of all, without the memory that they have in common.
struct some_ranks {
  MPI_Comm group = MPI_COMM_NULL;
  explicit some_ranks(int n) {
    MPI_Comm_split(mpi::world().who.group(), mpi::world().rank() < n ? 0 : MPI_UNDEFINED, 0, &group);
  }
  some_ranks(const some_ranks&) = delete;
  some_ranks& operator=(const some_ranks&) = delete;
  bool has_me() const { return group != MPI_COMM_NULL; }
  mpi::spread_over all() const { return {mpi::ranks(group), {.threads = 1, .pes_per_partition = 1}}; }
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
  return median_seconds(7,
                        [&] {
                          for (int k = 0; k < turns; ++k) {
                            if (rank == k % 2) MPI_Send(data.data(), bytes, MPI_BYTE, 1 - rank, 0, two);
                            else MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, two, MPI_STATUS_IGNORE);
                          }
                        }) /
         turns;
}

constexpr color<u32> out{0};
constexpr color<u32> back(int from) { return {from}; }
constexpr int rounds = 500, words = 1 << 22;

/// The first of n PEs sends a word to all others, and when all have answered the next: the pattern of weight
/// tiles and gradients, with next to nothing in it.
template <int n>
struct hub {
  int left = 0, answers = 0;
  void start(pe& me) {
    left = rounds, answers = 0;
    me.send(out, 1u);
  }
  void hear(pe& me, u32) {
    if (++answers % (n - 1) == 0 && --left > 0) me.send(out, 1u);
  }
  template <int k>
  using answer = on<back(k + 1), &hub::hear>;
  using tasks = task_list<launch<&hub::start>, numbered<n - 1, answer>, sends<out>>;
};
template <int x>
struct spoke {
  void hear(pe& me, u32 word) { me.send(back(x), word); }
  using tasks = task_list<on<out, &spoke::hear>, sends<back(x)>>;
};
template <int n>
layout wheel() {
  layout l{host, n, 1};
  l.place<hub<n>>(column(0))
      .path(out, column(0), ramp >> east)
      .path(out, columns(1, n - 1), west >> (ramp | east))
      .path(out, column(n - 1), west >> ramp);
  const auto add = [&]<int x>() {
    l.place<spoke<x>>(column(x))
        .path(back(x), column(x), ramp >> west)
        .path(back(x), columns(1, x), east >> west)
        .path(back(x), column(0), east >> ramp);
  };
  [&]<int... k>(std::integer_sequence<int, k...>) {
    (add.template operator()<k + 1>(), ...);
  }(std::make_integer_sequence<int, n - 1>{});
  return l;
}

/// Seconds of a superstep of n ranks.
template <int n>
f64 superstep_seconds(const some_ranks& some) {
  if (!some.has_me()) return 0;
  fabric wheel_on_ranks{wheel<n>(), some.all()};
  return median_seconds(7, [&] { wheel_on_ranks.launch<&hub<n>::start>(column(0)); }) / (2 * rounds);
}

/// An array goes over.
template <bool first>
struct end_of_pipe {
  std::vector<u32> array = std::vector<u32>(words, 1);
  void go(pe& me) {
    if constexpr (first) me.async(mov(fabout(out), mem(std::span(array))));
    else me.async(mov(mem(std::span(array)), fabin(out)));
  }
  using tasks = task_list<launch<&end_of_pipe::go>, std::conditional_t<first, sends<out>, reads<out>>>;
};

layout pipe() {
  layout l{host, 2, 1};
  l.place<end_of_pipe<true>>(column(0));
  l.place<end_of_pipe<false>>(column(1));
  l.path(out, column(0), ramp >> east).path(out, column(1), west >> ramp);
  return l;
}

/// The number of exchanges with other ranks in a call.
u64 exchanges_of(const std::function<void()>& call) {
  const u64 before = mpi::detail::exchanges;
  call();
  return mpi::detail::exchanges - before;
}

constexpr int sequences = 6, length = 64;  // the batch of one wafer
ml::decoder model() {
  return {.vocabulary = 65, .positions = length, .layers = 4, .heads = 4, .width = 128, .bias = false};
}

struct one_step {
  f64 seconds = 0;
  u64 supersteps = 0, out = 0, in = 0;  ///< bytes of weights and of gradients
};
one_step step_on(const mpi::spread_over& all, int wafers, int runs) {
  ml::trainer t(model().build(), ml::optimizer::adam(), {.num_csx = wafers, .threads = 1}, all);
  std::vector<i32> ids(static_cast<std::size_t>(wafers * sequences * length));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<i32>(i * i % 65);
  const auto go = [&] {
    t.step({.ids = ids, .targets = ids, .sequences = wafers * sequences, .length = length}, 1e-4);
  };
  one_step s;
  s.supersteps = exchanges_of(go);
  if (runs) s.seconds = median_seconds(runs, go);
  s.out = t.report().sent_forward + t.report().sent_backward, s.in = t.report().returned;
  return s;
}

int doublings(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

struct parts {
  f64 latency = 0, per_byte = 0;                    ///< the costs of a message
  f64 superstep_of_two = 0, superstep_of_four = 0;  ///< with next to nothing in it
  f64 copies = 0;                                   ///< the cost of a byte besides its message
  one_step alone;
};
struct prediction {
  f64 compute, supersteps, bytes;
  f64 all() const { return compute + supersteps + bytes; }
};
/// The predicted step of n wafers, of which `wafers_at_once` have a core at the same time. Weights leave the
/// first rank along trees, and gradients come to it along trees.
prediction predict(const parts& p, int n, u64 supersteps, f64 superstep, f64 per_byte, int wafers_at_once) {
  if (n == 1) return {p.alone.seconds, 0, 0};
  const f64 turns = std::max(1., f64(n) / wafers_at_once), weights = static_cast<f64>(p.alone.out),
            gradients = static_cast<f64>(p.alone.in);
  const f64 bytes =
      weights * (p.copies + doublings(n) * per_byte) + gradients * doublings(n) * (p.copies + per_byte);
  return {p.alone.seconds * turns, static_cast<f64>(supersteps) * superstep, bytes * turns};
}
prediction predict_here(const parts& p, int n, u64 supersteps) {
  return predict(p, n, supersteps, n == 2 ? p.superstep_of_two : p.superstep_of_four, p.per_byte,
                 engines::available_cores());
}
/// The prediction for ranks on computers of their own. If not all ranks are neighbours, the vote at the end
/// of a superstep takes one message for each doubling of the number of ranks.
prediction predict_on_network(const parts& p, int n, u64 supersteps) {
  constexpr f64 latency = 2e-6, per_byte = 1 / 12.5e9;
  return predict(p, n, supersteps,
                 std::max(0., p.superstep_of_two - p.latency) + latency * (n > 2 ? 1 + doublings(n) : 1),
                 per_byte, n);
}

parts measure(const some_ranks& one, const some_ranks& two, const some_ranks& four) {
  parts p;
  p.superstep_of_four = superstep_seconds<4>(four);
  p.superstep_of_two = superstep_seconds<2>(two);
  if (two.has_me()) {
    p.latency = message_seconds(8, two.group);
    p.per_byte = message_seconds(1 << 16, two.group) / (1 << 16);
    fabric moving{pipe(), two.all()};
    const auto move = [&] {
      moving.start<&end_of_pipe<true>::go>(column(0)), moving.launch<&end_of_pipe<false>::go>(column(1));
    };
    const u64 supersteps = exchanges_of(move);
    p.copies = std::max(
        0., (median_seconds(7, move) - static_cast<f64>(supersteps) * p.superstep_of_two) / (4. * words) -
                p.per_byte);
  }
  if (one.has_me()) p.alone = step_on(one.all(), 1, 9);
  return p;
}

}  // namespace

int main() {
  constexpr f64 bound = 0.25;
  const mpi::spread_over world = mpi::world();
  if (world.size() < 4) return std::fprintf(stderr, "bench_scaling: runs on 4 ranks or more\n"), 1;
  const some_ranks one(1), two(2), four(4);
  const auto wait = [&] {  // without taking the others' cores
    MPI_Request came;
    MPI_Ibarrier(world.who.group(), &came);
    for (int done = 0; !done; MPI_Test(&came, &done, MPI_STATUS_IGNORE)) {
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
  };
  const parts p = measure(one, two, four);
  wait();
  if (world.root()) {
    std::printf(
        "measured: a message %.2f us and %.2f GB/s; a superstep %.2f us on 2 ranks, %.2f us on 4; a byte "
        "%.3f "
        "ns besides its message\n",
        1e6 * p.latency, 1e-9 / p.per_byte, 1e6 * p.superstep_of_two, 1e6 * p.superstep_of_four,
        1e9 * p.copies);
    std::printf("a step of one wafer: %.1f ms, %.2f MB of weights out, %.2f MB of gradients in\n\n",
                1e3 * p.alone.seconds, 1e-6 * static_cast<f64>(p.alone.out),
                1e-6 * static_cast<f64>(p.alone.in));
    std::printf(
        "ranks supersteps here, ms:  measured  predicted   off    100 Gbit/s, ms:  predicted  computing  "
        "supersteps  bytes  efficiency\n");
  }
  f64 most_off = 0;
  for (int n = 1; n <= 16; n *= 2) {
    const bool runs_here = n <= 4;
    const some_ranks some(std::min(n, 4));
    one_step here;
    if (runs_here && some.has_me()) here = step_on(some.all(), n, 9);
    wait();
    if (world.root()) {
      const u64 supersteps = step_on(one.all(), n, 0).supersteps;
      const prediction network = predict_on_network(p, n, supersteps);
      std::printf("%5d %10llu ", n, static_cast<unsigned long long>(supersteps));
      if (runs_here) {
        const f64 predicted = predict_here(p, n, supersteps).all(), off = predicted / here.seconds - 1;
        most_off = std::max(most_off, std::abs(off));
        std::printf("%17.1f %10.1f %5.0f %%", 1e3 * here.seconds, 1e3 * predicted, 100 * off);
      } else {
        std::printf("%36s", "");
      }
      std::printf(" %26.1f %10.1f %11.1f %6.1f %9.0f %%\n", 1e3 * network.all(), 1e3 * network.compute,
                  1e3 * network.supersteps, 1e3 * network.bytes, 100 * network.compute / network.all());
    }
    wait();
  }
  const bool holds = most_off <= bound;
  if (world.root())
    std::printf(
        "scaling: predictions for 1, 2 and 4 ranks are off by at most %.0f %%, %s the bound of %.0f %%\n",
        100 * most_off, holds ? "within" : "beyond", 100 * bound);
  return holds ? 0 : 1;
}
