// SPDX-License-Identifier: MIT
// Arrays from neighbour to neighbour: every PE of an even column sends to the next. The words end in the
// receivers' memory, as with memcpy, the peer of this benchmark; but memcpy copies each burst once and
// notifies no receiver.
#include "bursts.hpp"

#include <cstring>
#include <vector>

#include "measure.hpp"

namespace {
using namespace wsl;

template <std::size_t words>
class pairs {
 public:
  pairs(int side, int bursts, int threads)
      : side_(side), bursts_(bursts), fabric_{make(side), bench::on(threads)} {}

  u64 run() {
    fabric_.start<&sender::start>(columns(0, edge, 2), bursts_);
    fabric_.start<&receiver::start>(columns(1, edge, 2), bursts_);
    const outcome done = fabric_.run();
    const u64 moved = static_cast<u64>(side_ / 2 * side_) * static_cast<u64>(bursts_) * words;
    bench::require(done.delivered == moved, "a burst lost words");
    ++runs_;
    return moved;
  }
  void check() {
    for (int y = 0; y < side_; ++y)
      for (int x = 1; x < side_; x += 2)
        bench::require(
            fabric_.program_at<receiver>({x, y}).has(runs_ * bench::sum_of_marks(bursts_), runs_ * bursts_),
            "a burst arrived with wrong words");
  }

 private:
  using sender = bench::burst_sender<words>;
  using receiver = bench::burst_receiver<words>;

  static layout make(int side) {
    layout l{host, side, side};
    l.place<sender>(columns(0, edge, 2));
    l.place<receiver>(columns(1, edge, 2));
    l.path(bench::stream, columns(0, edge, 2), ramp >> east);
    l.path(bench::stream, columns(1, edge, 2), west >> ramp);
    return l;
  }

  int side_, bursts_, runs_ = 0;
  fabric fabric_;
};

/// The same arrays and the same marks, but one memcpy a burst.
template <std::size_t words>
class copies {
 public:
  explicit copies(int side, int bursts)
      : bursts_(bursts),
        from_(static_cast<std::size_t>(side / 2 * side) * words, 1.f),
        to_(from_.size()),
        sums_(from_.size() / words) {}

  u64 run() {
    for (int k = bursts_; k > 0; --k)
      for (std::size_t pair = 0; pair < sums_.size(); ++pair) {
        f32 *source = &from_[pair * words], *target = &to_[pair * words];
        source[0] = source[words - 1] = bench::mark(k);
        std::memcpy(target, source, words * sizeof(f32));
        benchmark::DoNotOptimize(target);
        sums_[pair] += target[words - 1];
      }
    ++runs_;
    return from_.size() * static_cast<u64>(bursts_);
  }
  void check() const {
    for (f64 sum : sums_) bench::require(sum == runs_ * bench::sum_of_marks(bursts_), "memcpy lost a word");
  }

 private:
  int bursts_, runs_ = 0;
  std::vector<f32> from_, to_;
  std::vector<f64> sums_;
};

using enum bench::unit;

template <std::size_t words>
bool add_burst(int bursts) {
  const std::string row = "burst of " + std::to_string(words);
  return bench::add<pairs<words>>(row, "wsl", giga_per_second, 5, 8, bursts, 1) &&
         bench::add<copies<words>>(row, "memcpy", giga_per_second, 5, 8, bursts);
}
template <std::size_t words>
bool add_scaling(int bursts) {
  const std::string row = "bursts of " + std::to_string(words) + " on 32x32, 2 threads";
  return bench::add<pairs<words>>(row, "wsl", giga_per_second, 5, 32, bursts, 2) &&
         bench::add<pairs<words>>(row, "1 thread", giga_per_second, 5, 32, bursts, 1) &&
         bench::add<pairs<words>>(row, "1 thread, free", giga_per_second, 5, 32, bursts,
                                  bench::free_of_supersteps);
}

const bool added[] = {
    add_burst<16>(12'000),  add_burst<64>(10'000),  add_burst<256>(6'000),  add_burst<1024>(3'000),
    add_burst<4096>(1'000), add_scaling<64>(1'000), add_scaling<1024>(300),
};

}  // namespace
