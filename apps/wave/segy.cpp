// SPDX-License-Identifier: MIT
#include "segy.hpp"

#include <segyio/segy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "../memory.hpp"

namespace wave_app {
namespace {

using wsl::wave25::point;

using file_of_segy = std::unique_ptr<segy_file, int (*)(segy_file*)>;
using trace_header = char[SEGY_TRACE_HEADER_SIZE];

int field(const char* header, int which) {
  std::int32_t value = 0;
  segy_get_field(header, which, &value);
  return value;
}

/// A file that is open, its sizes compared with those of the file itself.
class opened {
 public:
  explicit opened(const std::string& name) : name_(name), file_(segy_open(name.c_str(), "rb"), &segy_close) {
    struct stat about;
    if (!file_ || ::stat(name.c_str(), &about) != 0)
      refuse("{}: cannot read it: {}", name, std::strerror(errno));
    if (!S_ISREG(about.st_mode)) refuse("{}: it is no file", name);
    const auto bytes = static_cast<wsl::i64>(about.st_size);
    char binary[SEGY_BINARY_HEADER_SIZE] = {};
    if (bytes < SEGY_TEXT_HEADER_SIZE + SEGY_BINARY_HEADER_SIZE ||
        segy_binheader(file_.get(), binary) != SEGY_OK)
      refuse("{}: a file of SEG-Y begins with headers of 3600 bytes, and this one has {}: it was cut short",
             name, bytes);
    std::int32_t samples = 0, interval = 0, format = 0, more = 0;
    segy_get_bfield(binary, SEGY_BIN_SAMPLES, &samples);
    segy_get_bfield(binary, SEGY_BIN_INTERVAL, &interval);
    segy_get_bfield(binary, SEGY_BIN_FORMAT, &format);
    segy_get_bfield(binary, SEGY_BIN_EXT_HEADERS, &more);
    // Both are 16 bits wide, and revision 1 counts to 65535.
    samples_ = samples < 0 ? samples + 65536 : samples,
    interval_ = interval < 0 ? interval + 65536 : interval;
    format_ = format;
    if (format_ != SEGY_IBM_FLOAT_4_BYTE && format_ != SEGY_IEEE_FLOAT_4_BYTE)
      refuse(
          "{}, binary header, bytes 3225-3226: samples of format {}; 1 (IBM floats) and 5 (IEEE floats), "
          "big-endian, are read",
          name, format_);
    if (samples_ == 0) refuse("{}, binary header, bytes 3221-3222: traces of 0 samples", name);
    if (more < 0 || more > 1000)
      refuse("{}, binary header, bytes 3505-3506: {} extended headers; 0 to 1000 are read", name, more);
    begin_ = SEGY_TEXT_HEADER_SIZE * (1L + more) + SEGY_BINARY_HEADER_SIZE;
    bytes_of_trace_ = segy_trsize(format_, samples_);
    const wsl::i64 each = bytes_of_trace_ + SEGY_TRACE_HEADER_SIZE, left = bytes - begin_;
    if (left <= 0 || left % each || left / each > std::numeric_limits<int>::max())
      refuse(
          "{}: {} bytes behind the headers are no whole number of traces of {} bytes ({} samples): it was "
          "cut "
          "short, or its traces have different lengths",
          name, std::max<wsl::i64>(left, 0), each, samples_);
    traces_ = static_cast<int>(left / each);
  }

  int traces() const { return traces_; }
  int samples() const { return samples_; }
  /// Microseconds, or thousandths of the unit of depth.
  int interval() const { return interval_; }

  void header(int trace, trace_header& to) const {
    if (segy_traceheader(file_.get(), trace, to, begin_, bytes_of_trace_) != SEGY_OK)
      refuse("{}, trace {}: its header cannot be read", name_, trace + 1);
  }
  void read(int trace, f32* to) const {
    if (segy_readtrace(file_.get(), trace, to, begin_, bytes_of_trace_) != SEGY_OK ||
        segy_to_native(format_, samples_, to) != SEGY_OK)
      refuse("{}, trace {}: it cannot be read", name_, trace + 1);
  }

