// SPDX-License-Identifier: MIT
// A fabric on ranks beside the same fabric on as many threads of one process: the throughput over cut edges,
// and the cost of sharing by messages. mpirun starts it (see run); the root prints. The results of the ranks
// are checked as in the benchmarks of the engine.
#include <sched.h>
#include <wsl/kernel/wave25.hpp>
#include <wsl/ml/model/decoder.hpp>
#include <wsl/ml/train/trainer.hpp>
#include <wsl/mpi.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "../fabric/relay.hpp"

namespace {
using namespace wsl;

const mpi::spread_over& world() {
  static const mpi::spread_over all = mpi::world();
  return all;
}

/// The median of seven runs, in seconds, after one that does not count.
template <class F>
f64 seconds(F& run) {
  std::array<f64, 7> took{};
  run();
  for (f64& t : took) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    t = std::chrono::duration<f64>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(took.begin(), took.begin() + 3, took.end());
  return took[3];
}

/// Waits for the root without taking its core.
void sleep_until_root_comes() {
  MPI_Request came;
  MPI_Ibarrier(world().who.group(), &came);
  for (int done = 0; !done; MPI_Test(&came, &done, MPI_STATUS_IGNORE)) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

/// As long as it lives, this thread stays on a core of its rank's own, if there is one for each.
class pinned {
 public:
  pinned() {
    sched_getaffinity(0, sizeof before_, &before_);
    if (world().size() > CPU_COUNT(&before_)) return;
    int skip = world().rank();
    std::size_t core = 0;
    while (!CPU_ISSET(core, &before_) || skip-- > 0) ++core;
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

struct comparison {
  f64 ranks = 0, threads = 0;  ///< seconds
};

/// A case on all ranks with a thread each, and on as many threads of the root while the other ranks sleep. It
/// must compute the same.
template <class Case>
comparison compare(u32 pes_per_partition) {
  comparison c;
  Case spread(world().with({.threads = 1, .pes_per_partition = pes_per_partition}));
  {
    const pinned here;
    c.ranks = seconds(spread);
  }
  const u64 result = spread.digest();
  if (world().root()) {
    Case alone(threaded{.threads = world().size(), .pes_per_partition = pes_per_partition});
    c.threads = seconds(alone);
    if (alone.digest() != result) throw std::runtime_error("ranks and threads differ");
  }
  sleep_until_root_comes();
  world().who.broadcast(c, 0);
  return c;
}

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

constexpr int lanes = 8, words = 16384 * 40;  // 40 bursts of 64 KiB each

constexpr color<u32> nth_color(int k) { return color<u32>{k}; }

/// The upper PE sends an array on each of some colors, the lower one takes them: there is only one place to
/// cut.
template <bool upper>
struct half {
  std::vector<std::vector<u32>> data = std::vector(lanes, std::vector<u32>(words, upper ? 7 : 0));

  void go(pe& me) {
    for (int k = 0; k < lanes; ++k) {
      const std::span<u32> x = data[static_cast<std::size_t>(k)];
      if constexpr (upper) me.async(mov(fabout(nth_color(k)), mem(x)));
      else me.async(mov(mem(x), fabin(nth_color(k))));
    }
  }
  template <int k>
  using part = std::conditional_t<upper, sends<nth_color(k)>, reads<nth_color(k)>>;
  using tasks = task_list<launch<&half::go>, numbered<lanes, part>>;
};

class switched_router {
 public:
  template <class Choice>
  explicit switched_router(const Choice& choice) : fabric_{plan(), choice} {}
  void operator()() { require(fabric_.launch().delivered == u64{lanes} * words, "words were lost"); }
  u64 digest() {
    std::span<u32> last = fabric_.program_at<half<false>>({0, 1}).data[lanes - 1];
    fabric_.bring({0, 1}, last);
    return std::accumulate(last.begin(), last.end(), u64{0});
  }

 private:
  static layout plan() {
    layout l{host, 1, 2};
    l.place<half<true>>(row(0)).place<half<false>>(row(1));
    for (int k = 0; k < lanes; ++k)
      l.path(nth_color(k), row(0), ramp >> south).path(nth_color(k), row(1), north >> ramp);
    return l;
  }
  fabric fabric_;
};

/// Rows in which every PE adds one to each number that arrives and passes it on.
class mesh {
 public:
  template <class Choice>
  explicit mesh(const Choice& choice) : fabric_{bench::relay_rows(32, 64), choice} {}
  void operator()() {
    fabric_.start<&bench::even_relay::start>(column(0), waves);
    require(fabric_.run().delivered == u64{31} * 64 * waves, "a relay lost wavelets");
  }
  u64 digest() { return static_cast<u64>(fabric_.read(31, 63, &bench::odd_relay::sum)); }

  static constexpr int waves = 20'000;

 private:
  fabric fabric_;
};

/// Sixteen steps of a wave.
class wave {
 public:
  template <class Choice>
  explicit wave(const Choice& choice) : on_(problem(), {problem().size, 2, 1, 4}, host, choice) {}
  void operator()() { on_.run(16); }
  u64 digest() {
    u64 sum = 0;
    for (f32 x : on_.field()) sum = 31 * sum + std::bit_cast<u32>(x);
    return sum;
  }

 private:
  static wave25::problem problem() { return {.size = {256, 256, 128}, .sources = {{.at = {128, 128, 64}}}}; }
  wave25::simulation_on<wave25::block> on_;
};

/// Eight steps of a character model's training, a wafer a rank.
class training {
 public:
  explicit training(const mpi::spread_over& on)
      : trainer_(model().build(), ml::optimizer::adam(), {.num_csx = on.size(), .threads = 1}, on) {}
  explicit training(const threaded& on)
      : trainer_(model().build(), ml::optimizer::adam(), {.num_csx = on.threads, .threads = on.threads}) {}
  void operator()() {
    for (int step = 0; step < 8; ++step)
      loss_ = trainer_.step({.ids = ids_, .targets = ids_, .sequences = sequences, .length = length}, 3e-4);
  }
  u64 digest() { return std::bit_cast<u64>(loss_); }

 private:
  static constexpr int sequences = 12, length = 64;
  static ml::decoder model() {
    return {.vocabulary = 65, .positions = length, .layers = 4, .heads = 4, .width = 128, .bias = false};
  }
  static std::vector<i32> text() {
    std::vector<i32> x(std::size_t{sequences} * length);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<i32>(i * i % 65);
    return x;
  }
  const std::vector<i32> ids_ = text();
  ml::trainer trainer_;
  f64 loss_ = 0;
};

/// One of a row of PEs that add up as many numbers as GPT-2 small has, from the east to the west, block by
/// block; the first PE sends the sums back.
constexpr int gpt2_small = 124'439'808, slab = 32'768;
constexpr color<f32> west_from(bool odd) { return {odd}; }
constexpr color<f32> sums{2};

template <bool odd>
struct summand {
  std::vector<f32> mine, sum;
  int given = 0, added = 0, returned = 0;

  void begin(pe& me) {
    if (mine.empty()) mine.assign(gpt2_small, static_cast<f32>(me.x() + 1)), sum.resize(gpt2_small);
    given = added = returned = 0;
    give(me);
    if (me.x() > 0) me.async(mov(mem(std::span(sum)), fabin(sums)));
  }
  void give(pe& me) {
    if (given == gpt2_small) return;
    const auto part = slab_of(mine, given);
    if (me.x() == 0)
      me.async(add(slab_of(sum, given), part, fabin(west_from(!odd))), then<&summand::add_up>());
    else if (me.east_edge()) me.async(mov(fabout(west_from(odd)), part), then<&summand::give>());
    else me.async(add(fabout(west_from(odd)), part, fabin(west_from(!odd))), then<&summand::give>());
    given += std::min(slab, gpt2_small - given);
  }
  void add_up(pe& me) {
    const bool sends = returned < added;
    added = given;
    if (!sends) give_back(me);
    give(me);
  }
  void give_back(pe& me) {
    if (returned == added) return;
    if constexpr (!odd) me.async(mov(fabout(sums), slab_of(sum, returned)), then<&summand::gave_back>());
  }
  void gave_back(pe& me) {
    returned += std::min(slab, gpt2_small - returned);
    give_back(me);
  }
  /// The first PE, which alone sends sums, is an even one.
  using sends_here = std::conditional_t<odd, sends<west_from(odd)>, sends<west_from(odd), sums>>;
  using tasks = task_list<launch<&summand::begin>, local<&summand::give>, local<&summand::add_up>,
                          local<&summand::gave_back>, sends_here, reads<west_from(!odd)>, reads<sums>>;

 private:
  static auto slab_of(std::vector<f32>& x, int from) {
    return mem(std::span(x).subspan(static_cast<std::size_t>(from),
                                    static_cast<std::size_t>(std::min(slab, gpt2_small - from))));
  }
};

class reduction {
 public:
  reduction() : fabric_{plan(world().size()), world().with({.threads = 1, .pes_per_partition = 1})} {}
  void operator()() { fabric_.launch(); }
  f32 last() { return world().rank() % 2 ? here<summand<true>>() : here<summand<false>>(); }

 private:
  template <class P>
  f32 here() {
    return fabric_.program_at<P>({world().rank(), 0}).sum.back();
  }
  static layout plan(int n) {
    layout l{host, n, 1};
    l.place<summand<false>>(columns(0, edge, 2)).place<summand<true>>(columns(1, edge, 2));
    l.path(west_from(false), columns(2, std::max(2, n), 2), ramp >> west)
        .path(west_from(false), columns(1, n - 1, 2), east >> ramp);
    l.path(west_from(true), columns(1, n, 2), ramp >> west)
        .path(west_from(true), columns(0, n - 1, 2), east >> ramp);
    l.path(sums, column(0), ramp >> east)
        .path(sums, columns(1, n - 1), west >> (ramp | east))
        .path(sums, column(n - 1), west >> ramp);
    return l;
  }
  fabric fabric_;
};

/// The same by MPI alone.
class plain_reduction {
 public:
  void operator()() {
    MPI_Allreduce(mine_.data(), sum_.data(), gpt2_small, MPI_FLOAT, MPI_SUM, world().who.group());
  }
  f32 last() const { return sum_.back(); }

 private:
  std::vector<f32> mine_ = std::vector<f32>(gpt2_small, static_cast<f32>(world().rank() + 1)),
                   sum_ = std::vector<f32>(gpt2_small);
};

template <class Sum>
f64 seconds_to_sum() {
  Sum all;
  const pinned here;
  const f64 took = seconds(all);
  const int n = world().size();
  require(all.last() == static_cast<f32>(n * (n + 1) / 2), "gradients are added up wrongly");
  return took;
}

}  // namespace

int main() {
  const comparison exchange = compare<switched_router>(1), rows = compare<mesh>(256),
                   waves = compare<wave>(1), learning = compare<training>(1);
  const f64 plain = seconds_to_sum<plain_reduction>(), summed = seconds_to_sum<reduction>();
  if (!world().root()) return 0;
  const auto row = [](const char* what, f64 amount, const char* unit, const comparison& c) {
    std::printf("%-36s %9.2f %-9s %9.2f with threads %8.2f x\n", what, amount / c.ranks, unit,
                amount / c.threads, c.threads / c.ranks);
  };
  constexpr f64 bytes = f64{lanes} * words * sizeof(u32);
  std::printf("%d ranks with one thread each beside %d threads\n", world().size(), world().size());
  row("arrays on 8 colors over the seam", bytes / 1e9, "GB/s", exchange);
  row("relays on 32 x 64 PEs", 31. * 64 * mesh::waves / 1e6, "M/s", rows);
  row("wave25 on 256 x 256 x 128 cells", 16. * 256 * 256 * 128 / 1e9, "Gcells/s", waves);
  row("char GPT, a wafer a rank", 8, "steps/s", learning);
  std::printf(
      "gradients of 124 M numbers, summed  %9.1f ms        %9.1f ms by MPI_Allreduce: %.2f x its time\n",
      1e3 * summed, 1e3 * plain, summed / plain);
  std::printf("mpi: exchange %.2f GB/s, wave %.2f x, mesh %.2f x, train %.2f x\n",
              bytes / exchange.ranks / 1e9, waves.threads / waves.ranks, rows.threads / rows.ranks,
              learning.threads / learning.ranks);
}
