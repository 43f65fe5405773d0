// SPDX-License-Identifier: MIT
#include "trace_summary.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <wsl/support/text.hpp>

#include "wait_words.hpp"

namespace view {

using nlohmann::json;
using wsl::engines::trace_tag;
using wsl::support::joined;

namespace {

constexpr auto longest32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t no_name = 0xffff;

std::string with_commas(std::uint64_t n) {
  std::string t = std::to_string(n);
  for (std::size_t at = t.size(); at > 3;) t.insert(at -= 3, ",");
  return t;
}

}  // namespace

void trace_options::only(const std::string& cycles) {
  const char *at = cycles.data(), *end = at + cycles.size();
  const auto first = std::from_chars(at, end, from);
  const bool comes = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto second = comes ? std::from_chars(first.ptr + 1, end, to) : first;
  if (!comes || second.ec != std::errc{} || second.ptr != end || from >= to)
    throw std::invalid_argument("--cycles is \"" + cycles +
                                "\"; it is the first cycle and the one behind the last, as 1000:2000");
}

trace_summary::trace_summary(const std::string& file, const trace_options& how)
    : file_(file),
      layout_(file_.layout_text(), file),
      width_(layout_.plan().width()),
      height_(layout_.plan().height()) {
  constexpr std::uint64_t most_pes = 64'000'000;
  const auto pes = static_cast<std::uint64_t>(width_) * static_cast<std::uint64_t>(height_);
  if (pes > most_pes)
    throw std::invalid_argument(
        joined({file, ": its grid of ", width_, " x ", height_, " PEs is larger than a page can show (",
                most_pes, " PEs); trace a part of it"}));
  cut(how);
  const auto n = wide_ * high_;
  states_.resize(3 * n * bins_), links_.resize(4 * n * bins_), links_of_cell_.resize(4 * n),
      sums_.resize(pes);
  for (std::size_t k = 0; k < 4 * n; ++k) {
    // the links by which the PEs of the cell send: those to the next cell, and those inside
    const std::size_t cx = k / 4 % wide_, cy = k / 4 / wide_;
    const auto side = static_cast<std::size_t>(block_);
    const std::size_t w = std::min(side, static_cast<std::size_t>(width_) - cx * side);
    const std::size_t h = std::min(side, static_cast<std::size_t>(height_) - cy * side);
    links_of_cell_[k] = static_cast<std::uint32_t>(w * h);
  }
  most_details_ = how.most_details;
  // what is all of it and too much is not collected first
  has_details_ = most_details_ > 0 && bin_cycles_ * bins_ < longest32 &&
                 (from_ > file_.begin() || to_ < file_.end() || file_.records() <= most_details_ * 2);
  file_.read(width_, height_, *this);
  std::sort(details_.begin(), details_.end(), [](const single& a, const single& b) {
    return std::tie(a.pe, a.from, a.kind, a.thread, a.span) <
           std::tie(b.pe, b.from, b.kind, b.thread, b.span);
  });
  std::sort(word_details_.begin(), word_details_.end(), [](const single_words& a, const single_words& b) {
    return std::tie(a.pe, a.color, a.way, a.first) < std::tie(b.pe, b.color, b.way, b.first);
  });
}

void trace_summary::cut(const trace_options& how) {
  from_ = std::max(how.from, file_.begin()), to_ = std::min(how.to, std::max(file_.end(), file_.begin() + 1));
  if (from_ >= to_)
    throw std::invalid_argument("--cycles begins after the trace, whose last cycle is " +
                                std::to_string(file_.end()));
  const auto blocks = [](int length, int block) {
    return static_cast<std::size_t>((length + block - 1) / block);
  };
  while (blocks(width_, block_) * blocks(height_, block_) * least_bins > most_numbers) ++block_;
  wide_ = blocks(width_, block_), high_ = blocks(height_, block_);
  const std::uint64_t bins =
      std::min<std::uint64_t>({most_bins, most_numbers / (wide_ * high_), to_ - from_});
  bin_cycles_ = (to_ - from_ + bins - 1) / bins;
  bins_ = static_cast<std::size_t>((to_ - from_ + bin_cycles_ - 1) / bin_cycles_);
}

std::size_t trace_summary::cell_of(rank r) const {
  const auto w = static_cast<rank>(width_), b = static_cast<rank>(block_);
  return static_cast<std::size_t>(r / w / b) * wide_ + static_cast<std::size_t>(r % w / b);
}

/// Gives each bin its part of an amount that is spread evenly over some cycles: add(bin, part).
template <class Add>
void trace_summary::spread(std::uint64_t from, std::uint64_t to, std::uint64_t amount, Add add) const {
  const std::uint64_t first = std::max(from, from_), last = std::min(to, to_);
  if (first >= last) return;
  const auto all = static_cast<double>(to - from);
  for (std::uint64_t at = first; at < last;) {
    const auto bin = static_cast<std::size_t>((at - from_) / bin_cycles_);
    const std::uint64_t end = std::min(last, from_ + (bin + 1) * bin_cycles_);
    // differences of sums from the begin, so that rounding loses nothing
    const auto until = [&](std::uint64_t t) {
      return static_cast<std::uint64_t>(static_cast<double>(amount) * static_cast<double>(t - from) / all +
                                        0.5);
    };
    add(bin, until(end) - until(at));
    at = end;
  }
}

bool trace_summary::has_room_for_detail() {
  if (has_details_ && details_.size() + word_details_.size() >= most_details_)
    has_details_ = false, details_ = {}, word_details_ = {};
  return has_details_;
}

void trace_summary::event(const trace_event& e) {
  if (e.to <= from_ || e.from >= to_) return;
  ++events_;
  const std::size_t cell = cell_of(e.pe);
  pe_sums& sums = sums_[static_cast<std::size_t>(e.pe)];
  const auto add = [&](std::size_t k, std::uint64_t pe_sums::* sum, std::uint64_t cycles) {
    spread(e.from, e.to, cycles, [&](std::size_t bin, std::uint64_t part) {
      states_[3 * (bin * wide_ * high_ + cell) + k] += part;
      sums.*sum += part;
    });
  };
  if (e.what == trace_tag::busy)
    add(0, &pe_sums::computing, e.busy), sums.last = std::max(sums.last, std::min(e.to, to_));
  else if (e.what == trace_tag::starved) add(1, &pe_sums::starved, e.to - e.from);
  else if (e.what == trace_tag::held_up) add(2, &pe_sums::held_up, e.to - e.from);
  if (e.what == trace_tag::busy || !has_room_for_detail()) return;
  const bool named = e.what == trace_tag::task || e.what == trace_tag::operation;
  const std::uint64_t from = std::max(e.from, from_);
  details_.push_back({static_cast<std::uint32_t>(e.pe), static_cast<std::uint32_t>(from - from_),
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(e.to - from, longest32)),
                      named && e.name < no_name ? static_cast<std::uint16_t>(e.name) : no_name,
                      static_cast<std::uint8_t>(static_cast<int>(e.what) - static_cast<int>(trace_tag::task)),
                      static_cast<std::uint8_t>(e.thread)});
}

