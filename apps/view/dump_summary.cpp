// SPDX-License-Identifier: MIT
#include "dump_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <wsl/debug/dump_file.hpp>
#include <wsl/engine/diagnose/wait_graph.hpp>

#include "wait_words.hpp"

namespace view {

using nlohmann::json;
using wsl::coord;

namespace {

constexpr float none = std::numeric_limits<float>::infinity();

json place_of(const wsl::region& r) { return json::array({r.x0, r.y0, r.columns(), r.rows(), r.sx, r.sy}); }
std::string letters_of(wsl::ports all) {
  std::string text;
  for (const auto& [port, letter] :
       {std::pair{wsl::ramp, 'R'}, {wsl::east, 'E'}, {wsl::west, 'W'}, {wsl::north, 'N'}, {wsl::south, 'S'}})
    if (all.has(port)) text += letter;
  return text;
}
const char* name_of(wsl::detail::role what) {
  using r = wsl::detail::role;
  switch (what) {
    case r::launch: return "launch";
    case r::data: return "data";
    case r::local: return "local";
    case r::control: return "control";
    case r::torn_down: return "torn_down";
    case r::read: return "read";
    case r::send: return "send";
    case r::steer: return "steer";
    case r::share: break;
  }
  return "share";
}
/// A machine of the library by its name; the dump of another one does not tell its memory.
int memory_of(const std::string& machine) {
  for (const wsl::machine& m : {wsl::wse2, wsl::wse3, wsl::host})
    if (machine == m.name) return m.memory;
  return 0;
}
// names come from a file
std::string text_of(const json& j) { return j.dump(-1, ' ', true, json::error_handler_t::replace); }

}  // namespace

dump_summary::dump_summary(const std::string& file) : state_(wsl::debug::read_dump(file)) {
  waits_ = wsl::debug::state_view(state_).places_that_wait();
  choose_texts();
  draw_members();
}

void dump_summary::choose_texts() {
  const std::size_t places = state_.states.size();
  text_of_.resize(places);
  std::map<std::string, std::uint32_t> known;
  wsl::debug::state_view shown(state_);
  std::size_t looked_at = 0;
  for (const bool waiting : {true, false})
    for (std::size_t i = 0; i < places; ++i) {
      if (waits_[i] != waiting) continue;
      if (looked_at == most_texts) {
        ++texts_left_out_;
        continue;
      }
      ++looked_at;
      std::string text = shown.pe(state_.grid().nth(static_cast<int>(i)));
      text.erase(0, text.find('\n') + 1);  // the page names the PE and its program
      const auto [at, is_new] = known.emplace(std::move(text), static_cast<std::uint32_t>(texts_.size() + 1));
      if (is_new) texts_.push_back(at->first);
      text_of_[i] = at->second;
    }
}

void dump_summary::draw_members() {
  const std::size_t places = state_.states.size();
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < places; ++i) {
    const coord c = state_.grid().nth(static_cast<int>(i));
    if (!state_.has_memory(c)) continue;
    const wsl::debug::program_info* program = state_.program_at(c);
    if (!program) continue;
    wsl::debug::machine_state::each_member(
        state_.blocks[state_.memories[i]], *program,
        [&](const wsl::debug::member_info& m, const wsl::debug::member_values& v) {
          float most = -none;
          for (std::uint64_t k = 0; k < v.count; ++k) {
            const std::optional<wsl::debug::exact_number> x =
                wsl::debug::number_of(m.kind, m.element_bytes, v.first + k * m.element_bytes);
            if (!x) return;
            if (std::isnan(*x)) {
              most = std::numeric_limits<float>::quiet_NaN();
              break;
            }
            most = std::max(most, static_cast<float>(*x));
          }
          if (v.count == 0) return;
          const auto [at, is_new] = number.emplace(m.name, members_.size());
          if (is_new) {
            if ((members_.size() + 1) * places > std::max(most_numbers, places)) {
              at->second = ~std::size_t{0};
              ++members_left_out_;
              return;
            }
            members_.push_back({m.name, none, -none, std::vector<float>(places, none)});
          }
          if (at->second == ~std::size_t{0}) return;
          member_picture& p = members_[at->second];
          p.values[i] = most;
          if (std::isfinite(most)) p.low = std::min(p.low, most), p.high = std::max(p.high, most);
        });
  }
  for (member_picture& p : members_)
    if (p.low > p.high) p.low = p.high = 0;  // no PE has a finite number
}