 private:
  std::string name_;
  file_of_segy file_;
  int traces_ = 0, samples_ = 0, interval_ = 0, format_ = 0, bytes_of_trace_ = 0;
  long begin_ = 0;
};

/// A scalar of a header: what coordinates are multiplied with.
f64 scale_of(int scalar) { return scalar > 0 ? scalar : scalar < 0 ? -1. / scalar : 1; }

/// The distance from one line to the next, of the mean positions of the lines; 0 if there is none.
f64 distance_of(const std::map<int, point>& lines) {
  if (lines.size() < 2) return 0;
  const point &a = lines.begin()->second, &b = lines.rbegin()->second;
  return std::hypot(a.x - b.x, a.y - b.y) / static_cast<f64>(lines.size() - 1);
}

}  // namespace

void require_segy(const std::string&) {}

stored_volume segy_volume(const std::string& file) {
  const auto all = std::make_shared<const opened>(file);
  const opened& in = *all;
  std::set<int> inlines, crosslines;
  std::map<int, point> first_of_inline, first_of_crossline;
  std::vector<std::pair<int, int>> lines;
  trace_header h;
  for (int t = 0; t < in.traces(); ++t) {
    in.header(t, h);
    const int i = field(h, SEGY_TR_INLINE), c = field(h, SEGY_TR_CROSSLINE);
    const f64 scale = scale_of(field(h, SEGY_TR_SOURCE_GROUP_SCALAR));
    const point at{field(h, SEGY_TR_CDP_X) * scale, field(h, SEGY_TR_CDP_Y) * scale, 0};
    lines.emplace_back(i, c), inlines.insert(i), crosslines.insert(c);
    if (i == lines.front().first) first_of_crossline.emplace(c, at);
    if (c == lines.front().second) first_of_inline.emplace(i, at);
  }
  const auto traces = static_cast<std::size_t>(in.traces());
  if (inlines.size() * crosslines.size() != traces) {
    // Files of one line often leave these numbers 0 or count something else.
    if (inlines.size() != 1 || crosslines.size() != 1)
      refuse(
          "{}: {} inlines and {} crosslines (bytes 189-196 of the trace headers) make {} traces, and there "
          "are "
          "{}: a model has one for each pair",
          file, inlines.size(), crosslines.size(), inlines.size() * crosslines.size(), traces);
    inlines.clear();
    for (int t = 0; t < in.traces(); ++t) lines[static_cast<std::size_t>(t)].first = t, inlines.insert(t);
  }
  stored_volume v;
  v.size = {static_cast<int>(inlines.size()), static_cast<int>(crosslines.size()), in.samples()};
  v.spacing = {distance_of(first_of_inline), distance_of(first_of_crossline), in.interval() / 1000.};
  std::map<int, int> x_of, y_of;
  for (const int i : inlines) x_of.emplace(i, static_cast<int>(x_of.size()));
  for (const int c : crosslines) y_of.emplace(c, static_cast<int>(y_of.size()));
  constexpr int none = -1;
  std::vector<int> trace_of(traces, none);  // by x and y, y fastest
  for (int t = 0; t < in.traces(); ++t) {
    const auto [i, c] = lines[static_cast<std::size_t>(t)];
    int& here = trace_of[cells{1, v.size.x, v.size.y}.index({0, x_of[i], y_of[c]})];
    if (here != none) refuse("{}, trace {}: inline {} and crossline {} are there twice", file, t + 1, i, c);
    here = t;
  }
  v.bytes_kept = sizeof(int) * static_cast<f64>(traces);
  v.read = [all, size = v.size, trace_of = std::move(trace_of),
            one_at_a_time = std::make_shared<std::mutex>()](const wsl::grid::lines& some, std::span<f32> to) {
    const std::scoped_lock now(*one_at_a_time);
    f32* next = to.data();
    for (int x = some.x.from; x < some.x.to; ++x)
      for (int y = some.y.from; y < some.y.to; ++y, next += size.z)
        all->read(trace_of[cells{1, size.x, size.y}.index({0, x, y})], next);
  };
  return v;
}

gather segy_gather(const std::string& file) {
  const opened in(file);
  if (in.interval() == 0) refuse("{}, binary header, bytes 3217-3218: the sample interval is 0", file);
  gather g;
  g.interval = in.interval() * 1e-6;
  trace_header h;
  for (int t = 0; t < in.traces(); ++t) {
    in.header(t, h);
    const f64 scale = scale_of(field(h, SEGY_TR_SOURCE_GROUP_SCALAR)),
              up = scale_of(field(h, SEGY_TR_ELEV_SCALAR));
    const auto at = [&](int which, f64 by) { return field(h, which) * by; };
    if (t == 0)
      g.shot = field(h, SEGY_TR_FIELD_RECORD),
      g.source = {at(SEGY_TR_SOURCE_X, scale), at(SEGY_TR_SOURCE_Y, scale), at(SEGY_TR_SOURCE_DEPTH, up)};
    g.receivers.push_back(
        {at(SEGY_TR_GROUP_X, scale), at(SEGY_TR_GROUP_Y, scale), -at(SEGY_TR_RECV_GROUP_ELEV, up)});
    g.traces.emplace_back(static_cast<std::size_t>(in.samples()));
    in.read(t, g.traces.back().data());
  }
  return g;
}

std::string segy_bytes(const gather& g) {
  const int traces = static_cast<int>(g.traces.size()), samples = static_cast<int>(g.traces.front().size());
  const f64 microseconds = g.interval * 1e6;
  if (samples > std::numeric_limits<std::int16_t>::max())
    refuse("SEG-Y: a trace has {} samples, and its headers count to 32767: take a longer --sample-interval",
           samples);
  if (std::abs(microseconds - std::round(microseconds)) > 1e-6 || microseconds < 1 ||
      microseconds > std::numeric_limits<std::int16_t>::max())
    refuse("SEG-Y: a sample interval of {:g} s; its headers hold whole microseconds from 1 to 32767",
           g.interval);
  f64 farthest = 1;
  for (const point& r : g.receivers)
    farthest = std::max({farthest, std::abs(r.x), std::abs(r.y), std::abs(r.z)});
  farthest = std::max({farthest, std::abs(g.source.x), std::abs(g.source.y), std::abs(g.source.z)});
  const int scalar = farthest < 2e6 ? 1000 : farthest < 2e8 ? 10 : 1;
  const auto scaled = [&](f64 m) { return static_cast<std::int32_t>(std::lround(m * scalar)); };

  // The library writes to files: this one is in memory.
  const int memory = ::memfd_create("segy", 0);
  if (memory < 0) throw std::runtime_error(fmt::format("SEG-Y: no file in memory: {}", std::strerror(errno)));
  const std::unique_ptr<const int, void (*)(const int*)> closing(&memory, [](const int* f) { ::close(*f); });
  const std::string name = fmt::format("/proc/self/fd/{}", memory);
  const auto must = [](int done) {
    if (done != SEGY_OK) throw std::runtime_error(fmt::format("SEG-Y: libsegyio fails with {}", done));
  };
  {
    const file_of_segy file(segy_open(name.c_str(), "w+b"), &segy_close);
    if (!file) throw std::runtime_error("SEG-Y: libsegyio cannot open a file in memory");
    std::string text;
    int line = 0;
    const auto say = [&](const std::string& words) { text += fmt::format("C{:2} {:<76}", ++line, words); };
    say("wsl-wave: the 25-point acoustic wave equation");
    say(fmt::format("shot {}, source at x {:.3f} y {:.3f} depth {:.3f} m", g.shot, g.source.x, g.source.y,
                    g.source.z));
    say(fmt::format("{} traces of {} samples every {} microseconds, the first at time 0", traces, samples,
                    std::lround(microseconds)));
    say("coordinates in m: source 73-80, receivers 81-88, with the scalar in 71-72;");
    say("depth of the source 49-52, elevation of the receivers 41-44, scalar in 69-70");
    while (line < 38) say("");
    say("SEG-Y REV1");
    say("END TEXTUAL HEADER");
    must(segy_write_textheader(file.get(), 0, text.c_str()));
    char binary[SEGY_BINARY_HEADER_SIZE] = {};
    const std::pair<int, int> of_file[] = {
        {SEGY_BIN_JOB_ID, 1},
        {SEGY_BIN_TRACES, std::min(traces, 32767)},
        {SEGY_BIN_INTERVAL, static_cast<int>(std::lround(microseconds))},
        {SEGY_BIN_INTERVAL_ORIG, static_cast<int>(std::lround(microseconds))},
        {SEGY_BIN_SAMPLES, samples},
        {SEGY_BIN_SAMPLES_ORIG, samples},
        {SEGY_BIN_FORMAT, SEGY_IEEE_FLOAT_4_BYTE},
        {SEGY_BIN_ENSEMBLE_FOLD, 1},
        {SEGY_BIN_SORTING_CODE, 1},
        {SEGY_BIN_MEASUREMENT_SYSTEM, 1},
        {SEGY_BIN_SEGY_REVISION, 0x100},
        {SEGY_BIN_TRACE_FLAG, 1}};
    for (const auto& [where, value] : of_file) must(segy_set_bfield(binary, where, value));
    must(segy_write_binheader(file.get(), binary));
    const long begin = SEGY_TEXT_HEADER_SIZE + SEGY_BINARY_HEADER_SIZE;
    const int bytes = segy_trsize(SEGY_IEEE_FLOAT_4_BYTE, samples);
    std::vector<f32> numbers;
    for (int t = 0; t < traces; ++t) {
      const point& r = g.receivers[static_cast<std::size_t>(t)];
      const std::pair<int, int> of_trace[] = {
          {SEGY_TR_SEQ_LINE, t + 1},
          {SEGY_TR_SEQ_FILE, t + 1},
          {SEGY_TR_FIELD_RECORD, g.shot},
          {SEGY_TR_NUMBER_ORIG_FIELD, t + 1},
          {SEGY_TR_ENERGY_SOURCE_POINT, g.shot},
          {SEGY_TR_TRACE_ID, 1},
          {SEGY_TR_OFFSET, static_cast<int>(std::lround(std::hypot(r.x - g.source.x, r.y - g.source.y)))},
          {SEGY_TR_RECV_GROUP_ELEV, -scaled(r.z)},
          {SEGY_TR_SOURCE_DEPTH, scaled(g.source.z)},
          {SEGY_TR_ELEV_SCALAR, -scalar},
          {SEGY_TR_SOURCE_GROUP_SCALAR, -scalar},
          {SEGY_TR_SOURCE_X, scaled(g.source.x)},
          {SEGY_TR_SOURCE_Y, scaled(g.source.y)},
          {SEGY_TR_GROUP_X, scaled(r.x)},
          {SEGY_TR_GROUP_Y, scaled(r.y)},
          {SEGY_TR_COORD_UNITS, 1},
          {SEGY_TR_SAMPLE_COUNT, samples},
          {SEGY_TR_SAMPLE_INTER, static_cast<int>(std::lround(microseconds))}};
      trace_header h = {};
      for (const auto& [where, value] : of_trace) must(segy_set_field(h, where, value));
      must(segy_write_traceheader(file.get(), t, h, begin, bytes));
      numbers = g.traces[static_cast<std::size_t>(t)];
      must(segy_from_native(SEGY_IEEE_FLOAT_4_BYTE, samples, numbers.data()));
      must(segy_writetrace(file.get(), t, numbers.data(), begin, bytes));
    }
    must(segy_flush(file.get(), false));
  }
  struct stat about;
  if (::fstat(memory, &about) != 0) throw std::runtime_error("SEG-Y: a file in memory is lost");
  std::string all(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t n = ::pread(memory, all.data() + at, all.size() - at, static_cast<off_t>(at));
    if (n <= 0) throw std::runtime_error("SEG-Y: a file in memory cannot be read");
    at += static_cast<std::size_t>(n);
  }
  return all;
}

}  // namespace wave_app
