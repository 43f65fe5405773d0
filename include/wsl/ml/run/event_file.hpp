// SPDX-License-Identifier: MIT
// Scalars, histograms and images for TensorBoard, as a file of records: `tensorboard --logdir <folder>` draws
// them while training goes on. A record is a length, its checksum, an Event message in protocol-buffer format
// (tensorboard/compat/proto/event.proto and summary.proto), and its checksum.
//   ml::event_file events{"model_dir/train"};
//   events.scalar("loss", step, loss);
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/file_error.hpp"

namespace wsl::ml {

/// CRC-32C of some bytes (RFC 3720), reflected polynomial 0x82f63b78.
constexpr u32 crc32c(std::string_view bytes) {
  constexpr auto table = [] {
    std::array<u32, 256> t{};
    for (u32 i = 0; i < 256; ++i) {
      u32 c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  u32 c = ~u32{0};
  for (const char b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 255] ^ c >> 8;
  return ~c;
}

namespace events {

template <class T>
std::string little_endian(T x) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof x; ++i) bytes += static_cast<char>(x >> 8 * i & 255);
  return bytes;
}
inline std::string varint(u64 x) {
  std::string bytes;
  for (; x >= 128; x >>= 7) bytes += static_cast<char>((x & 127) | 128);
  return bytes += static_cast<char>(x);
}
/// The tag of a field: its number and its encoding (0 varint, 1 eight bytes, 2 a length and bytes, 5 four
/// bytes).
inline std::string tag(int number, int how) { return varint(static_cast<u64>(number << 3 | how)); }
inline std::string text(int number, std::string_view bytes) {
  return (tag(number, 2) + varint(bytes.size())).append(bytes);
}

/// A record: data between its length and checksums, which are masked so that data may contain checksums
/// itself.
inline std::string record(std::string_view data) {
  const auto masked = [](std::string_view bytes) {
    return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8u);
  };
  const std::string length = little_endian(u64{data.size()});
  return (length + masked(length)).append(data) + masked(data);
}
inline std::string wall_time(f64 seconds) { return tag(1, 1) + little_endian(std::bit_cast<u64>(seconds)); }

/// The record with which every file begins.
inline std::string first(f64 seconds) { return record(wall_time(seconds) + text(3, "brain.Event:2")); }
/// The record of a step's value: its name, and one of the kinds of values.
inline std::string of_step(f64 seconds, std::string_view name, i64 step, const std::string& value) {
  return record(wall_time(seconds) + tag(2, 0) + varint(static_cast<u64>(step)) +
                text(5, text(1, text(1, name) + value)));
}
inline std::string scalar(f64 seconds, std::string_view name, i64 step, f32 value) {
  return of_step(seconds, name, step, tag(2, 5) + little_endian(std::bit_cast<u32>(value)));
}
inline std::string number(int field, f64 value) {
  return tag(field, 1) + little_endian(std::bit_cast<u64>(value));
}
/// Numbers in `limits.size()` intervals, of which each ends at its limit and the first begins at `least`.
struct histogram {
  f64 least = 0, most = 0, sum = 0, sum_of_squares = 0;
  i64 count = 0, not_finite = 0;
  std::vector<f64> limits = {}, counts = {};

  /// The finite ones of these numbers, in intervals of equal length.
  static histogram of(std::span<const f32> numbers, int intervals = 30) {
    histogram h;
    f32 least = 0, most = 0;
    for (const f32 x : numbers) {
      if (!std::isfinite(x)) {
        ++h.not_finite;
        continue;
      }
      least = h.count ? std::min(least, x) : x, most = h.count ? std::max(most, x) : x, ++h.count;
      h.sum += static_cast<f64>(x), h.sum_of_squares += static_cast<f64>(x) * static_cast<f64>(x);
    }
    h.least = static_cast<f64>(least), h.most = static_cast<f64>(most);
    h.counts.resize(static_cast<std::size_t>(intervals));
    const f64 width = (h.most - h.least) / intervals;
    for (int k = 1; k <= intervals; ++k) h.limits.push_back(k == intervals ? h.most : h.least + k * width);
    for (const f32 x : numbers) {
      if (!std::isfinite(x)) continue;
      const f64 place = width > 0 ? (static_cast<f64>(x) - h.least) / width : 0;
      ++h.counts[static_cast<std::size_t>(std::min<f64>(place, intervals - 1))];
    }
    return h;
  }
  std::string text() const {
    std::string packed_limits, packed_counts;
    for (const f64 x : limits) packed_limits += little_endian(std::bit_cast<u64>(x));
    for (const f64 x : counts) packed_counts += little_endian(std::bit_cast<u64>(x));
    return number(1, least) + number(2, most) + number(3, static_cast<f64>(count)) + number(4, sum) +
           number(5, sum_of_squares) + events::text(6, packed_limits) + events::text(7, packed_counts);
  }
};

}  // namespace events

class event_file {
 public:
  /// Starts a new file in the folder, which is made if there is none. Files of earlier runs stay, and
  /// TensorBoard joins them. Throws file_error if it cannot be written.
  explicit event_file(const std::filesystem::path& folder) {
    std::error_code why;
    std::filesystem::create_directories(folder, why);
    if (why)
      throw std::runtime_error(
          fmt::format("wsl: cannot make the folder {} for events: {}: remove what is there", folder.string(),
                      why.message()));
    char host[256] = "host";
    ::gethostname(host, sizeof host - 1);
    const f64 now = seconds();
    name_ = folder / fmt::format("events.out.tfevents.{}.{}.{}", static_cast<i64>(now), host, ::getpid());
    file_.reset(std::fopen(name_.c_str(), "ab"));
    write(events::first(now));
  }
  void scalar(std::string_view name, i64 step, f64 value) {
    write(events::scalar(seconds(), name, step, static_cast<f32>(value)));
  }

  /// The finite ones of some numbers, counted in 30 intervals of equal length.
  void histogram(std::string_view name, i64 step, std::span<const f32> numbers) {
    write(events::of_step(seconds(), name, step, events::text(5, events::histogram::of(numbers).text())));
  }
  /// A picture of one gray channel or of three of red, green and blue, in PNG format.
  void image(std::string_view name, i64 step, int width, int height, int channels, std::string_view png) {
    const auto whole = [](int field, int x) {
      return events::tag(field, 0) + events::varint(static_cast<u64>(x));
    };
    write(events::of_step(
        seconds(), name, step,
        events::text(4, whole(1, height) + whole(2, width) + whole(3, channels) + events::text(4, png))));
  }

  const std::filesystem::path& name() const { return name_; }

 private:
  static f64 seconds() {
    return std::chrono::duration<f64>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  void write(const std::string& bytes) {
    if (!file_ || std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() ||
        std::fflush(file_.get()) != 0)
      throw support::file_error(
          fmt::format("wsl: cannot write {}: {}", name_.string(), std::strerror(errno)));
  }
  struct closes {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::filesystem::path name_;
  std::unique_ptr<std::FILE, closes> file_;
};

}  // namespace wsl::ml
