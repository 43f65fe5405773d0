// SPDX-License-Identifier: MIT
// SEG-Y, as wsl-wave writes and reads it, beside libsegyio's own reader.
#include "../segy.hpp"

#include <segyio/segy.h>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace wave_app;
using Catch::Contains;

namespace {

/// A file that goes with its test.
struct temporary {
  std::string name =
      (std::filesystem::temp_directory_path() / ("wave_segy_" + std::to_string(::getpid()) + ".sgy"))
          .string();
  explicit temporary(const std::string& bytes) { std::ofstream(name, std::ios::binary) << bytes; }
  ~temporary() { std::filesystem::remove(name); }
};

gather shot() {
  gather g{7, 0.002, 0, {1234.567, 20, 8.25}, {}, {}};
  for (int i = 0; i < 3; ++i) {
    g.receivers.push_back({100. + 12.5 * i, 200.125, 10.5});
    g.traces.emplace_back();
    for (int t = 0; t < 50; ++t) g.traces.back().push_back(static_cast<f32>(i - 0.37 * t));
  }
  return g;
}

/// The bytes of a big-endian number of a header.
void put(std::string& bytes, std::size_t at, std::size_t size, int value) {
  for (std::size_t k = 0; k < size; ++k) bytes[at + k] = static_cast<char>(value >> (8 * (size - 1 - k)));
}

}  // namespace

TEST_CASE("wsl-wave: traces in SEG-Y are what libsegyio reads") {
  const gather g = shot();
  const temporary file(segy_bytes(g));
  segy_file* in = segy_open(file.name.c_str(), "rb");
  REQUIRE(in);
  char text[SEGY_TEXT_HEADER_SIZE + 1], binary[SEGY_BINARY_HEADER_SIZE], h[SEGY_TRACE_HEADER_SIZE];
  REQUIRE(segy_read_textheader(in, text) == SEGY_OK);
  CHECK(std::string(text).starts_with("C 1 wsl-wave"));
  CHECK_THAT(std::string(text), Contains("END TEXTUAL HEADER"));
  REQUIRE(segy_binheader(in, binary) == SEGY_OK);
  CHECK(segy_format(binary) == SEGY_IEEE_FLOAT_4_BYTE);
  CHECK(segy_samples(binary) == 50);
  float interval = 0;
  CHECK(segy_sample_interval(in, 0, &interval) == SEGY_OK);
  CHECK(interval == 2000);
  const long begin = segy_trace0(binary);
  const int bytes = segy_trsize(SEGY_IEEE_FLOAT_4_BYTE, 50);
  int traces = 0;
  REQUIRE(segy_traces(in, &traces, begin, bytes) == SEGY_OK);
  REQUIRE(traces == 3);
  const auto field = [&](int which) {
    std::int32_t value = 0;
    CHECK(segy_get_field(h, which, &value) == SEGY_OK);
    return value;
  };
  for (int i = 0; i < 3; ++i) {
    REQUIRE(segy_traceheader(in, i, h, begin, bytes) == SEGY_OK);
    CHECK(field(SEGY_TR_SEQ_FILE) == i + 1);
    CHECK(field(SEGY_TR_FIELD_RECORD) == 7);
    CHECK(field(SEGY_TR_SOURCE_GROUP_SCALAR) == -1000);
    CHECK(field(SEGY_TR_SOURCE_X) == 1234567);
    CHECK(field(SEGY_TR_SOURCE_DEPTH) == 8250);
    CHECK(field(SEGY_TR_GROUP_X) == 100000 + 12500 * i);
    CHECK(field(SEGY_TR_GROUP_Y) == 200125);
    CHECK(field(SEGY_TR_RECV_GROUP_ELEV) == -10500);
    CHECK(field(SEGY_TR_SAMPLE_INTER) == 2000);
    CHECK(field(SEGY_TR_SAMPLE_COUNT) == 50);
    std::vector<f32> samples(50);
    REQUIRE(segy_readtrace(in, i, samples.data(), begin, bytes) == SEGY_OK);
    REQUIRE(segy_to_native(SEGY_IEEE_FLOAT_4_BYTE, 50, samples.data()) == SEGY_OK);
    CHECK(samples == g.traces[static_cast<std::size_t>(i)]);
  }
  segy_close(in);
  const gather back = segy_gather(file.name);
  CHECK(back.shot == 7);
  CHECK(back.interval == Approx(0.002));
  CHECK(back.traces == g.traces);
  CHECK(back.source.x == Approx(1234.567));
  CHECK(back.receivers[2].z == Approx(10.5));
}

TEST_CASE("wsl-wave: a model in SEG-Y, its traces in any order") {
  std::string bytes = segy_bytes([] {
    gather g{1, 0.01, 0, {}, {}, {}};
    for (int t = 0; t < 6; ++t)
      g.receivers.emplace_back(), g.traces.push_back({f32(10 * t), f32(10 * t + 1)});
    return g;
  }());
  const std::size_t each = 240 + 8;
  for (int t = 0; t < 6; ++t) {
    const std::size_t at = 3600 + static_cast<std::size_t>(t) * each;
    const int x = t % 3, y = t / 3;  // three inlines, 25 m apart, of two crosslines, 50 m apart
    put(bytes, at + 70, 2, 1), put(bytes, at + 180, 4, 1000 + 25 * x), put(bytes, at + 184, 4, 500 + 50 * y);
    put(bytes, at + 188, 4, 11 + 2 * x), put(bytes, at + 192, 4, 5 + y);
  }
  const temporary file(bytes);
  const stored_volume v = segy_volume(file.name);
  CHECK((v.size == cells{3, 2, 2} && v.spacing == extent{25, 50, 10}));
  CHECK(numbers_of(v) == std::vector<f32>{0, 1, 30, 31, 10, 11, 40, 41, 20, 21, 50, 51});
  std::vector<f32> part(4);
  v.read({{1, 3}, {1, 2}}, part);
  CHECK(part == std::vector<f32>{40, 41, 50, 51});
  put(bytes, 3600 + 188, 4, 13);
  const temporary twice(bytes);
  CHECK_THROWS_WITH(segy_volume(twice.name), Contains("inlines and") || Contains("are there twice"));
}

TEST_CASE("wsl-wave: SEG-Y that cannot be read is named with the place") {
  const std::string good = segy_bytes(shot());
  const auto says = [&](auto change, const std::string& words) {
    std::string bytes = good;
    change(bytes);
    const temporary file(bytes);
    CHECK_THROWS_WITH(segy_volume(file.name), Contains(file.name) && Contains(words));
    CHECK_THROWS_AS(segy_gather(file.name), std::invalid_argument);
  };
  says([](std::string& b) { b.resize(100); }, "headers of 3600 bytes, and this one has 100");
  says([](std::string& b) { b.resize(b.size() - 4); }, "no whole number of traces");
  says([](std::string& b) { b.resize(3600); }, "no whole number of traces");
  says([](std::string& b) { put(b, 3224, 2, 3); }, "bytes 3225-3226: samples of format 3");
  says([](std::string& b) { put(b, 3220, 2, 0); }, "traces of 0 samples");
  says([](std::string& b) { put(b, 3504, 2, -1); }, "-1 extended headers");
  CHECK_THROWS_WITH(segy_volume("/nothing.sgy"), Contains("/nothing.sgy: cannot read it"));
  gather g = shot();
  g.interval = 1.5e-7;
  CHECK_THROWS_WITH(segy_bytes(g), Contains("whole microseconds"));
  g = shot();
  for (auto& t : g.traces) t.resize(40000);
  CHECK_THROWS_WITH(segy_bytes(g), Contains("40000 samples"));
}