/// The words of a record that crossed within the cycles of the summary; they are at equal distances.
trace_words trace_summary::within(const trace_words& w) const {
  trace_words some = w;
  if (w.count < 2 || w.last == w.first) {
    some.count = w.first >= from_ && w.first < to_ ? w.count : 0;
    return some;
  }
  const double gap = static_cast<double>(w.last - w.first) / static_cast<double>(w.count - 1);
  const auto before = [&](std::uint64_t t) {  // the number of words before a time
    if (t <= w.first) return std::uint64_t{0};
    return std::min(w.count, static_cast<std::uint64_t>(std::ceil(static_cast<double>(t - w.first) / gap)));
  };
  const auto time = [&](std::uint64_t k) {
    return w.first + static_cast<std::uint64_t>(static_cast<double>(k) * gap + 0.5);
  };
  const std::uint64_t first = before(from_), end = before(to_);
  some.count = end - first;
  if (some.count) some.first = time(first), some.last = time(end - 1);
  return some;
}

void trace_summary::words(const trace_words& all) {
  const trace_words w = within(all);
  if (w.count == 0) return;
  words_ += w.count;
  const trace_pipe& p = file_.pipes()[w.pipe];
  for (const auto& [router, side] : p.links) {
    const std::size_t at = 4 * cell_of(router) + static_cast<std::size_t>(wsl::index_of(side) - 1);
    spread(w.first, w.last + 1, w.count,
           [&](std::size_t bin, std::uint64_t part) { links_[4 * bin * wide_ * high_ + at] += part; });
  }
  using kind = wsl::engines::trace_pipe;
  if ((p.what != kind::from_pe && p.what != kind::to_pe) || !has_room_for_detail()) return;
  word_details_.push_back({static_cast<std::uint32_t>(p.from),
                           static_cast<std::uint32_t>(std::max(w.first, from_) - from_),
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(w.last - w.first, longest32)),
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(w.count, longest32)),
                           static_cast<std::uint8_t>(p.color), p.what == kind::to_pe});
}

void trace_summary::wait(trace_wait w) {
  if (waits_.size() < most_waits) waits_.push_back(std::move(w));
  else ++waits_left_out_;
}

std::string trace_summary::sentence() const {
  const std::string part = from_ > file_.begin() || to_ < file_.end()
                               ? "Of cycles " + with_commas(from_) + " to " + with_commas(to_) + ": "
                               : "";
  std::string t = part + with_commas(events_) + " tasks, operations, stalls and busy times and " +
                  with_commas(words_) + " words over ramps and links are summed up in " +
                  std::to_string(bins_) + " bins of " + with_commas(bin_cycles_) +
                  (bin_cycles_ == 1 ? " cycle" : " cycles");
  if (block_ > 1) t += " and squares of " + std::to_string(block_) + " x " + std::to_string(block_) + " PEs";
  t += has_details_         ? "; each of them is there singly, too."
       : most_details_ == 0 ? "; single ones are not in this page."
                            : "; single ones are not in this page, because they are more than " +
                                  with_commas(most_details_) + ": choose fewer cycles with --cycles FROM:TO.";
  if (waits_left_out_)
    t += " Of what still waits, the first " + with_commas(waits_.size()) + " are shown, and " +
         with_commas(waits_left_out_) + " more are not.";
  return t;
}

