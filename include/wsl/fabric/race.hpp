// SPDX-License-Identifier: MIT
// Looks for races: runs a program in the defined order and then in other legal ones, and compares the
// memories of all PEs at the end. A program whose memory depends on the order in which independent wavelets
// arrive, or tasks become ready, has a race.
//   if (const race_report r = find_race(plan, [](fabric& f) { f.launch(); })) std::puts(r.text().c_str());
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "../engine/diagnose/run_log.hpp"
#include "fabric.hpp"

namespace wsl {

/// The first difference that was found, in the order of the seeds and then of the PEs, row by row; false if
/// there was none.
struct race_report {
  bool found = false;
  u64 seed = 0;              ///< of the order that makes the difference: schedule::shuffled{seed}
  coord at;                  ///< the PE
  const char* program = "";  ///< what it runs
  /// what was the PE's turn in the defined order, and what under the seed; empty if equal
  std::string first_order, second_order;
  std::string defined_end, other_end;  ///< what the runs threw; empty if they ended well

  explicit operator bool() const { return found; }
  std::string text() const {
    if (!found) return "no race was found";
    const std::string seed_text = "under seed " + std::to_string(seed);
    if (defined_end != other_end)
      return "the run ends differently " + seed_text + ":\n" + ending(other_end) + "\ninstead of\n" +
             ending(defined_end);
    const std::string who = "PE(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ") of " + program +
                            " ends differently " + seed_text + ": ";
    if (first_order == second_order)
      return who + "it did the same in the same order, so what it received differs; look at who sends to it";
    return who + "the order of " + first_order + " and " + second_order + " changed its memory";
  }

 private:
  static std::string ending(const std::string& what) {
    return what.empty() ? "an end without a fault" : what;
  }
};

namespace races {

/// One run, with everything that is compared afterwards.
struct trial {
  run_log log;
  fabric f;
  std::string thrown;

  template <class Drive>
  trial(const layout& plan, Drive& drive, threaded how) : f(plan, with_log(how)) {
    try {
      drive(f);
    } catch (const deadlock& d) { thrown = d.what(); } catch (const fault& e) {
      thrown = e.what();
    }
  }
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  threaded with_log(threaded how) {
    how.log = &log;
    return how;
  }
  const pe_state* state(coord c) {
    pe* p = f.engine_in_use().find(c);
    return p ? &state_of(*p) : nullptr;
  }
};

/// Says whether two PEs' memories differ. Words that differ between two runs in the same order are addresses,
/// not results.
inline bool differ(const pe_state& a, const pe_state& same, const pe_state& b) {
  const auto bytes = [](const pe_state& s) { return static_cast<const unsigned char*>(s.memory()); };
  const std::size_t size = static_cast<std::size_t>(a.image->source->bytes);
  for (std::size_t i = 0; i < size; i += sizeof(void*)) {
    const std::size_t n = support::min(sizeof(void*), size - i);
    if (std::memcmp(bytes(a) + i, bytes(b) + i, n) != 0 && std::memcmp(bytes(a) + i, bytes(same) + i, n) == 0)
      return true;
  }
  return false;
}

inline std::string name_of(const run_entry& e, bool with_sender) {
  std::string text = e.what;
  if (e.color >= 0) text += " (color " + std::to_string(e.color);
  if (e.color >= 0 && with_sender)
    text += " from PE(" + std::to_string(e.from.x) + ", " + std::to_string(e.from.y) + ")";
  return text + (e.color >= 0 ? ")" : "");
}

/// Where two logs part: what had its turn in the one and in the other.
inline void explain(race_report& r, const support::flat_vector<run_entry>& a,
                    const support::flat_vector<run_entry>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i].same_kind(b[i]) && a[i].times == b[i].times) ++i;
  if (i == a.size() || i == b.size()) return;
  // the shorter run of the same is followed by another
  const std::size_t j = a[i].same_kind(b[i]) && a[i].times < b[i].times;
  const std::size_t k = a[i].same_kind(b[i]) && b[i].times < a[i].times;
  if (i + j >= a.size() || i + k >= b.size()) return;
  const run_entry &first = a[i + j], &second = b[i + k];
  const bool one_color = first.color == second.color;
  r.first_order = name_of(first, one_color);
  r.second_order = name_of(second, one_color);
}

inline race_report compare(trial& defined, trial& same, trial& other, u64 seed) {
  race_report r;
  r.seed = seed, r.defined_end = defined.thrown, r.other_end = other.thrown;
  r.found = defined.thrown != other.thrown;
  const region grid = defined.f.plan().grid();
  for (int i = 0; !r.found && i < grid.count(); ++i) {
    const pe_state* s = defined.state(grid.nth(i));
    if (!s || !differ(*s, *same.state(grid.nth(i)), *other.state(grid.nth(i)))) continue;
    r.found = true;
    r.at = grid.nth(i);
    r.program = s->image->source->name;
    explain(r, defined.log.of(s->index), other.log.of(s->index));
  }
  return r;
}

}  // namespace races

/// Runs `drive(fabric&)`, which launches what the program's user would, once in the defined order and once in
/// each of as many other orders as there are seeds. What a program's members point to (the elements of a
/// std::vector) is not compared.
template <class Drive>
race_report find_race(const layout& plan, Drive drive, u64 seeds = 16, threaded how = {}) {
  how.order = {};
  races::trial defined(plan, drive, how), same(plan, drive, how);
  for (u64 seed = 1; seed <= seeds; ++seed) {
    how.order = schedule::shuffled{seed};
    races::trial other(plan, drive, how);
    if (const race_report r = races::compare(defined, same, other, seed)) return r;
  }
  return {};
}

}  // namespace wsl
