// SPDX-License-Identifier: MIT
// How fast batches come from HDF5, in decompressed bytes a second, beside what no reader can beat here:
// read() of the same files, and zlib's inflate of the same chunks on as many threads.
//   scripts/bench hdf5 [<folder for about 100 MB>]
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/hdf5/language.hpp>
#include <wsl/ml/data/hdf5/writer.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;

constexpr int examples = 2000, length = 2048, threads = 2;
constexpr std::size_t bytes_of_example = 3 * std::size_t{length} * sizeof(i32);
constexpr f64 megabytes = examples * f64{bytes_of_example} / 1e6;

/// The best of five, in MB/s.
template <class F>
f64 rate_of(F f) {
  f64 best = 1e300;
  for (int k = 0; k < 5; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<f64>(std::chrono::steady_clock::now() - begin).count());
  }
  return megabytes / best;
}

/// Tokens of which few are frequent, as in a text, each example with its mask and the tokens that follow.
std::vector<i32> made_up() {
  std::vector<i32> all;
  u64 state = 1;
  const auto next = [&] {
    state = scramble(state);
    const f64 u = static_cast<f64>(state >> 11) / static_cast<f64>(u64{1} << 53);
    return static_cast<i32>(std::pow(50000., u)) - 1;
  };
  for (int i = 0; i < examples; ++i) {
    std::vector<i32> tokens(length + 1);
    for (i32& t : tokens) t = next();
    all.insert(all.end(), tokens.begin(), tokens.end() - 1), all.insert(all.end(), length, 1);
    all.insert(all.end(), tokens.begin() + 1, tokens.end());
  }
  return all;
}

f64 by_batches(const std::string& file, bool shuffle) {
  const dataset d = hdf5_text({.paths = {file}});
  return rate_of([&] {
    batches b(d, {.size = 20, .shuffle = shuffle, .prefetch = threads});
    for (int k = 0; k < examples / 20; ++k) b.next();
  });
}
f64 by_read(const std::string& file) {
  std::vector<char> to(1 << 20);
  return rate_of([&] {
    const int in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    while (::read(in, to.data(), to.size()) > 0) {}
    ::close(in);
  });
}
f64 by_inflate(const std::vector<std::vector<u8>>& chunks) {
  return rate_of([&] {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      std::vector<u8> to(bytes_of_example);
      for (std::size_t k; (k = next++) < chunks.size();) {
        uLongf size = to.size();
        ::uncompress(to.data(), &size, chunks[k].data(), chunks[k].size());
      }
    };
    std::jthread other(work);
    work();
  });
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path folder = (argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path()) / "wsl_bench_hdf5";
  fs::create_directories(folder);
  const std::string plain = (folder / "plain.h5").string(), packed = (folder / "gzip.h5").string();
  const std::vector<i32> numbers = made_up();
  write_hdf5_examples(plain, numbers, {.length = length, .compression = 0});
  write_hdf5_examples(packed, numbers, {.length = length, .threads = threads});
  const auto* from = reinterpret_cast<const u8*>(numbers.data());
  std::printf(
      "%d examples of %d tokens, %.0f MB; gzip makes %.0f MB of it; %d threads; MB/s of decompressed bytes\n",
      examples, length, megabytes, static_cast<f64>(fs::file_size(packed)) / 1e6, threads);
  std::printf("%-34s %8s %8s\n", "", "batches", "floor");
  const f64 read = by_read(plain),
            inflate = by_inflate(deflated_chunks(from, examples, bytes_of_example, 4, threads));
  for (const bool shuffle : {false, true}) {
    const char* order = shuffle ? "shuffled" : "in order";
    std::printf("uncompressed, %-20s %8.0f %8.0f  read()\n", order, by_batches(plain, shuffle), read);
    std::printf("gzip, %-28s %8.0f %8.0f  inflate\n", order, by_batches(packed, shuffle), inflate);
  }
  fs::remove_all(folder);
}
