// SPDX-License-Identifier: MIT
// The graph over which words travel: the channels and cursors of a layout, and the partitions of its PEs. The
// cuts run across the axis that fewer words cross.
#pragma once
#include <bit>
#include <span>
#include <utility>

#include "../../support/min_max.hpp"
#include "../pe_core.hpp"
#include "../resolved_routes.hpp"
#include "../schedule.hpp"
#include "../tiles.hpp"
#include "partition.hpp"
#include "switched_routers.hpp"

namespace wsl::engines {

/// The end of a host stream at one PE of the grid's edge. To the engine it is one more writer or reader,
/// numbered after the PEs.
struct stream_end {
  coord at;
  int color = 0;
  port side = port::west;
  bool inbound = true;
  u32 first_channel = 0, first_cursor = 0;
  support::flat_queue<u32> words;
};

/// How the grid is cut into partitions, see `threaded`.
struct partitioning {
  u32 pes = 256;           ///< of a partition, about
  bool cut_lines = false;  ///< within rows or columns, if there are fewer of these
  /// an array for several readers goes from memory to memory as well, if all are in other partitions
  bool grants_multicasts = true;
  /// the group of each place of the grid, row by row: PEs of two groups are never in one partition; empty:
  /// all are of one group
  support::flat_vector<u16> groups = {};
};

struct topology {
  static constexpr u32 deep = large_buffer / 2;
  /// The list of a listed channel begins with the number of its cursors; then stand the number of its links,
  /// the number of readers that have not read all that they were told of, and the cursors.
  static constexpr u32 links = 1, behind = 2, first_listed = 3;

  support::flat_vector<channel> channels;  ///< ordered by writer
  /// by channel, the number of words that may lie between writer and reader; empty if all are deep
  support::flat_vector<u16> depths;
  support::flat_vector<cursor> cursors;  ///< ordered by reader, color and writer
  support::flat_vector<cut_edge> cut_edges;
  /// of each listed channel, the number of cursors, the number of links, and the cursors
  support::flat_vector<u32> lists;
  support::flat_vector<stream_end> streams;
  switched_routers switched;             ///< one more kind of reader and writer, numbered after the streams
  support::flat_vector<visited> visits;  ///< by number: PEs, streams, switched routers
  u32 partitions = 1;

  topology(const layout& plan, resolved_routes& routes, tiles& pes, depth how_deep, const partitioning& by)
      : switched(plan),
        pes_(pes),
        plan_(plan),
        routes_(routes),
        machine_depth_(how_deep == depth::machine),
        partitioning_(by) {
    for (const stream_record& s : plan.streams())
      for (int i = 0; i < s.where.count(); ++i)
        streams.push_back({s.where.nth(i), s.color, s.side, s.inbound, 0, 0, {}});
    if (writers() > most_writers)
      throw fault("wsl: the threaded engine has at most " + std::to_string(most_writers) +
                  " PEs and streams, not " + std::to_string(writers()) + ": use a smaller grid");
    visits = support::flat_vector<visited>(writers());
    reserve();
    for (u32 i = 0; i < pes_.size(); ++i) open_channels(i);
    for (u32 k = 0; k < streams.size(); ++k) {
      streams[k].first_channel = opened_;
      if (streams[k].inbound)
        open_channel(static_cast<u32>(pes_.size()) + k, streams[k].at, streams[k].side, streams[k].color);
    }
    for (u32 j = 0; j < switched.size(); ++j) open_channels(first_switched_router() + j, switched[j]);
    sort_cursors();
    cut();
    pes_.set_windows(channels.data(), cursors.data());
  }

  topology(const topology&) = delete;
  topology& operator=(const topology&) = delete;

