// SPDX-License-Identifier: MIT
// What a traced run of the timed engine writes down: into a file of any length for wsl-view, whose name ends
// in .wtrace, or into a timeline for Perfetto; and what it tells a debugger. Other runs have none.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "../../core/wavelet.hpp"
#include "../../layout/layout_file.hpp"
#include "../diagnose/deadlock.hpp"
#include "../diagnose/timeline.hpp"
#include "../diagnose/wait_graph.hpp"
#include "topology.hpp"
#include "trace_writer.hpp"

namespace wsl::engines {

class trace_recorder {
 public:
  /// Is told of every word that enters a pipe from a router.
  class listener {
   public:
    virtual void crossed(u32 pipe, const wavelet& w, u64 now) = 0;

   protected:
    ~listener() = default;
  };
  listener* told = nullptr;

  /// For no file if the name is empty. Throws support::file_error if the file cannot be written.
  trace_recorder(std::string file, const layout& plan) : name_(std::move(file)), plan_(plan) {
    if (is_for_viewer(name_)) file_ = new trace_writer(name_, layout_json(plan));
  }
  /// Before the first record: the pipes of the mesh, which must outlive it, where links_of(of, pipe) is the
  /// number of links that a pipe runs over.
  void attach(const mesh_topology& all, int (*links_of)(const void*, u32), const void* of) {
    topology_ = &all, links_of_ = links_of, of_ = of;
  }
  trace_recorder(const trace_recorder&) = delete;
  trace_recorder& operator=(const trace_recorder&) = delete;
  ~trace_recorder() { delete file_; }

  /// "run.wtrace", and "run.wtrace.2" of a second fabric.
  static bool is_for_viewer(std::string_view name) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    if (digits != name.npos && digits + 1 < name.size() && name[digits] == '.') name = name.substr(0, digits);
    return name.ends_with(".wtrace");
  }
  bool records() const { return !name_.empty(); }
  bool for_viewer() const { return is_for_viewer(name_); }
  const std::string& name() const { return name_; }
  const timeline& for_perfetto() const { return timeline_; }

  /// A PE at `at` did something for some cycles.
  void note(const timeline::event& e, coord at) {
    if (e.from == e.to || !records()) return;
    if (!for_viewer()) return timeline_.note(e);
    if (!file_) return;
    using kind = timeline::event::kind;
    const bool named = e.what == kind::task || e.what == kind::operation;
    const u32 name = named ? number_of(e.name) : 0;  // may write a record of its own
    file_->begin(e.what == kind::task        ? trace_tag::task
                 : e.what == kind::operation ? trace_tag::operation
                 : e.what == kind::starved   ? trace_tag::starved
                                             : trace_tag::held_up);
    file_->place(rank(at)), file_->time(e.from), file_->number(e.to - e.from);
    if (named) file_->number(name);
    if (e.what == kind::operation) file_->number(e.thread);
  }
  /// A word has entered a pipe from another router.
  void crossed(u32 pipe, u64 now, const wavelet& w) {
    if (told) told->crossed(pipe, w, now);
    if (!records()) return;
    if (!for_viewer()) return timeline_.crossed(pipe, now);
    if (file_) word(pipe, now);
  }
  /// A word has entered a pipe from its PE or from the host.
  void entered(u32 pipe, u64 now) {
    if (file_) word(pipe, now);
  }
  /// A PE has spent so many cycles in all, until now.
  void spent(u32 pe, coord at, u64 cycles, u64 now) {
    if (!file_) return;
    while (busy_.size() <= pe) busy_.push_back({});
    busy_time& b = busy_[pe];
    const u64 more = cycles - b.cycles, from = std::exchange(b.seen, std::max(now, b.seen + more));
    b.cycles = cycles;
    if (more == 0) return;
    const bool full = b.count == b.to - b.from && more == b.seen - from;
    if (b.count && from == b.to && (full || b.seen - b.from <= timeline::window))
      return b.to = b.seen, void(b.count += more);
    write(b);
    b.at = at, b.from = from, b.to = b.seen, b.count = more;
  }

