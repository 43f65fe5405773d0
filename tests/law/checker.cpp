// SPDX-License-Identifier: MIT
// Law: the checker, which reasons over regions, finds exactly the faults that sending wavelets through every
// PE finds.
#include <catch2/catch.hpp>
#include <cstdio>

#include <wsl/layout/check.hpp>
#include <wsl/layout/explain.hpp>

#include "checker_layouts.hpp"
#include "checker_oracle.hpp"
#include "seeds.hpp"

using namespace wsl;
using oracle::findings;

namespace {

/// Counts of one run over many layouts.
struct counts {
  long layouts = 0, accepted = 0, accepted_changing = 0;
  long first[faults::fault_count] = {}, found[faults::fault_count] = {};
};

constexpr auto nothing_at = [](const findings& truth, int color, std::initializer_list<fault_kind> kinds) {
  for (fault_kind k : kinds)
    if (color < 0 ? truth.has(k) : truth.has(k, color)) return false;
  return true;
};

/// A rule found a fault exactly if there is one of its kinds, and there it is.
void agree(const findings& truth, const diagnostic& d, int color, std::initializer_list<fault_kind> kinds,
           counts& sum) {
  if (!d.found()) {
    if (!nothing_at(truth, color, kinds))
      FAIL("missed a fault like " << faults::text_of(*kinds.begin()).name << " of color " << color);
    return;
  }
  ++sum.found[static_cast<int>(d.kind)];
  bool kind = false;
  for (fault_kind k : kinds) kind = kind || k == d.kind;
  if (!kind || !truth.confirms(d)) FAIL("not so: " << sentence(d));
}

/// The rules that are asked for every phase: a fault of a kind that one finds in no phase is in none of them.
void agree_on_routes(const layout& l, const findings& truth, int color, counts& sum) {
  using enum fault_kind;
  const auto in_some_phase = [&](auto rule, std::initializer_list<fault_kind> kinds) {
    diagnostic first;
    for (int phase = 0; phase <= l.last_phase() && !first.found(); ++phase) {
      rules::flow f(l, color, phase);
      first = rule(f);
    }
    agree(truth, first, color, kinds, sum);
    return first.found();
  };
  in_some_phase(rules::overlaps, {two_paths_of_one_color_cover_one_pe});
  in_some_phase(rules::inputs, {a_path_with_several_inputs_must_say_merge});
  in_some_phase(rules::outputs_at_the_boundary, {the_path_leaves_the_grid});
  in_some_phase(rules::outputs_to_neighbours, {the_neighbour_does_not_listen});
  in_some_phase(rules::inputs_at_the_boundary, {the_path_listens_beyond_the_grid});
  in_some_phase(rules::inputs_from_neighbours, {the_path_listens_to_silence});
  in_some_phase(rules::types_of_neighbours, {the_neighbour_expects_another_type});
  in_some_phase(rules::streams_meet_paths, {the_stream_in_enters_no_path, the_stream_out_leaves_no_path});
  in_some_phase(rules::types_of_streams, {the_stream_carries_another_type});
  in_some_phase(rules::streams_are_apart, {two_streams_use_one_side_of_one_pe});
  const bool circle = in_some_phase(rules::cycle_in, {the_route_goes_in_a_circle});
  if (circle || truth.has(two_paths_of_one_color_cover_one_pe, color)) return;
  const auto cycles = [&](rules::flow& f) { return rules::cycles_of(l, color, f.phase); };
  in_some_phase(cycles, {a_fork_meets_itself_again});
}

void agree_on_color(const layout& l, const findings& truth, int color, counts& sum) {
  using enum fault_kind;
  agree_on_routes(l, truth, color, sum);
  rules::flow f(l, color, rules::flow::every);
  const rules::color_users c(l, color);
  agree(truth, rules::ramps_have_programs(f, c, true), color, {no_program_takes_the_delivery}, sum);
  agree(truth, rules::ramps_have_programs(f, c, false), color, {no_program_sends_into_the_path}, sum);
  agree(truth, rules::programs_name_color(f, c, true), color, {the_program_does_not_take_the_color}, sum);
  agree(truth, rules::programs_name_color(f, c, false), color, {the_program_does_not_send_the_color}, sum);
  agree(truth, rules::types_of_programs(f, c, true), color, {the_program_takes_another_type}, sum);
  agree(truth, rules::types_of_programs(f, c, false), color, {the_program_sends_another_type}, sum);
  agree(truth, rules::used(f, c, true), color, {no_path_feeds_the_program}, sum);
  agree(truth, rules::used(f, c, false), color, {no_path_takes_what_the_program_sends}, sum);
  agree(truth, rules::used_everywhere(f, c, true), color, {no_path_feeds_the_program_on_this_pe}, sum);
  agree(truth, rules::used_everywhere(f, c, false), color, {no_path_takes_what_the_program_sends_on_this_pe},
        sum);
  agree(truth, rules::switches_of(l, color), color,
        {the_machine_cannot_switch_the_color, a_position_changes_both_sides, a_position_has_several_ports,
         no_command_reaches_the_position, no_router_takes_the_command, no_program_reopens_the_color,
         the_phase_has_no_beginning},
        sum);
}

diagnostic first_in_budget(const layout& l, rules::budget_rule rule) {
  rules::step_budget work;
  for (const placement& p : l.placements())
    if (const diagnostic d = rule(l, p, rules::usage_of(l, p), work); d.found()) return d;
  return {};
}

void agree_on_layout(const layout& l, const findings& truth, counts& sum) {
  using enum fault_kind;
  const auto budget = [&](rules::budget_rule rule, fault_kind kind) {
    agree(truth, first_in_budget(l, rule), -1, {kind}, sum);
  };
  agree(truth, rules::claims_are_apart(l), -1, {two_modules_claim_one_color}, sum);
  agree(truth, rules::placements_are_apart(l), -1, {two_programs_run_on_one_pe}, sum);
  agree(truth, rules::tables_are_unambiguous(l), -1,
        {the_program_takes_one_color_twice, the_program_binds_one_control_id_twice}, sum);
  agree(truth, rules::filters_are_used(l), -1, {the_filter_has_nothing_to_filter, the_payload_has_no_index},
        sum);
  agree(truth, rules::filters_fit(l), -1, {the_pe_has_too_many_filters}, sum);
  agree(truth, rules::colors_can_start(l), -1, {nobody_can_start_the_color}, sum);
  budget(rules::local_tasks, the_program_has_too_many_local_tasks);
  budget(rules::data_tasks, the_program_has_too_many_data_tasks);
  budget(rules::task_ids, the_program_has_too_many_tasks);
  budget(rules::control_ids, the_control_id_does_not_exist);
  budget(rules::input_queues, the_program_needs_too_many_input_queues);
  budget(rules::output_queues, the_program_needs_too_many_output_queues);
  budget(rules::memory, the_program_is_larger_than_the_memory);
}

bool opt_in(fault_kind f) {
  return f == fault_kind::nobody_can_start_the_color ||
         f == fault_kind::no_path_feeds_the_program_on_this_pe ||
         f == fault_kind::no_path_takes_what_the_program_sends_on_this_pe;
}
/// A constant expression may give up; a run never does.
bool only_while_compiling(fault_kind f) {
  return f == fault_kind::the_paths_meet_too_often_to_check_while_compiling ||
         f == fault_kind::the_routes_turn_too_often_to_check_while_compiling;
}

bool faulty(const findings& truth) {
  for (const faults::fault_text& t : faults::fault_texts)
    if (!opt_in(t.kind) && truth.has(t.kind)) return true;
  return false;
}

/// The promise of all rules together: in an accepted layout every sender reaches somebody, and nobody twice.
void nothing_gets_lost(const layout& l, const findings& truth) {
  for (const path_record& p : l.paths())
    for (int i = 0; i < p.where.count(); ++i) {
      const coord at = p.where.nth(i);
      if (!truth.reaches_somebody(p.color, at))
        FAIL("a wavelet from PE " << at.x << ", " << at.y << " reaches nobody");
    }
}

void judge(unsigned seed, bool changing, counts& sum) {
  const oracle::random_layout source(seed, changing);
  const layout l = source.build();
  const findings truth(l);
  for (int c = 0; c < l.machine().colors; ++c) agree_on_color(l, truth, c, sum);
  agree_on_layout(l, truth, sum);
  const diagnostic d = check(l);
  ++sum.layouts, ++sum.first[static_cast<int>(d.kind)];
  if (d.found() != faulty(truth)) FAIL("the verdicts differ: " << sentence(d));
  if (d.found()) return;
  ++sum.accepted, sum.accepted_changing += l.changes();
  if (!l.changes()) nothing_gets_lost(l, truth);
}

constexpr law::seeds plain{"layout", 2'500, 7'500}, changing{"changing layout", 1'250, 4'000};

}  // namespace

TEST_CASE("the checker finds what sending wavelets through every PE finds") {
  counts sum;
  plain.each([&](unsigned seed) { judge(seed, false, sum); });
  changing.each([&](unsigned seed) { judge(seed, true, sum); });
  std::printf("%ld layouts, %ld accepted (%.1f %%), %ld of them with routes that change\n", sum.layouts,
              sum.accepted, 100.0 * double(sum.accepted) / double(sum.layouts), sum.accepted_changing);
  for (const faults::fault_text& t : faults::fault_texts)
    if (t.kind != fault_kind::none)
      std::printf("%8ld found, %8ld first: %s\n", sum.found[int(t.kind)], sum.first[int(t.kind)], t.name);
  if (!plain.are_a_sample()) return;
  CHECK(sum.accepted * 6 >= sum.layouts);
  CHECK(sum.accepted_changing * 25 >= changing.count());
  for (const faults::fault_text& t : faults::fault_texts) {
    INFO(t.name);
    if (t.kind != fault_kind::none && !only_while_compiling(t.kind)) CHECK(sum.found[int(t.kind)] > 0);
  }
}
