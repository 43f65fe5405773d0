// SPDX-License-Identifier: MIT
// The race detector runs a program in the defined order and then in other legal orders, and compares the
// memories of all PEs at the end, including the storage that members own (program/storage.hpp). A program
// whose memory depends on the order in which independent wavelets arrive, or tasks become ready, has a race.
// docs/guide/fabric.md shows it.
//   if (const race_report r = find_race(plan, [](fabric& f) { f.launch(); })) std::puts(r.text().c_str());
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../engine/diagnose/run_log.hpp"
#include "fabric.hpp"

namespace wsl {

/// The first difference that was found, in the order of the seeds and then of the PEs, row by row; false if
/// there was none.
struct race_report {
  bool found = false;
  u64 seed = 0;              ///< the seed of the order that makes the difference, schedule::shuffled{seed}
  coord at;                  ///< the PE
  const char* program = "";  ///< the program that it runs
  /// the PE's differing step in the defined order, and under the seed; empty if equal
  std::string first_order, second_order;
  std::string defined_end, other_end;  ///< the texts of the exceptions of the runs; empty if they ended well
  /// members whose contents could not be compared, with their programs: "std::shared_ptr<int> of part"
  std::vector<std::string> not_compared;
  u64 never_run = 0;  ///< calls that were queued with `start` and that no `run` has run, in the defined order

  explicit operator bool() const { return found; }
  std::string text() const {
    if (!found) return "no race was found" + never_run_text() + not_compared_text() + same_end_text();
    const std::string seed_text = "under seed " + std::to_string(seed);
    if (defined_end != other_end)
      return "the run ends differently " + seed_text + ":\n" + ending(other_end) + "\ninstead of\n" +
             ending(defined_end);
    const std::string who = text_of(at) + " of " + program + " ends differently " + seed_text + ": ";
    if (first_order == second_order)
      return who +
             "it did the same in the same order, so what it received differs; look at the PEs that send to "
             "it";
    return who + "the order of " + first_order + " and " + second_order + " changed its memory";
  }

 private:
  std::string never_run_text() const {
    if (never_run == 0) return "";
    return "; not looked at: " + support::counted(never_run, "call") +
           " that start has queued and nobody has run: let the function end with f.run()";
  }
  std::string same_end_text() const {
    if (defined_end.empty()) return "";
    return "; but every order ended with the same exception, and what would come after it was not looked "
           "at:\n" +
           defined_end;
  }
  std::string not_compared_text() const {
    std::string text;
    for (const std::string& type : not_compared) text += (text.empty() ? "" : ", ") + type;
    if (text.empty()) return "";
    return "; not compared: what is behind " + text +
           "; let the program list its members with members(), or specialize wsl::pe_storage for the type, "
           "or keep what a pointer or a std::span leads to in the program";
  }
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

/// A PE's memory: the bytes of its program, and a copy of the storage that its members own.
class memory_of_pe final : private storage_visitor {
 public:
  explicit memory_of_pe(const pe_state& s)
      : program_(static_cast<const unsigned char*>(s.memory())),
        size_(static_cast<std::size_t>(s.image->source->bytes)) {
    if (const auto visit = s.image->source->storage) visit(s.memory(), *this);
  }

  /// Says whether two memories differ; `same` is this one after another run in the same order. Words that
  /// differ between these two are addresses, not results.
  bool differs(const memory_of_pe& same, const memory_of_pe& other) const {
    for (std::size_t i = 0; i < size_; i += word)
      if (!is_owner(i) && word_differs(program_, same.program_, other.program_, i, size_)) return true;
    if (sizes_ != same.sizes_) return false;  // how much there is depends on addresses
    if (sizes_ != other.sizes_) return true;
    std::size_t from = 0;
    for (std::size_t size : sizes_) {
      for (std::size_t i = 0; i < size; i += word)
        if (word_differs(&values_[from], &same.values_[from], &other.values_[from], i, size)) return true;
      from += size;
    }
    return false;
  }
  /// Types of members whose contents are not known.
  const std::vector<const char*>& unknown_types() const { return unknown_types_; }
  /// The first byte of a member that leads outside of what is compared, such as a pointer or a std::span; -1
  /// if there is none. `same` is this memory after another run in the same order: only addresses differ.
  int place_of_address(const memory_of_pe& same) const {
    for (std::size_t i = 0; i + word <= size_; i += word)
      if (!is_owner(i) && leads_outside(i) && same.leads_outside(i) &&
          std::memcmp(program_ + i, same.program_ + i, word) != 0)
        return static_cast<int>(i);
    return -1;
  }

 private:
  static constexpr std::size_t word = sizeof(void*);

