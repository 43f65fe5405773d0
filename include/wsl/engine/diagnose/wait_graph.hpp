// SPDX-License-Identifier: MIT
// The wait-for graph of a deadlock: which PE waits for which. A PE that waits for wavelets of a color waits
// for the ramps and host streams that feed it, which are found by walking the color's routes backwards. A PE
// that waits for room waits for the processors in front of which its wavelets pile up, which are found by
// walking the routes forwards. Followed from PE to PE, these links end in a cycle or at the PE that causes
// the deadlock.
#pragma once

#include "../../layout/layout.hpp"
#include "wait.hpp"

namespace wsl::engines {

/// One step of a chain: `from` waits because of `to`.
struct wait_link {
  enum class kind {
    supply,  ///< for wavelets of `color` that `to` sends
    room,    ///< for room on `color`, whose wavelets end at `to`
    /// for wavelets of `color` that lie in a router because `to`, on another branch, does not take them
    branch,
    stream,  ///< for wavelets of `color` that the host streams in at `to`
    /// for wavelets of `color` that wait at the router of `to` for its switch, or for the color to be
    /// reopened
    router_switch,
    nothing,  ///< for wavelets of `color`, which no path brings
  };
  kind what;
  coord from, to;
  int color;
  bool from_host = false;  ///< it is the host that waits, at the PE `from`
};

struct wait_chain {
  enum class ending {
    unknown,     ///< not found within the bounds of the search
    cycle,       ///< the last link leads back to the first
    never_sent,  ///< `last` waits for nothing
    /// wavelets of `color` lie before `last`; `task` takes them but may not run, or is empty if nothing takes
    /// them
    never_took,
    held,        ///< `task` of `last` is activated but blocked
    joining,     ///< `task` of `last` has been activated less often than it joins
    no_push,     ///< operation `task` of `last` waits for elements of a FIFO
    no_pop,      ///< operation `task` of `last` waits for room in a FIFO
    stream_dry,  ///< the host's stream ended
    /// wavelets of `color` wait at the router of `last` for its switch to leave `position`, or to be reopened
    /// if that is -1
    shut,
    no_path,  ///< nothing leads to the PE that waits
  };
  ending how = ending::unknown;
  support::flat_vector<wait_link> links;
  coord last;
  int color = -1;
  const char* task = "";
  int position = -1;
};

class wait_graph {
 public:
  /// Both must outlive the graph.
  wait_graph(const layout& plan, const waits& what_waits)
      : plan_(plan),
        open_(what_waits),
        first_(places()),
        next_(what_waits.size()),
        seen_(places()),
        visited_(places()) {
    for (std::size_t& i : first_) i = none;
    for (std::size_t i = open_.size(); i-- > 0;) {
      next_[i] = first_[place(open_[i].at)];
      first_[place(open_[i].at)] = i;
    }
  }

  /// A cycle if there is one, else the first chain from a wait to its culprit.
  wait_chain find() {
    for (const wait& w : open_)
      if ((w.why == wait::reason::input || w.why == wait::reason::output) && search(w)) return found_;
    for (const wait& w : open_)
      if (w.why == wait::reason::stream && search(w)) return found_;
    for (const wait& w : open_)
      if ((w.why == wait::reason::unread || w.why == wait::reason::held || w.why == wait::reason::join ||
           of_fifo(w)) &&
          search(w))
        return found_;
    for (const wait& w : open_)
      if (w.why == wait::reason::router_switch && !done())
        found_ = {wait_chain::ending::shut, {}, w.at, w.color, "", w.position};
    return found_;
  }

