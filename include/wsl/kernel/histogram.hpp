// SPDX-License-Identifier: MIT
// A histogram whose buckets lie on all PEs of a wafer. A value travels to the PE of its bucket, first along
// its column and then along a row. A PE sends what lies to the south, or to the east, on one color, and what
// lies to the north, or to the west, on another; words of all PEs of a line merge on their way. A word passes
// all routers to the end of its line, and a filter in front of each processor compares the word's index with
// the PE's row, or column, so that only the PE to which it belongs takes it. Marks on the same colors, which
// therefore come behind the words, tell a PE that no more words come. A line is divided into groups, about as
// many as a group has PEs. When a PE's words have left, and its neighbor behind has told it so of the group's
// PEs before it, it tells the next one; the last of a group tells the first PEs of all groups ahead, and
// those their own groups, from PE to PE. So a long line is done soon after its last word: a mark passes a
// group's tasks, and the routers of all others.
//   wafer_histogram<{.values = 100, .buckets = 64, .passing = 300}> h(8, 8, wse2, timed{});
//   h(values, counts);
// Nothing waits for anything but the fabric, and a PE takes each word into its memory, so words of opposite
// directions do not block each other. (CSL's example histogram-torus passes values from PE to PE around rings
// instead, by a task at each; examples/56_histogram.cpp does so, too.)
#pragma once
#include <algorithm>
#include <bit>
#include <span>

#include "../layout/filters.hpp"
#include "../program/counted.hpp"
#include "../support/bad_argument.hpp"
#include "../support/text.hpp"
#include "../wsl.hpp"

namespace wsl {

/// A PE has room for so many values, which are numbers of buckets; it has so many buckets of the whole
/// histogram (a power of two), and room for the values that come to its row by its column and go on to
/// another PE of the row. If values are spread evenly, these are about as many as its own.
struct histogram_shape {
  int values, buckets, passing;
};

namespace detail {

template <histogram_shape shape>
class wafer_histogram_pe {
  static_assert(shape.values > 0 && shape.passing > 0 && shape.values < 32768 && shape.passing < 32768,
                "wsl: a PE of a histogram has room for at least one value, and one that turns, and for fewer "
                "than 32768 of each: they are counted in 16 bits");
  static_assert(shape.buckets > 0 && shape.buckets <= 2048 && (shape.buckets & (shape.buckets - 1)) == 0,
                "wsl: a PE of a histogram has a power of two of buckets, 2048 at most");
  // On its way along a column a word is the row, the upper 5 bits of the column, its other 5 bits, and the
  // bucket; then the column and the bucket.
  using word = halves<u16>;
  static constexpr int bits_of_bucket = 11, bits_of_column = 10, upper_bits = 5;
  static constexpr color<word> south_{0}, north_{1}, east_{2}, west_{3};
  // No PE has this column, no value these buckets: such a word is a mark.
  static constexpr u16 no_column = (1 << bits_of_column) - 1, mark_of_row = 0xfffd;

 public:
  static constexpr int widest = no_column, highest = 65536 >> upper_bits;

  static layout plan(const machine& target, int wide, int high) {
    layout l{target, wide, high};
    l.place<wafer_histogram_pe>(all);
    wire(l, south_, south, high, 1 << upper_bits), wire(l, north_, north, high, 1 << upper_bits);
    wire(l, east_, east, wide, 1), wire(l, west_, west, wide, 1);
    return l;
  }

  /// The host gives a PE its values, the numbers of their buckets in the whole histogram; and takes counts.
  void load(std::span<const u32> values) {
    given_ = static_cast<int>(values.size());
    std::copy(values.begin(), values.end(), value_);
    std::fill_n(count_, shape.buckets, 0u);
    ahead_ = back_ = 0;
    for (direction& d : directions_) d = {};
    has_begun_ = has_turned_ = is_complete_ = false;
  }
  std::span<const u32> counts() const { return {count_, std::size_t{shape.buckets}}; }
  bool is_complete() const { return is_complete_; }

