// SPDX-License-Identifier: MIT
// Small files in ACE format with known numbers, for the tests of its reader and of the commands.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

namespace ace_file {

/// A reaction: its type, the first energy (counted from one) and its cross sections.
struct reaction {
  int type = 0;
  int first = 1;
  std::vector<double> xs;
};

struct contents {
  std::string name = "92235.80c";
  double weight = 233.0248, temperature = 2.5301e-8;
  std::vector<double> energies{1e-11, 1e-6, 1e-3, 1, 20};  // MeV
  std::vector<double> totals{110, 60, 30, 9, 7}, disappearance{20, 10, 5, 1, 0.5}, elastics{10, 10, 10, 5, 4};
  std::vector<reaction> reactions{{18, 1, {80, 40, 15, 2, 2}}, {102, 1, {20, 10, 5, 1, 0.5}}};
  std::vector<double> nu{1, 2, 2.4, 0.1};  ///< the block NU as it is; empty for none
};

/// The numbers of XSS, and where the blocks are.
struct blocks {
  std::vector<double> xss;
  int nxs[16] = {}, jxs[32] = {};
};

inline blocks blocks_of(const contents& c) {
  blocks b;
  const auto place = [&] { return static_cast<int>(b.xss.size()) + 1; };
  const auto put = [&](const std::vector<double>& some) {
    b.xss.insert(b.xss.end(), some.begin(), some.end());
  };
  b.jxs[0] = place();
  put(c.energies), put(c.totals), put(c.disappearance), put(c.elastics);
  put(std::vector<double>(c.energies.size(), 0.0));  // heating
  if (!c.nu.empty()) b.jxs[1] = place(), put(c.nu);
  const std::size_t n = c.reactions.size();
  b.jxs[2] = place();
  for (const reaction& r : c.reactions) b.xss.push_back(r.type);
  b.jxs[3] = place();
  put(std::vector<double>(n, 0.0));
  b.jxs[4] = place();
  for (const reaction& r : c.reactions) b.xss.push_back(r.type == 18 ? 19 : 0);
  b.jxs[5] = place();
  int at = 1;
  for (const reaction& r : c.reactions) b.xss.push_back(at), at += 2 + static_cast<int>(r.xs.size());
  b.jxs[6] = place();
  for (const reaction& r : c.reactions) {
    b.xss.push_back(r.first), b.xss.push_back(static_cast<double>(r.xs.size()));
    put(r.xs);
  }
  b.nxs[0] = static_cast<int>(b.xss.size()), b.nxs[2] = static_cast<int>(c.energies.size());
  b.nxs[3] = static_cast<int>(n);
  return b;
}

inline std::string text_of(const contents& c, const blocks& b, bool second_version = false) {
  std::string all =
      second_version
          ? fmt::format("2.0.0{:>24} made by a test\n{:12.6f} {:.4E} 01/01/26 2\na comment\nanother\n",
                        c.name, c.weight, c.temperature)
          : fmt::format("{:>10}{:12.6f}{:>12} 01/01/26\n{:<70}mat9228\n", c.name, c.weight,
                        fmt::format("{:.4E}", c.temperature), "made by a test");
  for (int line = 0; line < 4; ++line) {
    for (int k = 0; k < 4; ++k) all += fmt::format("{:7d}{:11.6f}", 0, 0.0);
    all += "\n";
  }
  const auto whole = [&](const int* some, int count) {
    for (int i = 0; i < count; ++i) all += fmt::format("{:9d}{}", some[i], i % 8 == 7 ? "\n" : "");
  };
  whole(b.nxs, 16), whole(b.jxs, 32);
  for (std::size_t i = 0; i < b.xss.size(); ++i)
    all += fmt::format("{:20.11E}{}", b.xss[i], i % 4 == 3 || i + 1 == b.xss.size() ? "\n" : "");
  return all;
}
inline std::string text_of(const contents& c) { return text_of(c, blocks_of(c)); }

}  // namespace ace_file
