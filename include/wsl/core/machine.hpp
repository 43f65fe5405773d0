// SPDX-License-Identifier: MIT
// The machines for which a layout can be checked. One program source serves all of them, and exceeding a
// limit of a machine is a fault that names the limit. `wse2` and `wse3` carry the published constants
// (Cerebras SDK language reference and examples v2.10); `host` is for programs that only run on this
// computer; its limits are those of the computer's memory.
#pragma once
#include "scalar.hpp"

namespace wsl {

/// Elements that a descriptor operation does in a cycle, by the size of its elements. An operation
/// without an instruction counts as the nearest one: a 32-bit integer as a float, a minimum as a maximum.
struct simd_widths {
  int add16, add32;            ///< mov, add, sub, neg, abs
  int multiply16, multiply32;  ///< mul, fmac
  int compare16, compare32;    ///< fmax, fmin
  friend constexpr bool operator==(const simd_widths&, const simd_widths&) = default;
};

/// Cycles of scalar instructions. The machine's registers have 16 bits, so whole numbers of 32 take several.
struct instruction_cycles {
  int simple;    ///< add, sub, logic, shift, compare, move of 16 bits or of a float; a move of 32 bits
  int simple32;  ///< the same on whole numbers of 32 bits, but a move
  int multiply16, multiply32;  ///< of whole numbers; a product of floats is simple
  int divide;                  ///< there is no instruction: a function of the vendor's library
  int branch;                  ///< a jump that depends on a comparison
  friend constexpr bool operator==(const instruction_cycles&, const instruction_cycles&) = default;
};

/// The priority of an operation in flight, a microthread, for its PE's datapath: `me.async(op,
/// priority::high)` (CSL's .priority).
enum class priority : i8 { low, medium, high };

/// The priority of the thread that runs a PE's tasks: between low and medium microthreads, like the medium
/// ones, between these and high ones, or like the high ones (CSL's main_thread_priority).
enum class main_priority : i8 { medium_low, medium, medium_high, high };

struct machine {
  const char* name;
  int width, height;    ///< largest rectangle of PEs a program may use
  int colors;           ///< routable colors
  int data_tasks;       ///< data-triggered tasks of one PE
  int local_tasks;      ///< tasks of one PE that only software activates
  int task_ids;         ///< data and local tasks together
  int control_tasks;    ///< control task ids: 0 .. control_tasks - 1
  int input_queues;     ///< queues between the router and the processor ...
  int output_queues;    ///< ... and back
  int input_depth[8];   ///< words that each input queue holds
  int output_depth[8];  ///< words that each output queue holds
  /// an output queue, and a data task's input queue, serves one color only (WSE-3)
  bool color_owns_queue;
  int microthreads;   ///< asynchronous descriptor operations in flight on one PE
  int fabric_inputs;  ///< fabric operands that one operation may read
  int memory;         ///< bytes of SRAM of one PE
  int ramp_latency;   ///< cycles between processor and router, each way
  f64 clock_hz;
  u64 switch_colors;      ///< colors whose routes may have switch positions, as a mask
  int position_sides;     ///< how many of a route's two sides one switch position may change
  int filters;            ///< filters of one PE
  bool prefers_injected;  ///< routers can prefer their processor's wavelets, or those that pass
  /// routers can change a color for its neighbour, 0 for 1, 2 for 3 and so on, on the way out
  bool swaps_colors;

