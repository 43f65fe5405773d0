// SPDX-License-Identifier: MIT
#include "stored_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <wsl/core/fault.hpp>
#include <wsl/layout/change_rules.hpp>
#include <wsl/layout/switches.hpp>

#include "json_entry.hpp"

namespace view {
namespace {

using nlohmann::json;
using wsl::region;

constexpr const char* remedy = ": write the file again, with save_layout";
constexpr int most_pes_a_side = 32767, most_bytes_of_pe = 2'000'000'000;
constexpr std::size_t most_entries = 32'000, most_tasks = 1000, most_members = 10'000;

json parsed(std::string_view text, const std::string& file) {
  const auto refuse = [&](const std::string& what) -> json {
    throw std::invalid_argument(file + " " + what + remedy);
  };
  if (text.size() > stored_layout::most_bytes)
    return refuse("has " + std::to_string(text.size() >> 20) + " MiB, and a layout file has 32 at most");
  constexpr int deepest = 10;
  const auto not_too_deep = [&](int depth, json::parse_event_t, json&) {
    if (depth > deepest) refuse("is no layout file: its lists are nested too deep");
    return true;
  };
  try {
    return json::parse(text, not_too_deep);
  } catch (const json::parse_error& e) {
    return refuse("is no layout file, or a part of one: there is no JSON at byte " + std::to_string(e.byte));
  }
}

void require_version(const json_entry& all) {
  constexpr const char* formats[] = {"wsl layout"};
  all["format"].word(formats);
  constexpr int known = wsl::detail::layout_file_version, most = 1'000'000;
  if (const int version = all["version"].number(1, most); version != known)
    all["version"].refuse("is " + std::to_string(version) + "; this wsl-view reads version " +
                          std::to_string(known));
}

/// Calls make(); what is a fault of a layout is refused at its place in the file.
template <class Make>
auto checked(const json_entry& e, Make make) {
  try {
    return make();
  } catch (const wsl::fault& f) {
    std::string_view sentence = f.what();
    if (sentence.starts_with("wsl: ")) sentence.remove_prefix(5);
    e.refuse("makes no layout (" + std::string(sentence) + ")");
  }
}

wsl::ports ports_of(const json_entry& e) {
  wsl::ports all;
  for (const char letter : e.text()) {
    wsl::ports one;
    for (const wsl::port p : wsl::every_port)
      if (*wsl::name_of(p) == letter - 'A' + 'a') one = p;
    if (one.empty() || (all.bits & one.bits))
      e.refuse("is \"" + e.text() + "\"; it has some of R, E, W, N and S, each once");
    all = all | one;
  }
  if (all.empty()) e.refuse("has no port");
  return all;
}

/// What a path has beside its area, color and route.
struct path_options {
  wsl::path_record of;
  bool switches = false, filters = false;
  wsl::detail::switch_record way;
  wsl::detail::filter_record filter;

