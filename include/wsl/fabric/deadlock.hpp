// SPDX-License-Identifier: MIT
// What a run throws when nothing moves any more but something still waits: every wait with its PE, its color, its queue and its
// amount, then who waits for whom, then what helps. Equal waits of many PEs are one line, so the text stays short on any grid.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "wait_graph.hpp"

namespace wsl {
namespace detail {

inline std::string pe_text(coord c) { return "PE(" + std::to_string(c.x) + ", " + std::to_string(c.y) + ")"; }

inline std::string counted(u64 n, const char* one) { return std::to_string(n) + " " + one + (n == 1 ? "" : "s"); }

/// Equal waits of several PEs: their amounts may differ.
struct wait_group {
  const wait* first;
  u64 least, most, places = 0;
  flat_vector<coord> some;

  bool takes(const wait& w) const {
    return w.why == first->why && w.color == first->color && w.program == first->program && w.what == first->what &&
           w.position == first->position;
  }
  void add(const wait& w) {
    least = w.count < least ? w.count : least;
    most = w.count > most ? w.count : most;
    ++places;
    if (some.size() < 4) some.push_back(w.at);
  }
};

/// The groups of waits for one reason; beyond `room` groups the rest is only counted.
struct wait_groups {
  flat_vector<wait_group> list;
  u64 left_out = 0;

  wait_group* of(const wait& w, std::size_t room) {
    for (wait_group& g : list)
      if (g.takes(w)) return &g;
    if (list.size() == room) return nullptr;
    list.push_back({&w, w.count, w.count, 0, {}});
    return &list.back();
  }
};

inline wait_groups grouped(const waits& open, std::size_t room) {
  using r = wait::reason;
  wait_groups groups;
  for (r why : {r::input, r::output, r::pop, r::ended, r::push, r::stream, r::unread, r::held, r::gate, r::router})
    for (const wait& w : open) {
      if (w.why != why) continue;
      if (wait_group* g = groups.of(w, room)) g->add(w);
      else ++groups.left_out;
    }
  return groups;
}

inline std::string amount(const wait_group& g, const char* one) {
  if (g.least == g.most) return counted(g.most, one);
  return std::to_string(g.least) + " to " + counted(g.most, one);
}

inline std::string places_text(const wait_group& g, const std::string& of, const char* many = "PEs") {
  if (g.places == 1) return pe_text(g.some[0]) + of;
  std::string text = std::to_string(g.places) + " " + many + of + " (";
  for (coord c : g.some) text += (c == g.some[0] ? "" : ", ") + pe_text(c);
  return text + (g.places > g.some.size() ? ", ...)" : ")");
}

inline std::string wait_line(const wait_group& g) {
  const wait& w = *g.first;
  const std::string color = " of color " + std::to_string(w.color) + (g.places > 1 ? " each" : "");
  const std::string who = places_text(g, std::string(" of ") + w.program) + ": ";
  switch (w.why) {
    case wait::reason::input:
      return who + w.what + " waits for " + amount(g, "wavelet") + color + "; the input queue is empty";
    case wait::reason::output:
      return who + w.what + " waits to put " + amount(g, "wavelet") + color + " into the full output queue";
    case wait::reason::pop: return who + w.what + " waits for " + amount(g, "element") + " of an empty FIFO";
    case wait::reason::ended: return who + w.what + " waits for the completion of " + amount(g, "operation");
    case wait::reason::push: return who + w.what + " waits for room for " + amount(g, "element") + " in a full FIFO";
    case wait::reason::unread:
      return who + amount(g, "wavelet") + color + " in the input queue; " +
             (*w.what ? std::string("task ") + w.what + " may not run" : "no task or operation takes them");
    case wait::reason::held: return who + "task " + w.what + " is activated but blocked";
    case wait::reason::stream:
      return "host stream at " + places_text(g, "") + ": " + amount(g, "word") + color + " cannot enter the grid";
    case wait::reason::gate:
      return places_text(g, g.places == 1 ? ", router" : "", "routers") + ": " + amount(g, "wavelet") + color +
             (g.least == 1 && g.most == 1 ? " waits" : " wait") +
             (w.position < 0 ? " for the color to be reopened" : " for the switch to leave position " + std::to_string(w.position));
    case wait::reason::router: break;
  }
  return places_text(g, g.places == 1 ? ", router" : "", "routers") + ": " + amount(g, "wavelet") + color + " cannot move on";
}

/// "waits for color 2 from PE(0, 0)": what its first PE does in one link.
inline std::string link_text(const wait_link& l) {
  const std::string color = "color " + std::to_string(l.color);
  switch (l.what) {
    case wait_link::kind::supply: return "waits for " + color + " from " + pe_text(l.to);
    case wait_link::kind::room: return "waits for room on " + color + " towards " + pe_text(l.to);
    case wait_link::kind::branch: return "waits for " + color + ", which is held up by " + pe_text(l.to);
    case wait_link::kind::stream: return "waits for " + color + " from the host stream at " + pe_text(l.to);
    case wait_link::kind::gate: return "waits for " + color + ", which waits at the router of " + pe_text(l.to);
    case wait_link::kind::nothing: break;
  }
  return "waits for " + color + ", which no path brings there";
}

inline std::string links_text(const flat_vector<wait_link>& links) {
  const std::size_t head = 5, tail = 2;
  std::string text = (links[0].from_host ? "the host at " : "") + pe_text(links[0].from) + " ";
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i) text += ", which ";
    if (i == head && links.size() > head + tail + 1) {
      i = links.size() - tail;
      text += "waits for " + std::to_string(i - head) + " more PEs in turn, the last of them being " +
              pe_text(links[i].from) + ", which ";
    }
    text += link_text(links[i]);
  }
  return text;
}

