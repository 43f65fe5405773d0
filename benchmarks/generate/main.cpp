// SPDX-License-Identifier: MIT
// Tokens a second that a model of GPT-2's sizes (124M parameters, made up) writes behind a prompt of 32
// tokens, 128 of them: bench_generate <f32 or bf16> <threads> <rounds>. The floor is the memory: a token
// reads every weight once, so an array of as many bytes is read by as many threads, after every fourth token,
// for both to meet the same load of the computer. Prints tokens a second, the floor's, and their ratio, by
// the medians of the times of a token and of a reading in a round, and the milliseconds of the prompt; of
// each the median of the rounds. Every round must write the same text.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>
#include <wsl/ml/op/loop.hpp>
#include <wsl/ml/write/writer.hpp>
#include <wsl/support/huge_array.hpp>

namespace {
using namespace wsl;

f64 now() { return std::chrono::duration<f64>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
f64 median(std::vector<f64> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// Sums in 64 parts, so that nothing but the memory is waited for.
struct reading_loop {
  [[gnu::always_inline]] static void run(f32* sum, const f32* x, i64 n) {
    f32 part[64]{};
    for (i64 i = 0; i + 64 <= n; i += 64)
      for (int k = 0; k < 64; ++k) part[k] += x[i + k];
    for (const f32 p : part) *sum += p;
  }
};
/// Seconds to read all of an array.
f64 reading(support::huge_array& x, int threads) {
  const f64 began = now();
  std::vector<f32> sums(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k)
    all.emplace_back([&, k] {
      const i64 n = static_cast<i64>(x.size()), from = n * k / threads, to = n * (k + 1) / threads;
      ml::run_vectorized<reading_loop>(&sums[static_cast<std::size_t>(k)],
                                       static_cast<const f32*>(x.data() + from), to - from);
    });
  for (std::thread& t : all) t.join();
  const f64 seconds = now() - began;
  if (sums[0] != 0) std::exit(1);  // they are zeros; a sum that is used is computed
  return seconds;
}

int measure(ml::precision format, int threads, int rounds) {
  const ml::decoder gpt2{.vocabulary = 50257,
                         .positions = 1024,
                         .layers = 12,
                         .heads = 12,
                         .width = 768,
                         .between = ml::nonlinearity::gelu_tanh};
  ml::writer w{
      gpt2, ml::weights(gpt2.build(), 1), {.columns = threads, .precision = format, .threads = threads}};
  support::huge_array memory(static_cast<std::size_t>(w.bytes_of_weights()) / sizeof(f32));
  std::vector<i32> prompt;
  for (int i = 0; i < 32; ++i) prompt.push_back((i * 7919 + 17) % gpt2.vocabulary);
  std::vector<f64> speed, floor, ratio, of_prompt;
  std::vector<i32> first;
  for (int r = 0; r < rounds; ++r) {
    std::vector<f64> tokens, readings;  // seconds of each
    f64 last = now();
    const auto texts =
        w.write(prompt, {.max_tokens = 129, .temperature = 0}, [&](const ml::written_token& t) {
          tokens.push_back(now() - last);
          if (t.index % 4 == 2) readings.push_back(reading(memory, threads));
          last = now();
        });
    if (r == 0) first = texts[0].tokens;
    if (texts[0].tokens != first) return std::fprintf(stderr, "two rounds wrote different texts\n"), 1;
    of_prompt.push_back(1e3 * tokens[0]);
    tokens.erase(tokens.begin());
    speed.push_back(1 / median(tokens));
    floor.push_back(1 / median(readings));
    ratio.push_back(speed.back() / floor.back());
  }
  std::printf("%.2f %.2f %.3f %.1f\n", median(speed), median(floor), median(ratio), median(of_prompt));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view format = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0, rounds = argc > 3 ? std::atoi(argv[3]) : 0;
  if ((format != "f32" && format != "bf16") || threads < 1 || rounds < 1)
    return std::fprintf(stderr, "bench_generate <f32 or bf16> <threads> <rounds>\n"), 1;
  return measure(format == "f32" ? ml::precision::f32 : ml::precision::bfloat16, threads, rounds);
}
