// SPDX-License-Identifier: MIT
// The rules of filters: the path of a filter delivers to the ramp, a range of indices needs a payload with an
// index, and the filters of all colors together fit into those of a PE.
#pragma once
#include "flow.hpp"

namespace wsl::rules {

constexpr diagnostic at_filter(const layout& l, const filter_record& r, fault_kind kind) {
  const path_record& p = l.paths()[r.path];
  return {.kind = kind, .color = p.color, .at = p.where.nth(0)};
}

constexpr diagnostic filters_are_used(const layout& l) {
  for (const filter_record& r : l.filters()) {
    const path_record& p = l.paths()[r.path];
    if (!l.every_route(p).to.has(port::ramp))
      return at_filter(l, r, fault_kind::the_filter_has_nothing_to_filter);
    if (r.by_index && p.type->bytes < 4) return at_filter(l, r, fault_kind::the_payload_has_no_index);
  }
  return {};
}

/// The intersection of the regions of `depth` filters.
struct filtered_region {
  region where;
  int depth = 0;
};

/// Intersects one filter after the other with the regions found so far.
constexpr diagnostic filters_fit(const layout& l) {
  if (l.filters().size() <= l.machine().filters) return {};
  scratch<filtered_region> pieces;
  pieces.push_back({l.grid(), 0});
  for (const filter_record& r : l.filters()) {
    const region where = tight(l.paths()[r.path].where);
    for (int i = pieces.size() - 1; i >= 0; --i) {
      const filtered_region more{intersect(pieces[i].where, where), pieces[i].depth + 1};
      if (more.where.empty()) continue;
      if (more.depth > l.machine().filters)
        return {.kind = fault_kind::the_pe_has_too_many_filters,
                .at = more.where.nth(0),
                .have = more.depth,
                .limit = l.machine().filters};
      if (more.where == pieces[i].where) pieces[i].depth = more.depth;
      else pieces.push_back(more);
    }
  }
  return {};
}

constexpr diagnostic filters_of(const layout& l) {
  const diagnostic d = filters_are_used(l);
  return d.found() ? d : filters_fit(l);
}

}  // namespace wsl::rules
