// SPDX-License-Identifier: MIT
// A layout's channels and inlets, and the bands that its PEs are cut into: along the axis that fewer words cross.
#pragma once
#include <bit>
#include <span>
#include <utility>

#include "../../support/least.hpp"
#include "partition.hpp"
#include "../resolved_routes.hpp"
#include "../schedule.hpp"
#include "../tiles.hpp"

namespace wsl::engines {

/// A host stream's end at one PE of the grid's edge. To the engine it is one more writer or reader, numbered after the PEs.
struct stream_end {
  coord at;
  int color = 0;
  port side = port::west;
  bool inbound = true;
  u32 first_channel = 0, first_inlet = 0;
  membership in;
  backlog<u32> words;
};

struct wiring {
  static constexpr u32 deep = large_buffer / 2;

  flat_vector<channel> channels;        ///< of one writer together
  flat_vector<u16> depths;              ///< by channel: words that may lie between writer and reader; empty if all are deep
  flat_vector<inlet> inlets;            ///< of one reader together, by color and writer
  flat_vector<seam> seams;
  flat_vector<u32> lists;               ///< of listed channels: how many inlets, how many links, and the inlets
  flat_vector<stream_end> streams;
  crossings* gates = nullptr;           ///< one more kind of reader and writer, numbered after the streams; owned, null without any
  u32 bands = 1;

  wiring(const layout& plan, deliveries& routes, tiles& pes, depth how_deep, u32 pes_per_band)
      : gates(find_crossings ? find_crossings(plan) : nullptr), pes_(pes), plan_(plan), routes_(routes), machine_depth_(how_deep == depth::machine), pes_per_band_(pes_per_band) {
    for (const stream_record& s : plan.streams())
      for (int i = 0; i < s.where.count(); ++i) streams.push_back({s.where.nth(i), s.color, s.side, s.inbound, 0, 0, {}, {}});
    if (writers() > most_writers) throw fault_error("wsl: an engine has at most " + std::to_string(most_writers) + " PEs and streams, not " + std::to_string(writers()));
    reserve();
    for (u32 i = 0; i < pes_.size(); ++i) open_channels(i);
    for (u32 k = 0; k < streams.size(); ++k) {
      streams[k].first_channel = static_cast<u32>(channels.size());
      if (streams[k].inbound) open_channel(static_cast<u32>(pes_.size()) + k, streams[k].at, streams[k].side, streams[k].color);
    }
    if (gates) gates->open(*this);
    sort_inlets();
    cut();
    pes_.set_ends(channels.data(), inlets.data());
  }

  wiring(const wiring&) = delete;
  wiring& operator=(const wiring&) = delete;
  ~wiring() { delete gates; }

  u32 first_crossing() const { return static_cast<u32>(pes_.size() + streams.size()); }
  u32 writers() const { return first_crossing() + (gates ? gates->size() : 0); }
  stream_end& stream_of(u32 who) { return streams[who - pes_.size()]; }
  crossing& crossing_of(u32 who) const { return (*gates)[who - first_crossing()]; }
  membership& member(u32 who) {
    if (who < pes_.size()) return state_of(pes_[who]).in;
    return who < first_crossing() ? streams[who - pes_.size()].in : crossing_of(who).in;
  }

  /// The channels and inlets of a PE, stream or crossing.
  static std::span<channel> channels_of(const pe_state& s) { return {s.channels(), s.image->slots}; }
  std::span<channel> channels_of(u32 who) {
    if (who < pes_.size()) return channels_of(state_of(pes_[who]));
    if (who >= first_crossing()) {
      const crossing& c = crossing_of(who);
      return {channels.data() + c.first_channel, static_cast<std::size_t>(std::popcount(c.outputs.bits))};
    }
    const stream_end& s = streams[who - pes_.size()];
    return {channels.data() + s.first_channel, s.inbound};
  }
  static std::span<inlet> inlets_of(const pe_state& s) { return {s.inlets(), s.end_of_inlets()}; }
  std::span<inlet> inlets_of(u32 who) {
    if (who < pes_.size()) return inlets_of(state_of(pes_[who]));
    return {inlets.data() + first_inlet(who), inlets.data() + (who + 1 < writers() ? first_inlet(who + 1) : inlets.size())};
  }