  void begin_run(u64 now) { begin_ = now; }
  void end_run(u64 now) {
    end_ = now;
    if (!file_) return;
    file_->begin(trace_tag::run);
    file_->time(begin_), file_->number(now - begin_);
  }
  /// The last run ended by a fault or a deadlock, and so does the trace.
  void ends(const std::string& sentence, u64 now) {
    end_run(now);
    if (!file_) return;
    file_->begin(trace_tag::ending), file_->text(sentence);
  }
  void still_waits(const waits& open) {
    if (!file_) return;
    for (const wait& w : open) {
      file_->begin(trace_tag::wait);
      file_->number(static_cast<u64>(w.why)), file_->place(rank(w.at));
      file_->number(static_cast<u64>(w.color + 1)), file_->text(w.program), file_->text(w.what);
      file_->number(w.count), file_->number(static_cast<u64>(w.position + 1));
    }
    for (const wait_link& l : wait_graph(plan_, open).find().links) {
      file_->begin(trace_tag::link);
      file_->number(static_cast<u64>(l.what)), file_->place(rank(l.from)), file_->place(rank(l.to));
      file_->number(static_cast<u64>(l.color)), file_->number(l.from_host);
    }
  }
  /// Nothing is recorded in a file after this.
  void finish() {
    if (!file_) return;
    for (const busy_time& b : busy_) write(b);
    for (u32 pipe = 0; pipe < crossings_.size(); ++pipe) write(pipe);
    file_->finish(0, end_);
    delete std::exchange(file_, nullptr);
  }

 private:
  /// Cycles that a PE computed or moved words, not yet written; and how far it has been looked at.
  struct busy_time {
    coord at;
    u64 from = 0, to = 0, count = 0, seen = 0, cycles = 0;
  };
  /// Words that have crossed a pipe, not yet written.
  struct crossing {
    u64 first = 0, last = 0, gap = 0;
    u32 count = 0, number = none;
  };
  static constexpr u32 none = ~u32{0};

  u64 rank(coord c) const {
    return static_cast<u64>(c.y) * static_cast<u64>(plan_.width()) + static_cast<u64>(c.x);
  }
  u32 number_of(const char* name) {
    for (u32 k = 0; k < names_.size(); ++k)
      if (names_[k] == name) return k;
    names_.push_back(name);
    file_->begin(trace_tag::name), file_->text(name);
    return static_cast<u32>(names_.size() - 1);
  }
  void write(const busy_time& b) {
    if (b.count == 0) return;
    file_->begin(trace_tag::busy);
    file_->place(rank(b.at)), file_->time(b.from), file_->number(b.to - b.from);
    file_->number(b.to - b.from - b.count);
  }

  // Words at equal distances are one record. Where several links are crossed their times may be off by less
  // than a window.
  void word(u32 pipe, u64 now) {
    while (crossings_.size() <= pipe) crossings_.push_back({});
    crossing& c = crossings_[pipe];
    if (c.count && now >= c.last) {
      const u64 gap = now - c.last;
      const bool even = c.count == 1 || gap == c.gap;
      const bool at_ramp = topology_->origins[pipe].what != mesh_topology::origin::kind::link;
      if (at_ramp ? even : (even && gap <= 1) || now - c.first < timeline::window) {
        c.gap = even ? gap : ~u64{0}, c.last = now, ++c.count;
        return;
      }
    }
    write(pipe);
    c.first = c.last = now, c.gap = 0, c.count = 1;
  }
  void write(u32 pipe) {
    crossing& c = crossings_[pipe];
    if (c.count == 0) return;
    if (c.number == none) introduce(pipe, c);
    file_->begin(trace_tag::words);
    file_->pipe(c.number), file_->time(c.first), file_->number(c.last - c.first), file_->number(c.count);
    c.count = 0;
  }
  /// The kind of a pipe, its color and its router, and the sides by which it leaves the routers on its way.
  void introduce(u32 pipe, crossing& c) {
    using kind = mesh_topology::origin::kind;
    const mesh_topology::origin& from = topology_->origins[pipe];
    c.number = pipes_++;
    const trace_pipe what = from.what == kind::from_pe ? trace_pipe::from_pe
                            : from.what == kind::to_pe ? trace_pipe::to_pe
                            : from.what == kind::link  ? trace_pipe::links
                                                       : trace_pipe::host;
    const int links = links_of_(of_, pipe);
    file_->begin(trace_tag::pipe);
    file_->number(static_cast<u64>(what)), file_->number(from.color);
    file_->place(rank(topology_->channels.coord_of(from.router))), file_->number(static_cast<u64>(links));
    topology_->each_link(pipe, links,
                         [&](u32, port side) { file_->number(static_cast<u64>(index_of(side))); });
  }

  std::string name_;
  const layout& plan_;
  const mesh_topology* topology_ = nullptr;
  int (*links_of_)(const void*, u32) = nullptr;
  const void* of_ = nullptr;
  timeline timeline_;
  trace_writer* file_ = nullptr;
  support::flat_vector<const char*> names_;
  support::flat_vector<busy_time> busy_;
  support::flat_vector<crossing> crossings_;
  u32 pipes_ = 0;
  u64 begin_ = 0, end_ = 0;
};

}  // namespace wsl::engines