  u32 first_switched_router() const { return static_cast<u32>(pes_.size() + streams.size()); }
  u32 writers() const { return first_switched_router() + switched.size(); }
  stream_end& stream_of(u32 who) { return streams[who - pes_.size()]; }
  switched_router& switched_router_of(u32 who) { return switched[who - first_switched_router()]; }
  const switched_router& switched_router_of(u32 who) const { return switched[who - first_switched_router()]; }
  /// The channels and cursors of a PE, stream or switched_router.
  static std::span<channel> channels_of(const pe_state& s) {
    return {static_cast<channel*>(s.send_windows()), s.image->slots};
  }
  static channel& channel_of(const pe_state& s, int color) {
    return static_cast<channel&>(s.window_of(color));
  }
  std::span<channel> channels_of(u32 who) {
    if (who < pes_.size()) return channels_of(state_of(pes_[who]));
    if (who >= first_switched_router()) {
      const switched_router& c = switched_router_of(who);
      return {channels.data() + c.first_channel, static_cast<std::size_t>(std::popcount(c.outputs.bits))};
    }
    const stream_end& s = streams[who - pes_.size()];
    return {channels.data() + s.first_channel, s.inbound};
  }
  static std::span<cursor> cursors_of(const pe_state& s) {
    return {static_cast<cursor*>(s.receive_windows()), static_cast<cursor*>(s.end_of_receive_windows())};
  }
  std::span<cursor> cursors_of(u32 who) {
    if (who < pes_.size()) return cursors_of(state_of(pes_[who]));
    return {cursors.data() + first_cursor(who),
            cursors.data() + (who + 1 < writers() ? first_cursor(who + 1) : cursors.size())};
  }

  /// The numbers of a channel's cursors.
  std::span<const u32> readers_of(const channel& c) const {
    if (!c.listed) return {&c.first_reader, 1};
    return {lists.data() + c.first_reader + first_listed, lists[c.first_reader]};
  }

  coord place_of(u32 who) const {
    if (who < pes_.size()) return pes_[who].at();
    return who < first_switched_router() ? streams[who - pes_.size()].at : switched_router_of(who).at;
  }

  // ---- while it is built ------------------------------------------------------------------------

  /// The channel of a writer whose words enter the router at `at` through a port, after some links.
  void open_channel(u32 writer, coord at, port through, int color, u32 links_before = 0) {
    const u32 id = opened_++;
    channel& c = channels[id];
    c.writer = writer & (most_writers - 1);
    u32 readers = 0, room = deep;
    const auto deliver = [&](u32 reader, u32 between, int as, port entered = ramp) {
      ++readers;
      room = support::min(room, between);
      delivered_.push_back({reader, id, static_cast<u8>(as), static_cast<u8>(index_of(entered))});
    };
    const auto stops = [&](coord to, port entered, int as) {
      const u32 j = switched.find(to, as);
      if (j != switched_routers::none)
        deliver(first_switched_router() + j, room_between(writer, at, to, color), as, entered);
      return j != switched_routers::none;
    };
    const auto to_ramp = [&](coord to, int as) {
      if (pe* p = pes_.find(to)) deliver(state_of(*p).index, room_between(writer, at, to, color), as);
    };
    const auto to_edge = [&](coord to, port side, int as) { deliver(stream_at(to, as, side), deep, as); };
    const u32 crossed =
        links_before + static_cast<u32>(routes_.follow(at, through, color, stops, to_ramp, to_edge));
    if (machine_depth_) depths.push_back(static_cast<u16>(room));
    c.listed = readers != 1 || crossed > 0xffff;
    c.links = static_cast<u16>(crossed);
    if (!c.listed) return;
    c.first_reader = static_cast<u32>(lists.size());
    lists.push_back(0);  // a placeholder until the cursors are sorted
    lists.push_back(crossed);
    lists.push_back(0);  // nothing has been sent
    for (; readers; --readers) lists.push_back(0);
  }

  /// The channels of a switched router, one for each of its outputs.
  [[gnu::cold]] void open_channels(u32 writer, switched_router& from) {
    from.first_channel = opened_;
    for (port out : every_port) {
      const coord next = from.at + step(out);
      if (!from.outputs.has(out)) continue;
      if (out != ramp && plan_.has(next)) {
        open_channel(writer, next, opposite(out), from.color, 1);
        continue;
      }
      pe* p = out == ramp ? pes_.find(from.at) : nullptr;
      open_output(writer, from, p ? state_of(*p).index : stream_at(from.at, from.color, out), out == ramp);
    }
  }
  /// The channel from a switched router to the PE or stream beside it.
  void open_output(u32 writer, const switched_router& from, u32 reader, bool to_ramp) {
    const u32 id = opened_++;
    channel& c = channels[id];
    c.writer = writer & (most_writers - 1);
    c.links = !to_ramp;
    if (machine_depth_)
      depths.push_back(static_cast<u16>(to_ramp ? room_between(writer, from.at, from.at, from.color) : deep));
    delivered_.push_back({reader, id, static_cast<u8>(from.color), 0});
  }

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