  coord place_of(u32 who) const {
    if (who < pes_.size()) return pes_[who].at();
    return who < first_crossing() ? streams[who - pes_.size()].at : crossing_of(who).at;
  }

  // ---- while it is built -----------------------------------------------------------------------------------------------------

  /// The channel of a writer whose words enter the router at `at` through a port, after some links.
  void open_channel(u32 writer, coord at, port through, int color, u32 links_before = 0) {
    const u32 id = static_cast<u32>(channels.size());
    channel& c = channels.push_back({});
    c.writer = writer & (most_writers - 1);
    u32 readers = 0, room = deep;
    const auto deliver = [&](u32 reader, u32 between, int as, port entered = ramp) {
      ++readers;
      room = least(room, between);
      delivered_.push_back({reader, id, static_cast<u8>(as), static_cast<u8>(index_of(entered))});
    };
    const u32 links = links_before + static_cast<u32>(routes_.follow(
        at, through, color, gates,
        [&](coord to, int as) {
          if (pe* p = pes_.find(to)) deliver(state_of(*p).index, room_between(writer, at, to, color), as);
        },
        [&](coord to, port side, int as) { deliver(stream_at(to, as, side), deep, as); },
        [&](u32 j, port entered) { deliver(first_crossing() + j, room_between(writer, at, (*gates)[j].at, color), (*gates)[j].color, entered); }));
    if (machine_depth_) depths.push_back(static_cast<u16>(room));
    c.listed = readers != 1 || links > 0xffff;
    c.links = static_cast<u16>(links);
    if (!c.listed) return;
    c.first_reader = static_cast<u32>(lists.size());
    lists.push_back(0);  // until they are named
    lists.push_back(links);
    for (; readers; --readers) lists.push_back(0);
  }

  /// The channel from a crossing to a PE or stream beside it.
  void open_output(u32 writer, u32 reader, const crossing& from, bool to_ramp) {
    channel& c = channels.push_back({});
    c.writer = writer & (most_writers - 1);
    c.links = !to_ramp;
    if (machine_depth_) depths.push_back(static_cast<u16>(to_ramp ? room_between(writer, from.at, from.at, from.color) : deep));
    delivered_.push_back({reader, static_cast<u32>(channels.size() - 1), static_cast<u8>(from.color), 0});
  }

  pe* find(coord c) { return pes_.find(c); }
  u32 stream_at(coord c, int color, port side) const {
    for (u32 k = 0; k < streams.size(); ++k)
      if (!streams[k].inbound && streams[k].at == c && streams[k].color == color && streams[k].side == side)
        return static_cast<u32>(pes_.size()) + k;
    return 0;  // the checker refuses a path that leaves the grid without a stream
  }

 private:
  struct delivery {
    u32 reader, channel;
    u8 color, port;
  };

  u32& first_inlet(u32 who) {
    if (who < pes_.size()) return state_of(pes_[who]).first_inlet;
    return who < first_crossing() ? streams[who - pes_.size()].first_inlet : crossing_of(who).first_inlet;
  }

  // Exactly: the lists of a wafer are large.
  void reserve() {
    std::size_t n = streams.size();
    for (u32 j = first_crossing(); j < writers(); ++j) n += static_cast<std::size_t>(std::popcount(crossing_of(j).outputs.bits));
    for (std::size_t i = 0; i < pes_.size(); ++i) n += static_cast<std::size_t>(std::popcount(state_of(pes_[i]).image->present));
    channels.reserve(n);
    depths.reserve(machine_depth_ ? n : 0);
  }

  void open_channels(u32 i) {
    pe_state& s = state_of(pes_[i]);
    s.first_channel = channel_index{static_cast<u32>(channels.size())};
    for (u64 left = s.image->present; left; left &= left - 1) open_channel(i, {s.x, s.y}, ramp, std::countr_zero(left));
  }

