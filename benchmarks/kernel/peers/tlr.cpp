// SPDX-License-Identifier: MIT
// tlr on a matrix of 4096^2 with tiles of 128 and rank 8, beside a loop over tiles with two sgemv each, on
// as many threads, and beside one sgemv for all tiles of a column and one for all tiles of a row, as the
// authors of the method do. The lower bound: 8.4 MB of factors are read once, 56 us at the 150 GB/s that
// two cores read from their last cache.
#include <cblas.h>

#include <memory>
#include <stdexcept>
#include <wsl/kernel/tlr.hpp>

#include "../part.hpp"

using namespace wsl;

namespace {

constexpr int size = 4096, tile = 128, tiles = size / tile, rank = 8, times = 200;
constexpr f64 gigabytes = 2.0 * tiles * tiles * rank * tile * 4 / 1e9;

/// Numbers between -1 and 1 that follow no pattern.
std::vector<f32> numbers(std::size_t n, u64 seed) {
  std::vector<f32> x(n);
  for (f32& v : x)
    seed = seed * 6364136223846793005u + 1442695040888963407u,
    v = static_cast<f32>(static_cast<i64>(seed) >> 40) / 8388608.f;
  return x;
}

struct contest {
  tlr::low_rank<f32> a{size, size, tile};
  std::vector<f32> u, v, u_stacks, v_stacks, x = numbers(size, 1), ours = x, stacked = x, theirs = x,
                                             packed = x, w, w_turned;
  std::unique_ptr<tlr::multiplier<f32>> three_phases, no_exchange;

  contest() : w(tiles * tiles * rank), w_turned(w) {
    for (int i = 0; i < tiles; ++i)
      for (int j = 0; j < tiles; ++j) {
        const u64 seed = static_cast<u64>(i * tiles + j);
        const tlr::factors<f32> f{rank, numbers(rank * tile, 2 * seed + 10),
                                  numbers(rank * tile, 2 * seed + 11)};
        u.insert(u.end(), f.u.begin(), f.u.end()), v.insert(v.end(), f.v.begin(), f.v.end());
        a.set(i, j, f);
      }
    u_stacks = u;  // row after row already
    for (int j = 0; j < tiles; ++j)
      for (int i = 0; i < tiles; ++i)
        v_stacks.insert(v_stacks.end(), tile_of(v, i, j), tile_of(v, i, j) + rank * tile);
    three_phases = std::make_unique<tlr::multiplier<f32>>(a);
    no_exchange = std::make_unique<tlr::multiplier<f32>>(a, tlr::options{.how = tlr::schedule::stacked});
    openblas_set_num_threads(1);  // the loops below have threads of their own
  }
  static const f32* tile_of(const std::vector<f32>& bases, int i, int j) {
    return bases.data() + (i * tiles + j) * rank * tile;
  }

  void tile_by_tile() {
#pragma omp parallel
    {
#pragma omp for
      for (int j = 0; j < tiles; ++j)
        for (int i = 0; i < tiles; ++i)
          cblas_sgemv(CblasRowMajor, CblasNoTrans, rank, tile, 1, tile_of(v, i, j), tile, x.data() + j * tile,
                      1, 0, w.data() + (i * tiles + j) * rank, 1);
#pragma omp for
      for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < tiles; ++j)
          cblas_sgemv(CblasRowMajor, CblasTrans, rank, tile, 1, tile_of(u, i, j), tile,
                      w.data() + (i * tiles + j) * rank, 1, j > 0, theirs.data() + i * tile, 1);
    }
  }
  void stack_by_stack() {
    constexpr int stack = tiles * rank;
#pragma omp parallel
    {
#pragma omp for
      for (int j = 0; j < tiles; ++j) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, stack, tile, 1, v_stacks.data() + j * stack * tile, tile,
                    x.data() + j * tile, 1, 0, w.data() + j * stack, 1);
        for (int i = 0; i < tiles; ++i)
          std::copy_n(w.data() + j * stack + i * rank, rank, w_turned.data() + (i * tiles + j) * rank);
      }
#pragma omp for
      for (int i = 0; i < tiles; ++i)
        cblas_sgemv(CblasRowMajor, CblasTrans, stack, tile, 1, u_stacks.data() + i * stack * tile, tile,
                    w_turned.data() + i * stack, 1, 0, packed.data() + i * tile, 1);
    }
  }
  void check() const {
    const std::vector<f64> exact = tlr::serial<f32>(a, tlr::operation::forward, x);
    for (const std::vector<f32>* y : {&ours, &stacked, &theirs, &packed}) {
      f64 difference = 0, square = 0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        difference += std::norm(static_cast<f64>((*y)[i]) - exact[i]), square += std::norm(exact[i]);
      if (!(std::sqrt(difference / square) < 1e-5))
        throw std::runtime_error("a product of low-rank tiles is wrong by " +
                                 std::to_string(std::sqrt(difference / square)));
    }
  }
};

double rate(const std::function<void()>& run) {
  return times * gigabytes / bench::seconds([&] {
           for (int i = 0; i < times; ++i) run();
         });
}

const bool entered = bench::enter("tlr", [] {
  const auto all = std::make_shared<contest>();
  return bench::part{
      std::to_string(size) + "^2, tiles of " + std::to_string(tile) + ", rank " + std::to_string(rank) +
          ", f32; " + std::to_string(all->three_phases->pes()) + " PEs",
      "GB/s of bases",
      {{"wsl", [all] { return rate([&] { (*all->three_phases)(all->ours, all->x); }); }},
       {"sgemv", [all] { return rate([&] { all->tile_by_tile(); }); }},
       {"wsl, stacked", [all] { return rate([&] { (*all->no_exchange)(all->stacked, all->x); }); }},
       {"sgemv of stacks", [all] { return rate([&] { all->stack_by_stack(); }); }}},
      [all] { all->check(); }};
});

}  // namespace
