// SPDX-License-Identifier: MIT
// The text of waits: each with its PE, color, queue and amount, then the PEs that wait for each other, then a
// remedy. Equal waits of many PEs are one line, so the text stays short on any grid.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "../../support/text.hpp"
#include "wait_graph.hpp"

namespace wsl {
namespace engines {

using support::counted, support::joined;

/// Equal waits of several PEs, whose amounts may differ. Several equal waits of one PE, as for merging paths,
/// add up to one amount. Engines list the waits of a PE together.
struct wait_group {
  const wait* first;
  u64 fewest = ~u64{0}, most = 0, places = 0;
  u64 here = 0;  ///< the amount of the newest PE, which `finish` counts
  coord newest;
  support::flat_vector<coord> some;

  // Names are compared as texts: each object file may have its own copy of one.
  bool takes(const wait& w) const {
    return w.why == first->why && w.color == first->color && w.position == first->position &&
           w.on_the_way == first->on_the_way && std::string_view(w.program) == first->program &&
           std::string_view(w.what) == first->what;
  }
  void add(const wait& w) {
    if (places == 0 || w.at != newest) {
      finish();
      ++places;
      newest = w.at;
      if (some.size() < 4) some.push_back(w.at);
    }
    here += w.count;
  }
  void finish() {
    if (places == 0) return;
    fewest = here < fewest ? here : fewest;
    most = here > most ? here : most;
    here = 0;
  }
};

/// The groups of waits for one reason; beyond `room` groups the rest is only counted.
struct wait_groups {
  support::flat_vector<wait_group> list;
  u64 left_out = 0;

