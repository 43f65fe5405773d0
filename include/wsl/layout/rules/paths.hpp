// SPDX-License-Identifier: MIT
// The rules of routers: a router has one route for each color, every link has a sender and a listener that
// agree on the payload, and host streams meet a path. Together they say that no wavelet gets lost between two
// routers or waits in one for ever: each router passes it on to one that listens, because the builder accepts
// no route without an output, and without cycles (cycles.hpp) it reaches a ramp or a stream_out.
#pragma once
#include "flow.hpp"

namespace wsl::rules {

/// No two segments of the color cover one PE.
constexpr diagnostic overlaps(flow& f) {
  if (f.overlap == nowhere) return f.nothing();
  return f.report(fault_kind::two_paths_of_one_color_cover_one_pe, f.overlap);
}

constexpr diagnostic inputs(flow& f) {
  for (int i = 0; i < f.segments.size(); ++i)
    if (several(f.segments[i].from) && !f.segments[i].merges && !f.foreign(i))
      return f.report(fault_kind::a_path_with_several_inputs_must_say_merge, f.segments[i].where.nth(0));
  return {};
}

/// The streams of the flow's color through one side, in one direction.
constexpr void streams_through(flow& f, port side, bool inbound, scratch<region>& found) {
  found.clear();
  for (const stream_record& s : f.plan.streams())
    if (s.color == f.color && s.side == side && s.inbound == inbound) found.push_back(tight(s.where));
}

/// An output that leaves the grid needs a stream_out, an input from beyond it a stream_in.
constexpr diagnostic boundary_links(flow& f, bool inbound) {
  scratch<region> streams;
  for (int d = 0; d < 4; ++d) {
    streams_through(f, every_side[d], inbound, streams);
    for (int i = 0; i < f.segments.size(); ++i) {
      const route_segment& p = f.segments[i];
      if (!((inbound ? p.from : p.to) & bit_of_side(d)) || f.foreign(i)) continue;
      const coord bare = uncovered(at_the_boundary(p.where, every_side[d], f.plan.grid()), streams, f.work);
      if (bare != nowhere)
        return f.report(
            inbound ? fault_kind::the_path_listens_beyond_the_grid : fault_kind::the_path_leaves_the_grid,
            bare, d);
    }
  }
  return f.nothing();
}
constexpr diagnostic outputs_at_the_boundary(flow& f) { return boundary_links(f, false); }
constexpr diagnostic inputs_at_the_boundary(flow& f) { return boundary_links(f, true); }

/// Every output to a neighbour needs a segment that listens there ...
constexpr diagnostic outputs_to_neighbours(flow& f) {
  scratch<region> listeners;
  for (int i = 0; i < f.segments.size(); ++i)
    for (int d = 0; d < 4; ++d) {
      if (!(f.segments[i].to & bit_of_side(d)) || f.foreign(i)) continue;
      const coord hop = step(every_side[d]);
      listeners.clear();
      for (int j = f.first_out(i, d); j >= 0; j = f.edges[j].next_out)
        listeners.push_back(f.segments[f.edges[j].to].where);
      const coord deaf =
          uncovered(intersect(f.segments[i].where.shifted(hop), f.plan.grid()), listeners, f.work);
      if (deaf != nowhere) return f.report(fault_kind::the_neighbour_does_not_listen, deaf - hop, d);
    }
  return f.nothing();
}

/// ... and every input from a neighbour a segment that sends there.
constexpr diagnostic inputs_from_neighbours(flow& f) {
  scratch<region> senders;
  for (int i = 0; i < f.segments.size(); ++i)
    for (int d = 0; d < 4; ++d) {
      if (!(f.segments[i].from & bit_of_side(d)) || f.foreign(i)) continue;
      const coord hop = step(every_side[d]);
      senders.clear();
      for (int j = f.first_in(i, d); j >= 0; j = f.edges[j].next_in)
        senders.push_back(f.segments[f.edges[j].from].where);
      const coord silent =
          uncovered(intersect(f.segments[i].where.shifted(hop), f.plan.grid()), senders, f.work);
      if (silent != nowhere) return f.report(fault_kind::the_path_listens_to_silence, silent - hop, d);
    }
  return f.nothing();
}

/// Paths that touch carry the same type; elsewhere the color may carry another one.
constexpr diagnostic types_of_neighbours(flow& f) {
  for (int i = 0; i < f.edges.size(); ++i) {
    const edge& j = f.edges[i];
    const route_segment &sender = f.segments[j.from], &receiver = f.segments[j.to];
    if (sender.type == receiver.type || f.foreign(j.from)) continue;
    const coord hop = step(every_side[j.side]);
    diagnostic d = f.report(fault_kind::the_neighbour_expects_another_type,
                            intersect(sender.where.shifted(hop), receiver.where).nth(0) - hop, j.side);
    d.name = sender.type->name, d.other = receiver.type->name;
    return d;
  }
  return f.nothing();
}

/// Every PE of a host stream needs a path that takes from or gives to its side, in some phase.
constexpr diagnostic streams_meet_paths(flow& f) {
  scratch<region> open;
  for (const stream_record& s : f.plan.streams()) {
    if (s.color != f.color || f.phase > 0) continue;
    open.clear();
    for (const path_record& p : f.plan.paths())
      if (p.color == f.color &&
          (s.inbound ? f.plan.every_route(p).from : f.plan.every_route(p).to).has(s.side))
        open.push_back(tight(p.where));
    diagnostic d = f.report(
        s.inbound ? fault_kind::the_stream_in_enters_no_path : fault_kind::the_stream_out_leaves_no_path,
        uncovered(tight(s.where), open, f.work));
    d.side = s.side;
    if (d.at != nowhere) return d;
  }
  return f.nothing();
}

constexpr diagnostic types_of_streams(flow& f) {
  for (const stream_record& s : f.plan.streams()) {
    if (s.color != f.color) continue;
    for (int i = 0; i < f.segments.size(); ++i) {
      const route_segment& p = f.segments[i];
      if (s.type == p.type || !((s.inbound ? p.from : p.to) & static_cast<u8>(s.side)) || f.foreign(i))
        continue;
      const region both = intersect(tight(s.where), p.where);
      if (both.empty()) continue;
      diagnostic d = f.report(fault_kind::the_stream_carries_another_type, both.nth(0));
      d.side = s.side, d.name = s.type->name, d.other = p.type->name;
      return d;
    }
  }
  return {};
}

constexpr diagnostic streams_are_apart(flow& f) {
  const stream_record* s = f.plan.streams().data();
  for (int i = 0; i < f.plan.streams().size(); ++i)
    for (int j = 0; j < i && s[i].color == f.color && f.phase <= 0; ++j) {
      if (s[j].color != f.color || s[j].side != s[i].side || s[j].inbound != s[i].inbound) continue;
      const region both = intersect(tight(s[i].where), tight(s[j].where));
      if (both.empty()) continue;
      diagnostic d = f.report(fault_kind::two_streams_use_one_side_of_one_pe, both.nth(0));
      d.side = s[i].side;
      return d;
    }
  return {};
}

/// The rules of this header in their order; a rule may assume nothing of those before it.
inline constexpr diagnostic (*path_rules[])(flow&) = {overlaps,
                                                      inputs,
                                                      outputs_at_the_boundary,
                                                      outputs_to_neighbours,
                                                      inputs_at_the_boundary,
                                                      inputs_from_neighbours,
                                                      types_of_neighbours,
                                                      streams_meet_paths,
                                                      types_of_streams,
                                                      streams_are_apart};

/// No two library modules own one color in one place. This rule looks at the whole layout.
constexpr diagnostic claims_are_apart(const layout& l) {
  const claim* c = l.claims().data();
  for (int i = 0; i < l.claims().size(); ++i)
    for (int j = 0; j < i; ++j) {
      const int first = c[i].first > c[j].first ? c[i].first : c[j].first;
      if (first >= c[i].first + c[i].count || first >= c[j].first + c[j].count) continue;
      const region both = intersect(tight(c[i].where), tight(c[j].where));
      if (both.empty()) continue;
      return {.kind = fault_kind::two_modules_claim_one_color,
              .color = first,
              .at = both.nth(0),
              .name = c[j].module,
              .other = c[i].module};
    }
  return {};
}

}  // namespace wsl::rules
