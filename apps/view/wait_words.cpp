// SPDX-License-Identifier: MIT
#include "wait_words.hpp"

#include <wsl/engine/diagnose/wait.hpp>
#include <wsl/engine/diagnose/wait_graph.hpp>
#include <wsl/support/text.hpp>

namespace view {
namespace {

using nlohmann::json;
using wsl::support::counted, wsl::support::joined;
using reason = wsl::engines::wait::reason;

/// "4 wavelets of color 1"
std::string wavelets(const trace_wait& w) {
  return joined({counted(w.count, "wavelet"), " of color ", w.color});
}

std::string says(const trace_wait& w) {
  switch (static_cast<reason>(w.why)) {
    case reason::input: return joined({w.what, " waits for ", wavelets(w), "; the input queue is empty"});
    case reason::output:
      return joined({w.what, " waits to put ", wavelets(w), " into the full output queue"});
    case reason::behind: return joined({w.what, " holds ", wavelets(w), " behind those of another color"});
    case reason::pop:
      return joined({w.what, " waits for ", counted(w.count, "element"), " of an empty FIFO"});
    case reason::push:
      return joined({w.what, " waits for room for ", counted(w.count, "element"), " in a full FIFO"});
    case reason::ended:
      return joined({w.what, " waits for the completion of ", counted(w.count, "operation")});
    case reason::unsignalled: return w.what + " waits for an event that no operation in flight signals";
    case reason::unread: return wavelets(w) + " in the input queue are taken by nothing that may run";
    case reason::call: return counted(w.count, "host call") + " cannot begin";
    case reason::held: return "task " + w.what + " is activated but blocked";
    case reason::join:
      return joined({"task ", w.what, " waits for more arrivals; ", w.count, " of ", w.position, " came"});
    case reason::stream:
      return joined(
          {"the host's ", counted(w.count, "word"), " of color ", w.color, " cannot enter the grid"});
    case reason::router_switch:
      return w.position < 0
                 ? wavelets(w) + " wait in the router for the color to be reopened"
                 : joined({wavelets(w), " wait in the router for the switch to leave position ", w.position});
    case reason::router: return wavelets(w) + " cannot move on from the router";
    case reason::lost: return "an activation of task " + w.what + " was lost: activations are not counted";
  }
  return "waits";
}
std::string says(const trace_link& l) {
  using k = wsl::engines::wait_link::kind;
  const std::string for_color = joined({"waits for color ", l.color});
  switch (static_cast<k>(l.what)) {
    case k::supply: return for_color + " from";
    case k::room: return joined({"waits for room on color ", l.color, " towards"});
    case k::branch: return for_color + ", which is held up by";
    case k::stream: return for_color + " from the host stream at";
    case k::router_switch: return for_color + ", which waits at the router of";
    case k::nothing: break;
  }
  return for_color + ", which no path brings there";
}

json xy(rank r, int width) {
  return json::array({r % static_cast<rank>(width), r / static_cast<rank>(width)});
}

}  // namespace

json waits_json(const std::vector<trace_wait>& waits, int width) {
  json all = json::array();
  for (const trace_wait& w : waits)
    all.push_back({{"x", xy(w.pe, width)[0]},
                   {"y", xy(w.pe, width)[1]},
                   {"color", w.color},
                   {"says", says(w)},
                   {"for_words", static_cast<reason>(w.why) == reason::input}});
  return all;
}

json chain_json(const std::vector<trace_link>& chain, int width) {
  json all = json::array();
  for (const trace_link& l : chain) {
    json one{{"from", xy(l.from, width)}, {"says", says(l)}};
    if (static_cast<wsl::engines::wait_link::kind>(l.what) != wsl::engines::wait_link::kind::nothing)
      one["to"] = xy(l.to, width);
    all.push_back(one);
  }
  return all;
}

}  // namespace view