  u32& first_cursor(u32 who) {
    if (who < pes_.size()) return state_of(pes_[who]).first_receive_window;
    return who < first_switched_router() ? streams[who - pes_.size()].first_cursor
                                         : switched_router_of(who).first_cursor;
  }

  // The sizes are exact because the lists of a wafer are large.
  void reserve() {
    std::size_t n = 0;
    for (const stream_end& s : streams) n += s.inbound;
    for (u32 j = first_switched_router(); j < writers(); ++j)
      n += static_cast<std::size_t>(std::popcount(switched_router_of(j).outputs.bits));
    for (std::size_t i = 0; i < pes_.size(); ++i)
      n += static_cast<std::size_t>(std::popcount(state_of(pes_[i]).image->present));
    channels = support::flat_vector<channel>(n);
    depths.reserve(machine_depth_ ? n : 0);
  }

  void open_channels(u32 i) {
    pe_state& s = state_of(pes_[i]);
    s.first_send_window = window_index{opened_};
    for (u64 left = s.image->present; left; left &= left - 1)
      open_channel(i, {s.x, s.y}, ramp, std::countr_zero(left));
  }

  // The machine holds words in the sender's output queue, in each router on the way, and in the receiver's
  // input queue.
  u32 room_between(u32 writer, coord from, coord to, int color) const {
    if (!machine_depth_) return deep;
    const machine& m = plan_.machine();
    const int routers = 1 + std::abs(to.x - from.x) + std::abs(to.y - from.y);
    int room = m.router_depth * routers;
    if (writer < pes_.size()) room += output_depth(*state_of(pes_[writer]).image, m, color) - m.router_depth;
    if (switched.find(to, color) == switched_routers::none || from == to)
      if (pe* p = pes_.find(to)) room += input_depth(*state_of(*p).image, m, color);
    return static_cast<u32>(room);
  }

  // A counting sort by reader: the records in `delivered_` are ordered by writer, and each reader's cursors
  // keep that order. Until all are placed, the first cursor of a reader is the place of its next one.
  void sort_cursors() {
    support::flat_vector<u32> filled(writers());
    for (const delivery& d : delivered_) ++filled[d.reader];
    for (u32 r = 0, before = 0; r < writers(); ++r) {
      first_cursor(r) = before;
      before += std::exchange(filled[r], 0);
      if (r + 1 == pes_.size()) state_of(pes_[r + 1]).first_receive_window = before;
    }
    cursors = support::flat_vector<cursor>(delivered_.size());
    for (const delivery& d : delivered_)
      insert(d, cursors.data() + first_cursor(d.reader), filled[d.reader]++);
    delivered_ = {};
    name_readers();
  }

  // The cursors of one reader are ordered by color.
  static void insert(const delivery& d, cursor* of_reader, u32 filled) {
    for (; filled > 0 && of_reader[filled - 1].color > d.color; --filled)
      of_reader[filled] = of_reader[filled - 1];
    cursor& in = of_reader[filled];
    in.from = d.channel, in.reader = d.reader, in.color = d.color, in.port = d.port & 7;
  }

  void name_readers() {
    for (u32 i = 0; i < cursors.size(); ++i) {
      channel& c = channels[cursors[i].from];
      if (c.listed) lists[c.first_reader + first_listed + lists[c.first_reader]++] = i;
      else c.first_reader = i;
    }
  }