  // The machine holds words in the sender's output queue, in each router on the way, and in the receiver's input queue.
  u32 room_between(u32 writer, coord from, coord to, int color) const {
    if (!machine_depth_) return deep;
    const machine& m = plan_.machine();
    const int routers = 1 + std::abs(to.x - from.x) + std::abs(to.y - from.y);
    const u64 lower = color_bit(color) - 1;
    int room = 2 * routers;
    if (writer < pes_.size()) {
      const u64 sends = state_of(pes_[writer]).image->sends;
      room += m.output_depth[std::popcount(sends & lower) % least(m.output_queues, 8)] - 2;
    }
    const pe* p = !gates || gates->find(to, color) == crossings::none || from == to ? pes_.find(to) : nullptr;
    if (!p) return static_cast<u32>(room);
    const program_image& image = *state_of(const_cast<pe&>(*p)).image;
    room += m.input_depth[std::popcount((image.takes | image.reads) & lower) % least(m.input_queues, 8)];
    return static_cast<u32>(room);
  }

  // Deliveries stand in the order of their writers; counting keeps that order among those of one reader. Until they are placed,
  // the first inlet of a reader is where its next one goes.
  void sort_inlets() {
    flat_vector<u32> filled(writers());
    for (const delivery& d : delivered_) ++filled[d.reader];
    for (u32 r = 0, before = 0; r < writers(); ++r) {
      first_inlet(r) = before;
      before += std::exchange(filled[r], 0);
      if (r + 1 == pes_.size()) state_of(pes_[r + 1]).first_inlet = before;
    }
    inlets = flat_vector<inlet>(delivered_.size());
    for (const delivery& d : delivered_) insert(d, inlets.data() + first_inlet(d.reader), filled[d.reader]++);
    delivered_ = {};
    name_readers();
  }

  // The inlets of one reader stand by color.
  static void insert(const delivery& d, inlet* of_reader, u32 filled) {
    for (; filled > 0 && of_reader[filled - 1].color > d.color; --filled) of_reader[filled] = of_reader[filled - 1];
    inlet& in = of_reader[filled];
    in.from = d.channel, in.reader = d.reader, in.color = d.color, in.port = d.port;
  }

  void name_readers() {
    for (u32 i = 0; i < inlets.size(); ++i) {
      channel& c = channels[inlets[i].from];
      if (c.listed) lists[c.first_reader + 2 + lists[c.first_reader]++] = i;
      else c.first_reader = i;
    }
  }

  void cut() {
    bands = least(most(static_cast<u32>(pes_.size() / pes_per_band_), 1u), most_bands);
    if (bands == 1) return;
    u64 across_columns = 0, across_rows = 0;
    for (const inlet& in : inlets) {
      const coord d = place_of(in.reader) - place_of(channels[in.from].writer);
      across_columns += d.x != 0;
      across_rows += d.y != 0;
    }
    const bool by_rows = plan_.width() == 1 || (plan_.height() > 1 && across_rows <= across_columns);
    bands = least(bands, static_cast<u32>(by_rows ? plan_.height() : plan_.width()));
    share_out(by_rows);
    for (inlet& in : inlets) sew(in);
  }

  void sew(inlet& in) {
    const u8 to = member(in.reader).band, from = member(channels[in.from].writer).band;
    if (from == to) return;
    const channel& c = channels[in.from];
    seams.push_back({.channel = in.from, .writer = c.writer, .writers_band = from, .readers_band = to, .direct = !machine_depth_ && !c.listed && c.writer < pes_.size()});
    in.from = static_cast<u32>(seams.size()) - 1;
    in.remote = true;
  }

  // Whole rows or columns, so that every band has about as many PEs with a program.
  void share_out(bool by_rows) {
    const auto line_of = [&](coord c) { return static_cast<std::size_t>(by_rows ? c.y : c.x); };
    flat_vector<std::size_t> load(static_cast<std::size_t>(by_rows ? plan_.height() : plan_.width()));
    for (u32 i = 0; i < pes_.size(); ++i) ++load[line_of(pes_[i].at())];
    flat_vector<u8> band_of_line(load.size());
    std::size_t before = 0;
    for (std::size_t k = 0; k < load.size(); before += load[k++])
      band_of_line[k] = static_cast<u8>(least<std::size_t>(before * bands / pes_.size(), bands - 1));
    for (u32 w = 0; w < writers(); ++w) member(w).band = band_of_line[line_of(place_of(w))] & (most_bands - 1);
  }


  tiles& pes_;
  const layout& plan_;
  deliveries& routes_;
  bool machine_depth_;
  u32 pes_per_band_;
  flat_vector<delivery> delivered_;
};

}  // namespace wsl::engines
