// SPDX-License-Identifier: MIT
// One PE multiplies numbers of hundreds of bits. The host streams both factors in, 16 bits a wavelet together
// with their index, so that the order does not matter; the product streams out. The factors of two Fermat
// numbers show that it is right: those of the seventh were found by Morrison and Brillhart in 1970, those of
// the eighth by Brent and Pollard in 1980.
#include <wsl/host/device.hpp>
#include <wsl/wsl.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>
using namespace wsl;

constexpr color<halves<u16>> factors{0};
constexpr color<u16> products{1};

template <int words>
using number_of = u16[static_cast<std::size_t>(words)];  // the least word first

template <int words>
struct multiplier {
  number_of<words> x{}, y{};
  number_of<2 * words> product{};
  int taken = 0;

  void take(pe& me, u16 word, u16 index) {
    (index < words ? x[index] : y[index - words]) = word;
    if (++taken == 2 * words) me.activate<&multiplier::multiply>();
  }
  void multiply(pe& me) {
    taken = 0;
    mov(mem(product), 0);
    for (int i = 0; i < words; ++i) {
      u32 carry = 0;
      for (int j = 0; j < words; ++j) {
        carry += u32{x[i]} * y[j] + product[i + j];  // at most 2³² - 1
        product[i + j] = static_cast<u16>(carry);
        carry >>= 16;
      }
      product[i + words] = static_cast<u16>(carry);
    }
    me.async(mov(fabout(products), mem(product)));
  }
  using tasks = task_list<on<factors, &multiplier::take>, local<&multiplier::multiply>, sends<products>>;
};

layout one_pe(const program& what) {
  return layout{wse2, 1, 1}
    .place(all, what)
    .path(factors, all, west >> ramp)
    .path(products, all, ramp >> east)
    .stream_in(factors, all, west)
    .stream_out(products, all, east);
}

/// Hexadecimal digits as 16-bit words.
template <int words>
std::vector<u16> number(std::string_view digits) {
  std::vector<u16> n(words);
  for (std::size_t k = 0; k < digits.size(); ++k) {
    const char c = digits[digits.size() - 1 - k];
    n[k / 4] = static_cast<u16>(n[k / 4] | (c <= '9' ? c - '0' : c - 'a' + 10) << k % 4 * 4);
  }
  return n;
}

template <int words>
bool multiplies(std::string_view a, std::string_view b, std::string_view expected) {
  fabric f{one_pe(program_v<multiplier<words>>)};
  device d{f};
  std::vector<halves<u16>> in;
  for (std::string_view n : {a, b})
    for (u16 word : number<words>(n)) in.push_back({word, static_cast<u16>(in.size())});
  std::reverse(in.begin(), in.end());
  std::vector<u16> product(2 * words);
  d.stream_in(factors, in);
  d.stream_out(products, product);
  std::printf("  %s\n  x %s\n", a.data(), b.data());
  return product == number<2 * words>(expected);
}

int main() {
  std::puts("2^128 + 1 and 2^256 + 1 are the products of");
  const bool good =
    multiplies<8>("d3eafc3af14601", "13540775b48cc32ba01", "100000000000000000000000000000001") &&
    multiplies<13>("466cc05aee801", "3a294c585a8f5c7073e36ee3637cab2586d049baa0ba2c911801",
                   "10000000000000000000000000000000000000000000000000000000000000001");
  std::puts(good ? "and so the PE says" : "but the PE says otherwise");
  return good ? 0 : 1;
}
