// SPDX-License-Identifier: MIT
// A fabric of the size of a whole wafer: the time to check the layout and to build it, and the memory of a PE
// beyond the program's own members.
#include <malloc.h>

#include <memory>

#include "measure.hpp"
#include "relay.hpp"

namespace {
using namespace wsl;

constexpr int width = 750, height = 994;

/// Bytes that the program has allocated and not given back.
double allocated() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

class wafer {
 public:
  int run() {
    fabric_.reset();
    fabric_ = std::make_unique<fabric>(bench::relay_rows(width, height), bench::on_threads(1));
    return 1;
  }
  void check() {
    const outcome done = fabric_->launch<&bench::even_relay::start>(column(0), 1);
    bench::require(done.delivered == u64{width - 1} * height, "the wafer lost a wavelet");
  }

 private:
  std::unique_ptr<fabric> fabric_;
};

class wafer_bytes {
 public:
  double run() {
    const double before = allocated();
    const fabric f{bench::relay_rows(width, height), bench::on_threads(1)};
    return (allocated() - before) / (width * height) - sizeof(bench::even_relay);
  }
  void check() const {}
};

const bool added[] = {
    bench::add<wafer>("building 750x994", "wsl", bench::unit::seconds, 1),
    bench::add<wafer_bytes>("bytes a PE of 750x994", "wsl", bench::unit::plain, 1),
};

}  // namespace