  void start(pe& me) {
    directions_[0].begin(me.y(), me.height()), directions_[1].begin(me.height() - 1 - me.y(), me.height());
    directions_[2].begin(me.x(), me.width()), directions_[3].begin(me.width() - 1 - me.x(), me.width());
    int south = 0, north = 0;
    for (counted<i16> k = i16{0}; k < static_cast<i16>(given_); ++k) {
      const counted<u32> value = value_[k.value()], wide = static_cast<u32>(me.width());
      load(1);
      const counted<u32> at = value >> std::countr_zero(u32{shape.buckets}), y = at / wide, x = at - y * wide;
      const counted<u16> bucket = (value & counted<u32>(u32{shape.buckets - 1})).template as<u16>(),
                         column = x.template as<u16>(), row = y.template as<u16>();
      if (row == static_cast<u16>(me.y())) {
        turn(me, column, bucket);
        continue;
      }
      const word w{((column << bits_of_bucket) | bucket).value(),
                   ((row << upper_bits) | (column >> (bits_of_column - upper_bits))).value()};
      out_[row > static_cast<u16>(me.y()) ? south++ : shape.values - ++north] = w;
      load(2);  // and the number of words
    }
    send<0>(me, mem(out_).part(0, south));
    send<1>(me, mem(out_).part(shape.values - north, north));
    has_begun_ = true;
    go_on(me);
  }

 private:
  /// The routes of a line of n PEs in one direction; a PE takes `kept` indexes, from its place times `kept`
  /// on.
  static void wire(layout& l, color<word> c, port to, int n, int kept) {
    const bool in_row = to == east || to == west, ahead = to == east || to == south;
    const auto places = [&](int from, int until) {
      return in_row ? columns(from, until) : area{rows(from, until)};
    };
    const auto keeps = [&](int from) {
      return range_filter{.first = from * kept,
                          .last = from * kept + kept - 1,
                          .per_column = in_row ? kept : 0,
                          .per_row = in_row ? 0 : kept};
    };
    if (n == 1) return void(l.path(c, region{}, ramp >> ramp));
    const int first = ahead ? 0 : n - 1, last = ahead ? n - 1 : 0;
    l.path(c, places(first, first + 1), ramp >> to);
    if (n > 2) l.path(c, places(1, n - 1), (ramp | opposite(to)) >> (ramp | to), merges, keeps(1));
    l.path(c, places(last, last + 1), opposite(to) >> ramp, keeps(last));
  }

  /// Charges numbers that are read from a plain array, or written.
  static void load(int n) {
    for (; n > 0; --n) execute(instruction::simple);
  }

  enum mark : u16 {
    own_group,       ///< the words of the PEs before this one, of its group, have been sent
    earlier_groups,  ///< and those of the groups before it
    whole_group      ///< to a group's first PE: the words of some group before it have been sent
  };
  static constexpr int group_of(int n) {
    int g = 1;
    while (g * g < n) ++g;
    return g;
  }
  static constexpr int most_marks = group_of(highest) + 1;

  /// A line in one direction, as a PE knows it.
  struct direction {
    int place = 0, length = 1, size = 1;  ///< the PE's number on the line, the PEs of the line, of a group
    int group = 0, heard_groups = 0;
    bool is_first = true, is_last = true;  ///< of its group
    bool has_heard_own = false, has_heard_earlier = false, has_told_own = false, has_told_earlier = false;
    bool has_begun = false, is_sending = false, has_sent = false;  ///< its own words
    word marks[std::size_t{most_marks}]{};

