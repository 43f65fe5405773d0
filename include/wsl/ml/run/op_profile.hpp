// SPDX-License-Identifier: MIT
// A profile of some steps: which modules take the time, as a table that adds up to 100 %, and a timeline of
// the threads in the form of Chrome's tracing (chrome://tracing, ui.perfetto.dev), with a group of rows for
// the wafer, for the memory (MemoryX), for the way between them (SwarmX), and for the host.
//   ml::op_profile profile(t.model());
//   t.keep_timeline(true);
//   for (int k = 0; k < 3; ++k) t.step(b, rate), profile.add(t.report());
//   fmt::print("{}", profile.table());
//   std::ofstream("chrome_trace.json") << profile.chrome_trace();
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/network.hpp"
#include "../train/streaming/step_report.hpp"

namespace wsl::ml {

class op_profile {
 public:
  explicit op_profile(const network& n) {
    for (const auto& s : n.stages()) names_.push_back(s->name);
  }

  /// Adds a step, which came after `waited` seconds in which its batch was awaited. Its report has layers,
  /// and for the timeline a timeline.
  void add(const step_report& r, f64 waited = 0) {
    ++steps_, seconds_ += waited + r.seconds, lost_ += r.lost_events;
    add(input, waited);
    for (const layer_times& x : r.layers) {
      const bool is_host = &x == &r.layers.back();
      if (is_host) {
        add(host, x.all());
        continue;
      }
      add(x.name + ".fwd", x.forward), add(x.name + ".bwd", x.backward), add(x.name + ".update", x.update);
      add(x.name + ".transfer", x.transfer), add(x.name + ".exchange", x.exchange), add(idle, x.waiting);
    }
    if (waited > 0) events_.push_back({0, awaited, 0, now_, now_ + waited});
    now_ += waited;
    for (timeline_event e : r.timeline) {
      if (e.kind == work_kind::waiting) continue;
      e.begin += now_, e.end += now_;
      events_.push_back(e);
    }
    now_ += r.seconds;
  }
  int steps() const { return steps_; }

  /// The modules that take the most time, then all others, and what is no module: the update of a module is
  /// in the memory, its transfer the way of its weights and gradients, its exchange that of activations;
  /// threads are idle while others work. The rows sum to the time of the steps, the mean of all threads.
  std::string table(int most = 10) const {
    std::vector<std::pair<std::string, f64>> modules, rest;
    for (const auto& [name, seconds] : rows_)
      (name == idle || name == host || name == input ? rest : modules).emplace_back(name, seconds);
    const auto is_longer = [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    };
    std::sort(modules.begin(), modules.end(), is_longer);
    if (const auto n = static_cast<std::size_t>(most); modules.size() > n) {
      f64 others = 0;
      for (std::size_t k = n; k < modules.size(); ++k) others += modules[k].second;
      rest.insert(rest.begin(), {fmt::format("{} other modules", modules.size() - n), others});
      modules.resize(n);
    }
    modules.insert(modules.end(), rest.begin(), rest.end());
    std::size_t width = 11;
    for (const auto& row : modules) width = std::max(width, row.first.size());
    const std::string line = fmt::format("+{0:-<{1}}+{0:-<14}+{0:-<10}+\n", "", width + 2);
    std::string out =
        line + fmt::format("| {:<{}} | {:>12} | {:>8} |\n", "MODULE NAME", width, "TIME (in ms)", "% TIME") +
        line;
    const auto row = [&](std::string_view name, f64 seconds) {
      fmt::format_to(std::back_inserter(out), "| {:<{}} | {:>12.3f} | {:>8.2f} |\n", name, width,
                     1e3 * seconds, seconds_ > 0 ? 100 * seconds / seconds_ : 0);
    };
    for (const auto& [name, seconds] : modules) row(name, seconds);
    out += line;
    row(fmt::format("{} step{}", steps_, steps_ == 1 ? "" : "s"), seconds_);
    return out + line;
  }

  /// The timeline of the steps, JSON of Chrome's trace events; times are in microseconds.
  std::string chrome_trace() const {
    std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    constexpr const char* groups[] = {"wafer", "MemoryX", "SwarmX", "host"};
    for (int k = 0; k < 4; ++k)
      fmt::format_to(
          std::back_inserter(out),
          "{}\n{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {}, \"args\": {{\"name\": \"{}\"}}}}",
          k ? "," : "", k, groups[k]);
    for (const timeline_event& e : events_)
      fmt::format_to(
          std::back_inserter(out),
          ",\n{{\"ph\": \"X\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}}}",
          quoted(name_of(e)), static_cast<int>(group_of(e)), e.thread, 1e6 * e.begin,
          1e6 * (e.end - e.begin));
    return out + "\n]}\n";
  }
  /// Stretches of time that the timeline lacks, because there were too many.
  u64 lost_events() const { return lost_; }

 private:
  static constexpr const char *idle = "idle", *host = "host", *input = "input";
  static constexpr int awaited = -2;  // the stage of what is the input's
  enum class group { wafer, memory, between, host };

  void add(const std::string& name, f64 seconds) {
    if (seconds <= 0) return;
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.first == name; });
    if (at == rows_.end()) rows_.emplace_back(name, seconds);
    else at->second += seconds;
  }
  std::string name_of(const timeline_event& e) const {
    if (e.stage < 0) return e.stage == awaited ? input : host;
    const char* const what = e.kind == work_kind::forward    ? "fwd"
                             : e.kind == work_kind::backward ? "bwd"
                             : e.kind == work_kind::update   ? "update"
                             : e.kind == work_kind::exchange ? "exchange"
                                                             : "transfer";
    return names_[static_cast<std::size_t>(e.stage)] + "." + what;
  }
  static group group_of(const timeline_event& e) {
    return e.stage < 0                     ? group::host
           : e.kind == work_kind::update   ? group::memory
           : e.kind == work_kind::transfer ? group::between
                                           : group::wafer;
  }
  static std::string quoted(const std::string& name) {
    std::string out;
    for (const char c : name)
      if (c == '"' || c == '\\') out += '\\', out += c;
      else if (static_cast<unsigned char>(c) >= 0x20) out += c;
    return out;
  }

  std::vector<std::string> names_;
  std::vector<std::pair<std::string, f64>> rows_;
  std::vector<timeline_event> events_;
  int steps_ = 0;
  f64 seconds_ = 0, now_ = 0;
  u64 lost_ = 0;
};

}  // namespace wsl::ml
