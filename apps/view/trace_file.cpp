// SPDX-License-Identifier: MIT
#include "trace_file.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "stored_layout.hpp"

namespace view {

using wsl::engines::trace_tag;
using wsl::engines::trace_writer;

namespace {
constexpr std::string_view magic = trace_writer::magic;
constexpr std::uint64_t head = 16, sums = 3 * 8 + 8;
}  // namespace

void trace_file::refuse(const std::string& what) const { throw std::invalid_argument(name_ + ": " + what); }

trace_file::trace_file(std::string name) : name_(std::move(name)), buffer_(std::size_t{1} << 20) {
  if (!std::filesystem::is_regular_file(name_))
    refuse("there is no such file; a program on the timed engine writes one, run with WSL_TRACE=" +
           std::filesystem::path(name_).stem().string() + ".wtrace");
  size_ = std::filesystem::file_size(name_);
  in_.open(name_, std::ios::binary);
  if (!in_) refuse("it cannot be read");
  const std::string torn =
      "it ends in the middle, or is no trace: copy it again, or run the program again with WSL_TRACE";
  limit_ = std::min(size_, head);
  std::string first;
  while (first.size() < std::min<std::uint64_t>(magic.size(), size_)) first += static_cast<char>(byte());
  if (first.starts_with("WSLDUMP")) refuse("it is a dump: wsl-view dump and wsl-debug show it");
  if (first.starts_with('{'))
    refuse(
        "it is no file of wsl-view but one for Perfetto, or a layout: give WSL_TRACE a name that ends in "
        ".wtrace");
  if (first != magic) refuse("it is no trace: the timed engine writes one, with WSL_TRACE=run.wtrace");
  if (size_ < head + 1 + sums) refuse(torn);
  if (const std::uint64_t version = fixed(4); version != trace_writer::version)
    refuse("it has version " + std::to_string(version) + ", and this wsl-view reads version " +
           std::to_string(trace_writer::version) + ": take the wsl-view of the library that wrote it");
  const std::uint64_t layout = fixed(4);
  if (layout > stored_layout::most_bytes || layout > size_ - head - 1 - sums) refuse(torn);
  limit_ = head + layout;
  layout_.reserve(layout);
  for (std::uint64_t k = 0; k < layout; ++k) layout_ += static_cast<char>(byte());

  // The sums stand at the end.
  in_.seekg(static_cast<std::streamoff>(size_ - sums));
  read_ = size_ - sums, at_ = filled_ = 0, limit_ = size_;
  begin_ = fixed(8), end_ = fixed(8), records_ = fixed(8);
  std::string last;
  while (last.size() < magic.size()) last += static_cast<char>(byte());
  if (last != magic || begin_ > end_ || end_ >= std::uint64_t{1} << 53 || records_ > size_) refuse(torn);
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(head + layout));
  read_ = head + layout, at_ = filled_ = 0, limit_ = size_ - sums;
}

void trace_file::fill() {
  const std::uint64_t left = limit_ - read_;
  filled_ = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size()));
  if (filled_ == 0) refuse("a record of it is torn: copy it again, or run the program again");
  in_.read(buffer_.data(), static_cast<std::streamsize>(filled_));
  if (!in_) refuse("it cannot be read to its end");
  read_ += filled_;
  at_ = 0;
}

std::uint64_t trace_file::fixed(int size) {
  std::uint64_t n = 0;
  for (int k = 0; k < size; ++k) n |= std::uint64_t{byte()} << 8 * k;
  return n;
}
std::uint64_t trace_file::number() {
  std::uint64_t n = 0;
  for (int shift = 0;; shift += 7) {
    const std::uint8_t b = byte();
    if (shift == 63 && b > 1) refuse("a number of it has more than 64 bits: it is damaged");
    n |= std::uint64_t{b & 127u} << shift;
    if (b < 128) return n;
  }
}
std::uint64_t trace_file::number(std::uint64_t most, const char* what) {
  const std::uint64_t n = number();
  if (n > most)
    refuse(std::string("it is damaged: ") + what + " is " + std::to_string(n) + ", and at most " +
           std::to_string(most));
  return n;
}
std::uint64_t trace_file::difference(std::uint64_t& before) {
  const std::uint64_t n = number();
  return before += (n >> 1) ^ (n & 1 ? ~std::uint64_t{0} : 0);
}
rank trace_file::place() {
  const rank r = difference(place_);
  if (r >= pes_) refuse("it is damaged: a PE of it lies outside of the grid");
  return r;
}
std::uint64_t trace_file::time() {
  const std::uint64_t t = difference(time_);
  if (t > end_) refuse("it is damaged: an event of it begins after the end of the runs");
  return t;
}
/// The end of what begins at `from`: a word or a datapath may be on its way for a while after the last event.
std::uint64_t trace_file::span(std::uint64_t from) {
  constexpr std::uint64_t late = std::uint64_t{1} << 40;
  return from + number(end_ - from + late, "the length of an event");
}
std::string trace_file::text(std::size_t longest, const char* what) {
  std::string t(static_cast<std::size_t>(number(std::min<std::uint64_t>(longest, limit_), what)), '\0');
  for (char& c : t) c = static_cast<char>(byte());
  return t;
}

