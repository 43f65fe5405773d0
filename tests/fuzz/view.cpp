// SPDX-License-Identifier: MIT
// The files that wsl-view reads: layouts, which come back as they were written, and traces.
#include <stdexcept>

#include "../../apps/view/trace_summary.hpp"
#include "fuzz.hpp"

namespace {

void reads_layout(std::string_view bytes) {
  try {
    const view::stored_layout first(bytes, "layout");
    const std::string text = first.json();
    fuzz::holds(view::stored_layout(text, "layout").json() == text);
  } catch (const std::invalid_argument& e) { fuzz::holds(std::string_view(e.what()).starts_with("layout")); }
}

struct nothing final : view::trace_visitor {
  void event(const view::trace_event& e) override { fuzz::holds(e.from <= e.to && e.busy <= e.to - e.from); }
  void words(const view::trace_words& w) override { fuzz::holds(w.first <= w.last); }
  void ending(const std::string&) override {}
  void wait(view::trace_wait) override {}
  void link(const view::trace_link&) override {}
};

void reads_trace(std::string_view bytes) {
  const fuzz::memory_file file(bytes);
  try {
    view::trace_file read(file.name());
    const view::stored_layout l(read.layout_text(), file.name());
    nothing visitor;
    read.read(l.plan().width(), l.plan().height(), visitor);
    // a summary takes memory for each PE
    if (l.plan().grid().count() > 1000) return;
    const view::trace_summary summary(file.name(), {.most_details = 10'000});
    fuzz::holds(!summary.meta().empty() && !summary.bytes().empty());
  } catch (const std::invalid_argument& e) {
    fuzz::holds(std::string_view(e.what()).starts_with(file.name()));
  }
}

const fuzz::enter readers{{"layout", reads_layout}, {"trace", reads_trace}};

}  // namespace
