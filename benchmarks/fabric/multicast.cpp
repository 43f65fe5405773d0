// SPDX-License-Identifier: MIT
// One array to many: the first PE of each row sends, the 32 after it receive. The table counts the words that
// are delivered.
#include "bursts.hpp"
#include "measure.hpp"

namespace {
using namespace wsl;

template <class Sender, class Receiver>
class rows_of_listeners {
 public:
  rows_of_listeners(int words, int bursts)
      : words_(words), bursts_(bursts), fabric_{make(), bench::on_threads(1)} {}

  u64 run() {
    fabric_.start<&Sender::start>(column(0), bursts_);
    fabric_.start<&Receiver::start>(columns(1, edge), bursts_);
    const outcome done = fabric_.run();
    const u64 moved =
        static_cast<u64>(listeners * rows) * static_cast<u64>(bursts_) * static_cast<u64>(words_);
    bench::require(done.delivered == moved, "a multicast lost words");
    ++runs_;
    return moved;
  }
  void check() {
    for (int y = 0; y < rows; ++y)
      for (int x = 1; x <= listeners; ++x)
        bench::require(
            fabric_.program_at<Receiver>({x, y}).has(runs_ * bench::sum_of_marks(bursts_), runs_ * bursts_),
            "a multicast arrived with wrong words");
  }

 private:
  static constexpr int listeners = 32, rows = 4;

  static layout make() {
    layout l{host, 1 + listeners, rows};
    l.place<Sender>(column(0));
    l.place<Receiver>(columns(1, edge));
    l.path(bench::stream, column(0), ramp >> east);
    l.path(bench::stream, columns(1, edge - 1), west >> (ramp | east));
    l.path(bench::stream, column(edge - 1), west >> ramp);
    return l;
  }

  int words_, bursts_, runs_ = 0;
  fabric fabric_;
};

template <std::size_t words>
using mover = rows_of_listeners<bench::burst_sender<words>, bench::burst_receiver<words>>;
template <std::size_t words>
using adder = rows_of_listeners<bench::burst_sender<words>, bench::burst_adder<words>>;

using enum bench::unit;
const bool added[] = {
    bench::add<mover<16>>("multicast of 16 to 32", "wsl", giga_per_second, 5, 16, 4'000),
    bench::add<mover<256>>("multicast of 256 to 32", "wsl", giga_per_second, 5, 256, 2'000),
    bench::add<mover<1024>>("multicast of 1024 to 32", "wsl", giga_per_second, 5, 1024, 1'000),
    bench::add<adder<256>>("multicast of 256 to 32, fmac", "wsl", giga_per_second, 5, 256, 2'000),
};

}  // namespace