  // The constants of the timed engine's model; docs/timing.md has its rules and the sources of the numbers.
  int router_depth;     ///< words that a router buffers for each color and input
  int task_start;       ///< cycles from the choice of a task to its first instruction
  int operation_setup;  ///< cycles to issue a descriptor operation
  int operation_least;  ///< cycles that one over memory takes at least, besides
  int call;             ///< cycles that `map_each` takes for an element, besides what its function charges
  int descriptor_load;  ///< cycles to load the descriptor of an operand in memory that is in no register
  /// registers for descriptors: so many for destinations, for first and for second sources
  int descriptor_registers;
  instruction_cycles instructions;
  int fabric_width;     ///< wavelets of one operand that an operation moves in a cycle
  priority reading;     ///< of an operation in flight that reads from the fabric, if it names none
  priority other;       ///< of one that does not
  main_priority tasks;  ///< of the thread that runs tasks, until the program sets it
  simd_widths simd;
  friend constexpr bool operator==(const machine&, const machine&) = default;
};

namespace detail {
/// No source tells those of the two wafers apart.
inline constexpr instruction_cycles instructions_of_wafers{
    .simple = 1, .simple32 = 2, .multiply16 = 1, .multiply32 = 11, .divide = 50, .branch = 1};
}  // namespace detail

inline constexpr machine wse2{
    .name = "wse2",
    .width = 750,
    .height = 994,
    .colors = 24,
    .data_tasks = 24,
    .local_tasks = 31,
    .task_ids = 31,
    .control_tasks = 64,
    .input_queues = 8,
    .output_queues = 6,
    .input_depth = {6, 6, 4, 4, 2, 2, 2, 2},
    .output_depth = {2, 2, 6, 6, 2, 2, 0, 0},
    .color_owns_queue = false,
    .microthreads = 8,
    .fabric_inputs = 2,
    .memory = 48 * 1024,
    .ramp_latency = 2,
    .clock_hz = 850e6,
    .switch_colors = 0xffffff,
    .position_sides = 1,
    .filters = 6,
    .prefers_injected = true,
    .swaps_colors = true,
    .router_depth = 2,
    .task_start = 4,
    .operation_setup = 2,
    .operation_least = 3,
    .call = 1,
    .descriptor_load = 7,
    .descriptor_registers = 16,
    .instructions = detail::instructions_of_wafers,
    .fabric_width = 1,
    .reading = priority::high,
    .other = priority::low,
    .tasks = main_priority::medium_low,
    .simd = {.add16 = 4, .add32 = 2, .multiply16 = 4, .multiply32 = 1, .compare16 = 1, .compare32 = 1}};

inline constexpr machine wse3{
    .name = "wse3",
    .width = 755,
    .height = 1170,
    .colors = 24,
    .data_tasks = 8,
    .local_tasks = 23,
    .task_ids = 31,
    .control_tasks = 64,
    .input_queues = 8,
    .output_queues = 8,
    .input_depth = {8, 8, 4, 4, 4, 4, 4, 4},
    .output_depth = {8, 8, 8, 8, 8, 8, 8, 8},
    .color_owns_queue = true,
    .microthreads = 8,
    .fabric_inputs = 1,
    .memory = 48 * 1024,
    .ramp_latency = 5,
    .clock_hz = 1.1e9,
    .switch_colors = 0x3333ff,
    .position_sides = 2,
    .filters = 6,
    .prefers_injected = false,
    .swaps_colors = false,
    .router_depth = 2,
    .task_start = 4,
    .operation_setup = 2,
    .operation_least = 3,
    .call = 1,
    .descriptor_load = 7,
    .descriptor_registers = 16,
    .instructions = detail::instructions_of_wafers,
    .fabric_width = 2,
    .reading = priority::low,
    .other = priority::low,
    .tasks = main_priority::medium_low,
    .simd = {.add16 = 8, .add32 = 4, .multiply16 = 8, .multiply32 = 1, .compare16 = 8, .compare32 = 4}};

inline constexpr machine host{
    .name = "host",
    .width = 32767,
    .height = 32767,
    .colors = 64,
    .data_tasks = 64,
    .local_tasks = 32,
    .task_ids = 96,
    .control_tasks = 64,
    .input_queues = 64,
    .output_queues = 64,
    .input_depth = {64, 64, 64, 64, 64, 64, 64, 64},
    .output_depth = {64, 64, 64, 64, 64, 64, 64, 64},
    .color_owns_queue = false,
    .microthreads = 64,
    .fabric_inputs = 2,
    .memory = 1 << 30,
    .ramp_latency = 2,
    .clock_hz = 1e9,
    .switch_colors = ~u64{0},
    .position_sides = 2,
    .filters = 64,
    .prefers_injected = true,
    .swaps_colors = true,
    .router_depth = 2,
    .task_start = 1,
    .operation_setup = 1,
    .operation_least = 1,
    .call = 1,
    .descriptor_load = 0,
    .descriptor_registers = 16,
    .instructions = {.simple = 1, .simple32 = 1, .multiply16 = 1, .multiply32 = 1, .divide = 1, .branch = 1},
    .fabric_width = 1,
    .reading = priority::low,
    .other = priority::low,
    .tasks = main_priority::medium_low,
    .simd = {.add16 = 1, .add32 = 1, .multiply16 = 1, .multiply32 = 1, .compare16 = 1, .compare32 = 1}};

}  // namespace wsl
