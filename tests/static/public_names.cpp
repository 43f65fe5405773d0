// SPDX-License-Identifier: MIT
// Compiling is passing: words that the library uses inside stay free for programs. A program that says `using
// namespace wsl` may give them to things of its own, beside the headers of the language, the engines, the
// host and the collectives.
#include <wsl/collective.hpp>
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/fabric/race.hpp>
#include <wsl/fabric/time_report.hpp>
#include <wsl/host/device.hpp>
#include <wsl/host/queue.hpp>
#include <wsl/host/report.hpp>
#include <wsl/layout/draw.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/swaps.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/event.hpp>
#include <wsl/program/notes.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

struct transfer {
  int from = 0, to = 0;
};
struct binding {
  transfer what{};
};
enum class role { reader, writer };
enum class work { heavy, light };
struct wait {
  int since = 0;
};
struct slot {
  wait until{};
};
struct engine {
  slot first{}, second{};
};
struct background {
  engine runs{};
};
struct commands {
  background of{};
};
struct claim {
  int by = 0;
};
struct verb {
  const char* name = "";
};
struct initially {
  bool ready = true;
};
struct engine_port {
  int number = 0;
};
struct pe_state {
  float temperature = 0;
};
struct join_state {
  int arrived = 0;
};
struct host_call {
  int number = 0;
};
struct program_image {
  int width = 0;
};
struct memory_part {
  int bytes = 0;
};
constexpr bool given(int x) { return x > 0; }
constexpr bool changed(int before, int after) { return before != after; }
constexpr int convert(float x) { return static_cast<int>(x); }
constexpr int resume(int from) { return from + 1; }
constexpr int max_colors = 3, max_positions = 2, where_switched = 1;
constexpr u32 color_bit(int id) { return 1u << id; }
constexpr u32 local_bit(int id) { return 2u << id; }
constexpr u32 to_bits(int x) { return static_cast<u32>(x); }
constexpr int from_bits(u32 x) { return static_cast<int>(x); }

// Each of them names what is declared here, not something of the library.
static_assert(transfer{1, 2}.to == 2 && binding{}.what.from == 0 && role::reader != role::writer);
static_assert(work::heavy != work::light && wait{3}.since == 3 && slot{}.until.since == 0);
static_assert(commands{}.of.runs.first.until.since == 0 && claim{}.by == 0 && verb{"go"}.name[0] == 'g');
static_assert(initially{}.ready && engine_port{}.number == 0 && pe_state{}.temperature == 0);
static_assert(join_state{}.arrived == 0 && host_call{}.number == 0 && program_image{}.width == 0);
static_assert(memory_part{}.bytes == 0);
static_assert(given(1) && changed(1, 2) && convert(2.5f) == 2 && resume(1) == 2);
static_assert(max_colors + max_positions + where_switched == 6);
static_assert(color_bit(1) == 2 && local_bit(1) == 4 && from_bits(to_bits(7)) == 7);
