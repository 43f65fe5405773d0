// SPDX-License-Identifier: MIT
// The crossings of a layout and their gates, as the threaded engine visits them.
#pragma once
#include "../../support/flat_vector.hpp"
#include "forwarding.hpp"

namespace wsl::engines {

class junctions final : public crossings {
 public:
  explicit junctions(const layout& plan) : plan_(plan) {
    const gated_paths gated(plan);
    for (const path_record& p : plan.paths()) {
      if (p.phase > 0 || !gated.has(p)) continue;
      blocks_.push_back({&p, static_cast<u32>(all_.size())});
      for (int i = 0; i < p.where.count(); ++i) {
        const coord c = p.where.nth(i);
        all_.push_back({c, p.color, plan.route_at(c, p.color).to, 0, 0, {}});
        gates_.push_back(gate(plan, c, p));
      }
    }
    list_ = all_.data(), size_ = static_cast<u32>(all_.size());
  }

  u32 find(coord c, int color) const override {
    for (const block& b : blocks_)
      if (b.path->color == color && b.path->where.has(c)) return b.first + static_cast<u32>(b.path->where.rank(c));
    return none;
  }

  void open(wiring& net) override {
    for (u32 j = 0; j < size_; ++j) {
      all_[j].first_channel = static_cast<u32>(net.channels.size());
      for (port out : every_port)
        if (all_[j].outputs.has(out)) open(net, net.first_crossing() + j, all_[j], out);
    }
  }

  bool visit(traffic& words, band& b, u32 who, u64 first) override {
    const u32 j = who - words.net.first_crossing();
    return forwarding(words, b, all_[j], gates_[j]).run(words.net.inlets_of(who), first);
  }

  void reopen(const pe_state& on, int color, int phase) override {
    const u32 j = find({on.x, on.y}, color);
    rule::reopen(on, color, phase, j == none ? nullptr : &gates_[j], plan_);
  }

  void waits_at(waits& open, traffic& words, u32 who) override {
    const u32 j = who - words.net.first_crossing();
    u64 held = 0, shut_out = 0;
    for (const inlet& in : words.net.inlets_of(who)) (gates_[j].takes(every_port[in.port]) ? held : shut_out) += words.available(in);
    if (shut_out) open.push_back({wait::reason::gate, all_[j].at, all_[j].color, "", "", shut_out, gates_[j].position()});
    if (held) open.push_back({wait::reason::router, all_[j].at, all_[j].color, "", "", held});
  }

 private:
  void open(wiring& net, u32 writer, const crossing& from, port out) {
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
  flat_vector<block> blocks_;
  flat_vector<crossing> all_;
  flat_vector<gate> gates_;
};

}  // namespace wsl::engines
