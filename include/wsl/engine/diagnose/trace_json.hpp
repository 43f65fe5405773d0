// SPDX-License-Identifier: MIT
// Writes a timeline as a file for Perfetto (ui.perfetto.dev) or Chrome (chrome://tracing): a group of rows
// for each PE, with its tasks, its operations by microthread and its stalls, and a counter for each link. A
// microsecond there is a cycle.
#pragma once
#include <string>

#include "../timed/mesh.hpp"
#include "../timed/pes.hpp"
#include "timeline.hpp"

namespace wsl::engines {

class trace_json {
 public:
  trace_json(const timeline& t, timed_pes& pes, const mesh& routers) : pes_(pes), routers_(routers) {
    text_ = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"" +
            std::string(t.cut() ? ",\"cut\":\"the trace was full\"" : "") + "},\"traceEvents\":[\n";
    for (const timeline::event& e : t.events()) add(e);
    for (const timeline::count& c : t.counts()) add(c);
    text_ += "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(links()) +
             ",\"args\":{\"name\":\"links\"}}\n]}\n";
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr u32 stalls = 100;  // the row below all microthreads
  u32 links() const { return static_cast<u32>(pes_.size()); }

  void add(const timeline::event& e) {
    using kind = timeline::event::kind;
    const bool stall = e.what == kind::starved || e.what == kind::held_up;
    const u32 row = stall ? stalls : e.thread;
    introduce(e.pe, row);
    const char* name = e.what == kind::starved   ? "waits for wavelets"
                       : e.what == kind::held_up ? "waits for room"
                                                 : e.name;
    text_ += "{\"ph\":\"X\",\"name\":\"" + escaped(name) + "\",\"cat\":\"" + category(e.what) + "\"," +
             place(e.pe, row) + ",\"ts\":" + std::to_string(e.from) +
             ",\"dur\":" + std::to_string(e.to - e.from) + "},\n";
  }
  static const char* category(timeline::event::kind what) {
    using kind = timeline::event::kind;
    return what == kind::task ? "task" : what == kind::operation ? "operation" : "stall";
  }
  static std::string place(u32 pe, u32 row) {
    return "\"pid\":" + std::to_string(pe) + ",\"tid\":" + std::to_string(row);
  }

  // Names of rows come before their first events.
  void introduce(u32 pe, u32 row) {
    const u64 key = u64{pe} << 8 | row;
    while (named_.size() <= pe) named_.push_back({});
    for (u64 known : named_[pe])
      if (known == key) return;
    if (named_[pe].empty()) {
      const pe_state& s = pes_.state(pe);
      name("process_name", pe, row, text_of(coord{s.x, s.y}) + " " + s.image->source->name);
    }
    named_[pe].push_back(key);
    name("thread_name", pe, row,
         row == 0        ? "tasks"
         : row == stalls ? "stalls"
                         : "microthread " + std::to_string(row - 1));
  }
  void name(const char* what, u32 pe, u32 row, const std::string& value) {
    text_ += "{\"ph\":\"M\",\"name\":\"" + std::string(what) + "\"," + place(pe, row) +
             ",\"args\":{\"name\":\"" + escaped(value) + "\"}},\n";
  }

  // The words of a pipe cross all its links. The counter goes back to 0 where no window follows.
  void add(const timeline::count& c) {
    routers_.each_link(c.pipe, [&](u32 router, port side) {
      const coord at = routers_.coord_of(router);
      const std::string link = text_of(at) + " " + name_of(side) + " color " +
                               std::to_string(routers_.topology().origins[c.pipe].color);
      sample(link, c.window * timeline::window, c.words);
      sample(link, (c.window + 1) * timeline::window - 1, 0);
    });
  }
  void sample(const std::string& link, u64 at, u32 words) {
    text_ += "{\"ph\":\"C\",\"name\":\"" + link + "\",\"pid\":" + std::to_string(links()) +
             ",\"ts\":" + std::to_string(at) + ",\"args\":{\"words\":" + std::to_string(words) + "}},\n";
  }

  static std::string escaped(const std::string& s) {
    std::string out;
    for (char c : s) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out;
  }

  timed_pes& pes_;
  const mesh& routers_;
  std::string text_;
  support::flat_vector<support::flat_vector<u64>> named_;
};

}  // namespace wsl::engines