  static bool word_differs(const unsigned char* a, const unsigned char* same, const unsigned char* b,
                           std::size_t at, std::size_t size) {
    const std::size_t n = support::min(word, size - at);
    return std::memcmp(a + at, b + at, n) != 0 && std::memcmp(a + at, same + at, n) == 0;
  }
  // User programs lie in the lower half of the addresses, and nothing lies in their first pages.
  bool leads_outside(std::size_t at) const {
    std::uintptr_t address;
    std::memcpy(&address, program_ + at, word);
    if (address < 0x10000 || address >> (8 * word - 16) != 0) return false;
    for (const auto& [first, last] : compared_)
      if (first <= address && address <= last) return false;
    const auto own = reinterpret_cast<std::uintptr_t>(program_);
    return address < own || address > own + size_;
  }
  // The bytes of a container are addresses and capacities; its elements are compared instead.
  bool is_owner(std::size_t at) const {
    for (const auto& [from, to] : owners_)
      if (from <= at && at < to) return true;
    return false;
  }

  void owner(const void* where, std::size_t bytes) override {
    const auto at = reinterpret_cast<std::uintptr_t>(where) - reinterpret_cast<std::uintptr_t>(program_);
    if (at < size_) owners_.push_back({at, at + bytes});
  }
  void values(const void* first, std::size_t bytes) override {
    const auto* from = static_cast<const unsigned char*>(first);
    values_.insert(values_.end(), from, from + bytes);
    sizes_.push_back(bytes);
    compared_.push_back(
        {reinterpret_cast<std::uintptr_t>(from), reinterpret_cast<std::uintptr_t>(from) + bytes});
  }
  void unknown(const char* type) override { unknown_types_.push_back(type); }

  const unsigned char* program_;
  std::size_t size_;
  std::vector<std::pair<std::size_t, std::size_t>> owners_;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> compared_;  // where the values were
  std::vector<unsigned char> values_;
  std::vector<std::size_t> sizes_;
  std::vector<const char*> unknown_types_;
};

/// "std::shared_ptr<int> of part" for each such type of each program, in their order; or "an address at byte
/// 16 of part" if the type of the member is not known.
inline std::vector<std::string> not_compared(trial& run, trial& same) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& member, const pe_state& s) {
    const std::string text = member + " of " + s.image->source->name;
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  };
  const region grid = run.f.plan().grid();
  for (int i = 0; i < grid.count(); ++i) {
    const pe_state* s = run.state(grid.nth(i));
    if (!s) continue;
    const memory_of_pe memory(*s);
    for (const char* type : memory.unknown_types()) add(type, *s);
    if (!memory.unknown_types().empty()) continue;
    const int at = memory.place_of_address(memory_of_pe(*same.state(grid.nth(i))));
    if (at >= 0) add("an address at byte " + std::to_string(at), *s);
  }
  return found;
}

inline std::string name_of(const run_entry& e, bool with_sender) {
  std::string text = e.what;
  if (e.color >= 0) text += " (color " + std::to_string(e.color);
  if (e.color >= 0 && with_sender) text += " from " + text_of(e.from);
  return text + (e.color >= 0 ? ")" : "");
}

/// Finds the first difference of two logs: the step of the one and of the other.
inline void explain(race_report& r, const support::flat_vector<run_entry>& a,
                    const support::flat_vector<run_entry>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i].same_kind(b[i]) && a[i].times == b[i].times) ++i;
  if (i == a.size() || i == b.size()) return;
  // If the same task ran a different number of times, the step after the shorter run is the difference.
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
    if (!s || !memory_of_pe(*s).differs(memory_of_pe(*same.state(grid.nth(i))),
                                        memory_of_pe(*other.state(grid.nth(i)))))
      continue;
    r.found = true;
    r.at = grid.nth(i);
    r.program = s->image->source->name;
    explain(r, defined.log.of(s->index), other.log.of(s->index));
  }
  return r;
}

}  // namespace races

/// Looks for a race: runs `drive(fabric&)`, which launches the program like its user, once in the defined
/// order and once in each of `seeds` other orders.
template <class Drive>
race_report find_race(const layout& plan, Drive drive, u64 seeds = 16, threaded how = {}) {
  how.order = {};
  races::trial defined(plan, drive, how), same(plan, drive, how);
  for (u64 seed = 1; seed <= seeds; ++seed) {
    how.order = schedule::shuffled{seed};
    races::trial other(plan, drive, how);
    if (const race_report r = races::compare(defined, same, other, seed)) return r;
  }
  race_report none;
  none.not_compared = races::not_compared(defined, same);
  none.defined_end = none.other_end = defined.thrown;
  none.never_run = defined.f.waiting_calls();
  return none;
}

}  // namespace wsl