  wait_group* of(const wait& w, std::size_t room) {
    for (wait_group& g : list)
      if (g.takes(w)) return &g;
    if (list.size() == room) return nullptr;
    list.push_back({.first = &w, .newest = {}, .some = {}});
    return &list.back();
  }
};

inline wait_groups grouped(const waits& open, std::size_t room) {
  using r = wait::reason;
  wait_groups groups;
  for (r why : {r::input, r::output, r::behind, r::pop, r::ended, r::unsignalled, r::push, r::stream, r::call,
                r::unread, r::held, r::join, r::router_switch, r::router, r::lost})
    for (const wait& w : open) {
      if (w.why != why) continue;
      if (wait_group* g = groups.of(w, room)) g->add(w);
      else ++groups.left_out;
    }
  for (wait_group& g : groups.list) g.finish();
  return groups;
}

inline std::string amount(const wait_group& g, const char* one) {
  if (g.fewest == g.most) return counted(g.most, one);
  return joined({g.fewest, " to ", counted(g.most, one)});
}

inline std::string places_text(const wait_group& g, const std::string& of, const char* many = "PEs") {
  if (g.places == 1) return joined({text_of(g.some[0]), of});
  std::string text = joined({g.places, " ", many, of, " ("});
  for (const coord& c : g.some) text += joined({&c == g.some.begin() ? "" : ", ", text_of(c)});
  return joined({text, g.places > g.some.size() ? ", ...)" : ")"});
}

/// The subject of a line: the PE, router or stream that waits.
inline std::string subject(const wait_group& g) {
  const wait& w = *g.first;
  switch (w.why) {
    case wait::reason::stream: return joined({"host stream at ", places_text(g, "")});
    case wait::reason::router_switch:
    case wait::reason::router: return places_text(g, g.places == 1 ? ", router" : "", "routers");
    default: return places_text(g, joined({" of ", w.program}));
  }
}
/// The predicate of a line: what it waits for, or what keeps it.
inline std::string predicate(const wait_group& g) {
  const wait& w = *g.first;
  const std::string color = joined({" of color ", w.color, g.places > 1 ? " each" : ""});
  const auto so_many = [&](const char* one) { return amount(g, one); };
  switch (w.why) {
    case wait::reason::input:
      return joined({w.what, " waits for ", so_many("wavelet"), color, "; the input queue is empty"});
    case wait::reason::output:
      return joined({w.what, " waits to put ", so_many("wavelet"), color, " into the full output queue"});
    case wait::reason::behind:
      return joined({w.what, " holds ", so_many("wavelet"), color, " behind those of another color"});
    case wait::reason::pop: return joined({w.what, " waits for ", so_many("element"), " of an empty FIFO"});
    case wait::reason::ended: return joined({w.what, " waits for the completion of ", so_many("operation")});
    case wait::reason::unsignalled:
      return joined({w.what,
                     " waits for an event that no operation in flight signals: start one with "
                     "me.async(..., signals(event)) before"});
    case wait::reason::push:
      return joined({w.what, " waits for room for ", so_many("element"), " in a full FIFO"});
    case wait::reason::unread:
      return joined(
          {so_many("wavelet"), color, " in the input queue", w.on_the_way ? " and on the way to it; " : "; ",
           *w.what ? "task " : "no task or operation takes them", w.what, *w.what ? " may not run" : ""});
    case wait::reason::call:
      return joined(
          {so_many("host call"), " (the first: ", w.what, ") cannot begin: a task waits, or its words"});
    case wait::reason::held: return joined({"task ", w.what, " is activated but blocked"});
    case wait::reason::join:
      return joined({"task ", w.what, " waits for ", counted(static_cast<u64>(w.position), "arrival"), "; ",
                     g.fewest == g.most ? "" : joined({g.fewest, " to "}), g.most, " of ", w.position,
                     " came"});
    case wait::reason::stream: return joined({so_many("word"), color, " cannot enter the grid"});
    case wait::reason::router_switch:
      return joined({so_many("wavelet"), color, g.fewest == 1 && g.most == 1 ? " waits" : " wait",
                     w.position < 0 ? " for the color to be reopened" : " for the switch to leave position ",
                     w.position < 0 ? "" : std::to_string(w.position),
                     *w.what ? ", which takes those from " : "", w.what});
    case wait::reason::lost:
      return joined({"task ", w.what,
                     " was activated by a completion when it was active already; activations are "
                     "not counted, so one was lost"});
    case wait::reason::router: break;
  }
  return joined({so_many("wavelet"), color, " cannot move on"});
}
inline std::string wait_line(const wait_group& g) { return joined({subject(g), ": ", predicate(g)}); }

/// "waits for color 2 from PE(0, 0)": the predicate of one link.
inline std::string link_text(const wait_link& l) {
  const char *before = "waits for color ", *behind = ", which no path brings there";
  switch (l.what) {
    case wait_link::kind::supply: behind = " from "; break;
    case wait_link::kind::room: before = "waits for room on color ", behind = " towards "; break;
    case wait_link::kind::branch: behind = ", which is held up by "; break;
    case wait_link::kind::stream: behind = " from the host stream at "; break;
    case wait_link::kind::router_switch: behind = ", which waits at the router of "; break;
    case wait_link::kind::nothing: return joined({before, l.color, behind});
  }
  return joined({before, l.color, behind, text_of(l.to)});
}

inline std::string links_text(const support::flat_vector<wait_link>& links) {
  const std::size_t head = 5, tail = 2;
  std::string text = joined({links[0].from_host ? "the host at " : "", text_of(links[0].from), " "});
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i) text += ", which ";
    if (i == head && links.size() > head + tail + 1) {
      i = links.size() - tail;
      text += joined({"waits for ", i - head, " more PEs in turn, the last of them being ",
                      text_of(links[i].from), ", which "});
    }
    text += link_text(links[i]);
  }
  return text;
}

