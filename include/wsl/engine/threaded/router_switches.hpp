// SPDX-License-Identifier: MIT
// The switched_routers of a layout and their gates, as the threaded engine visits them.
#pragma once
#include "../../support/flat_vector.hpp"
#include "forwarding.hpp"

namespace wsl::engines {

class router_switches final : public switched_routers {
 public:
  explicit router_switches(const layout& plan) : plan_(plan) {
    const switched_paths gated(plan);
    for (const path_record& p : plan.paths()) {
      if (p.phase > 0 || !gated.has(p)) continue;
      blocks_.push_back({&p, static_cast<u32>(all_.size())});
      for (int i = 0; i < p.where.count(); ++i) {
        const coord c = p.where.nth(i);
        all_.push_back({c, p.color, plan.route_at(c, p.color).to, 0, 0, {}});
        switches_.push_back(router_switch(plan, c, p));
      }
    }
    list_ = all_.data(), size_ = static_cast<u32>(all_.size());
  }

  u32 find(coord c, int color) const override {
    for (const block& b : blocks_)
      if (b.path->color == color && b.path->where.has(c))
        return b.first + static_cast<u32>(b.path->where.rank(c));
    return none;
  }

  void open(topology& net) override {
    for (u32 j = 0; j < size_; ++j) {
      all_[j].first_channel = static_cast<u32>(net.channels.size());
      for (port out : every_port)
        if (all_[j].outputs.has(out)) open(net, net.first_switched_router() + j, all_[j], out);
    }
  }

  bool visit(transport& words, partition& b, u32 who, u64 first) override {
    const u32 j = who - words.net.first_switched_router();
    return forwarding(words, b, all_[j], switches_[j]).run(words.net.cursors_of(who), first);
  }

  void reopen(const pe_state& on, int color, int phase) override {
    const u32 j = find({on.x, on.y}, color);
    rule::reopen(on, color, phase, j == none ? nullptr : &switches_[j], plan_);
  }

  void waits_at(waits& open, transport& words, u32 who) override {
    const u32 j = who - words.net.first_switched_router();
    u64 held = 0, shut_out = 0;
    for (const cursor& in : words.net.cursors_of(who))
      (switches_[j].takes(every_port[in.port]) ? held : shut_out) += words.available(in);
    if (shut_out)
      open.push_back({wait::reason::router_switch, all_[j].at, all_[j].color, "", "", shut_out,
                      switches_[j].position()});
    if (held) open.push_back({wait::reason::router, all_[j].at, all_[j].color, "", "", held});
  }

 private:
  void open(topology& net, u32 writer, const switched_router& from, port out) {
    const coord next = from.at + step(out);
    if (out != ramp && plan_.has(next)) return net.open_channel(writer, next, opposite(out), from.color, 1);
    u32 reader = 0;
    if (out != ramp) reader = net.stream_at(from.at, from.color, out);
    else if (pe* p = net.find(from.at)) reader = state_of(*p).index;
    net.open_output(writer, reader, from, out == ramp);
  }

  struct block {
    const path_record* path = nullptr;
    u32 first = 0;
  };
  const layout& plan_;
  support::flat_vector<block> blocks_;
  support::flat_vector<switched_router> all_;
  support::flat_vector<router_switch> switches_;
};

}  // namespace wsl::engines