  void cut() {
    partitions =
        support::min(support::max(static_cast<u32>(pes_.size() / support::max(1u, partitioning_.pes)), 1u),
                     max_partitions);
    if (partitions == 1 && partitioning_.groups.empty()) return;
    u64 across_columns = 0, across_rows = 0;
    for (const cursor& in : cursors) {
      const coord d = place_of(in.reader) - place_of(channels[in.from].writer);
      across_columns += d.x != 0;
      across_rows += d.y != 0;
    }
    const bool by_rows = plan_.width() == 1 || (plan_.height() > 1 && across_rows <= across_columns);
    const u32 lines = static_cast<u32>(by_rows ? plan_.height() : plan_.width());
    const bool cuts_lines = partitioning_.cut_lines && partitions > lines;
    if (!cuts_lines) partitions = support::min(partitions, lines);
    share_out(by_rows, cuts_lines);
    // With fewer pieces there is room for the cuts between groups.
    while (!separate_groups()) {
      if (--partitions == 0)
        throw fault("wsl: the grid is placed on more than " + std::to_string(max_partitions) +
                    " ranks, and has at most so many partitions: place it on fewer");
      share_out(by_rows, cuts_lines && partitions > lines);
    }
    for (cursor& in : cursors) cut(in);
    if (!partitioning_.grants_multicasts || machine_depth_) return;
    for (const channel& c : channels)
      if (c.listed && c.writer < pes_.size() && all_cross(c))
        for (const u32 r : readers_of(c)) cut_edges[cursors[r].from].direct = true;
  }
  bool all_cross(const channel& c) const {
    bool all = true;
    for (const u32 r : readers_of(c)) all &= cursors[r].crosses;
    return all;
  }

  /// Gives a cursor that reads from another partition its cut edge.
  void cut(cursor& in) {
    const u8 to = visits[in.reader].partition, from = visits[channels[in.from].writer].partition;
    if (from == to) return;
    const channel& c = channels[in.from];
    cut_edges.push_back({.channel = in.from,
                         .writer = c.writer,
                         .writers_partition = from,
                         .readers_partition = to,
                         .direct = !machine_depth_ && !c.listed && c.writer < pes_.size()});
    in.from = static_cast<u32>(cut_edges.size()) - 1;
    in.set(cursor::remote, true);
    in.crosses = true;
  }

  // Cuts between whole rows or columns, or between PEs in the order of these, so that every partition has
  // about the same number of PEs with a program.
  void share_out(bool by_rows, bool cuts_lines) {
    const int width = plan_.width(), height = plan_.height(),
              length = !cuts_lines ? 1
                       : by_rows   ? width
                                   : height;
    const auto piece_of = [&](coord c) {
      const int line = by_rows ? c.y : c.x, place = by_rows ? c.x : c.y;
      return static_cast<std::size_t>(line * length + (cuts_lines ? place : 0));
    };
    support::flat_vector<std::size_t> load(static_cast<std::size_t>((by_rows ? height : width) * length));
    for (u32 i = 0; i < pes_.size(); ++i) ++load[piece_of(pes_[i].at())];
    support::flat_vector<u8> partition_of_piece(load.size());
    std::size_t before = 0;
    for (std::size_t k = 0; k < load.size(); before += load[k++])
      partition_of_piece[k] =
          static_cast<u8>(support::min<std::size_t>(before * partitions / pes_.size(), partitions - 1));
    for (u32 w = 0; w < writers(); ++w)
      visits[w].partition = partition_of_piece[piece_of(place_of(w))] & (max_partitions - 1);
  }

  /// Cuts the partitions that have PEs of several groups, in the order of the partitions and of the groups.
  /// Returns false, and leaves them as they are, if that makes too many.
  bool separate_groups() {
    if (partitioning_.groups.empty()) return true;
    const auto key_of = [&](u32 w) {
      const coord c = place_of(w);
      const auto place = static_cast<std::size_t>(c.y) * static_cast<std::size_t>(plan_.width()) +
                         static_cast<std::size_t>(c.x);
      return u32{visits[w].partition} << 16 | partitioning_.groups[place];
    };
    u32 keys[max_partitions], count = 0;  // in ascending order
    const auto place_of_key = [&](u32 key) {
      u32 k = 0;
      while (k < count && keys[k] < key) ++k;
      return k;
    };
    for (u32 w = 0; w < writers(); ++w) {
      const u32 key = key_of(w), at = place_of_key(key);
      if (at < count && keys[at] == key) continue;
      if (count == max_partitions) return false;
      for (u32 k = count++; k > at; --k) keys[k] = keys[k - 1];
      keys[at] = key;
    }
    for (u32 w = 0; w < writers(); ++w)
      visits[w].partition = static_cast<u8>(place_of_key(key_of(w))) & (max_partitions - 1);
    partitions = count;
    return true;
  }

  tiles& pes_;
  const layout& plan_;
  resolved_routes& routes_;
  bool machine_depth_;
  partitioning partitioning_;
  u32 opened_ = 0;  // the number of channels opened so far
  support::flat_vector<delivery> delivered_;
};

}  // namespace wsl::engines