  /// The chain from the waits of one PE to a culprit, or into a cycle, whose last link then leads back to a
  /// PE of the chain. Its ending is `unknown` where the PE waits for nothing that is found.
  wait_chain find_from(coord c) {
    from_start_ = true;
    if (const wait* w = wait_at(c, [](const wait& x) { return x.why != wait::reason::stream; })) search(*w);
    return found_;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  // The bound of the search on a large grid on which everything waits.
  static constexpr u64 most_hops = u64{1} << 19;

  struct node {
    coord at;
    support::flat_vector<wait_link> links;
    std::size_t taken = 0;
  };

  std::size_t places() const { return static_cast<std::size_t>(plan_.grid().count()); }
  std::size_t place(coord c) const { return static_cast<std::size_t>(plan_.grid().rank(c)); }

  template <class F>
  const wait* wait_at(coord c, F wanted) const {
    for (std::size_t i = first_[place(c)]; i != none; i = next_[i])
      if (wanted(open_[i])) return &open_[i];
    return nullptr;
  }
  const wait* wait_at(coord c, wait::reason why, int color) const {
    return wait_at(c, [&](const wait& w) { return w.why == why && w.color == color; });
  }
  bool stuck(coord c) const {
    return wait_at(c, [](const wait& w) {
      return w.why != wait::reason::stream && w.why != wait::reason::router &&
             w.why != wait::reason::router_switch && w.why != wait::reason::lost;
    });
  }
  // A processor that waits for a color has an empty queue of it, so it does not let the color pile up.
  bool stops(coord c, int color) const {
    return wait_at(c, wait::reason::unread, color) || (stuck(c) && !wait_at(c, wait::reason::input, color));
  }

  // Depth first, without recursion: chains can be as long as the grid has PEs. True when a cycle is found.
  bool search(const wait& start) {
    const bool from_host = start.why == wait::reason::stream;
    if (!from_host && visited_[place(start.at)]) return false;
    path_.clear();
    if (from_host) path_.push_back({start.at, links_of(start)});
    else enter(start.at);
    while (!path_.empty())
      if (follow()) return true;
    return false;
  }

  void enter(coord c) {
    visited_[place(c)] = open;
    path_.push_back({c, {}});
    for (std::size_t i = first_[place(c)]; i != none; i = next_[i])
      if (open_[i].why != wait::reason::stream) append(path_.back().links, links_of(open_[i]));
    if (path_.back().links.empty()) remember_culprit(c);
  }

  bool follow() {
    node& top = path_.back();
    if (top.taken == top.links.size()) {
      if (visited_[place(top.at)] == open) visited_[place(top.at)] = closed;
      path_.pop_back();
      return false;
    }
    const wait_link l = top.links[top.taken++];
    using k = wait_link::kind;
    if (l.what == k::stream || l.what == k::nothing || l.what == k::router_switch || !stuck(l.to))
      remember_end(l);
    else if (visited_[place(l.to)] == open) return remember_cycle(l.to);
    else if (visited_[place(l.to)] == unseen) enter(l.to);
    return false;
  }

  void remember(wait_chain::ending how, coord last, int color, const char* task, std::size_t from = 0) {
    found_ = {how, {}, last, color, task, -1};
    for (std::size_t i = from; i < path_.size(); ++i)
      if (path_[i].taken) found_.links.push_back(path_[i].links[path_[i].taken - 1]);
  }
  bool done() const { return found_.how != wait_chain::ending::unknown || hops_ > most_hops; }

  void remember_culprit(coord c) {
    if (done()) return;
    const int color = path_.size() > 1 ? last_link().color : -1;
    const wait* w = wait_at(c, wait::reason::unread, color);
    if (!w) w = wait_at(c, [](const wait& x) { return x.why == wait::reason::held; });
    if (!w) w = wait_at(c, of_fifo);
    if (!w) w = wait_at(c, [](const wait& x) { return x.why == wait::reason::join; });
    if (!w) w = wait_at(c, [](const wait& x) { return x.why == wait::reason::unread; });
    if (w) remember(ending_of(w->why), c, w->color, w->what);
  }
  static bool of_fifo(const wait& w) { return w.why == wait::reason::pop || w.why == wait::reason::push; }
  static wait_chain::ending ending_of(wait::reason why) {
    switch (why) {
      case wait::reason::held: return wait_chain::ending::held;
      case wait::reason::join: return wait_chain::ending::joining;
      case wait::reason::pop: return wait_chain::ending::no_push;
      case wait::reason::push: return wait_chain::ending::no_pop;
      default: return wait_chain::ending::never_took;
    }
  }
  void remember_end(const wait_link& l) {
    if (done()) return;
    using k = wait_link::kind;
    using e = wait_chain::ending;
    const e how = l.what == k::stream          ? e::stream_dry
                  : l.what == k::nothing       ? e::no_path
                  : l.what == k::router_switch ? e::shut
                  : l.what == k::supply        ? e::never_sent
                                               : e::never_took;
    remember(how, l.to, l.color, "");
    if (const wait* router_switch =
            how == e::shut ? wait_at(l.to, wait::reason::router_switch, l.color) : nullptr)
      found_.position = router_switch->position;
  }
  bool remember_cycle(coord c) {
    std::size_t from = 0;
    while (path_[from].at != c || (!path_[from].links.empty() && path_[from].links[0].from_host)) ++from;
    remember(wait_chain::ending::cycle, c, last_link().color, "", from_start_ ? 0 : from);
    return true;
  }
  const wait_link& last_link() const {
    const node& n = path_.back().taken ? path_.back() : path_[path_.size() - 2];
    return n.links[n.taken - 1];
  }

  static void append(support::flat_vector<wait_link>& to, const support::flat_vector<wait_link>& more) {
    for (const wait_link& l : more) to.push_back(l);
  }

  support::flat_vector<wait_link> links_of(const wait& w) {
    if (w.why == wait::reason::input) return supply(w);
    if (w.why == wait::reason::output || w.why == wait::reason::stream) return room(w);
    return {};
  }

  support::flat_vector<wait_link> supply(const wait& w) {
    support::flat_vector<wait_link> links;
    const upstream up = walk_back(w.at, w.color);
    if (!shut_.empty())
      return links.push_back({wait_link::kind::router_switch, w.at, shut_[0], w.color}), links;
    for (coord c : up.clogged)
      for (coord to : walk_on(c, w.color))
        if (stops(to, w.color)) links.push_back({wait_link::kind::branch, w.at, to, w.color});
    if (links.empty())
      for (coord c : up.ramps)
        if (stuck(c)) links.push_back({wait_link::kind::supply, w.at, c, w.color});
    if (links.empty()) links.push_back(silence(w, up));
    return links;
  }

  struct upstream {
    support::flat_vector<coord> ramps, streams;  // that feed the color
    support::flat_vector<coord> clogged;         // routers on the way in which wavelets of the color lie
  };

  static wait_link silence(const wait& w, const upstream& up) {
    if (!up.ramps.empty()) return {wait_link::kind::supply, w.at, up.ramps[0], w.color};
    if (!up.streams.empty()) return {wait_link::kind::stream, w.at, up.streams[0], w.color};
    return {wait_link::kind::nothing, w.at, w.at, w.color};
  }

  support::flat_vector<wait_link> room(const wait& w) {
    support::flat_vector<wait_link> links;
    const support::flat_vector<coord> receivers = walk_on(w.at, w.color);
    const bool from_host = w.why == wait::reason::stream;
    if (!shut_.empty())
      return links.push_back({wait_link::kind::router_switch, w.at, shut_[0], w.color, from_host}), links;
    for (coord c : receivers)
      if (stops(c, w.color)) links.push_back({wait_link::kind::room, w.at, c, w.color, from_host});
    if (links.empty() && !receivers.empty())
      links.push_back({wait_link::kind::room, w.at, receivers[0], w.color, from_host});
    return links;
  }

  upstream walk_back(coord to, int color) {
    upstream up;
    if (!plan_.route_at(to, color).to.has(ramp)) return up;
    for (begin_walk(to, color); coord* c = next_stop();) {
      const coord here = *c;
      if (wait_at(here, wait::reason::router, color)) up.clogged.push_back(here);
      for (port p : every_port) {
        if (!plan_.route_at(here, color).from.has(p)) continue;
        const coord before = here + step(p);
        if (p == ramp) up.ramps.push_back(here);
        else if (!plan_.has(before)) up.streams.push_back(here);
        else if (plan_.route_at(before, color).to.has(opposite(p))) visit(before);
      }
    }
    return up;
  }

  support::flat_vector<coord> walk_on(coord from, int color) {
    support::flat_vector<coord> receivers;
    for (begin_walk(from, color); coord* c = next_stop();) {
      const coord here = *c;
      const ports to = plan_.route_at(here, color).to;
      if (to.has(ramp)) receivers.push_back(here);
      for (port p : every_side)
        if (to.has(p) && plan_.has(here + step(p))) visit(here + step(p));
    }
    return receivers;
  }

  // A walk visits a PE once; the numbers in seen_ tell walks apart.
  void begin_walk(coord from, int color) {
    ++walk_;
    todo_.clear(), shut_.clear();
    color_ = color;
    visit(from);
  }
  void visit(coord c) {
    if (seen_[place(c)] == walk_ || ++hops_ > most_hops) return;
    seen_[place(c)] = walk_;
    todo_.push_back(c);
  }
  coord* next_stop() {
    if (todo_.empty()) return nullptr;
    here_ = todo_.back();
    todo_.pop_back();
    if (wait_at(here_, wait::reason::router_switch, color_)) shut_.push_back(here_);
    return &here_;
  }

  enum : u8 { unseen, open, closed };

  const layout& plan_;
  const waits& open_;
  support::flat_vector<std::size_t> first_, next_;  // the waits of a PE: first_[place], then next_[wait]
  support::flat_vector<u32> seen_;
  support::flat_vector<u8> visited_;
  support::flat_vector<node> path_;
  // Where a walk goes on, and the routers on its way whose switches keep wavelets waiting.
  support::flat_vector<coord> todo_, shut_;
  coord here_;
  int color_ = -1;
  u32 walk_ = 0;
  u64 hops_ = 0;
  bool from_start_ = false;  // a chain begins at the PE that was asked for, not where its cycle does
  wait_chain found_;
};

}  // namespace wsl::engines