  void give_to(wsl::layout& l, wsl::path_record& p) const {
    p.type = of.type, p.merges = of.merges, p.closed = of.closed, p.phase = of.phase;
    p.swaps = of.swaps, p.injects = of.injects;
    const int path = l.paths().size() - 1;
    if (switches) {
      if (l.switches().full())
        wsl::faults::the_layout_has_more_switches_than_it_can_hold(wsl::layout::max_switches);
      wsl::detail::switch_record s = way;
      s.path = static_cast<short>(path);
      l.add(s, wsl::rules::of_changes);
    }
    if (filters) {
      if (l.filters().full())
        wsl::faults::the_layout_has_more_filters_than_it_can_hold(wsl::layout::max_filters);
      wsl::detail::filter_record f = filter;
      f.path = path;
      l.add(f, wsl::rules::of_changes);
    }
    if (p.phase > 0 || p.closed) l.add_phase(p.phase, wsl::rules::of_changes);
    if (p.injects) l.add_injection(p);
    if (!p.swaps.empty()) l.add_swap(p.color);
  }
};

wsl::detail::switch_record switch_of(const json_entry& e) {
  wsl::detail::switch_record s;
  const json_entry positions = e["positions"];
  const std::size_t n = positions.list(wsl::detail::max_positions);
  if (n == 0) positions.refuse("has no position");
  for (std::size_t i = 0; i < n; ++i) {
    positions[i].list_of(2);
    s.from[i] = ports_of(positions[i][std::size_t{0}]).bits, s.to[i] = ports_of(positions[i][1]).bits;
  }
  constexpr const char* pops[] = {"never", "always", "on_advance", "on_advance_or_nop"};
  s.count = static_cast<wsl::u8>(n);
  s.start = static_cast<wsl::u8>(e["start"].number(0, static_cast<int>(n) - 1));
  s.ring = e["ring"].flag();
  s.pop = static_cast<wsl::pop>(e["pop"].word(pops));
  return s;
}
wsl::detail::filter_record filter_of(const json_entry& e) {
  constexpr int far = 1'000'000'000;
  wsl::detail::filter_record f;
  f.by_index = e["by_index"].flag();
  f.first = e["first"].number(-far, far), f.last = e["last"].number(-far, far);
  f.period = e["period"].number(0, far), f.start = e["start"].number(-far, far);
  f.per_column = e["per_column"].number(-far, far), f.per_row = e["per_row"].number(-far, far);
  f.counts_data = e["counts_data"].flag(), f.counts_control = e["counts_control"].flag();
  f.holds_control = e["holds_control"].flag();
  if (!f.sensible()) e.refuse("keeps nothing");
  return f;
}

}  // namespace

stored_layout::stored_layout(std::string_view text, const std::string& file)
    : stored_layout(json_entry(parsed(text, file), file, remedy)) {}

stored_layout::stored_layout(const json_entry& all) : plan_(grid_of(all)) {
  const auto each = [](const json_entry& list, std::size_t most, auto read) {
    for (std::size_t k = 0, n = list.list(most); k < n; ++k) checked(list[k], [&] { read(list[k]); });
  };
  each(all["programs"], most_entries, [&](const json_entry& e) { read_program(e); });
  each(all["placements"], most_entries, [&](const json_entry& e) { read_placement(e); });
  each(all["paths"], most_entries, [&](const json_entry& e) { read_path(e); });
  each(all["streams"], wsl::layout::max_streams, [&](const json_entry& e) { read_stream(e); });
  each(all["claims"], wsl::layout::max_claims, [&](const json_entry& e) { read_claim(e); });
}

wsl::layout stored_layout::grid_of(const json_entry& all) {
  require_version(all);
  const wsl::machine m = machine_of(all["machine"]);
  const int width = all["width"].number(1, most_pes_a_side),
            height = all["height"].number(1, most_pes_a_side);
  return checked(all["width"], [&] { return wsl::layout{m, width, height}; });
}

const char* stored_layout::kept(const std::string& name) {
  names_.push_back(name.substr(0, name.find('\0')));
  return names_.back().c_str();
}

/// The kind of a payload, null if the entry has none.
const wsl::detail::payload_type* stored_layout::payload_of(const json_entry& e) {
  if (!e.has("payload")) return nullptr;
  const json_entry type = e["payload"];
  type.list_of(2);
  const std::string& name = type[std::size_t{0}].text();
  const int bytes = type[1].number(2, 4);
  for (const auto& known : payloads_)
    if (known.name == name && known.bytes == bytes) return &known;
  payloads_.push_back({kept(name), bytes});
  return &payloads_.back();
}

/// What the file does not have is that of the machine whose name it has, or of a WSE-2.
wsl::machine stored_layout::machine_of(const json_entry& e) {
  const std::string& name = e["name"].text();
  wsl::machine m = name == "wse3" ? wsl::wse3 : name == "host" ? wsl::host : wsl::wse2;
  m.name = kept(name);
  m.width = e["width"].number(1, most_pes_a_side), m.height = e["height"].number(1, most_pes_a_side);
  m.colors = e["colors"].number(1, wsl::detail::max_colors);
  m.memory = e["memory"].number(1, most_bytes_of_pe);
  m.color_owns_queue = e["color_owns_queue"].flag();
  m.prefers_injected = e["prefers_injected"].flag();
  m.swaps_colors = e["swaps_colors"].flag();
  return m;
}

void stored_layout::read_program(const json_entry& e) {
  const int bytes = e["bytes"].number(1, most_bytes_of_pe);
  const json_entry tasks = e["tasks"];
  tasks_.emplace_back();
  for (std::size_t k = 0, n = tasks.list(most_tasks); k < n; ++k) tasks_.back().push_back(task_of(tasks[k]));
  wsl::program p;
  p.name = kept(e["name"].text()), p.bytes = bytes;
  p.table = tasks_.back().data(), p.entries = static_cast<int>(tasks_.back().size());
  if (e.has("members")) {
    const json_entry members = e["members"];
    members_.emplace_back();
    for (std::size_t k = 0, n = members.list(most_members); k < n; ++k)
      members_.back().push_back(member_of(members[k], bytes));
    p.exports = members_.back().data(), p.exported = static_cast<int>(members_.back().size());
  }
  programs_.push_back(p);
}

wsl::detail::exported_member stored_layout::member_of(const json_entry& e, int bytes_of_program) {
  wsl::detail::exported_member m;
  m.name = kept(e["name"].text()), m.type = kept(e["type"].text());
  const int offset = e["offset"].number(0, bytes_of_program - 1);
  m.offset = static_cast<wsl::u32>(offset);
  m.bytes = static_cast<wsl::u32>(e["bytes"].number(1, bytes_of_program - offset));
  if (!e.has("extents")) return m;
  const json_entry extents = e["extents"];
  m.rank = static_cast<int>(extents.list(m.most_extents));
  for (int k = 0; k < m.rank; ++k)
    m.extents[k] = static_cast<wsl::u32>(extents[static_cast<std::size_t>(k)].number(0, most_bytes_of_pe));
  return m;
}

wsl::detail::binding stored_layout::task_of(const json_entry& e) {
  using wsl::detail::role;
  constexpr const char* roles[] = {"launch", "data", "local", "control", "torn_down",
                                   "read",   "send", "steer", "share"};
  constexpr const char* starts[] = {"ready", "blocked", "active"};
  wsl::detail::binding b;
  b.what = static_cast<role>(e["what"].word(roles));
  b.id = e["id"].number(0, b.names_a_color() ? wsl::detail::max_colors - 1 : 10'000);
  b.name = kept(e["name"].text());
  b.type = payload_of(e);
  if (e.has("start")) b.start = static_cast<wsl::detail::initially>(e["start"].word(starts));
  if (e.has("arguments")) b.arguments = e["arguments"].number(0, 1000);
  if (e.has("arrivals")) b.arrivals = e["arrivals"].number(0, 1'000'000'000);
  return b;
}

region stored_layout::where_of(const json_entry& e) const {
  const json_entry where = e["where"];
  where.list_of(6);
  constexpr int longest_stride = 16;
  const auto at = [&](std::size_t k, int least, int most) { return where[k].number(least, most); };
  const int x = at(0, 0, plan_.width() - 1), y = at(1, 0, plan_.height() - 1);
  const int columns = at(2, 1, plan_.width()), rows = at(3, 1, plan_.height());
  const int sx = at(4, 1, longest_stride), sy = at(5, 1, longest_stride);
  const region r{x, x + (columns - 1) * sx + 1, y, y + (rows - 1) * sy + 1, sx, sy};
  if (r.x1 > plan_.width() || r.y1 > plan_.height())
    where.refuse("leaves the grid of " + std::to_string(plan_.width()) + " x " +
                 std::to_string(plan_.height()) + " PEs");
  return r;
}

void stored_layout::read_placement(const json_entry& e) {
  if (programs_.empty()) e.refuse("has no program to place");
  const int program = e["program"].number(0, static_cast<int>(programs_.size()) - 1);
  wsl::detail::color_map colors;
  if (e.has("colors"))
    e["colors"].each_field([&](const std::string& key, const json_entry& given) {
      int symbol = 0;
      for (int id = wsl::detail::first_symbolic; id < wsl::detail::max_colors; ++id)
        if (std::to_string(id) == key) symbol = id;
      if (!symbol) given.refuse("is given to no symbolic color; these are 48 to 63");
      colors.give(symbol, given.number(0, std::min(plan_.machine().colors, wsl::detail::first_symbolic) - 1));
    });
  plan_.place(where_of(e), programs_[static_cast<std::size_t>(program)], colors);
}

void stored_layout::read_path(const json_entry& e) {
  path_options options;
  const auto has_true = [&](const char* key) { return e.has(key) && e[key].flag(); };
  options.of.type = payload_of(e);
  if (!options.of.type) e.refuse("has no payload");
  options.of.merges = has_true("merges"), options.of.closed = has_true("closed");
  if (e.has("phase"))
    options.of.phase = static_cast<wsl::u8>(e["phase"].number(0, wsl::phase::max_phases - 1));
  if (e.has("injects")) options.of.injects = static_cast<wsl::i8>(e["injects"].number(-1, 1));
  if (e.has("swaps")) options.of.swaps = ports_of(e["swaps"]);
  if (e.has("switch")) options.switches = true, options.way = switch_of(e["switch"]);
  if (e.has("filter")) options.filters = true, options.filter = filter_of(e["filter"]);
  const wsl::color<wsl::u32> color{e["color"].number(0, plan_.machine().colors - 1)};
  plan_.path(color, where_of(e), ports_of(e["from"]) >> ports_of(e["to"]), options);
}

void stored_layout::read_stream(const json_entry& e) {
  const region r = where_of(e);
  const wsl::ports side = ports_of(e["side"]);
  if (!side.single()) e["side"].refuse("is several sides");
  const wsl::area where{r.x0, r.x1, r.y0, r.y1, r.sx, r.sy};
  const wsl::color<wsl::u32> color{e["color"].number(0, plan_.machine().colors - 1)};
  const auto through = static_cast<wsl::port>(side.bits);
  e["inbound"].flag() ? plan_.stream_in(color, where, through) : plan_.stream_out(color, where, through);
}

void stored_layout::read_claim(const json_entry& e) {
  const int last = plan_.machine().colors - 1;
  const int first = e["first"].number(0, last);
  plan_.claim_colors(kept(e["module"].text()), first, e["count"].number(1, last - first + 1), where_of(e));
}

}  // namespace view
