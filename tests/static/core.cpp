// SPDX-License-Identifier: MIT
// Compiling is passing: ports and routes, areas and regions, wavelets, names and machines.
#include <wsl/core/area.hpp>
#include <wsl/core/color.hpp>
#include <wsl/core/half.hpp>
#include <wsl/core/machine.hpp>
#include <wsl/support/inplace_vector.hpp>

#include <algorithm>
#include <string>
#include <string_view>

using namespace wsl;
using namespace wsl::detail;

namespace {

// Ports and routes.
static_assert((ramp | east).has(ramp) && (ramp | east).has(east) && !(ramp | east).has(west));
static_assert(ports{}.empty() && !ports{west}.empty());
static_assert(ports{north}.single() && !(north | south).single() && !ports{}.single());
static_assert((east | west) == (west | east) && (east | east) == ports{east});
static_assert((west >> (ramp | east)) == route{west, ramp | east});
static_assert((west >> ramp) != (ramp >> west));
static_assert(std::ranges::all_of(every_port, [](port p) { return opposite(opposite(p)) == p; }));
static_assert(std::ranges::all_of(every_side, [](port p) { return opposite(p) != p && p != ramp; }));
static_assert(std::ranges::all_of(every_port, [](port p) { return step(p) + step(opposite(p)) == coord{}; }));
static_assert(std::ranges::all_of(every_port, [](port p) { return every_port[index_of(p)] == p; }));
static_assert(std::size(every_port) == 5 && std::size(every_side) == 4);
static_assert(step(east) == coord{1, 0} && step(south) == coord{0, 1} && step(ramp) == coord{});
static_assert(coord{3, 1} - coord{1, 4} == coord{2, -3});
static_assert(name_of(ramp) == std::string_view{"ramp"} && name_of(east) == std::string_view{"east"});
static_assert(name_of(west) == std::string_view{"west"} && name_of(north) == std::string_view{"north"});
static_assert(name_of(south) == std::string_view{"south"});

// Areas on a grid of 7 columns and 5 rows.
constexpr region grid{0, 7, 0, 5};
constexpr region on_grid(const area& a) { return resolve(a, grid); }

static_assert(on_grid(all) == grid && on_grid({}) == grid);
static_assert(on_grid(column(2)) == region{2, 3, 0, 5});
static_assert(on_grid(row(edge - 1)) == region{0, 7, 4, 5});
static_assert(on_grid(at(edge - 1, edge - 2)) == region{6, 7, 3, 4});
static_assert(on_grid(columns(1, edge - 1)) == region{1, 6, 0, 5});
static_assert(on_grid(columns(edge - 3)) == region{4, 7, 0, 5});
static_assert(on_grid(columns(edge - 3 + 1, edge - 1)) == region{5, 6, 0, 5});
static_assert(on_grid(columns(1, 3).rows(2, 4)) == region{1, 3, 2, 4});
static_assert(on_grid(rows(2, 4).columns(1, 3)) == on_grid(columns(1, 3).rows(2, 4)));
static_assert(on_grid(columns(0, 3).columns(4, 6)) == region{4, 6, 0, 5},
              "the later columns replace the earlier ones");
static_assert(on_grid(rows(0, edge, 2).row(3)) == region{0, 7, 3, 4, 1, 1});

// Strides: the bounds are those of the PEs that belong to it.
static_assert(on_grid(columns(0, edge, 2)) == region{0, 7, 0, 5, 2, 1});
static_assert(on_grid(columns(1, edge, 2)) == region{1, 6, 0, 5, 2, 1});
static_assert(on_grid(columns(0, edge, 4).rows(1, edge, 3)) == region{0, 5, 1, 5, 4, 3});
static_assert(on_grid(columns(1, edge, 16)) == region{1, 2, 0, 5, 16, 1});

// Areas without PEs are all the same region.
static_assert(on_grid(columns(7)) == region{} && on_grid(columns(3, 3)) == region{} &&
              on_grid(rows(4, 2)) == region{});
static_assert(resolve(columns(1, edge - 1), {0, 2, 0, 5}) == region{} &&
              resolve(columns(1), {0, 1, 0, 1}).empty());
static_assert(region{}.columns() == 0 && region{}.rows() == 0 && region{}.count() == 0 &&
              !region{}.has({0, 0}));

// A rectangle of a larger grid has edges of its own.
constexpr region inner{2, 6, 1, 4};
static_assert(resolve(all, inner) == inner && resolve(column(edge - 1), inner) == region{5, 6, 1, 4});
static_assert(resolve(at(0, 0), inner) == region{2, 3, 1, 2} &&
              resolve(columns(1, edge, 2), inner) == region{3, 6, 1, 4, 2, 1});

// Regions.
constexpr region board{1, 6, 1, 5, 2, 3};  // columns 1 3 5, rows 1 4
static_assert(board.columns() == 3 && board.rows() == 2 && board.count() == 6);
static_assert(board.nth(0) == coord{1, 1} && board.nth(2) == coord{5, 1} && board.nth(3) == coord{1, 4} &&
              board.nth(5) == coord{5, 4});
static_assert(board.has({3, 4}) && !board.has({2, 4}) && !board.has({3, 2}) && !board.has({7, 4}) &&
              !board.has({-1, 1}));
static_assert(board.shifted(step(east)) == region{2, 7, 1, 5, 2, 3} &&
              board.shifted({0, -1}).nth(0) == coord{1, 0});
constexpr bool nth_and_rank_are_inverse(const region& r) {
  for (int i = 0; i < r.count(); ++i)
    if (r.rank(r.nth(i)) != i || !r.has(r.nth(i))) return false;
  return true;
}
static_assert(nth_and_rank_are_inverse(board) && nth_and_rank_are_inverse(grid) &&
              nth_and_rank_are_inverse({}));

// Payloads: every value survives the way through a word.
template <class T>
constexpr bool there_and_back(T x, u32 bits) {
  return to_bits(x) == bits && from_bits<T>(bits) == x;
}
struct pixel {
  u8 r, g, b, a;
  friend constexpr bool operator==(const pixel&, const pixel&) = default;
};
enum class verdict : u16 { no, yes = 7 };

static_assert(there_and_back(1.f, 0x3f800000) && there_and_back(-0.f, 0x80000000));
static_assert(there_and_back(u32{0xfedcba98}, 0xfedcba98) && there_and_back(i32{-1}, 0xffffffff));
static_assert(there_and_back(u16{0xfedc}, 0xfedc) && there_and_back(i16{-2}, 0xfffe),
              "16 bits travel in the low half");
static_assert(there_and_back(f16{1.f}, 0x3c00) && there_and_back(bf16{1.f}, 0x3f80) &&
              there_and_back(f16{-2.f}, 0xc000));
static_assert(from_bits<u16>(0x12345678) == 0x5678 && from_bits<f16>(0xffff3c00) == f16{1.f},
              "the high half is not looked at");
static_assert(there_and_back(halves<u16>{.data = 0x1234, .index = 0xabcd}, 0xabcd1234),
              "the datum is the low half");
static_assert(there_and_back(halves<i16, i16>{-1, 1}, 0x0001ffff) &&
              there_and_back(halves<f16>{f16{1.f}, 9}, 0x00093c00));
static_assert(there_and_back(pixel{1, 2, 3, 4}, 0x04030201) && there_and_back(verdict::yes, 7));

struct three_bytes {
  u8 x[3];
};
static_assert(payload<f32> && payload<f16> && payload<bf16> && payload<halves<i16>> && payload<pixel> &&
              payload<verdict>);
static_assert(!payload<f64> && !payload<u8> && !payload<three_bytes> && !payload<i64> &&
              !payload<std::string>);

static_assert(color_like<color<f32>> && !color_like<int> && !color_like<port>);
static_assert(color<f32>{3} == color<f32>{3} && color<f32>{3} != color<f32>{4} && color_bit(0) == 1 &&
              color_bit(63) == u64{1} << 63);
static_assert(&payload_type_of<u32> != &payload_type_of<i32>);
static_assert(payload_type_of<f16>.bytes == 2 && payload_type_of<pixel>.bytes == 4);

// Names.
template <color<f32> in>
struct runner {
  void pass() {}
  template <int>
  void step() {}
};
void free_function() {}

constexpr bool same(const char* a, std::string_view b) { return a == b; }
static_assert(same(support::type_name<f32>(), "float") &&
              same(support::type_name<color<f32>>(), "color<float>"));
static_assert(same(support::function_name<&runner<color<f32>{1}>::pass>(), "pass"));
static_assert(same(support::function_name<&runner<color<f32>{1}>::step<3>>(), "step<3>") ||
              same(support::function_name<&runner<color<f32>{1}>::step<3>>(), "step"));
static_assert(same(support::function_name<&free_function>(), "free_function"));
static_assert(std::string_view{support::type_name<runner<color<f32>{1}>>()}.find("runner<") !=
              std::string_view::npos);
static_assert(std::string_view{support::type_name<halves<i16>>()}.starts_with("halves<short"));
template <class...>
struct many {};
static_assert(std::string_view{support::type_name<many<pixel, pixel, pixel, pixel, pixel, pixel, pixel, pixel,
                                                       pixel, pixel, pixel, pixel, pixel>>()}
                  .ends_with(", ...>"),
              "a name that is too long is shortened by whole arguments");

// Vectors in constants.
constexpr auto numbers = [] {
  support::inplace_vector<int, 3> v;
  v.push_back(4), v.push_back(5) += 1;
  v[0] = 7;
  return v;
}();
static_assert(numbers.size() == 2 && !numbers.empty() && !numbers.full() && numbers.capacity() == 3);
static_assert(numbers[0] == 7 && numbers[1] == 6 && numbers.data()[1] == 6 &&
              numbers.end() - numbers.begin() == 2);
static_assert([] {
  auto v = numbers;
  v.push_back(1);
  return v.full() && support::inplace_vector<int, 3>{}.empty();
}());

// The published numbers of the machines.
static_assert(wse2.width * wse2.height == 745'500 && wse2.width == 750 && wse2.height == 994);
static_assert(wse3.width == 762 - 7 && wse3.height == 1172 - 2);
static_assert(wse2.memory == 48 * 1024 && wse3.memory == 48 * 1024);
static_assert(wse2.colors == 24 && wse3.colors == 24);
static_assert(wse2.data_tasks == 24 && wse2.local_tasks == 31 && wse2.task_ids == 31 &&
              wse2.control_tasks == 64);
static_assert(wse3.data_tasks == 8 && wse3.local_tasks == 30 - 8 + 1 && wse3.task_ids == 31 &&
              wse3.control_tasks == 64);
static_assert(wse2.input_queues == 8 && wse2.output_queues == 6 && wse3.input_queues == 8 &&
              wse3.output_queues == 8);
static_assert(wse2.microthreads == 8 && wse3.microthreads == 8);
static_assert(wse2.fabric_inputs == 2 && wse3.fabric_inputs == 1);
static_assert(!wse2.color_owns_queue && wse3.color_owns_queue);
static_assert(wse2.ramp_latency == 2 && wse2.clock_hz == 850'000'000 && wse3.clock_hz == 1'100'000'000);
constexpr bool queues_have_words(const machine& m) {
  for (int q = 0; q < 8; ++q)
    if ((q < m.input_queues && m.input_depth[q] < 1) || (q < m.output_queues && m.output_depth[q] < 1))
      return false;
  return m.colors <= max_colors;
}
static_assert(queues_have_words(wse2) && queues_have_words(wse3) && queues_have_words(host));

}  // namespace