    void begin(int at, int n) {
      place = at, length = n, size = group_of(n), group = at / size;
      is_first = at % size == 0, is_last = at % size == size - 1 || at == n - 1;
      execute(instruction::divide);
    }
    void hear(u16 what) {
      if (what == own_group) has_heard_own = true;
      else if (what == earlier_groups) has_heard_earlier = true;
      else ++heard_groups;
    }
    bool knows_earlier() const { return is_first ? heard_groups == group : has_heard_earlier; }
    bool knows_own() const { return is_first || has_heard_own; }
    /// Whether no more words come.
    bool is_done() const { return knows_earlier() && knows_own(); }
  };
  template <int at>
  static constexpr color<word> colors() {
    constexpr color<word> all_of_them[]{south_, north_, east_, west_};
    return all_of_them[at];
  }
  /// Sends this PE's words, and marks behind them.
  template <int at>
  void send(pe& me, memory<word> words) {
    direction& d = directions_[at];
    d.has_begun = d.has_sent = true;
    if (words.length() == 0) return send_marks<at>(me);
    d.has_sent = false, d.is_sending = true;
    me.async(mov(fabout(colors<at>()), words), then<&wafer_histogram_pe::sent<at>>());
  }
  template <int at>
  void sent(pe& me) {
    directions_[at].has_sent = true, directions_[at].is_sending = false;
    send_marks<at>(me);
  }
  template <int at>
  void hear(pe& me, u16 what) {
    directions_[at].hear(what);
    send_marks<at>(me);
    go_on(me);
  }
  /// Tells those ahead what has become known; later, if words or marks are still leaving.
  template <int at>
  void send_marks(pe& me) {
    direction& d = directions_[at];
    if (!d.has_begun || d.is_sending) return;
    int n = 0;
    const auto tell = [&](mark what, int place) { d.marks[n++] = mark_for(me, at, what, place); };
    if (!d.has_told_own && d.has_sent && d.knows_own()) {
      d.has_told_own = true;
      if (!d.is_last) tell(own_group, d.place + 1);
      else
        for (int first = (d.group + 1) * d.size; first < d.length; first += d.size) tell(whole_group, first);
    }
    if (!d.has_told_earlier && d.knows_earlier()) {
      d.has_told_earlier = true;
      if (!d.is_last) tell(earlier_groups, d.place + 1);
    }
    if (n == 0) return;
    load(n);
    d.is_sending = true;
    me.async(mov(fabout(colors<at>()), mem(d.marks).part(0, n)), then<&wafer_histogram_pe::sent<at>>());
  }
  static word mark_for(const pe& me, int at, u16 what, int place) {
    const int n = at < 2 ? me.height() : me.width(), there = at % 2 ? n - 1 - place : place;
    if (at >= 2) return {static_cast<u16>(mark_of_row + what), static_cast<u16>(there)};
    return {static_cast<u16>((no_column << bits_of_bucket & 0xffff) | what),
            static_cast<u16>(there << upper_bits | no_column >> (bits_of_column - upper_bits))};
  }
  void go_on(pe& me) {
    if (has_begun_ && !has_turned_ && directions_[0].is_done() && directions_[1].is_done()) {
      has_turned_ = true;
      send<2>(me, mem(turned_).part(0, ahead_));
      send<3>(me, mem(turned_).part(shape.passing - back_, back_));
    }
    is_complete_ = has_turned_ && directions_[2].is_done() && directions_[3].is_done();
  }

  /// A word of this PE's row, from its column.
  template <int at>
  void arrive(pe& me, u16 data, u16 index) {
    const counted<u16> from = index, rest = data,
                       column = ((from & counted<u16>(u16{(1 << upper_bits) - 1}))
                                 << (bits_of_column - upper_bits)) |
                                (rest >> bits_of_bucket);
    const counted<u16> bucket = rest & counted<u16>(u16{(1 << bits_of_bucket) - 1});
    if (column == no_column) return hear<at>(me, bucket.value());
    turn(me, column, bucket);
  }
  template <int at>
  void arrive_in_row(pe& me, u16 bucket, u16) {
    if (counted<u16>(bucket) >= mark_of_row) return hear<at>(me, static_cast<u16>(bucket - mark_of_row));
    count(bucket);
  }
  void turn(pe& me, const counted<u16>& column, const counted<u16>& bucket) {
    if (column == static_cast<u16>(me.x())) return count(bucket.value());
    if (ahead_ + back_ == shape.passing) no_room(me);
    const bool to_the_east = column > static_cast<u16>(me.x());
    turned_[to_the_east ? ahead_++ : shape.passing - ++back_] = {bucket.value(), column.value()};
    load(4);  // and the number of words
  }
  void count(u16 bucket) {
    counted<u32> n = count_[bucket];
    ++n;
    count_[bucket] = n.value();
    load(2);
  }