std::string dump_summary::layout_json() const {
  json all{{"width", state_.width}, {"height", state_.height}};
  all["machine"] = {{"name", state_.machine}, {"memory", memory_of(state_.machine)}};
  all["programs"] = all["placements"] = all["paths"] = all["streams"] = all["claims"] = json::array();
  for (const wsl::debug::program_info& p : state_.programs) {
    json tasks = json::array();
    for (const wsl::debug::task_info& t : p.tasks)
      tasks.push_back({{"what", name_of(t.what)}, {"id", t.id}, {"name", t.name}, {"arrivals", t.arrivals}});
    all["programs"].push_back({{"name", p.name}, {"bytes", p.bytes}, {"tasks", std::move(tasks)}});
  }
  for (const wsl::debug::placement_info& p : state_.placements)
    all["placements"].push_back({{"where", place_of(p.where)}, {"program", p.program}});
  for (const wsl::debug::path_info& p : state_.paths)
    all["paths"].push_back({{"where", place_of(p.where)},
                            {"color", p.color},
                            {"from", letters_of(p.how.from)},
                            {"to", letters_of(p.how.to)},
                            {"phase", p.phase},
                            {"payload", json::array({p.type})}});
  return text_of(all);
}

std::string dump_summary::meta() const {
  json m{{"engine", state_.engine},
         {"cycle", state_.cycle},
         {"ending", state_.sentence},
         {"summary", sentence()},
         {"texts", texts_}};
  std::vector<trace_wait> waits;
  for (const wsl::engines::wait& w : state_.waits)
    if (waits.size() < most_waits)
      waits.push_back({static_cast<int>(w.why), w.color, w.position, static_cast<rank>(state_.rank(w.at)),
                       w.program, w.what, w.count});
  m["waits"] = waits_json(waits, state_.width);
  const wsl::layout paths = wsl::debug::state_view(state_).layout_of_paths();
  std::vector<trace_link> chain;
  for (const wsl::engines::wait_link& l : wsl::engines::wait_graph(paths, state_.waits).find().links)
    chain.push_back({static_cast<int>(l.what), l.color, static_cast<rank>(state_.rank(l.from)),
                     static_cast<rank>(state_.rank(l.to)), l.from_host});
  m["chain"] = chain_json(chain, state_.width);
  const std::size_t places = state_.states.size();
  m["parts"] = json::array({{{"name", "waiting"}, {"at", 0}, {"size", places}},
                            {{"name", "text_of"}, {"at", (places + 3) / 4 * 4}, {"size", 4 * places}}});
  m["members"] = json::array();
  std::size_t at = (places + 3) / 4 * 4 + 4 * places;
  for (const member_picture& p : members_) {
    m["members"].push_back({{"name", p.name}, {"low", p.low}, {"high", p.high}});
    m["parts"].push_back({{"name", "member " + p.name}, {"at", at}, {"size", 4 * places}});
    at += 4 * places;
  }
  return text_of(m);
}

std::string dump_summary::bytes() const {
  std::string all;
  for (const bool w : waits_) all += static_cast<char>(w);
  all.resize((all.size() + 3) / 4 * 4);
  const auto words = [&](const auto& numbers) {
    for (const auto& x : numbers) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      for (int k = 0; k < 4; ++k) all += static_cast<char>(bits >> (8 * k) & 255u);
    }
  };
  words(text_of_);
  for (const member_picture& p : members_) words(p.values);
  return all;
}

std::string dump_summary::sentence() const {
  const auto waiting = std::count(waits_.begin(), waits_.end(), true);
  std::string text = fmt::format("The {} engine", state_.engine);
  if (state_.cycle) text += fmt::format(", cycle {}", state_.cycle);
  text += fmt::format("; {} of {} wait.", waiting, wsl::engines::counted(state_.states.size(), "PE"));
  if (texts_left_out_)
    text += fmt::format(" Of {} the page has no words, queues and members: wsl-debug has.",
                        wsl::engines::counted(texts_left_out_, "PE"));
  if (members_left_out_)
    text += fmt::format(" {} are not drawn, because they would make the page too large.",
                        wsl::engines::counted(members_left_out_, "member"));
  return text;
}

}  // namespace view
