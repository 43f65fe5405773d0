// SPDX-License-Identifier: MIT
// A report of a run for people to read: the machine and the grid, the programs and their share of a PE's
// memory, and the outcome in cycles, time at the machine's clock and wavelets.
// `fmt::print("{}", report(f, done));`
#pragma once
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "../fabric/fabric.hpp"

namespace wsl {

namespace detail {

/// 850 MHz, 49.4 ns: three digits or more and the unit that makes them at least 1.
inline std::string with_unit(double value, std::initializer_list<std::pair<double, const char*>> units) {
  for (const auto& [scale, unit] : units)
    if (value >= scale) return fmt::format("{:.4g} {}", value / scale, unit);
  const auto& [scale, unit] = *std::prev(units.end());
  return fmt::format("{:.4g} {}", value / scale, unit);
}
inline std::string time_text(double seconds) {
  return with_unit(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}
inline std::string clock_text(double hz) { return with_unit(hz, {{1e9, "GHz"}, {1e6, "MHz"}, {1, "Hz"}}); }

}  // namespace detail

class report {
 public:
  /// A report copies all that it prints, so the fabric may run on.
  report(const fabric& f, const outcome& o)
      : machine_(f.plan().machine()),
        grid_(f.plan().grid()),
        done_(o),
        waiting_calls_(f.waiting_calls()),
        unread_words_(f.unread_words()),
        exchange_only_(f.exchange_only()) {
    for (const placement& p : f.plan().placements()) count(p);
  }

  std::string text() const {
    std::string out;
    auto line = [&](const char* what, const std::string& value) {
      fmt::format_to(std::back_inserter(out), "{:<10} {}\n", what, value);
    };
    line("machine", fmt::format("{}, {}", machine_.name, detail::clock_text(machine_.clock_hz)));
    line("grid", fmt::format("{} x {}", grid_.columns(), grid_.rows()));
    for (std::size_t i = 0; i < programs_.size(); ++i) line(i ? "" : "programs", program_line(programs_[i]));
    line("cycles", done_.cycles
                       ? fmt::format("{}, {}", done_.cycles,
                                     detail::time_text(static_cast<double>(done_.cycles) / machine_.clock_hz))
                       : std::string("not counted by this engine"));
    if (done_.cycles && exchange_only_) line("", detail::exchange_only_text);
    line("tasks", fmt::format("{}", done_.tasks));
    line("wavelets",
         fmt::format("{} over {} links, {} delivered", done_.wavelets, done_.hops, done_.delivered));
    if (waiting_calls_)
      line("not run", fmt::format("{} host {} started; f.run() runs them", waiting_calls_,
                                  waiting_calls_ == 1 ? "call was" : "calls were"));
    if (unread_words_)
      line("not read", fmt::format("{} {} that left the grid through host streams", unread_words_,
                                   unread_words_ == 1 ? "word" : "words"));
    return out;
  }

 private:
  struct use {
    const program* what;
    int pes;
  };

  void count(const placement& p) {
    const auto known =
        std::find_if(programs_.begin(), programs_.end(), [&](const use& u) { return u.what == p.what; });
    if (known == programs_.end()) programs_.push_back({p.what, p.where.count()});
    else known->pes += p.where.count();
    widest_ = std::max(widest_, fmt::string_view(p.what->name).size());
  }

  std::string program_line(const use& u) const {
    return fmt::format("{:<{}}  {:>6} {}  {:>6} bytes, {:.1f} % of its memory", u.what->name, widest_, u.pes,
                       u.pes == 1 ? "PE " : "PEs", u.what->bytes, 100.0 * u.what->bytes / machine_.memory);
  }

  machine machine_;
  region grid_;
  outcome done_;
  u64 waiting_calls_, unread_words_;
  bool exchange_only_;
  std::vector<use> programs_;
  std::size_t widest_ = 0;
};

inline std::string to_text(const report& r) { return r.text(); }

}  // namespace wsl

template <>
struct fmt::formatter<wsl::report> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const wsl::report& r, Context& context) const {
    return fmt::format_to(context.out(), "{}", r.text());
  }
};
