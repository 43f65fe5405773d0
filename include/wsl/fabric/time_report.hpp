// SPDX-License-Identifier: MIT
// A time report breaks down the cycles of the timed engine: the utilization of PEs and links, the causes of
// their stalls, the busiest of each, and a heat map of the fabric.
//   fabric f{plan, timed{}};
//   f.launch();
//   const time_report where{f};
//   std::puts(where.text().c_str());
//   where.write_heat_map("heat.svg");
// It sums up all runs of the fabric so far. See examples/19_cycles.cpp.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "../engine/timed.hpp"
#include "../engine/timed/engine.hpp"
#include "../support/whole_file.hpp"
#include "fabric.hpp"
#include "heat_map.hpp"

namespace wsl {

struct pe_times {
  coord at;
  const char* program = "";
  engines::pe_cycles spent;
};

struct link_times {
  coord from;
  port side = east;
  u64 words = 0;
};

class time_report {
 public:
  /// Throws fault if the fabric's engine counts no cycles.
  explicit time_report(fabric& f) : machine_(f.plan().machine()), grid_(f.plan().grid()) {
    auto* timed_one = dynamic_cast<engines::timed_engine*>(&f.engine_in_use());
    if (!timed_one) throw fault("wsl: a time report needs the timed engine: fabric f{plan, timed{}}");
    read(*timed_one);
    exchange_only_ = f.exchange_only();
  }

  u64 cycles() const { return cycles_; }
  /// Whether no task of any program has charged arithmetic, so that the cycles are those of the exchange
  /// only.
  bool exchange_only() const { return exchange_only_; }
  f64 seconds() const { return static_cast<f64>(cycles_) / machine_.clock_hz; }
  /// All PEs with a program, and all links that a word has crossed, the busiest first.
  const std::vector<pe_times>& pes() const { return pes_; }
  const std::vector<link_times>& links() const { return links_; }
  /// The cycles of all PEs together.
  const engines::pe_cycles& sum() const { return sum_; }
  /// Cycles in which a word in a router found its port taken by another color.
  u64 link_stalls() const { return link_stalls_; }
  /// The sum over all words of the cycles for which they lay in queues of routers and ramps although they
  /// could have been taken.
  u64 queued() const { return queued_; }

  std::string text() const {
    const u64 all_pes = cycles_ * pes_.size();
    std::string out = format("%s, %llu cycles, %.6g us\n", machine_.name, number(cycles_), 1e6 * seconds());
    if (exchange_only_) out += std::string(detail::exchange_only_text) + "\n";
    out += format(
        "%zu PEs: %.1f %% busy (tasks %.1f %%, operations %.1f %%), %.1f %% waiting for wavelets, %.1f %% "
        "for room\n",
        pes_.size(), share(sum_.busy(), all_pes), share(sum_.tasks, all_pes), share(sum_.operations, all_pes),
        share(sum_.starved, all_pes), share(sum_.held_up, all_pes));
    out +=
        format("%zu links in use: %.1f %% busy; words waited %llu cycles for their link and %llu in queues\n",
               links_.size(), share(words_, cycles_ * links_.size()), number(link_stalls_), number(queued_));
    out += "\nbusiest PEs\n";
    for (std::size_t i = 0; i < pes_.size() && i < listed; ++i) out += line_of(pes_[i]);
    out += "\nbusiest links\n";
    for (std::size_t i = 0; i < links_.size() && i < listed; ++i) out += line_of(links_[i]);
    return out;
  }

  /// An SVG: squares for PEs, bars for the links between them, the darker the busier. Large grids are shown
  /// in blocks of PEs.
  std::string heat_map() const {
    detail::heat_squares drawn(grid_);
    for (const pe_times& p : pes_)
      drawn.add({p.at, "", cycles_ ? static_cast<f64>(p.spent.busy()) / static_cast<f64>(cycles_) : 0});
    return drawn.text(
        format("%s, %d x %d PEs, %llu cycles", machine_.name, grid_.columns(), grid_.rows(), number(cycles_)),
        drawn.block() > 1 ? "" : bars(drawn));
  }
  void write_heat_map(const std::string& file) const { support::write_whole_file(file, heat_map()); }

 private:
  static constexpr std::size_t listed = 10;