  [[noreturn]] static void no_room(const pe& me) {
    throw fault(support::joined({"wsl: ", text_of(me.at()), " of a histogram has room for ", shape.passing,
                                 " values that pass from its column to its row, and more come: give it more "
                                 "(.passing)"}));
  }

  u32 value_[std::size_t{shape.values}]{}, count_[std::size_t{shape.buckets}]{};
  word out_[std::size_t{shape.values}]{}, turned_[std::size_t{shape.passing}]{};
  direction directions_[4];
  int given_ = 0, ahead_ = 0, back_ = 0;
  bool has_begun_ = false, has_turned_ = false, is_complete_ = false;

  template <int at>
  using sent_to = local<&wafer_histogram_pe::sent<at>>;

 public:
  using tasks =
      task_list<launch<&wafer_histogram_pe::start>, numbered<4, sent_to>,
                on<south_, &wafer_histogram_pe::arrive<0>>, on<north_, &wafer_histogram_pe::arrive<1>>,
                on<east_, &wafer_histogram_pe::arrive_in_row<2>>,
                on<west_, &wafer_histogram_pe::arrive_in_row<3>>, sends<south_, north_, east_, west_>>;
};

}  // namespace detail

/// A histogram over all PEs of a grid: bucket b is bucket b % shape.buckets of PE b / shape.buckets, row
/// after row.
template <histogram_shape shape>
class wafer_histogram {
  using program = detail::wafer_histogram_pe<shape>;

 public:
  /// The bytes of a PE's SRAM that the program takes.
  static constexpr int bytes = program_v<program>.bytes;

  /// Throws std::invalid_argument for a grid of more than 1023 columns or 2048 rows, and fault if the machine
  /// is too small for the grid or its PEs for the histogram.
  template <class Engine = threaded>
  wafer_histogram(int wide, int high, const machine& target = wse2, const Engine& engine = {})
      : wide_(checked(wide, high)), high_(high), fabric_(program::plan(target, wide, high), engine) {}

  std::size_t buckets() const { return pes() * std::size_t{shape.buckets}; }
  std::size_t most_values() const { return pes() * std::size_t{shape.values}; }

  /// `counts` gets the number of values in each of the buckets; a value is the number of its bucket. The
  /// values are distributed over the PEs in equal parts. Throws std::invalid_argument if there are more than
  /// the PEs have room for, or one is no bucket's, and fault if more values pass a PE than it has room for.
  outcome operator()(std::span<const u32> values, std::span<u32> counts) {
    if (values.size() > most_values() || counts.size() != buckets())
      support::bad_argument({"this histogram has ", buckets(), " buckets and room for ", most_values(),
                             " values, not ", counts.size(), " and ", values.size()});
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] >= buckets())
        support::bad_argument(
            {"value ", i, " is ", values[i], ", and the histogram has ", buckets(), " buckets"});
    const std::size_t all_pes = pes();
    for (std::size_t p = 0; p < all_pes; ++p) {
      const std::size_t from = values.size() * p / all_pes, to = values.size() * (p + 1) / all_pes;
      at(p).load(values.subspan(from, to - from));
    }
    const outcome done = fabric_.template launch<&program::start>(all);
    for (std::size_t p = 0; p < all_pes; ++p)
      std::copy_n(at(p).counts().data(), shape.buckets, counts.data() + p * std::size_t{shape.buckets});
    return done;
  }
  /// Whether each PE has found that its counts are complete, so that a program could go on.
  bool is_complete() {
    for (std::size_t p = 0; p < pes(); ++p)
      if (!at(p).is_complete()) return false;
    return true;
  }

 private:
  static int checked(int wide, int high) {
    if (wide < 1 || high < 1 || wide > program::widest || high > program::highest)
      support::bad_argument({"a histogram is on 1 x 1 to ", program::widest, " x ", program::highest,
                             " PEs, not on ", wide, " x ", high});
    return wide;
  }
  std::size_t pes() const { return static_cast<std::size_t>(wide_) * static_cast<std::size_t>(high_); }
  program& at(std::size_t p) {
    const int n = static_cast<int>(p);
    return fabric_.template program_at<program>({n % wide_, n / wide_});
  }

  int wide_, high_;
  fabric fabric_;
};

}  // namespace wsl