inline std::string ending_text(const wait_chain& c) {
  using e = wait_chain::ending;
  switch (c.how) {
    case e::cycle: return ": a cycle";
    case e::never_sent: return ", which waits for nothing: it never sent what is missing";
    case e::never_took:
      if (*c.task) return joined({", whose task ", c.task, " may not run"});
      return joined({", where nothing takes color ", c.color});
    case e::held: return joined({", whose task ", c.task, " is activated but blocked"});
    case e::joining: return joined({", whose task ", c.task, " waits for more arrivals"});
    case e::no_push: return joined({", whose ", c.task, " pops from a FIFO into which nothing is pushed"});
    case e::no_pop: return joined({", whose ", c.task, " pushes into a FIFO from which nothing is popped"});
    case e::stream_dry: return ": the host wrote too few words";
    case e::shut: return c.position < 0 ? ": it is torn down" : ": no control wavelet moves its switch";
    case e::no_path:
    case e::unknown: break;
  }
  return "";
}

inline std::string cycle_remedy(const wait_chain& c) {
  for (const wait_link& l : c.links)
    if (l.what != wait_link::kind::supply)
      return "Let one of them take its wavelets while it sends: with a data task, or with an operation "
             "started by me.async(...).";
  return "Let one of them send before it waits.";
}

inline std::string remedy(const wait_chain& c, const layout& plan) {
  using e = wait_chain::ending;
  const int color = c.color;
  const program* p = plan.has(c.last) ? plan.program_at(c.last) : nullptr;
  const std::string culprit = joined({text_of(c.last), p ? " of " : "", p ? p->name : ""});
  switch (c.how) {
    case e::cycle: return cycle_remedy(c);
    case e::never_sent:
      return joined({"Let ", culprit, " send as many wavelets of color ", color,
                     " as are read; was it launched, and did what triggers it arrive?"});
    case e::never_took:
      if (*c.task)
        return joined({"Let ", culprit, " unblock color ", color, " or end what keeps it busy, so that ",
                       c.task, " runs; or send less."});
      return joined({"Bind a task to color ", color, " on ", culprit,
                     ", start an operation that reads all of it, or send less."});
    case e::held: return joined({"Let ", culprit, " unblock ", c.task, ", or do not activate it."});
    case e::joining:
      return joined({"Let ", culprit, " start as many operations that complete with then<&", c.task,
                     ">(), or activate it as often, as its joins<n, &", c.task, "> counts."});
    case e::no_push:
      return joined({"Let ", culprit, " push as many elements as its ", c.task, " pops, or pop fewer."});
    case e::no_pop:
      return joined(
          {"Let ", culprit, " pop what its ", c.task, " pushes, or give the FIFO room for all of it."});
    case e::stream_dry:
      return joined({"Write as many words of color ", color, " into the stream as the PEs read."});
    case e::shut:
      if (c.position < 0) return joined({"Let ", culprit, " call me.reopen for color ", color, "."});
      return joined({"Let a control wavelet with switch_adv or switch_rst pass the switch of color ", color,
                     " at ", text_of(c.last),
                     " after the last wavelet that its position is for, and none before."});
    case e::no_path:
      return joined({"Add a path of color ", color, " that ends in the ramp of ", culprit,
                     ", or do not read it there."});
    case e::unknown: break;
  }
  return "Compare what these PEs send with what they read.";
}

inline std::string deadlock_text(const layout& plan, const waits& open, u64 unread_words) {
  const wait_groups groups = grouped(open, 10);
  const wait_chain chain = wait_graph(plan, open).find();
  std::string text = "wsl: deadlock: nothing moves any more, but something waits";
  for (const wait_group& g : groups.list) text += joined({"\n  ", wait_line(g)});
  if (groups.left_out) text += joined({"\n  and ", counted(groups.left_out, "more wait")});
  if (!chain.links.empty()) text += joined({"\n", links_text(chain.links), ending_text(chain), "."});
  text += joined({"\n", remedy(chain, plan)});
  if (unread_words)
    text += joined({"\nThe host has not read ", counted(unread_words, "word"),
                    " that left the grid through host streams."});
  return text;
}

}  // namespace engines
}  // namespace wsl