  void read(engines::timed_engine& e) {
    cycles_ = e.now();
    engines::timed_pes& all_of_them = e.processors();
    for (std::size_t i = 0; i < all_of_them.size(); ++i) {
      const engines::pe_state& s = all_of_them.state(i);
      const engines::pe_cycles& c = all_of_them[i].spent;
      pes_.push_back({{s.x, s.y}, s.image->source->name, c});
      sum_.tasks += c.tasks, sum_.operations += c.operations, sum_.starved += c.starved,
          sum_.held_up += c.held_up;
    }
    const engines::mesh& m = e.routers();
    std::vector<u64> words(static_cast<std::size_t>(grid_.count()) * 5);
    for (u32 p = 0; p < m.through.size(); ++p) {
      m.each_link(p, [&](u32 router, port side) {
        words[router * 5 + static_cast<u32>(index_of(side))] += m.through[p].words;
      });
    }
    for (std::size_t k = 0; k < words.size(); ++k)
      if (words[k])
        links_.push_back({m.coord_of(static_cast<u32>(k / 5)), every_port[k % 5], words[k]}),
            words_ += words[k];
    link_stalls_ = e.link_stalls(), queued_ = e.queued();
    std::sort(pes_.begin(), pes_.end(), [](const pe_times& a, const pe_times& b) {
      return std::tuple(b.spent.busy(), a.at.y, a.at.x) < std::tuple(a.spent.busy(), b.at.y, b.at.x);
    });
    std::sort(links_.begin(), links_.end(), [](const link_times& a, const link_times& b) {
      return std::tuple(b.words, a.from.y, a.from.x, a.side) <
             std::tuple(a.words, b.from.y, b.from.x, b.side);
    });
  }

  static unsigned long long number(u64 n) { return n; }
  static f64 share(u64 part, u64 whole) {
    return whole ? 100 * static_cast<f64>(part) / static_cast<f64>(whole) : 0;
  }
  template <class... X>
  static std::string format(const char* how, X... values) {
    char line[400];
    const int n = std::snprintf(line, sizeof line, how, values...);
    return {line, line + std::min<int>(n, sizeof line - 1)};
  }

  std::string line_of(const pe_times& p) const {
    return format("  PE(%d, %d) of %.60s: busy %llu (%.1f %%), waited %llu for wavelets, %llu for room\n",
                  p.at.x, p.at.y, p.program, number(p.spent.busy()), share(p.spent.busy(), cycles_),
                  number(p.spent.starved), number(p.spent.held_up));
  }
  std::string line_of(const link_times& l) const {
    return format("  PE(%d, %d) %s: %llu words (%.1f %%)\n", l.from.x, l.from.y, name_of(l.side),
                  number(l.words), share(l.words, cycles_));
  }

  // Between single PEs only; the two directions of a link lie beside each other.
  std::string bars(const detail::heat_squares& drawn) const {
    const int pitch = drawn.pitch, margin = drawn.margin, square = drawn.square, middle = square / 2;
    std::string out;
    for (const link_times& l : links_) {
      const coord corner{margin + l.from.x * pitch, margin + l.from.y * pitch};
      const bool across = l.side == east || l.side == west, back = l.side == west || l.side == north;
      const int apart = back ? middle : middle - 3;
      const coord gap =
          l.side == east || l.side == south ? coord{square, square} : coord{square - pitch, square - pitch};
      const coord at = across ? corner + coord{gap.x, apart} : corner + coord{apart, gap.y};
      const coord size = across ? coord{pitch - square, 2} : coord{2, pitch - square};
      const f64 percent = share(l.words, cycles_);
      out += support::svg::rectangle(at, size, 0, detail::heat_squares::paint(percent),
                                     text_of(l.from) + format(" %s: %.1f %%", name_of(l.side), percent));
    }
    return out;
  }

  machine machine_;
  region grid_;
  u64 cycles_ = 0, words_ = 0, link_stalls_ = 0, queued_ = 0;
  bool exchange_only_ = false;
  engines::pe_cycles sum_;
  std::vector<pe_times> pes_;
  std::vector<link_times> links_;
};

inline std::string to_text(const time_report& r) { return r.text(); }

}  // namespace wsl