inline std::string ending_text(const wait_chain& c) {
  using e = wait_chain::ending;
  const std::string color = "color " + std::to_string(c.color);
  switch (c.how) {
    case e::cycle: return ": a cycle";
    case e::never_sent: return ", which waits for nothing: it never sent what is missing";
    case e::never_took: return *c.task ? std::string(", whose task ") + c.task + " may not run" : ", where nothing takes " + color;
    case e::held: return std::string(", whose task ") + c.task + " is activated but blocked";
    case e::no_push: return std::string(", whose ") + c.task + " pops from a FIFO into which nothing is pushed";
    case e::no_pop: return std::string(", whose ") + c.task + " pushes into a FIFO from which nothing is popped";
    case e::stream_dry: return ": the host wrote too few words";
    case e::gated: return c.position < 0 ? ": it is torn down" : ": no control wavelet moves its switch";
    case e::no_path:
    case e::unknown: break;
  }
  return "";
}

inline std::string cycle_remedy(const wait_chain& c) {
  for (const wait_link& l : c.links)
    if (l.what != wait_link::kind::supply)
      return "Let one of them take its wavelets while it sends: with a data task, or with an operation started by me.async(...).";
  return "Let one of them send before it waits.";
}

inline std::string remedy(const wait_chain& c, const layout& plan) {
  using e = wait_chain::ending;
  const std::string color = "color " + std::to_string(c.color);
  const program* p = plan.has(c.last) ? plan.program_at(c.last) : nullptr;
  const std::string culprit = pe_text(c.last) + (p ? std::string(" of ") + p->name : "");
  switch (c.how) {
    case e::cycle: return cycle_remedy(c);
    case e::never_sent:
      return "Let " + culprit + " send as many wavelets of " + color +
             " as are read; was it launched, and did what triggers it arrive?";
    case e::never_took:
      if (*c.task) return "Let " + culprit + " unblock " + color + " or end what keeps it busy, so that " + c.task +
                        " runs; or send less.";
      return "Bind a task to " + color + " on " + culprit + ", start an operation that reads all of it, or send less.";
    case e::held: return "Let " + culprit + " unblock " + c.task + ", or do not activate it.";
    case e::no_push: return "Let " + culprit + " push as many elements as its " + c.task + " pops, or pop fewer.";
    case e::no_pop: return "Let " + culprit + " pop what its " + c.task + " pushes, or give the FIFO room for all of it.";
    case e::stream_dry: return "Write as many words of " + color + " into the stream as the PEs read.";
    case e::gated:
      if (c.position < 0) return "Let " + culprit + " call me.reopen for " + color + ".";
      return "Let a control wavelet with advance or reset pass the switch of " + color + " at " + pe_text(c.last) +
             " after the last wavelet that its position is for.";
    case e::no_path: return "Add a path of " + color + " that ends in the ramp of " + culprit + ", or do not read it there.";
    case e::unknown: break;
  }
  return "Compare what these PEs send with what they read.";
}

inline std::string deadlock_text(const layout& plan, const waits& open) {
  const wait_groups groups = grouped(open, 10);
  const wait_chain chain = wait_graph(plan, open).find();
  std::string text = "wsl: deadlock: nothing moves any more, but something waits";
  for (const wait_group& g : groups.list) text += "\n  " + wait_line(g);
  if (groups.left_out) text += "\n  and " + counted(groups.left_out, "more wait");
  if (!chain.links.empty()) text += "\n" + links_text(chain.links) + ending_text(chain) + ".";
  return text + "\n" + remedy(chain, plan);
}

}  // namespace detail

class deadlock : public std::runtime_error {
 public:
  deadlock(const layout& plan, waits open) : runtime_error(detail::deadlock_text(plan, open)), open_(std::move(open)) {}

  /// Everything that waits.
  const waits& open() const { return open_; }

 private:
  waits open_;
};

}  // namespace wsl
