// SPDX-License-Identifier: MIT
// support/copy_block.hpp beside std::memcpy, within the first cache and beyond it; the difference has to
// justify code for certain processors. A copy of a block whose ends were just written follows two stores of
// single words.
#include <benchmark/benchmark.h>
#include <cstring>
#include <vector>
#include <wsl/support/copy_block.hpp>

namespace {
using wsl::support::copy_block, wsl::support::ends;

enum class how { memcpy, block, memcpy_after_stores, block_after_stores };

template <how way>
void block_copies(benchmark::State& state) {
  auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(bytes + 64, 1), to(bytes + 64);
  for (auto _ : state) {
    benchmark::DoNotOptimize(bytes);
    if constexpr (way == how::memcpy_after_stores || way == how::block_after_stores) {
      const int word = 7;
      std::memcpy(from.data(), &word, sizeof word),
          std::memcpy(from.data() + bytes - sizeof word, &word, sizeof word);
      benchmark::DoNotOptimize(from.data());
    }
    if constexpr (way == how::block) copy_block<ends::settled>(to.data(), from.data(), bytes);
    else if constexpr (way == how::block_after_stores)
      copy_block<ends::just_stored>(to.data(), from.data(), bytes);
    else std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  if (std::memcmp(to.data(), from.data(), bytes) != 0) state.SkipWithError("a byte is wrong");
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(128)->Arg(256)->Arg(2048)->Arg(4096)->Arg(8192)->Arg(32768);
}
BENCHMARK(block_copies<how::memcpy>)->Name("memcpy")->Apply(sizes);
BENCHMARK(block_copies<how::block>)->Name("copy_block")->Apply(sizes);
BENCHMARK(block_copies<how::memcpy_after_stores>)->Name("memcpy, ends just written")->Arg(128)->Arg(256);
BENCHMARK(block_copies<how::block_after_stores>)->Name("copy_block, ends just written")->Arg(128)->Arg(256);

}  // namespace