std::vector<trace_summary::section> trace_summary::parts() const {
  const std::size_t n = wide_ * high_ * bins_, e = has_details_ ? details_.size() : 0,
                    w = has_details_ ? word_details_.size() : 0;
  std::vector<section> all{{"states", 3 * n}, {"links", 4 * n}, {"sums", 12 * sums_.size()}};
  if (has_details_)
    for (const section& p : {section{"event_pe", 4 * e},
                             {"event_from", 4 * e},
                             {"event_span", 4 * e},
                             {"event_name", 2 * e},
                             {"event_kind", e},
                             {"event_thread", e},
                             {"word_pe", 4 * w},
                             {"word_first", 4 * w},
                             {"word_span", 4 * w},
                             {"word_count", 4 * w},
                             {"word_color", w},
                             {"word_way", w}})
      all.push_back(p);
  return all;
}

std::string trace_summary::bytes() const {
  std::string all;
  const auto aligned = [&] { all.resize((all.size() + 3) / 4 * 4); };
  const auto number = [&](std::uint64_t n, int size) {
    for (int k = 0; k < size; ++k) all += static_cast<char>(n >> 8 * k);
  };
  // of many cycles, one is still seen
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<char>(part == 0 ? 0
                                       : std::clamp<std::uint64_t>((255 * part + whole / 2) / whole, 1, 255));
  };
  const std::size_t n = wide_ * high_;
  for (std::size_t k = 0; k < states_.size(); ++k)
    all += share(states_[k], bin_cycles_ * links_of_cell_[4 * (k / 3 % n)]);
  aligned();
  for (std::size_t k = 0; k < links_.size(); ++k)
    all += share(links_[k], bin_cycles_ * links_of_cell_[k % (4 * n)]);
  aligned();
  for (const pe_sums& s : sums_)
    for (const std::uint64_t cycles : {s.computing, s.starved, s.held_up})
      number(std::min<std::uint64_t>(cycles, longest32), 4);
  if (!has_details_) return all;
  const auto column = [&](const auto& list, auto of, int size) {
    for (const auto& item : list) number(of(item), size);
    aligned();
  };
  column(details_, [](const single& s) { return s.pe; }, 4);
  column(details_, [](const single& s) { return s.from; }, 4);
  column(details_, [](const single& s) { return s.span; }, 4);
  column(details_, [](const single& s) { return s.name; }, 2);
  column(details_, [](const single& s) { return s.kind; }, 1);
  column(details_, [](const single& s) { return s.thread; }, 1);
  column(word_details_, [](const single_words& s) { return s.pe; }, 4);
  column(word_details_, [](const single_words& s) { return s.first; }, 4);
  column(word_details_, [](const single_words& s) { return s.span; }, 4);
  column(word_details_, [](const single_words& s) { return s.count; }, 4);
  column(word_details_, [](const single_words& s) { return s.color; }, 1);
  column(word_details_, [](const single_words& s) { return s.way; }, 1);
  return all;
}

std::string trace_summary::meta() const {
  const auto xy = [&](rank r) {
    return json::array({r % static_cast<rank>(width_), r / static_cast<rank>(width_)});
  };
  json m{
      {"from", from_},          {"cycles", to_ - from_}, {"bins", bins_},        {"bin_cycles", bin_cycles_},
      {"block", block_},        {"wide", wide_},         {"high", high_},        {"details", has_details_},
      {"names", file_.names()}, {"ending", ending_},     {"summary", sentence()}};
  std::size_t at = 0;
  for (const section& p : parts()) {
    m["parts"].push_back({{"name", p.name}, {"at", at}, {"size", p.size}});
    at += (p.size + 3) / 4 * 4;
  }
  m["waits"] = waits_json(waits_, width_), m["chain"] = chain_json(chain_, width_);
  m["slowest"] = json::array();
  std::vector<rank> slowest(sums_.size());
  for (rank r = 0; r < slowest.size(); ++r) slowest[static_cast<std::size_t>(r)] = r;
  const auto sum = [&](rank r) -> const pe_sums& { return sums_[static_cast<std::size_t>(r)]; };
  const auto slower = [&](rank a, rank b) {
    return std::tuple{sum(b).computing, sum(b).last, a} < std::tuple{sum(a).computing, sum(a).last, b};
  };
  const std::size_t ten = std::min<std::size_t>(10, slowest.size());
  std::partial_sort(slowest.begin(), slowest.begin() + static_cast<std::ptrdiff_t>(ten), slowest.end(),
                    slower);
  for (std::size_t k = 0; k < ten; ++k)
    if (const pe_sums& s = sum(slowest[k]); s.computing)
      m["slowest"].push_back({{"x", xy(slowest[k])[0]},
                              {"y", xy(slowest[k])[1]},
                              {"computing", s.computing},
                              {"starved", s.starved},
                              {"held_up", s.held_up},
                              {"last", s.last}});
  // names come from a file
  return m.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace view