void trace_file::read_pipe() {
  trace_pipe p{static_cast<wsl::engines::trace_pipe>(number(3, "the kind of a pipe")),
               static_cast<int>(number(wsl::detail::max_colors - 1, "a color")),
               place(),
               {}};
  rank at = p.from;
  for (std::uint64_t left = number(1 << 17, "the number of links of a pipe"); left > 0; --left) {
    const auto side = wsl::every_port[number(4, "a side")];
    const wsl::coord step = wsl::step(side);
    const auto x = static_cast<std::int64_t>(at % static_cast<rank>(width_)) + step.x;
    p.links.push_back({at, side});
    at += static_cast<rank>(static_cast<std::int64_t>(step.y) * width_ + step.x);
    if (side == wsl::port::ramp || at >= pes_ || x < 0 || x >= width_)
      refuse("it is damaged: a link of it leaves the grid");
  }
  pipes_.push_back(std::move(p));
}
trace_event trace_file::event(trace_tag what) {
  trace_event e{.what = what, .pe = place()};
  e.from = time();
  e.to = span(e.from);
  if (what == trace_tag::task || what == trace_tag::operation) {
    if (names_.empty()) refuse("it is damaged: it names nothing");
    e.name = static_cast<std::uint32_t>(number(names_.size() - 1, "the number of a name"));
  }
  if (what == trace_tag::operation) e.thread = static_cast<int>(number(255, "the number of a thread"));
  if (what == trace_tag::busy) e.busy = e.to - e.from - number(e.to - e.from, "the number of idle cycles");
  return e;
}

void trace_file::read(int width, int height, trace_visitor& to) {
  width_ = width, pes_ = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  constexpr std::size_t longest_name = 1000, longest_sentence = 1'000'000, most_names = 1'000'000;
  std::uint64_t found = 0;
  for (;; ++found) {
    switch (const auto what = static_cast<trace_tag>(byte()); what) {
      case trace_tag::end:
        if (read_ - filled_ + at_ != limit_ || found != records_)
          refuse("it is damaged: it ends before its end");
        return;
      case trace_tag::name:
        if (names_.size() == most_names) refuse("it is damaged: it has more than a million names");
        names_.push_back(text(longest_name, "the length of a name"));
        break;
      case trace_tag::pipe: read_pipe(); break;
      case trace_tag::task:
      case trace_tag::operation:
      case trace_tag::starved:
      case trace_tag::held_up:
      case trace_tag::busy: to.event(event(what)); break;
      case trace_tag::words: {
        if (pipes_.empty()) refuse("it is damaged: words of it cross nothing");
        trace_words w;
        w.pipe = static_cast<std::size_t>(difference(pipe_));
        if (w.pipe >= pipes_.size()) refuse("it is damaged: words of it cross what is not there");
        w.first = time(), w.last = span(w.first);
        w.count = number(~std::uint64_t{0} >> 24, "a number of words");
        to.words(w);
        break;
      }
      case trace_tag::run: time(), number(end_, "the length of a run"); break;
      case trace_tag::ending: to.ending(text(longest_sentence, "the length of a sentence")); break;
      case trace_tag::wait: {
        trace_wait w;
        w.why = static_cast<int>(number(100, "a reason to wait")), w.pe = place();
        w.color = static_cast<int>(number(wsl::detail::max_colors, "a color")) - 1;
        w.program = text(longest_name, "the length of a name"),
        w.what = text(longest_name, "the length of a name");
        w.count = number(), w.position = static_cast<int>(number(1 << 30, "a position")) - 1;
        to.wait(std::move(w));
        break;
      }
      case trace_tag::link: {
        trace_link l;
        l.what = static_cast<int>(number(100, "the kind of a wait")), l.from = place(), l.to = place();
        l.color = static_cast<int>(number(wsl::detail::max_colors, "a color")),
        l.from_host = number(1, "a flag") != 0;
        to.link(l);
        break;
      }
      default: refuse("it is damaged: it has a record of an unknown kind");
    }
  }
}

}  // namespace view
